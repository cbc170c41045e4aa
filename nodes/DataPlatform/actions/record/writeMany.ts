/**
 * What Create Many, Create or Update Many and Update Many have in common: plan, write, report.
 */
import type { IDataObject } from 'n8n-workflow';

import { OUTCOMES, isSuccess, type ItemOutcome, type Outcome } from '../../bulk/outcome';
import {
	planRecords,
	type Plan,
	type PlannedRecord,
	type PlanInput,
	type Problem,
	type WriteMode,
} from '../../bulk/plan';
import { writeMatched } from '../../bulk/matching';
import { readWatermark, writeMany, type WriteManyOptions } from '../../bulk/write';
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

/** Hands each outcome to the report. */
class Outcomes {
	readonly byIndex = new Map<number, ItemOutcome[]>();

	constructor(
		private readonly report: ItemResults,
		private readonly merged: Plan['merged'],
		private readonly shape: RecordOutput,
	) {}

	/** @param outcomes one, or several where all that an item matches was written */
	settle(index: number, outcomes: ItemOutcome[], record?: PlannedRecord) {
		if (this.merged.size > 0) this.byIndex.set(index, outcomes);
		const failed = outcomes.find((outcome) => !isSuccess(outcome));
		if (failed) this.report.failed(index, toItemFailure(failed, record));
		else {
			const items = outcomes.map((outcome) => ({ json: toOutput(outcome, record!, this.shape) }));
			this.report.done(index, items);
		}
	}

	/** An item that is part of a later item's record shares its outcome. */
	settleMerged(records: Map<number, PlannedRecord>) {
		for (const [index, next] of this.merged) {
			let mergedInto = next;
			// Matching may show that the later item is itself a part of another.
			while (this.merged.has(mergedInto)) mergedInto = this.merged.get(mergedInto)!;
			const outcomes = this.byIndex.get(mergedInto) ?? [{ outcome: 'failed' }];
			this.settle(
				index,
				outcomes.map((outcome) => ({
					...outcome,
					mergedInto,
					...(!isSuccess(outcome) && {
						isDerived: true,
						message: `Merged into item ${mergedInto}, which has the same key and did not succeed: ${outcome.message ?? ''}`,
					}),
				})),
				records.get(mergedInto),
			);
		}
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
	const reading = settings.dryRun ? undefined : readWatermark(client, at);
	// Both are read at the same time, and none is left behind where the other one fails.
	const table = await run.definition(at).finally(async () => await reading);
	const links = linkResolver(run, at);
	const rules = linkRules(run, source, table);
	const matching = matchingOf(run, source, mode, table, settings.importKey);
	const planning = {
		...planOptions(
			run,
			source,
			mode,
			run.option('options.duplicates', source, 'merge'),
			settings.importKey,
		),
		matchOn: matching?.on,
	};
	const hasId = matching ? matching.on === 'recordId' : mode === 'update' || mode === 'replace';
	const rows = rowsOf(run, report, valuesReader(run, source, table), hasId, unreadable);
	const plan = planRecords(
		table,
		rules.size > 0
			? await links.resolve(
					table,
					[...rows],
					rules,
					mode === 'create' || matching?.ifFound === 'skip',
				)
			: rows,
		planning,
	);
	plan.problems.push(...unreadable);
	hintIgnored(run, plan);
	if (plan.problems.length > 0 && settings.stopAtFailure) throw inputError(plan);
	const createLinked = async (writing: Plan) => {
		if (settings.dryRun) return;
		await links.createMissing(writing, table, settings);
		links.dropMissing(plan.records, table);
	};
	// Where records are matched first, linked ones are created only for those that are written.
	if (!matching) await createLinked(plan);
	if (plan.problems.length > 0 && settings.stopAtFailure)
		throw inputError(plan, links.createdCount);

	const outcomes = new Outcomes(report, plan.merged, outputOf(run, source));
	settleProblems(plan, outcomes);
	const settle = (record: PlannedRecord, all: ItemOutcome[]) =>
		outcomes.settle(record.index, all, record);
	const watermark = await reading;
	const stopped = matching
		? await writeMatched(
				client,
				at,
				table,
				plan,
				planning,
				matching,
				settings,
				watermark,
				settle,
				createLinked,
			)
		: await writeMany(client, at, table, plan.records, settings, watermark, (record, outcome) =>
				settle(record, [outcome]),
			);
	if (plan.merged.size > 0) {
		outcomes.settleMerged(new Map(plan.records.map((record) => [record.index, record])));
	}

	const summary = {
		sent: plan.records.length,
		...(plan.merged.size > 0 && { merged: plan.merged.size }),
		...totals(report),
		...(links.createdCount > 0 && { linkedRecordsCreated: links.createdCount }),
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

function settleProblems({ problems }: Plan, outcomes: Outcomes) {
	const byItem = new Map<number, string[]>();
	const fieldOf = new Map<number, string | undefined>();
	for (const { index, message, field } of problems) {
		byItem.set(index, [...(byItem.get(index) ?? []), message]);
		if (!fieldOf.has(index)) fieldOf.set(index, field);
	}
	for (const [index, messages] of byItem) {
		const outcome = {
			outcome: 'failed',
			message: `Item ${index} was not sent: ${messages.join('; ')}`,
			hint: 'Correct the item and run it again.',
			field: fieldOf.get(index),
		} as const;
		outcomes.settle(index, [outcome]);
	}
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
