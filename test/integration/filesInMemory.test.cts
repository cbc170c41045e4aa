/** n8n can keep files in memory, as text in its items, instead of in a store. */
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { Container } from '@n8n/di';
import { BinaryDataConfig, BinaryDataService } from 'n8n-core';
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

test('rejected rows come out as a file', async () => {
	const file = inMemory('orders.csv', 'number,buyer,price\n1,a,1\n2,b,cheap\n', 'text/csv');
	const { json, output } = await rows.run('importFromFile', { input: [{ json: {}, binary: { data: file } }] });
	expect(json()[0]).toMatchObject({ rows: 2, inserted: 1, rejected: 1 });
	const [item] = output('Data Platform');
	expect(item!.binary!.rejected!.id).toBeUndefined();
	expect((await read(item, 'rejected')).toString('utf8')).toMatch(/\n2,b,cheap,.*,price,3\r\n$/);
});

test('a gzip file is read, and a damaged one is not imported', async () => {
	const packed = gzipSync('number,buyer\n1,a\n2,b\n');
	const importOf = async (bytes: Buffer) =>
		await rows.run('importFromFile', { input: [{ json: {}, binary: { data: inMemory('orders.csv.gz', bytes) } }] });
	const damaged = Buffer.from(packed);
	damaged[damaged.length - 8]! ^= 1;
	expect((await importOf(damaged)).error!.message).toContain('The gzip file is damaged: incorrect');
	expect(await rows.writes()).toEqual([]);
	expect((await importOf(packed)).json()[0]).toMatchObject({ rows: 2, inserted: 2 });
});

test('a file goes up and comes down again, unchanged', async () => {
	const bytes = randomBytes(500_000);
	const up = await attachments.upload([inMemory('a.bin', bytes), inMemory('empty.txt', '')]);
	expect(up.error).toBeUndefined();
	const down = await attachments.run('download', {});
	expect(down.error).toBeUndefined();
	const files = down.output('Data Platform').flatMap(({ binary }) => Object.values(binary ?? {}));
	const contents = await Promise.all(
		files.map(async (file) => {
			expect(file.id).toBeUndefined();
			return await Container.get(BinaryDataService).getAsBuffer(file);
		}),
	);
	expect(files.map(({ fileName }) => fileName)).toEqual(['a.bin', 'empty.txt']);
	expect(contents[0]!.equals(bytes)).toBe(true);
	expect(contents[1]!.length).toBe(0);
});
