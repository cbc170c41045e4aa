/** How items find their records: Match On, If Found, If Missing, Multiple Matches. */
import type { IDataObject } from 'n8n-workflow';
import { byFields, byId, expectFailed, goingOn, note, numbered, order, outcomes, UNKNOWN_ID, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

const byText = byFields('text');

/** Runs an operation on the notes, which have no import key. */
const onNotes = async (operation: string, run: Run) => await harness.run(operation, { ...goingOn, table: 'notes', ...run });

const stored = async () => (await harness.records('notes')).map(({ fields, ver }) => ({ ...fields, ver }));

describe('create or update, matched on fields', () => {
	test('upsert by fields updates existing records, creates missing ones, and reports which', async () => {
		const [a] = await harness.fill('notes', note('a', 1), note('b', 1));
		const result = await onNotes('upsert', { items: [note('a', 2), note('b', 1), note('c', 3)], parameters: byText });
		expect(outcomes(result)).toEqual(['updated', 'unchanged', 'inserted']);
		expect(result.json()[0]).toMatchObject({ id: a!.id, ver: 1 });
		expect(await stored()).toEqual([
			{ text: 'a', rank: 2, ver: 1 },
			{ text: 'b', rank: 1, ver: 0 },
			{ text: 'c', rank: 3, ver: 0 },
		]);
		const [, , created] = await harness.records('notes');
		expect(result.json()[2]!.id).toBe(created!.id);
	});

	test.each([
		['commas and backslashes', ['a,b', 'a\\', 'a\\,b', '"', 'a', "b'", '(a)']],
		['letters of another case, and spaces', ['A', 'a', ' a', 'a ', 'ä', 'Ä']],
	])('%s are values like any other', async (_, values) => {
		const items = values.map(note);
		await harness.fill('notes', ...items);
		for (const parameters of [byText, byFields('text', 'rank')]) {
			expect(outcomes(await onNotes('upsert', { items, parameters }))).toEqual(values.map(() => 'unchanged'));
		}
		const missing = await onNotes('upsert', { items: values.map((text) => note(`${text}${text}`)), parameters: byText });
		expect(outcomes(missing)).toEqual(values.map(() => 'inserted'));
		expect((await stored()).map(({ ver }) => ver)).toEqual(Array(2 * values.length).fill(0));
	});
});

test('of several matches, the first is the oldest', async () => {
	await harness.fill('notes', note('a', 1), note('a', 2), note('a', 3));
	const options = { multipleMatches: 'first' };
	const result = await onNotes('upsert', { items: [note('a', 9)], parameters: byText, options });
	expect(outcomes(result)).toEqual(['updated']);
	/** Sorted like on the platform, by time of creation. */
	const records = await harness.records('notes');
	const [oldest, ...others] = records.sort((a, b) => (`${a.created} ${a.id}` < `${b.created} ${b.id}` ? -1 : 1));
	expect(oldest).toMatchObject({ id: result.json()[0]!.id, fields: { rank: 9 } });
	expect(others.map(({ ver }) => ver)).toEqual([0, 0]);
});

describe('if found, if missing', () => {
	const run = async (options: IDataObject) =>
		await onNotes('upsert', { items: [note('a', 9), note('new', 1)], parameters: byText, options });

	test('If Found: Skip returns an existing record as stored', async () => {
		const [a] = await harness.fill('notes', note('a', 1));
		const result = await run({ ifFound: 'skip' });
		expect(outcomes(result)).toEqual(['found', 'inserted']);
		expect(result.json()[0]).toMatchObject({ id: a!.id, ver: 0, text: 'a', rank: 1 });
		expect(await stored()).toEqual([
			{ text: 'a', rank: 1, ver: 0 },
			{ text: 'new', rank: 1, ver: 0 },
		]);
		expect(result.hints).toEqual([expect.stringMatching(/^1 inserted, 1 found \(\d requests\)\.$/)]);
	});

	test('If Missing skips items without a record, or fails them', async () => {
		await harness.fill('notes', note('a', 1));
		expect(outcomes(await run({ ifMissing: 'skip' }))).toEqual(['updated', 'skipped']);
		const refused = await run({ ifMissing: 'error' });
		expect(outcomes(refused)).toEqual(['unchanged', 'notFound']);
		expectFailed(refused, 1, "No record matches 'new'");
		expect(await stored()).toHaveLength(1);
	});

	test('If Found: Skip works on the import key too', async () => {
		await harness.fill('orders', order(1));
		const result = await harness.run('upsert', { ...goingOn, items: numbered(3, { price: 1 }), options: { ifFound: 'skip' } });
		expect(outcomes(result)).toEqual(['found', 'inserted', 'inserted']);
		expect(await harness.values('price')).toEqual([undefined, 1, 1]);
	});
});

test('items with only the import key are distinguished by whether a record exists, without a write', async () => {
	await harness.fill('orders', ...numbered(2));
	const items = ['1', '2', '3', '4'].map((number) => ({ number }));
	const result = await harness.run('upsert', { items, options: { ifFound: 'skip', ifMissing: 'skip' } });
	expect(outcomes(result)).toEqual(['found', 'found', 'skipped', 'skipped']);
	expect(result.json()[1]).toMatchObject({ buyer: 'Buyer 2' });
	expect(result.json()[3]).toMatchObject({ number: '4' });
	expect(await harness.writes()).toEqual([]);
	expect(await harness.records()).toHaveLength(2);
});

describe('on the record ID', () => {
	test('upsert by record ID creates an unknown ID, with an ID of its own', async () => {
		const [{ id }] = await harness.fill('orders', order(1));
		const items = [{ id, buyer: 'changed' }, { id: UNKNOWN_ID, number: '2', buyer: 'new' }, { id: '', buyer: 'x' }, { buyer: 'x' }];
		const result = await harness.run('upsert', { ...goingOn, items, parameters: { matchOn: 'recordId' } });
		expect(outcomes(result)).toEqual(['updated', 'inserted', 'failed', 'failed']);
		const [, created] = await harness.records();
		expect(result.json()[1]).toMatchObject({ id: created!.id });
		expect(await harness.values('buyer')).toEqual(['changed', 'new']);
		expectFailed(result, 2, 'the record id is missing');
	});

	test('update by record ID skips missing records', async () => {
		const [{ id }] = await harness.fill('orders', order(1));
		const items = [UNKNOWN_ID, id].map((each) => ({ id: each, buyer: 'x' }));
		expect(outcomes(await harness.run('update', { items, options: { ifMissing: 'skip' } }))).toEqual(['skipped', 'updated']);
	});
});

describe('update, matched on fields', () => {
	test('update by fields: a missing record is not found', async () => {
		await harness.fill('orders', ...numbered(2));
		const items = ['Buyer 2', 'Nobody'].map((buyer) => ({ buyer, price: 2 }));
		const result = await harness.run('update', { ...goingOn, items, parameters: byFields('buyer') });
		expect(outcomes(result)).toEqual(['updated', 'notFound']);
		expect(await harness.values('price')).toEqual([undefined, 2]);
	});

	test('update by the import key clears other fields if the option is set', async () => {
		await harness.fill('orders', order(1, { price: 5 }));
		const parameters = { matchOn: 'importKey', updateMode: 'replace' };
		const result = await harness.run('update', { items: [{ number: '1', buyer: 'Owl' }], parameters });
		expect(outcomes(result)).toEqual(['updated']);
		expect((await harness.records())[0]!.fields).toEqual({ number: '1', buyer: 'Owl' });
	});
});

describe.each(['html', 'empty'])('a gateway’s 404 (%s) does not come from the platform', (kind) => {
	test.each<[string, IDataObject]>([
		['upsert', { ifFound: 'skip' }],
		['update', { ifMissing: 'skip', skipUnchanged: true }],
	])('%s %j creates nothing and skips nothing', async (operation, options) => {
		const [{ id }] = await harness.fill('notes', note('a', 1));
		await harness.faults({ match: { method: 'GET', path: '/data/[^/]+$' }, fault: { kind, status: 404 } });
		const result = await onNotes(operation, { items: [{ id, text: 'b' }], parameters: { matchOn: 'recordId' }, options });
		expect(outcomes(result)).toEqual(['failed']);
		expect(await stored()).toEqual([{ text: 'a', rank: 1, ver: 0 }]);
	});
});

test('keys that differ only in case or spaces are two records, and a notice names them', async () => {
	const result = await onNotes('upsert', { items: [note('Ann'), note('bob'), note(' ann ')], parameters: byText });
	expect(outcomes(result)).toEqual(['inserted', 'inserted', 'inserted']);
	expect(result.hints[0]).toContain("'Ann', ' ann ' (items 0 and 2)");
});

describe('Max New Records (%)', () => {
	const keys = { importKey: {}, fields: byFields('number'), recordId: { matchOn: 'recordId', ...byId } };
	type By = keyof typeof keys;
	/** As many items of orders that exist, and others that don't. */
	async function mixed(by: By, known: number, unknown: number, stored = Math.max(known, 1)) {
		const records = await harness.fill('orders', ...numbered(stored));
		await harness.clearRequests();
		return numbered(known + unknown, { price: 2 }).map((item, at) => {
			const hidden = { ...item, number: `hidden ${at}` };
			if (by !== 'recordId') return at < known ? item : hidden;
			return { ...(at < known ? item : hidden), id: at < known ? records[at]!.id : UNKNOWN_ID.replace(/..$/, String(at + 10)) };
		});
	}
	const run = async (by: By, items: IDataObject[], share: number, operation = 'upsert', more: Run = {}) =>
		await harness.run(operation, { items, parameters: keys[by], ...more, options: { maxNewShare: share, ...more.options } });

	test.each<[by: By, operation: string, known: number, unknown: number, share: number, allowed: number | undefined]>([
		['importKey', 'upsert', 20, 11, 30, 10],
		['importKey', 'upsert', 0, 50, 30, 15],
		['importKey', 'sync', 20, 11, 30, 10],
		['fields', 'upsert', 20, 30, 50, 25],
		['fields', 'sync', 20, 30, 50, 25],
		['recordId', 'upsert', 20, 11, 30, 10],
		['recordId', 'sync', 20, 11, 30, 10],
		['importKey', 'upsert', 20, 10, 0, undefined],
		['importKey', 'upsert', 20, 20, 50, undefined],
		['fields', 'upsert', 20, 11, 40, undefined],
		['recordId', 'upsert', 20, 11, 40, undefined],
		['recordId', 'sync', 20, 11, 40, undefined],
	])('by %s, %s: %d known and %d new items, at most %d %%', async (by, operation, known, unknown, share, allowed) => {
		const items = await mixed(by, known, unknown);
		const result = await run(by, items, share, operation);
		if (allowed === undefined) {
			expect(outcomes(result)).toEqual([...Array<string>(known).fill('updated'), ...Array<string>(unknown).fill('inserted')]);
			return;
		}
		expect(result.error?.message).toBe(`Nothing was sent to 'Orders': ${unknown} records would be new, more than ${allowed}`);
		expect(result.error?.description).toContain("→ Max New Records (%)'");
		expect(await harness.writes()).toEqual([]);
	});

	test('items for the same record count once', async () => {
		const items = await mixed('importKey', 20, 22);
		const result = await run('importKey', [...items.slice(0, 20), ...items], 50);
		expect(result.error?.message).toBe("Nothing was sent to 'Orders': 22 records would be new, more than 21");
	});

	test('an empty table takes any number', async () => {
		await harness.fill('orders');
		expect(outcomes(await run('importKey', numbered(12), 0))).toEqual(Array(12).fill('inserted'));
	});

	test('a retry after some items were written has the same limit', async () => {
		const items = await mixed('importKey', 20, 11);
		await harness.faults({ match: { method: 'POST', path: '/data/bulk$' }, when: { first: 1 }, fault: { kind: 'status', status: 403 } });
		const retry = { maxTries: 2, waitBetweenTries: 1 };
		const result = await run('importKey', items, 40, 'upsert', { retry });
		expect(result.error).toBeUndefined();
		expect(await harness.records()).toHaveLength(31);
	});

	test('a retry after the first attempt filled an empty table goes on', async () => {
		await harness.fill('orders');
		await harness.faults({ match: { method: 'POST', path: '/data/bulk$' }, when: { nth: [2] }, fault: { kind: 'status', status: 401 } });
		const result = await run('importKey', numbered(2500), 10, 'upsert', { retry: { maxTries: 2, waitBetweenTries: 1 } });
		expect(result.error).toBeUndefined();
		expect(await harness.records()).toHaveLength(2500);
	});

	test('costs the look-up, and a request to update beside that to create', async () => {
		const count = async (share: number) => {
			const items = await mixed('importKey', 20, 5);
			await run('importKey', items, share);
			return (await harness.requests()).map(({ method, path }) => `${method} ${path.replace(/^.*tables/, '')}`);
		};
		expect([await count(100), await count(50)]).toEqual([
			['GET /orders', 'POST /orders/data/bulk'],
			['GET /orders', 'POST /orders/data/filter', 'PATCH /orders/data/bulk', 'POST /orders/data/bulk'],
		]);
	});

	test('a lost response to new records is resolved by their key', async () => {
		const items = await mixed('importKey', 1, 5);
		await harness.faults({ match: { method: 'POST', path: '/data/bulk$' }, when: { first: 1 }, fault: { kind: 'resetAfter' } });
		expect(outcomes(await run('importKey', items, 50))).not.toContain('unknown');
		expect(await harness.records()).toHaveLength(6);
	});
});
