/** n8n can keep files in memory, as text in its items, instead of in a store. */
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { Container } from '@n8n/di';
import { BinaryDataConfig, BinaryDataService } from 'n8n-core';
import type { IBinaryData } from 'n8n-workflow';
import { prepare } from '../support/engine/engine.cts';
import { inMemory, read, useAttachmentHarness } from './attachmentFixtures.cts';
import { numbered, useHarness } from './fixtures.cts';

const rows = useHarness();
const attachments = useAttachmentHarness();
// Both use one sandbox, which the second one has emptied.
beforeEach(async () => await rows.createTables());

beforeAll(async () => {
	await prepare();
	Container.get(BinaryDataConfig).mode = 'default';
	await Container.get(BinaryDataService).init();
});

const importOf = async (data: IBinaryData) => await rows.run('importFromFile', { input: [{ json: {}, binary: { data } }] });

test('a table is exported, and imported again', async () => {
	const buyer = '=SUM("Ä, Ö")\nand more';
	await rows.fill('orders', ...numbered(1200, { buyer }));
	const exported = await rows.run('exportToFile', {});
	const [item] = exported.output('Data Platform');
	expect(item!.binary!.data!.id).toBeUndefined();
	const text = (await read(item)).toString('utf8');
	expect(text.match(/\r\n/g)).toHaveLength(1201);

	const again = await rows.run('importFromFile', { input: [item!], options: { skipUnchanged: true } });
	expect(again.error).toBeUndefined();
	expect(again.json()[0]).toMatchObject({ rows: 1200, unchanged: 1200, rejected: 0 });
});

test('rejected rows are returned as a file', async () => {
	const { json, output } = await importOf(inMemory('orders.csv', 'number,buyer,price\n1,a,1\n2,b,cheap\n', 'text/csv'));
	expect(json()[0]).toMatchObject({ rows: 2, inserted: 1, rejected: 1 });
	const [item] = output('Data Platform');
	expect(item!.binary!.rejected!.id).toBeUndefined();
	expect((await read(item, 'rejected')).toString('utf8')).toMatch(/\n2,b,cheap,.*,price,3\r\n$/);
});

test('a gzip file is read, and a damaged one is not imported', async () => {
	const packed = gzipSync('number,buyer\n1,a\n2,b\n');
	const damaged = Buffer.from(packed);
	damaged[damaged.length - 8]! ^= 1;
	expect((await importOf(inMemory('orders.csv.gz', damaged))).error!.message).toContain(
		'The gzip file is damaged, cut off, or several joined files: incorrect',
	);
	expect(await rows.writes()).toEqual([]);
	expect((await importOf(inMemory('orders.csv.gz', packed))).json()[0]).toMatchObject({ rows: 2, inserted: 2 });
});

test('a file is uploaded and downloaded again, unchanged', async () => {
	const bytes = randomBytes(500_000);
	const up = await attachments.upload([inMemory('a.bin', bytes), inMemory('empty.txt', '')]);
	expect(up.error).toBeUndefined();
	const [item] = (await attachments.run('download')).output('Data Platform');
	const { data, data_1: empty } = item!.binary!;
	expect([data, empty]).toMatchObject([{ fileName: 'a.bin' }, { fileName: 'empty.txt' }]);
	expect([data!.id, empty!.id]).toEqual([undefined, undefined]);
	expect((await read(item)).equals(bytes)).toBe(true);
	expect(await read(item, 'data_1')).toHaveLength(0);
});
