/**
 * Parameters of the operations that write many records: some are each item's own, others hold for
 * all items of the run, because many items share a request.
 */
import type { IDataObject } from 'n8n-workflow';

import type { Problem } from '../../bulk/plan';
import { bulkOptionLabels } from '../../descriptions/bulkOptions';
import { toFailure, type ItemResults } from '../../execution/itemResults';
import { withoutGroups } from '../../execution/optionGroups';
import type { RunContext } from '../../execution/run';
import { InputError } from '../../transport/errors';
import { getOwn } from '../../transport/json';

/** Reads an item's parameters; undefined, and a problem noted, where that fails. */
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

/** What a parameter that all items share is called in the editor. */
function sharedLabel(name: string, more: Labels): string {
	return getOwn({ ...bulkOptionLabels, ...SHARED, ...more }, name) ?? name;
}

/** What parameters are called in the editor. */
type Labels = Readonly<Record<string, string>>;

/** Parameters that hold for all items of the run, because many items share a request. */
const SHARED = {
	application: 'Application',
	table: 'Table',
	matchOn: 'Match On',
	matchFields: 'Match Field Names or IDs',
	updateMode: 'Fields Not Sent',
	simple: 'Simplify',
};

type SharedParameter = keyof typeof SHARED;

const SHARED_NAMES = Object.keys(SHARED) as SharedParameter[];

/** The values of all shared parameters that an item gives, as JSON. */
function sharedValues(run: RunContext<string>, index: number, more: Labels): Map<string, string> {
	const { application, table } = run.table(index);
	const names = [...SHARED_NAMES, ...Object.keys(more)].filter(
		(name) => name !== 'application' && name !== 'table',
	);
	const own = Object.fromEntries(names.map((name) => [name, run.parameter(name, index)]));
	const options = run.option<IDataObject>('options', index, {});
	const entries = Object.entries({ application, table, ...own, ...withoutGroups(options) });
	return new Map(entries.map(([name, value]) => [name, JSON.stringify(value ?? null)]));
}

/**
 * The item to read shared parameters from: the first that gives them all. They are the same for
 * all items, unless an expression says otherwise.
 *
 * @param problems gets the items whose own expressions fail
 * @param more other parameters of the operation that hold for all items
 * @throws {InputError} where two items disagree, or none gives them
 */
export function sharedSource(
	operationRun: RunContext<SharedParameter>,
	report: ItemResults,
	problems: Problem[],
	more: Labels = {},
): number {
	// All options at once, and whatever else the operation names.
	const run = operationRun as RunContext<string>;
	const names = [...SHARED_NAMES, ...Object.keys(more), 'options'];
	if (!names.some((name) => run.isExpression(name))) return 0;
	let first: { index: number; values: Map<string, string> } | undefined;
	for (const index of run.items.keys()) {
		if (report.hasResult(index)) continue;
		const values = readItem(index, problems, () => sharedValues(run, index, more));
		if (values === undefined) continue;
		first ??= { index, values };
		for (const [name, value] of values) {
			const expected = first.values.get(name) ?? 'null';
			if (value === expected) continue;
			const label = sharedLabel(name, more);
			throw new InputError(
				`Nothing was sent: '${label}' is ${value} for item ${index}, but ${expected} for item ${first.index}`,
				{
					item: index,
					field: label,
					hint: 'It must be the same for all items of a run: split them by it first.',
				},
			);
		}
	}
	if (first) return first.index;
	const problem = problems[0];
	if (!problem) return 0;
	throw new InputError(`Nothing was sent: ${problem.message}`, {
		item: problem.index,
		hint: 'Correct the expressions in the parameters and options that hold for all items.',
	});
}
