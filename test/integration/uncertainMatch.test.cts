/** Two spellings of a match value that only the platform knows to be equal. */
import type { IDataObject } from 'n8n-workflow';
import { Container } from '@n8n/di';
import { BinaryDataConfig, BinaryDataService } from 'n8n-core';
import { stored as storedFile } from './attachmentFixtures.cts';
import { APP, outcomes, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

beforeAll(async () => {
	Container.get(BinaryDataConfig).mode = 'filesystem';
	await Container.get(BinaryDataService).init();
});

const days = {
	internalName: 'days',
	header: 'Days',
	fields: [
		{ name: 'k', type: 'date' },
		{ name: 'who', type: 'text' },
		{ name: 'n', type: 'number' },
	],
};

beforeEach(async () => {
	const { admin } = harness.sandbox;
	await admin.createTable({ app: APP, timeZone: 'UTC', table: days });
	await admin.clearRequests();
});

/** A day as such, and as a time within it in the application's time zone. */
const forms = ['2026-10-25', '2026-10-25T14:00:00Z', '2026-10-25T09:00:00+01:00'];
const items: IDataObject[] = forms.map((k, n) => ({ k, n }));
const onDay = { matchOn: 'fields', matchFields: ['k'] };

const run = (operation: string, more: Run = {}) =>
	harness.run(operation, {
		table: 'days',
		items,
		...more,
		parameters: { ...onDay, ...more.parameters },
	});
const stored = async () => (await harness.records('days')).map(({ fields }) => fields);

test.each<[string, Run]>([
	['upsertMany', {}],
	['upsertMany', { options: { batchSize: 1, parallelRequests: 8 } }],
	['upsertMany', { options: { skipUnchanged: true } }],
	['syncMany', {}],
	['upsert', {}],
])('%s creates one record of them, %j', async (operation, more) => {
	const result = await run(operation, more);
	expect(result.error).toBeUndefined();
	expect(outcomes(result)).toEqual(['inserted', 'updated', 'updated']);
	expect(await stored()).toEqual([{ k: '2026-10-25', n: 2 }]);
	expect(new Set(result.json().map(({ id }) => id)).size).toBe(1);
	const again = await run(operation, more);
	expect(again.error).toBeUndefined();
	expect(await stored()).toHaveLength(1);
});

test('with the uncertain forms first, too', async () => {
	const result = await run('upsertMany', { items: [...items].reverse() });
	expect(result.error).toBeUndefined();
	expect(outcomes(result)).toEqual(['inserted', 'updated', 'updated']);
	expect(await stored()).toEqual([{ k: '2026-10-25', n: 0 }]);
});

describe('items between two of the same spelling count in order', () => {
	const [day, noon, morning] = forms as [string, string, string];
	const orders = [
		[day, noon, day],
		[noon, day, noon],
		[day, noon, day, morning, noon],
		[noon, day, morning, day],
	];
	test.each(
		orders.flatMap((order) =>
			['upsertMany', 'updateMany', 'syncMany'].map((way) => [way, order] as [string, string[]]),
		),
	)('%s %j', async (way, order) => {
		const records = [{ fields: { k: day, who: 'nobody', n: 99 } }];
		const { admin } = harness.sandbox;
		await admin.createTable({ app: APP, timeZone: 'UTC', table: days, records });
		// The second to last gives the number, the last one the name.
		const inTurn = order.map((k, n) => (n === order.length - 1 ? { k, who: 'last' } : { k, n }));
		const more: Run = {
			items: inTurn,
			...(way === 'syncMany' && { parameters: { missingRecords: 'leave' } }),
		};
		const result = await run(way, more);
		expect(result.error).toBeUndefined();
		expect(outcomes(result)).toHaveLength(order.length);
		expect(await stored()).toEqual([{ k: day, who: 'last', n: order.length - 2 }]);
	});
});

test.each([
	[1, 0],
	[0, 1],
	[0, 1, 0],
	[1, 0, 1],
	[1, 2, 0],
])('of what is created, too, each field has the last value: forms %s, %s', async (...order) => {
	const inTurn = order.map((form, n) => ({ k: forms[form]!, n, ...(n === 0 && { who: 'first' }) }));
	const result = await run('upsertMany', { items: inTurn });
	expect(result.error).toBeUndefined();
	expect(outcomes(result)).toContain('inserted');
	expect(await stored()).toEqual([{ k: '2026-10-25', who: 'first', n: order.length - 1 }]);
});

test('links that are created for items of two forms are those of the last one', async () => {
	const { admin } = harness.sandbox;
	const teams = {
		internalName: 'teams',
		fields: [{ name: 'name', type: 'text', metadata: { importKey: true } }],
	};
	const link = {
		name: 'team',
		type: 'schema_link',
		metadata: { linkTableId: 'teams', multiple: false },
	};
	await admin.createTable({ app: APP, table: teams });
	await admin.createTable({
		app: APP,
		timeZone: 'UTC',
		table: { ...days, fields: [...days.fields, link] },
	});
	const linkValues = {
		link: [{ field: 'team', valueType: 'field', linkedField: 'name', ifNotFound: 'create' }],
	};
	const inTurn = [0, 1, 0].map((form, n) => ({ k: forms[form]!, n, team: `team ${n}` }));
	const result = await run('upsertMany', { items: inTurn, options: { linkValues } });
	expect(result.error).toBeUndefined();
	const [record, ...others] = await stored();
	expect(others).toEqual([]);
	expect(record).toMatchObject({ n: 2 });
	const found = (await harness.records('teams')).find(({ fields }) => fields.name === 'team 2');
	expect(JSON.stringify(record!.team)).toContain(found!.id);
});

test('get or create returns the record that was created', async () => {
	const result = await run('upsertMany', { options: { ifFound: 'skip' } });
	expect(outcomes(result)).toEqual(['inserted', 'found', 'found']);
	expect(await stored()).toEqual([{ k: '2026-10-25', n: 0 }]);
});

test('if duplicates are errors, all but the first are', async () => {
	const result = await run('upsertMany', {
		options: { duplicates: 'error' },
		onError: 'continueRegularOutput',
	});
	expect(outcomes(result)).toEqual(['inserted', 'failed', 'failed']);
	expect(result.json()[1]!.error).toBe(
		'Item 1 was not sent: it has the same match values as item 0',
	);
	expect(await stored()).toEqual([{ k: '2026-10-25', n: 0 }]);
});

test('Import From File creates one record of them', async () => {
	const text = `k,n\n${forms.map((k, n) => `${k},${n}`).join('\n')}\n`;
	const data = await storedFile('days.csv', text, 'text/csv');
	const result = await run('importFromFile', { input: [{ json: {}, binary: { data } }] });
	expect(result.error).toBeUndefined();
	expect(result.json()).toMatchObject([{ inserted: 1, updated: 2 }]);
	expect(await stored()).toHaveLength(1);
});

test('only those that may be the same are created one by one', async () => {
	const one = (who: string, k: string, n = 1) => ({ who, k, n });
	const result = await run('upsertMany', {
		items: [one('a', forms[0]!), one('b', forms[1]!), one('c', forms[1]!), one('c', forms[2]!, 2)],
		parameters: { matchFields: ['who', 'k'] },
	});
	expect(outcomes(result)).toEqual(['inserted', 'inserted', 'inserted', 'updated']);
	const writes = (await harness.writes()).map(({ method, records }) => `${method} ${records}`);
	expect(writes).toEqual(['POST 2', 'POST 1', 'PATCH 1']);
});

test('nothing is created next to a record that may or may not have been created', async () => {
	await harness.faults({
		match: { method: 'POST', path: 'bulk$' },
		when: { nth: [1] },
		fault: { kind: 'slowBefore', ms: 600 },
	});
	const result = await run('upsertMany', {
		items: items.slice(0, 2),
		options: { timeout: 0.25 },
		onError: 'continueRegularOutput',
	});
	expect(outcomes(result)).toEqual(['unknown', 'failed']);
	await harness.sandbox.admin.waitUntilIdle();
	expect(await stored()).toHaveLength(1);
});
