/**
 * Parameters of the operations that write many records. Some belong to each item; the others apply
 * to all items of the run, because many items share a request.
 */
import type { Problem } from '../../bulk/plan';
import type { ItemResults } from '../../execution/itemResults';
import type { Shown } from '../../execution/parameter';
import type { RunContext } from '../../execution/run';
import { toFailure } from '../../parameters/failure';
import { fieldsToSet } from '../../parameters/sync';
import {
	application,
	itemRecordId,
	table,
	tableOf,
	type TableParameter,
} from '../../parameters/table';
import { columnsToCreate } from '../../parameters/values';
import { InputError } from '../../transport/errors';
import { createPause } from '../../transport/turns';

/** Reads an item's parameters. If that fails, adds a problem and returns undefined. */
export function readItem<T>(index: number, problems: Problem[], read: () => T): T | undefined {
	try {
		return read();
	} catch (error) {
		const { message, details } = toFailure(error);
		problems.push({
			index,
			message: error instanceof InputError ? message : `an expression failed: ${message}`,
			field: details?.field as string | undefined,
		});
		return undefined;
	}
}

/**
 * Parameters that may differ from item to item, or whose expressions are evaluated for only one.
 */
const OWN: ReadonlySet<string> = new Set([
	columnsToCreate.name,
	itemRecordId.name,
	fieldsToSet.name,
]);

/** The values of shared parameters for an item, as JSON. @throws {InputError} */
function sharedValues(run: RunContext<TableParameter>, index: number, shared: Shown[]): string[] {
	const at: Record<string, unknown> = { ...tableOf(run, index) };
	return shared.map((shown) => {
		const { name } = shown.property;
		const value =
			name === application.name || name === table.name ? at[name] : run.read(shown, index);
		return JSON.stringify(value ?? null);
	});
}

/**
 * The item to read shared parameters from: the first whose expressions all work. The values are the
 * same for all items unless an expression makes them differ.
 *
 * @param problems gets the items whose own expressions fail
 * @throws {InputError} if two items differ, or the expressions fail for every item
 */
export async function sharedSource(
	run: RunContext<TableParameter>,
	report: ItemResults,
	problems: Problem[],
): Promise<number> {
	const shared = run.expressions().filter(({ property }) => !OWN.has(property.name));
	if (shared.length === 0) return 0;
	let first: { index: number; values: string[] } | undefined;
	const pause = createPause();
	for (const index of run.items.keys()) {
		await pause();
		if (report.hasResult(index)) continue;
		const values = readItem(index, problems, () => sharedValues(run, index, shared));
		if (values === undefined) continue;
		first ??= { index, values };
		for (const [at, value] of values.entries()) {
			const expected = first.values[at]!;
			if (value === expected) continue;
			const { displayName: label } = shared[at]!.property;
			throw new InputError(
				`Nothing was sent: '${label}' is ${value} for item ${index}, but ${expected} for item ${first.index}`,
				{
					item: index,
					field: label,
					hint: 'It must be the same for all items of a run. Split the items by it first.',
				},
			);
		}
	}
	if (first) return first.index;
	const problem = problems[0];
	if (!problem) return 0;
	throw new InputError(`Nothing was sent: ${problem.message}`, {
		item: problem.index,
		hint: 'Correct the expressions in the parameters and options that apply to all items.',
	});
}
