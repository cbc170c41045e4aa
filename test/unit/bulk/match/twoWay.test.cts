/** The rule of two-way sync: what each side changed since both agreed decides. */
import type { FieldDefinition, FieldValues, PlatformRecord } from '../../../../nodes/DataPlatform/api/types.ts';
import { mergeRecord } from '../../../../nodes/DataPlatform/bulk/match/twoWay.ts';
import { missingThere, readState, type AgreedState } from '../../../../nodes/DataPlatform/fields/agreedState.ts';
import type { TwoWayRule } from '../../../../nodes/DataPlatform/bulk/terms.ts';

const FIELDS = ['text', 'number', 'checkbox', 'date', 'datetime', 'schema_link', 'long_text', 'chips'].map(
	(type): FieldDefinition => ({ name: type, header: type, type, metadata: type === 'schema_link' ? { multiple: false } : {} }),
);

const KEY = 'ann@example.com';
const NOW = '2026-11-27T10:00:00.000Z';

/** A record, and what is known of it. */
interface Sides {
	here: FieldValues | null;
	item: FieldValues;
	ver?: number;
	known?: AgreedState;
	rule?: TwoWayRule;
}

const recordOf = (fields: FieldValues, ver: number): PlatformRecord => ({ id: 'r1', created: NOW, modified: NOW, ver, fields });

const stateOf = (text: string | undefined) => {
	const state = readState(text, () => KEY);
	return typeof state === 'object' ? state : undefined;
};

function merged({ here, item, ver = 5, known, rule = 'report' }: Sides) {
	const record = { here: here && recordOf(here, ver), key: KEY, on: ['mail'], known };
	const named = FIELDS.filter(({ name }) => Object.hasOwn(item, name));
	return mergeRecord(named, item, record, { bothChanged: rule, firstTime: rule }, NOW);
}

/** What both sides agree on once a run has written it and nobody has edited since. */
function agreedOn(first: FieldValues, ...later: FieldValues[]): AgreedState {
	let known = stateOf(merged({ here: null, item: first }).state);
	let here = first;
	for (const item of later) {
		known = stateOf(merged({ here, item, known, ver: 40 }).state) ?? known;
		here = { ...here, ...item };
	}
	// A version that the record does not have, so that values are compared.
	return { ...known!, ver: 77 };
}

const a = { text: 'a' };
const b = { text: 'b' };
const c = { text: 'c' };
const nothing = { write: {}, sendBack: {}, conflicts: [] };
const conflict = (here: unknown, item: unknown, agreed?: unknown, field = 'text') => [
	{ field, here, item, ...(agreed === undefined ? {} : { agreed, since: NOW }) },
];

test.each<[string, Sides, object, isStateNew: boolean]>([
	['nothing changed', { here: a, item: a, known: agreedOn(a) }, nothing, false],
	['the item changed', { here: a, item: b, known: agreedOn(a) }, { ...nothing, write: b }, true],
	['the record changed', { here: b, item: a, known: agreedOn(a) }, { ...nothing, sendBack: b }, true],
	['both changed to the same', { here: b, item: b, known: agreedOn(a) }, nothing, true],
	['both changed', { here: b, item: c, known: agreedOn(a) }, { ...nothing, conflicts: conflict('b', 'c', 'a') }, false],
	['both, take', { here: b, item: c, known: agreedOn(a), rule: 'takeItem' }, { ...nothing, write: c }, true],
	['both, keep', { here: b, item: c, known: agreedOn(a), rule: 'keep' }, { ...nothing, sendBack: b }, true],
	['the item was cleared', { here: a, item: { text: null }, known: agreedOn(a) }, { ...nothing, write: { text: null } }, true],
	['the record was cleared', { here: {}, item: a, known: agreedOn(a) }, { ...nothing, sendBack: { text: null } }, true],
	['an old list', { here: b, item: a, known: agreedOn(a, b) }, { ...nothing, conflicts: conflict('b', 'a', 'b') }, true],
	[
		'an old list, take',
		{ here: b, item: a, known: agreedOn(a, b), rule: 'takeItem' },
		{ ...nothing, conflicts: conflict('b', 'a', 'b') },
		true,
	],
	['no record', { here: null, item: a }, { ...nothing, write: a }, true],
	['first time, equal', { here: a, item: a }, nothing, true],
	['first time, empty here', { here: {}, item: a }, { ...nothing, write: a }, true],
	['first time, empty there', { here: a, item: { text: null } }, { ...nothing, sendBack: a }, true],
	['first time, different', { here: a, item: b }, { ...nothing, conflicts: conflict('a', 'b') }, false],
	['first time, take', { here: a, item: b, rule: 'takeItem' }, { ...nothing, write: b }, true],
	['first time, keep', { here: a, item: b, rule: 'keep' }, { ...nothing, sendBack: a }, true],
	[
		'first time, a checkbox that is off is no empty field',
		{ here: { checkbox: true }, item: { checkbox: false } },
		{ ...nothing, conflicts: conflict(true, false, undefined, 'checkbox') },
		false,
	],
	['a checkbox that is off and one without a value are the same', { here: {}, item: { checkbox: false } }, nothing, true],
])('%s', (_name, sides, expected, isStateNew) => {
	const { state, ...result } = merged(sides);
	expect(result).toEqual(expected);
	expect(state !== undefined).toBe(isStateNew);
});

