/**
 * What Create Many, Create or Update Many and Update Many have in common: plan, write, report.
 */
import type { IDataObject } from 'n8n-workflow';

import { readLastChange } from '../../bulk/lastChange';
import { OUTCOMES, REMOVALS, isSuccess, type ItemOutcome, type Outcome } from '../../bulk/outcome';
import { WritePipeline } from '../../bulk/pipeline';
import type {
	Plan,
	PlannedRecord,
	PlanInput,
	PlanOptions,
	Problem,
	WriteMode,
} from '../../bulk/plan';
import type { WriteManyOptions } from '../../bulk/write';
import type { TableAddress, TableDefinition } from '../../api/types';
import { InputError, type ServiceError } from '../../transport/errors';
import {
	omitUndefined,
	type Failure,
	type ItemResult,
	type ItemResults,
} from '../../execution/itemResults';
import { hintText } from '../../execution/hints';
import {
	requireChoice,
	requireNumber,
	type RunContext,
	type TableParameter,
} from '../../execution/run';
import {
	AUTOMATIC,
	DEFAULT_MAX_BATCH_SIZE_MIB,
	MAX_BATCH_SIZE,
	MAX_PARALLEL_REQUESTS,
	NO_FAILURE_LIMIT,
	type BulkOption,
	type SharedOption,
} from '../../descriptions/bulkOptions';
import { matchingOf, type MatchParameter } from '../../execution/matchingInput';
import { readItem, sharedSource } from './sharedParameters';
import { linkResolver, linkRules } from '../../execution/linkInput';
import {
	duplicatesOf,
	hintIgnored,
	planOptions,
	valuesReader,
	type ValuesReader,
} from '../../execution/recordInput';
import { outputOf, type RecordOutput } from '../../execution/recordOutput';
import { MIB } from '../../transport/streams';

/** How many problems an error names one by one. */
const PROBLEMS_SHOWN = 10;

const listed = (items: string[]) => {
	const rest = items.length - PROBLEMS_SHOWN;
	const shown = items.slice(0, PROBLEMS_SHOWN).join('; ');
	return rest > 0 ? `${shown}; and ${rest} more` : shown;
};

/**
 * All problems of the input in one error; no item was sent.
 *
 * @param createdCount how many linked records were created before
 */
function inputError({ problems }: Plan, createdCount = 0): InputError {
	const sorted = [...problems].sort((a, b) => a.index - b.index);
	const items = new Set(sorted.map(({ index }) => index)).size;
	const what = items === 1 ? '1 item has problems' : `${items} items have problems`;
	const nothing =
		createdCount === 0
			? 'Nothing was sent'
			: `No item was written (linked records created: ${createdCount})`;
	return new InputError(
		`${nothing}, ${what}: ${listed(sorted.map(({ index, message }) => `item ${index}: ${message}`))}`,
		{
			item: sorted[0]!.index,
			field: sorted[0]!.field,
			hint: "Items are counted from 0, as in n8n's own errors. Correct the items, or set 'On Error' in the node's settings to continue, so that the good ones are written.",
		},
	);
}

const toOutput = (
	{ outcome, id, created, modified, ver, mergedInto, before, after, ...stored }: ItemOutcome,
	record: PlannedRecord,
	shape: RecordOutput,
): IDataObject => ({
	outcome,
	// A record that was not written holds what it held before, not what the item gives.
	...shape({ id, created, modified, ver, fields: stored.fields ?? record.fields }),
	...(mergedInto !== undefined && { mergedInto }),
	...(before && { before: before as IDataObject }),
	...(after && { after: after as IDataObject }),
});

const toItemFailure = (outcome: ItemOutcome, record?: PlannedRecord): Failure => {
	const { message = 'The record was not written', hint, status, code, field, id } = outcome;
	return {
		message,
		hint: hintText(hint),
		status,
		isDerived: outcome.isDerived,
		isFinal: outcome.isFinal,
		details: omitUndefined({
			outcome: outcome.outcome,
			id: id ?? record?.id,
			key: record?.key,
			field,
			status,
			code,
		}),
	};
};

