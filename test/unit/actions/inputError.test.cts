/** The error of a run whose items have problems. */
import { inputError } from '../../../nodes/DataPlatform/actions/record/inputError.ts';
import { fieldOf, planRecords, tableOf } from '../fixtures.cts';
import type { RowProblem } from '../../../nodes/DataPlatform/bulk/terms.ts';

const errorOf = (problems: RowProblem[], items: number) => {
	const error = inputError(problems, items, 0);
	return { message: error.message, causes: error.causes, hint: error.hint, item: error.item };
};

const WRONG_AGE = { message: `'age' accepts a number, not "abc"`, field: 'age' };
const FIELDS = "The table's fields are: 'age', 'surname'. Correct the name, or set 'Unknown Fields' in the options to 'Ignore'.";
const UNKNOWN: Omit<RowProblem, 'index'> = { message: "table 'People' has no field 'colour'", field: 'colour', hint: FIELDS };

test('names each cause once, with its count, and the advice for each', () => {
	const problems = Array.from({ length: 500 }, (_, at): RowProblem => ({ index: 10 * at + 3, ...(at % 2 === 0 ? WRONG_AGE : UNKNOWN) }));
	const { message, causes, hint, item } = errorOf(problems.reverse(), 5000);
	expect(message).toBe('Nothing was sent: 500 of 5,000 items have problems');
	expect(causes).toEqual([
		`250 × 'age' accepts a number, not "abc" (items 3, 23, 43, …)`,
		`250 × table 'People' has no field 'colour' (items 13, 33, 53, …)`,
	]);
	expect(hint).toMatch(/^The table's fields are: .*'Ignore'\. Items are counted from 0/);
	expect(item).toBe(3);
});

test('an only item has the advice for each of its problems', () => {
	const { message, hint } = errorOf(
		[
			{ index: 0, ...WRONG_AGE },
			{ index: 0, ...UNKNOWN },
			{ index: 0, message: 'the record id is missing', hint: 'Give it.' },
			{ index: 0, message: 'no', hint: 'A fourth.' },
		],
		1,
	);
	expect(message).toBe(
		`Nothing was sent: 'age' accepts a number, not "abc"; table 'People' has no field 'colour'; the record id is missing; no`,
	);
	expect(hint).toBe(`Correct the item: under 'Values to Send', or in the input if fields are mapped automatically. ${FIELDS} Give it.`);
});

test('the most frequent cause comes first; items are called by their keys', () => {
	const problems = [1, 2, 3].map(
		(index): RowProblem => ({ index, key: `${'x'.repeat(index * 20)}@example.com`, ...(index === 1 ? UNKNOWN : WRONG_AGE) }),
	);
	expect(errorOf(problems, 5).causes).toEqual([
		`2 × 'age' accepts a number, not "abc" (items 2 (${'x'.repeat(40)}… (cut)), 3 (${'x'.repeat(40)}… (cut)))`,
		`item 1 (${'x'.repeat(20)}@example.com): table 'People' has no field 'colour'`,
	]);
});

test('dates of one format are one cause: the clear ones show what the ambiguous ones mean', () => {
	const dated = (born: string) => ({ born });
	const values = ['01.02.1990', '31.12.1990', '31.02.1990', '03.04.1991'].map(dated);
	const { problems } = planRecords(
		tableOf(fieldOf('born', 'date')),
		values.map((each, index) => ({ index, values: each })),
		{ mode: 'create', empty: 'leave', unknownFields: 'error', duplicates: 'merge', sourceOf: () => '$json.Born' },
	);
	expect(errorOf(problems, 4).causes).toEqual([
		`3 × such as 'born' accepts a date such as 2026-11-21, not "31.12.1990": use {{ DateTime.fromFormat(String($json.Born), 'dd.MM.yyyy').toISODate() ?? $json.Born }} (items 0, 1, 3)`,
		"item 2: 'born' accepts a date, but there is no 31.02.1990",
	]);
});
