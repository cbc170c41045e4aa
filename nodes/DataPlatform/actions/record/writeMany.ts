/**
 * What Create Many, Create or Update Many and Update Many share: plan, write, report.
 */
import type { IDataObject } from 'n8n-workflow';

import type { TableDefinition } from '../../api/types';
import { KeptCounts } from '../../bulk/fieldRules';
import { OUTCOMES, isSuccess, noCounts, type ItemOutcome, type Outcome } from '../../bulk/outcome';
import type { Plan, PlanInput, Problem } from '../../bulk/plan';
import type { Entry } from '../../bulk/entry';
import type { Task } from '../../bulk/task';
import { failureKinds } from '../../execution/failureKinds';
import {
	omitUndefined,
	type Failure,
	type ItemResult,
	type ItemResults,
} from '../../execution/itemResults';
import type { NameOf } from '../../execution/parameter';
import type { RecordOutput } from '../../execution/recordOutput';
import type { RunContext } from '../../execution/run';
import { hintText } from '../../parameters/hints';
import { outputOf } from '../../parameters/reading';
import { itemRecordId } from '../../parameters/table';
import { hintIgnored, planOptions, valuesReader } from '../../parameters/values';
import {
	dryRun,
	manySettings,
	output,
	setUpWriting,
	type WriteKind,
	type WriteManyParameter,
	type WriteSetup,
} from '../../parameters/writing';
import { InputError, type ServiceError } from '../../transport/errors';
import { listed } from '../../transport/text';
import { collect } from '../../transport/turns';
import { readItem, sharedSource } from './sharedParameters';

const COUNTED_FROM_0 =
	"Items are counted from 0, as in n8n's own errors. Correct the items, or set 'On Error' in the node's settings to continue, so that the good ones are written.";

/**
 * One error for all problems of the input. No item was sent.
 *
 * @param createdCount how many linked records had already been created
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
		`${nothing}. ${what}: ${listed(sorted.map(({ index, message }) => `item ${index}: ${message}`))}`,
		{
			item: sorted[0]!.index,
			field: sorted[0]!.field,
			hint: [hintText(sorted[0]!.hint), COUNTED_FROM_0].filter(Boolean).join(' '),
		},
	);
}

const toOutput = (
	{ outcome, id, created, modified, ver, mergedInto, kept, before, after, ...stored }: ItemOutcome,
	record: Entry,
	shape: RecordOutput,
): IDataObject => ({
	outcome,
	// A record that was not written still has its stored values, not those of the item.
	...shape({ id, created, modified, ver, fields: stored.fields ?? record.fields }),
	...(mergedInto !== undefined && { mergedInto }),
	...(kept && { kept }),
	...(before && { before: before as IDataObject }),
	...(after && { after: after as IDataObject }),
});

const toItemFailure = (outcome: ItemOutcome, record?: Entry): Failure => {
	const { message = 'The record was not written', hint, status, code, field, id } = outcome;
	return {
		message,
		hint: hintText(hint),
		status,
		notAttempted: outcome.notAttempted,
		noRetry: outcome.noRetry,
		isRetryable: outcome.isRetryable,
		retryAfterMs: outcome.retryAfterMs,
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

/** The result of an item from the outcomes of its records; a failure if one of them failed. */
export function toResult(
	outcomes: ItemOutcome[],
	record: Entry | undefined,
	shape: RecordOutput,
): ItemResult {
	const failed = outcomes.find((outcome) => !isSuccess(outcome));
	if (failed) return toItemFailure(failed, record);
	return outcomes.map((outcome) => ({ json: toOutput(outcome, record!, shape) }));
}

/** Adds up the items by outcome, including those from previous attempts of the node. */
function addUp<C extends Counts>(report: ItemResults, counts: C, onlyMerged = false): C {
	const byName: Record<string, number> = counts;
	for (const { outcome, isMerged } of report.outcomes()) {
		if (isMerged || !onlyMerged) byName[outcome] = (byName[outcome] ?? 0) + 1;
	}
	return counts;
}

