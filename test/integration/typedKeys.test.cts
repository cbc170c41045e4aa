/**
 * Import keys of every type that can be one, as the service stores them, and of those that can't.
 */
import type { IDataObject } from 'n8n-workflow';
import type { FaultRule } from '../../harness/sandboxAdmin.mts';
import { APP, expectErrorItem, numbered, outcomes, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

const onBulk = { match: { path: '/data/bulk$' } };

/** A table whose import key has a type. The application's time zone is Berlin's. */
const make = async (type: string, metadata: IDataObject = {}) => {
	const fields = [
		{ name: 'code', type, metadata: { importKey: true, ...metadata } },
		{ name: 'name', type: 'text' },
		{ name: 'at', type: 'datetime' },
		{ name: 'links', type: 'schema_link', metadata: { linkTableId: 'orders', multiple: true } },
		{ name: 'site', type: 'url_link' },
		{ name: 'price', type: 'money_with_currency' },
		{ name: 'tags', type: 'chips' },
		{ name: 'steps', type: 'checklist' },
	];
	const { admin } = harness.sandbox;
	await admin.reset();
	const zone = { internalName: 'zone', fields: [{ name: 'a', type: 'text' }] };
	await admin.createTable({ app: APP, timeZone: 'Europe/Berlin', table: zone });
	await harness.fill('orders');
	await admin.createTable({ app: APP, table: { internalName: 'typed', header: 'Typed', fields } });
	await admin.clearRequests();
};

const run = async (items: unknown[], more: Run = {}) =>
	await harness.run('upsert', { table: 'typed', onError: 'continueRegularOutput', items: items as IDataObject[], ...more });

const stored = async () => (await harness.records('typed')).map(({ fields }) => fields);

const choices = { items: [{ value: 'a' }, { value: 'b' }] };

/** Two keys each, and another spelling of the first one. */
const KEYS: Array<[type: string, one: unknown, other: unknown, again: unknown, more?: IDataObject]> = [
	['text', '1', 'a,b\\', 1],
	['long_text', 'x\ny', 'y', 'x\ny'],
	['markdown', '# a', '# b', '# a'],
	['radio', 'a', 'b', 'a', choices],
	['dropdown', 'b', 'a', 'b', choices],
	['number', 1, 2, '1.0'],
	['decimal', 1.5, 0.1, '1.50'],
	['money', 0.3, 99.99, '.3'],
	['percentage', 0.1, 0.2, '0.10'],
	['date', '2026-01-01', '2026-01-02', '2026-01-01T00:00:00Z'],
	['datetime', '2026-01-01T10:00:00Z', '2026-01-01Z', '2026-01-01T11:00:00+01:00'],
];

describe.each(KEYS)('%s: %j', (...[type, one, other, again, metadata]) => {
	beforeEach(async () => await make(type, metadata));

	const twice = [one, other].map((code) => ({ code, name: 'x' }));
	const changed = [one, other].map((code) => ({ code, name: 'y' }));

	test('the same items twice are inserted, then unchanged, then updated', async () => {
		expect(outcomes(await run(twice))).toEqual(['inserted', 'inserted']);
		expect(outcomes(await run(twice))).toEqual(['unchanged', 'unchanged']);
		expect(outcomes(await run(changed))).toEqual(['updated', 'updated']);
		expect(await stored()).toMatchObject([{ name: 'y' }, { name: 'y' }]);
	});

	test('a look-up makes up for a lost response', async () => {
		await run(twice);
		await harness.faults({ ...onBulk, when: { nth: [1] }, fault: { kind: 'resetAfter' } });
		const result = await run(changed, { options: { maxRetryWait: 0 } });
		expect(outcomes(result)).toEqual(['written', 'written']);
		expect(await stored()).toMatchObject([{ name: 'y' }, { name: 'y' }]);
	});

	test('another spelling is the same key', async () => {
		await run(twice);
		expect(outcomes(await run([{ code: again, name: 'z' }]))).toEqual(['updated']);
		expect(await stored()).toMatchObject([{ name: 'z' }, { name: 'x' }]);
	});

	test('a dry run sees existing records', async () => {
		await run(twice);
		const result = await run([...changed, { code: one, name: 'x' }].slice(1), { options: { dryRun: true } });
		expect(outcomes(result)).toEqual(['updated', 'unchanged']);
	});
});

const TYPICAL = KEYS.filter(([type]) => ['number', 'date', 'datetime'].includes(type));

describe.each(TYPICAL)('both spellings in one input, %s: %j', (...[type, one, other, again]) => {
	beforeEach(async () => await make(type));

	const items = [
		{ code: one, name: 'n', steps: null },
		{ code: again, tags: ['t'] },
		{ code: other, name: 'o' },
		{ code: one, name: 'm' },
	];
	const whole = { name: 'm', tags: ['t'] };

	test.each<[string, string[], FaultRule['fault'][]]>([
		['one response', ['inserted', 'inserted', 'inserted', 'inserted'], []],
		['a lost response', Array(4).fill('written'), [{ kind: 'resetAfter' }]],
		['a response that leaves out a record', ['written', 'written', 'inserted', 'written'], [{ kind: 'fewerRecords' }]],
		['an empty list', Array(4).fill('written'), [{ kind: 'fewerRecords', count: 9 }]],
	])('are one record after %s', async (_, expected, faults) => {
		await harness.faults(...faults.map((fault) => ({ ...onBulk, when: { nth: [1] }, fault })));
		expect(outcomes(await run(items, { options: { maxRetryWait: 0 } }))).toEqual(expected);
		expect((await stored()).filter(({ name }) => name === 'm')).toMatchObject([whole]);
		expect(await stored()).toHaveLength(2);
	});

	test.each([{}, { skipUnchanged: true }])('update the existing record (%j)', async (options) => {
		await run([{ code: one, name: 'n' }]);
		const [first, second, third, fourth] = outcomes(await run(items, { options }));
		expect([first, second, third, fourth]).toEqual(['updated', 'updated', 'inserted', 'updated']);
		expect((await stored()).filter(({ name }) => name === 'm')).toMatchObject([whole]);
	});
});

test.each(['money_with_currency', 'checkbox', 'chips', 'url_link', 'checklist', 'chat', 'file'])(
	'%s is rejected as import key before anything is sent',
	async (type) => {
		await make(type);
		const { error } = await run([{ code: true, name: 'x' }], { onError: undefined });
		expect(error?.message).toContain(`has the type '${type}', which can't be a key`);
		expect(await harness.writes()).toEqual([]);
	},
);

test('another import key field than the marked one is rejected before anything is sent', async () => {
	await make('number');
	const options = { importKey: 'name' };
	const { error } = await run([{ code: 1, name: 'x' }], { onError: undefined, options });
	expect(error?.message).toContain("The import key of table 'Typed' is 'code', not 'name'");
	expect(await harness.writes()).toEqual([]);
});

describe('items with the same key', () => {
	beforeEach(async () => await make('number'));

	const items = [
		{ code: 1, name: 'first', tags: ['a'] },
		{ code: 2, name: 'other' },
		{ code: '1', name: 'last' },
	];

	test('become one record of the last values, and share its outcome', async () => {
		const result = await run(items);
		expect(outcomes(result)).toEqual(['inserted', 'inserted', 'inserted']);
		const [first, , last] = result.json();
		expect(first).toMatchObject({ id: last!.id, mergedInto: 2, tags: ['a'] });
		expect(last).toHaveProperty('mergedInto', null);
		expect(await stored()).toEqual([
			{ code: 2, name: 'other' },
			{ code: 1, name: 'last', tags: ['a'] },
		]);
		expect(outcomes(await run(items))).toEqual(['unchanged', 'unchanged', 'unchanged']);
	});

	test('are counted in the summary; the notice counts records', async () => {
		const result = await run(items, { options: { output: 'summary' } });
		expect(result.json()[0]).toMatchObject({ merged: 1, inserted: 3 });
		expect(result.hints[0]).toMatch(/^2 inserted, 1 merged \(\d+ requests?\)\.$/);
	});

	test('share its failure', async () => {
		const result = await run([items[0], { code: 1, links: ['nobody'] }]);
		expect(outcomes(result)).toEqual(['failed', 'failed']);
		expectErrorItem(result.output('Data Platform')[0]!, 0, 'Merged into item 1');
		expect(await stored()).toEqual([]);
	});

	test('add up what they change in links', async () => {
		const [one, two] = await harness.fill('orders', { number: '1', buyer: 'Fox' }, { number: '2', buyer: 'Owl' });
		await run([
			{ code: 1, links: [one!.id] },
			{ code: 1, links: [two!.id] },
		]);
		expect(await stored()).toEqual([{ code: 1, links: [one!.id, two!.id] }]);
	});

	test('of updates are merged by record ID, of replacements the last counts', async () => {
		await run([{ code: 1, name: 'x', tags: ['a'] }]);
		const id = (await harness.records('typed'))[0]!.id;
		const update = async (updateMode: string) =>
			await harness.run('update', {
				table: 'typed',
				items: [
					{ id, name: 'y', tags: ['b'] },
					{ id, name: 'z' },
				],
				parameters: { recordId: '={{ $json.id }}', updateMode },
			});
		const merged = await update('partial');
		expect(outcomes(merged)).toEqual(['updated', 'updated']);
		expect(merged.json()[0]).toMatchObject({ mergedInto: 1 });
		expect(await stored()).toEqual([{ code: 1, name: 'z', tags: ['b'] }]);
		expect(outcomes(await update('replace'))).toEqual(['updated', 'updated']);
		expect(await stored()).toEqual([{ name: 'z' }]);
	});

	test('a dry run of creates says which of them would fail', async () => {
		await run([{ code: 2 }]);
		const created = await harness.run('create', {
			table: 'typed',
			onError: 'continueRegularOutput',
			items: [1, 2, 1, 3, 2].map((code) => ({ code })),
			options: { dryRun: true },
		});
		expect(outcomes(created)).toEqual(['inserted', 'failed', 'failed', 'inserted', 'failed']);
		expectErrorItem(created.output('Data Platform')[2]!, 2, 'previous item');
		expectErrorItem(created.output('Data Platform')[4]!, 4, 'already exists');
	});
});

describe('what can not be proven to be the same', () => {
	const link = { href: 'https://example.com', description: 'd' };
	const price = { amount: 1, currency: 'EUR', date: '2026-01-01' };
	const entry = (header: string, checked: boolean) => ({ header, checked });
	const steps = { lists: [{ header: 'l', items: [entry('a', true), entry('b', false)] }] };

	beforeEach(async () => {
		await make('number');
		await run([{ code: 1, site: link, price, tags: ['a', 'b'], steps, at: '2026-01-01T10:00:00' }]);
		await harness.sandbox.admin.clearRequests();
	});

	const skipping = { options: { skipUnchanged: true } };

	test.each<[string, IDataObject]>([
		['a link without its description', { site: { href: link.href } }],
		['money without its date', { price: { amount: 1, currency: 'EUR' } }],
		['a shorter list', { tags: ['a'] }],
		['a longer list', { tags: ['a', 'b', 'c'] }],
		['a list in another order', { tags: ['b', 'a'] }],
		['a checklist entry that is not checked', { steps: { lists: [{ header: 'l', items: [entry('a', false), entry('b', false)] }] } }],
		['a checklist entry less', { steps: { lists: [{ header: 'l', items: [entry('a', true)] }] } }],
		['another time without a zone', { at: '2026-01-01T11:00:00' }],
	])('%s is written', async (_, values) => {
		expect(outcomes(await run([{ code: 1, ...values }], skipping))).toEqual(['updated']);
		expect(await harness.writes()).toHaveLength(1);
	});

	test.each<[string, IDataObject]>([
		['a link', { site: link }],
		['money', { price: { ...price, date: '2026-01-01T00:00:00' } }],
		['a list', { tags: ['a', 'b'] }],
		['a checklist', { steps }],
		['a time', { at: '2026-01-01T09:00:00Z' }],
	])('%s that is the same is not written', async (_, values) => {
		expect(outcomes(await run([{ code: 1, ...values }], skipping))).toEqual(['unchanged']);
		expect(await harness.writes()).toEqual([]);
	});

	test.each<[Run, string[]]>([
		[{}, ['GET', 'POST/data/bulk', 'POST/data/filter']],
		[skipping, ['GET', 'POST/data/filter', 'PATCH/data/bulk', 'POST/data/filter']],
	])('300 unchanged records take no request each (%j)', async (more, expected) => {
		const [order] = await harness.fill('orders', { number: '1', buyer: 'Fox' });
		const at = '2026-01-01T10:00:00';
		const items = Array.from({ length: 300 }, (_, code) => ({ code, links: [order!.id], steps, at }));
		await run(items);
		await harness.sandbox.admin.clearRequests();
		expect(new Set(outcomes(await run(items, more)))).toEqual(new Set(['unchanged']));
		const requests = await harness.requests();
		expect(requests.map(({ method, path }) => `${method}${path.split('/typed')[1]}`)).toEqual(expected);
	});

	test('a record that the platform skipped has an unknown outcome if its values do not show it', async () => {
		const orders = await harness.fill('orders', ...numbered(2));
		const [first, second] = orders.map(({ id }) => [{ code: 1, links: { add: [id] } }]);
		await run(first!);
		await harness.faults({ ...onBulk, fault: { kind: 'skipRecords', indexes: [0] } });
		const result = await run(second!);
		expect(outcomes(result)).toEqual(['unknown']);
		expectErrorItem(result.output('Data Platform')[0]!, 0, "whether 'links' holds what was sent");
	});
});
