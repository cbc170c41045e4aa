/**
 * What to write of the items of a run, checked before anything is sent. Some parameters belong to
 * each item; the others apply to all items of the run, because many items share a request.
 */
import type { Table } from '../../api/table';
import type { TableDefinition } from '../../api/types';
import type { Plan, PlanInput, RowProblem, Task } from '../../bulk/terms';
import { keyFields } from '../../fields/keyFields';
import type { ShownParameter } from '../../parameterKinds/parameter';
import { toProblem } from '../../parameters/describeFailure';
import {
	itemRecordId,
	tableOf,
	tableParameters,
	type TableParameter,
} from '../../parameters/select/table';
import {
	columnsToCreate,
	hintIgnored,
	planOptions,
	requireMapped,
	valuesReader,
} from '../../parameters/write/columns';
import { fieldsToSet } from '../../parameters/write/syncParameters';
import {
	setUpWriting,
	type WriteKind,
	type WriteParameter,
	type WriteSetup,
} from '../../parameters/write/writing';
import type { Ledger } from '../../run/ledger';
import type { RunContext } from '../../run/run';
import { InputError } from '../../transport/errors';
import { collect, createPause } from '../../transport/pause';

/** Reads an item's parameters. If that fails, adds a problem and returns undefined. */
function readItem<T>(index: number, problems: RowProblem[], read: () => T): T | undefined {
	try {
		return read();
	} catch (error) {
		const { message, field } = toProblem(error);
		const isInput = error instanceof InputError;
		problems.push({
			index,
			message: isInput ? message : `an expression failed: ${message}`,
			field,
		});
		return undefined;
	}
}

/**
 * Parameters that may differ from item to item, or whose expressions are evaluated for only one.
 */
const ITEM_PARAMETERS: readonly string[] = [
	columnsToCreate.name,
	itemRecordId.name,
	fieldsToSet.name,
];

/** The items that are not done yet. */
interface OpenItems {
	/** The item that shared parameters are read from. */
	source: number;
	/** All of them, in order. */
	indexes: number[];
	/** Those whose own expressions fail; they are not among the others. */
	unreadable: RowProblem[];
}

/** @throws {InputError} if an item's shared parameters differ from those of an earlier one */
function requireSame(
	shown: ShownParameter[],
	first: { index: number; values: string[] },
	index: number,
	values: string[],
) {
	const differing = values.findIndex((value, at) => value !== first.values[at]);
	if (differing < 0) return;
	const { displayName: label } = shown[differing]!.property;
	throw new InputError(
		`Nothing was sent: '${label}' is ${values[differing]} for item ${index}, but ${first.values[differing]} for item ${first.index}`,
		{
			item: index,
			field: label,
			hint: 'It must be the same for all items of a run. Split the items by it first.',
		},
	);
}

/**
 * The items that are not done yet. Parameters that are not the item's own have the same values for
 * all of them, unless an expression makes them differ.
 *
 * @throws {InputError} if two items differ, or the expressions fail for every item
 */
export async function openItems(
	run: RunContext<TableParameter>,
	ledger: Ledger,
): Promise<OpenItems> {
	const open = [...run.items.keys()].filter((index) => !ledger.hasResult(index));
	const shared = run
		.expressions()
		.filter(({ property }) => !ITEM_PARAMETERS.includes(property.name));
	if (shared.length === 0) return { source: 0, indexes: open, unreadable: [] };
	const read = (shown: ShownParameter, index: number) => {
		// What a locator holds differs, even if it names the same table.
		const locator = tableParameters.find(({ name }) => name === shown.property.name);
		return locator?.of(run, index) ?? run.read(shown, index) ?? null;
	};
	const indexes: number[] = [];
	const unreadable: RowProblem[] = [];
	let first: { index: number; values: string[] } | undefined;
	const pause = createPause();
	for (const index of open) {
		await pause();
		const readAll = () => shared.map((shown) => JSON.stringify(read(shown, index)));
		const values = readItem(index, unreadable, readAll);
		if (values === undefined) continue;
		first ??= { index, values };
		requireSame(shared, first, index, values);
		indexes.push(index);
	}
	const [problem] = unreadable;
	if (first || !problem) return { source: first?.index ?? 0, indexes, unreadable };
	throw new InputError(`Nothing was sent: ${problem.message}`, {
		item: problem.index,
		hint: 'Correct the expressions in the parameters and options that apply to all items.',
	});
}

/** How an operation writes its items. */
export interface ItemWrites extends WriteKind {
	/** The ID of an item's record, if the operation takes one. @throws {InputError} */
	recordId?(index: number): string;
}

/** The items of a run, and how to write them. */
interface ItemRun {
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
