/**
 * The options of operations that write many records, and how they set up writing.
 */
import type { Table } from '../../api/table';
import type { TableDefinition } from '../../api/types';
import type { LinkResolver } from '../../bulk/links/linkResolver';
import { WritePipeline } from '../../bulk/pipeline';
import { withImportKey } from '../../fields/keyFields';
import type { NameOf, Parameter } from '../../parameterKinds/parameter';
import { choice, flag, wholeNumber } from '../../parameterKinds/kinds';
import type { RunContext } from '../../run/run';
import { linkResolver, linkRules, linkValues, type LinkParameter } from './writingLinks';
import {
	fieldRules,
	matchingOf,
	matchingOptions,
	matchOn,
	maxNewShare,
	multipleMatches,
	updateMatchOptions,
	upsertMatchOptions,
	type MatchParameter,
	type RuleOptions,
} from './matchRules';
import { twoWaySync } from './twoWay';
import { OptionGroup } from '../defineOperation';
import { importFile, textOptions } from '../files/rowFiles';
import { requestSettings, skipAudit } from '../requests';
import { tableChoice, tableOf, type TableParameter } from '../select/table';
import { emptyValues, unknownFields, type FieldOptions, type PlanningParameter } from './columns';
import type { Matching, PlanOptions, Task, WriteMode } from '../../bulk/terms';
import { LABELS } from '../../labels';

/** The value of a limit that lets the node decide. */
const AUTOMATIC = 0;

export const batchSize = wholeNumber('batchSize', {
	label: LABELS.batchSize,
	min: AUTOMATIC,
	max: 1000,
	preset: AUTOMATIC,
	description:
		'Max number of records in one request, from 1 to 1000. With 0 (automatic), up to 1000, and half as many each time the platform rejects them as too large or does not respond.',
});

const parallelRequests = wholeNumber('parallelRequests', {
	label: 'Parallel Requests',
	min: AUTOMATIC,
	max: 12,
	preset: AUTOMATIC,
	description:
		'Max number of requests at the same time, from 1 to 12. With 0 (automatic), up to 12 for updates, fewer while the platform is busy, and 1 for creates, which keeps the order of the items.',
});

export const dryRun = flag('dryRun', {
	label: LABELS.dryRun,
	preset: false,
	description: 'Whether to return what would be written, without writing anything',
});

export const updateMode = choice('updateMode', {
	label: LABELS.updateMode,
	choices: {
		partial: ['Leave as They Are', 'Change only the fields that are sent'],
		replace: [
			'Clear',
			'Clear the fields that are not sent. Of items that match the same record, the last counts.',
		],
	},
	preset: 'partial',
	description: 'What to do with the fields that are not sent',
});

export const output = choice('output', {
	label: 'Output',
	choices: {
		sent: ['As Sent', "The fields that were sent, with the record's ID, times and version"],
		stored: ['Stored Record', 'All fields as they are stored, read after the write'],
		summary: ['Summary', 'One item that counts the outcomes'],
	},
	preset: 'sent',
	description: 'What to return',
});

const skipUnchanged = flag('skipUnchanged', {
	label: 'Skip Unchanged',
	preset: false,
	description:
		'Whether to read the current values first and write only what differs. It takes requests to read, and saves writes and the workflows that they would start in the platform.',
});

/** Reads before it writes, as Skip Unchanged does. */
export const previousValues = flag('previousValues', {
	label: 'Include Previous Values',
	preset: false,
	description:
		"Whether to return what is needed to undo the run: the values that were replaced, and those of deleted records, in 'previous'. A summary has them in a file. The current values are read first, and only what differs is written.",
});

const duplicates = choice('duplicates', {
	label: 'Duplicates in the Input',
	choices: {
		merge: ['Merge', 'Write them together; of each field, the last value counts'],
		error: ['Treat as an Error', 'Write none of them; of the rows of a file, the first'],
	},
	preset: 'merge',
	description: 'What to do with items, or rows of a file, that match the same record',
});

export const importKey = tableChoice('importKey', {
	label: LABELS.importKey,
	list: 'getImportKeyFields',
	hide: { '/matchOn': ['fields', 'recordId'] },
	about:
		"The import key, if the table's definition does not mark it. The platform finds records by no other field, which is proven before items are sent",
});

const batches = [batchSize, parallelRequests];

const requests = new OptionGroup(
	'requests',
	'Batches, Timeouts and Retries',
	'How much is sent at a time, and how long requests and retries may take',
	[...batches, ...requestSettings, skipAudit],
);

/** A group of options for empty and unknown values, and more. */
const inputValues = <Option extends string = never>(
	{ label }: { label: string },
	...more: Array<Parameter<Option, unknown>>
) =>
	new OptionGroup<Option | FieldOptions>(
		'inputValues',
		label,
		'What to do with values that are empty, that the table has no field for, or repeated',
		[...more, emptyValues, unknownFields],
	);

/** The options of operations that find records, each with its own on matches. */
const matchedOptions = <Option extends string>(
	matches: Array<Parameter<Option, unknown>>,
	skips = skipUnchanged,
) => [
	dryRun,
	fieldRules,
	linkValues,
	output,
	previousValues,
	skips,
	requests,
	inputValues({ label: 'Empty, Unknown and Repeated Values' }, duplicates),
	matchingOptions<Option | NameOf<typeof importKey>>(...matches, importKey),
];