const long = 'x'.repeat(100);

test.each<[string, stored: FieldValues, item: FieldValues]>([
	['a date', { date: '2026-11-22' }, { date: '2026-11-22T00:00:00Z' }],
	['a time with milliseconds', { datetime: '2026-11-22T10:00:00.000Z' }, { datetime: '2026-11-22T10:00:00Z' }],
	['a link', { schema_link: { id: 'r2', url: '/x' } }, { schema_link: { id: 'r2' } }],
	['a long text', { long_text: long }, { long_text: long }],
	['a number', { number: 1.5 }, { number: 1.5 }],
])('%s is the same in both forms, before and after', (_name, here, item) => {
	const first = merged({ here, item });
	expect(first).toMatchObject(nothing);
	const known = { ...stateOf(first.state)!, ver: 77 };
	expect(merged({ here, item, known })).toEqual(nothing);
});

test('what the platform stores in another form is no change, as long as nobody else wrote the record', () => {
	const written = merged({ here: { number: 1 }, item: { number: 1.2345 }, known: agreedOn({ number: 1 }), ver: 5 });
	const known = stateOf(written.state);
	const stored = { number: 1.23 };
	const next = merged({ here: stored, item: { number: 1.2345 }, known, ver: 6 });
	expect(next).toMatchObject(nothing);
	// It is noted once, so that a change of another field later does not look like one of this field.
	expect(merged({ here: stored, item: { number: 1.2345 }, known: stateOf(next.state), ver: 9 })).toEqual(nothing);
});

test('what a person changed is no form of what was written, though nobody wrote the record since', () => {
	const known = agreedOn({ text: 'a', number: 1 });
	const here = { text: 'b', number: 1 };
	const item = { text: 'a', number: 2 };
	const { state } = merged({ here, item, known, ver: 5 });
	expect(merged({ here: { ...here, number: 2 }, item, known: stateOf(state), ver: 6 })).toMatchObject({ ...nothing, sendBack: b });
});

test('an item that has the value before again is an old list once, and a change in the next run', () => {
	const known = agreedOn(a, b);
	const first = merged({ here: b, item: a, known });
	expect(first.conflicts).toHaveLength(1);
	expect(merged({ here: b, item: a, known: stateOf(first.state), ver: 6 })).toMatchObject({ ...nothing, write: a });
	expect(merged({ here: b, item: b, known: stateOf(first.state), ver: 6 })).toMatchObject(nothing);
});

test('the other system took what was sent back before the last time: no edit of its own', () => {
	let known = agreedOn(a);
	for (const here of [b, c]) known = stateOf(merged({ here, item: a, known, ver: 5 }).state)!;
	for (const rule of ['report', 'takeItem', 'keep'] as const) {
		expect(merged({ here: c, item: b, known, ver: 9, rule })).toMatchObject({ ...nothing, sendBack: c });
	}
});

test('the order of a list of texts means nothing', () => {
	const known = agreedOn({ chips: ['a', 'b'] });
	expect(merged({ here: { chips: ['a', 'b', 'c'] }, item: { chips: ['b', 'a'] }, known })).toMatchObject({
		...nothing,
		sendBack: { chips: ['a', 'b', 'c'] },
	});
});

test('the other system takes what was sent back one after the other: no edits of its own', () => {
	const d = { text: 'd' };
	let known = agreedOn(a);
	for (const here of [b, c, d]) known = stateOf(merged({ here, item: a, known, ver: 5 }).state)!;
	for (const item of [b, c]) {
		const next = merged({ here: d, item, known, ver: 9, rule: 'takeItem' });
		expect(next).toMatchObject({ ...nothing, sendBack: d });
		known = stateOf(next.state)!;
	}
});

test('what was sent back is agreed on once the item has it, and goes back until then', () => {
	const known = agreedOn(a);
	const first = merged({ here: b, item: a, known, ver: 5 });
	expect(first).toMatchObject({ ...nothing, sendBack: b });
	const sent = stateOf(first.state);
	// The other system did not take it: nothing new to note.
	expect(merged({ here: b, item: a, known: sent, ver: 6 })).toEqual({ ...nothing, sendBack: b });
	// It took it, but the record has changed again.
	const third = merged({ here: c, item: b, known: sent, ver: 7 });
	expect(third).toMatchObject({ ...nothing, sendBack: c });
	// It has another value now.
	expect(merged({ here: b, item: c, known: sent, ver: 6 }).conflicts).toHaveLength(1);
	// Its list is older than the one before.
	const agreed = stateOf(merged({ here: b, item: b, known: sent, ver: 6 }).state);
	expect(merged({ here: b, item: a, known: agreed, ver: 9 }).conflicts).toHaveLength(1);
});

