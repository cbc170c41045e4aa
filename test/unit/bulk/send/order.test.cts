/** Which of the listed records is whose: a platform has to show that it lists them in order. */
import { recordsInPlace } from '../../../../nodes/DataPlatform/bulk/send/order.ts';
import { entriesOf, isWrite, TIME, writeRecords } from '../../bulkWrites.cts';
import { httpResponse, type Serve } from '../../stubPlatform.cts';
import { sendableOf } from '../../fixtures.cts';
import type { FieldValues } from '../../../../nodes/DataPlatform/api/types.ts';
import type { ItemOutcome, WriteMode } from '../../../../nodes/DataPlatform/bulk/terms.ts';

const ORIGIN = 'https://platform.example.com';
beforeEach(() => recordsInPlace.clear());

/** A platform that lists the records of a response in an order, and stores values in a form. */
function platform(order: <T>(list: T[]) => T[], store: (fields: FieldValues) => FieldValues = (fields) => fields, read = 200) {
	const stored: Array<{ id: string; created: string; modified: string; ver: number; fields: FieldValues }> = [];
	const looksUp: number[] = [];
	const loaded: unknown[] = [];
	const serve: Serve = (request) => {
		if (!isWrite(request)) {
			const { filter, loadFields } = JSON.parse(String(request.body)) as { filter: Array<{ value: string }>; loadFields: unknown };
			const ids = filter[0]!.value.split(',');
			looksUp.push(ids.length);
			loaded.push(loadFields);
			return read === 200
				? httpResponse(200, { data: stored.filter(({ id }) => ids.includes(id)) })
				: httpResponse(read, { errors: [{ message: 'no' }] });
		}
		const sent = entriesOf(request);
		const batch = sent
			.filter(({ fields }) => !fields.surname?.startsWith('bad'))
			.map(({ fields }) => {
				const record = { id: `id${stored.length + 1}`, created: TIME, modified: TIME, ver: 0, fields: store(fields) };
				stored.push(record);
				return record;
			});
		return httpResponse(200, {
			bulk: { successCount: batch.length, insertedCount: batch.length, updatedCount: 0 },
			data: order(batch).map(({ fields: _, ...metadata }) => metadata),
			...(batch.length < sent.length && { errors: [{ message: 'No bad ones' }] }),
		});
	};
	const write = async (mode: WriteMode, values: FieldValues[]) => {
		const planned = values.map((fields, index) => sendableOf({ index, fields }));
		const outcomes: ItemOutcome[] = (await writeRecords({ planned, serve, options: { mode } })).outcomes;
		return outcomes
			.map(({ outcome, id, message }) => (message ? `${outcome}: ${message}` : `${outcome} ${id ?? '-'}`.replace('inserted ', '')))
			.join(' ');
	};
	const create = async (...names: string[]) =>
		await write(
			'create',
			names.map((surname) => ({ surname, email: 'x' })),
		);
	return { write, create, looksUp, loaded };
}

const same = <T,>(list: T[]) => list;
const reversed = <T,>(list: T[]) => list.toReversed();
const six = [...'abcdef'];

test('six records in order show it: nothing is looked up from then on', async () => {
	const { create, looksUp } = platform(same);
	expect(await create(...six)).toBe('id1 id2 id3 id4 id5 id6');
	expect(await create('a', 'b')).toBe('id7 id8');
	expect(looksUp).toHaveLength(1);
});

test('two records may be in order by chance: several responses show it together', async () => {
	const { create, looksUp } = platform(same);
	for (let at = 0; at < 7; at += 1) expect(await create('a', 'b')).toBe(`id${2 * at + 1} id${2 * at + 2}`);
	expect(looksUp).toHaveLength(5);
});

test('an order that is kept for most records only does not show it', async () => {
	const { create } = platform(([first, second, ...others]) => [second!, first!, ...others]);
	for (let at = 0; at < 3; at += 1) {
		const from = 6 * at;
		expect(await create(...six)).toBe([1, 2, 3, 4, 5, 6].map((number) => `id${from + number}`).join(' '));
	}
});

test('only what was sent and can be compared is read for it', async () => {
	const { write, looksUp, loaded } = platform(same);
	await write('create', [{ surname: 'a' }, { surname: 'b', fullName: 'x' }, { surname: 'c', email: 'y' }]);
	expect(loaded).toEqual([['email', 'surname']]);
	// Nothing could tell these apart.
	expect(await write('create', [{}, {}])).toBe('- -');
	expect(looksUp).toHaveLength(1);
});

test('one record has no order', async () => {
	const { create, looksUp } = platform(same);
	expect(await create('a')).toBe('id1');
	expect(looksUp).toEqual([]);
});

test('in another order, each gets its own ID, in every execution', async () => {
	const { create, looksUp } = platform(reversed);
	expect(await create(...six)).toBe('id1 id2 id3 id4 id5 id6');
	expect(await create('a', 'b')).toBe('id7 id8');
	expect(looksUp).toHaveLength(2);
});

test.each<[string, names: string[], ids: string, Parameters<typeof platform>]>([
	['records with the same values have none', ['a', 'b', 'b'], 'id1 - -', [reversed]],
	['also in order, before that is shown', ['a', 'b', 'b'], 'id1 - -', [same]],
	[
		'a value that is stored in another form',
		['a', 'b', 'c'],
		'- - -',
		[reversed, ({ email, surname }) => ({ email: email!, surname: `${String(surname)}!` })],
	],
	['records that can not be read', ['a', 'b', 'c'], '- - -', [same, undefined, 403]],
])('IDs that can not be told: %s', async (_, names, ids, [order, store, read]) => {
	expect(await platform(order, store, read).create(...names)).toBe(ids);
	expect(recordsInPlace.get(ORIGIN) ?? 0).toBeLessThan(5);
});

test.each([same, reversed])('of an upsert, the key decides, whatever the record holds besides', async (order) => {
	const { write } = platform(order, (fields) => ({ surname: 'x', ...fields }));
	const values: FieldValues[] = [{ email: 'a', surname: 'x' }, { email: 'b' }, { email: 'c', surname: 'y' }];
	expect(await write('upsert', values)).toBe('id1 id2 id3');
});

test('once the order is shown, records with the same values have IDs as well', async () => {
	const { create } = platform(same);
	await create(...six);
	expect(await create('a', 'b', 'b')).toBe('id7 id8 id9');
});

test.each<[string, names: string[], outcomes: string]>([
	['one', ['a', 'bad', 'c'], 'id1 failed: No bad ones id2'],
	['one of two', ['bad', 'b'], 'failed: No bad ones id1'],
	[
		'several',
		['bad1', 'b', 'bad2'],
		'failed: No bad ones; it does not say which item it means id1 failed: No bad ones; it does not say which item it means',
	],
	['among equal ones', ['a', 'a', 'bad'], 'unknown unknown unknown'],
])('an error names no record: those that are listed are told from it, %s', async (_, names, outcomes) => {
	for (const shown of [0, 5]) {
		recordsInPlace.set(ORIGIN, shown);
		const { create, looksUp } = platform(reversed);
		expect((await create(...names)).replace(/unknown: [^(]*\(No bad ones\)/g, 'unknown')).toBe(outcomes);
		expect(looksUp).toHaveLength(1);
	}
});
