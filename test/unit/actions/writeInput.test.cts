/**
 * How operations find their records, and what happens to records that are missing from the input.
 */
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { asItems, columns, runNode, TABLE, type Given } from '../fakeNode.cts';
import { fieldOf, tableOf } from '../fixtures.cts';
import { StubTables } from '../stubTables.cts';

const NO_KEY = [
	fieldOf('mail'),
	fieldOf('age', 'number'),
	fieldOf('state', 'dropdown', { items: [{ value: 'new' }, { value: 'old' }, { value: 'New York' }] }),
	fieldOf('sum', 'calculated'),
];

const definitions = {
	people: { ...tableOf(fieldOf('name', 'text', { importKey: true }), ...NO_KEY), id: 'people' },
	keyless: { ...tableOf(fieldOf('name'), ...NO_KEY), ...{ id: 'keyless', internalName: 'keyless', header: 'Keyless' } },
};

const stored = {
	people: {
		r1: { name: 'Ada', mail: 'a@x', age: 1, state: 'new' },
		r2: { name: 'Bob', mail: 'b@x', age: 2, state: 'new' },
		r3: { name: 'Cy', mail: 'b@x', age: 3, state: 'old' },
	},
	keyless: { k1: { name: 'Ada' } },
};

interface Write extends Omit<Given, 'parameters'> {
	parameters?: INodeParameters;
	table?: string;
}

async function write(operation: string, items: IDataObject[], { parameters, ...given }: Write = {}) {
	const tables = new StubTables(stored, definitions);
	const run = await runNode(operation, {
		serve: (options) => tables.serve(options),
		items: asItems(...items),
		...given,
		parameters: { ...TABLE, columns: columns(), ...parameters },
	});
	return {
		...run,
		records: Object.fromEntries(tables.tables.people!.map(({ id, fields }) => [id, fields])),
		outcomes: run.json.map(({ outcome, id, details }) =>
			[(outcome ?? (details as IDataObject | undefined)?.outcome) as string, id].filter(Boolean).join(' '),
		),
		writes: run.requests
			.filter((request) => /bulk|DELETE|PUT|PATCH/.test(request))
			.map((request) => request.replace('apps/sales/tables/', '')),
		details: run.error?.context.details as IDataObject | undefined,
	};
}

const UPSERT = 'record: upsert';
const UPDATE = 'record: update';
const CONTINUE = { onError: 'continueRegularOutput' } as const;

test('the expressions of many items are evaluated once, and other work runs in between', async () => {
	let evaluated = 0;
	const turns = new Set<number>();
	const items = Array.from({ length: 500 }, (_, index) => ({
		get name() {
			evaluated += 1;
			for (const end = performance.now() + 0.5; performance.now() < end; );
			return `Name ${index}`;
		},
	}));
	const parameters = { columns: columns({ name: '={{ $json.name.trim() }}' }), options: { skipUnchanged: true } };
	// The first execution keeps the table's definition for the second.
	await write(UPSERT, [{ name: 'Ada' }], { parameters });
	const other = setInterval(() => turns.add(evaluated), 1);
	const { outcomes } = await write(UPSERT, items, { parameters });
	clearInterval(other);
	expect(outcomes).toHaveLength(500);
	expect(evaluated).toBe(500);
	expect([...turns].some((count) => count > 0 && count < 500)).toBe(true);
});