/** What outcomes come to; a failure where one of them is. */
export function toResult(
	outcomes: ItemOutcome[],
	record: PlannedRecord | undefined,
	shape: RecordOutput,
): ItemResult {
	const failed = outcomes.find((outcome) => !isSuccess(outcome));
	if (failed) return toItemFailure(failed, record);
	return outcomes.map((outcome) => ({ json: toOutput(outcome, record!, shape) }));
}

/**
 * How many items came to each outcome, those of previous attempts of the node too.
 *
 * @param withRemovals whether records are removed as well
 */
function totals(report: ItemResults, withRemovals: boolean): Record<Outcome, number> {
	const names = OUTCOMES.filter((outcome) => withRemovals || !REMOVALS.includes(outcome));
	const counts = Object.fromEntries(names.map((outcome) => [outcome, 0]));
	for (const { outcome } of report.outcomes()) counts[outcome] = (counts[outcome] ?? 0) + 1;
	return counts as Record<Outcome, number>;
}

/** How many items share the record of a later one that succeeded, by outcome. */
function mergedTotals(report: ItemResults): Counts {
	const counts: Record<string, number> = {};
	for (const { outcome, isMerged } of report.outcomes()) {
		if (isMerged) counts[outcome] = (counts[outcome] ?? 0) + 1;
	}
	return counts;
}

/** The parameters of every operation that writes many records. */
type CommonParameter = TableParameter | 'columns' | 'simple' | `options.${SharedOption}`;

/** The parameters that some operation of them has. */
type WriteManyParameter =
	| CommonParameter
	| MatchParameter
	| 'recordId'
	| 'updateMode'
	| `options.${BulkOption}`;

/** The options that say how records are written. */
export type WriteOption =
	| 'options.batchSize'
	| 'options.dryRun'
	| 'options.importKey'
	| 'options.maxFailedShare'
	| 'options.maxBatchSizeMiB'
	| 'options.parallelRequests'
	| 'options.skipAudit'
	| 'options.skipUnchanged';

/** How records are written, from an operation's options. */
export function writeManyOptions(
	run: RunContext<WriteOption>,
	index: number,
	mode: WriteMode,
	skipUnchanged: boolean,
): WriteManyOptions {
	const size = run.option<unknown>('options.batchSize', index, AUTOMATIC);
	const parallel = run.option<unknown>('options.parallelRequests', index, AUTOMATIC);
	const mib = run.option<unknown>('options.maxBatchSizeMiB', index, DEFAULT_MAX_BATCH_SIZE_MIB);
	const share = run.option<unknown>('options.maxFailedShare', index, NO_FAILURE_LIMIT);
	const maxShare = requireNumber(share, 'Max Failures (%)', { min: 0, max: 100 });
	const maxFailedShare = maxShare === NO_FAILURE_LIMIT ? undefined : maxShare;
	return {
		mode,
		importKey: run.optionalText('options.importKey', 'Import Key Field', index) || undefined,
		batchSize: requireNumber(size, 'Batch Size', { min: 0, max: MAX_BATCH_SIZE, isWhole: true }),
		batchBytes: requireNumber(mib, 'Batch Size (MiB)', { min: 0.001 }) * MIB,
		parallelRequests: requireNumber(parallel, 'Parallel Requests', {
			min: 0,
			max: MAX_PARALLEL_REQUESTS,
			isWhole: true,
		}),
		skipAudit: run.flag('options.skipAudit', 'Skip Audit', index),
		skipUnchanged: run.flag('options.skipUnchanged', 'Skip Unchanged', index, skipUnchanged),
		dryRun: run.flag('options.dryRun', 'Dry Run', index),
		maxFailedShare,
		stopAtFailure: maxFailedShare === undefined && !run.context.continueOnFail(),
	};
}

/**
 * The rows of items, in order.
 *
 * @param indexes of the items
 * @param hasId whether each item names its record by id
 * @param problems gets the items whose own expressions fail, and names those that have already
 */
