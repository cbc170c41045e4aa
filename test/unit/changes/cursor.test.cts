/** The text of a cursor: what it contains, what is rejected, how long it gets. */
import { createHash, randomUUID } from 'node:crypto';
import { CURSOR_LIMITS, fromCursor, toCursor } from '../../../nodes/DataPlatform/changes/cursor.ts';
import type { ChangeState } from '../../../nodes/DataPlatform/changes/tracker.ts';

const SOURCE = { table: 'crm contacts', selection: 'none' };

const stateWith = (records: number, hashes = 0): ChangeState => ({
	cursor: 1_763_700_000_000,
	watermark: { time: 1_763_699_940_000, id: randomUUID() },
	emitted: Object.fromEntries(
		Array.from({ length: records }, (_, index) => [randomUUID(), [index % 40, 1_763_699_940_001 + index * 12] as [number, number]]),
	),
	...(hashes > 0 && {
		backlog: { createdWatermark: { time: 1_763_000_000_000, id: '' }, earlier: 'abc123'.repeat(hashes), offset: 99_000 },
	}),
});

test.each([
	['nothing', { emitted: {} }],
	['a start', { watermark: { time: 0, id: '' }, emitted: {} }],
	['a time before 1970', { cursor: -5, watermark: { time: -5, id: 'x' }, emitted: { a: [1, -4] } }],
	['ids that look like numbers', { cursor: 1, emitted: { 10: [1, 1], 2: [0, 1] } }],
	['a backlog from the beginning', { cursor: 0, emitted: {}, backlog: { earlier: '' } }],
	['much', stateWith(50, 20)],
])('a state comes back as it was: %s', (_, state) => {
	expect(fromCursor(toCursor(state as ChangeState, SOURCE), SOURCE)).toEqual(state);
});

test('the same state is the same text, of characters that need no escaping anywhere', () => {
	const state = stateWith(20, 5);
	expect(toCursor(state, SOURCE)).toBe(toCursor(structuredClone(state), SOURCE));
	expect(toCursor(state, SOURCE)).toMatch(/^[\w.-]+$/);
});

test('its length is bounded: about 80 characters a record, 8 a hash', () => {
	expect(toCursor(stateWith(0), SOURCE).length).toBeLessThan(200);
	const { maxTracked, hashes } = CURSOR_LIMITS;
	const longest = toCursor(stateWith(maxTracked, hashes), SOURCE).length;
	expect(longest).toBeLessThan(450_000);
});

describe('rejected', () => {
	const cursor = toCursor(stateWith(3, 2), SOURCE);
	const errorOf = (text: string, source = SOURCE) => {
		try {
			return fromCursor(text, source);
		} catch (error) {
			return (error as Error).message;
		}
	};

	test('whatever was cut, changed or made up', () => {
		for (let at = 1; at < cursor.length; at += 1) {
			expect(errorOf(cursor.slice(0, at))).toContain("can't be read");
			expect(errorOf(cursor.slice(at))).toContain("can't be read");
			const other = cursor[at] === 'a' ? 'b' : 'a';
			expect(errorOf(cursor.slice(0, at) + other + cursor.slice(at + 1))).toContain("can't be read");
		}
		for (const text of ['x', '.', '1', 'undefined', '[object Object]', `${cursor} `, cursor + cursor]) {
			expect(errorOf(text)).toContain("can't be read");
		}
	});

	test('one of another table, of another filter, of another version', () => {
		expect(errorOf(cursor, { ...SOURCE, table: 'crm deals' })).toContain('belongs to another table');
		expect(errorOf(cursor, { ...SOURCE, selection: 'x' })).toContain('another filter or saved view');
		const body = `2${cursor.slice(1, cursor.lastIndexOf('.'))}`;
		const checksum = createHash('sha256').update(body).digest('base64url').slice(0, 11);
		expect(errorOf(`${body}.${checksum}`)).toContain('another version of this node');
	});
});

describe('the error for a rejected cursor', () => {
	const startAnew = 'To start over, leave the cursor empty.';
	const goOnWithout =
		"To go on without it, leave the cursor empty and set 'Start From' to 'A Date': the 'modified' of the last change that was returned, or earlier, as an expression such as {{ '2026-11-21T00:00:00Z' }}.";
	const cursor = toCursor(stateWith(1), SOURCE);
	const body = `2${cursor.slice(1, cursor.lastIndexOf('.'))}`;
	const checksum = createHash('sha256').update(body).digest('base64url').slice(0, 11);
	test.each<[string, string, typeof SOURCE, string, string, string]>([
		[
			'damaged',
			cursor.slice(1),
			SOURCE,
			"can't be read: a part of it is missing or was changed",
			"Pass on the 'cursor' of an earlier Get Changes as it was, whole and unchanged.",
			goOnWithout,
		],
		[
			'of another version',
			`${body}.${checksum}`,
			SOURCE,
			'was made by another version of this node, whose format this one does not read',
			'Use the version that made it.',
			goOnWithout,
		],
		[
			'of another table',
			cursor,
			{ ...SOURCE, table: 'x' },
			'belongs to another table',
			'Each table has a cursor of its own; another base URL or application counts as another table.',
			startAnew,
		],
		[
			'of another filter',
			cursor,
			{ ...SOURCE, selection: 'x' },
			'was made with another filter or saved view',
			'What changed before would be missed. Restore the filter and the saved view.',
			startAnew,
		],
	])('%s', (_, text, source, message, hint, goOn) => {
		expect(() => fromCursor(text, source)).toThrow(expect.objectContaining({ name: 'InputError', message, hint: `${hint} ${goOn}` }));
	});
});
