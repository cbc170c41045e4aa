import type { IDataObject } from 'n8n-workflow';
import { expectErrorItem, numbered, outcomes, useHarness, type Run } from './fixtures.cts';
import { useOtherWriter } from './otherWriter.cts';

/** How items find their records: Match On, If Found, If Missing, Multiple Matches. */
const harness = useHarness();
const otherWriter = useOtherWriter(harness);

const goingOn: Run = { onError: 'continueRegularOutput' };
const byText = { matchOn: 'fields', matchFields: ['text'] };
const byBoth = { matchOn: 'fields', matchFields: ['text', 'rank'] };
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

/** Runs an operation on the notes, which have no import key. */
const onNotes = async (operation: string, run: Run) => await harness.run(operation, { ...goingOn, table: 'notes', ...run });

const notes = async (): Promise<IDataObject[]> => (await harness.records('notes')).map(({ fields, ver }) => ({ ...fields, ver }));

test('an unchanged record among thousands with its values is read by its ID', async () => {
	const many = Array.from({ length: 3000 }, () => ({ text: 'a', rank: 1 }));
	await harness.fill('notes', ...many);
	const result = await onNotes('update', { items: [{ text: 'a', rank: 1 }], parameters: byText, options: { multipleMatches: 'first' } });
	expect(outcomes(result)).toEqual(['unchanged']);
	const paths = (await harness.requests()).map(({ path }) => path.split('/data')[1]);
	// A page to match, and the one after it, which was requested ahead.
	expect(paths.filter((path) => path === '/filter').length).toBeLessThanOrEqual(2);
	expect(paths.at(-1)).toBe(`/${result.json()[0]!.id as string}`);
});

