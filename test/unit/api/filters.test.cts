import { asAndConditions, asPlainQuery, toQuery, fitsQuery, isUnfitForQuery } from '../../../nodes/DataPlatform/api/filterQuery.ts';
import {
	and,
	isEmptyFilter,
	oneOf,
	oneOfCombinations,
	OPERATORS,
	OPERATORS_WITHOUT_VALUE,
	or,
	requireRestrictive,
	toBody,
	type Group,
} from '../../../nodes/DataPlatform/api/filters.ts';
import { parseCondition, parseTree } from '../../../nodes/DataPlatform/api/filterTree.ts';

const WITHOUT_VALUE: readonly string[] = OPERATORS_WITHOUT_VALUE;

const condition = (field: string, operator: string, value?: string | string[]) => ({ field, operator, value });

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

	test.each(['Dog, Fox', 'a\\b', 'x\\', ','])('%j in a list is a condition of its own', (odd) => {
		const { filter } = toBody(
			and(
				condition('a', 'eq', odd),
				condition('a', 'in', [odd, 'Owl', 'Hare']),
				condition('a', 'notin', [odd, 'Owl']),
				condition('a', 'in', [odd]),
			),
		);
		expect(filter).toEqual([
			{ field: 'a', operator: 'eq', value: odd },
			{
				filterOperator: 'or',
				filter: [
					{ field: 'a', operator: 'in', value: 'Owl,Hare' },
					{ field: 'a', operator: '===', value: odd },
				],
			},
			{
				filterOperator: 'and',
				filter: [
					{ field: 'a', operator: 'notin', value: 'Owl' },
					{ field: 'a', operator: 'neq', value: odd },
				],
			},
			{ field: 'a', operator: '===', value: odd },
		]);
	});

	test('any number of values with commas is sent: the platform says whether they are too many', () => {
		const odd = Array.from({ length: 500 }, (_, index) => `${index},`);
		const filter = and(condition('a', 'in', [...odd, ...odd, 'b']));
		expect(toBody(filter).filter[0]).toMatchObject({ filter: { length: 501 } });
	});

	test('an empty list matches no record', () => {
		const { filter } = toBody(and(condition('a', 'in', [])));
		expect(filter).toEqual([
			{
				filterOperator: 'and',
				filter: [
					{ field: 'a', operator: 'empty' },
					{ field: 'a', operator: 'notempty' },
				],
			},
		]);
	});

	test.each(['empty', 'notempty', 'duplicity', 'currentuser'])('%s carries no value', (operator) => {
		expect(toBody(and(condition('a', operator, 'x'))).filter).toEqual([{ field: 'a', operator }]);
	});

	test('a missing value counts as empty', () => {
		expect(toBody(and(condition('a', 'eq'))).filter).toEqual([{ field: 'a', operator: 'eq', value: '' }]);
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
		).toBe("age(gte)10,surname(in)(Fox,Dog\\\\, jr.),note(empty),driver.firstname(===)O'Brien\\\\, (x)");
		expect(toQuery([])).toBe('');
		expect(toQuery([condition('a', 'eq'), condition('b', 'empty', 'x')])).toBe('a(eq),b(empty)');
		for (const field of ['age(gte)0,name', 'age(', 'age)', 'a,b']) {
			expect(() => toQuery([{ field, operator: 'eq', value: 'x' }])).toThrow(
				expect.objectContaining({ message: `No field is called '${field}'. Nothing was sent`, field }),
			);
		}
	});

	test('takes only what is joined by AND', () => {
		const [a, b] = [condition('a', 'eq', '1'), condition('b', 'eq', '2')];
		expect(asAndConditions(and(a, and(b)))).toEqual([a, b]);
		expect(asAndConditions(or(a))).toEqual([a]);
		expect(asAndConditions(and())).toEqual([]);
		expect(asAndConditions(or(a, b))).toBeUndefined();
		const inside = [condition('a', 'eq', 'x\\y'), condition('a', 'in', ['x\\y'])];
		expect(asAndConditions(and(...inside))).toEqual(inside);
		expect(inside.some(isUnfitForQuery)).toBe(false);
		expect(asAndConditions(and(a, and(or(a, b))))).toBeUndefined();
	});
});

