/**
 * Every operator and every awkward value finds the right records, from the builder and as a tree.
 */
import type { IDataObject } from 'n8n-workflow';
import { loadOptions, picked } from '../support/engine/engine.cts';
import { APP, useHarness, where } from './fixtures.cts';

const harness = useHarness();

/** Values that a careless filter would split, quote wrongly or lose. */
const AWKWARD = [...["O'Brien", 'a,b', 'a, b', '\\', 'a\\', '\\,', '(x)', 'eq(1)', '100%', '"quoted"', '😀 smile', 'ü & ö = ?#/'], 'a)b(c'];

const found = async (parameters: IDataObject, options: IDataObject = {}) => {
	const sort = { by: [{ field: 'number', direction: 'asc' }] };
	const result = await harness.run('getAll', { parameters: { returnAll: true, sort, ...parameters }, options });
	expect(result.error).toBeUndefined();
	return result.json().map(({ number }) => number);
};

describe('awkward values', () => {
	beforeEach(async () => {
		const records = AWKWARD.map((buyer, index) => ({ number: String(100 + index), buyer }));
		await harness.fill('orders', ...records);
	});

	test.each(AWKWARD.map((value, index) => [value, String(100 + index)]))('%j matches only itself', async (value, number) => {
		expect(await found(where({ field: 'buyer', operator: 'exactly', value }))).toEqual([number]);
		expect(await found(where({ field: 'buyer', operator: 'in', value: [value] }))).toEqual([number]);
		const filterTree = { filter: [{ field: 'buyer', operator: '===', value }] };
		expect(await found({ filterMode: 'json', filterTree: JSON.stringify(filterTree) })).toEqual([number]);
	});

	test('are found together, as a list', async () => {
		expect(await found(where({ field: 'buyer', operator: 'in', value: AWKWARD }))).toHaveLength(13);
		expect(await found(where({ field: 'buyer', operator: 'notin', value: AWKWARD.slice(1) }))).toEqual(['100']);
	});
});

describe('operators', () => {
	beforeEach(async () => {
		await harness.fill(
			'orders',
			{ number: '1', buyer: 'Fox', price: 1.5, state: 'open', tags: ['red', 'blue'] },
			{ number: '2', buyer: 'Foxglove', price: 10, state: 'sent', tags: ['blue'] },
			{ number: '3', buyer: 'Hare', comment: 'slow', tags: [] },
			{ number: '4', buyer: 'Hare', price: 20, state: 'open' },
		);
	});

	test.each([
		['buyer', 'eq', 'Fox', ['1']],
		['buyer', 'exactly', 'Fox', ['1']],
		['buyer', 'neq', 'Hare', ['1', '2']],
		['buyer', 'contains', 'glo', ['2']],
		['buyer', 'notcontains', 'ox', ['3', '4']],
		['buyer', 'startswith', 'Fox', ['1', '2']],
		['buyer', 'endswith', 'are', ['3', '4']],
		['buyer', 'in', 'Fox, Hare', ['1', '3', '4']],
		['buyer', 'notin', 'Fox, Hare', ['2']],
		['buyer', 'duplicity', undefined, ['3', '4']],
		['price', 'gt', '1.5', ['2', '4']],
		['price', 'gte', 1.5, ['1', '2', '4']],
		['price', 'lt', '10', ['1']],
		['price', 'lte', '10', ['1', '2']],
		['price', 'empty', undefined, ['3']],
		['price', 'notempty', undefined, ['1', '2', '4']],
		['state', 'eq', 'open', ['1', '4']],
		['comment', 'notempty', undefined, ['3']],
		['tags', 'contains', 'blue', ['1', '2']],
	])('the condition %s %s %j matches exactly its records', async (field, operator, value, expected) => {
		expect(await found(where({ field, operator, value }))).toEqual(expected);
	});

	const expensive = { field: 'price', operator: 'gte', value: '10' };

	test('can be combined with a saved view, and with fields to load', async () => {
		const savedView = await harness.savedView();
		expect(await found(where(expensive), { savedView })).toEqual(['4']);
		const options = { savedView, fieldsToLoad: ['number', 'price'] };
		const result = await harness.run('getAll', { parameters: { ...where(expensive), simple: false }, options });
		expect(result.json().map(({ fields }) => fields)).toEqual([{ number: '4', price: 20 }]);
	});

	test('joined by OR are rejected with a saved view', async () => {
		const parameters = { ...where(expensive, { field: 'buyer', operator: 'eq', value: 'Fox' }), matchType: 'or' };
		const { error } = await harness.run('getAll', { parameters, options: { savedView: await harness.savedView() } });
		expect(error?.message).toContain("can't be combined with a saved view");
	});

	test('work with Count and Summarize', async () => {
		const counted = await harness.run('count', { parameters: where({ field: 'buyer', operator: 'eq', value: 'Hare' }) });
		expect(counted.json()).toEqual([{ count: 2 }]);
		const summarize = async (aggregations: string[]) => {
			const filter = where({ field: 'price', operator: 'notempty' });
			return await harness.run('summarize', { parameters: { ...filter, summaries: { summary: [{ field: 'price', aggregations }] } } });
		};
		const price = { sum: 31.5, min: 1.5, max: 20, avg: 10.5 };
		expect((await summarize(['sum', 'min', 'max', 'avg'])).json()).toEqual([{ count: 3, fields: { price } }]);
		expect((await summarize([])).error?.message).toBe("No aggregation is chosen for 'price'");
	});
});

describe('what the editor offers', () => {
	const at = { application: picked(APP), table: picked('orders') };
	const path = 'parameters.conditions.condition[0].operator';
	const offered = async (method: string, field: string) => {
		const conditions = { condition: [{ field }] };
		const options = await loadOptions(harness.credential, method, { ...at, conditions }, path);
		return options.map(({ value }) => value);
	};

	test('operators that fit the type of the field', async () => {
		expect(await offered('getOperators', 'price')).toEqual(expect.arrayContaining(['gt', 'lte', 'eq', 'empty']));
		expect(await offered('getOperators', 'price')).not.toContain('contains');
		const text = await offered('getOperators', 'buyer');
		expect(text.slice(0, 3)).toEqual(['eq', 'neq', 'contains']);
		expect(text).not.toContain('gt');
		expect(text).not.toContain('currentuser');
		expect(await offered('getOperators', 'related.buyer')).toContain('currentuser');
		expect(await offered('getOperators', 'buyer')).not.toContain('is');
	});

	test('the choices of a dropdown, and none of another field', async () => {
		const operators = await offered('getOperators', 'state');
		expect(operators.slice(0, 4)).toEqual(['is', 'isNot', 'isOneOf', 'isNoneOf']);
		expect(await offered('getChoices', 'state')).toEqual(['open', 'sent']);
		expect(await offered('getChoices', 'buyer')).toEqual([]);
	});

	test('aggregations that fit it', async () => {
		expect(await offered('getAggregations', 'price')).toEqual(['avg', 'max', 'min', 'sum']);
		const fields = await loadOptions(harness.credential, 'getSummaryFields', at);
		expect(fields.map(({ value }) => value)).toEqual(['', 'price']);
	});
});

test('records that were created or changed today, by the condition of the recipe', async () => {
	await harness.fill('orders', { number: '1', buyer: 'Fox' });
	expect(await found(where({ field: 'modified', operator: 'gte', value: '={{ $today }}' }))).toEqual(['1']);
	expect(await found(where({ field: 'created', operator: 'lt', value: '={{ $today }}' }))).toEqual([]);
});
