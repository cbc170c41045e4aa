/**
 * How items find their records, what to do if they find one, several or none, and which fields an
 * existing record keeps.
 */
import type { TableDefinition } from '../../api/types';
import { importKeyOf } from '../../fields';
import { noImportKey } from '../../fields/keyFields';
import type { NameOf, Parameter } from '../../parameterKinds/parameter';
import { choice, list, number } from '../../parameterKinds/kinds';
import type { RunContext } from '../../run/run';
import { OptionGroup } from '../defineOperation';
import { fieldPart, itemRecordId, tableChoices } from '../select/table';
import type {
	FieldRules,
	Matching,
	MatchOn,
	MatchRules,
	TwoWay,
	WriteMode,
} from '../../bulk/terms';
import { InputError } from '../../transport/errors';
import { omitUndefined } from '../../transport/json';
import { columnsToCreate, writableField } from './columns';
import { LABELS } from '../../labels';

export const matchOn = choice('matchOn', {
	label: LABELS.matchOn,
	choices: {
		importKey: ['Import Key', 'The field that the table marks as its import key'],
		fields: ['Other Fields', 'One or more fields that you choose. All of them must be equal.'],
		recordId: ['Record ID', 'The ID that the platform gave the record'],
	},
	preset: 'importKey',
	description:
		"How to find each item's record. Keys are compared exactly, including case and spaces. An expression with .trim().toLowerCase() makes them equal.",
	aiHint:
		"'importKey' works only if the table's definition marks a field as its import key, or the option 'importKey' names it. If the user names a field to match on, use 'fields' and 'matchFields', unless it is that key.",
});

export const matchFields = tableChoices('matchFields', {
	label: LABELS.matchFields,
	list: 'getMatchFields',
	required: true,
	show: { matchOn: ['fields'] },
	about: 'A record matches if it has the same values in all of these fields',
});

/** How each item finds its record. @param preset the default */
export const matchingParameters = (preset: 'importKey' | 'recordId') => [
	matchOn.with({ preset }),
	matchFields,
	itemRecordId,
];

const UNLESS_CREATED = { hide: { importMode: ['create'] } };

/** How each row finds its record, unless rows only create records. IDs are in the column `id`. */
export const rowMatchingParameters = [
	matchOn.with({
		description: "How to find each row's record; its ID stands in the column 'id'",
		...UNLESS_CREATED,
	}),
	matchFields.with(UNLESS_CREATED),
];

const ifFound = choice('ifFound', {
	label: 'If Found',
	choices: {
		update: ['Update It', 'Write the fields that are sent'],
		skip: [
			'Return It Unchanged',
			'Write nothing and return the record as it is stored (get or create)',
		],
	},
	preset: 'update',
	description: 'What to do with an item whose record exists',
});

const WITHOUT_CREATE = {
	skip: ['Skip', "Write nothing; the item's outcome is 'skipped'"],
	error: ['Treat as an Error', "Write nothing; the item's outcome is 'notFound'"],
} as const;

const IF_MISSING = {
	label: LABELS.ifMissing,
	description: 'What to do with an item that has no record yet',
};

export const ifMissing = choice('ifMissing', {
	...IF_MISSING,
	choices: { create: ['Create It', 'Create a new record'], ...WITHOUT_CREATE },
	preset: 'create',
});

export const multipleMatches = choice('multipleMatches', {
	label: LABELS.multipleMatches,
	choices: {
		error: ['Treat as an Error', 'Do not write the item and name the records'],
		first: ['Use the First', 'Use the oldest record'],
	},
	preset: 'error',
	show: { '/matchOn': ['fields', 'importKey'] },
	description: 'What to do with an item that matches more than one record',
});

/** The share that sets no limit: no record needs to be looked up for it. */
const ALL = 100;

export const maxNewShare = number('maxNewShare', {
	label: LABELS.maxNewShare,
	min: 0,
	max: ALL,
	preset: ALL,
	description:
		'If a larger share of the records would be new, although the table has records, nothing is sent. Ten may always be new. Below 100, records are looked up first.',
});

/** What to do with matches, for operations that create records. */
export const upsertMatchOptions = [ifFound, ifMissing, multipleMatches];

/** The same for operations that only update. */
export const updateMatchOptions = [
	choice('ifMissing', { ...IF_MISSING, choices: WITHOUT_CREATE, preset: 'error' }),
	multipleMatches,
];

/**
 * The group of options for items that match a record, several, none or each other. Named after its
 * first two.
 */
export const matchingOptions = <Option extends string>(
	...options: Array<Parameter<Option, unknown>>
) =>
	new OptionGroup(
		'matching',
		options
			.slice(0, 2)
			.map(({ label }) => label)
			.join(', '),
		'What to do with items that match one record, several or none',
		options,
	);

const fieldRule = choice('rule', {
	label: 'Write It',
	choices: {
		always: ['Always', 'Write the value of the item'],
		whenCreating: ['Only When Creating', 'A record that exists keeps its value'],
		ifEmpty: ['Only If Empty', 'A record that exists keeps its value, unless it has none'],
	},
	preset: 'ifEmpty',
	description: "When to write the field. A new record always gets the item's value.",
});

const ruledField = fieldPart('getWritableFields');

export const fieldRules = list('fieldRules', {
	label: LABELS.fieldRules,
	add: 'Add Field',
	entry: ['field', 'Field'],
	description:
		'Fields that an existing record keeps. The current values are read first, and only what differs is written.',
	parts: [ruledField, fieldRule],
});