/** Counts by field, in the table's order: the order of outcomes differs from run to run. */
export const inTableOrder = (
	counts: Readonly<Record<string, number>> | undefined,
	{ fields }: TableDefinition,
) =>
	counts &&
	Object.fromEntries(
		fields.flatMap(({ name }) => (Object.hasOwn(counts, name) ? [[name, counts[name]!]] : [])),
	);

/** How an operation writes its items. */
interface ItemWrites extends WriteKind {
	/** The ID of an item's record, if the operation takes one. @throws {InputError} */
	recordId?(index: number): string;
}

const OPTIONAL_RECORD_ID = itemRecordId.with({ required: false });

/** The ID of each item's record. An empty one is reported as a problem of that item. */
export const recordIds = (run: RunContext<NameOf<typeof itemRecordId>>) => ({
	recordId: (index: number) => OPTIONAL_RECORD_ID.of(run, index),
});

/**
 * The rows of items, in order.
 *
 * @param problems gets the items whose own expressions fail; those already in it have no row
 */
function* rowsOf(
	indexes: Iterable<number>,
	problems: Problem[],
	read: (index: number) => PlanInput,
): Generator<PlanInput> {
	const isUnreadable = new Set(problems.map(({ index }) => index));
	for (const index of indexes) {
		if (isUnreadable.has(index)) continue;
		const row = readItem(index, problems, () => read(index));
		if (row) yield row;
	}
}

/** A run that is about to write its items. */
export interface Writing extends WriteSetup {
	/** The item that shared parameters are read from. */
	source: number;
	settings: Task;
	shape: RecordOutput;
	/** The items that are still to be written. */
	plan: Plan;
	/** The rows of items that a previous attempt of the node finished. */
	doneRows(): Iterable<PlanInput>;
	/** The rows of the plan, before links were resolved. */
	rows: PlanInput[];
}

/** What an operation does in addition to writing its items. */
interface WriteExtension {
	/** Whether the input is empty, so that its items are not rows. */
	isEmpty(rows: PlanInput[]): boolean;
	/** Called before anything is written. An error that it throws stops the run. */
	prepare(writing: Writing): Promise<Finish>;
}

/** What to do once each item has an outcome. */
export interface Finish {
	onOutcomes(outcomes: ItemOutcome[]): void;
	/**
	 * @param stopped why items were not sent, if they were not
	 * @returns what it adds to the summary
	 */
	finish(stopped: ServiceError | undefined): Promise<IDataObject>;
}

/** Reads the parameters that apply to all items, and what must be known about the table. */
async function setUp(run: RunContext<WriteManyParameter>, source: number, kind: ItemWrites) {
	const settings = manySettings(run, source, kind);
	const planning = planOptions(run, source, kind.mode, kind.duplicates, settings.importKey);
	const setup = await setUpWriting(run, source, settings, kind, planning);
	const valuesOf = valuesReader(run, source, setup.table);
	const rows = (indexes: number[], problems: Problem[]) =>
		rowsOf(indexes, problems, (index) => ({
			index,
			values: valuesOf(index),
			id: setup.hasId ? kind.recordId?.(index) : undefined,
		}));
	return { ...setup, source, settings, shape: outputOf(run, source), rowsOf: rows };
}

type Setup = Awaited<ReturnType<typeof setUp>>;

/**
 * The rows of open items and of those that a previous attempt of the node finished. None if the
 * input is empty.
 */
async function readRows(
	run: RunContext<never>,
	report: ItemResults,
	{ rowsOf }: Setup,
	unreadable: Problem[],
	extension: WriteExtension | undefined,
) {
	const indexes = [...run.items.keys()];
	const open = indexes.filter((index) => !report.hasResult(index));
	const done = indexes.filter((index) => report.hasResult(index));
	const doneRows = () => rowsOf(done, []);
	if (!extension) return { rows: rowsOf(open, unreadable), isEmpty: false, open, doneRows };
	const rows = await collect(rowsOf(open, unreadable));
	const isEmpty = unreadable.length === 0 && extension.isEmpty(rows);
	return { rows: isEmpty ? [] : rows, isEmpty, open, doneRows };
}

