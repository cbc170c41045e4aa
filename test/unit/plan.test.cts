import {
	closestName,
	planRecords,
	type PlanOptions,
	type PlanInput,
} from '../../nodes/DataPlatform/bulk/plan.ts';
import { fieldOf, people, tableOf } from './fixtures.cts';

const plan = (
	rows: Array<Omit<PlanInput, 'index'>>,
	options: Partial<PlanOptions> & Pick<PlanOptions, 'mode'>,
	table = people,
) =>
	planRecords(
		table,
		rows.map((row, index) => ({ index, ...row })),
		{ empty: 'leave', unknownFields: 'error', duplicates: 'lastWins', ...options },
	);

const problemsOf = (values: unknown, options: Partial<PlanOptions> = {}) =>
	plan([{ values }], { mode: 'create', ...options }).problems;

describe('checking an item', () => {
	test('converts values and keeps the import key as text', () => {
		const { records, problems } = plan([{ values: { email: 'a@x', surname: 'Fox', age: '7' } }], {
			mode: 'upsert',
		});
		expect(problems).toEqual([]);
		expect(records).toEqual([
			{ index: 0, id: undefined, key: 'a@x', fields: { email: 'a@x', surname: 'Fox', age: 7 } },
		]);
	});

	test('names every problem of an item at once', () => {
		expect(problemsOf({ age: 'old', surnam: 'Fox', fullName: 'A Fox' })).toEqual([
			{ index: 0, field: 'age', message: `'age' takes a number, not "old"` },
			{
				index: 0,
				field: 'surnam',
				message: "table 'People' has no field 'surnam', did you mean 'surname'?",
			},
			{ index: 0, field: 'fullName', message: "'fullName' is read-only" },
			{ index: 0, field: 'surname', message: "'surname' is required" },
		]);
	});

	test('offers no correction that is far off', () => {
		expect(problemsOf({ surname: 'Fox', colour: 'red' })).toEqual([
			{ index: 0, field: 'colour', message: "table 'People' has no field 'colour'" },
		]);
	});

	test('unknown and read-only fields are left out when they are to be ignored', () => {
		const { records, problems } = plan([{ values: { surname: 'F', colour: 1, fullName: 'x' } }], {
			mode: 'create',
			unknownFields: 'ignore',
		});
		expect(problems).toEqual([]);
		expect(records[0]?.fields).toEqual({ surname: 'F' });
	});

	test.each([undefined, null, 'text', 5, ['a']])('%j is no item data', (values) => {
		expect(problemsOf(values)).toEqual([{ index: 0, message: 'the item has no JSON data' }]);
	});

	test('an invalid required field is reported once', () => {
		expect(problemsOf({ surname: { a: 1 } })).toEqual([
			{ index: 0, field: 'surname', message: "'surname' takes text, not a list or an object" },
		]);
	});

	test.each(['upsert', 'update'] as const)('%s asks for no other field', (mode) => {
		const { problems } = plan([{ values: { email: 'a@x' }, id: 'r1' }], { mode });
		expect(problems).toEqual([]);
	});

	test('a full update asks for the required fields', () => {
		const { problems } = plan([{ values: { email: 'a@x' }, id: 'r1' }], { mode: 'replace' });
		expect(problems).toEqual([{ index: 0, field: 'surname', message: "'surname' is required" }]);
	});

	test.each([undefined, '', '  ', 5, null])('%j is no record id', (id) => {
		const { problems } = plan([{ values: { age: 1 }, id }], { mode: 'update' });
		expect(problems).toEqual([{ index: 0, field: 'id', message: 'the record id is missing' }]);
	});

	test('an id is trimmed and only used where an existing record is meant', () => {
		expect(plan([{ values: { age: 1 }, id: ' r1 ' }], { mode: 'update' }).records[0]?.id).toBe(
			'r1',
		);
		const created = plan([{ values: { surname: 'F' }, id: 'r1' }], { mode: 'create' });
		expect(created.records[0]?.id).toBeUndefined();
	});
});

describe('names that JavaScript knows', () => {
	const hostile = JSON.parse('{"__proto__": "x", "surname": "Fox"}') as unknown;

	test('__proto__ is an unknown field like any other', () => {
		const [problem, ...others] = problemsOf(hostile);
		expect(others).toEqual([]);
		expect(problem?.field).toBe('__proto__');
		expect(problem?.message).toContain("has no field '__proto__'");
	});

	test('a field that is really called so is written under its name', () => {
		const table = tableOf(fieldOf('__proto__'), fieldOf('surname'));
		const { records } = plan([{ values: hostile }], { mode: 'create' }, table);
		expect(JSON.stringify(records[0]?.fields)).toBe('{"__proto__":"x","surname":"Fox"}');
	});

	test.each(['constructor', 'toString', '__proto__'])('a required %s that is missing', (name) => {
		const table = tableOf(fieldOf(name, 'text', { required: true }), fieldOf('surname'));
		const { problems } = plan([{ values: { surname: 'F' } }], { mode: 'create' }, table);
		expect(problems).toEqual([{ index: 0, field: name, message: `'${name}' is required` }]);
	});

	test.each(['constructor', 'hasOwnProperty'])('%s is an unknown field', (name) => {
		expect(problemsOf({ surname: 'Fox', [name]: 1 })).toEqual([
			{ index: 0, field: name, message: expect.stringContaining(`has no field '${name}'`) },
		]);
	});
});

