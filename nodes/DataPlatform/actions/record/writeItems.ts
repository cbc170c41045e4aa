/**
 * What Create, Create or Update, Update and Sync share: plan, write, report.
 */
import type { IDataObject } from 'n8n-workflow';

import type { TableDefinition } from '../../api/types';
import { afterFailure, KeptCounts, noCounts, notSentItem } from '../../bulk/outcome';
import { importKeyOf } from '../../fields';
import type { Task } from '../../bulk/writeTask';
import { failureKinds } from '../../run/failureKinds';
import type { ItemResults } from '../../run/itemResults';
import type { NameOf } from '../../parameterKinds/parameter';
import type { RecordOutput } from '../../input/recordOutput';
import type { RunContext } from '../../run/run';
import { toFailure } from '../../parameters/describeFailure';
import { outputOf } from '../../parameters/select/reading';
import { itemRecordId, tableOf } from '../../parameters/select/table';
import { hintIgnored, planOptions, valuesReader } from '../../parameters/write/columns';
import {
	dryRun,
	settingsOf,
	output,
	setUpWriting,
	type WriteKind,
	type WriteParameter,
	type WriteSetup,
} from '../../parameters/write/writing';
import type { ServiceError } from '../../transport/errors';
import { counted } from '../../transport/messageText';
import { collect } from '../../transport/pause';
import { addUp, countsText, failuresText, inTableOrder } from './summary';
import { inputError } from './inputError';
import { toItemFailure, toResult, withKeysFirst } from './itemOutput';
import { itemsByTable, readItem, type TableItems } from './sharedParameters';
import { StoredRecords, type WrittenItem } from './storedRecords';
import type { ItemOutcome, Plan, PlanInput, Problem } from '../../bulk/terms';

/** How an operation writes its items. */
interface ItemWrites extends WriteKind {
	/** The ID of an item's record, if the operation takes one. @throws {InputError} */
	recordId?(index: number): string;
	/**
	 * Reads from the platform what to write, in place of the items' values. Those are in the form of
	 * the table as it is now, so its definition is asked for anew.
	 *
	 * @returns an item's values by its index
	 */
	readValues?(table: TableDefinition, indexes: number[]): Promise<(index: number) => unknown>;
}

const OPTIONAL_RECORD_ID = itemRecordId.with({ required: false });

/** The ID of each item's record. An empty one is reported as a problem of that item. */
export const recordIds = (run: RunContext<NameOf<typeof itemRecordId>>) => ({
	recordId: (index: number) => OPTIONAL_RECORD_ID.of(run, index),
});

/**
 * The rows of items, in order.
 *
 * @param problems gets the items whose own expressions fail
 */
function* rowsOf(
	indexes: number[],
	problems: Problem[],
	read: (index: number) => PlanInput,
): Generator<PlanInput> {
	for (const index of indexes) {
		const row = readItem(index, problems, () => read(index));
		if (row) yield row;
	}
}

/** The items of one table, which are about to be written. */
export interface Writing extends WriteSetup, TableItems {
	settings: Task;
	shape: RecordOutput;
	/** What to write of the items. */
	plan: Plan;
	/** The rows of the plan, before links were resolved; none if the input is empty. */
	rows: PlanInput[];
	/** The rows of items that a previous attempt of the node finished. */
	doneRows(): Iterable<PlanInput>;
}

/** What an operation does in addition to writing its items, which belong to one table. */
interface WriteExtension {
	/** True for one item `{}`, as n8n makes it of nothing: then no item is a row. */
	isEmpty(rows: PlanInput[]): boolean;
	/** Called before anything is written. An error that it throws stops the run. */
	prepare(writing: Writing): Promise<WriteFollowUp>;
}

/** What to do once each item has an outcome. */
export interface WriteFollowUp {
	onOutcomes(outcomes: ItemOutcome[]): void;
	/**
	 * @param stopped why items were not sent, if they were not
	 * @returns what it adds to the summary
	 */
	finish(stopped: ServiceError | undefined): Promise<IDataObject>;
}

