import type { IExecuteFunctions } from 'n8n-workflow';
import { parametersOfItems } from '../../../nodes/DataPlatform/parameterKinds/itemParameters.ts';

const ITEMS = [{ name: 'Ann', tags: ['a'] }, { name: 'Ben', tags: [] }, { name: 'Cleo' }].map((json) => ({ json }));

/** What n8n does: its own answer for a whole parameter, and the values of expressions. */
function nodeWith(parameters: Record<string, unknown>, evaluate: (text: string, index: number) => unknown) {
	const evaluateExpression = jest.fn(evaluate);
	const getNodeParameter = jest.fn((name: string, index: number, preset: unknown, { rawExpressions = false } = {}) =>
		rawExpressions ? (parameters[name] ?? preset) : `n8n's ${name} of ${index}`,
	);
	const context = { getInputData: () => ITEMS, getNodeParameter, evaluateExpression };
	const parameter = parametersOfItems(context as unknown as IExecuteFunctions);
	const valuesOf = (name: string) => [0, 1, 2].map((index) => parameter(name, index, undefined));
	return { parameter, valuesOf, evaluateExpression, getNodeParameter };
}

const N8N = ["n8n's value of 0", "n8n's value of 1", "n8n's value of 2"];
const NAMES = ['Ann', 'Ben', 'Cleo'];
const nameOf = (_: string, index: number) => NAMES[index];

const fails = () => {
	throw new Error('no');
};

test.each<[string, unknown, (text: string, index: number) => unknown, unknown[], number]>([
	['a stored value', 'plain', fails, ['plain', 'plain', 'plain'], 0],
	['stored members', { a: { b: null } }, fails, Array(3).fill({ a: { b: null } }), 0],
	['a reference', '={{ $json.name }}', nameOf, NAMES, 1],
	['a reference to which n8n gives another value', '={{ $json.name }}', () => 'other', Array(3).fill('other'), 3],
	['a reference to which n8n once gave another value', '={{ $json.name }}', (_, index) => ['x', 'Ben', 'y'][index], ['x', 'Ben', 'y'], 3],
	['the first value is a date', '={{ $json.name }}', (_, index) => (index === 0 ? new Date(0) : NAMES[index]), [N8N[0], 'Ben', 'Cleo'], 2],
	['a reference that fails in n8n', '={{ $json.name }}', fails, N8N, 3],
	['a member that is missing in an item', '={{ $json.tags[0] }}', (_, index) => ['a', undefined, 'x'][index], ['a', undefined, 'x'], 2],
	['another expression', '={{ $json.name + 1 }}', nameOf, N8N, 0],
	['a list', ['={{ $json.name }}', 2], nameOf, N8N, 0],
	['a list in an object', { a: [1] }, fails, N8N, 0],
	['another expression in an object', { a: '={{ $json.name + 1 }}' }, nameOf, NAMES.map((a) => ({ a })), 3],
	['one that fails in an object', { a: '={{ $json.name + 1 }}' }, fails, N8N, 3],
	['one that reads its neighbor', { a: '={{ $parameter.value.b }}' }, nameOf, N8N, 0],
	['a member with a name that objects inherit', JSON.parse('{"__proto__":1}'), fails, N8N, 0],
	['nothing stored', null, fails, N8N, 0],
])('n8n evaluates an expression no oftener than it must: %s', (_, value, evaluate, expected, count) => {
	const { valuesOf, evaluateExpression } = nodeWith({ value }, evaluate);
	expect(valuesOf('value')).toEqual(expected);
	expect(evaluateExpression).toHaveBeenCalledTimes(count);
});

test('n8n gets the expression without its mark, and the item', () => {
	const { valuesOf, evaluateExpression } = nodeWith({ value: { a: '={{ $json.name + 1 }}' } }, nameOf);
	valuesOf('value');
	expect(evaluateExpression.mock.calls).toEqual([0, 1, 2].map((index) => ['{{ $json.name + 1 }}', index]));
});

test('a reference is confirmed once for all parameters that have it', () => {
	const { valuesOf, evaluateExpression } = nodeWith({ one: '={{ $json.name }}', two: '={{ $json.name }}' }, nameOf);
	expect([valuesOf('one'), valuesOf('two')]).toEqual([NAMES, NAMES]);
	expect(evaluateExpression).toHaveBeenCalledTimes(1);
});

test('what is stored in a parameter is read once for all items', () => {
	const { valuesOf, getNodeParameter } = nodeWith({ value: 'plain' }, fails);
	expect(valuesOf('value')).toEqual(['plain', 'plain', 'plain']);
	expect(getNodeParameter).toHaveBeenCalledTimes(1);
});

test('an item that is not there is left to n8n', () => {
	const { parameter } = nodeWith({ value: '={{ $json.name }}' }, () => 'n8n');
	expect(parameter('value', 7, undefined)).toBe('n8n');
});
