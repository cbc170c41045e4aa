/** Operations that run item by item: several at a time, but those on one record in order. */
import type { IDataObject } from 'n8n-workflow';
import { numbered, useHarness } from './fixtures.cts';
import type { LoggedRequest } from '../../harness/sandboxAdmin.mts';

const harness = useHarness();

/** How many requests ran at once at most, in all and to one path. */
function underWay(requests: LoggedRequest[]) {
	const times = requests.map(({ path, startedAt, milliseconds }) => {
		const start = Date.parse(startedAt);
		return { path, start, end: start + (milliseconds ?? 0) };
	});
	const most = (among: typeof times) =>
		Math.max(
			...among.map(({ start }) => among.filter((t) => t.start <= start && start < t.end).length),
		);
	const paths = Object.values(Object.groupBy(times, ({ path }) => path));
	return { most: most(times), mostOfOnePath: Math.max(...paths.map((among) => most(among!))) };
}

const update = { recordId: { __rl: true, mode: 'id', value: '={{ $json.record }}' } };

test('Update: four records at a time, each record by one item after the other', async () => {
	const ids = (await harness.fill('orders', ...numbered(6))).map(({ id }) => id);
	await harness.settings({ latencyMs: 60 });
	const items: IDataObject[] = [1, 2, 3].flatMap((round) =>
		ids.map((record) => ({ record, price: round })),
	);
	const { json } = await harness.run('update', {
		items,
		parameters: update,
		options: { unknownFields: 'ignore' },
	});
	expect(json().map(({ id, price }) => [id, price])).toEqual(
		items.map(({ record, price }) => [record, price]),
	);
	expect(await harness.values('price')).toEqual(ids.map(() => 3));
	expect(underWay(await harness.writes())).toEqual({ most: 4, mostOfOnePath: 1 });
});

test('Update: a slow item keeps back only what comes after it on its record', async () => {
	const [slow, other] = (await harness.fill('orders', ...numbered(2))).map(({ id }) => id);
	await harness.faults({
		match: { method: 'PATCH', bodyContains: '"price":1' },
		fault: { kind: 'slowBefore', ms: 400 },
	});
	const items = [
		{ record: slow, price: 1 },
		{ record: slow, price: 2 },
		{ record: other, price: 3 },
	];
	await harness.run('update', { items, parameters: update, options: { unknownFields: 'ignore' } });
	expect(await harness.values('price')).toEqual([2, 3]);
	const bodies = (await harness.writes()).map(({ path }) => path.split('/').at(-1));
	expect(bodies).toEqual([slow, other, slow]);
});

test('Update: after a failed item nothing of its record is written, unless the node continues', async () => {
	const [id] = (await harness.fill('orders', ...numbered(1))).map((record) => record.id);
	const items = [
		{ record: id, state: 'no such state' },
		{ record: id, state: 'sent' },
	];
	const run = { items, parameters: update, options: { unknownFields: 'ignore' } };
	const stopped = await harness.run('update', run);
	expect(stopped.error).toMatchObject({ httpCode: '400', context: { itemIndex: 0 } });
	expect(await harness.values('state')).toEqual([undefined]);
	await harness.run('update', { ...run, onError: 'continueRegularOutput' });
	expect(await harness.values('state')).toEqual(['sent']);
});