describe('records are found', () => {
	test.each<[string, string, IDataObject, INodeParameters, string[]]>([
		['by import key', UPSERT, { name: 'Ada', age: 5 }, {}, ['updated r1']],
		['by import key, and created', UPSERT, { name: 'New' }, {}, ['inserted new1']],
		['by import key, and only created', UPSERT, { name: 'Ada', age: 5 }, { options: { ifFound: 'skip' } }, ['found r1']],
		['by import key, and only updated', UPSERT, { name: 'New' }, { options: { ifMissing: 'skip' } }, ['skipped']],
		['by import key, if a missing one is an error', UPSERT, { name: 'New' }, { options: { ifMissing: 'error' } }, ['notFound']],
		['by fields, of which the key is one', UPSERT, { name: 'Ada', age: 5 }, { matchOn: 'fields', matchFields: ['name'] }, ['updated r1']],
		['by another field', UPSERT, { mail: 'a@x', age: 5 }, { matchOn: 'fields', matchFields: 'mail' }, ['updated r1']],
		['by another field, which several have', UPSERT, { mail: 'b@x', age: 5 }, { matchOn: 'fields', matchFields: ['mail'] }, ['failed']],
		[
			'by another field, the first of several',
			UPSERT,
			{ mail: 'b@x', age: 5 },
			{ matchOn: 'fields', matchFields: ['mail'], options: { multipleMatches: 'first' } },
			['updated r2'],
		],
		['by two fields', UPSERT, { mail: 'b@x', name: 'Cy', age: 5 }, { matchOn: 'fields', matchFields: ['mail', 'name'] }, ['updated r3']],
		['by ID, to update them', UPDATE, { age: 5 }, { recordId: 'r1' }, ['updated r1']],
		['by ID, if there is none', UPDATE, { age: 5 }, { recordId: 'r9' }, ['notFound']],
		['by ID, if there is none, which is no error', UPDATE, { age: 5 }, { recordId: 'r9', options: { ifMissing: 'skip' } }, ['skipped r9']],
		['by import key, to update them', UPDATE, { name: 'Ada', age: 5 }, { matchOn: 'importKey' }, ['updated r1']],
		['by import key, to update them and never to create one', UPDATE, { name: 'New', age: 5 }, { matchOn: 'importKey' }, ['notFound']],
		['by ID, to create or update them', UPSERT, { name: 'Ada', age: 5 }, { matchOn: 'recordId', recordId: 'r1' }, ['updated r1']],
	])('%s', async (_, operation, item, parameters, expected) => {
		const { outcomes, error } = await write(operation, [item], { parameters, node: CONTINUE });
		expect(error).toBeUndefined();
		expect(outcomes).toEqual(expected);
	});

	test.each<[string, IDataObject, INodeParameters, boolean]>([
		['by the platform itself', { name: 'Ada', age: 5 }, {}, true],
		['by the platform itself, if its key is named', { name: 'Ada', age: 5 }, { matchOn: 'fields', matchFields: ['name'] }, true],
		['by a look-up, if the first of several is meant', { name: 'Ada', age: 5 }, { options: { multipleMatches: 'first' } }, false],
		[
			'by a look-up, if another field is named beside its key',
			{ name: 'Ada', mail: 'a@x', age: 5 },
			{ matchOn: 'fields', matchFields: ['name', 'mail'] },
			false,
		],
		['by a look-up, if found ones are left', { name: 'Ada' }, { options: { ifFound: 'skip' } }, false],
		['by a look-up, if missing ones are left', { name: 'Ada', age: 5 }, { options: { ifMissing: 'skip' } }, false],
	])('to create or update: %s', async (_, item, parameters, isByPlatform) => {
		const { sent } = await write(UPSERT, [item], { parameters });
		const bodies = sent.map(({ body }) => body as IDataObject | undefined);
		expect(bodies.some((body) => body?.useUpsert === true)).toBe(isByPlatform);
	});

	test.each<[string, string, INodeParameters, string, string]>([
		[
			'a table without a key',
			UPSERT,
			{ table: { __rl: true, mode: 'id', value: 'keyless' } },
			"The definition of table 'Keyless' does not say which field is its import key",
			'Match On',
		],
		['no field', UPSERT, { matchOn: 'fields', matchFields: ' , ' }, "'Match Field Names or IDs' is empty", 'Match Field Names or IDs'],
		[
			'fields that are no names',
			UPSERT,
			{ matchOn: 'fields', matchFields: [{ a: 1 }] },
			"'Match Field Names or IDs' must be text, not an object",
			'Match Field Names or IDs',
		],
		...(
			[
				[{ matchOn: 'key' }, 'Match On', "'importKey', 'fields', 'recordId'", 'key'],
				[{ options: { ifFound: 'x' } }, 'If Found', "'update', 'skip'", 'x'],
				[{ options: { ifMissing: 'x' } }, 'If Missing', "'create', 'skip', 'error'", 'x'],
				[{ options: { multipleMatches: 'all' } }, 'Multiple Matches', "'error', 'first'", 'all'],
			] as Array<[INodeParameters, string, string, string]>
		).map(([parameters, label, choices, value]): [string, string, INodeParameters, string, string] => [
			JSON.stringify(parameters),
			UPSERT,
			parameters,
			`'${label}' must be one of ${choices}, not "${value}"`,
			label,
		]),
	])('not by %s', async (_, operation, parameters, message, field) => {
		const { error, details, writes } = await write(operation, [{ name: 'Ada' }], { parameters });
		expect(error?.message).toBe(message);
		expect(details).toMatchObject({ field });
		expect(error?.description).toEqual(expect.stringMatching(/\w/));
		expect(writes).toEqual([]);
	});

	test('by the field that the options name, if the table marks none', async () => {
		const { outcomes } = await write(UPSERT, [{ name: 'Ada', age: 5 }], {
			parameters: { table: { __rl: true, mode: 'id', value: 'keyless' }, options: { importKey: 'name' } },
		});
		expect(outcomes).toEqual(['updated k1']);
	});

	test('in no way if they are created', async () => {
		const { outcomes, requests } = await write('record: create', [{ name: 'New' }]);
		expect(outcomes).toEqual(['inserted new1']);
		expect(requests.filter((request) => request.includes('filter'))).toEqual([]);
	});
});

