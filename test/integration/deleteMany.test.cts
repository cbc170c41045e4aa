import type { IDataObject } from 'n8n-workflow';
import { located, numbered, useHarness, where, type Run } from './fixtures.cts';
import { useOtherWriter } from './otherWriter.cts';

const harness = useHarness();

const open = { field: 'state', operator: 'eq', value: 'open' };
const expensive = { field: 'price', operator: 'gte', value: '3' };

const deleteMany = (parameters: IDataObject, run: Run = {}) =>
	harness.run('deleteMany', { parameters: { maxRecordsToDelete: 100, ...parameters }, ...run });

/** Three open orders and two sent ones, one of which is expensive. */
beforeEach(async () => {
	const sent = [
		{ number: '4', buyer: 'x', state: 'sent', price: 1 },
		{ number: '5', buyer: 'Dog, jr.', state: 'sent', price: 3 },
	];
	await harness.fill('orders', ...numbered(3, { state: 'open', price: 1 }), ...sent);
});

test('Delete Many counts first, then deletes what matches and nothing else', async () => {
	const result = await deleteMany(where(open));
	const records = expect.arrayContaining(['1', '2', '3'].map((key) => ({ id: expect.any(String), key })));
	expect(result.json()).toEqual([{ deleted: true, matched: 3, deletedCount: 3, remaining: 0, records }]);
	expect(await harness.values('number')).toEqual(['4', '5']);
	const methods = (await harness.requests()).map(({ method, path }) => `${method} ${path.split('/data')[1]}`);
	expect(methods).toEqual([
		'GET undefined', // the table's definition, for the choices of its fields
		'POST /count/filter',
		'POST /filter',
		'DELETE /bulk',
		'POST /count/filter',
		'GET ', // the newest changes: what others changed counts as kept
	]);
});

test('if more records match than the maximum, nothing is deleted; if as many match, all are', async () => {
	const result = await deleteMany({ ...where(open), maxRecordsToDelete: 2 });
	expect(result.error?.message).toBe('Nothing was deleted: 3 records match, more than the maximum of 2');
	expect(await harness.writes()).toEqual([]);
	expect(await harness.records()).toHaveLength(5);
	const enough = await deleteMany({ ...where(open), maxRecordsToDelete: 3 });
	expect(enough.json()).toMatchObject([{ deletedCount: 3 }]);
});

test('a dry run says which records match, also if they are more than the maximum', async () => {
	const result = await deleteMany({ ...where(open), maxRecordsToDelete: 2 }, { options: { dryRun: true } });
	const records = expect.arrayContaining(['1', '2', '3'].map((key) => ({ id: expect.any(String), key })));
	expect(result.json()).toEqual([{ deleted: false, dryRun: true, matched: 3, deletedCount: 0, remaining: 3, records }]);
	expect(result.hints).toEqual([expect.stringMatching(/^Dry run, nothing was deleted: 3 records match\. .* more than the maximum of 2\./)]);
	expect(await harness.records()).toHaveLength(5);
});

test.each([0, -1, 1.5, '', 'all', null])('the maximum %j is rejected before a request', async (maximum) => {
	const result = await deleteMany({ ...where(open), maxRecordsToDelete: maximum });
	expect(result.error?.message).toContain("'Max Records to Delete' must be a whole number at least 1");
	expect(await harness.requests()).toEqual([]);
});

test("without a filter, nothing is deleted unless 'Delete All Records' is on", async () => {
	for (const none of [{}, where(), { filterMode: 'json', filterTree: '{"filter":[]}' }]) {
		const result = await deleteMany(none);
		expect(result.error?.message).toBe('Nothing was deleted: there is no filter');
		expect(result.error?.description).toContain("'Delete All Records'");
	}
	expect(await harness.requests()).toEqual([]);
	const all = await deleteMany({ filterMode: 'none', allowAll: true });
	expect(all.json()).toMatchObject([{ matched: 5, deletedCount: 5, remaining: 0 }]);
	expect(await harness.records()).toEqual([]);
});

test('records that match any of the conditions joined by OR are deleted, and no others', async () => {
	const result = await deleteMany({ ...where(open, expensive), matchType: 'or' });
	expect(result.json()).toMatchObject([{ matched: 4, deletedCount: 4, remaining: 0 }]);
	expect(await harness.values('number')).toEqual(['4']);
});

