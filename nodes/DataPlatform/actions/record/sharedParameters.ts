/**
 * Parameters of the operations that write records. Some belong to each item; the others apply to
 * all items of the run, because many items share a request.
 */
import { addressKey } from '../../api/endpoints';
import type { Ledger } from '../../run/ledger';
import type { ShownParameter } from '../../parameterKinds/parameter';
import type { RunContext } from '../../run/run';
import { toProblem } from '../../parameters/describeFailure';
import { fieldsToSet } from '../../parameters/write/syncParameters';
import {
	application,
	itemRecordId,
	table,
	addressOf,
	type TableParameter,
} from '../../parameters/select/table';
import { columnsToCreate } from '../../parameters/write/columns';
import { InputError } from '../../transport/errors';
import { createPause } from '../../transport/pause';
import type { RowProblem } from '../../bulk/terms';

/** Reads an item's parameters. If that fails, adds a problem and returns undefined. */
export function readItem<T>(index: number, problems: RowProblem[], read: () => T): T | undefined {
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

const TABLE_PARAMETERS: readonly string[] = [application.name, table.name];

/** The items that are written to one table. */
export interface TableItems {
	/** The item that shared parameters are read from. */
	source: number;
	/** All of them, in order. */
	indexes: number[];
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
 * The open items by table, in the order in which the tables first appear. Parameters that are not
 * the item's own have the same values for all items, unless an expression makes them differ.
 *
 * @param problems gets the items whose own expressions fail, which are in no table
 * @param isOneTable whether the table, too, must be the same for all items
 * @returns at least one table
 * @throws {InputError} if two items differ, or the expressions fail for every item
 */
export async function itemsByTable(
	run: RunContext<TableParameter>,
	ledger: Ledger,
	problems: RowProblem[],
	isOneTable: boolean,
): Promise<TableItems[]> {
	const open = [...run.items.keys()].filter((index) => !ledger.hasResult(index));
	const shared = run
		.expressions()
		.filter(({ property }) => !ITEM_PARAMETERS.includes(property.name));
	if (shared.length === 0) return [{ source: 0, indexes: open }];
	const same = shared.filter(
		({ property }) => isOneTable || !TABLE_PARAMETERS.includes(property.name),
	);
	/** An item's table, and the values of the parameters that it shares with all others, as JSON. */
	const read = (index: number) => {
		const address = addressOf(run, index);
		const valueOf = (shown: ShownParameter) => {
			const { name } = shown.property;
			if (name === application.name || name === table.name) return address[name];
			return run.read(shown, index);
		};
		return { address, values: same.map((shown) => JSON.stringify(valueOf(shown) ?? null)) };
	};
	const tables = new Map<string, TableItems>();
	let first: { index: number; values: string[] } | undefined;
	const pause = createPause();
	for (const index of open) {
		await pause();
		const item = readItem(index, problems, () => read(index));
		if (item === undefined) continue;
		first ??= { index, values: item.values };
		requireSame(same, first, index, item.values);
		const key = addressKey(item.address);
		const items = tables.get(key) ?? { source: index, indexes: [] };
		items.indexes.push(index);
		tables.set(key, items);
	}
	if (tables.size > 0) return [...tables.values()];
	const problem = problems[0];
	if (!problem) return [{ source: 0, indexes: [] }];
	throw new InputError(`Nothing was sent: ${problem.message}`, {
		item: problem.index,
		hint: 'Correct the expressions in the parameters and options that apply to all items.',
	});
}