describe.each(['x\\', 'x\\\\'])('a value that ends as an escaped comma begins: %s', (odd) => {
	test('never stands in a query', () => {
		expect(asPlainQuery(and(condition('a', 'eq', odd), condition('b', 'eq', '1')))).toBeUndefined();
		expect(asPlainQuery(and(condition('a', 'in', ['y', odd])))).toBeUndefined();
		expect(isUnfitForQuery(condition('a', 'eq', odd))).toBe(true);
		expect(isUnfitForQuery(condition('a', 'in', ['y', odd]))).toBe(true);
	});
});

test('a filter is empty when no group in it has a condition', () => {
	expect(isEmptyFilter(and())).toBe(true);
	expect(isEmptyFilter(and(or(), and(or())))).toBe(true);
	expect(isEmptyFilter(and(or(condition('a', 'empty'))))).toBe(false);
});

describe('a tree written by a user', () => {
	test('is read in both formats', () => {
		const list = [{ field: 'a', operator: 'eq', value: 5 }];
		expect(parseTree(list)).toEqual(and(condition('a', 'eq', '5')));
		expect(parseTree({ filter: list, filterOperator: 'or' })).toEqual(or(condition('a', 'eq', '5')));
		expect(parseTree({ filter: [{ filter: list }] })).toEqual(and(and(condition('a', 'eq', '5'))));
	});

	test('takes lists, texts of several values, numbers, dates and booleans', () => {
		expect(
			parseTree([
				{ field: 'a', operator: 'in', value: [1, 'b,c', true] },
				{ field: 'a', operator: 'notin', value: 'open, sent,Dog\\, jr.,x\\\\,y' },
				{ field: 'b', operator: 'eq', value: ['one'] },
				{ field: 'b', operator: 'gt', value: new Date(0) },
				{ field: 'c', operator: 'empty', value: 'dropped' },
				{ field: 'd', operator: 'in', value: [] },
				{ field: 'e', operator: 'contains', value: ' ' },
			]).filter,
		).toEqual([
			{ field: 'a', operator: 'in', value: ['1', 'b,c', 'true'] },
			{ field: 'a', operator: 'notin', value: ['open', 'sent', 'Dog, jr.', 'x,y'] },
			{ field: 'b', operator: 'eq', value: 'one' },
			{ field: 'b', operator: 'gt', value: '1970-01-01T00:00:00.000Z' },
			{ field: 'c', operator: 'empty' },
			{ field: 'd', operator: 'in', value: [] },
			{ field: 'e', operator: 'contains', value: ' ' },
		]);
	});

	test('white space is a value of its own, as it is in a list', () => {
		expect(parseTree([{ field: 'a', operator: 'in', value: ' ' }]).filter).toEqual([{ field: 'a', operator: 'in', value: [' '] }]);
	});

	test.each([[undefined], [null], [''], [[null]], [[undefined]]])('%j is an empty value', (value) => {
		expect(() => parseTree([{ field: 'a', operator: 'eq', value }])).toThrow(
			expect.objectContaining({ message: "The condition at 'filter[0]' on 'a' (eq) has an empty value", field: 'filter' }),
		);
	});

	test('takes a JSON list in a text as a list, and other brackets as they are', () => {
		const values = (value: string) => (parseTree([{ field: 'a', operator: 'notin', value }]).filter[0] as { value: string[] }).value;
		expect(values(' ["open", "a,b", 1]')).toEqual(['open', 'a,b', '1']);
		expect(values('[x],y')).toEqual(['[x]', 'y']);
		for (const value of ['[]', '[""]', '[null]', '["x", []]']) expect(() => values(value)).toThrow(/empty value|empty list|neither text/);
	});

	const gte = { field: 'n', operator: 'gte', value: '1' };
	test.each([
		['a condition beside the list', { filter: [gte], field: 'a' }, "'field' at 'filter'"],
		['a second list', { filter: [gte], filters: [gte] }, "'filters' at 'filter'"],
		['a list in a condition', [{ ...gte, filter: [gte] }], "'field' at 'filter[0]'"],
		['a condition in a condition', [{ ...gte, and: gte }], "'and' at 'filter[0]'"],
		['the same in a group', [{ filter: [{ ...gte, or: [] }] }], "'or' at 'filter[0][0]'"],
	])('unknown members are rejected: %s', (_, tree, member) => {
		expect(() => parseTree(tree)).toThrow(`The filter tree has an unknown member ${member}`);
	});

	test.each([null, '', 0, false, 'AND', ['or']])('joins by nothing else: %j', (filterOperator) => {
		for (const tree of [{ filter: [gte], filterOperator }, [{ filter: [gte], filterOperator }]]) {
			expect(() => parseTree(tree)).toThrow('The filter tree is not readable at');
		}
	});

	test('may have no condition, but a group in it must have one', () => {
		expect(parseTree([])).toEqual(and());
		expect(parseTree({ filter: [], filterOperator: undefined })).toEqual(and());
		expect(parseTree({ filter: [], filterOperator: 'or' })).toEqual(or());
		expect(() => parseTree([{ field: 'a', operator: 'empty' }, { filter: [] }])).toThrow("The group at 'filter[1]' has no condition");
	});

	describe.each(OPERATORS.filter((name) => !WITHOUT_VALUE.includes(name)))('%s', (operator) => {
		test.each([undefined, null, '', [''], [null], ['x', undefined], { a: 1 }, NaN, [[]]])('does not take %j', (value) => {
			expect(() => parseTree([{ field: 'a', operator, value }])).toThrow(
				/^The condition at 'filter\[0\]' on 'a' \(.*\) (has an empty value|has a value that)/,
			);
		});
	});

	test.each([
		['eq', ['x', 'y'], 'accepts one value, not 2'],
		['eq', [], 'has an empty value'],
		['notin', [], 'has an empty list, so every record would match'],
		['in', ' , ', 'has an empty value'],
		['notin', 'a,,b', 'has an empty value'],
		['in', 'a,', 'has an empty value'],
	])('%s %j: %s', (operator, value, message) => {
		expect(() => parseTree([{ field: 'a', operator, value }])).toThrow(message);
	});

	const broken: Array<[tree: unknown, message: string]> = [
		['text', "The filter tree is not readable at 'filter'"],
		[{}, "The filter tree is not readable at 'filter'"],
		[null, "The filter tree is not readable at 'filter'"],
		[{ filter: [], filterOperator: 'xor' }, "The filter tree is not readable at 'filter'"],
		[[{ filter: {} }], "The filter tree is not readable at 'filter[0]'"],
		[['a(eq)1'], "The filter tree is not readable at 'filter[0]'"],
		[[{ operator: 'eq' }], "The condition at 'filter[0]' names no field"],
		[[{ field: ' ', operator: 'eq' }], "The condition at 'filter[0]' names no field"],
		[[{ field: 'a' }], "The condition at 'filter[0]' on 'a' has no operator"],
		[[{ field: 'a', operator: '' }], "The condition at 'filter[0]' on 'a' has no operator"],
		[
			[{ field: 'a', operator: 'empty' }, { filter: [{ field: 'a', operator: 'like' }] }],
			"The condition at 'filter[1][0]' has an unknown operator, 'like'",
		],
	];

	test.each(broken)('%j is refused by its place', (tree, message) => {
		expect(() => parseTree(tree)).toThrow(message);
	});
});