describe('create or update, matched on fields', () => {
	test('updates existing records, creates missing ones, and reports which', async () => {
		const [a] = await harness.fill('notes', { text: 'a', rank: 1 }, { text: 'b', rank: 1 });
		const result = await onNotes('upsert', {
			items: [
				{ text: 'a', rank: 2 },
				{ text: 'b', rank: 1 },
				{ text: 'c', rank: 3 },
			],
			parameters: byText,
		});
		expect(outcomes(result)).toEqual(['updated', 'unchanged', 'inserted']);
		expect(result.json()[0]).toMatchObject({ id: a!.id, ver: 1 });
		expect(await notes()).toEqual([
			{ text: 'a', rank: 2, ver: 1 },
			{ text: 'b', rank: 1, ver: 0 },
			{ text: 'c', rank: 3, ver: 0 },
		]);
		const stored = await harness.records('notes');
		expect(result.json()[2]!.id).toBe(stored[2]!.id);
	});

	test('several fields must all be equal; numbers may be text', async () => {
		await harness.fill('notes', { text: 'a', rank: 1 }, { text: 'a', rank: 2 }, { text: 'b' });
		const result = await onNotes('upsert', {
			items: [
				{ text: 'a', rank: '2.0' },
				{ text: 'b', rank: 1 },
				{ text: 'a', rank: 1 },
			],
			parameters: byBoth,
		});
		expect(outcomes(result)).toEqual(['unchanged', 'inserted', 'unchanged']);
		expect(await notes()).toHaveLength(4);
	});

	test.each([
		['commas and backslashes', ['a,b', 'a\\', 'a\\,b', '"', 'a', "b'", '(a)']],
		['letters of another case, and spaces', ['A', 'a', ' a', 'a ', 'ä', 'Ä']],
	])('%s are values like any other', async (_, values) => {
		await harness.fill('notes', ...values.map((text, rank) => ({ text, rank })));
		for (const parameters of [byText, byBoth]) {
			const items = values.map((text, rank) => ({ text, rank }));
			const result = await onNotes('upsert', { items, parameters });
			expect(outcomes(result)).toEqual(values.map(() => 'unchanged'));
		}
		const missing = await onNotes('upsert', { items: values.map((text) => ({ text: `${text}${text}` })), parameters: byText });
		expect(outcomes(missing)).toEqual(values.map(() => 'inserted'));
		expect((await notes()).map(({ ver }) => ver)).toEqual(Array(2 * values.length).fill(0));
	});

	test('an item without a value to match on fails alone', async () => {
		await harness.fill('notes', { text: 'a' }, { text: 'b' });
		const items = [{ rank: 1 }, { text: '', rank: 1 }, { text: null, rank: 1 }, { text: 'a', rank: 1 }];
		const result = await onNotes('upsert', { items, parameters: byText });
		expect(outcomes(result)).toEqual(['failed', 'failed', 'failed', 'updated']);
		for (const index of [0, 1, 2]) {
			const item = result.output('Data Platform')[index]!;
			expectErrorItem(item, index, "'text' has no value", { field: 'text' });
		}
		expect((await notes()).map(({ rank }) => rank)).toEqual([1, undefined]);
		const stopped = await onNotes('upsert', { items, parameters: byText, onError: 'stopWorkflow' });
		expect(stopped.error?.message).toContain('Nothing was sent. 3 items have problems');
	});

	test.each([
		['no field', '={{ [] }}', 'is empty'],
		['a field that the table has not', ['nothing'], "no field 'nothing' to match on"],
		['a calculated field', ['label'], 'read-only'],
		['a list', ['tags'], "its type is 'chips'"],
	])('%s is rejected before anything is sent', async (_, matchFields, message) => {
		const result = await harness.run('upsert', { ...goingOn, items: numbered(1), parameters: { matchOn: 'fields', matchFields } });
		expect(String(result.json()[0]!.error)).toContain(message);
		expect(await harness.writes()).toEqual([]);
	});

	test('items that match the same record follow Duplicates in the Input', async () => {
		await harness.fill('notes', { text: 'a', rank: 1 });
		const items = ['a', 'new', 'a', 'new'].map((text, rank) => ({ text, rank }));
		const merged = await onNotes('upsert', { items, parameters: byText });
		expect(outcomes(merged)).toEqual(['updated', 'inserted', 'updated', 'inserted']);
		expect(merged.json()[0]).toMatchObject({ mergedInto: 2, id: merged.json()[2]!.id });
		expect(await notes()).toEqual([
			{ text: 'a', rank: 2, ver: 1 },
			{ text: 'new', rank: 3, ver: 0 },
		]);
		const options = { duplicates: 'error' };
		const refused = await onNotes('upsert', { items, parameters: byText, options });
		expect(outcomes(refused)).toEqual(Array(4).fill('failed'));
		expectErrorItem(refused.output('Data Platform')[2]!, 2, "same match values 'a' as item 0");
	});
});

describe('several matches', () => {
	beforeEach(() => harness.fill('notes', ...[1, 2, 3].map((rank) => ({ text: 'a', rank }))));
	/** Sorted like on the platform, by time of creation. */
	const inOrder = async () => (await harness.records('notes')).sort((a, b) => (`${a.created} ${a.id}` < `${b.created} ${b.id}` ? -1 : 1));
	const run = async (multipleMatches: string, options: IDataObject = {}) =>
		await onNotes('upsert', { items: [{ text: 'a', rank: 9 }], parameters: byText, options: { multipleMatches, ...options } });

	test.each([
		['error', 'failed'],
		['first', 'updated'],
	])('of thousands, only those that matter are read (%s)', async (multipleMatches, outcome) => {
		await harness.fill('notes', ...Array.from({ length: 6000 }, () => ({ text: 'shared', rank: 1 })));
		const result = await onNotes('upsert', { items: [{ text: 'shared', rank: 2 }], parameters: byText, options: { multipleMatches } });
		expect(outcomes(result)).toEqual([outcome]);
		if (outcome === 'failed') {
			const [item] = result.output('Data Platform');
			expectErrorItem(item!, 0, "More than 5 records match 'shared'");
		}
		const read = await harness.sandbox.admin.requests();
		expect(read.filter(({ path }) => path.endsWith('/filter')).length).toBeLessThan(4);
	});

	test('the first is the oldest', async () => {
		const result = await run('first');
		expect(outcomes(result)).toEqual(['updated']);
		const [oldest, ...others] = await inOrder();
		expect(oldest).toMatchObject({ id: result.json()[0]!.id, fields: { rank: 9 } });
		expect(others.map(({ ver }) => ver)).toEqual([0, 0]);
	});

	test('all are updated, with an output for each', async () => {
		const result = await run('all');
		const stored = await harness.records('notes');
		expect(outcomes(result)).toEqual(['updated', 'updated', 'updated']);
		const ids = (await inOrder()).map(({ id }) => id);
		expect(result.json().map(({ id }) => id)).toEqual(ids);
		expect(result.output('Data Platform').map(({ pairedItem }) => pairedItem)).toEqual(Array(3).fill({ item: 0 }));
		expect(stored.map(({ fields }) => fields.rank)).toEqual([9, 9, 9]);
	});
});

