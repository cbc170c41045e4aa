/** Import keys of every type that can be one, as the service stores them, and of those that can't. */
import type { IDataObject } from 'n8n-workflow';
import { goingOn, order, outcomes, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

/** A table whose import key has a type. The application's time zone is Berlin's. */
async function make(type: string, metadata: IDataObject = {}) {
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
	await harness.sandbox.admin.reset();
	await harness.createTable({ internalName: 'zone', fields: [{ name: 'a', type: 'text' }] }, [], 'Europe/Berlin');
	await harness.fill('orders');
	await harness.createTable({ internalName: 'typed', header: 'Typed', fields });
}

const run = async (items: object[], more: Run = {}) => await harness.run('upsert', { table: 'typed', ...goingOn, items, ...more });

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
		await harness.faults({ match: { path: '/data/bulk$' }, when: { nth: [1] }, fault: { kind: 'resetAfter' } });
		const result = await run(changed, { options: { maxRetryWait: 0 } });
		expect(outcomes(result)).toEqual(['written', 'written']);
		expect(await stored()).toMatchObject([{ name: 'y' }, { name: 'y' }]);
	});

	test('another spelling is the same key', async () => {
		await run(twice);
		expect(outcomes(await run([{ code: again, name: 'z' }]))).toEqual(['updated']);
		expect(await stored()).toMatchObject([{ name: 'z' }, { name: 'x' }]);
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
	const { error } = await run([{ code: 1, name: 'x' }], { onError: undefined, options: { importKey: 'name' } });
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

	test('items with the same key become one record of the last values, and share its outcome', async () => {
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

	test('merged items are counted in the summary; the notice counts records', async () => {
		const result = await run(items, { options: { output: 'summary' } });
		expect(result.json()[0]).toMatchObject({ merged: 1, inserted: 3 });
		expect(result.hints[0]).toMatch(/^2 inserted, 1 merged \(\d+ requests?\)\.$/);
	});

	test('merged items add up what they change in links', async () => {
		const [one, two] = await harness.fill('orders', order(1), order(2));
		await run([one, two].map(({ id }) => ({ code: 1, links: [id] })));
		expect(await stored()).toEqual([{ code: 1, links: [one.id, two.id] }]);
	});
});
