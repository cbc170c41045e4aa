/** Operations that run item by item: several at a time, but those on one record in order. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { LoggedRequest } from '../../harness/sandboxAdmin.mts';
import { picked } from '../support/engine/engine.cts';
import { stored, useAttachmentHarness, type Run } from './attachmentFixtures.cts';

const harness = useAttachmentHarness();

/** How many requests ran at once at most, in all and to one path. */
function underWay(requests: LoggedRequest[]) {
	const times = requests.map(({ path, startedAt, milliseconds }) => {
		const start = Date.parse(startedAt);
		return { path, start, end: start + (milliseconds ?? 0) };
	});
	const most = (among: typeof times) =>
		Math.max(...among.map(({ start }) => among.filter((t) => t.start <= start && start < t.end).length));
	const paths = Object.values(Object.groupBy(times, ({ path }) => path));
	return { most: most(times), mostOfOnePath: Math.max(...paths.map((among) => most(among!))) };
}

/** The IDs of this many more documents. */
async function documents(count: number): Promise<string[]> {
	const bulk = Array.from({ length: count }, (_, n) => ({ fields: { title: `More ${n}` } }));
	await harness.sandbox.client().post('/apps/shop/tables/docs/data/bulk', { bulk });
	await harness.sandbox.admin.clearRequests();
	return (await harness.records()).map(({ id }) => id).filter((id) => id !== harness.id);
}

/** Uploads a file of its own for each entry, to the record with that ID. */
async function uploadTo(ids: string[], more: Run = {}) {
	const input = await Promise.all(
		ids.map(
			async (id, index): Promise<INodeExecutionData> => ({ json: { id }, binary: { data: await stored(`${index}.txt`, String(index)) } }),
		),
	);
	const parameters: IDataObject = { recordId: picked('={{ $json.id }}'), inputDataFieldName: 'data' };
	return await harness.run('upload', { input, parameters, ...more });
}

const namesIn = async (id: string) => (await harness.files('papers', id)).map((f) => f.fileName);

test('four records at a time, each record by one item after the other', async () => {
	const ids = await documents(6);
	await harness.sandbox.admin.settings({ latencyMs: 60 });
	const { json } = await uploadTo([...ids, ...ids, ...ids]);
	expect(json().map(({ uploaded }) => uploaded)).toEqual(Array.from({ length: 18 }, (_, index) => [`${index}.txt`]));
	for (const [at, id] of ids.entries()) {
		expect(await namesIn(id)).toEqual([0, 6, 12].map((round) => `${round + at}.txt`));
	}
	expect(underWay(await harness.writes())).toEqual({ most: 4, mostOfOnePath: 1 });
});

test('a slow item keeps back only what comes after it on its record', async () => {
	const [slow, other] = (await documents(2)) as [string, string];
	await harness.sandbox.admin.faults([{ match: { method: 'PATCH', bodyContains: '"0.txt"' }, fault: { kind: 'slowBefore', ms: 400 } }]);
	await uploadTo([slow, slow, other]);
	expect(await namesIn(slow)).toEqual(['0.txt', '1.txt']);
	const paths = (await harness.writes()).map(({ path }) => path.split('/').at(-1));
	expect(paths).toEqual([slow, other, slow]);
});

test('after a failed item nothing of its record is written, unless the node continues', async () => {
	const [id] = (await documents(1)) as [string];
	await harness.sandbox.admin.faults([{ match: { bodyContains: '"0.txt"' }, fault: { kind: 'status', status: 400 } }]);
	const stopped = await uploadTo([id, id]);
	expect(stopped.error).toMatchObject({ httpCode: '400', context: { itemIndex: 0 } });
	expect(await namesIn(id)).toEqual([]);
	await uploadTo([id, id], { onError: 'continueRegularOutput' });
	expect(await namesIn(id)).toEqual(['1.txt']);
});