/**
 * Writes all items and reports on each.
 *
 * @param writesOf how to write items, given the item that shared parameters are read from
 * @throws {InputError} before anything is sent, if items have problems and the node stops on errors
 */
export async function executeWriteMany(
	run: RunContext<WriteManyParameter>,
	report: ItemResults,
	writesOf: (source: number) => ItemWrites,
	extension?: WriteExtension,
): Promise<void> {
	if (run.items.length === 0) return;
	const started = new Date();
	const unreadable: Problem[] = [];
	const source = await sharedSource(run, report, unreadable);
	const isSummarized = output.of(run, source) === 'summary';
	if (dryRun.of(run, source)) report.markDryRun();
	const setup = await setUp(run, source, writesOf(source));
	const { pipeline, settings, shape } = setup;
	const { rows, isEmpty, open, doneRows } = await readRows(
		run,
		report,
		setup,
		unreadable,
		extension,
	);
	const plan = await pipeline.plan(rows, unreadable);
	hintIgnored(run, plan);
	const onPlan = ({ problems }: Plan) => {
		if (problems.length > 0 && settings.stopAtFailure)
			throw inputError(plan, pipeline.linkedRecordsCreated);
	};
	onPlan(plan);
	const finishing = await extension?.prepare({ ...setup, plan, rows: [...rows], doneRows });
	if (isEmpty) for (const index of open) report.done(index, []);
	const kept = new KeptCounts();
	const { stopped } = await pipeline.write(plan, {
		onPlan,
		onOutcomes: (index, outcomes, record) => {
			finishing?.onOutcomes(outcomes);
			kept.add(outcomes);
			const result = toResult(outcomes, record, shape);
			if (Array.isArray(result)) report.done(index, result);
			else report.failed(index, result);
		},
	});
	if (stopped?.code === 'tooManyFailed') report.stop(stopped.code, stopped.message);
	const more = await finishing?.finish(stopped);
	const counts = { ...addUp(report, noCounts(extension !== undefined)), ...more };
	const summary = summaryOf(run, report, setup, plan, counts, stopped);
	const warning = failuresText(summary);
	if (isSummarized) {
		report.summarize({
			...summary,
			...(kept.byField && { kept: inTableOrder(kept.byField, setup.table) }),
			started: started.toISOString(),
			finished: new Date().toISOString(),
			executionId: run.context.getExecutionId(),
			...(warning && { warning, errors: failureKinds(report.failures()) }),
		});
	}
	const message = countsText(summary, addUp(report, {} as Counts, true));
	const type = warning ? 'warning' : 'info';
	run.context.addExecutionHints({ message, type, location: 'outputPane' });
}

/** The outcomes of all items, and what the run took. */
const summaryOf = <C>(
	{ client }: RunContext<never>,
	{ reached }: ItemResults,
	{ settings, pipeline }: Setup,
	plan: Plan,
	counts: C,
	stopped: ServiceError | undefined,
) => ({
	...(plan.merged.size > 0 && { merged: plan.merged.size }),
	...counts,
	...(pipeline.linkedRecordsCreated > 0 && {
		linkedRecordsCreated: pipeline.linkedRecordsCreated,
	}),
	...client.stats,
	...(settings.dryRun && { dryRun: true }),
	...(stopped && {
		stopped: stopped.message,
		confirmedThroughItem: reached.confirmedThroughItem,
	}),
});

const nameOf = (outcome: Outcome) => (outcome === 'notFound' ? 'not found' : outcome);

/** How many did not succeed, in words; empty if all did. */
const failuresText = (counts: Record<Outcome, number>) =>
	OUTCOMES.filter((outcome) => !isSuccess({ outcome }) && counts[outcome] > 0)
		.map((outcome) => `${counts[outcome]} ${nameOf(outcome)}`)
		.join(', ');

/** How many items have each outcome. */
export type Counts = Partial<Record<Outcome, number>>;

/**
 * The counts of records in one sentence.
 *
 * @param merged the counts of items that were merged into a later one
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
		return count > 0 ? [`${count} ${nameOf(outcome)}`] : [];
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
