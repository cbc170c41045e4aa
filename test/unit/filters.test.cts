import {
	asAndConditions,
	isEmptyFilter,
	parseTree,
	toBody,
	toQuery,
	type Filter,
	type Group,
} from '../../nodes/DataPlatform/api/filters.ts';

const and = (...filter: Filter[]): Group => ({ filter, filterOperator: 'and' });
const or = (...filter: Filter[]): Group => ({ filter, filterOperator: 'or' });
const condition = (field: string, operator: string, value?: string | string[]) => ({
	field,
	operator,
	value,
});

describe('as a body', () => {
	test('keeps the tree', () => {
		const tree = and(condition('a', 'gte', '1'), or(condition('b', 'eq', 'x'), and()));
		expect(toBody(tree)).toEqual({
			filterOperator: 'and',
			filter: [
				{ field: 'a', operator: 'gte', value: '1' },
				{
					filterOperator: 'or',
					filter: [
						{ field: 'b', operator: 'eq', value: 'x' },
						{ filterOperator: 'and', filter: [] },
					],
				},
			],
		});
	});

	test('escapes commas in lists, but not those between values', () => {
		const { filter } = toBody(
			and(condition('a', 'eq', 'Dog, Fox'), condition('a', 'in', ['Dog, Fox', 'Owl'])),
		);
		expect(filter).toEqual([
			{ field: 'a', operator: 'eq', value: 'Dog, Fox' },
			{ field: 'a', operator: 'in', value: 'Dog\\\\, Fox,Owl' },
		]);
	});

	test.each(['empty', 'notempty', 'duplicity', 'currentuser'])(
		'%s carries no value',
		(operator) => {
			expect(toBody(and(condition('a', operator, 'x'))).filter).toEqual([{ field: 'a', operator }]);
		},
	);

	test('a missing value is an empty one', () => {
		expect(toBody(and(condition('a', 'eq'))).filter).toEqual([
			{ field: 'a', operator: 'eq', value: '' },
		]);
	});
});

describe('as a query', () => {
	test('joins conditions by commas', () => {
		expect(
			toQuery([
				condition('age', 'gte', '10'),
				condition('surname', 'in', ['Fox', 'Dog, jr.']),
				condition('note', 'empty'),
				condition('driver.firstname', '===', "O'Brien, (x)"),
			]),
		).toBe(
			"age(gte)10,surname(in)(Fox,Dog\\\\, jr.),note(empty),driver.firstname(===)O'Brien\\\\, (x)",
		);
		expect(toQuery([])).toBe('');
		for (const field of ['age(gte)0,name', 'age)', 'a,b']) {
			expect(() => toQuery([{ field, operator: 'eq', value: 'x' }])).toThrow(
				`No field is called '${field}'`,
			);
		}
	});

	test('takes only what is joined by AND', () => {
		const [a, b] = [condition('a', 'eq', '1'), condition('b', 'eq', '2')];
		expect(asAndConditions(and(a, and(b)))).toEqual([a, b]);
		expect(asAndConditions(or(a))).toEqual([a]);
		expect(asAndConditions(and())).toEqual([]);
		expect(asAndConditions(or(a, b))).toBeUndefined();
		expect(asAndConditions(and(a, and(or(a, b))))).toBeUndefined();
	});
});

describe.each(['x\\', 'x\\\\'])('a value that ends as an escaped comma begins: %s', (odd) => {
	test('never stands in a list, where it would swallow the next value', () => {
		expect(toBody(and(condition('a', 'in', [odd, 'y', 'z']))).filter).toEqual([
			{
				filterOperator: 'or',
				filter: [
					{ field: 'a', operator: 'in', value: 'y,z' },
					{ field: 'a', operator: 'eq', value: odd },
				],
			},
		]);
		expect(toBody(and(condition('a', 'notin', [odd, `${odd}\\\\`]))).filter).toEqual([
			{
				filterOperator: 'and',
				filter: [
					{ field: 'a', operator: 'neq', value: odd },
					{ field: 'a', operator: 'neq', value: `${odd}\\\\` },
				],
			},
		]);
		expect(toBody(and(condition('a', 'in', [odd]))).filter).toEqual([
			{ field: 'a', operator: 'in', value: odd },
		]);
	});

	test('never stands in a query', () => {
		expect(
			asAndConditions(and(condition('a', 'eq', odd), condition('b', 'eq', '1'))),
		).toBeUndefined();
		expect(asAndConditions(and(condition('a', 'in', ['y', odd])))).toBeUndefined();
	});
});

test('a filter is empty when no group in it has a condition', () => {
	expect(isEmptyFilter(and())).toBe(true);
	expect(isEmptyFilter(and(or(), and(or())))).toBe(true);
	expect(isEmptyFilter(and(or(condition('a', 'empty'))))).toBe(false);
});

describe('a tree that a user wrote', () => {
	test('is read in both forms', () => {
		const list = [{ field: 'a', operator: 'eq', value: 5 }];
		expect(parseTree(list)).toEqual(and(condition('a', 'eq', '5')));
		expect(parseTree({ filter: list, filterOperator: 'or' })).toEqual(
			or(condition('a', 'eq', '5')),
		);
		expect(parseTree({ filter: [{ filter: list }] })).toEqual(and(and(condition('a', 'eq', '5'))));
	});

	test('takes lists, numbers and nothing as values', () => {
		expect(
			parseTree([
				{ field: 'a', operator: 'in', value: [1, 'b', null] },
				{ field: 'b', operator: 'eq' },
				{ field: 'c', operator: 'empty', value: 'dropped' },
			]).filter,
		).toEqual([
			{ field: 'a', operator: 'in', value: ['1', 'b', ''] },
			{ field: 'b', operator: 'eq', value: '' },
			{ field: 'c', operator: 'empty' },
		]);
	});

	const broken: Array<[tree: unknown, message: string]> = [
		['text', "The filter tree is not readable at 'filter'"],
		[{}, "The filter tree is not readable at 'filter'"],
		[null, "The filter tree is not readable at 'filter'"],
		[{ filter: [], filterOperator: 'xor' }, "The filter tree is not readable at 'filter'"],
		[[{ filter: {} }], "The filter tree is not readable at 'filter[0]'"],
		[['a(eq)1'], "The filter tree is not readable at 'filter[0]'"],
		[[{ operator: 'eq' }], "The condition at 'filter[0]' names no field"],
		[[{ field: 'a' }], "The condition at 'filter[0]' has no known operator"],
		[
			[{ field: 'a', operator: 'empty' }, { filter: [{ field: 'a', operator: 'like' }] }],
			"The condition at 'filter[1][0]' has no known operator",
		],
	];

	test.each(broken)('%j is refused by its place', (tree, message) => {
		expect(() => parseTree(tree)).toThrow(message);
	});
});