const SYNC = 'record: sync';
const NONE = { filterMode: 'none', maxShareToRemove: 100 };
const isNew = { filterMode: 'conditions', conditions: { condition: [{ field: 'state', operator: 'eq', value: 'new' }] } };

describe('records that are missing from the input', () => {
	test.each<[string, INodeParameters, string[], IDataObject]>([
		['are left', { missingRecords: 'leave' }, ['r1', 'r2', 'r3'], {}],
		['are left if nothing is said', {}, ['r1', 'r2', 'r3'], {}],
		['are deleted', { ...NONE, missingRecords: 'delete' }, ['r1'], {}],
		['are deleted among those that a filter selects', { ...isNew, missingRecords: 'delete', maxShareToRemove: 50 }, ['r1', 'r3'], {}],
		[
			'get values',
			{
				...NONE,
				missingRecords: 'setFields',
				fieldsToSet: {
					entry: [
						{ field: ' state ', value: 'old' },
						{ field: 'age', value: '7' },
					],
				},
			},
			['r1', 'r2', 'r3'],
			{ state: 'old', age: 7 },
		],
		[
			'lose values',
			{ ...NONE, missingRecords: 'setFields', fieldsToSet: { entry: [{ field: 'age', value: '' }] }, options: { emptyValues: 'clear' } },
			['r1', 'r2', 'r3'],
			{ age: null },
		],
	])('%s', async (_, parameters, left, r2) => {
		const { error, records } = await write(SYNC, [{ name: 'Ada', age: 1 }], { parameters });
		expect(error).toBeUndefined();
		expect(Object.keys(records)).toEqual(left);
		if (records.r2) expect(records.r2).toMatchObject({ name: 'Bob', ...r2 });
	});

	test('are reported behind the items', async () => {
		const { outcomes, output } = await write(SYNC, [{ name: 'Ada', age: 1 }], { parameters: { ...NONE, missingRecords: 'delete' } });
		expect(outcomes).toEqual(['unchanged r1', 'deleted r2', 'deleted r3']);
		expect(output.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, [], []]);
	});

	const set = (...entry: unknown[]) => ({ ...NONE, missingRecords: 'setFields', fieldsToSet: { entry } }) as INodeParameters;
	const refused = async (parameters: INodeParameters, message: string, field: string, hint?: string) => {
		const { error, details, records, writes } = await write(SYNC, [{ name: 'Ada', age: 9 }], { parameters });
		expect(error?.message).toBe(message);
		expect(details).toMatchObject({ field, outcome: 'failed' });
		if (hint) expect(error?.description).toBe(hint);
		expect(writes).toEqual([]);
		expect(Object.keys(records)).toHaveLength(3);
	};

	const LIST = 'Choose the field from the list.';
	const ONE_OF = "'Records Missing From Input' must be one of 'leave', 'setFields', 'delete', ";
	test.each<[string, INodeParameters, string]>([
		['an unknown choice', { ...NONE, missingRecords: 'drop' }, 'not "drop"'],
		['an expression that gives nothing', { ...NONE, missingRecords: '={{ null }}' }, 'it is empty'],
	])('are not removed with %s', async (_, parameters, problem) => {
		const hint = 'Choose it from the list, or correct the expression in it.';
		await refused(parameters, ONE_OF + problem, 'Records Missing From Input', hint);
	});

	const CLEAR =
		"Give it a value. To clear the field, set the option 'Empty, Unknown and Repeated Values → Empty Values' to 'Clear the Field'.";
	const KEY = 'Set another field: with the same value, records could not be told apart.';
	test.each<[string, entries: unknown[], problem: string, hint: string]>([
		['no field to set', [], "'Fields to Set' names no field", 'Add a field and the value to set.'],
		['a field without a name', [{ field: ' ', value: 'x' }], "'Fields to Set': no field is chosen", LIST],
		['an entry that is none', ['x'], "'Fields to Set': no field is chosen", LIST],
		['a field that the table lacks', [{ field: 'town', value: 'x' }], "'Fields to Set': table 'People' has no field 'town'", LIST],
		['a field that is read-only', [{ field: 'sum', value: 'x' }], "'Fields to Set': 'sum' is read-only", LIST],
		['a key', [{ field: 'name', value: 'x' }], "'name' under 'Fields to Set' is a field that records are matched on", KEY],
		['a field twice', ['1', '2'].map((value) => ({ field: 'age', value })), "'Fields to Set' names 'age' twice", 'Remove one of the two.'],
		['an empty value', [{ field: 'age', value: '' }], "the value of 'age' under 'Fields to Set' is empty", CLEAR],
		['text as a number', [{ field: 'age', value: 'x' }], `'age' under 'Fields to Set' accepts a number, not "x"`, 'Correct the value.'],
	])('do not get values with %s', async (_, entries, problem, hint) => {
		await refused(set(...entries), `Nothing was written or removed: ${problem}`, 'Fields to Set', hint);
	});

	test('are not removed with a filter without a condition', async () => {
		const hint = "Add one. To compare the input with all of the table, set 'Filter' to 'None'.";
		const message = 'Nothing was written or removed: the filter has no condition';
		await refused({ missingRecords: 'delete', filterMode: 'conditions' }, message, 'Filter', hint);
	});

	test('are not removed with a filter on a choice that does not exist', async () => {
		const conditions = { condition: [{ field: 'state', operator: 'eq', value: 'x' }] };
		const message = "The condition on 'state' (eq) compares with 'x', which isn't one of the field's choices: 'new', 'old', 'New York'";
		const hint = "Correct the value. To find records that still hold a choice which was removed, use the operator 'Contains' (contains).";
		await refused({ ...isNew, missingRecords: 'delete', conditions }, message, 'state', hint);
	});

	const [MOST, SHARE] = ['Max Records to Remove', 'Max Share to Remove (%)'];
	test.each<[label: string, name: string, value: number, must: string]>([
		[MOST, 'maxRecordsToRemove', -1, 'a whole number at least 0, not -1'],
		[MOST, 'maxRecordsToRemove', 1.5, 'a whole number at least 0, not 1.5'],
		[SHARE, 'maxShareToRemove', -1, 'a number from 0 to 100, not -1'],
		[SHARE, 'maxShareToRemove', 101, 'a number from 0 to 100, not 101'],
	])('are not removed with %s: %s of %d', async (label, name, value, must) => {
		await refused({ ...NONE, missingRecords: 'delete', [name]: value }, `'${label}' must be ${must}`, label);
	});

	test('are not removed if the filter restricts nothing', async () => {
		const { error, records } = await write(SYNC, [{ name: 'Ada' }], {
			parameters: {
				...{ missingRecords: 'delete', maxShareToRemove: 100, filterMode: 'conditions' },
				conditions: { condition: [{ field: 'mail', operator: 'contains', value: ' ' }] },
			},
		});
		expect(error?.message).toContain('mail');
		expect(Object.keys(records)).toHaveLength(3);
	});

	test('matched by ID may get another name', async () => {
		const { error, records } = await write(SYNC, [{ age: 1 }], {
			parameters: { ...set({ field: 'mail', value: 'gone' }), ...{ matchOn: 'recordId', recordId: 'r1' } },
		});
		expect(error).toBeUndefined();
		expect(records.r2).toMatchObject({ mail: 'gone' });
	});
});

