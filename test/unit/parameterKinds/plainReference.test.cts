/**
 * What is left to n8n's own evaluation of plain references. n8n's expression engines, and its
 * versions, differ in what they make of it.
 */
import { NOT_PLAIN, readPlain } from '../../../nodes/DataPlatform/parameterKinds/plainReference.ts';

const listWith = (members: object) => Object.assign(['first', 'second'], members);

const inherited = (name: string) => JSON.parse(`{ "a": { "b": [{ "${name}": 1 }] } }`) as unknown;

test.each(['__proto__', 'constructor', 'toString', '__lookupGetter__'])(
	'a value with a member %s is left to n8n, wherever it is',
	(name) => {
		expect(readPlain(inherited(name), ['a'])).toBe(NOT_PLAIN);
		expect(readPlain(inherited(name), ['a', 'b'])).toBe(NOT_PLAIN);
	},
);

test('a value beside it is read', () => {
	const { a } = inherited('constructor') as { a: unknown };
	expect(readPlain({ a, c: { d: [1] } }, ['c'])).toStrictEqual({ d: [1] });
});

test.each([
	['Infinity', Infinity],
	['-0', -0],
	['an undefined member', { b: undefined }],
	['an undefined entry', [undefined]],
])('%s is left to n8n: one of its engines passes values on as JSON', (_, value) => {
	expect(readPlain({ a: [value] }, ['a'])).toBe(NOT_PLAIN);
	expect(readPlain({}, ['a'])).toBeUndefined();
});

test('a list with named members, or without an entry at each index, is left to n8n', () => {
	const named = listWith({ groups: 'x' });
	const sparse = ['first'];
	sparse[2] = 'third';
	for (const list of [named, sparse]) {
		expect(readPlain({ list }, ['list'])).toBe(NOT_PLAIN);
		expect(readPlain({ list }, ['list', '0'])).toBe(NOT_PLAIN);
	}
	expect(readPlain({ list: named }, ['list', 'groups'])).toBe(NOT_PLAIN);
	expect(readPlain({ list: listWith({}) }, ['list', '1'])).toBe('second');
	expect(readPlain({ list: listWith({}) }, ['list', 'length'])).toBe(2);
});
