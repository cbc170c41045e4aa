/** Operations that run item by item: several at a time, but those on one record in order. */
import { picked } from '../support/engine/engine.cts';
import { stored, useAttachmentHarness } from './attachmentFixtures.cts';
import { goingOn, mostAtOnce, type Run } from './fixtures.cts';

const harness = useAttachmentHarness();

/** Creates documents, and returns their IDs. */
const documents = async (count: number) => {
	const ids: string[] = [];
	for (let number = 1; number <= count; number += 1) ids.push(await harness.insert({ title: `More ${number}` }));
	await harness.clearRequests();
	return ids;
};

/** Uploads files named after their items, `0.txt` and so on, each to the record with the ID that its item names. */
async function uploadTo(ids: string[], more: Run = {}) {
	const files = await Promise.all(ids.map(async (_, index) => await stored(`${index}.txt`, String(index))));
	const input = ids.map((id, index) => ({ json: { id }, binary: { data: files[index]! } }));
	return await harness.run('upload', { input, parameters: { recordId: picked('={{ $json.id }}'), inputDataFieldName: 'data' }, ...more });
}

const namesIn = async (id: string) => await harness.names('papers', id);

test('files are uploaded to four records at a time, and to each record one item after the other', async () => {
	const ids = await documents(6);
	await harness.settings({ latencyMs: 60 });
	const { json } = await uploadTo([...ids, ...ids, ...ids]);
	expect(json().map(({ uploaded }) => uploaded)).toEqual(Array.from({ length: 18 }, (_, index) => [`${index}.txt`]));
	expect(await Promise.all(ids.map(namesIn))).toEqual([
		['0.txt', '6.txt', '12.txt'],
		['1.txt', '7.txt', '13.txt'],
		['2.txt', '8.txt', '14.txt'],
		['3.txt', '9.txt', '15.txt'],
		['4.txt', '10.txt', '16.txt'],
		['5.txt', '11.txt', '17.txt'],
	]);
	const writes = await harness.writes();
	expect(mostAtOnce(writes)).toBe(4);
	expect(ids.map((id) => mostAtOnce(writes.filter(({ path }) => path.endsWith(id))))).toEqual([1, 1, 1, 1, 1, 1]);
});

test('a slow item delays only later items of its record', async () => {
	const [slow, other] = (await documents(2)) as [string, string];
	await harness.faults({ match: { method: 'PATCH', bodyContains: '"0.txt"' }, fault: { kind: 'slowBefore', ms: 400 } });
	await uploadTo([slow, slow, other]);
	expect(await namesIn(slow)).toEqual(['0.txt', '1.txt']);
	const paths = (await harness.writes()).map(({ path }) => path.split('/').at(-1));
	// The first two are sent at once, and may arrive in either order.
	expect(paths.slice(0, 2).toSorted()).toEqual([slow, other].toSorted());
	expect(paths.slice(2)).toEqual([slow]);
});

test('after a failed item nothing of its record is written, unless the node continues', async () => {
	const [id] = (await documents(1)) as [string];
	await harness.faults({ match: { bodyContains: '"0.txt"' }, fault: { kind: 'status', status: 400 } });
	const stopped = await uploadTo([id, id]);
	expect(stopped.error).toMatchObject({ httpCode: '400', context: { itemIndex: 0 } });
	expect(await namesIn(id)).toEqual([]);
	await uploadTo([id, id], { ...goingOn });
	expect(await namesIn(id)).toEqual(['1.txt']);
});
