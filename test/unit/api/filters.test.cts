/** Filters: as the body or the query of a request, read from a user's tree, and split if values are many. */
import {
	and,
	isEmptyFilter,
	oneOfCombinations,
	OPERATORS,
	OPERATORS_WITHOUT_VALUE,
	or,
	toBody,
	toQuery,
	type Group,
} from '../../../nodes/DataPlatform/api/filters.ts';
import { parseCondition, parseTree } from '../../../nodes/DataPlatform/api/filterTree.ts';

const WITHOUT_VALUE: readonly string[] = OPERATORS_WITHOUT_VALUE;

const condition = (field: string, operator: string, value?: string | string[]) => ({ field, operator, value });
const parse = (tree: unknown) => parseTree(tree, 'filter');
/** A group as it is sent, and as users write it. */
const group = (filterOperator: 'and' | 'or', ...filter: object[]) => ({ filterOperator, filter });
const numbered = (count: number, more = '') => Array.from({ length: count }, (_, index) => `${index}${more}`);

describe('the body of a filter', () => {
	test('keeps the groups of the filter', () => {
		const tree = and(condition('a', 'gte', '1'), or(condition('b', 'eq', 'x'), and()));
		const inner = group('or', condition('b', 'eq', 'x'), group('and'));
		expect(toBody(tree)).toEqual(group('and', condition('a', 'gte', '1'), inner));
	});

	test.each(['Dog, Fox', 'a\\b', 'x\\', ',', ' a', 'a\n'])('has a condition of its own for the value %j of a list', (odd) => {
		const isOdd = condition('a', '===', odd);
		const rows: Array<[ReturnType<typeof condition>, object]> = [
			[condition('a', 'eq', odd), condition('a', 'eq', odd)],
			[condition('a', 'in', [odd, 'Owl', 'Hare']), group('or', condition('a', 'in', 'Owl,Hare'), isOdd)],
			[condition('a', 'notin', [odd, 'Owl']), group('and', condition('a', 'notin', 'Owl'), condition('a', 'neq', odd))],
			[condition('a', 'in', [odd]), isOdd],
		];
		expect(toBody(and(...rows.map(([given]) => given))).filter).toEqual(rows.map(([, expected]) => expected));
	});

	test('has any number of different values with commas: the platform says whether they are too many', () => {
		const odd = numbered(500, ',');
		const filter = and(condition('a', 'in', [...odd, ...odd, 'b']));
		expect(toBody(filter)).toMatchObject({ filter: [{ filter: { length: 501 } }] });
	});

	test('has conditions that no record matches in place of an empty list', () => {
		const { filter } = toBody(and(condition('a', 'in', [])));
		expect(filter).toEqual([group('and', condition('a', 'empty'), condition('a', 'notempty'))]);
	});

	test.each(['empty', 'notempty', 'duplicity', 'currentuser'])('has no value for the operator %s', (operator) => {
		expect(toBody(and(condition('a', operator, 'x'))).filter).toEqual([{ field: 'a', operator }]);
	});

	test('has an empty value in place of a missing one', () => {
		expect(toBody(and(condition('a', 'eq'))).filter).toEqual([{ field: 'a', operator: 'eq', value: '' }]);
	});
});

describe('the query of a filter', () => {
	const [a, b] = [condition('a', 'eq', '1'), condition('b', 'eq', '2')];
	test.each<[Group, query: string]>([
		[and(), ''],
		[and(condition('age', 'gte', '10')), 'age(gte)10'],
		[and(condition('surname', 'in', ['Fox', 'Dog'])), 'surname(in)(Fox,Dog)'],
		[and(condition('driver.firstname', '===', "O'Brien & x")), "driver.firstname(===)O'Brien & x"],
		[and(condition('a', 'eq')), 'a(eq)'],
		[and(condition('b', 'empty', 'x')), 'b(empty)'],
		[and(condition('a', 'in', [])), 'a(empty),a(notempty)'],
		[and(a, and(b)), 'a(eq)1,b(eq)2'],
		[or(a), 'a(eq)1'],
	])('has %j as %s', (filter, query) => {
		expect(toQuery(filter)).toBe(query);
	});

	test.each(['age(gte)0,name', 'age(', 'age)', 'a,b'])('is refused for the field %s, whose name would be read as a condition', (field) => {
		expect(() => toQuery(and(condition(field, 'eq', 'x')))).toThrow(
			expect.objectContaining({ message: `No field is called '${field}'. Nothing was sent`, field }),
		);
	});

	test.each([or(a, b), and(a, and(or(a, b)))])('is possible only if all conditions are joined by AND', (filter) => {
		expect(toQuery(filter)).toMatchObject({ problem: "it joins by 'any'" });
	});

	test.each(['a,b', 'a\\b', 'x\\', 'x)', '(x', ' x', 'x '])('can’t have the value %j, which a parser may misread', (value) => {
		const problem = { field: 'a', problem: expect.stringContaining('has a value with a comma') };
		expect(toQuery(and(b, condition('a', 'eq', value)))).toMatchObject(problem);
		expect(toQuery(and(condition('a', 'in', ['y', value])))).toMatchObject(problem);
	});

	test.each([
		['x', 5995],
		['é', 999],
	])('of the character %s may have %d of them, percent-encoded, which every proxy passes, and not one more', (character, most) => {
		const longest = character.repeat(most);
		expect(toQuery(and(condition('a', 'eq', longest)))).toBe(`a(eq)${longest}`);
		expect(toQuery(and(condition('a', 'eq', longest + character)))).toMatchObject({ problem: 'it is too long' });
	});
});

