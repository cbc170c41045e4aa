/**
 * What Create Many, Create or Update Many and Update Many have in common: plan, write, report.
 */
import type { IDataObject } from 'n8n-workflow';

import { OUTCOMES, isSuccess, type ItemOutcome, type Outcome } from '../../bulk/outcome';
import { WritePipeline } from '../../bulk/pipeline';
import type { Plan, PlannedRecord, PlanInput, Problem, WriteMode } from '../../bulk/plan';
import { readWatermark, type WriteManyOptions } from '../../bulk/write';
import { InputError } from '../../transport/errors';
import { omitUndefined, type Failure, type ItemResults } from '../../execution/itemResults';
import { hintText } from '../../execution/hints';
import type { RunContext, TableParameter } from '../../execution/run';
import {
	AUTOMATIC,
	DEFAULT_MAX_BATCH_SIZE_MIB,
	MAX_BATCH_SIZE,
	MAX_PARALLEL_REQUESTS,
	type BulkOption,
	type SharedOption,
} from '../../descriptions/bulkOptions';
import { matchingOf, type MatchParameter } from '../../execution/matchingInput';
import { readItem, sharedSource } from './sharedParameters';
import { linkResolver, linkRules } from '../../execution/linkInput';
import {
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
			hint: "Correct the items, or set 'On Error' in the node's settings to continue, so that the good ones are written.",
		},
	);
}

const toOutput = (
	{ outcome, id, created, modified, ver, mergedInto, before, after, ...stored }: ItemOutcome,
	record: PlannedRecord,
	shape: RecordOutput,
): IDataObject =>
	omitUndefined({
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

/** Reports the outcomes of an item. */
function reportOutcomes(
	report: ItemResults,
	shape: RecordOutput,
	index: number,
	outcomes: ItemOutcome[],
	record: PlannedRecord | undefined,
) {
	const failed = outcomes.find((outcome) => !isSuccess(outcome));
	if (failed) report.failed(index, toItemFailure(failed, record));
	else {
		const items = outcomes.map((outcome) => ({ json: toOutput(outcome, record!, shape) }));
		report.done(index, items);
	}
}

/** How many items came to each outcome, those of earlier tries of the node too. */
function totals(report: ItemResults): Record<Outcome, number> {
	const counts = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0]));
	for (const outcome of report.outcomes()) counts[outcome] = (counts[outcome] ?? 0) + 1;
	return counts as Record<Outcome, number>;
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

function writeManyOptions(
	run: RunContext<WriteManyParameter>,
	index: number,
	mode: WriteMode,
): WriteManyOptions {
	const size = run.option<unknown>('options.batchSize', index, AUTOMATIC);
	const parallel = run.option<unknown>('options.parallelRequests', index, AUTOMATIC);
	const mib = run.option<unknown>('options.maxBatchSizeMiB', index, DEFAULT_MAX_BATCH_SIZE_MIB);
	const { context } = run;
	return {
		mode,
		importKey: run.option('options.importKey', index, '') || undefined,
		batchSize: Math.floor(run.numberWithin(size, 'Batch Size', { min: 0, max: MAX_BATCH_SIZE })),
		batchBytes: run.numberWithin(mib, 'Batch Size (MiB)', { min: 0.001 }) * MIB,
		parallelRequests: Math.floor(
			run.numberWithin(parallel, 'Parallel Requests', { min: 0, max: MAX_PARALLEL_REQUESTS }),
		),
		skipAudit: run.flag('options.skipAudit', 'Skip Audit', index),
		skipUnchanged: run.flag('options.skipUnchanged', 'Skip Unchanged', index),
		dryRun: run.flag('options.dryRun', 'Dry Run', index),
		stopAtFailure: !context.continueOnFail(),
	};
}

/**
 * The rows of the items that are still open, in order.
 *
 * @param hasId whether each item names its record by id
 * @param problems gets the items whose own expressions fail, and names those that have already
 */