function* rowsOf(
	run: RunContext<'recordId'>,
	indexes: Iterable<number>,
	valuesOf: ValuesReader,
	hasId: boolean,
	problems: Problem[],
): Generator<PlanInput> {
	const isUnreadable = new Set(problems.map(({ index }) => index));
	for (const index of indexes) {
		if (isUnreadable.has(index)) continue;
		const row = readItem(index, problems, () => ({
			index,
			values: valuesOf(index),
			id: hasId ? run.optionalText('recordId', 'Record ID', index) : undefined,
		}));
		if (row) yield row;
	}
}

/** What the parameters say, and what writes by them. */
interface Setup {
	/** The item that shared parameters are read from. */
	source: number;
	at: TableAddress;
	table: TableDefinition;
	settings: WriteManyOptions;
	planning: PlanOptions;
	pipeline: WritePipeline;
	shape: RecordOutput;
}

/** A run that is about to write its items. */
export interface Writing extends Setup {
	/** The items that are still to be written. */
	plan: Plan;
	/** The rows of items that a previous attempt of the node has done. */
	doneRows(): Iterable<PlanInput>;
	/** The rows of the plan, before links were resolved. */
	rows: PlanInput[];
}

/** What an operation does besides writing its items. */
export interface WriteExtension {
	/** Whether Skip Unchanged is on unless the user turns it off. */
	skipUnchanged: boolean;
	/** More parameters that hold for all items, with their labels. */
	shared: Readonly<Record<string, string>>;
	/** Whether the input holds nothing, so that its items are no rows. */
	isEmpty(rows: PlanInput[]): boolean;
	/** Called before anything is written; what it throws stops the run. */
	prepare(writing: Writing): Promise<Finish>;
}

/** What is done once each item has an outcome. */
export interface Finish {
	onOutcomes(outcomes: ItemOutcome[]): void;
	/**
	 * @param stopped why items were not sent, where that is so
	 * @returns what the summary says of it
	 */
	finish(stopped: ServiceError | undefined): Promise<IDataObject>;
}

/** Reads the parameters that hold for all items, and what has to be known of the table. */
async function setUp(
	run: RunContext<WriteManyParameter>,
	source: number,
	mode: WriteMode,
	settings: WriteManyOptions,
) {
	const { client } = run;
	const at = run.table(source);
	const definition = run.definition(at);
	const reading = settings.dryRun
		? Promise.resolve(undefined)
		: readLastChange(client, at, definition);
	// Both are read at the same time, and none is left behind where the other one fails.
	const table = await definition.finally(async () => await reading);
	const links = linkResolver(run, at);
	const rules = linkRules(run, source, table);
	const matching = matchingOf(run, source, mode, table, settings.importKey);
	const duplicates = duplicatesOf(run, source);
	const planning = {
		...planOptions(run, source, mode, duplicates, settings.importKey),
		matchOn: matching?.on,
	};
	const options = { ...settings, planning, linkRules: rules, matching };
	const pipeline = new WritePipeline({ client, at, table }, links, options, reading);
	const hasId = matching ? matching.on === 'recordId' : mode === 'update' || mode === 'replace';
	const setup: Setup = {
		source,
		at,
		table,
		settings,
		planning,
		pipeline,
		shape: outputOf(run, source),
	};
	const rows = (indexes: number[], problems: Problem[]) =>
		rowsOf(run, indexes, valuesReader(run, source, table), hasId, problems);
	return { setup, rows };
}

/** What a run took, besides the outcomes of its items. */
const effortOf = ({ client }: RunContext<never>, { settings, pipeline }: Setup) => ({
	...(pipeline.linkedRecordsCreated > 0 && {
		linkedRecordsCreated: pipeline.linkedRecordsCreated,
	}),
	...client.stats,
	...(settings.dryRun && { dryRun: true }),
});

/**
 * Writes all items and reports on each.
 *
 * @param modeOf the way of writing, given the item that shared parameters are read from
 * @throws {InputError} before anything is sent, where items have problems and the node is to stop
 */