describe('a query that no parser can misread', () => {
	test('holds plain values only', () => {
		const plain = and(condition('a', 'eq', "O'Brien & x"), and(condition('b', 'in', ['1', '2'])));
		expect(asPlainQuery(plain)).toBe("a(eq)O'Brien & x,b(in)(1,2)");
		expect(asPlainQuery(and(condition('a', 'in', [])))).toBe('a(empty),a(notempty)');
	});

	test.each(['a,b', 'a\\b', 'x)', '(x', ' x', 'x '])('%j is not one', (value) => {
		expect(asPlainQuery(and(condition('a', 'eq', value)))).toBeUndefined();
		expect(asPlainQuery(and(condition('a', 'in', ['y', value])))).toBeUndefined();
	});

	test('is short enough for an address', () => {
		const list = (count: number) =>
			and(
				condition(
					'a',
					'in',
					Array.from({ length: count }, (_, index) => `value ${index}`),
				),
			);
		expect(asPlainQuery(list(100))).toMatch(/^a\(in\)\(value 0,.*,value 99\)$/);
		expect(asPlainQuery(list(1500))).toBeUndefined();
		expect(asPlainQuery(and(condition('a', 'eq', '漢'.repeat(700))))).toBeUndefined();
	});
});

test('deletions reject conditions that restrict nothing', () => {
	for (const filter of [
		and(condition('a', 'contains', ' ')),
		and(condition('a', 'neq', '\n')),
		and(condition('a', 'eq')),
		and(condition('a', 'notin', [])),
		and(condition('a', 'notin', ['x', ' '])),
		or(condition('a', 'eq', 'x'), and(condition('b', 'startswith', ''))),
		or(condition('a', 'eq', 'x'), and()),
	]) {
		expect(() => requireRestrictive(filter)).toThrow('Nothing was sent');
	}
	for (const filter of [
		and(),
		and(condition('a', 'empty'), condition('b', 'in', [])),
		or(condition('a', 'eq', ' x '), and(condition('b', 'notin', ['y']))),
	]) {
		expect(() => requireRestrictive(filter)).not.toThrow();
	}
});

