import { withImportKey } from '../../../../nodes/DataPlatform/fields/keyFields.ts';
import { InputError } from '../../../../nodes/DataPlatform/transport/errors.ts';
import type { FieldValues } from '../../../../nodes/DataPlatform/api/types.ts';
import { fieldOf, people, planRecords, tableOf } from '../../fixtures.cts';
import type { PlanInput, PlanOptions } from '../../../../nodes/DataPlatform/bulk/terms.ts';

const plan = (rows: Array<Omit<PlanInput, 'index'>>, options: Partial<PlanOptions> & Pick<PlanOptions, 'mode'>, table = people) =>
	planRecords(
		table,
		rows.map((row, index) => ({ index, ...row })),
		{ empty: 'leave', unknownFields: 'error', duplicates: 'merge', ...options },
	);

const problemsOf = (values: unknown, options: Partial<PlanOptions> = {}) => plan([{ values }], { mode: 'create', ...options }).problems;

describe('checking an item', () => {
	test('converts values and keeps the import key as text', () => {
		const { records, problems } = plan([{ values: { email: 'a@x', surname: 'Fox', age: '7' } }], { mode: 'upsert' });
		expect(problems).toEqual([]);
		expect(records).toEqual([{ index: 0, id: undefined, key: 'a@x', fields: { email: 'a@x', surname: 'Fox', age: 7 } }]);
	});

	test('names every problem of an item at once', () => {
		expect(problemsOf({ age: 'old', surnam: 'Fox', fullName: 'A Fox' })).toEqual([
			{ index: 0, field: 'age', message: `'age' accepts a number, not "old"` },
			{ index: 0, field: 'surnam', message: "table 'People' has no field 'surnam', did you mean 'surname'?" },
			{ index: 0, field: 'fullName', message: "'fullName' is read-only" },
			{ index: 0, field: 'surname', message: "'surname' is required" },
		]);
	});

	test('lists the fields that can be written if no name is similar', () => {
		expect(problemsOf({ surname: 'Fox', lastname: 'red' })).toEqual([
			{
				index: 0,
				field: 'lastname',
				message: "table 'People' has no field 'lastname'",
				hint: "The table's fields are: 'email', 'surname', 'age'. Correct the name, or set 'Unknown Fields' in the options to 'Ignore'.",
			},
		]);
	});

	test("leaves out unknown and read-only fields if 'Unknown Fields' is 'Ignore'", () => {
		const { records, problems } = plan([{ values: { surname: 'F', colour: 1, fullName: 'x' } }], {
			mode: 'create',
			unknownFields: 'ignore',
		});
		expect(problems).toEqual([]);
		expect(records[0]?.fields).toEqual({ surname: 'F' });
	});

	test.each([undefined, null, 'text', 5, ['a']])('%j is not item data', (values) => {
		expect(problemsOf(values)).toEqual([{ index: 0, message: 'the item has no JSON data' }]);
	});

	test('reports an import key of the wrong type once', () => {
		expect(plan([{ values: { email: { a: 1 } } }], { mode: 'upsert' }).problems).toEqual([
			{ index: 0, field: 'email', message: "'email' accepts text, not a list or an object" },
		]);
	});

	test.each(['upsert', 'update'] as const)('%s does not ask for required fields', (mode) => {
		const { problems } = plan([{ values: { email: 'a@x' }, id: 'r1' }], { mode });
		expect(problems).toEqual([]);
	});

	test('replace asks for the required fields', () => {
		const { problems } = plan([{ values: { email: 'a@x' }, id: 'r1' }], { mode: 'replace' });
		expect(problems).toEqual([{ index: 0, field: 'surname', message: "'surname' is required", key: 'a@x' }]);
	});

	test.each<[id: unknown, message: string]>([
		...[undefined, '', '  ', null].map((id): [unknown, string] => [id, 'the record id is missing']),
		[5, 'the record id must be text, not a number'],
		[0, 'the record id must be text, not a number'],
		[['r1'], 'the record id must be text, not a list'],
	])('%j is not a record ID', (id, message) => {
		const { problems } = plan([{ values: { age: 1 }, id: id as string }], { mode: 'update' });
		expect(problems).toEqual([
			{ index: 0, field: 'id', message, hint: "Give the record's ID, or set 'Match On' to what the items hold, such as 'Import Key'." },
		]);
	});

	test.each([
		'{0f8fad5b-d9cb-469f-a165-70867728950e}',
		'0f8fad5bd9cb469fa16570867728950e',
		'urn:uuid:0f8fad5b-d9cb-469f-a165-70867728950e',
		' 0f8fad5b-d9cb-469f-a165-7086772895 ',
	])('%j is no UUID as the platform writes it: it would name no record', (id) => {
		const { problems } = plan([{ values: { age: 1 }, id }], { mode: 'update' });
		const message = `the record id '${id.trim()}' is not written as the platform does, such as 44d70c2e-7a1b-4c55-9d3e-2f8b6a1c0e97`;
		expect(problems).toMatchObject([{ field: 'id', message }]);
	});

	test.each(['0f8fad5b-d9cb-469f-a165-70867728950e', '0F8FAD5B-D9CB-469F-A165-70867728950E', 'r1', 'deadbeef'])('%j may be one', (id) => {
		expect(plan([{ values: { age: 1 }, id }], { mode: 'update' }).problems).toEqual([]);
	});

	test('an ID is trimmed to update a record, and ignored to create one', () => {
		expect(plan([{ values: { age: 1 }, id: ' r1 ' }], { mode: 'update' }).records[0]?.id).toBe('r1');
		const created = plan([{ values: { surname: 'F' }, id: 'r1' }], { mode: 'create' });
		expect(created.records[0]?.id).toBeUndefined();
	});
});