export async function executeWriteMany(
	operationRun: RunContext<CommonParameter>,
	report: ItemResults,
	modeOf: (source: number) => WriteMode,
	extension?: WriteExtension,
): Promise<void> {
	// A parameter that the operation does not have is not set: Create Many matches nothing.
	const run = operationRun as RunContext<WriteManyParameter>;
	if (run.items.length === 0) return;
	const unreadable: Problem[] = [];
	const source = sharedSource(run, report, unreadable, extension?.shared);
	const mode = modeOf(source);
	const settings = writeManyOptions(run, source, mode, extension?.skipUnchanged ?? false);
	const output = requireChoice(run.option<unknown>('options.output', source, 'items'), 'Output', [
		'items',
		'summary',
	]);
	if (settings.dryRun) report.markDryRun();
	const { setup, rows: read } = await setUp(run, source, mode, settings);
	const { pipeline, shape } = setup;

	const indexes = [...run.items.keys()];
	const open = indexes.filter((index) => !report.hasResult(index));
	const done = indexes.filter((index) => report.hasResult(index));
	let rows: Iterable<PlanInput> = read(open, unreadable);
	let isEmpty = false;
	if (extension) {
		const all = [...rows];
		isEmpty = unreadable.length === 0 && extension.isEmpty(all);
		rows = isEmpty ? [] : all;
	}
	const plan = await pipeline.plan(rows, unreadable);
	hintIgnored(run, plan);
	const onPlan = ({ problems }: Plan) => {
		if (problems.length > 0 && settings.stopAtFailure)
			throw inputError(plan, pipeline.linkedRecordsCreated);
	};
	onPlan(plan);
	const finishing = await extension?.prepare({
		...setup,
		plan,
		rows: [...rows],
		doneRows: () => read(done, []),
	});
	if (isEmpty) for (const index of open) report.done(index, []);
	const { stopped } = await pipeline.write(plan, {
		onPlan,
		onOutcomes: (index, outcomes, record) => {
			finishing?.onOutcomes(outcomes);
			const result = toResult(outcomes, record, shape);
			if (Array.isArray(result)) report.done(index, result);
			else report.failed(index, result);
		},
	});
	if (stopped?.code === 'tooManyFailed') report.stop(stopped.code, stopped.message);
	const more = await finishing?.finish(stopped);

	const summary = {
		sent: plan.records.length,
		...(plan.merged.size > 0 && { merged: plan.merged.size }),
		...totals(report, extension !== undefined),
		...more,
		...effortOf(run, setup),
		...(stopped && {
			stopped: stopped.message,
			confirmedThroughItem: report.reached.confirmedThroughItem,
		}),
	};
	if (output === 'summary') report.summarize(summary);
	const message = countsText(summary, mergedTotals(report));
	run.context.addExecutionHints({ message, location: 'outputPane' });
}

const NAMES: Record<Outcome, string> = {
	inserted: 'inserted',
	updated: 'updated',
	unchanged: 'unchanged',
	found: 'found',
	skipped: 'skipped',
	deleted: 'deleted',
	marked: 'marked',
	notFound: 'not found',
	failed: 'failed',
	unknown: 'unknown',
};

/** How many items came to some of the outcomes. */
export type Counts = Partial<Record<Outcome, number>>;

/**
 * The counts of records in one sentence.
 *
 * @param merged those of the items that share the record of a later one
 */
export function countsText(
	summary: Record<Outcome | 'requests' | 'waitedMs', number> & {
		dryRun?: boolean;
		linkedRecordsCreated?: number;
	},
	merged: Counts = {},
) {
	const counts = OUTCOMES.flatMap((outcome) => {
		const count = summary[outcome] - (merged[outcome] ?? 0);
		return count > 0 ? [`${count} ${NAMES[outcome]}`] : [];
	});
	const mergedCount = Object.values(merged).reduce((sum, count) => sum + count, 0);
	if (mergedCount > 0) counts.push(`${mergedCount} merged`);
	const waited =
		summary.waitedMs >= 1000 ? `, ${Math.round(summary.waitedMs / 1000)} s waited` : '';
	const prefix = summary.dryRun ? 'Dry run, nothing was written: ' : '';
	const { linkedRecordsCreated: linked } = summary;
	if (linked !== undefined) {
		counts.push(linked === 1 ? '1 linked record created' : `${linked} linked records created`);
	}
	return `${prefix}${counts.join(', ') || 'nothing to write'} (${summary.requests} requests${waited}).`;
}