describe('one of many values', () => {
	const numbered = (count: number, more = '') => Array.from({ length: count }, (_, index) => `${index}${more}`);

	test('is one filter for as many as a request takes, each value once', () => {
		expect(oneOf('k', [])).toEqual([]);
		expect(oneOf('k', ['a', 'b', 'a'])).toEqual([and(condition('k', 'in', ['a', 'b']))]);
		expect(oneOf('k', numbered(1000))).toHaveLength(1);
	});

	test.each([
		[numbered(1001), 2],
		[numbered(2500), 3],
		[numbered(250, ',x'), 3],
		[[...numbered(1500), ...numbered(120, '\\')], 2],
	])('is several filters for more', (values, count) => {
		const filters = oneOf('k', values);
		expect(filters).toHaveLength(count);
		const conditionsIn = (filter: ReturnType<typeof toBody>): number =>
			filter.filter.reduce((sum, entry) => sum + ('filter' in entry ? conditionsIn(entry) : 1), 0);
		for (const filter of filters) expect(conditionsIn(toBody(filter))).toBeLessThanOrEqual(101);
		const all = filters.flatMap(({ filter }) => filter.flatMap((entry) => (entry as { value: string[] }).value));
		expect(all.sort()).toEqual([...values].sort());
	});
});

describe('one of many combinations of values', () => {
	/** Whether a filter matches a record, as the platform would. */
	const matches = ({ filter }: Group, record: Record<string, string>) =>
		filter.every((entry) => {
			const { field, value } = entry as { field: string; value: string[] };
			return value.includes(record[field]!);
		});
	const combinations = (count: number, cell: (index: number) => string[]) => Array.from({ length: count }, (_, index) => cell(index));

	test('is a list for each field', () => {
		expect(oneOfCombinations(['a', 'b'], [])).toEqual([]);
		expect(
			oneOfCombinations(
				['a', 'b'],
				[
					['1', 'x'],
					['1', 'y'],
				],
			),
		).toEqual([and(condition('a', 'in', ['1']), condition('b', 'in', ['x', 'y']))]);
	});

	test.each<[string, string[][], number]>([
		['as many as a page holds', combinations(1000, (at) => ['same', `${at}`]), 1],
		['one more', combinations(1001, (at) => ['same', `${at}`]), 2],
		['with a comma in 100 values', combinations(100, (at) => ['same', `${at},`]), 1],
		['with a comma in 101 values', combinations(101, (at) => ['same', `${at},`]), 2],
		['with the same comma in each', combinations(900, (at) => ['a,b', `${at}`]), 1],
		['with a comma in both', combinations(60, (at) => [`${at},`, `${at},`]), 2],
	])('%s: each is matched', (_, rows, count) => {
		const filters = oneOfCombinations(['a', 'b'], rows);
		expect(filters).toHaveLength(count);
		for (const [a, b] of rows) {
			expect(filters.filter((filter) => matches(filter, { a: a!, b: b! }))).not.toEqual([]);
		}
	});

	test.each(['first', 'second'])('rows that share a value of the %s field, of which there are few, are asked for together', (place) => {
		const rows = combinations(2000, (at) => {
			const pair = [`group ${at % 2}`, `${at}`];
			return place === 'first' ? pair : pair.reverse();
		});
		const filters = oneOfCombinations(['a', 'b'], rows);
		const groups = filters.map(({ filter }) => (filter[place === 'first' ? 0 : 1] as { value: string[] }).value);
		expect(groups).toEqual([['group 0'], ['group 1']]);
	});
});

