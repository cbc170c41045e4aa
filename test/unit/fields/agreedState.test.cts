/** What a record remembers of the last sync, and what it has for the other system. */
import {
	asSent,
	isSameMark,
	markOf,
	missingThere,
	readState,
	stateText,
	type AgreedState,
} from '../../../nodes/DataPlatform/fields/agreedState.ts';
import type { FieldValues, JsonValue } from '../../../nodes/DataPlatform/api/types.ts';
import { fieldOf, storedOf } from '../fixtures.cts';

const ID = '44d70c2e-7a1b-4c55-9d3e-2f8b6a1c0e97';

test.each<[JsonValue, JsonValue]>([
	[
		{ a: 1, b: 2 },
		{ b: 2, a: 1 },
	],
	[
		['x', 'y'],
		['y', 'x', 'y'],
	],
])('%j and %j are one value', (one, other) => {
	expect(isSameMark(markOf(one), markOf(other))).toBe(true);
});

test.each<[JsonValue, JsonValue]>([
	[{ a: 1 }, { a: 2 }],
	[
		[1, 2],
		[2, 1],
	],
	[
		['1', '2'],
		[1, 2],
	],
	['x'.repeat(41), 'y'.repeat(41)],
])('%j and %j are two', (one, other) => {
	expect(isSameMark(markOf(one), markOf(other))).toBe(false);
});

test('a text of 40 characters can be read in the state, a longer one and a value with parts cannot', () => {
	expect(markOf('x'.repeat(40))).toBe('x'.repeat(40));
	expect(markOf('x'.repeat(41))).toEqual([expect.any(String), 43]);
	expect(markOf({ id: ID })).toEqual([expect.any(String), JSON.stringify({ id: ID }).length]);
	expect([1, true, null].map(markOf)).toEqual([1, true, null]);
});

test.each<[type: string, value: JsonValue | undefined, sent: JsonValue]>([
	['checkbox', true, true],
	['checkbox', undefined, false],
	['checkbox', null, false],
	['text', '', null],
	['text', undefined, null],
	['number', '1.0', 1],
	['number', 'many', 'many'],
	['date', '2026-11-21', '2026-11-21T00:00:00Z'],
	['schema_link', ID.toUpperCase(), { id: ID }],
	['schema_link', {}, null],
	['chips', [], null],
])('%s %j is compared as %j', (type, value, sent) => {
	expect(asSent(fieldOf('f', type), value)).toEqual(sent);
});

describe('a state that was read', () => {
	const state: AgreedState = { at: 'now', on: ['mail'], fields: {} };
	const read = (text: JsonValue | undefined) => readState(text, (on) => on.join());

	test('is that of the record with this key', () => {
		expect(read(stateText('mail', state))).toMatchObject(state);
		expect(read(stateText('other', state))).toBe('foreign');
	});

	test.each<[JsonValue | undefined, string]>([
		[undefined, 'none'],
		['', 'none'],
		['a note', 'other'],
		[5, 'other'],
		['{"v":', 'unreadable'],
		['{"v":1}', 'unreadable'],
		['{"v":2,"on":[],"fields":{}}', 'unreadable'],
		['{"v":1,"fields":{}}', 'unreadable'],
		['{"v":1,"on":"mail","fields":{}}', 'unreadable'],
		['{"v":1,"on":[1],"fields":{}}', 'unreadable'],
		['{"v":1,"on":[],"fields":[]}', 'unreadable'],
	])('%j: %s', (text, expected) => {
		expect(read(text)).toBe(expected);
	});
});

describe('what a record has for the other system', () => {
	const FIELDS = [fieldOf('mail'), fieldOf('age', 'number'), fieldOf('vip', 'checkbox')];
	const missing = (text: string, fields: FieldValues = {}) =>
		missingThere(storedOf({ id: 'r1', ver: 3, fields: { mail: 'a@example.com', age: 5, ...fields, state: text } }), 'state', FIELDS);
	const agreed = (more: Partial<AgreedState> = {}): AgreedState => ({
		at: 'now',
		on: ['mail'],
		fields: { age: { here: 5, item: '5' } },
		...more,
	});
	const text = (more: Partial<AgreedState> = {}) => stateText('a@example.com', agreed(more));

	test('is nothing while both agree, all of it if they never did', () => {
		expect(missing(text())).toBeUndefined();
		expect(missing('')).toEqual({ isNew: true });
		expect(missing(stateText('copied', agreed()))).toEqual({ isNew: true });
		expect(missing('a note')).toEqual({ isStateLost: true });
	});

	test('is what differs, and did not go back yet', () => {
		expect(missing(text(), { age: 6 })).toEqual({ sendBack: { age: 6 } });
		expect(missing(text({ fields: { age: { here: 5, item: '5', sent: [7, 6] } } }), { age: 6 })).toBeUndefined();
		expect(missing(text({ fields: { age: { here: 5, item: '5', sent: [6, 7] } } }), { age: 6 })).toEqual({ sendBack: { age: 6 } });
		expect(missing(text({ fields: { vip: { here: true, item: true } } }))).toEqual({ sendBack: { vip: null } });
	});

	test('is nothing that the last run wrote, in whatever form it is stored', () => {
		expect(missing(text({ ver: 3, wrote: ['age'] }), { age: 6 })).toBeUndefined();
		for (const more of [{ ver: 2, wrote: ['age'] }, { ver: 3, wrote: ['mail'] }, { ver: 3 }, { wrote: ['age'] }]) {
			expect(missing(text(more), { age: 6 })).toEqual({ sendBack: { age: 6 } });
		}
	});

	test('is told by its ID if it is found by that, and unknown if a field that finds it is gone', () => {
		expect(missing(stateText('r1', agreed({ on: [] })))).toBeUndefined();
		expect(missing(text({ on: ['mail', 'gone'] }))).toEqual({ isNew: true });
		expect(missing(text(), { mail: null })).toEqual({ isNew: true });
	});
});
