/**
 * Parameters of the operations that write records. Some belong to each item; the others apply to
 * all items of the run, because many items share a request.
 */
import type { Ledger } from '../../run/ledger';
import type { ShownParameter } from '../../parameterKinds/parameter';
import type { RunContext } from '../../run/run';
import { toProblem } from '../../parameters/describeFailure';
import { fieldsToSet } from '../../parameters/write/syncParameters';
import { itemRecordId, tableParameters, type TableParameter } from '../../parameters/select/table';
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

/** The items that are not done yet. */
export interface OpenItems {
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