/** The options of each kind of write. Rare ones are in sub-collections. */
export const createOptions = [
	dryRun,
	importKey,
	linkValues,
	output,
	requests,
	inputValues({ label: 'Empty and Unknown Values' }),
];
export const upsertOptions = [...matchedOptions([...upsertMatchOptions, maxNewShare]), twoWaySync];
export const updateOptions = matchedOptions(updateMatchOptions);
export const syncOptions = matchedOptions(
	[multipleMatches, maxNewShare],
	skipUnchanged.with({ preset: true }),
);

/** The options for files: all rows share one report. */
export const importOptions = [
	dryRun,
	fieldRules,
	linkValues,
	skipUnchanged,
	requests,
	inputValues<NameOf<typeof textOptions | typeof duplicates>>(
		{ label: LABELS.textFormats },
		duplicates,
		...textOptions,
	),
	matchingOptions(...upsertMatchOptions, importKey),
	importFile,
];

/** How an operation writes, in addition to what all of them share. */
export interface WriteKind {
	mode: WriteMode;
	duplicates: PlanOptions['duplicates'];
	skipUnchanged: boolean;
	/** Return the values that are replaced. */
	returnsPrevious?: boolean;
	/** How items find their records; undefined if the platform does it. @throws {InputError} */
	matching?(table: TableDefinition): Matching | undefined;
}

export type MatchedParameter = MatchParameter | NameOf<typeof duplicates | typeof skipUnchanged>;

/** How an operation writes that looks up records. @throws {InputError} */
export const writesMatched = (
	run: RunContext<MatchedParameter>,
	index: number,
	mode: WriteMode,
	rules: RuleOptions = {},
): WriteKind => ({
	mode,
	duplicates: duplicates.of(run, index),
	skipUnchanged: skipUnchanged.of(run, index),
	matching: (table) => matchingOf(run, index, table, { ...rules, mode }),
});

type SettingsParameter = NameOf<typeof batches | typeof dryRun | typeof importKey>;

/** How to send records, and when to stop. @throws {InputError} */
export const writeSettings = (
	run: RunContext<SettingsParameter>,
	index: number,
	{ mode, skipUnchanged: skips, returnsPrevious = false }: WriteKind,
): Task => ({
	stopAtFailure: !run.context.continueOnFail(),
	mode,
	importKey: importKey.of(run, index) || undefined,
	batchSize: batchSize.of(run, index),
	parallelRequests: parallelRequests.of(run, index),
	skipUnchanged: skips || returnsPrevious,
	returnsPrevious: returnsPrevious && !dryRun.of(run, index),
	dryRun: dryRun.of(run, index),
});

type SetupParameter = TableParameter | LinkParameter;

/** The parameters of every operation that writes an item's record. */
export type WriteParameter =
	| SetupParameter
	| SettingsParameter
	| PlanningParameter
	| NameOf<typeof output>;

/** A table that is about to be written. */
export interface WriteSetup {
	handle: Table;
	table: TableDefinition;
	links: LinkResolver;
	planning: PlanOptions;
	/** Rows name their records by ID. */
	hasId: boolean;
	pipeline: WritePipeline;
	/** The table's definition may be out of date: the platform rejects what is wrong. */
	isCheckedByPlatform: boolean;
}

/**
 * What must be known to write to a table.
 *
 * @throws {InputError}
 */
export function setUpWriting(
	run: RunContext<SetupParameter>,
	index: number,
	defined: TableDefinition,
	{ settings, kind, unmatched }: { settings: Task; kind: WriteKind; unmatched: PlanOptions },
): WriteSetup {
	const { mode, matching: matchingIn } = kind;
	const handle = tableOf(run, index);
	const links = linkResolver(run, handle);
	const table = withImportKey(defined, settings.importKey);
	const isNamed = table !== defined;
	const matching = matchingIn?.(table);
	// What is looked up by a key that is only named proves nothing.
	if (isNamed && matching?.maxNew !== undefined && matching.on[0] === settings.importKey) {
		throw maxNewShare.error(
			`${maxNewShare} below 100 needs an import key that the table's definition marks`,
			`Set it to 100, or set ${matchOn} to 'Other Fields' and choose the field there.`,
		);
	}
	const mayBeEmpty = matching && matching.ifMissing !== 'create';
	const planning = { ...unmatched, matchOn: matching?.on, mayBeEmpty };
	const options = {
		...settings,
		planning,
		linkRules: linkRules(run, index, table),
		matching,
		provesKey: isNamed && mode === 'upsert' && !matching && !settings.dryRun,
	};
	const pipeline = new WritePipeline(handle.with(table), links, options);
	const hasId = matching ? matching.on === 'recordId' : mode === 'update' || mode === 'replace';
	// The platform checks all that is sent, and nothing else is read or left out.
	const isCheckedByPlatform =
		!matching &&
		mode !== 'replace' &&
		!settings.skipUnchanged &&
		!settings.dryRun &&
		unmatched.unknownFields === 'error' &&
		options.linkRules.size === 0;
	return { handle, table, links, planning, hasId, pipeline, isCheckedByPlatform };
}