describe('errors of a filter', () => {
	test.each<[string, unknown, string, unknown]>([
		['no operator', { field: 'a' }, "The condition on 'a' has no operator", /^Operators are: contains, /],
		['another operator', { field: 'a', operator: 'like' }, "The condition has an unknown operator, 'like'", /, currentuser\.$/],
		['no field', { field: '', operator: 'eq', value: 'x' }, 'The condition names no field', 'Choose a field, or remove the condition.'],
		[
			'an empty value',
			{ field: 'a', operator: 'eq', value: '' },
			"The condition on 'a' (eq) has an empty value",
			"If it is an expression, it returned nothing for this item. Give it a value; to find empty fields use the operator 'Is Empty' (empty).",
		],
		[
			'an object for a value',
			{ field: 'a', operator: 'eq', value: {} },
			"The condition on 'a' (eq) has a value that is neither text, number, date, true nor false",
			'Correct the expression in it.',
		],
		[
			'a date that is none',
			{ field: 'a', operator: 'eq', value: new Date(NaN) },
			"The condition on 'a' (eq) has a value that is neither text, number, date, true nor false",
			'Correct the expression in it.',
		],
		[
			'several values if one is taken',
			{ field: 'a', operator: 'eq', value: ['x', 'y'] },
			"The condition on 'a' (eq) accepts one value, not 2",
			"For several values use 'in'.",
		],
		[
			'none if one is taken',
			{ field: 'a', operator: 'eq', value: [] },
			"The condition on 'a' (eq) has an empty value",
			"If it is an expression, it returned nothing for this item. Give it a value; to find empty fields use the operator 'Is Empty' (empty).",
		],
		[
			'an empty list that excludes nothing',
			{ field: 'a', operator: 'notin', value: [] },
			"The condition on 'a' (notin) has an empty list, so every record would match",
			'Give the list a value, or remove the condition.',
		],
	])('%s', (_, entry, message, hint) => {
		expect(() => parseCondition(entry as Record<string, unknown>, 'The condition', 'filters')).toThrow(
			expect.objectContaining({
				name: 'InputError',
				message,
				field: 'filters',
				hint: hint instanceof RegExp ? expect.stringMatching(hint) : hint,
			}),
		);
	});

	test.each<[string, unknown, string, string]>([
		['a tree that is none', 5, "The filter tree is not readable at 'filter'", 'A group is {"filter":[…],"filterOperator":"and"} or "or".'],
		[
			'a condition that is none',
			['a(eq)1'],
			"The filter tree is not readable at 'filter[0]'",
			'A condition is {"field":"age","operator":"gte","value":"18"}.',
		],
		[
			'a group without conditions',
			[{ filter: [] }],
			"The group at 'filter[0]' has no condition",
			'Add a condition to it, or remove the group: every record would match it.',
		],
		[
			'a member that nobody knows',
			[{ field: 'a', operator: 'empty', not: true }],
			"The filter tree has an unknown member 'not' at 'filter[0]'",
			'A condition is {"field","operator","value"}, a group {"filter":[…],"filterOperator":"and"} or "or"; neither has other members.',
		],
	])('%s', (_, tree, message, hint) => {
		expect(() => parseTree(tree, 'filterJson')).toThrow(
			expect.objectContaining({ name: 'InputError', message, field: 'filterJson', hint }),
		);
	});

	test('groups nested to the limit, and one level deeper', () => {
		const nested = (depth: number) => {
			let tree: object = { field: 'a', operator: 'empty' };
			for (let at = 0; at < depth; at += 1) tree = { filter: [tree] };
			return tree;
		};
		expect(() => parseTree(nested(101))).not.toThrow();
		expect(() => parseTree(nested(102), 'filterJson')).toThrow(
			expect.objectContaining({
				message: 'Groups are nested more than 100 levels deep',
				field: 'filterJson',
				hint: 'Use fewer nested groups.',
			}),
		);
	});

	test.each<[string, Group, string | undefined]>([
		['an empty value', and(condition('a', 'eq', '')), 'a'],
		['no value', and(condition('a', 'neq')), 'a'],
		['no field', and(condition(' ', 'eq', 'x')), ' '],
		['an empty group', and(and()), undefined],
	])('deletions must restrict something: %s', (_, filter, field) => {
		expect(() => requireRestrictive(filter)).toThrow(
			expect.objectContaining({
				name: 'InputError',
				field,
				message: field
					? expect.stringMatching(/^The condition on '.*' \(.*\) has an empty value. Nothing was sent$/)
					: 'A group of the filter has no condition. Nothing was sent',
			}),
		);
	});
});

test('a query has as many characters as every proxy passes, percent-encoded', () => {
	expect(fitsQuery('x'.repeat(6000))).toBe(true);
	expect(fitsQuery('x'.repeat(6001))).toBe(false);
	expect(fitsQuery('é'.repeat(1000))).toBe(true);
	expect(fitsQuery('é'.repeat(1001))).toBe(false);
});
