import type { NameOf } from '../../parameterKinds/parameter';
import { anyValue } from '../../parameterKinds/kinds';
import type { RunContext } from '../../run/run';
import { itemOperation } from '../../parameters/defineOperation';
import { tableOf, tableParameters } from '../../parameters/select/table';
import { parseJson } from '../../transport/json';
import { expectedTable, tableDifferences, type ExpectedTable } from './differences';
import { tableOutput } from './output';

const expectedFields = anyValue('expectedFields', {
	label: 'Expected Fields',
	placeholder: 'e.g. email, phone',
	description:
		"What the table should have: names of fields, separated by commas, or an earlier output of this operation. The output then says what differs, under 'differences'.",
});

const HINT = 'Give names such as email, phone, or what this operation returned before.';

/** Reads JSON, or names separated by commas. @throws {InputError} */
function fromText(text: string): unknown {
	const value = parseJson(text);
	if (value !== undefined) return value;
	if (/^\s*[[{]/.test(text)) {
		throw expectedFields.error(`${expectedFields} begins like JSON, but is not valid JSON`, HINT);
	}
	return text.split(',').map((name) => name.trim());
}

/** The expected table; undefined if the option is not used. @throws {InputError} */
function expectedOf(
	run: RunContext<NameOf<typeof expectedFields>>,
	index: number,
): ExpectedTable | undefined {
	if (run.raw(expectedFields) === null) return undefined;
	const given = expectedFields.of(run, index);
	const expected = expectedTable(typeof given === 'string' ? fromText(given) : given);
	if (typeof expected !== 'string') return expected;
	throw expectedFields.error(`${expectedFields} ${expected}`, HINT);
}

export const get = itemOperation({
	concurrency: 4,
	value: 'get',
	name: 'Get',
	action: 'Get table',
	description:
		'Retrieve one table with its fields, their types, limits, choices and links, and its saved views, or check it against the fields that you expect',
	fields: tableParameters,
	options: [expectedFields],
	execute: async (run, index) => {
		const expected = expectedOf(run, index);
		const table = await run.definition(tableOf(run, index));
		const output = tableOutput(table);
		if (!expected) return output;
		const differences = tableDifferences(expected, table);
		return { matches: differences.length === 0, differences, ...output };
	},
});
