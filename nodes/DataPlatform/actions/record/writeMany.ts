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
	type WriteMode,
} from '../../bulk/plan';
import { writeMany, type WriteManyOptions } from '../../bulk/write';
import type { TableAddress, TableDefinition } from '../../api/types';
import { InputError } from '../../transport/errors';
import { omitUndefined, type Failure, type ItemResults } from '../../execution/itemResults';
import type { RunContext } from '../../execution/run';
import { DEFAULT_MAX_BATCH_SIZE_MIB, DEFAULT_BATCH_SIZE } from '../../descriptions/bulkOptions';
import { planOptions, valuesReader } from '../../execution/recordInput';

const MIB = 1024 * 1024;

/** How many problems an error names one by one. */
const PROBLEMS_SHOWN = 10;

const listed = (items: string[]) => {
	const rest = items.length - PROBLEMS_SHOWN;
	const shown = items.slice(0, PROBLEMS_SHOWN).join('; ');
	return rest > 0 ? `${shown}; and ${rest} more` : shown;
};

/** All problems of the input in one error; nothing was sent. */
function inputError({ problems }: Plan): InputError {
	const sorted = [...problems].sort((a, b) => a.index - b.index);
	const items = new Set(sorted.map(({ index }) => index)).size;
	const what = items === 1 ? '1 item has problems' : `${items} items have problems`;
	return new InputError(
		`Nothing was sent, ${what}: ${listed(sorted.map(({ index, message }) => `item ${index}: ${message}`))}`,
		{
			item: sorted[0]!.index,
			field: sorted[0]!.field,
			hint: "Correct the items, or set 'On Error' in the node's settings to continue, so that the good ones are written.",
		},
	);
}

const toOutput = (outcome: ItemOutcome, record: PlannedRecord): IDataObject => {
	const { outcome: name, id, created, modified, ver, supersededBy, before, after } = outcome;
	return omitUndefined({
		outcome: name,
		id,
		created,
		modified,
		ver,
		...(supersededBy !== undefined && { supersededBy }),
		...(before && { before: before as IDataObject }),
		...(after && { after: after as IDataObject }),
		fields: record.fields as IDataObject,
	});
};

const toItemFailure = (outcome: ItemOutcome, record?: PlannedRecord): Failure => {
	const { message = 'The record was not written', hint, status, code, field, id } = outcome;
	return {
		message,
		hint,
		status,
		isDerived: outcome.isDerived,
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
	readonly byIndex = new Map<number, ItemOutcome>();

	constructor(
		private readonly report: ItemResults,
		private readonly superseded: Plan['superseded'],
	) {}

	settle(index: number, outcome: ItemOutcome, record?: PlannedRecord) {
		if (this.superseded.size > 0) this.byIndex.set(index, outcome);
		if (isSuccess(outcome)) this.report.done(index, [{ json: toOutput(outcome, record!) }]);
		else this.report.failed(index, toItemFailure(outcome, record));
	}

	/** An item that was not sent has changed nothing, or shares the failure of the later one. */
	settleSuperseded(records: Map<number, PlannedRecord>) {
		for (const [index, supersededBy] of this.superseded) {
			const winner = this.byIndex.get(supersededBy);
			if (winner && isSuccess(winner)) {
				const { id, created, modified, ver } = winner;
				const outcome = { outcome: 'unchanged' as const, id, created, modified, ver, supersededBy };
				this.settle(index, outcome, records.get(supersededBy));
			} else {
				this.settle(index, {
					...(winner ?? { outcome: 'failed' }),
					isDerived: true,
					message: `Not sent: item ${supersededBy} has the same key, and it did not succeed: ${winner?.message ?? ''}`,
				});
			}
		}
	}
}

/** How many items came to each outcome, those of earlier tries of the node too. */
function totals(report: ItemResults): Record<Outcome, number> {
	const counts = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0]));
	for (const outcome of report.outcomes()) counts[outcome] = (counts[outcome] ?? 0) + 1;
	return counts as Record<Outcome, number>;
}