test.each([
	['Dog, jr.', 1, ['1', '2', '3', '4']],
	['x)', 0, ['1', '2', '3', '4', '5']],
	['x,number(eq)1', 0, ['1', '2', '3', '4', '5']],
])('a value such as %j is never read as filter syntax: %d deleted', async (value, deletedCount, left) => {
	const result = await deleteMany(where({ field: 'buyer', operator: 'eq', value }));
	expect(result.json()).toMatchObject([{ deletedCount }]);
	expect(await harness.values('number')).toEqual(left);
});

test('a value in a list that looks like another condition deletes nothing else', async () => {
	const value = ['x),number(eq)1', 'Dog, jr.'];
	const result = await deleteMany(where({ field: 'buyer', operator: 'in', value: `={{ ${JSON.stringify(value)} }}` }));
	expect(result.json()).toMatchObject([{ matched: 1, deletedCount: 1, remaining: 0 }]);
	expect(await harness.values('number')).toEqual(['1', '2', '3', '4']);
});

test.each(['x\\', 'x\\\\'])('the value %s, before a comma in a list, matches only its own record', async (odd) => {
	await harness.fill('orders', ...[odd, 'x,y', 'y', 'z'].map((buyer, index) => ({ number: String(index), buyer })));
	const value = `={{ ${JSON.stringify([odd, 'y'])} }}`;
	const result = await deleteMany(where({ field: 'buyer', operator: 'in', value }));
	expect(result.json()).toMatchObject([{ matched: 2, deletedCount: 2, remaining: 0 }]);
	expect(await harness.values('buyer')).toEqual(['x,y', 'z']);
});

test.each([
	[{ ...open, field: 'price(gte)0,state' }, "has no field 'price(gte)0,state'"],
	[{ ...open, field: 'state)' }, "has no field 'state)'"],
	[{ ...open, operator: 'neq)x,price(gt' }, "unknown operator, 'neq)x,price(gt'"],
	[{ ...open, operator: 'constructor' }, "unknown operator, 'constructor'"],
])('a condition that is really several is rejected: %j', async (condition, message) => {
	const result = await deleteMany(where(condition));
	expect(result.error?.message).toContain(message);
	expect(await harness.writes()).toEqual([]);
	expect(await harness.records()).toHaveLength(5);
});

