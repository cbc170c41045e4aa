/**
 * What Create, Create or Update, Update and Sync share: plan, write, report.
 */
import type { IDataObject } from 'n8n-workflow';

import { isSuccess, noCounts } from '../../bulk/outcome';
import type { Entry, ItemOutcome, PlanInput, WriteMode } from '../../bulk/terms';
import { GrowingFile } from '../../input/binaryStore';
import type { NameOf } from '../../parameterKinds/parameter';
import { itemRecordId } from '../../parameters/select/table';
import { mappedKeyOf, type columnsToUpsert } from '../../parameters/write/columns';
import type { RuleOptions } from '../../parameters/write/matchRules';
import {
	dryRun,
	output,
	previousValues,
	writeSettings,
	writesMatched,
	type MatchedParameter,
	type WriteParameter,
} from '../../parameters/write/writing';
import { ndjsonLine } from '../../rows/exportRows';
import { MEDIA_TYPES } from '../../rows/readRows';
import { FailureKinds } from '../../run/failureKinds';
import type { Ledger } from '../../run/ledger';
import type { RunContext } from '../../run/run';
import type { ServiceError } from '../../transport/errors';
import { counted } from '../../transport/messageText';
import { inputError } from './inputError';
import { toItemProblem, toOutput } from './itemOutput';
import { openItems, planItems, type ItemWrites, type Writing } from './planItems';
import { returnStored, type WrittenItem } from './storedRecords';
import { countsText, failuresText } from './summary';

const OPTIONAL_RECORD_ID = itemRecordId.with({ required: false });

/**
 * How an operation writes that finds each item's record. An empty record ID is reported as a problem
 * of that item.
 *
 * @throws {InputError}
 */
export const findsRecords = (
	run: RunContext<
		MatchedParameter | NameOf<typeof itemRecordId | typeof previousValues | typeof columnsToUpsert>
	>,
	source: number,
	mode: WriteMode,
	rules: RuleOptions,
): ItemWrites => ({
	...writesMatched(run, source, mode, { ...rules, mappedKey: mappedKeyOf(run, source) }),
	returnsPrevious: previousValues.of(run, source),
	recordId: (index) => OPTIONAL_RECORD_ID.of(run, index),
});

/**
 * What a run changed, as a file for its undo: a line for each record that was created, changed or
 * deleted. Undefined if there is none.
 */
async function previousFile(run: RunContext<never>, ledger: Ledger) {
	const file = new GrowingFile(run, 'previous.ndjson', MEDIA_TYPES.ndjson);
	for (const { outcome, id, previous, mergedInto } of ledger.outputs()) {
		// A record has one line, however many items were merged into it.
		if (typeof mergedInto === 'number') continue;
		if (previous || outcome === 'inserted') await file.write(ndjsonLine({ outcome, id, previous }));
	}
	return await file.end();
}

/** What an operation does in addition to writing its items. */
interface WriteExtension {
	/** True for one item `{}`, as n8n makes it of nothing: then no item is a row. */
	isEmpty(rows: PlanInput[]): boolean;
	/** Called before anything is written. An error that it throws stops the run. */
	prepare(writing: Writing): Promise<WriteFollowUp | undefined>;
}

/** What to do once each item has an outcome. */
export interface WriteFollowUp {
	onOutcome(outcome: ItemOutcome): void;
	/**
	 * @param stopped why items were not sent, if they were not
	 * @returns what it adds to the summary
	 */
	finish(stopped: ServiceError | undefined): Promise<IDataObject>;
}

type Run = RunContext<WriteParameter>;

/** Writes the planned items of a run. */
class ItemWriter {
	private readonly started = new Date();
	/** How many records have something to send back, conflicts, or lost their state. */
	private readonly twoWay = { sendBack: 0, conflicts: 0, stateLost: 0 };
	/** How many written records have no ID. */
	private withoutId = 0;
	/** Why items were not sent, if they were not. */
	private stopped?: ServiceError;
	/** What the extension adds to the summary. */
	private extraSummary?: IDataObject;

	constructor(
		private readonly run: Run,
		private readonly ledger: Ledger,
		private readonly writing: Writing,
		private readonly extension?: WriteExtension,
	) {}

	async write(returnsStored: boolean) {
		const { run, ledger, writing } = this;
		const { pipeline, plan, rows, indexes, settings } = writing;
		const followUp = await this.extension?.prepare(writing);
		const isEmpty = rows.length === 0 && plan.problems.length === 0;
		if (isEmpty) for (const index of indexes) ledger.done(index, []);
		const written: WrittenItem[] = [];
		this.stopped = await pipeline.write(plan, (index, outcome, record) => {
			followUp?.onOutcome(outcome);
			const isWritten = this.enter(index, outcome, record);
			if (isWritten && returnsStored) written.push({ index, outcome, record: record! });
		});
		this.extraSummary = await followUp?.finish(this.stopped);
		if (!settings.dryRun) await returnStored(run, ledger, writing, written);
	}