/**
 * The rules for a table's fields.
 *
 * @param on the fields that records are found by, which take no rule
 * @throws {InputError} if a rule makes no sense
 */
function fieldRulesOf(
	entries: ReturnType<typeof fieldRules.of>,
	table: TableDefinition,
	on: MatchOn,
	mode: WriteMode,
): FieldRules | undefined {
	const names = new Set<string>();
	const rules = new Map<string, 'whenCreating' | 'ifEmpty'>();
	const wrong = (message: string, hint = 'Choose the field from the list, or remove the entry.') =>
		fieldRules.error(`${fieldRules}: ${message}`, hint);
	for (const entry of entries) {
		const { name } = writableField(table, ruledField.in(entry, fieldRules), wrong);
		if (names.has(name)) throw wrong(`there are two entries for '${name}'`, 'Remove one.');
		if (on !== 'recordId' && on.includes(name)) {
			throw wrong(`records are found by '${name}'`, 'Remove the entry.');
		}
		const rule = fieldRule.in(entry, fieldRules);
		names.add(name);
		if (rule !== 'always') rules.set(name, rule);
	}
	if (rules.size === 0) return undefined;
	if (mode !== 'replace') return rules;
	throw wrong(
		"they can't keep a field if those not sent are cleared",
		'Remove them, or leave the fields that are not sent as they are.',
	);
}

/** How operations differ that find records. */
export type RuleOptions = Partial<Pick<MatchRules, 'ifFound' | 'ifMissing' | 'maxNew'>> & {
	/** The import key when the fields were mapped, if it is known. */
	mappedKey?: string;
	/** @param on the fields that records are found by @throws {InputError} */
	twoWay?(table: TableDefinition, on: MatchOn): TwoWay | undefined;
};

/** The matching rules of operations that create and update. @throws {InputError} */
export const upsertRules = (
	run: RunContext<NameOf<typeof upsertMatchOptions>>,
	index: number,
): RuleOptions => ({
	ifFound: ifFound.of(run, index),
	ifMissing: ifMissing.of(run, index),
});

/**
 * How many percent of the records may be new; undefined if all may.
 *
 * @param isBegun whether an earlier attempt wrote items: it was within the limit
 * @throws {InputError}
 */
export function maxNewOf(
	run: RunContext<NameOf<typeof maxNewShare>>,
	index: number,
	isBegun: boolean,
) {
	const share = maxNewShare.of(run, index);
	return share === ALL || isBegun ? undefined : share;
}

export type MatchParameter = NameOf<
	typeof matchOn | typeof matchFields | typeof multipleMatches | typeof fieldRules
>;

/**
 * How the items of a table find their records. Undefined if the platform itself does it: by import
 * key to create or update, by ID to update.
 *
 * @throws {InputError}
 */
export function matchingOf(
	run: RunContext<MatchParameter>,
	index: number,
	table: TableDefinition,
	{ mode, ...given }: RuleOptions & { mode: WriteMode },
): Matching | undefined {
	if (mode === 'create') return undefined;
	const preset = mode === 'upsert' ? 'create' : 'error';
	// In an operation that only updates, 'create' was left over from one that creates.
	const isLeft = mode !== 'upsert' && given.ifMissing === 'create';
	const rules: MatchRules = {
		ifFound: given.ifFound ?? 'update',
		ifMissing: isLeft ? preset : (given.ifMissing ?? preset),
		multipleMatches: multipleMatches.of(run, index),
	};
	const key = importKeyOf(table)?.name;
	const on = fieldsToMatch(run, index, table, key, given.mappedKey);
	const isKey = on !== 'recordId' && on.length === 1 && on[0] === key;
	const ruled = fieldRulesOf(fieldRules.of(run, index), table, on, mode);
	const twoWay = given.twoWay?.(table, on);
	const { maxNew } = given;
	if (twoWay && rules.ifFound === 'skip') {
		throw ifFound.error(
			`${ifFound}: 'Return It Unchanged' can't be combined with '${LABELS.twoWaySync}'`,
			"Choose 'Update It'.",
		);
	}
	const isPlain =
		!ruled &&
		!twoWay &&
		maxNew === undefined &&
		rules.ifFound === 'update' &&
		rules.ifMissing === preset &&
		rules.multipleMatches === 'error';
	// An upsert finds at most one record: the platform matches its key itself.
	const isDoneByPlatform = mode === 'upsert' ? isKey : on === 'recordId';
	if (isPlain && isDoneByPlatform) return undefined;
	return { on, ...rules, ...omitUndefined({ fieldRules: ruled, twoWay, maxNew }) };
}

function fieldsToMatch(
	run: RunContext<MatchParameter>,
	index: number,
	table: TableDefinition,
	key: string | undefined,
	mappedKey = key,
): MatchOn {
	const kind = matchOn.of(run, index);
	if (kind === 'recordId') return kind;
	if (kind === 'fields') return matchFields.of(run, index);
	if (key !== undefined && mappedKey !== key) {
		throw new InputError(
			`Nothing was sent: the import key of table '${table.header}' is '${key}', and it was '${mappedKey}' when the fields were mapped`,
			{
				field: key,
				hint: `The platform finds records by '${key}' now. If that is right, open the node, refresh the list of ${columnsToCreate} and give '${key}' its value. Else mark '${mappedKey}' in the platform again, or set ${matchOn} to 'Other Fields' and choose '${mappedKey}'.`,
			},
		);
	}
	if (key !== undefined) return [key];
	throw noImportKey(table, matchOn.label);
}