test('only the last three values that were sent back are remembered', () => {
	let known = agreedOn(a);
	for (const text of 'bcdef') known = stateOf(merged({ here: { text }, item: a, known, ver: 5 }).state)!;
	expect(known.fields.text).toMatchObject({ here: 'a', item: 'a', sent: ['d', 'e', 'f'] });
	// The other system took the last but one: those before it don't matter any more.
	const taken = stateOf(merged({ here: { text: 'g' }, item: { text: 'e' }, known, ver: 6 }).state)!;
	expect(taken.fields.text).toMatchObject({ item: 'e', before: 'a', sent: ['f', 'g'] });
});

test.each([
	['none', ''],
	['none', null],
	['other', 'a note'],
	['other', '[]'],
	['unreadable', '{"v":1}'],
	['unreadable', merged({ here: null, item: a }).state!.slice(0, -5)],
	['unreadable', merged({ here: null, item: a }).state!.replace('"v":1', '"v":2')],
])('a state is %s: %j', (expected, text) => {
	expect(readState(text, () => KEY)).toBe(expected);
});

test('the state of a copied record is not its own', () => {
	expect(readState(merged({ here: null, item: a }).state, () => 'bob@example.com')).toBe('foreign');
});

test('people can read the state, except for long values', () => {
	const { state } = merged({ here: null, item: { text: 'Won', long_text: long } });
	expect(JSON.parse(state!)).toMatchObject({
		v: 1,
		at: NOW,
		ver: 0,
		fields: { text: { here: 'Won' }, long_text: { here: [expect.any(String), 102] } },
	});
});

describe('what the other system lacks, without its item', () => {
	const MAIL: FieldDefinition = { name: 'mail', header: 'mail', type: 'text', metadata: {} };
	/** The record with the state of a run in which it got these values, and the record as it was then. */
	const missing = (item: FieldValues, fields: FieldValues, ver: number, before: FieldValues | null = null) => {
		const agreed = merged({ here: before, item }).state!;
		return missingThere(recordOf({ mail: KEY, agreed, ...fields }, ver), 'agreed', [...FIELDS, MAIL]);
	};
	const sent = merged({ here: b, item: a, known: agreedOn(a) }).state!;
	const due = '2026-11-27T00:00:00.000Z';

	test.each<[string, FieldValues, FieldValues, number, object | undefined]>([
		['nothing since the run that wrote it', a, a, 0, undefined],
		['nothing, if the platform stores another form of what it wrote', { text: 'a ' }, a, 0, undefined],
		['nothing, if it has the value again', a, a, 4, undefined],
		['a value that was changed since', a, b, 4, { sendBack: b }],
		['a value that was cleared', a, { text: null }, 4, { sendBack: { text: null } }],
		['a value that is in no item', a, { ...a, number: 4 }, 4, undefined],
		['nothing for another form of a date', { date: '2026-11-27' }, { date: due }, 4, undefined],
		['nothing for a checkbox that is off', { checkbox: false }, { checkbox: null }, 4, undefined],
		[
			'a link as it was read',
			{ schema_link: { id: 'c1' } },
			{ schema_link: { id: 'c2', url: 'x' } },
			4,
			{ sendBack: { schema_link: { id: 'c2', url: 'x' } } },
		],
		['everything, without a state', a, { ...a, agreed: null }, 4, { isNew: true }],
		['everything, of a copied record', a, { ...a, mail: 'bob@example.com' }, 4, { isNew: true }],
		['something, if the state is damaged', a, { ...a, agreed: '{"v":1,' }, 4, { isStateLost: true }],
		['something, if the field holds other text', a, { ...a, agreed: 'Call her' }, 4, { isStateLost: true }],
		['nothing that a run has returned already', a, { ...b, agreed: sent }, 6, undefined],
		['what was changed after that', a, { ...c, agreed: sent }, 7, { sendBack: c }],
	])('%s', (_, item, fields, ver, expected) => {
		expect(missing(item, fields, ver)).toEqual(expected);
	});

	test('a record that is found by its ID has it for a key', () => {
		const { state } = mergeRecord(
			FIELDS.slice(0, 1),
			a,
			{ here: null, key: 'r1', on: [], known: undefined },
			{ bothChanged: 'report', firstTime: 'report' },
			NOW,
		);
		expect(missingThere(recordOf({ ...b, agreed: state! }, 4), 'agreed', FIELDS)).toEqual({ sendBack: b });
		expect(missingThere({ ...recordOf({ ...b, agreed: state! }, 4), id: 'r2' }, 'agreed', FIELDS)).toEqual({ isNew: true });
	});
});
