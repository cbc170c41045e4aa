/** Field Rules: what an existing record keeps, whoever finds it, and whoever writes meanwhile. */
import type { IDataObject } from 'n8n-workflow';
import { stored as storedFile } from './attachmentFixtures.cts';
import { APP, numbered, outcomes, useHarness, type Run } from './fixtures.cts';
import { useOtherWriter } from './otherWriter.cts';

const harness = useHarness();
const other = useOtherWriter(harness);

const ruled = (rules: Record<string, string>): IDataObject => ({
	fieldRules: { field: Object.entries(rules).map(([field, rule]) => ({ field, rule })) },
});
const rules = ruled({ price: 'whenCreating', comment: 'ifEmpty', buyer: 'always' });

/** One whose comment is empty, and one that has one. */
const stored = [
	{ number: '1', buyer: 'Ann', price: 1 },
	{ number: '2', buyer: 'Bob', price: 2, comment: 'theirs' },
];
const items = ['1', '2', '3'].map((number) => ({
	number,
	buyer: 'New',
	price: 9,
	comment: 'ours',
}));
const written = [
	{ number: '1', buyer: 'New', price: 1, comment: 'ours' },
	{ number: '2', buyer: 'New', price: 2, comment: 'theirs' },
	{ number: '3', buyer: 'New', price: 9, comment: 'ours' },
];
const all = async () => (await harness.records()).map(({ fields }) => fields);
const keptOf = (json: IDataObject[]) => json.map(({ kept }) => kept);

/** How the operations find the records of the items. */
const WAYS: Array<[string, string, Run]> = [
	['upsertMany', 'by import key', {}],
	['upsertMany', 'by other fields', { parameters: { matchOn: 'fields', matchFields: ['number'] } }],
	['upsert', 'by import key', {}],
	['upsert', 'by other fields', { parameters: { matchOn: 'fields', matchFields: ['number'] } }],
	['syncMany', 'by import key', { parameters: { filterMode: 'none', missingRecords: 'leave' } }],
];

describe.each(WAYS)('%s %s', (operation, _, run) => {
	const write = async (more: Run = {}) =>
		await harness.run(operation, {
			items,
			...run,
			...more,
			options: { ...rules, ...more.options },
		});

	test('an existing record keeps what the rules say, a new one gets everything', async () => {
		await harness.fill('orders', ...stored);
		const result = await write();
		expect(result.error?.message).toBeUndefined();
		expect(outcomes(result)).toEqual(['updated', 'updated', 'inserted']);
		expect(keptOf(result.json())).toEqual([['price'], ['price', 'comment'], undefined]);
		expect(await all()).toEqual(written);
		// One at a time, the output is the record as it is stored.
		if (operation === 'upsert') expect(result.json()).toMatchObject(written);
	});

	test('a second run changes nothing, and still says what is kept', async () => {
		await harness.fill('orders', ...stored);
		await write();
		const before = await harness.records();
		const result = await write();
		expect(outcomes(result)).toEqual(['unchanged', 'unchanged', 'unchanged']);
		if (operation === 'upsert') expect(result.json()).toMatchObject(written);
		expect(keptOf(result.json())).toEqual([['price'], ['price', 'comment'], undefined]);
		expect(await harness.records()).toEqual(before);
	});
});

test('updateMany by ID: rules hold, and a missing record is reported', async () => {
	const [first, second] = await harness.fill('orders', ...stored);
	const gone = '00000000-0000-4000-8000-000000000000';
	const ids = [first!.id, gone, second!.id];
	const result = await harness.run('updateMany', {
		items: ids.map((id) => ({ id, price: 9, comment: 'ours' })),
		parameters: { recordId: '={{ $json.id }}' },
		options: rules,
		onError: 'continueRegularOutput',
	});
	expect(outcomes(result)).toEqual(['updated', 'notFound', 'unchanged']);
	expect(keptOf(result.json())).toEqual([['price'], undefined, ['price', 'comment']]);
	expect(await all()).toEqual([{ ...stored[0], comment: 'ours' }, stored[1]]);
});