test('a filter is empty when no group in it has a condition', () => {
	expect(isEmptyFilter(and())).toBe(true);
	expect(isEmptyFilter(and(or(), and(or())))).toBe(true);
	expect(isEmptyFilter(and(or(condition('a', 'empty'))))).toBe(false);
});

describe('a tree written by a user', () => {
	test('may be a list of conditions, or groups of them', () => {
		const list = [{ field: 'a', operator: 'eq', value: 5 }];
		expect(parse(list)).toEqual(and(condition('a', 'eq', '5')));
		expect(parse({ filter: list, filterOperator: 'or' })).toEqual(or(condition('a', 'eq', '5')));
		expect(parse({ filter: [{ filter: list }] })).toEqual(and(and(condition('a', 'eq', '5'))));
	});

	test.each<[operator: string, value: unknown, read: string | string[] | undefined]>([
		['in', [1, 'b,c', true], ['1', 'b,c', 'true']],
		['in', ' a', ['a']],
		['notin', 'a ,\nb,  c ', ['a', 'b', 'c']],
		['in', [' a'], [' a']],
		['in', '[" a","b"]', [' a', 'b']],
		['notin', 'open, sent,Dog\\, jr.,x\\\\,y', ['open', 'sent', 'Dog, jr.', 'x,y']],
		['eq', ['one'], 'one'],
		['gt', new Date(0), '1970-01-01T00:00:00.000Z'],
		['empty', 'dropped', undefined],
		['in', [], []],
		['notin', ' ["open", "a,b", 1]', ['open', 'a,b', '1']],
		['notin', '[x],y', ['[x]', 'y']],
	])('for the operator %s reads the value %j as %j', (operator, value, read) => {
		expect(parse([{ field: 'a', operator, value }]).filter).toEqual([condition('a', operator, read)]);
	});

	test.each([[undefined], [null], [''], [' \n'], [[null]], [[undefined]]])('is rejected with %j, which is an empty value', (value) => {
		expect(() => parse([{ field: 'a', operator: 'eq', value }])).toThrow(
			expect.objectContaining({ message: "The condition at 'filter[0]' on 'a' (eq) has an empty value", field: 'filter' }),
		);
	});

	test.each(['[]', '[""]', '[" "]', '[null]', '["x", []]'])('is rejected with the JSON list %s in a text', (value) => {
		expect(() => parse([{ field: 'a', operator: 'notin', value }])).toThrow(/empty value|empty list|neither text/);
	});

	const gte = { field: 'n', operator: 'gte', value: '1' };
	test.each([
		['a condition beside the list', { filter: [gte], field: 'a' }, "'field' at 'filter'"],
		['a second list', { filter: [gte], filters: [gte] }, "'filters' at 'filter'"],
		['a list in a condition', [{ ...gte, filter: [gte] }], "'field' at 'filter[0]'"],
		['a condition in a condition', [{ ...gte, and: gte }], "'and' at 'filter[0]'"],
		['a condition in a condition of a group', [{ filter: [{ ...gte, or: [] }] }], "'or' at 'filter[0][0]'"],
	])('is rejected with %s, which is an unknown member', (_, tree, member) => {
		expect(() => parse(tree)).toThrow(`The filter tree has an unknown member ${member}`);
	});

	test.each([null, '', 0, false, 'AND', ['or']])('is rejected with %j for "and" or "or"', (filterOperator) => {
		for (const tree of [{ filter: [gte], filterOperator }, [{ filter: [gte], filterOperator }]]) {
			expect(() => parse(tree)).toThrow('The filter tree is not readable at');
		}
	});

	test('may have no condition, but a group in it must have one', () => {
		expect(parse([])).toEqual(and());
		expect(parse({ filter: [], filterOperator: undefined })).toEqual(and());
		expect(parse({ filter: [], filterOperator: 'or' })).toEqual(or());
		expect(() => parse([condition('a', 'empty'), { filter: [] }])).toThrow("The group at 'filter[1]' has no condition");
	});

	describe.each(OPERATORS.filter((name) => !WITHOUT_VALUE.includes(name)))('for the operator %s', (operator) => {
		test.each([undefined, null, '', ' ', [''], [null], ['x', undefined], { a: 1 }, NaN, [[]]])('is rejected with the value %j', (value) => {
			expect(() => parse([{ field: 'a', operator, value }])).toThrow(
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
	])('for the operator %s is rejected with the value %j: it %s', (operator, value, message) => {
		expect(() => parse([{ field: 'a', operator, value }])).toThrow(message);
	});

	const unreadable = (place: string) => `The filter tree is not readable at '${place}'`;
	test.each<[tree: unknown, message: string]>([
		['text', unreadable('filter')],
		[{}, unreadable('filter')],
		[null, unreadable('filter')],
		[{ filter: [], filterOperator: 'xor' }, unreadable('filter')],
		[[{ filter: {} }], unreadable('filter[0]')],
		[['a(eq)1'], unreadable('filter[0]')],
		[[{ operator: 'eq' }], "The condition at 'filter[0]' names no field"],
		[[{ field: ' ', operator: 'eq' }], "The condition at 'filter[0]' names no field"],
		[[{ field: 'a' }], "The condition at 'filter[0]' on 'a' has no operator"],
		[[{ field: 'a', operator: '' }], "The condition at 'filter[0]' on 'a' has no operator"],
		[[condition('a', 'empty'), { filter: [condition('a', 'like')] }], "The condition at 'filter[1][0]' has an unknown operator, 'like'"],
	])('is rejected, with its place, if it is %j: %s', (tree, message) => {
		expect(() => parse(tree)).toThrow(message);
	});
});

describe('a filter for one of many values', () => {
	const oneOf = (field: string, values: string[]) =>
		oneOfCombinations(
			[field],
			values.map((value) => [value]),
		);
	interface Body {
		filter: Array<Body | { field: string }>;
	}

	test('is one filter for as many values as a request may have, with each value once', () => {
		expect(oneOf('k', [])).toEqual([]);
		expect(oneOf('k', ['a', 'b', 'a'])).toEqual([and(condition('k', 'in', ['a', 'b']))]);
		expect(oneOf('k', numbered(1000))).toHaveLength(1);
	});

	test.each([
		['1001 values', 2, numbered(1001)],
		['2500 values', 3, numbered(2500)],
		['250 values with commas', 3, numbered(250, ',x')],
		['1500 values and 120 with backslashes', 2, [...numbered(1500), ...numbered(120, '\\')]],
	])('for %s is %d filters, none with more than 101 conditions', (_, count, values) => {
		const filters = oneOf('k', values);
		expect(filters).toHaveLength(count);
		const conditionsIn = ({ filter }: Body): number =>
			filter.reduce((sum, entry) => sum + ('filter' in entry ? conditionsIn(entry) : 1), 0);
		for (const filter of filters) expect(conditionsIn(toBody(filter) as unknown as Body)).toBeLessThanOrEqual(101);
		const all = filters.flatMap(({ filter }) => filter.flatMap((entry) => (entry as { value: string[] }).value));
		expect(all.sort()).toEqual([...values].sort());
	});
});

describe('a filter for one of many combinations of values', () => {
	/** Whether a filter matches a record, as the platform would. */
	const matches = ({ filter }: Group, record: Record<string, string>) =>
		filter.every((entry) => {
			const { field, value } = entry as { field: string; value: string[] };
			return value.includes(record[field]!);
		});
	const combinations = (count: number, cell: (index: number) => string[]) => Array.from({ length: count }, (_, index) => cell(index));

	test('has a list of values for each field', () => {
		expect(oneOfCombinations(['a', 'b'], [])).toEqual([]);
		const rows = ['x', 'y'].map((value) => ['1', value]);
		expect(oneOfCombinations(['a', 'b'], rows)).toEqual([and(condition('a', 'in', ['1']), condition('b', 'in', ['x', 'y']))]);
	});

	test.each<[what: string, filters: number, rows: string[][]]>([
		['1000 combinations', 1, combinations(1000, (at) => ['same', `${at}`])],
		['1001 combinations', 2, combinations(1001, (at) => ['same', `${at}`])],
		['100 combinations with a comma in one value', 1, combinations(100, (at) => ['same', `${at},`])],
		['101 combinations with a comma in one value', 2, combinations(101, (at) => ['same', `${at},`])],
		['900 combinations that share a value with a comma', 1, combinations(900, (at) => ['a,b', `${at}`])],
		['60 combinations with a comma in both values', 2, combinations(60, (at) => [`${at},`, `${at},`])],
	])('for %s is %d filters that match each of them', (_, count, rows) => {
		const filters = oneOfCombinations(['a', 'b'], rows);
		expect(filters).toHaveLength(count);
		for (const [a, b] of rows) {
			expect(filters.filter((filter) => matches(filter, { a: a!, b: b! }))).not.toEqual([]);
		}
	});

	test.each([0, 1])('for combinations with only two values of field %d is one filter for each of these', (shared) => {
		const rows = combinations(2000, (at) => (shared === 0 ? [`group ${at % 2}`, `${at}`] : [`${at}`, `group ${at % 2}`]));
		const filters = oneOfCombinations(['a', 'b'], rows);
		expect(filters.map(({ filter }) => (filter[shared] as { value: string[] }).value)).toEqual([['group 0'], ['group 1']]);
	});
});

describe('the error of a filter', () => {
	const EMPTY =
		"If it is an expression, it returned nothing for this item. Give it a value; to find empty fields use the operator 'Is Empty' (empty).";
	const CORRECT = 'Correct the expression in it.';
	const USE_IN = "For several values use 'in'.";
	const operators = expect.stringMatching(/^Operators are: contains, .*, currentuser\.$/) as string;
	const noValue = "The condition on 'a' (eq) has a value that is neither text, number, date, true nor false";
	const all = "The condition on 'a' (notin) has an empty list, so every record would match";
	test.each<[what: string, entry: Record<string, unknown>, message: string, hint: string]>([
		['no operator', { field: 'a' }, "The condition on 'a' has no operator", operators],
		['an unknown operator', condition('a', 'like'), "The condition has an unknown operator, 'like'", operators],
		['no field', condition('', 'eq', 'x'), 'The condition names no field', 'Choose a field, or remove the condition.'],
		['an empty value', condition('a', 'eq', ''), "The condition on 'a' (eq) has an empty value", EMPTY],
		['an object for a value', { field: 'a', operator: 'eq', value: {} }, noValue, CORRECT],
		['an invalid date', { field: 'a', operator: 'eq', value: new Date(NaN) }, noValue, CORRECT],
		['two values for one', condition('a', 'eq', ['x', 'y']), "The condition on 'a' (eq) accepts one value, not 2", USE_IN],
		['an empty list for one value', condition('a', 'eq', []), "The condition on 'a' (eq) has an empty value", EMPTY],
		['an empty list that excludes nothing', condition('a', 'notin', []), all, 'Give the list a value, or remove the condition.'],
	])('says what to do about a condition with %s', (_, entry, message, hint) => {
		expect(() => parseCondition(entry, 'The condition', 'filters')).toThrow(
			expect.objectContaining({ name: 'InputError', message, field: 'filters', hint }),
		);
	});

	const example = 'A condition is {"field":"age","operator":"gte","value":"18"}.';
	const members =
		'A condition is {"field","operator","value"}, a group {"filter":[…],"filterOperator":"and"} or "or"; neither has other members.';
	const noCondition = 'Add a condition to it, or remove the group: every record would match it.';
	const unknown = "The filter tree has an unknown member 'not' at 'filter[0]'";
	test.each<[what: string, tree: unknown, message: string, hint: string]>([
		['a number', 5, "The filter tree is not readable at 'filter'", 'A group is {"filter":[…],"filterOperator":"and"} or "or".'],
		['a text', ['a(eq)1'], "The filter tree is not readable at 'filter[0]'", example],
		['a group without conditions', [{ filter: [] }], "The group at 'filter[0]' has no condition", noCondition],
		['an unknown member', [{ field: 'a', operator: 'empty', not: true }], unknown, members],
	])('says what to do about a tree with %s', (_, tree, message, hint) => {
		expect(() => parseTree(tree, 'filterJson')).toThrow(
			expect.objectContaining({ name: 'InputError', message, field: 'filterJson', hint }),
		);
	});
});