describe('the import key', () => {
	test('must have a value', () => {
		const rows = [{ values: { age: 1 } }, { values: { email: '' } }, { values: { email: null } }];
		const { problems } = plan(rows, { mode: 'upsert' });
		const message = "the import key 'email' has no value";
		expect(problems).toEqual([0, 1, 2].map((index) => ({ index, field: 'email', message })));
	});

	test('may be named where the table marks none', () => {
		const table = tableOf(fieldOf('code', 'number'), fieldOf('name'));
		const rows = [{ values: { code: 5 } }];
		expect(() => plan(rows, { mode: 'upsert' }, table)).toThrow(
			"Table 'People' has no import key field",
		);
		const { records } = plan(rows, { mode: 'upsert', importKey: 'code' }, table);
		expect(records[0]?.key).toBe('5');
	});

	test('must be a field of the table', () => {
		expect(() => plan([], { mode: 'upsert', importKey: 'mail' })).toThrow(
			"Table 'People' has no field 'mail'",
		);
	});
});

describe('duplicates', () => {
	const rows = ['a', 'b', 'a', 'a'].map((email, age) => ({ values: { email, age } }));

	test('the last of them wins', () => {
		const { records, problems, superseded } = plan(rows, { mode: 'upsert' });
		expect(records.map(({ index }) => index)).toEqual([1, 3]);
		expect([...superseded]).toEqual([
			[0, 3],
			[2, 3],
		]);
		expect(problems).toEqual([]);
	});

	test('each of them is an error where that is asked for', () => {
		const { records, problems, superseded } = plan(rows, { mode: 'upsert', duplicates: 'error' });
		expect(records.map(({ index }) => index)).toEqual([1]);
		expect(superseded.size).toBe(0);
		expect(problems).toEqual([
			{ index: 0, message: "it has the same import key 'a' as item 2, 3" },
			{ index: 2, message: "it has the same import key 'a' as item 0, 3" },
			{ index: 3, message: "it has the same import key 'a' as item 0, 2" },
		]);
	});

	test('updates are distinct by id, whatever their keys', () => {
		const same = ['r1', 'r1', 'r2'].map((id) => ({ values: { email: 'a' }, id }));
		const { records, superseded } = plan(same, { mode: 'update' });
		expect(records.map(({ id }) => id)).toEqual(['r1', 'r2']);
		expect([...superseded]).toEqual([[0, 1]]);
	});

	test('created records are all sent, without a key that could confuse them', () => {
		const twice = ['a', 'a', 'b'].map((email) => ({ values: { email, surname: 'Fox' } }));
		const { records } = plan(twice, { mode: 'create' });
		expect(records.map(({ key }) => key)).toEqual([undefined, undefined, 'b']);
	});

	test('an item with a problem does not supersede a good one', () => {
		const { records, superseded, problems } = plan(
			[{ values: { email: 'a', age: 1 } }, { values: { email: 'a', age: 'old' } }],
			{ mode: 'upsert' },
		);
		expect(problems.map(({ index }) => index)).toEqual([1]);
		expect(records.map(({ index }) => index)).toEqual([0]);
		expect(superseded.size).toBe(0);
	});
});

test('empty values count as the table and the options say', () => {
	expect(problemsOf({ surname: '' })).toEqual([
		{ index: 0, field: 'surname', message: "'surname' is required" },
	]);
	expect(problemsOf({ surname: '' }, { empty: 'clear' })).toEqual([
		{ index: 0, field: 'surname', message: "'surname' is required" },
	]);
	expect(problemsOf({ surname: 'F', age: '' }, { empty: 'error' })).toEqual([
		{ index: 0, field: 'age', message: "'age' is empty" },
	]);
	const cleared = plan([{ values: { surname: 'F', age: null } }], {
		mode: 'create',
		empty: 'clear',
	});
	expect(cleared.records[0]?.fields).toEqual({ surname: 'F', age: null });
});

test('the closest name is found whatever its case and dashes', () => {
	const known = ['firstname', 'surname', 'dateOfBirth'];
	expect(closestName('First Name', known)).toBe('firstname');
	expect(closestName('date_of_birth', known)).toBe('dateOfBirth');
	expect(closestName('sirname', known)).toBe('surname');
	expect(closestName('x', known)).toBeUndefined();
	expect(closestName('a'.repeat(101), known)).toBeUndefined();
	expect(closestName('surname', [])).toBeUndefined();
});