describe('a full update that would clear every other field', () => {
	const table = tableOf(fieldOf('code', 'text', { importKey: true }), fieldOf('n', 'number'), fieldOf('papers', 'file'));
	const clears = { index: 0, message: 'no field has a value, so every field of the record would be cleared', hint: expect.any(String) };
	const replace = { mode: 'replace' } as const;
	const onCode = { ...replace, matchOn: ['code'] };

	test.each<[what: string, values: FieldValues, options: Pick<PlanOptions, 'mode' | 'matchOn'>, problems: object[]]>([
		['no value at all', {}, replace, [clears]],
		['a list of files that adds nothing', { papers: { add: [] } }, replace, [clears]],
		['only the value that the record is found by', { code: 'a' }, onCode, [{ ...clears, key: 'a' }]],
		['the value of the import key, if it is found by its ID', { code: 'a' }, replace, []],
		['a value beside the one that it is found by', { code: 'a', n: 1 }, onCode, []],
		['an update leaves the other fields', {}, { mode: 'update' }, []],
		['another problem says enough', { n: 'x' }, replace, [{ index: 0, field: 'n', message: `'n' accepts a number, not "x"` }]],
	])('%s', (_, values, options, problems) => {
		expect(plan([{ values, id: 'r1' }], options, table).problems).toEqual(problems);
	});
});

describe('a new record without any value', () => {
	const table = tableOf(fieldOf('code', 'text', { importKey: true }), fieldOf('n', 'number'), fieldOf('papers', 'file'));
	const create = { mode: 'create' } as const;
	const byId = { mode: 'upsert', matchOn: 'recordId' } as const;
	const EMPTY = 'no field has a value, so the record would be empty';
	const FIELDS = "The table's fields are: 'code', 'n', 'papers'. Does the input name its values as the node expects?";

	test.each<
		[what: string, values: Record<string, unknown>, options: Partial<PlanOptions> & Pick<PlanOptions, 'mode'>, input: string | undefined]
	>([
		['{}', {}, create, ''],
		['null', { code: null, n: null }, create, "These have no value: 'code', 'n'. "],
		['nulls to clear', { code: null, n: null }, { ...create, empty: 'clear' }, "These have no value: 'code', 'n'. "],
		['empty texts', { code: '', n: '' }, create, "These have no value: 'code', 'n'. "],
		['spaces', { code: ' \u00a0\u200b' }, create, "These have no value: 'code'. "],
		['expressions without a result', { code: undefined }, create, "These have no value: 'code'. "],
		['unknown names', { Code: 'a', N: 1 }, { ...create, unknownFields: 'ignore' }, "These have no value: 'Code', 'N'. "],
		['files that add nothing', { papers: { add: [] } }, create, "These have no value: 'papers'. "],
		['nothing, for an unknown ID', {}, byId, ''],
		['nothing, but its record exists', {}, { ...byId, mayBeEmpty: true }, undefined],
		['nothing but files', {}, { ...create, mayBeEmpty: true }, undefined],
		['false-like values', { n: 0 }, create, undefined],
		['only the key, to create or update', { code: 'a' }, { mode: 'upsert' }, undefined],
		['nothing, to update', {}, { mode: 'update' }, undefined],
	])('%s', (_, values, options, input) => {
		const problems = input === undefined ? [] : [{ index: 0, message: EMPTY, hint: `${input}${FIELDS}` }];
		expect(plan([{ values, id: 'r1' }], options, table).problems).toEqual(problems);
	});
});

