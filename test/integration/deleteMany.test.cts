import type { IDataObject } from 'n8n-workflow';
import { numbered, useHarness } from './fixtures.cts';

const harness = useHarness();

const where = (...condition: IDataObject[]) => ({
	filterMode: 'conditions',
	conditions: { condition },
});
const open = { field: 'state', operator: 'eq', value: 'open' };
const dear = { field: 'price', operator: 'gte', value: '3' };

const deleteMany = (parameters: IDataObject, options: IDataObject = {}) =>
	harness.run('deleteMany', { parameters: { maximum: 100, ...parameters }, options });

/** Three open orders and two sent ones, of which one is dear. */
const fill = () =>
	harness.fill(
		'orders',
		...numbered(3, { state: 'open', price: 1 }),
		{ number: '4', buyer: 'x', state: 'sent', price: 1 },
		{ number: '5', buyer: 'Dog, jr.', state: 'sent', price: 3 },
	);

beforeEach(async () => {
	await fill();
});

test('counts first, then deletes what matches and nothing else', async () => {
	const result = await deleteMany(where(open));
	expect(result.json()).toEqual([{ deleted: true, matched: 3, deletedCount: 3, remaining: 0 }]);
	expect(await harness.values('number')).toEqual(['4', '5']);
	const methods = (await harness.requests()).map(
		({ method, path }) => `${method} ${path.split('/data')[1]}`,
	);
	expect(methods).toEqual(['POST /count/filter', 'DELETE /bulk', 'POST /count/filter']);
});

test('more matches than the maximum: nothing is deleted', async () => {
	const result = await deleteMany({ ...where(open), maximum: 2 });
	expect(result.error?.message).toBe(
		'Nothing was deleted: 3 records match, more than the maximum of 2',
	);
	expect(await harness.writes()).toEqual([]);
	expect(await harness.records()).toHaveLength(5);
	const enough = await deleteMany({ ...where(open), maximum: 3 });
	expect(enough.json()).toMatchObject([{ deletedCount: 3 }]);
});

test.each([0, -1, '', 'all', null])('the maximum %j is refused', async (maximum) => {
	const result = await deleteMany({ ...where(open), maximum });
	expect(result.error?.message).toContain("'Maximum' must be a number at least 1");
	expect(await harness.requests()).toEqual([]);
});

test('no filter needs its own switch', async () => {
	for (const none of [
		{},
		where(),
		{ filterMode: 'json', filterTree: '{"filter":[{"filter":[]}]}' },
	]) {
		const result = await deleteMany(none);
		expect(result.error?.message).toBe('Nothing was deleted: there is no filter');
		expect(result.error?.description).toContain("'Delete All Records'");
	}
	expect(await harness.requests()).toEqual([]);
	const all = await deleteMany({ allowAll: true });
	expect(all.json()).toMatchObject([{ matched: 5, deletedCount: 5, remaining: 0 }]);
	expect(await harness.records()).toEqual([]);
});

test('conditions joined by OR are deleted record by record', async () => {
	const result = await deleteMany({ ...where(open, dear), matchType: 'or' });
	expect(result.json()).toMatchObject([{ matched: 4, deletedCount: 4, remaining: 0 }]);
	expect(await harness.values('number')).toEqual(['4']);
});

test('conditions joined by AND are one request', async () => {
	const result = await deleteMany(where({ ...open, value: 'sent' }, dear));
	expect(result.json()).toMatchObject([{ matched: 1, deletedCount: 1 }]);
	expect(await harness.values('number')).toEqual(['1', '2', '3', '4']);
});

test.each([
	['Dog, jr.', ['5']],
	['x)', []],
	['x,number(eq)1', []],
])('a value such as %j means itself', async (value, numbers) => {
	const before = await harness.values('number');
	const result = await deleteMany(where({ field: 'buyer', operator: 'eq', value }));
	expect(result.json()).toMatchObject([{ deletedCount: numbers.length }]);
	expect(await harness.values('number')).toEqual(
		before.filter((n) => !numbers.includes(n as never)),
	);
});

test('a value in a list that looks like another condition deletes nothing else', async () => {
	const value = ['x),number(eq)1', 'Dog, jr.'];
	const result = await deleteMany(
		where({ field: 'buyer', operator: 'in', value: `={{ ${JSON.stringify(value)} }}` }),
	);
	expect(result.json()).toMatchObject([{ matched: 1, deletedCount: 1, remaining: 0 }]);
	expect(await harness.values('number')).toEqual(['1', '2', '3', '4']);
});