	/** Enters what became of an item into the ledger. @returns whether it succeeded */
	private enter(index: number, outcome: ItemOutcome, record?: Entry): boolean {
		const { run, ledger } = this;
		const { handle, plan, settings } = this.writing;
		run.progress.note(() => `${ledger.reached.done} of ${run.items.length} items are done`);
		if (!isSuccess(outcome)) {
			handle.forget();
			ledger.failed(index, toItemProblem(outcome, record));
			return false;
		}
		const { twoWay } = this;
		if (outcome.sendBack) twoWay.sendBack += 1;
		if (outcome.conflicts) twoWay.conflicts += 1;
		if (record?.twoWay?.isStateLost) twoWay.stateLost += 1;
		// In n8n's table of items, the first item decides the order of the columns.
		const merged = plan.merged.size > 0 ? { mergedInto: null } : {};
		const json = toOutput({ ...merged, ...outcome }, record!);
		ledger.done(index, [{ json }], outcome.outcome, plan.merged.has(index));
		const lacksId = outcome.id === undefined && outcome.outcome !== 'skipped';
		if (lacksId && !settings.dryRun && !settings.withoutIds) this.withoutId += 1;
		return true;
	}

	/** Says what became of all items, in the output or next to it. */
	async report(isSummarized: boolean) {
		const { run, ledger } = this;
		const { settings } = this.writing;
		const summary = this.summary();
		const warning = failuresText(summary);
		const kinds = new FailureKinds();
		for (const { index, problem } of ledger.failures()) kinds.add(problem, index);
		if (isSummarized) {
			const previous = settings.returnsPrevious && (await previousFile(run, ledger));
			const json = {
				...summary,
				started: this.started.toISOString(),
				finished: new Date().toISOString(),
				executionId: run.context.getExecutionId(),
				...(warning && { warning, errors: kinds.list() }),
			};
			ledger.summarize(json, previous ? { previous } : undefined);
		}
		if (this.withoutId > 0) {
			run.hintOnce(
				`${counted(this.withoutId, 'record')} got no ID in the output: the platform's response does not say which record is whose, and reading them did not show it.`,
				'warning',
			);
		}
		this.hintTwoWay();
		const text = countsText(summary, ledger.counts(true));
		if (warning) run.hint(`${text} Problems: ${kinds.text()}`, 'warning');
		else run.hint(text);
	}

	private hintTwoWay() {
		const { sendBack, conflicts, stateLost } = this.twoWay;
		const parts = [
			sendBack > 0 && `${counted(sendBack, 'record')} must go back: their values are in 'sendBack'`,
			conflicts > 0 && `${counted(conflicts, 'record')} changed on both sides: see 'conflicts'`,
			stateLost > 0 &&
				`${counted(stateLost, 'record')} had no readable state of their own, as after a copy, and were compared as the first time`,
		].filter(Boolean);
		if (parts.length === 0) return;
		const isFine = conflicts + stateLost === 0;
		this.run.hint(`Two-way sync: ${parts.join('; ')}.`, isFine ? 'info' : 'warning');
	}

	/** The outcomes of all items, and what the run took. */
	private summary() {
		const { run, ledger, stopped, twoWay } = this;
		const { plan, links, settings } = this.writing;
		const merged = plan.merged.size;
		const linkedRecordsCreated = links.createdCount;
		return {
			...(merged > 0 && { merged }),
			...noCounts(this.extension !== undefined),
			...ledger.counts(),
			...this.extraSummary,
			...(twoWay.sendBack > 0 && { sendBack: twoWay.sendBack }),
			...(twoWay.conflicts > 0 && { conflicts: twoWay.conflicts }),
			...(linkedRecordsCreated > 0 && { linkedRecordsCreated }),
			...run.client.stats,
			...(settings.dryRun && { dryRun: true }),
			...(stopped && {
				stopped: stopped.message,
				confirmedThroughItem: ledger.reached.confirmedThroughItem,
			}),
		};
	}
}

/**
 * Writes all items and reports on each.
 *
 * @param writesOf how to write items, given the item that shared parameters are read from
 * @throws {InputError} before anything is sent, if items have problems and the node stops on errors
 */
export async function writeItems(
	run: Run,
	ledger: Ledger,
	writesOf: (source: number) => ItemWrites,
	extension?: WriteExtension,
): Promise<void> {
	if (run.items.length === 0) return;
	const items = await openItems(run, ledger);
	const { source } = items;
	const returns = output.of(run, source);
	if (dryRun.of(run, source)) ledger.markDryRun();
	const kind = writesOf(source);
	const settings = writeSettings(run, source, kind);
	settings.withoutIds = returns === 'summary' && !extension && !settings.returnsPrevious;
	const parts = { run, ledger, items, kind, settings, isEmpty: extension?.isEmpty };
	const writing = await planItems(parts);
	const { problems } = writing.plan;
	if (problems.length > 0 && settings.stopAtFailure) {
		throw inputError(problems, run.items.length, ledger.reached.done);
	}
	const writer = new ItemWriter(run, ledger, writing, extension);
	await writer.write(returns === 'stored');
	await writer.report(returns === 'summary');
}
