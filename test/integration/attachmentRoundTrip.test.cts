/** Files there and back: bytes, names, and what downloads do with the item. */
import { randomBytes } from 'node:crypto';
import { hash, inMemory, openFiles, read, stored, useAttachmentHarness } from './attachmentFixtures.cts';

const harness = useAttachmentHarness();

const upload = (...files: Awaited<ReturnType<typeof stored>>[]) => harness.upload(files);

describe('there and back', () => {
	test.each([0, 1, 196_607, 196_608, 196_609, 1_000_001])('%d bytes', async (size) => {
		const bytes = randomBytes(size);
		const { error } = await upload(await stored('data.bin', bytes));
		expect(error).toBeUndefined();
		const [file] = await harness.files();
		expect(file).toMatchObject({ fileName: 'data.bin', fileSize: size });
		expect(hash(await harness.bytes(file!))).toBe(hash(bytes));
		const [item] = (await harness.run('download')).output('Data Platform');
		expect(hash(await read(item))).toBe(hash(bytes));
		expect(item!.binary!.data).toMatchObject({ bytes: size, mimeType: 'application/octet-stream' });
	});

	test.each([
		['unicode', 'Zpráva – ключ 🔑 報告書.txt'],
		['long', `${'very-long-'.repeat(200)}.txt`],
		['long in unicode', `${'報告'.repeat(400)}.txt`],
		['quotes', `it's "so" <b>&amp;%20.txt`],
		['no ending', 'README'],
		['a dot first', '.profile'],
	])('a name with %s', async (_kind, name) => {
		const { error } = await upload(await stored(name, 'x', 'text/plain'));
		expect(error).toBeUndefined();
		expect(await harness.names()).toEqual([name]);
		const [item] = (await harness.run('download')).output('Data Platform');
		expect(item!.binary!.data!.fileName).toBe(name);
		expect((await read(item)).toString()).toBe('x');
	});

	test.each([
		['../../etc/passwd', 'passwd'],
		['C:\\Users\\me\\report.pdf', 'report.pdf'],
		['line\nbreak\u0000.txt', 'linebreak.txt'],
		['exe\u202egnp.txt', 'exegnp.txt'],
		['..', 'file'],
		['folder/', 'file'],
	])('the name %j becomes %j', async (name, safe) => {
		await upload({ ...(await stored('x', 'x')), fileName: name });
		expect(await harness.names()).toEqual([safe]);
	});

	test('a name in the record that has a path stays inside n8n', async () => {
		const path = `/apps/shop/tables/docs/data/${harness.id}`;
		const file = { filename: '../../up.txt', mimetype: 'text/plain', filedata: 'data:text/plain;base64,eA==' };
		expect((await harness.sandbox.client().patch(path, { fields: { papers: [file] } })).status).toBe(200);
		const [item] = (await harness.run('download')).output('Data Platform');
		expect(item!.binary!.data).toMatchObject({ fileName: 'up.txt' });
		expect(item!.binary!.data).not.toHaveProperty('directory');
	});

	test('data kept in memory', async () => {
		const bytes = randomBytes(3_000_001);
		await upload(inMemory('memory.bin', bytes), inMemory('empty.txt', ''));
		const [file, empty] = await harness.files();
		expect(hash(await harness.bytes(file!))).toBe(hash(bytes));
		expect(empty!.fileSize).toBe(0);
	});

	test('stored and in memory in one request', async () => {
		const contents = [randomBytes(500_000), randomBytes(7), randomBytes(700_001)];
		await upload(inMemory('a', contents[0]!), await stored('b', contents[1]!), await stored('c', contents[2]!));
		const files = await harness.files();
		for (const [index, file] of files.entries()) {
			expect(hash(await harness.bytes(file))).toBe(hash(contents[index]!));
		}
		expect(await harness.writes()).toHaveLength(1);
		expect(openFiles()).toBe(0);
	});
});

describe('downloads', () => {
	test("the item's data and other files stay; further files are numbered", async () => {
		await upload(await stored('a.txt', 'A', 'text/plain'), await stored('b.csv', 'B', 'text/csv'));
		const other = await stored('other', 'other');
		const result = await harness.run('download', {
			input: [{ json: { mine: 1 }, binary: { other } }],
			parameters: { outputField: 'paper' },
		});
		const [item] = result.output('Data Platform');
		expect(item!.json).toEqual({ mine: 1 });
		expect(Object.keys(item!.binary!)).toEqual(['other', 'paper', 'paper_1']);
		expect((await read(item, 'other')).toString()).toBe('other');
		expect((await read(item, 'paper_1')).toString()).toBe('B');
		expect(item!.binary!.paper_1).toMatchObject({ fileName: 'b.csv', mimeType: 'text/csv' });
		expect(item!.pairedItem).toEqual({ item: 0 });
	});

	test('one by its id', async () => {
		await upload(await stored('a', 'A'), await stored('b', 'B'));
		const [, second] = await harness.files();
		const result = await harness.run('download', { parameters: { fileId: second!.fileId } });
		const [item] = result.output('Data Platform');
		expect(Object.keys(item!.binary!)).toEqual(['data']);
		expect((await read(item)).toString()).toBe('B');
	});

	test('a file that has no thumbnail', async () => {
		await upload(await stored('a.txt', 'A'));
		const { error } = await harness.run('download', { options: { thumbnails: true } });
		expect(error!.message).toBe(`'a.txt' of record '${harness.id}' has no thumbnail`);
	});
});