test.each<[what: string, options: Partial<PlanOptions>, fields: FieldValues]>([
	['mapped by hand, it is empty', { empty: 'clear' }, { email: 'a', age: null }],
	['mapped by hand, as empty values are treated', { empty: 'leave' }, { email: 'a' }],
	['mapped automatically, it is not sent', { empty: 'clear', isFromInput: true }, { email: 'a' }],
])('a value that an item lacks: %s', (_, options, fields) => {
	expect(plan([{ values: { email: 'a', age: undefined } }], { mode: 'upsert', ...options }).records[0]!.fields).toEqual(fields);
});

test.each(['constructor', 'toString', '__proto__'])(
	'a required field with the name %s, which JavaScript knows, is reported if it is missing',
	(name) => {
		const table = tableOf(fieldOf(name, 'text', { required: true }), fieldOf('surname'));
		const { problems } = plan([{ values: { surname: 'F' } }], { mode: 'create' }, table);
		expect(problems).toEqual([{ index: 0, field: name, message: `'${name}' is required` }]);
	},
);

describe('the import key', () => {
	test('must have a value', () => {
		const rows = [undefined, '', null, '  ', '\u00a0', '\u200b\t'].map((email) => ({ values: { email, age: 1 } }));
		const { problems } = plan(rows, { mode: 'upsert' });
		const message = "the import key 'email' has no value";
		expect(problems).toEqual([0, 1, 2, 3, 4, 5].map((index) => ({ index, field: 'email', message })));
	});

	test('may be named in the options if the table marks none', () => {
		const table = tableOf(fieldOf('code', 'number'), fieldOf('name'));
		const rows = [{ values: { code: 5 } }];
		expect(() => plan(rows, { mode: 'upsert' }, table)).toThrow(
			"The definition of table 'People' does not say which field is its import key",
		);
		const { records } = plan(rows, { mode: 'upsert' }, withImportKey(table, 'code'));
		expect(records[0]?.key).toBe('5');
	});

	test('of a table that marks one: rejects the name of another field, and accepts the name of the marked one', () => {
		expect(() => withImportKey(people, 'surname')).toThrow("The import key of table 'People' is 'email', not 'surname'");
		expect(withImportKey(people, 'email')).toBe(people);
	});

	test.each([
		...['money_with_currency', 'checkbox', 'dropdownmulti', 'chips', 'url_link', 'checklist'],
		...['chat', 'schema_link', 'picture', 'file', 'system_type', 'calculated', 'buttonform'],
	])('of the type %s is rejected, unless records are only created', (type) => {
		const table = tableOf(fieldOf('code', type, { importKey: true }));
		expect(() => plan([], { mode: 'upsert' }, table)).toThrow(
			`The import key 'code' of table 'People' has the type '${type}', which can't be a key`,
		);
		expect(plan([], { mode: 'create' }, table).problems).toEqual([]);
	});

	const planKeys = (type: string, ...keys: unknown[]) => {
		const table = tableOf(fieldOf('code', type, { importKey: true }));
		return plan(
			keys.map((code) => ({ values: { code } })),
			{ mode: 'upsert', sourceOf: () => '$json.code' },
			table,
		);
	};

	/** Two spellings of a key, and how the platform stores it. */
	const SAME_KEYS: Array<[type: string, one: unknown, other: unknown, stored: string]> = [
		['text', '1', 1, '1'],
		['radio', 'a', 'a', 'a'],
		['dropdown', 'true', true, 'true'],
		['number', '1', 1, '1'],
		['number', ' +1.0 ', '1e0', '1'],
		['number', 0, '-0', '0'],
		['decimal', '1.50', 1.5, '1.5'],
		['decimal', 1e21, '1000000000000000000000', '1e+21'],
		['money', '.5', 0.5, '0.5'],
		['percentage', '0.10', 0.1, '0.1'],
		['date', '2026-01-01', '2026-01-01T00:00:00Z', '2026-01-01'],
		['date', '2026-01-01Z', '2026-01-01 00:00', '2026-01-01'],
		['date', '2026-01-01T00:00:00.000Z', '2026-01-01T23:30:00', '2026-01-01'],
		['date', new Date('2026-01-01T00:00:00Z'), '2026-01-01T00:00:00+05:00', '2026-01-01'],
		['datetime', '2026-01-01T10:00:00Z', '2026-01-01T11:00+01:00', '2026-01-01T10:00:00.000Z'],
		['datetime', '2026-01-01Z', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
		['datetime', '2026-01-01T00:00:00.1234Z', '2026-01-01T00:00:00.123Z', '2026-01-01T00:00:00.123Z'],
	];

	test.each(SAME_KEYS)('%s: %j and %j are one key, stored as %j', (type, one, other, stored) => {
		const { records, merged, problems } = planKeys(type, one, other);
		expect(problems).toEqual([]);
		expect([...merged]).toEqual([[0, 1]]);
		expect(records.map(({ key }) => key)).toEqual([stored]);
	});

	const DIFFERENT_KEYS: Array<[type: string, one: unknown, other: unknown]> = [
		['text', 'a', 'A'],
		['text', 'a', 'a '],
		['number', 1, 10],
		['decimal', 0.1, 0.10000000000000002],
		['date', '2026-01-01', '2026-01-02'],
		['datetime', '2026-01-01T10:00:00.123Z', '2026-01-01T10:00:00.124Z'],
	];

	test.each(DIFFERENT_KEYS)('%s: %j and %j are two keys', (type, one, other) => {
		const { records, merged, problems } = planKeys(type, one, other);
		expect(problems).toEqual([]);
		expect(merged.size).toBe(0);
		expect(records).toHaveLength(2);
	});

	const berlin = "{zone: 'Europe/Berlin'}";
	const INEXACT_KEYS: Array<[type: string, value: string, problem: string]> = [
		[
			'date',
			'2026-01-01T23:30:00Z',
			`accepts a date such as 2026-11-21, not "2026-01-01T23:30:00Z": use {{ DateTime.fromISO(String($json.code), ${berlin}).toISODate() ?? $json.code }} with your time zone`,
		],
		[
			'datetime',
			'2026-01-01T10:00:00',
			`accepts a time with a zone such as 2026-11-21T09:30:00Z, not "2026-01-01T10:00:00": use {{ DateTime.fromISO(String($json.code), ${berlin}).toISO() ?? $json.code }} with your time zone`,
		],
	];

	test.each(INEXACT_KEYS)(
		'of the type %s rejects the inexact value %j, and the problem shows an expression that makes it exact',
		(type, value, problem) => {
			const { records, problems } = planKeys(type, value);
			expect(records).toEqual([]);
			expect(problems).toEqual([{ index: 0, field: 'code', message: `the import key 'code' ${problem}` }]);
		},
	);

	test.each(INEXACT_KEYS)('of the type %s may have the inexact value %j if records are matched by their IDs', (type, value) => {
		const keyed = tableOf(fieldOf('code', type, { importKey: true }));
		const { records, problems } = plan([{ values: { code: value }, id: 'r1' }], { mode: 'update' }, keyed);
		expect(problems).toEqual([]);
		expect(records).toMatchObject([{ id: 'r1', key: undefined, fields: { code: value } }]);
	});

	test.each([
		[
			'datetime',
			`accepts a time with a zone such as 2026-11-21T09:30:00Z, not "2026-01-01T23:00:00": for a CSV file, set 'Values and Formats → Time Zone' in the options`,
		],
		['date', 'accepts a date such as 2026-11-21, not "2026-01-01T23:00:00Z"'],
	])('of the type %s: the problem of a row in a file shows no expression, the problem of an item does', (type, problem) => {
		const keyed = tableOf(fieldOf('due date', type));
		const rows = [{ values: { 'due date': type === 'date' ? '2026-01-01T23:00Z' : '2026-01-01T23:00' } }];
		const matchOn = ['due date'];
		const { problems } = plan(rows, { mode: 'upsert', matchOn }, keyed);
		expect(problems.map(({ message }) => message)).toEqual([`the field to match on 'due date' ${problem}`]);
		const sourceOf = () => '$json["due date"]';
		const [item] = plan(rows, { mode: 'upsert', matchOn, sourceOf }, keyed).problems;
		expect(item!.message).toContain('DateTime.fromISO(String($json["due date"]), ');
	});
});

describe('duplicates', () => {
	const rows = ['a', 'b', 'a', 'a'].map((email, age) => ({ values: { email, age } }));

	test('are merged into one record: the last value of each field, at the index of the last item', () => {
		const items = [{ email: 'a', age: 1, surname: 'Fox' }, { email: 'a', age: 3 }, { email: 'b', age: 2 }, { email: 'a' }].map(
			(values) => ({ values }),
		);
		const { records, problems, merged } = plan(items, { mode: 'upsert' });
		expect(records).toMatchObject([
			{ index: 2, fields: { email: 'b', age: 2 } },
			{ index: 3, fields: { email: 'a', age: 3, surname: 'Fox' } },
		]);
		expect([...merged]).toEqual([
			[0, 3],
			[1, 3],
		]);
		expect(problems).toEqual([]);
	});

	test('clear a field if its last value is null', () => {
		const items = [
			{ email: 'a', age: 1 },
			{ email: 'a', age: null },
		].map((values) => ({ values }));
		const { records } = plan(items, { mode: 'upsert', empty: 'clear' });
		expect(records[0]?.fields).toEqual({ email: 'a', age: null });
	});

	test('of update are merged; of replace, only the last is written', () => {
		const items = [{ age: 1, surname: 'Owl' }, { surname: 'Fox' }].map((values) => ({ values, id: 'r1' }));
		expect(plan(items, { mode: 'update' }).records).toMatchObject([{ index: 1, id: 'r1', fields: { age: 1, surname: 'Fox' } }]);
		expect(plan(items, { mode: 'replace' }).records).toEqual([{ index: 1, id: 'r1', key: undefined, fields: { surname: 'Fox' } }]);
	});

	test('include UUIDs that differ only in case, which are sent in lower case, but not other IDs that differ in case', () => {
		const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
		const items = [id, id.toUpperCase(), 'r1', 'R1'].map((one, age) => ({ id: one, values: { age } }));
		const { problems, records } = plan(items, { mode: 'update', duplicates: 'error' });
		expect(problems.map(({ message }) => message)).toEqual([
			`it has the same record id '${id}' as item 1`,
			`it has the same record id '${id}' as item 0`,
		]);
		expect(records).toMatchObject([{ id: 'r1' }, { id: 'R1' }]);
		expect(plan(items, { mode: 'update' }).records[0]!.id).toBe(id);
	});

	describe('of fields that are changed rather than set', () => {
		const table = tableOf(
			fieldOf('code', 'text', { importKey: true }),
			fieldOf('people', 'schema_link', { multiple: true }),
			fieldOf('papers', 'file'),
		);
		const a = { filename: 'a', mimetype: 'x/y', filedata: 'data:,a' };
		const b = { ...a, filename: 'b' };
		const [p1, p2, p3] = [1, 2, 3].map((at) => `${at}4d70c2e-7a1b-4c55-9d3e-2f8b6a1c0e97`);
		const MERGED_CHANGES: Array<[field: string, one: unknown, other: unknown, merged: unknown]> = [
			['people', [p1], [p2], { add: [p1, p2], remove: [] }],
			['people', [p1, p2], { remove: [p3] }, { add: [p1, p2], remove: [p3] }],
			['people', [p1], null, null],
			['people', [p1, p2], { remove: [p1] }, { add: [p2], remove: [p1] }],
			['people', { remove: [p1, p2] }, p1, { add: [p1], remove: [p2] }],
			['papers', { add: [a] }, [b], [b]],
			['papers', [a], null, null],
		];
		const CONFLICTING_CHANGES: Array<[field: string, one: unknown, other: unknown]> = [
			['people', null, [p1]],
			['papers', { add: [a] }, { add: [b] }],
			['papers', 'https://x.example/a', { add: [b] }],
			['papers', { add: [a] }, 'https://x.example/a'],
			['papers', [a], { remove: ['f'] }],
			['papers', null, { add: [b] }],
		];
		const planBoth = (field: string, one: unknown, other: unknown) => {
			const items = [one, other].map((value) => ({ values: { code: 'k', [field]: value } }));
			return plan(items, { mode: 'upsert', empty: 'clear' }, table);
		};

		test.each(MERGED_CHANGES)('%s: %j, then %j is merged to %j', (field, one, other, merged) => {
			const { records, problems } = planBoth(field, one, other);
			expect(problems).toEqual([]);
			expect(records[0]?.fields[field]).toEqual(merged);
		});

		test.each(CONFLICTING_CHANGES)("%s: %j, then %j can't be merged", (field, one, other) => {
			const { records, problems } = planBoth(field, one, other);
			expect(records).toEqual([]);
			const message = `and what they do to '${field}' can't be merged: put it into one item`;
			expect(problems).toEqual([
				{ index: 0, field, message: `it has the same import key 'k' as item 1, ${message}` },
				{ index: 1, field, message: `it has the same import key 'k' as item 0, ${message}` },
			]);
		});
	});

	test('are all errors if the option says so, and each names the other items', () => {
		const { records, problems, merged } = plan(rows, { mode: 'upsert', duplicates: 'error' });
		expect(records.map(({ index }) => index)).toEqual([1]);
		expect(merged.size).toBe(0);
		expect(problems).toEqual([
			{ index: 0, message: "it has the same import key 'a' as item 2, 3" },
			{ index: 2, message: "it has the same import key 'a' as item 0, 3" },
			{ index: 3, message: "it has the same import key 'a' as item 0, 2" },
		]);
	});

	test('of update are items with the same ID, whatever their import keys', () => {
		const same = ['r1', 'r1', 'r2'].map((id) => ({ values: { email: 'a' }, id }));
		const { records, merged } = plan(same, { mode: 'update' });
		expect(records.map(({ id }) => id)).toEqual(['r1', 'r2']);
		expect([...merged]).toEqual([[0, 1]]);
	});

	test('of create are all written', () => {
		const twice = ['a', 'a', 'b'].map((email) => ({ values: { email, surname: 'Fox' } }));
		expect(plan(twice, { mode: 'create' }).records.map(({ key }) => key)).toEqual(['a', 'a', 'b']);
	});

	test('are not merged if one of them has a problem', () => {
		const { records, merged, problems } = plan([{ values: { email: 'a', age: 1 } }, { values: { email: 'a', age: 'old' } }], {
			mode: 'upsert',
		});
		expect(problems.map(({ index }) => index)).toEqual([1]);
		expect(records.map(({ index }) => index)).toEqual([0]);
		expect(merged.size).toBe(0);
	});
});

test('an empty value of a required field is always a problem; of another field, the option says if it is one or clears the field', () => {
	expect(problemsOf({ surname: '' })).toEqual([{ index: 0, field: 'surname', message: "'surname' is required" }]);
	expect(problemsOf({ surname: '' }, { empty: 'clear' })).toEqual([{ index: 0, field: 'surname', message: "'surname' is required" }]);
	expect(problemsOf({ surname: 'F', age: '' }, { empty: 'error' })).toEqual([{ index: 0, field: 'age', message: "'age' is empty" }]);
	const cleared = plan([{ values: { surname: 'F', age: null } }], { mode: 'create', empty: 'clear' });
	expect(cleared.records[0]?.fields).toEqual({ surname: 'F', age: null });
});

describe('corrections', () => {
	const letters = [...'abcdefghijklmnopqrstuvwxyz'];
	const wide = tableOf(...letters.map((letter) => fieldOf(`field-${letter.repeat(5)}`)));
	const mistyped = letters.map((letter) => `field-${letter.repeat(4)}`);

	test('are offered for the first twenty mistyped names, in every item', () => {
		const values = Object.fromEntries(mistyped.map((name) => [name, 1]));
		const { problems } = plan([{ values }, { values }], { mode: 'create' }, wide);
		const offered = problems.filter(({ message }) => message.includes('did you mean'));
		expect(offered.map(({ index, field }) => [index, field])).toEqual(
			[0, 1].flatMap((index) => mistyped.slice(0, 20).map((name) => [index, name])),
		);
		expect(problems.at(-1)!.message).toBe("table 'People' has no field 'field-zzzz'");
	});

	test('never name a field that can’t be written', () => {
		expect(problemsOf({ surname: 'F', fullNam: 'x' })[0]!.message).toBe("table 'People' has no field 'fullNam'");
	});
});

describe('an error about the import key names the field, if any, and says what to do', () => {
	const unmarked = tableOf(fieldOf('email'));
	const marked = (type: string) => tableOf(fieldOf('code', type, { importKey: true }));
	test.each<[string, typeof people, importKey: string | undefined, details: object]>([
		[
			'the options name another field than the marked one',
			people,
			'surname',
			{ field: 'surname', hint: expect.stringContaining("Leave 'Import Key Name or ID' empty in the options") },
		],
		[
			'the options name a field that the table does not have',
			unmarked,
			'mail',
			{ field: 'mail', hint: "Correct 'Import Key Name or ID' in the options, or leave it empty." },
		],
		['the table marks none', unmarked, undefined, { hint: expect.stringContaining("Choose it under 'Import Key Name or ID'") }],
		[
			'the marked field has a type that can’t be a key',
			marked('chips'),
			undefined,
			{ field: 'code', hint: expect.stringMatching(/^Nothing was sent. Mark a field/) },
		],
	])('%s', (_, table, importKey, details) => {
		let error: unknown;
		try {
			plan([], { mode: 'upsert' }, withImportKey(table, importKey));
		} catch (thrown) {
			error = thrown;
		}
		expect(error).toBeInstanceOf(InputError);
		expect(error).toMatchObject(details);
	});
});

describe('items that mean one record', () => {
	test('a problem names at most three of the other items', () => {
		const rows = Array.from({ length: 6 }, () => ({ values: { age: 1 }, id: 'r1' }));
		const { problems } = plan(rows, { mode: 'update', duplicates: 'error' });
		const named = (others: string) => `it has the same record id 'r1' as item ${others}`;
		expect(problems.map(({ message }) => message)).toEqual([
			named('1, 2, 3'),
			named('0, 2, 3'),
			named('0, 1, 3'),
			named('0, 1, 2'),
			named('0, 1, 2'),
			named('0, 1, 2'),
		]);
	});
});

describe('matching on fields', () => {
	const table = tableOf(fieldOf('name'), fieldOf('city'), fieldOf('logo', 'picture'), fieldOf('sum', 'calculated'));
	const planMatching = (matchOn: PlanOptions['matchOn'], values: object, id?: string) =>
		plan([{ values, id }], { mode: 'upsert', matchOn }, table);

	test.each<[on: string[], message: string]>([
		[['colour'], "Table 'People' has no field 'colour' to match on"],
		[['name', 'sum'], "Records can't be matched on 'sum': it is read-only"],
		[['logo'], "Records can't be matched on 'logo': its type is 'picture'"],
	])('%j is rejected: records cannot be matched on one of these fields', (on, message) => {
		let error: unknown;
		try {
			planMatching(on, { name: 'Ada' });
		} catch (thrown) {
			error = thrown;
		}
		expect(error).toBeInstanceOf(InputError);
		expect(error).toMatchObject({ message, hint: expect.stringContaining("under 'Match Field Names or IDs'") });
	});

	test.each<[on: string[], key: string]>([
		[['name'], 'Ada'],
		[['name', 'name'], 'Ada'],
		[['city', 'name'], '"Oslo", "Ada"'],
	])('%j gives the key %s, in a table without an import key', (on, key) => {
		expect(planMatching(on, { name: 'Ada', city: 'Oslo' }).records).toMatchObject([{ key }]);
	});

	test('an item needs a value in every field to match on', () => {
		const { problems, records } = planMatching(['name', 'city'], { name: 'Ada' });
		expect(records).toEqual([]);
		expect(problems).toEqual([{ index: 0, field: 'city', message: "the field to match on 'city' has no value" }]);
	});

	test('an item needs an ID if records are matched by ID', () => {
		expect(planMatching('recordId', { name: 'Ada' }, ' r1 ').records).toMatchObject([{ id: 'r1' }]);
		expect(planMatching('recordId', { name: 'Ada' }).problems).toMatchObject([{ field: 'id' }]);
	});

	test('items with the same values in the fields to match on are merged, or an error if the option says so', () => {
		const rows = ['Oslo', 'Rome'].map((city) => ({ values: { name: 'Ada', city } }));
		const options = { mode: 'upsert' as const, matchOn: ['name'] };
		expect(plan(rows, options, table).records).toMatchObject([{ index: 1 }]);
		const { problems } = plan(rows, { ...options, duplicates: 'error' }, table);
		expect(problems.map(({ message }) => message)).toEqual([
			"it has the same match values 'Ada' as item 1",
			"it has the same match values 'Ada' as item 0",
		]);
	});
});

describe('a record as it was read', () => {
	const table = tableOf(fieldOf('name'), fieldOf('sum', 'calculated'), fieldOf('clients', 'schema_link', { multiple: true }));
	const values = { name: 'Ada', sum: 5, clients: { count: 2, url: 'https://example.com' } };

	test('is written without its read-only values, whose fields are returned as ignored', () => {
		const read = plan([{ values }], { mode: 'create', isFromInput: true }, table);
		expect(read.problems).toEqual([]);
		expect(read.records).toMatchObject([{ fields: { name: 'Ada' } }]);
		expect(Object.keys(read.records[0]!.fields)).toEqual(['name']);
		expect([...read.ignored]).toEqual(['sum', 'clients']);
	});

	test.each(['buttonform', 'button', 'freehtmlinput', 'freehtml', 'calculated', 'calculatedfield', 'system_type', 'hologram', 'unknown'])(
		'is written without a field of the type %s, which is returned as ignored',
		(type) => {
			const shown = tableOf(fieldOf('name'), fieldOf('f', type, { required: type !== 'hologram' && type !== 'unknown' }));
			for (const value of ['x', null]) {
				const rows = [{ values: { name: 'Ada', f: value } }];
				const read = plan(rows, { mode: 'create', isFromInput: true, empty: 'clear' }, shown);
				expect(read.problems).toEqual([]);
				expect(read.records.map(({ fields }) => fields)).toEqual([{ name: 'Ada' }]);
				expect([...read.ignored]).toEqual(['f']);
			}
		},
	);

	test('is matched by its key, whatever its type', () => {
		const keyed = tableOf(fieldOf('code', 'hologram', { importKey: true }), fieldOf('name'));
		const { records } = plan([{ values: { code: 'a', name: 'Ada' } }], { mode: 'upsert', isFromInput: true }, keyed);
		expect(records).toMatchObject([{ key: 'a', fields: { code: 'a', name: 'Ada' } }]);
	});

	test('is an error if the user named the fields', () => {
		const { problems, ignored } = plan([{ values }], { mode: 'create' }, table);
		expect(problems.map(({ field }) => field)).toEqual(['sum', 'clients']);
		expect([...ignored]).toEqual([]);
	});
});