type Run = RunContext<WriteParameter>;

/** The names of the fields by which records are found, or known. */
function keysOf({ table, planning: { matchOn } }: WriteSetup): string[] {
	if (Array.isArray(matchOn)) return matchOn;
	return [importKeyOf(table)?.name].filter((name) => name !== undefined);
}

/** Headers may have moved to other fields: items that name fields by them need a fresh definition. */
const withoutHeaders = (table: TableDefinition): TableDefinition => ({
	...table,
	fields: table.fields.map((field) => ({ ...field, header: field.name })),
});

/** Writes the items of a run, table by table. */
class ItemWriter {
	private readonly started = new Date();
	private readonly writings: Writing[] = [];
	/** Items whose own expressions fail, so that nobody knows their table. */
	private readonly unreadable: Problem[] = [];
	private readonly kept = new KeptCounts();
	/** How many written records have no ID. */
	private withoutId = 0;
	/** Why it writes nothing more. */
	private over?: ServiceError;
	/** Why items of a table were not sent. */
	private stopped?: ServiceError;
	/** What the extension adds to the summary. */
	private more?: IDataObject;

	constructor(
		private readonly run: Run,
		private readonly report: ItemResults,
		private readonly writesOf: (source: number) => ItemWrites,
		private readonly extension?: WriteExtension,
	) {}

	/** @throws {InputError} before anything is sent, if items have problems and the node stops */
	async write(): Promise<void> {
		const { run, report, unreadable } = this;
		const tables = await itemsByTable(run, report, unreadable, this.extension !== undefined);
		const { source } = tables[0]!;
		const returns = output.of(run, source);
		if (dryRun.of(run, source)) report.markDryRun();
		await this.planTables(tables);
		for (const writing of this.writings) {
			if (this.over) this.leave(writing, this.over);
			else await this.writeTable(writing, returns === 'stored');
		}
		this.finish(returns === 'summary');
	}

	/** Checks the items of all tables. If a table can't be read, its items fail. */
	private async planTables(tables: TableItems[]) {
		const { run, report, writings } = this;
		let failure: unknown;
		for (const items of tables) {
			try {
				writings.push(await this.plan(items));
			} catch (error) {
				failure ??= error;
				for (const index of items.indexes) report.failed(index, toFailure(error));
			}
		}
		if (!writings[0]) throw failure;
		writings[0].plan.problems.push(...this.unreadable);
		if (failure !== undefined && !run.context.continueOnFail()) this.over = afterFailure();
		else this.requireNoProblems(writings.flatMap(({ plan }) => plan.problems));
	}

	/** Plans the items of a table. */
	private async plan(items: TableItems): Promise<Writing> {
		const { run } = this;
		const kind = this.writesOf(items.source);
		const settings = settingsOf(run, items.source, kind);
		const planned =
			(await this.planWithKept(items, kind, settings)) ??
			(await this.planWithFresh(items, kind, settings));
		hintIgnored(run, planned.plan);
		for (const notice of planned.plan.keyNotices) run.hintOnce(notice, 'warning');
		return { ...planned, settings };
	}

	/**
	 * Plans with a definition that may be a minute old.
	 *
	 * @returns undefined if there is none, if a problem may be due to its age, or if more than what the
	 *   platform checks rests on it
	 */
	private async planWithKept(items: TableItems, kind: ItemWrites, settings: Task) {
		const { run, extension } = this;
		const handle = tableOf(run, items.source);
		const isFresh = extension !== undefined || kind.readValues !== undefined;
		const table = isFresh ? undefined : handle.kept;
		if (!table) return undefined;
		try {
			const setup = this.setUp(items, withoutHeaders(table), kind, settings);
			if (!setup.isCheckedByPlatform) return undefined;
			const planned = await this.planItems(items, setup, kind);
			const { problems, ignored, merged } = planned.plan;
			// Another field may be the key by now.
			if (problems.length + ignored.size + merged.size === 0) return planned;
		} catch {
			// The fresh definition decides.
		}
		handle.forget();
		return undefined;
	}