function* rowsOf(
	run: RunContext<'recordId'>,
	report: ItemResults,
	valuesOf: ValuesReader,
	hasId: boolean,
	problems: Problem[],
): Generator<PlanInput> {
	const isUnreadable = new Set(problems.map(({ index }) => index));
	for (const index of run.items.keys()) {
		if (report.hasResult(index) || isUnreadable.has(index)) continue;
		const row = readItem(index, problems, () => ({
			index,
			values: valuesOf(index),
			id: hasId ? run.optionalText('recordId', 'Record ID', index) : undefined,
		}));
		if (row) yield row;
	}
}

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
): Promise<void> {
	// A parameter that the operation does not have is not set: Create Many matches nothing.
	const run = operationRun as RunContext<WriteManyParameter>;
	if (run.items.length === 0) return;
	const { client, context } = run;
	const unreadable: Problem[] = [];
	const source = sharedSource(run, report, unreadable);
	const mode = modeOf(source);
	const settings = writeManyOptions(run, source, mode);
	const at = run.table(source);
	if (settings.dryRun) report.markDryRun();
	const reading = settings.dryRun ? Promise.resolve(undefined) : readWatermark(client, at);
	// Both are read at the same time, and none is left behind where the other one fails.
	const table = await run.definition(at).finally(async () => await reading);
	const links = linkResolver(run, at);
	const rules = linkRules(run, source, table);
	const matching = matchingOf(run, source, mode, table, settings.importKey);
	const duplicates = run.option<'merge' | 'error'>('options.duplicates', source, 'merge');
	const options = {
		...settings,
		planning: {
			...planOptions(run, source, mode, duplicates, settings.importKey),
			matchOn: matching?.on,
		},
		linkRules: rules,
		matching,
	};
	const pipeline = new WritePipeline(client, at, table, links, options, reading);
	const hasId = matching ? matching.on === 'recordId' : mode === 'update' || mode === 'replace';
	const rows = rowsOf(run, report, valuesReader(run, source, table), hasId, unreadable);
	const plan = await pipeline.plan(rows, unreadable);
	hintIgnored(run, plan);
	const shape = outputOf(run, source);
	const { stopped } = await pipeline.write(plan, {
		onPlan: ({ problems }) => {
			if (problems.length > 0 && settings.stopAtFailure)
				throw inputError(plan, pipeline.linkedRecordsCreated);
		},
		onOutcomes: (index, outcomes, record) => reportOutcomes(report, shape, index, outcomes, record),
	});

	const summary = {
		sent: plan.records.length,
		...(plan.merged.size > 0 && { merged: plan.merged.size }),
		...totals(report),
		...(pipeline.linkedRecordsCreated > 0 && {
			linkedRecordsCreated: pipeline.linkedRecordsCreated,
		}),
		...client.stats,
		...(settings.dryRun && { dryRun: true }),
		...(stopped && {
			stopped: stopped.message,
			confirmedThroughItem: report.reached.confirmedThroughItem,
		}),
	};
	if (run.option<string>('options.output', source, 'items') === 'summary')
		report.summarize(summary);
	context.addExecutionHints({ message: hint(summary), location: 'outputPane' });
}

const NAMES: Record<Outcome, string> = {
	inserted: 'inserted',
	updated: 'updated',
	unchanged: 'unchanged',
	found: 'found',
	skipped: 'skipped',
	notFound: 'not found',
	failed: 'failed',
	unknown: 'unknown',
};

/** The counts in one sentence. */
function hint(
	summary: Record<Outcome | 'requests' | 'waitedMs', number> & {
		dryRun?: boolean;
		linkedRecordsCreated?: number;
	},
) {
	const counts = OUTCOMES.filter((outcome) => summary[outcome] > 0).map(
		(outcome) => `${summary[outcome]} ${NAMES[outcome]}`,
	);
	const waited =
		summary.waitedMs >= 1000 ? `, ${Math.round(summary.waitedMs / 1000)} s waited` : '';
	const prefix = summary.dryRun ? 'Dry run, nothing was written: ' : '';
	const { linkedRecordsCreated: linked } = summary;
	if (linked !== undefined) {
		counts.push(linked === 1 ? '1 linked record created' : `${linked} linked records created`);
	}
	return `${prefix}${counts.join(', ') || 'nothing to write'} (${summary.requests} requests${waited}).`;
}