describe('a filter on choices', () => {
	const count = async (condition: IDataObject, given: Given = {}) => {
		const tables = new StubTables(stored, definitions);
		return await runNode('record: count', {
			serve: (options) => tables.serve(options),
			...given,
			parameters: {
				...TABLE,
				filterMode: 'conditions',
				conditions: { condition: [{ field: 'state', ...condition }] },
				...given.parameters,
			} as INodeParameters,
		});
	};

	test.each<[condition: IDataObject, operator: string, value: string]>([
		[{ operator: 'eq', value: 'NEW' }, 'eq', 'NEW'],
		[{ operator: 'in', value: 'Old,new' }, 'in', 'Old,new'],
		[{ operator: 'neq', value: 'new' }, 'neq', 'new'],
		[{ operator: 'exactly', value: 'new' }, '===', 'new'],
		[{ operator: 'contains', value: 'x' }, 'contains', 'x'],
		[{ operator: 'is', choice: 'new' }, 'eq', 'new'],
		[{ operator: 'isNot', choice: 'new' }, 'neq', 'new'],
		[{ operator: 'isOneOf', choices: ['new', 'old'] }, 'in', 'new,old'],
		[{ operator: 'isNoneOf', choices: ['New York'] }, 'notin', 'New York'],
		[{ field: 'name', operator: 'eq', value: 'x' }, 'eq', 'x'],
	])('%j is sent with %s %s', async (condition, operator, value) => {
		const { sent, error } = await count(condition);
		expect(error).toBeUndefined();
		expect(sent.at(-1)!.body).toMatchObject({ filter: [{ field: condition.field ?? 'state', operator, value }] });
	});

	const NOT = "which isn't one of the field's choices: 'new', 'old', 'New York'";
	const CASE = "which isn't one of the field's choices, did you mean 'new'?";
	test.each<[IDataObject, string]>([
		[{ operator: 'eq', value: 'x' }, `(eq) compares with 'x', ${NOT}`],
		[{ operator: 'in', value: 'new,x' }, `(in) compares with 'x', ${NOT}`],
		[{ operator: 'neq', value: 'NEW' }, `(neq) compares with 'NEW', ${CASE}`],
		[{ operator: 'notin', value: 'NEW' }, `(notin) compares with 'NEW', ${CASE}`],
		[{ operator: 'exactly', value: 'NEW' }, `(===) compares with 'NEW', ${CASE}`],
		[{ operator: 'is', choice: 'x' }, `(eq) compares with 'x', ${NOT}`],
	])('%j is rejected', async (condition, message) => {
		const { error, sent } = await count(condition);
		expect(error?.message).toBe(`The condition on 'state' ${message}`);
		expect(error?.context.details).toMatchObject({ field: 'state' });
		expect(sent.map(({ request }) => request)).toEqual(['GET apps/sales/tables/people']);
	});

	test.each<[IDataObject]>([
		[{ operator: 'is' }],
		[{ operator: 'isOneOf', choices: [] }],
		[{ operator: 'isNoneOf', choices: [] }],
		[{ operator: 'is', choice: '' }],
	])('%j, without a choice, is refused', async (condition) => {
		const { error, sent } = await count(condition);
		expect(error?.message).toContain('Condition 1 of the filter');
		expect(sent).toEqual([]);
	});

	test.each([
		['getAll', {}],
		['exportToFile', {}],
		['deleteMany', {}],
		['summarize', { summaries: { summary: [{ field: 'age', aggregations: ['sum'] }] } }],
	])('is checked by %s', async (operation, parameters) => {
		const { error } = await count({ operator: 'neq', value: 'x' }, { parameters: { operation, ...parameters } });
		expect(error?.message).toBe(`The condition on 'state' (neq) compares with 'x', ${NOT}`);
	});

	const [IS_NEW, IS_X] = ['new', 'x'].map((value) => ({ field: 'state', operator: 'eq', value }));
	const CONTAINS_X = { field: 'state', operator: 'contains', value: 'x' };
	test.each<[string, INodeParameters]>([
		['beside other conditions', { conditions: { condition: [CONTAINS_X, IS_X!] } }],
		['in groups', { groups: { group: [{ matchType: 'or', conditions: { condition: [IS_NEW!, IS_X!] } }] } }],
	])('is checked %s', async (_, parameters) => {
		const { error } = await count({ operator: 'eq', value: 'new' }, { parameters });
		expect(error?.message).toContain("(eq) compares with 'x'");
	});

	test('no more than twenty choices are named', async () => {
		const of = (items: number) => ({
			...definitions.people,
			fields: [fieldOf('state', 'dropdown', { items: Array.from({ length: items }, (_, at) => ({ value: `c${at}` })) })],
		});
		const message = async (items: number) => {
			const tables = new StubTables(stored, { people: of(items) });
			const condition = { operator: 'eq', value: 'x' };
			return (await count(condition, { serve: (options) => tables.serve(options) })).error?.message;
		};
		expect(await message(20)).toMatch(/'c18', 'c19'$/);
		expect(await message(21)).toMatch(/'c18', 'c19' and 1 more$/);
	});

	test('is not checked if the definition may not be read', async () => {
		const tables = new StubTables(stored);
		const { error, json } = await count({ operator: 'eq', value: 'x' }, { serve: (options) => tables.serve(options) });
		expect(error).toBeUndefined();
		expect(json).toEqual([{ count: 0 }]);
	});
});