function writeManyOptions(run: RunContext, mode: WriteMode): WriteManyOptions {
	const size = run.option<unknown>('options.batchSize', 0, DEFAULT_BATCH_SIZE);
	const mib = run.option<unknown>('options.maxBatchSizeMiB', 0, DEFAULT_MAX_BATCH_SIZE_MIB);
	const { context } = run;
	return {
		mode,
		importKey: run.option('options.importKey', 0, '') || undefined,
		batchSize: Math.floor(run.numberWithin(size, 'Batch Size', { min: 1, max: 1000 })),
		batchBytes: run.numberWithin(mib, 'Batch Size (MiB)', { min: 0.001 }) * MIB,
		skipAudit: run.option('options.skipAudit', 0, false),
		skipUnchanged: run.option('options.skipUnchanged', 0, false),
		dryRun: run.option('options.dryRun', 0, false),
		stopAtFailure: !context.continueOnFail(),
	};
}

/** The rows of the items that are still open, in order. */
function* rowsOf(
	run: RunContext,
	report: ItemResults,
	table: TableDefinition,
	withId: boolean,
): Generator<PlanInput> {
	const valuesOf = valuesReader(run, 0, table);
	for (const index of run.items.keys()) {
		if (report.hasResult(index)) continue;
		const id = withId ? run.parameter('recordId', index) : undefined;
		yield { index, values: valuesOf(index), id };
	}
}

/**
 * The table of all items: one request has one table.
 *
 * @throws {InputError} where items name different ones
 */
function commonTable(run: RunContext): TableAddress {
	const at = run.table(0);
	if (!run.isExpression('application') && !run.isExpression('table')) return at;
	for (const index of run.items.keys()) {
		const { application, table } = run.table(index);
		if (application === at.application && table === at.table) continue;
		throw new InputError(
			`Nothing was sent: item ${index} names the table '${table}', item 0 names '${at.table}'`,
			{
				item: index,
				field: 'Table',
				hint: 'Write to one table at a time; divide the items by their table first.',
			},
		);
	}
	return at;
}

/**
 * Writes all items and reports on each.
 *
 * @throws {InputError} before anything is sent, where items have problems and the node is to stop
 */
export async function executeWriteMany(
	run: RunContext,
	report: ItemResults,
	mode: WriteMode,
): Promise<void> {
	if (run.items.length === 0) return;
	const { client, context } = run;
	const settings = writeManyOptions(run, mode);
	const at = commonTable(run);
	const table = await run.definition(at);
	const withId = mode === 'update' || mode === 'replace';
	const duplicatesPolicy = run.option<'lastWins' | 'error'>('options.duplicates', 0, 'lastWins');
	const plan = planRecords(
		table,
		rowsOf(run, report, table, withId),
		planOptions(run, 0, mode, duplicatesPolicy),
	);
	if (plan.problems.length > 0 && settings.stopAtFailure) throw inputError(plan);

	const outcomes = new Outcomes(report, plan.superseded);
	settleProblems(plan, outcomes);
	const stopped = await writeMany(client, at, table, plan.records, settings, (record, outcome) =>
		outcomes.settle(record.index, outcome, record),
	);
	if (plan.superseded.size > 0) {
		outcomes.settleSuperseded(new Map(plan.records.map((record) => [record.index, record])));
	}

	const summary = {
		sent: plan.records.length,
		...totals(report),
		...client.stats,
		...(settings.dryRun && { dryRun: true }),
		...(stopped && {
			stopped: stopped.message,
			confirmedThroughItem: report.completedPrefix > 0 ? report.completedPrefix - 1 : null,
		}),
	};
	if (run.option<string>('options.output', 0, 'items') === 'summary') report.summarize(summary);
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
		outcomes.settle(index, {
			outcome: 'failed',
			message: `Item ${index} was not sent: ${messages.join('; ')}`,
			hint: 'Correct the item and run it again.',
			field: fieldOf.get(index),
		});
	}
}

const NAMES: Record<Outcome, string> = {
	inserted: 'inserted',
	updated: 'updated',
	unchanged: 'unchanged',
	notFound: 'not found',
	failed: 'failed',
	unknown: 'unknown',
};

/** The counts in one sentence. */
function hint(summary: Record<Outcome | 'requests' | 'waitedMs', number> & { dryRun?: boolean }) {
	const counts = OUTCOMES.filter((outcome) => summary[outcome] > 0).map(
		(outcome) => `${summary[outcome]} ${NAMES[outcome]}`,
	);
	const waited =
		summary.waitedMs >= 1000 ? `, ${Math.round(summary.waitedMs / 1000)} s waited` : '';
	const prefix = summary.dryRun ? 'Dry run, nothing was written: ' : '';
	return `${prefix}${counts.join(', ') || 'nothing to write'} (${summary.requests} requests${waited}).`;
}