describe('update', () => {
	const update = async (items: IDataObject[], more: Run = {}) =>
		await harness.run('update', {
			items,
			parameters: { recordId: { __rl: true, mode: 'id', value: '={{ $json.id }}' } },
			options: rules,
			...more,
		});

	test('rules hold, and a field that is only written when creating is never written', async () => {
		const [first, second] = await harness.fill('orders', ...stored);
		const given = [first!, second!].map(({ id }) => ({ id, ...items[0], number: undefined }));
		const result = await update(given);
		expect(result.error?.message).toBeUndefined();
		expect(result.json()).toMatchObject([
			{ id: first!.id, ...written[0], kept: ['price'] },
			{ id: second!.id, ...written[1], kept: ['price', 'comment'] },
		]);
		expect(await all()).toEqual(written.slice(0, 2));
		const before = await harness.records();
		const again = await update(given);
		expect(keptOf(again.json())).toEqual([['price'], ['price', 'comment']]);
		expect(again.json()).toMatchObject(written.slice(0, 2));
		expect(await harness.records()).toEqual(before);
	});

	test('a missing record is an error', async () => {
		await harness.fill('orders', ...stored);
		const missing = [{ id: '00000000-0000-4000-8000-000000000000', price: 9 }];
		const result = await update(missing, { onError: 'continueRegularOutput' });
		expect(result.json()).toMatchObject([
			{
				error: "The table has no record with the ID '00000000-0000-4000-8000-000000000000'",
				message: 'Check the ID; the record may have been deleted.',
				details: { status: 404, retryable: false },
			},
		]);
	});

	test('with fields that are cleared, they are an error', async () => {
		const [first] = await harness.fill('orders', ...stored);
		const result = await harness.run('update', {
			items: [{ price: 9 }],
			parameters: {
				recordId: { __rl: true, mode: 'id', value: first!.id },
				updateMode: 'replace',
			},
			options: rules,
		});
		expect(result.error?.message).toMatch(/can't keep a field if those not sent are cleared/);
		expect(await all()).toEqual(stored);
	});
});

test('importFromFile: the report counts the records that kept a field', async () => {
	await harness.fill('orders', ...stored);
	const csv = ['number,buyer,price,comment', ...[1, 2, 3].map((n) => `${n},New,9,ours`)];
	const data = await storedFile('orders.csv', csv.join('\n'), 'text/csv');
	const result = await harness.run('importFromFile', {
		input: [{ json: {}, binary: { data } }],
		options: rules,
	});
	expect(result.json()[0]).toMatchObject({
		inserted: 1,
		updated: 2,
		kept: { price: 2, comment: 1 },
	});
	expect(await all()).toEqual(written);
});

test('a dry run says what would be kept, and a summary how often', async () => {
	await harness.fill('orders', ...stored);
	const shown = await harness.run('upsertMany', { items, options: { ...rules, dryRun: true } });
	expect(shown.json()).toMatchObject([
		{ outcome: 'updated', kept: ['price'], after: { buyer: 'New', comment: 'ours' } },
		{ outcome: 'updated', kept: ['price', 'comment'], after: { buyer: 'New' } },
		{ outcome: 'inserted' },
	]);
	expect(shown.json()[0]!.after).not.toHaveProperty('price');
	expect(await all()).toEqual(stored);
	const summed = await harness.run('upsertMany', {
		items,
		options: { ...rules, output: 'summary' },
	});
	expect(summed.json()[0]!.kept).toEqual({ price: 2, comment: 1 });
});

test("counts of kept fields are in the table's order, whichever item comes first", async () => {
	await harness.fill('orders', ...stored);
	const ofSummary = async (options: IDataObject, rows = items) => {
		const run = { items: rows, options: { ...rules, output: 'summary', ...options } };
		return (await harness.run('upsertMany', run)).json()[0]!.kept;
	};
	const csv = ['comment,price,number,buyer', ...[2, 1].map((n) => `ours,9,${n},New`)];
	const data = await storedFile('orders.csv', csv.join('\n'), 'text/csv');
	const input = [{ json: {}, binary: { data } }];
	const backwards = [...items]
		.reverse()
		.map(({ number, buyer, price, comment }) => ({ comment, price, number, buyer }));
	const counts = [
		await ofSummary({ dryRun: true }, backwards),
		await ofSummary({}, backwards),
		await ofSummary({}),
		(await harness.run('importFromFile', { input, options: rules })).json()[0]!.kept,
	];
	for (const kept of counts) {
		expect(Object.entries(kept as IDataObject)).toEqual([
			['price', 2],
			['comment', 1],
		]);
	}
});

test.each<[string, unknown, boolean]>([
	['nothing', undefined, true],
	['spaces', '  \n', true],
	['a text', 'x', false],
])('a text field that holds %s is empty: %s', async (_, comment, isEmpty) => {
	await harness.fill('orders', { number: '1', buyer: 'Ann', ...(comment ? { comment } : {}) });
	const item = { number: '1', buyer: 'Ann', comment: 'ours' };
	await harness.run('upsertMany', { items: [item], options: ruled({ comment: 'ifEmpty' }) });
	expect((await all())[0]!.comment).toBe(isEmpty ? 'ours' : comment);
});

test('0 is a value; an empty list and no links are none', async () => {
	const [, target] = await harness.fill(
		'orders',
		{ number: '1', buyer: 'Ann', price: 0, tags: [] },
		{ number: '2', buyer: 'Bob' },
	);
	const item = { number: '1', buyer: 'Ann', price: 5, tags: ['a'], related: { add: [target!.id] } };
	const options = ruled({ price: 'ifEmpty', tags: 'ifEmpty', related: 'ifEmpty' });
	const once = await harness.run('upsertMany', { items: [item], options });
	expect(keptOf(once.json())).toEqual([['price']]);
	expect((await all())[0]).toMatchObject({ price: 0, tags: ['a'] });
	const twice = await harness.run('upsertMany', {
		items: [{ ...item, tags: ['b'] }],
		options,
	});
	expect((await all())[0]).toMatchObject({ price: 0, tags: ['a'] });
	expect(outcomes(twice)).toEqual(['unchanged']);
});

test('a linked record is created only for a link that is written', async () => {
	const link = { name: 'home', type: 'schema_link', metadata: { linkTableId: 'towns' } };
	const towns = {
		internalName: 'towns',
		header: 'Towns',
		fields: [{ name: 'name', type: 'text', metadata: { importKey: true } }],
	};
	const key = { name: 'name', type: 'text', metadata: { importKey: true } };
	const { admin } = harness.sandbox;
	await admin.createTable({ app: APP, table: towns });
	await admin.createTable({
		app: APP,
		table: { internalName: 'people', header: 'People', fields: [key, link] },
		records: [{ fields: { name: 'Ann' } }],
	});
	for (const operation of ['upsertMany', 'upsert']) {
		const result = await harness.run(operation, {
			table: 'people',
			items: [
				{ name: 'Ann', home: `Oslo of ${operation}` },
				{ name: `Bob of ${operation}`, home: 'Rome' },
			],
			options: {
				...ruled({ home: 'whenCreating' }),
				linkValues: { link: [{ field: 'home', valueType: 'importKey', ifNotFound: 'create' }] },
			},
		});
		expect(outcomes(result)).toEqual(['unchanged', 'inserted']);
		expect(keptOf(result.json())).toEqual([['home'], undefined]);
	}
	const created = await harness.records('towns');
	expect(created.map(({ fields }) => fields.name)).toEqual(['Rome']);
});

test('items that turn out to mean one record are merged before the rules apply', async () => {
	await harness.sandbox.admin.createTable({
		app: APP,
		table: {
			internalName: 'slots',
			header: 'Slots',
			fields: [
				{ name: 'at', type: 'datetime', metadata: { importKey: true } },
				{ name: 'owner', type: 'text' },
				{ name: 'note', type: 'text' },
				{ name: 'mark', type: 'text' },
			],
		},
		records: [{ fields: { at: '2026-03-01T10:00:00Z', owner: 'theirs' } }],
	});
	// The first two have the same key; only the platform knows that the last one has it, too.
	const times = ['2026-03-01T10:00:00Z', '2026-03-01T11:00:00+01:00', '2026-03-01T10:00:00'];
	const result = await harness.run('upsertMany', {
		table: 'slots',
		items: times.map((at, mark) => ({ at, owner: 'ours', note: 'ours', mark: String(mark) })),
		options: ruled({ owner: 'ifEmpty', note: 'whenCreating' }),
	});
	expect(outcomes(result)).toEqual(['updated', 'updated', 'updated']);
	expect(keptOf(result.json())).toEqual(Array(3).fill(['owner', 'note']));
	const [slot] = await harness.records('slots');
	expect(slot!.fields).toMatchObject({ owner: 'theirs', mark: '2' });
	expect(slot!.fields).not.toHaveProperty('note');
});

describe('beside another writer', () => {
	const bulk = /^(PATCH|POST|PUT) \/data\/bulk$/;
	const item = { number: '2', buyer: 'New', price: 9, comment: 'ours' };
	const write = async (more: Run = {}) =>
		await harness.run('upsertMany', {
			items: [item],
			credential: other.credential(),
			...more,
			options: { ...rules, ...more.options },
		});
	const send = async (method: string, path: string, data?: object) => {
		const url = `/apps/${APP}/tables/orders/data${path}`;
		const { status } = await harness.sandbox.client().request({ method, url, data });
		expect(status).toBeLessThan(300);
	};
	/** Acts just before the first write. */
	const meanwhile = (act: () => Promise<unknown>) => {
		let isDone = false;
		other.before((target) => {
			if (isDone || !bulk.test(target)) return undefined;
			isDone = true;
			return act();
		});
	};

	test('a record that another one creates between look and write keeps what the rules say', async () => {
		meanwhile(async () => await harness.fill('orders', stored[1]!));
		const result = await write();
		expect(outcomes(result)).toEqual(['updated']);
		expect(keptOf(result.json())).toEqual([['price', 'comment']]);
		expect(await all()).toEqual([written[1]]);
	});

	test('a record that is deleted between look and write is created with everything', async () => {
		const [record] = await harness.fill('orders', stored[1]!);
		meanwhile(async () => await send('DELETE', `/${record!.id}`));
		const result = await write();
		expect(outcomes(result)).toEqual(['inserted']);
		expect(keptOf(result.json())).toEqual([undefined]);
		expect(await all()).toEqual([item]);
	});

	test('one at a time, too', async () => {
		await harness.fill('orders', stored[1]!);
		const [record] = await harness.records();
		let isDone = false;
		other.before((target) => {
			if (isDone || !target.startsWith('PATCH')) return undefined;
			isDone = true;
			return send('DELETE', `/${record!.id}`);
		});
		const result = await harness.run('upsert', {
			items: [item],
			credential: other.credential(),
			options: rules,
		});
		expect([isDone, outcomes(result)]).toEqual([true, ['inserted']]);
		expect(await all()).toEqual([item]);
	});

	test('a record that another one changes after it was read is written once more, without what it filled', async () => {
		const [record] = await harness.fill('orders', stored[0]!);
		const first = { ...item, number: '1' };
		meanwhile(async () => {
			await send('PATCH', `/${record!.id}`, { fields: { buyer: 'Theirs' } });
			other.before((target) => {
				if (target !== 'PATCH /data/bulk') return undefined;
				return send('PATCH', `/${record!.id}`, { fields: { comment: 'theirs' } });
			});
		});
		const result = await write({ items: [first] });
		expect(outcomes(result)).toEqual(['updated']);
		// What came after this item had filled the field stays.
		expect(await all()).toEqual([{ ...written[0], comment: 'theirs' }]);
	});
});

describe('rules that make no sense', () => {
	test.each<[string, Record<string, string>, RegExp]>([
		['a field that the table has not', { phone: 'ifEmpty' }, /no field 'phone'/],
		['a field that is read-only', { label: 'ifEmpty' }, /'label' is read-only/],
		['the import key', { number: 'ifEmpty' }, /records are found by 'number'/],
		['no field', { '': 'ifEmpty' }, /an entry has no field/],
		['no such rule', { price: 'never' }, /'Write It'/],
	])('%s', async (_, given, message) => {
		const result = await harness.run('upsertMany', { items, options: ruled(given) });
		expect(result.error?.message).toMatch(message);
		expect(await harness.writes()).toEqual([]);
	});

	test('two for one field', async () => {
		const entry = { field: 'price', rule: 'ifEmpty' };
		const options = { fieldRules: { field: [entry, { ...entry, rule: 'always' }] } };
		const result = await harness.run('upsertMany', { items, options });
		expect(result.error?.message).toMatch(/two entries for 'price'/);
	});

	test('beside a full update', async () => {
		const result = await harness.run('updateMany', {
			items: [{ id: '00000000-0000-4000-8000-000000000000', buyer: 'x' }],
			parameters: { recordId: '={{ $json.id }}', updateMode: 'replace' },
			options: ruled({ price: 'whenCreating' }),
		});
		expect(result.error?.message).toMatch(/can't keep a field if those not sent are cleared/);
	});

	test('all "Always" are no rules: nothing is read for them', async () => {
		await harness.run('upsertMany', { items: numbered(2), options: ruled({ buyer: 'always' }) });
		const requests = await harness.requests();
		expect(requests.filter(({ path }) => path.endsWith('/data/filter'))).toEqual([]);
	});
});

test('10,000 items take as many requests as with Skip Unchanged', async () => {
	const many = Array.from({ length: 10_000 }, (_, index) => ({
		number: `N${index}`,
		buyer: 'Ann',
		price: 1,
	}));
	const count = async (options: IDataObject, next: typeof many) => {
		await harness.sandbox.admin.clearRequests();
		const result = await harness.run('upsertMany', {
			items: next,
			// Automatic batches shrink on a slow machine.
			options: { ...options, batchSize: 500, output: 'summary' },
		});
		expect(result.error).toBeUndefined();
		return [(await harness.requests()).length, result.json()[0]!.requests];
	};
	await count({}, many);
	const changed = many.map((item) => ({ ...item, buyer: 'Bob' }));
	const [skipping] = await count({ skipUnchanged: true }, changed);
	const [withRules] = await count(ruled({ price: 'whenCreating' }), many);
	expect(withRules).toBeLessThanOrEqual(skipping as number);
}, 120_000);