	private async planWithFresh(items: TableItems, kind: ItemWrites, settings: Task) {
		const table = await tableOf(this.run, items.source).definition();
		return await this.planItems(items, this.setUp(items, table, kind, settings), kind);
	}

	private setUp({ source }: TableItems, table: TableDefinition, kind: ItemWrites, settings: Task) {
		const { run } = this;
		const planning = planOptions(run, source, kind.mode, kind.duplicates, settings.importKey);
		return setUpWriting(run, source, table, settings, kind, planning);
	}

	private async rowReader(
		{ source, indexes }: TableItems,
		{ table, hasId }: WriteSetup,
		kind: ItemWrites,
	) {
		const valuesOf =
			(await kind.readValues?.(table, indexes)) ?? valuesReader(this.run, source, table);
		return (index: number): PlanInput => ({
			index,
			values: valuesOf(index),
			id: hasId ? kind.recordId?.(index) : undefined,
		});
	}

	private async planItems(items: TableItems, setup: WriteSetup, kind: ItemWrites) {
		const { run, report, extension } = this;
		const { source, indexes } = items;
		const problems: Problem[] = [];
		const read = await this.rowReader(items, setup, kind);
		const all = await collect(rowsOf(indexes, problems, read));
		const isReadable = problems.length + this.unreadable.length === 0;
		const rows = isReadable && extension?.isEmpty(all) ? [] : all;
		const plan = await setup.pipeline.plan(rows, problems);
		const done = [...run.items.keys()].filter((index) => report.hasResult(index));
		const doneRows = () => rowsOf(done, [], read);
		return {
			...setup,
			source,
			indexes,
			shape: withKeysFirst(keysOf(setup), outputOf(run, source)),
			plan,
			rows,
			doneRows,
		};
	}

	/** @throws {InputError} if there are problems, and the node stops on errors */
	private requireNoProblems(problems: Problem[]) {
		const { run, report, writings } = this;
		if (problems.length === 0 || !writings[0]!.settings.stopAtFailure) return;
		throw inputError(problems, {
			items: run.items.length,
			written: report.reached.done,
			linkedRecords: this.linkedRecordsCreated,
		});
	}

	private async writeTable(writing: Writing, returnsStored: boolean) {
		const { run, report, extension } = this;
		const { handle, pipeline, plan, rows, indexes, settings, shape } = writing;
		const finishing = await extension?.prepare(writing);
		const isEmpty = rows.length === 0 && plan.problems.length === 0;
		if (isEmpty) for (const index of indexes) report.done(index, []);
		const written: WrittenItem[] = [];
		const hasMerged = plan.merged.size > 0;
		const { stopped } = await pipeline.write(plan, {
			onPlan: ({ problems }) => this.requireNoProblems(problems),
			onOutcomes: (index, all, record) => {
				// In n8n's table of items, the first item decides the order of the columns.
				const outcomes = hasMerged ? all.map((one) => ({ mergedInto: null, ...one })) : all;
				finishing?.onOutcomes(outcomes);
				this.kept.add(all);
				run.progress.note(() => `${report.reached.done} of ${run.items.length} items are done`);
				const result = toResult(outcomes, record, shape);
				if (!Array.isArray(result)) {
					handle.forget();
					if (settings.stopAtFailure) this.over ??= afterFailure();
					report.failed(index, result);
					return;
				}
				report.done(index, result);
				if (!settings.dryRun) this.withoutId += outcomes.filter(lacksId).length;
				if (returnsStored) written.push({ index, outcomes, record: record! });
			},
		});
		const isOver = settings.stopAtFailure || stopped?.code === 'tooManyFailed';
		if (stopped && isOver) this.over = stopped;
		this.stopped ??= stopped;
		this.more = await finishing?.finish(stopped);
		if (!settings.dryRun) await this.returnStored(writing, written);
	}

