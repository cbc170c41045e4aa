/**
 * What to write of the items of a run, checked before anything is sent: table by table, because a
 * request writes to one.
 */
import type { TableDefinition } from '../../api/types';
import type { Plan, PlanInput, RowProblem } from '../../bulk/terms';
import type { Task } from '../../bulk/writeTask';
import { keyFields } from '../../fields/keyFields';
import { toProblem } from '../../parameters/describeFailure';
import { tableOf } from '../../parameters/select/table';
import {
	hintIgnored,
	planOptions,
	requireMapped,
	valuesReader,
} from '../../parameters/write/columns';
import {
	setUpWriting,
	type WriteKind,
	type WriteParameter,
	type WriteSetup,
	writeSettings,
} from '../../parameters/write/writing';
import type { Ledger } from '../../run/ledger';
import type { RunContext } from '../../run/run';
import { collect } from '../../transport/pause';
import { readItem, type TableItems } from './sharedParameters';

/** How an operation writes its items. */
export interface ItemWrites extends WriteKind {
	/** The ID of an item's record, if the operation takes one. @throws {InputError} */
	recordId?(index: number): string;
}

/** The items of one table, which are about to be written. */
export interface Writing extends WriteSetup, TableItems {
	settings: Task;
	/** What to write of the items. */
	plan: Plan;
	/** The rows of the plan, before links were resolved; none if the input is empty. */
	rows: PlanInput[];
	/** The rows of items that a previous attempt of the node finished. */
	doneRows(): Iterable<PlanInput>;
}

export interface ItemRun {
	run: RunContext<WriteParameter>;
	ledger: Ledger;
	/** How to write items, given the item that shared parameters are read from. */
	writesOf(source: number): ItemWrites;
	/** The output and the operation ask for no IDs. */
	withoutIds: boolean;
	/** For an operation that does more: true for one item `{}`, as n8n makes it of nothing. */
	isEmpty?(rows: PlanInput[]): boolean;
}

/** The rows of items, in order. Those whose own expressions fail become problems. */
function* rowsOf(
	indexes: number[],
	problems: RowProblem[],
	read: (index: number) => PlanInput,
): Generator<PlanInput> {
	for (const index of indexes) {
		const row = readItem(index, problems, () => read(index));
		if (row) yield row;
	}
}

/** The items of one table, on their way to a plan. */
class ItemPlanner {
	private readonly kind: ItemWrites;
	private readonly settings: Task;

	constructor(
		private readonly parts: ItemRun,
		private readonly items: TableItems,
		/** Whether it is known which table each item belongs to. */
		private readonly areAllReadable: boolean,
	) {
		this.kind = parts.writesOf(items.source);
		const { run, withoutIds } = parts;
		const settings = writeSettings(run, items.source, this.kind);
		this.settings = { ...settings, withoutIds: withoutIds && !settings.returnsPrevious };
	}

	async plan(): Promise<Writing> {
		const { run } = this.parts;
		const writing =
			(await this.planWithKept()) ??
			(await this.planRows(this.setUp(await tableOf(run, this.items.source).definition())));
		hintIgnored(run, writing.plan);
		for (const notice of writing.plan.notices) run.hintOnce(notice, 'warning');
		return writing;
	}

	/**
	 * Plans with a definition that may be a minute old.
	 *
	 * @returns undefined if there is none, if a problem may be due to its age, or if more than what the
	 *   platform checks rests on it
	 */
	private async planWithKept(): Promise<Writing | undefined> {
		const { run, isEmpty } = this.parts;
		const handle = tableOf(run, this.items.source);
		const table = isEmpty ? undefined : await handle.recentDefinition();
		if (!table) return undefined;
		try {
			const setup = this.setUp(table);
			if (!setup.isCheckedByPlatform) return undefined;
			const writing = await this.planRows(setup, true);
			const { problems, ignored, merged } = writing.plan;
			// Another field may be the key by now.
			if (problems.length + ignored.size + merged.size === 0) return writing;
		} catch {
			// The fresh definition decides.
		}
		handle.forget();
		return undefined;
	}

	private setUp(table: TableDefinition): WriteSetup {
		const { kind, settings } = this;
		const { run } = this.parts;
		const { source } = this.items;
		const unmatched = planOptions(run, source, kind);
		return setUpWriting(run, source, table, { settings, kind, unmatched });
	}

	private async planRows(setup: WriteSetup, isKept = false): Promise<Writing> {
		const { kind } = this;
		const { run, ledger, isEmpty } = this.parts;
		const { source, indexes } = this.items;
		const { table, hasId, planning } = setup;
		const keys = keyFields(table, planning);
		requireMapped(run, source, hasId || kind.mode === 'create' ? [] : keys);
		const valuesOf = valuesReader(run, source, table, isKept);
		const read = (index: number): PlanInput => ({
			index,
			values: valuesOf(index),
			id: hasId ? kind.recordId?.(index) : undefined,
		});
		const problems: RowProblem[] = [];
		const all = await collect(rowsOf(indexes, problems, read));
		const isReadable = this.areAllReadable && problems.length === 0;
		const rows = isReadable && isEmpty?.(all) ? [] : all;
		const done = [...run.items.keys()].filter((index) => ledger.hasResult(index));
		return {
			...setup,
			...this.items,
			settings: this.settings,
			plan: await setup.pipeline.plan(rows, problems),
			rows,
			doneRows: () => rowsOf(done, [], read),
		};
	}
}

/**
 * Checks the items of all tables. If a table can't be read, its items fail.
 *
 * @param unreadable items whose own expressions fail, so that nobody knows their table
 * @returns the plans of the tables, and whether one can't be read
 * @throws why none of the tables can be read
 */
export async function planItems(parts: ItemRun, tables: TableItems[], unreadable: RowProblem[]) {
	const writings: Writing[] = [];
	let failure: unknown;
	for (const items of tables) {
		try {
			writings.push(await new ItemPlanner(parts, items, unreadable.length === 0).plan());
		} catch (error) {
			failure ??= error;
			for (const index of items.indexes) parts.ledger.failed(index, toProblem(error));
		}
	}
	if (!writings[0]) throw failure;
	writings[0].plan.problems.push(...unreadable);
	return { writings, isIncomplete: failure !== undefined };
}