describe('if found, if missing', () => {
	const items = [
		{ text: 'a', rank: 9 },
		{ text: 'new', rank: 1 },
	];
	const run = async (options: IDataObject, more: Run = {}) => {
		await harness.fill('notes', { text: 'a', rank: 1 });
		return await onNotes('upsert', { items, parameters: byText, options, ...more });
	};

	test('get or create: an existing record is returned as stored', async () => {
		const result = await run({ ifFound: 'skip' });
		expect(outcomes(result)).toEqual(['found', 'inserted']);
		const [stored] = await harness.records('notes');
		expect(result.json()[0]).toMatchObject({ id: stored!.id, ver: 0, text: 'a', rank: 1 });
		expect(await notes()).toEqual([
			{ text: 'a', rank: 1, ver: 0 },
			{ text: 'new', rank: 1, ver: 0 },
		]);
		expect(result.hints).toEqual([expect.stringMatching(/^1 inserted, 1 found \(\d requests\)\.$/)]);
	});

	test('missing ones are skipped, or an error', async () => {
		const skipped = await run({ ifMissing: 'skip' });
		expect(outcomes(skipped)).toEqual(['updated', 'skipped']);
		const refused = await onNotes('upsert', { items, parameters: byText, options: { ifMissing: 'error' } });
		expect(outcomes(refused)).toEqual(['unchanged', 'notFound']);
		expectErrorItem(refused.output('Data Platform')[1]!, 1, "No record matches 'new'");
		expect(await notes()).toHaveLength(1);
	});

	test('on the import key too', async () => {
		await harness.fill('orders', ...numbered(1));
		const result = await harness.run('upsert', {
			...goingOn,
			items: [...numbered(2), { number: '3', buyer: 'x' }].map((item) => ({ ...item, price: 1 })),
			options: { ifFound: 'skip' },
		});
		expect(outcomes(result)).toEqual(['found', 'inserted', 'inserted']);
		expect(await harness.values('price')).toEqual([undefined, 1, 1]);
	});
});

describe('on the import key, as the platform itself does it', () => {
	test.each([{}, { matchOn: 'fields', matchFields: ['number'] }])('nothing is looked up (%j)', async (parameters) => {
		await harness.fill('orders', ...numbered(1));
		const result = await harness.run('upsert', { items: numbered(3), parameters });
		expect(outcomes(result)).toEqual(['unchanged', 'inserted', 'inserted']);
		expect((await harness.writes()).map(({ records }) => records)).toEqual([3]);
	});

	test('items with only the key are distinguished by whether a record exists, without a write', async () => {
		await harness.fill('orders', ...numbered(2));
		const items = numbered(4).map(({ number }) => ({ number }));
		const options = { ifFound: 'skip', ifMissing: 'skip' };
		const result = await harness.run('upsert', { items, options });
		expect(outcomes(result)).toEqual(['found', 'found', 'skipped', 'skipped']);
		expect(result.json()[1]).toMatchObject({ buyer: 'Buyer 2' });
		expect(result.json()[3]).toMatchObject(items[3]!);
		expect(await harness.writes()).toEqual([]);
		expect(await harness.records()).toHaveLength(2);
	});
});

