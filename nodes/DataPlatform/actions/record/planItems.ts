/**
 * What to write of the items of a run, checked before anything is sent.
 */
import type { Table } from '../../api/table';
import type { TableDefinition } from '../../api/types';
import type { Plan, PlanInput, RowProblem } from '../../bulk/terms';
import type { Task } from '../../bulk/writeTask';
import { keyFields } from '../../fields/keyFields';
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
} from '../../parameters/write/writing';
import type { Ledger } from '../../run/ledger';
import type { RunContext } from '../../run/run';
import { collect } from '../../transport/pause';
import { readItem, type OpenItems } from './sharedParameters';

/** How an operation writes its items. */
export interface ItemWrites extends WriteKind {
	/** The ID of an item's record, if the operation takes one. @throws {InputError} */
	recordId?(index: number): string;
}

/** The items of a run, and how to write them. */
export interface ItemRun {
	run: RunContext<WriteParameter>;
	ledger: Ledger;
	items: OpenItems;
	kind: ItemWrites;
	settings: Task;
	/** For an operation that does more: true for one item `{}`, as n8n makes it of nothing. */
	isEmpty?(rows: PlanInput[]): boolean;
}

/** The items that are about to be written. */
export interface Writing extends WriteSetup, OpenItems {
	settings: Task;
	/** What to write of the items. */
	plan: Plan;
	/** The rows of the plan, before links were resolved; none if the input is empty. */
	rows: PlanInput[];
	/** The rows of items that a previous attempt of the node finished. */
	doneRows(): Iterable<PlanInput>;
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

function setUp({ run, items, kind, settings }: ItemRun, table: TableDefinition): WriteSetup {
	const unmatched = planOptions(run, items.source, kind);
	return setUpWriting(run, items.source, table, { settings, kind, unmatched });
}

async function planRows(parts: ItemRun, setup: WriteSetup, isKept = false): Promise<Writing> {
	const { run, ledger, items, kind, settings, isEmpty } = parts;
	const { source, indexes, unreadable } = items;
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
	const isReadable = unreadable.length + problems.length === 0;
	const rows = isReadable && isEmpty?.(all) ? [] : all;
	const done = [...run.items.keys()].filter((index) => ledger.hasResult(index));
	return {
		...setup,
		...items,
		settings,
		plan: await setup.pipeline.plan(rows, problems),
		rows,
		doneRows: () => rowsOf(done, [], read),
	};
}

/**
 * Plans with a definition that may be a minute old.
 *
 * @returns undefined if there is none, if a problem may be due to its age, or if more than what the
 *   platform checks rests on it
 */
async function planWithKept(parts: ItemRun, handle: Table): Promise<Writing | undefined> {
	const table = parts.isEmpty ? undefined : await handle.recentDefinition();
	if (!table) return undefined;
	try {
		const setup = setUp(parts, table);
		if (!setup.isCheckedByPlatform) return undefined;
		const writing = await planRows(parts, setup, true);
		const { problems, ignored, merged } = writing.plan;
		// Another field may be the key by now.
		if (problems.length + ignored.size + merged.size === 0) return writing;
	} catch {
		// The fresh definition decides.
	}
	handle.forget();
	return undefined;
}

/**
 * Checks the items. Sends nothing.
 *
 * @throws {InputError} if no item at all could be written
 * @throws {ServiceError} if the table can't be read
 */
export async function planItems(parts: ItemRun): Promise<Writing> {
	const { run, items } = parts;
	const handle = tableOf(run, items.source);
	const writing =
		(await planWithKept(parts, handle)) ??
		(await planRows(parts, setUp(parts, await handle.definition())));
	const { plan } = writing;
	hintIgnored(run, plan);
	for (const notice of plan.notices) run.hintOnce(notice, 'warning');
	plan.problems.push(...items.unreadable);
	return writing;
}