test.each(['x\\', 'x\\\\'])('%s before a comma deletes only its own record', async (odd) => {
	await harness.fill(
		'orders',
		...[odd, 'x,y', 'y', 'z'].map((buyer, index) => ({ number: String(index), buyer })),
	);
	const value = `={{ ${JSON.stringify([odd, 'y'])} }}`;
	const result = await deleteMany(where({ field: 'buyer', operator: 'in', value }));
	expect(result.json()).toMatchObject([{ matched: 2, deletedCount: 2, remaining: 0 }]);
	expect(await harness.values('buyer')).toEqual(['x,y', 'z']);
});

test('a dry run counts and deletes nothing', async () => {
	const result = await deleteMany(where(open), { dryRun: true });
	expect(result.json()).toEqual([{ deleted: false, matched: 3, deletedCount: 0, remaining: 3 }]);
	expect(await harness.records()).toHaveLength(5);
	const tooMany = await deleteMany({ ...where(open), maximum: 2 }, { dryRun: true });
	expect(tooMany.error?.message).toContain('more than the maximum of 2');
});

test('nothing matches: nothing is sent', async () => {
	const result = await deleteMany(where({ ...open, value: 'nothing' }));
	expect(result.json()).toMatchObject([{ matched: 0, deletedCount: 0 }]);
	expect((await harness.requests()).map(({ method }) => method)).toEqual(['POST']);
});

describe('an answer that gets lost', () => {
	const onDelete = { method: 'DELETE' };

	test('after the deletion: counting again finds it done', async () => {
		await harness.faults({ match: onDelete, fault: { kind: 'resetAfter' } });
		const result = await deleteMany(where(open));
		expect(result.json()).toMatchObject([{ matched: 3, deletedCount: 3, remaining: 0 }]);
		expect(await harness.values('number')).toEqual(['4', '5']);
	});

	test('before the deletion: it is not sent again, and the error says what is left', async () => {
		await harness.faults({ match: onDelete, fault: { kind: 'resetBefore' } });
		const result = await deleteMany(where(open));
		expect(result.error?.message).toContain('3 records of 3 still match');
		expect(result.error?.description).toContain('Run it again');
		expect(await harness.records()).toHaveLength(5);
		const deletes = (await harness.requests()).filter(({ method }) => method === 'DELETE');
		expect(deletes).toHaveLength(1);
	});

	test('and the count fails too: the outcome is unknown', async () => {
		await harness.faults(
			{ match: onDelete, fault: { kind: 'resetAfter' } },
			{
				match: { path: '/count/filter$' },
				when: { nth: [2] },
				fault: { kind: 'status', status: 403 },
			},
		);
		const result = await deleteMany(where(open));
		expect(result.error?.message).toContain(
			'how many of 3 records were deleted could not be found',
		);
	});

	test('record by record, each is sent again', async () => {
		await harness.faults({ match: onDelete, when: { first: 2 }, fault: { kind: 'resetAfter' } });
		const result = await deleteMany({ ...where(open, dear), matchType: 'or' });
		expect(result.json()).toMatchObject([{ matched: 4, deletedCount: 4 }]);
		expect(await harness.values('number')).toEqual(['4']);
	});

	test('a refusal on the way says how many are gone', async () => {
		await harness.faults({
			match: onDelete,
			when: { nth: [3] },
			fault: { kind: 'status', status: 403 },
		});
		const result = await deleteMany({ ...where(open, dear), matchType: 'or' });
		const left = await harness.records();
		expect(result.error?.message).toContain(`${5 - left.length} of 4 records were deleted`);
	});
});

test.each([
	[{ ...open, field: 'price(gte)0,state' }, "has no field 'price(gte)0,state'"],
	[{ ...open, field: 'state)' }, "has no field 'state)'"],
	[{ ...open, operator: 'neq)x,price(gt' }, "unknown operator, 'neq)x,price(gt'"],
	[{ ...open, operator: 'constructor' }, "unknown operator, 'constructor'"],
])('a condition that is more than one is refused: %j', async (condition, message) => {
	const result = await deleteMany(where(condition));
	expect(result.error?.message).toContain(message);
	expect(await harness.writes()).toEqual([]);
	expect(await harness.records()).toHaveLength(5);
});

test.each([
	'open,price(gte)0',
	'open) or (state(eq)sent',
	"' OR '1'='1",
	'open\u0000',
	'%',
	'*',
	'open"}],"filterOperator":"or"',
])('the value %j is a value', async (value) => {
	const result = await deleteMany(where({ ...open, value }));
	expect(result.json()).toEqual([{ deleted: true, matched: 0, deletedCount: 0, remaining: 0 }]);
	expect(await harness.records()).toHaveLength(5);
});