describe('on the record ID', () => {
	const parameters = { matchOn: 'recordId' };

	test('an unknown ID is created, with an ID of its own', async () => {
		const [stored] = await harness.fill('orders', ...numbered(1));
		const items = [
			{ id: stored!.id, buyer: 'changed' },
			{ id: UNKNOWN_ID, number: '2', buyer: 'new' },
			{ id: '', buyer: 'x' },
			{ buyer: 'x' },
		];
		const result = await harness.run('upsert', { ...goingOn, items, parameters });
		expect(outcomes(result)).toEqual(['updated', 'inserted', 'failed', 'failed']);
		const [, created] = await harness.records();
		expect(result.json()[1]).toMatchObject({ id: created!.id });
		expect(await harness.values('buyer')).toEqual(['changed', 'new']);
		expectErrorItem(result.output('Data Platform')[2]!, 2, 'the record id is missing');
	});

	test('update skips missing ones', async () => {
		const [stored] = await harness.fill('orders', ...numbered(1));
		const items = [
			{ id: UNKNOWN_ID, buyer: 'x' },
			{ id: stored!.id, buyer: 'y' },
		];
		const options = { ifMissing: 'skip' };
		const result = await harness.run('update', { items, options });
		expect(outcomes(result)).toEqual(['skipped', 'updated']);
	});
});

describe('update, matched on fields', () => {
	test('updates by them; a missing one is not found', async () => {
		await harness.fill('orders', ...numbered(2));
		const result = await harness.run('update', {
			...goingOn,
			items: [
				{ buyer: 'Buyer 2', price: 2 },
				{ buyer: 'Nobody', price: 3 },
			],
			parameters: { matchOn: 'fields', matchFields: ['buyer'] },
		});
		expect(outcomes(result)).toEqual(['updated', 'notFound']);
		expect(await harness.values('price')).toEqual([undefined, 2]);
	});

	test("'Create It', left from an operation that creates, counts as an error", async () => {
		await harness.fill('notes', { text: 'a' });
		const result = await onNotes('update', {
			items: [{ text: 'a', rank: 1 }, { text: 'x' }],
			parameters: byText,
			options: { ifMissing: 'create' },
		});
		expect(outcomes(result)).toEqual(['updated', 'notFound']);
		expect(await notes()).toHaveLength(1);
	});

	test('by the import key; other fields are cleared if the option is set', async () => {
		await harness.fill('orders', { number: '1', buyer: 'Fox', price: 5 });
		const result = await harness.run('update', {
			items: [{ number: '1', buyer: 'Owl' }],
			parameters: { matchOn: 'importKey', updateMode: 'replace' },
		});
		expect(outcomes(result)).toEqual(['updated']);
		expect((await harness.records())[0]!.fields).toEqual({ number: '1', buyer: 'Owl' });
	});
});

describe('with other options', () => {});