	/** Returns records as they are stored, in place of what was sent. */
	private async returnStored({ pipeline, shape, table }: Writing, written: WrittenItem[]) {
		const { run, report } = this;
		const stored = new StoredRecords(pipeline, table);
		await stored.read(written);
		for (const { index, outcomes, record } of written) {
			const all = outcomes.map((outcome) => ({ json: stored.output(outcome, record, shape) }));
			report.done(index, all);
		}
		if (stored.emptyFields.size > 0) {
			const names = [...stored.emptyFields].map((name) => `'${name}'`).join(', ');
			run.hintOnce(
				`New records have no value in ${names} yet: the platform may fill it in later. If you need it, read the records again.`,
			);
		}
		if (stored.unread === 0) return;
		run.hintOnce(
			`${counted(stored.unread, 'record')} could not be read after the write. The output has what was sent, and the reason in 'notRead'.`,
			'warning',
		);
	}

	/** Sends none of a table's items. */
	private leave({ indexes, plan: { problems } }: Writing, cause: ServiceError) {
		const all = new Set([...indexes, ...problems.map(({ index }) => index)]);
		for (const index of all) this.report.failed(index, toItemFailure(notSentItem(cause)));
	}

	private get linkedRecordsCreated(): number {
		return sum(this.writings.map(({ pipeline }) => pipeline.linkedRecordsCreated));
	}

	private finish(isSummarized: boolean) {
		const { run, report, stopped } = this;
		if (stopped?.code === 'tooManyFailed') report.stop(stopped.code, stopped.message);
		const summary = this.summary();
		const warning = failuresText(summary);
		const kinds = failureKinds(report.failures());
		if (isSummarized) {
			const fields = this.writings.flatMap(({ table }) => table.fields);
			const kept = inTableOrder(this.kept.byField, { fields });
			report.summarize({
				...summary,
				...(kept && { kept }),
				started: this.started.toISOString(),
				finished: new Date().toISOString(),
				executionId: run.context.getExecutionId(),
				...(warning && { warning, errors: kinds.list() }),
			});
		}
		if (this.withoutId > 0) {
			run.hintOnce(
				`${counted(this.withoutId, 'record')} got no ID in the output: the platform's response does not say which record is whose, and reading them did not show it.`,
				'warning',
			);
		}
		const text = countsText(summary, addUp(report, {}, true));
		if (warning) run.hint(`${text} Problems: ${kinds.text()}`, 'warning');
		else run.hint(text);
	}

	/** The outcomes of all items, and what the run took. */
	private summary() {
		const { run, report, writings, stopped, more, linkedRecordsCreated } = this;
		const merged = sum(writings.map(({ plan }) => plan.merged.size));
		return {
			...(merged > 0 && { merged }),
			...addUp(report, noCounts(this.extension !== undefined)),
			...more,
			...(linkedRecordsCreated > 0 && { linkedRecordsCreated }),
			...run.client.stats,
			...(writings[0]!.settings.dryRun && { dryRun: true }),
			...(stopped && {
				stopped: stopped.message,
				confirmedThroughItem: report.reached.confirmedThroughItem,
			}),
		};
	}
}

const lacksId = ({ outcome, id }: ItemOutcome) => id === undefined && outcome !== 'skipped';

const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);

/**
 * Writes all items and reports on each.
 *
 * @param writesOf how to write items, given the item that shared parameters are read from
 * @throws {InputError} before anything is sent, if items have problems and the node stops on errors
 */
export async function writeItems(
	run: Run,
	report: ItemResults,
	writesOf: (source: number) => ItemWrites,
	extension?: WriteExtension,
): Promise<void> {
	if (run.items.length === 0) return;
	await new ItemWriter(run, report, writesOf, extension).write();
}
