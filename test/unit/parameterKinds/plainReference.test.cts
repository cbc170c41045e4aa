/**
 * What is left to n8n's own evaluation of plain references. n8n's expression engines, and its
 * versions, differ in what they make of it.
 */
import { isPlain, NOT_PLAIN, plainPath, readPlain } from '../../../nodes/DataPlatform/parameterKinds/plainReference.ts';

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

test.each([
	['of null', { a: null }, ['a', 'b']],
	['of a text', { a: 'text' }, ['a', '0']],
	['of a date', { a: new Date(0) }, ['a', 'b']],
	['that every object inherits', {}, ['__proto__']],
	['that every object inherits, further inside', { a: {} }, ['a', 'toString', 'name']],
])('a member %s is left to n8n', (_, json, path) => {
	expect(readPlain(json, path)).toBe(NOT_PLAIN);
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

test.each<[string, string[] | undefined]>([
	['={{ $json.name }}', ['name']],
	['={{$json.a.b_1[0]["c d"][\'e\']}}', ['a', 'b_1', '0', 'c d', 'e']],
	['={{ $json }}', undefined],
	['={{ $json.name }} ', undefined],
	['{{ $json.name }}', undefined],
	['={{ $json.name.trim() }}', undefined],
	['={{ $json[01] }}', undefined],
	['={{ $json.a.constructor }}', undefined],
	['={{ $json["__proto__"] }}', undefined],
])('the path of %s', (text, path) => {
	expect(plainPath(text)).toEqual(path);
});

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);

test.each<[string, unknown, boolean]>([
	['null', null, true],
	['nothing', undefined, true],
	['false', false, true],
	['a big integer', 1n, false],
	['a function', () => 1, false],
	['a date', new Date(0), false],
	['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), true],
	['a time of Luxon', { isLuxonDateTime: true }, false],
	['a list with one bad entry', [1, Infinity], false],
	['an object with one bad member', { a: 1, b: Infinity }, false],
	['what is nested 51 deep', nested(51), true],
	['what is nested deeper', nested(52), false],
])('%s is plain: %s', (_, value, expected) => {
	expect(isPlain(value)).toBe(expected);
});