describe('with other writers', () => {
	const creates = 'POST /data/bulk';
	const updates = 'PATCH /data/bulk';
	const other = () => harness.sandbox.client();
	const data = (table: string) => `/apps/shop/tables/${table}/data`;
	const remove = (id: string) => other().delete(`${data('notes')}/${id}`);

	test('a record that was deleted after it was matched is created', async () => {
		const [stored] = await harness.fill('notes', { text: 'a', rank: 1 });
		otherWriter.before((target) => (target === updates ? remove(stored!.id) : undefined));
		const run = (options: IDataObject) =>
			onNotes('upsert', { items: [{ text: 'a', rank: 2 }], parameters: byText, credential: otherWriter.credential(), options });
		const result = await run({});
		expect(outcomes(result)).toEqual(['inserted']);
		const [created] = await harness.records('notes');
		expect(created).toMatchObject({ fields: { text: 'a', rank: 2 } });
		expect(result.json()[0]).toMatchObject({ id: created!.id });
	});

	test.each(['continueRegularOutput', 'stopWorkflow'] as const)(
		'get or create finds a record that was created in the meantime (%s)',
		async (onError) => {
			let isDone = false;
			otherWriter.before((target) => {
				if (target !== creates || isDone) return undefined;
				isDone = true;
				const fields = { number: '1', buyer: 'other', price: 5 };
				return other().post(data('orders'), { fields });
			});
			const result = await harness.run('upsert', {
				onError,
				items: numbered(3, { price: 1 }),
				credential: otherWriter.credential(),
				options: { ifFound: 'skip', batchSize: 1 },
			});
			expect(result.error).toBeUndefined();
			expect(outcomes(result)).toEqual(['found', 'inserted', 'inserted']);
			expect(result.json()[0]).toMatchObject({ buyer: 'other', price: 5 });
			expect(await harness.values('price')).toEqual([5, 1, 1]);
		},
	);

	test('one that can’t be looked up is not created twice by another attempt of the node', async () => {
		await harness.faults(
			{ match: { method: 'POST', path: '/data/bulk$' }, fault: { kind: 'resetAfter' } },
			{ match: { path: '/data/filter$' }, when: { nth: [2, 3, 4] }, fault: { kind: 'status', status: 403 } },
		);
		await onNotes('upsert', {
			items: [{ text: 'a' }],
			parameters: byText,
			onError: 'stopWorkflow',
			retry: { maxTries: 3, waitBetweenTries: 1 },
		});
		expect(await notes()).toHaveLength(1);
	});
});

test('10,000 items, matched on two fields', async () => {
	const rows = Array.from({ length: 10_000 }, (_, index) => ({ text: `name ${index % 2500}`, rank: Math.floor(index / 2500) }));
	await harness.fill('notes', ...rows.filter((_, index) => index % 2 === 0));
	const result = await onNotes('upsert', { items: rows, parameters: byBoth });
	const counts = { unchanged: 0, inserted: 0 } as Record<string, number>;
	for (const outcome of outcomes(result)) counts[String(outcome)]! += 1;
	expect(counts).toEqual({ unchanged: 5000, inserted: 5000 });
	expect(await notes()).toHaveLength(10_000);
	// Those of the first look-ups that run at once take two requests: nobody knows yet how long pages are.
	expect((await harness.requests()).length).toBeLessThan(100);
}, 60_000);

describe.each([['html'], ['empty']])('a gateway’s 404 (%s) does not come from the platform', (kind) => {
	test.each<[string, IDataObject, IDataObject]>([
		['upsert', { ifFound: 'skip' }, {}],
		['update', { ifMissing: 'skip' }, { skipUnchanged: true }],
	])('%s %j creates nothing and skips nothing', async (operation, rules, more) => {
		const [stored] = await harness.fill('notes', { text: 'a', rank: 1 });
		await harness.faults({ match: { method: 'GET', path: '/data/[^/]+$' }, fault: { kind, status: 404 } });
		const result = await onNotes(operation, {
			items: [{ id: stored!.id, text: 'b' }],
			parameters: { matchOn: 'recordId' },
			options: { ...rules, ...more },
		});
		expect(outcomes(result)).toEqual(['failed']);
		expect(await notes()).toEqual([{ text: 'a', rank: 1, ver: 0 }]);
	});
});

test('keys that differ only in case or spaces are two records, and a notice names them', async () => {
	const items = [{ text: 'Ann' }, { text: 'bob' }, { text: ' ann ' }].map((item) => ({ ...item, rank: 1 }));
	const result = await onNotes('upsert', { items, parameters: byText });
	expect(outcomes(result)).toEqual(['inserted', 'inserted', 'inserted']);
	expect(result.hints[0]).toContain("'Ann', ' ann ' (items 0 and 2)");
});