describe('a value that an expression or an agent leaves empty never means all', () => {
	const EMPTY_VALUES = ['={{ $json.missing }}', '={{ null }}', '', '={{ "" }}', '={{ [] }}', '={{ {} }}'];
	const expectRejected = async (parameters: IDataObject, options: IDataObject = {}) => {
		const result = await deleteMany({ allowAll: true, ...parameters }, { options });
		expect(result.json()).toEqual([]);
		// At most the table's definition is read, for the choices of its fields.
		const requests = await harness.requests();
		expect(requests.filter(({ path }) => path.includes('/data'))).toEqual([]);
		expect(await harness.records()).toHaveLength(5);
		return result.error;
	};

	const OPERATORS = ['contains', 'notcontains', 'startswith', 'endswith', 'eq', 'gt', 'gte', 'lt', 'lte', 'notin'];

	test.each([
		...OPERATORS.map((operator) => [operator, '', operator] as const),
		['exactly', '', '==='] as const,
		...EMPTY_VALUES.map((value) => ['neq', value, 'neq'] as const),
		['neq', '={{ $json.first }} {{ $json.last }}', 'neq'] as const,
	])('a condition with the operator %s and the value %j is rejected', async (operator, value, name) => {
		const error = await expectRejected(where(open, { field: 'buyer', operator, value }));
		expect(error?.message).toContain(`on 'buyer' (${name})`);
		expect(error?.message).toMatch(/empty|neither text/);
		expect(error?.description).toMatch(/returned nothing for this item|Correct|Give/);
	});

	test.each(['={{ ["1", $json.missing] }}', '={{ ["1", ""] }}'])('the list %s is rejected, because one value is empty', async (list) => {
		const error = await expectRejected(where({ field: 'number', operator: 'in', value: list }));
		expect(error?.message).toContain("Condition 1 of the filter on 'number' (in)");
	});

	test('an empty list of values to find means no record', async () => {
		const result = await deleteMany(where({ field: 'number', operator: 'in', value: '={{ [] }}' }));
		expect(result.json()).toEqual([{ deleted: false, matched: 0, deletedCount: 0, remaining: 0, records: [] }]);
		expect(await harness.records()).toHaveLength(5);
	});

	test.each([
		[{ ...open, field: '={{ $json.missing }}' }, 'Condition 2 of the filter names no field'],
		[{ ...open, field: ' ' }, 'Condition 2 of the filter names no field'],
		[{ ...open, operator: '={{ $json.missing }}' }, "Condition 2 of the filter on 'state' has no op"],
		[{ ...open, operator: '' }, "Condition 2 of the filter on 'state' has no operator"],
	])('a condition without a field or an operator, such as %j, is rejected', async (condition, message) => {
		expect((await expectRejected(where(open, condition)))?.message).toContain(message);
	});

	test('a group without a condition, or with one whose value is empty, is rejected', async () => {
		const groups = (...group: IDataObject[]) => ({ ...where(open), matchType: 'or', groups: { group } });
		const empty = await expectRejected(groups({ matchType: 'and', conditions: {} }));
		expect(empty?.message).toBe('Group 1 of the filter has no condition');
		const inner = { condition: [{ ...open, operator: 'startswith', value: '' }] };
		const value = await expectRejected(groups({ matchType: 'and', conditions: inner }));
		expect(value?.message).toContain('Condition 1 of group 1 of the filter');
	});

	test.each([
		['={{ $json.missing }}', "'Filter Tree' is empty"],
		['', "'Filter Tree' is empty"],
		['[{"field":"state","operator":"neq","value":""}]', "on 'state' (neq) has an empty value"],
		['[{"field":"state","operator":"eq","value":"open"},{"filter":[]}]', "group at 'filter[1]'"],
		['{"filterOperator":"or","filter":[{"filter":[{"filter":[]}]}]}', 'has no condition'],
	])('the filter tree %j is rejected', async (filterTree, message) => {
		expect((await expectRejected({ filterMode: 'json', filterTree }))?.message).toContain(message);
	});

	test.each([
		[{ filterMode: '={{ $json.missing }}' }, "'Filter' must be one of"],
		[{ ...where(open), matchType: '={{ $json.missing }}' }, "'Match' must be one of"],
		[{ application: located('={{ $json.missing }}') }, "'Application' is"],
		[{ application: located('={{ {} }}') }, "'Application' must be text"],
		[{ table: located('={{ $json.missing }}') }, "'Table' is empty"],
		[{ filterMode: 'none', allowAll: '={{ $json.missing }}' }, "'Delete All Records' must be true or false"],
		[{ maxRecordsToDelete: '={{ $json.missing }}' }, "'Max Records to Delete' must be a whole number at least 1"],
	])('the parameters %j are rejected', async (parameters, message) => {
		expect((await expectRejected({ ...where(open), ...parameters }))?.message).toContain(message);
	});

	test.each(['={{ $json.missing }}', '={{ "" }}', '={{ "false" }}', '={{ null }}'])('the dry run %j is rejected', async (dryRun) => {
		const error = await expectRejected(where(open), { dryRun });
		expect(error?.message).toContain("'Dry Run' must be true or false, ");
	});
});

describe('with another writer', () => {
	const other = useOtherWriter(harness);
	const run = async (parameters: IDataObject) => {
		const result = await deleteMany(parameters, { credential: other.credential() });
		expect(result.error).toBeUndefined();
		return result.json();
	};
	const openOrExpensive = { ...where(open, expensive), matchType: 'or' };
	const done = (matched: number, deletedCount: number, remaining: number) => [{ deleted: true, matched, deletedCount, remaining }];

	test('if another record matches after the count, no more records are deleted than were counted', async () => {
		other.before((target) => (target === 'DELETE /data/bulk' ? harness.insert({ number: '6', buyer: 'x', state: 'open' }) : undefined));
		const [result] = await run(where(open));
		expect(result).toMatchObject({ matched: 3, remaining: 1 });
		expect(await harness.records()).toHaveLength(3);
	});

	test.each([
		['AND', where(open), done(2, 2, 0), ['2', '4', '5']],
		['OR', openOrExpensive, done(4, 3, 0), ['2', '4']],
	])('conditions joined by %s: a record that stops matching while the node runs is not deleted', async (_, filter, outcome, left) => {
		const id = await harness.idOf('2');
		other.before((_target, count) => (count === 3 ? harness.change(id, { state: 'sent' }) : undefined));
		expect(await run(filter)).toMatchObject(outcome);
		expect(await harness.values('number')).toEqual(left);
	});
});
