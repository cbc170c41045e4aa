/** Files that are uploaded and downloaded: bytes, names, pictures, and what downloads do with the item. */
import { randomBytes } from 'node:crypto';
import type { IBinaryData } from 'n8n-workflow';
import sharp from 'sharp';
import { hash, inMemory, openFiles, read, stored, useAttachmentHarness } from './attachmentFixtures.cts';
import { fileValue, type Run } from './fixtures.cts';

const harness = useAttachmentHarness();

const upload = async (...files: IBinaryData[]) => await harness.upload(files);

/** The document with its files, downloaded. */
const download = async (run: Run = {}) => (await harness.run('download', run)).output('Data Platform')[0]!;

const storedBytes = async () => await Promise.all((await harness.files()).map(async (file) => await harness.bytes(file)));

describe('a file that is uploaded and downloaded', () => {
	test.each([0, 1, 196_607, 196_608, 196_609, 1_000_001])('of %d bytes is unchanged', async (size) => {
		const bytes = randomBytes(size);
		const { error } = await upload(await stored('data.bin', bytes));
		expect(error).toBeUndefined();
		expect(await harness.files()).toMatchObject([{ fileName: 'data.bin', fileSize: size }]);
		expect((await storedBytes()).map(hash)).toEqual([hash(bytes)]);
		const item = await download();
		expect(hash(await read(item))).toBe(hash(bytes));
		expect(item.binary!.data).toMatchObject({ bytes: size, mimeType: 'application/octet-stream' });
	});

	test.each([
		['unicode', 'Zpráva – ключ 🔑 報告書.txt'],
		['long', `${'very-long-'.repeat(200)}.txt`],
		['long in unicode', `${'報告'.repeat(400)}.txt`],
		['quotes', `it's "so" <b>&amp;%20.txt`],
		['no ending', 'README'],
		['a dot first', '.profile'],
	])('keeps a name that is or has %s', async (_kind, name) => {
		const { error } = await upload(await stored(name, 'x', 'text/plain'));
		expect(error).toBeUndefined();
		expect(await harness.names()).toEqual([name]);
		const item = await download();
		expect(item.binary!.data!.fileName).toBe(name);
		expect((await read(item)).toString()).toBe('x');
	});

	test.each([
		['../../etc/passwd', 'passwd'],
		['C:\\Users\\me\\report.pdf', 'report.pdf'],
		['line\nbreak\u0000.txt', 'linebreak.txt'],
		['exe\u202egnp.txt', 'exegnp.txt'],
		['..', 'file'],
		['folder/', 'file'],
	])('called %j is stored as %j', async (name, safe) => {
		await upload({ ...(await stored('x', 'x')), fileName: name });
		expect(await harness.names()).toEqual([safe]);
	});

	test('whose name in the record has a path is downloaded under the last part of it', async () => {
		await harness.change(harness.id, { papers: [fileValue('../../up.txt')] });
		const item = await download();
		expect(item.binary!.data).toMatchObject({ fileName: 'up.txt' });
		expect(item.binary!.data).not.toHaveProperty('directory');
	});

	test('from memory is unchanged, also if it is empty', async () => {
		const bytes = randomBytes(3_000_001);
		await upload(inMemory('memory.bin', bytes), inMemory('empty.txt', ''));
		expect((await storedBytes()).map(hash)).toEqual([hash(bytes), hash(Buffer.of())]);
	});

	test('from memory shares a request with files from the store', async () => {
		const contents = [randomBytes(500_000), randomBytes(7), randomBytes(700_001)] as const;
		await upload(inMemory('a', contents[0]), await stored('b', contents[1]), await stored('c', contents[2]));
		expect((await storedBytes()).map(hash)).toEqual(contents.map(hash));
		expect(await harness.writes()).toHaveLength(1);
		expect(openFiles()).toBe(0);
	});
});

describe('a download', () => {
	test("keeps the item's data and other files, and numbers all files after the first", async () => {
		await upload(await stored('a.txt', 'A', 'text/plain'), await stored('b.csv', 'B', 'text/csv'));
		const other = await stored('other', 'other');
		const input = [{ json: { mine: 1 }, binary: { other } }];
		const item = await download({ input, parameters: { outputField: 'paper' } });
		expect(item.json).toEqual({ mine: 1 });
		expect(Object.keys(item.binary!)).toEqual(['other', 'paper', 'paper_1']);
		expect((await read(item, 'other')).toString()).toBe('other');
		expect((await read(item, 'paper_1')).toString()).toBe('B');
		expect(item.binary!.paper_1).toMatchObject({ fileName: 'b.csv', mimeType: 'text/csv' });
		expect(item.pairedItem).toEqual({ item: 0 });
	});

	test('of one file is by its ID', async () => {
		await upload(await stored('a', 'A'), await stored('b', 'B'));
		const [, second] = await harness.files();
		const item = await download({ parameters: { fileId: second!.fileId } });
		expect(Object.keys(item.binary!)).toEqual(['data']);
		expect((await read(item)).toString()).toBe('B');
	});

	test('of thumbnails fails if a file has none', async () => {
		await upload(await stored('a.txt', 'A'));
		const { error } = await harness.run('download', { options: { thumbnails: true } });
		expect(error!.message).toBe(`'a.txt' of record '${harness.id}' has no thumbnail`);
	});
});

describe('in a field for pictures', () => {
	const parameters = { fileField: 'photo' };

	/** Uploads a picture of 600 x 300 pixels into the field for pictures. */
	const uploadPicture = async (name: string, type: string) => {
		const picture = sharp({ create: { width: 600, height: 300, channels: 3, background: 'red' } });
		return await harness.upload([await stored(name, await picture.png().toBuffer(), type)], { parameters });
	};

	test.each([
		['photo.png', 'image/png', 'photo.png', 'image/png'],
		['photo.PNG', 'application/octet-stream', 'photo.PNG', 'image/png'],
		['photo', 'image/png', 'photo.png', 'image/png'],
		['photo', 'image/jpeg', 'photo.jpg', 'image/jpeg'],
	])('a picture called %s of type %s is stored as %s, %s', async (name, type, fileName, mimetype) => {
		expect((await uploadPicture(name, type)).error).toBeUndefined();
		expect(await harness.files('photo')).toMatchObject([{ fileName, mimetype }]);
	});

	test('a web page that is called photo.png is rejected, and nothing is sent', async () => {
		const { error } = await uploadPicture('photo.png', 'text/html');
		expect(error!.message).toBe("'photo.png' has the extension of a picture, but its type is text/html");
		expect(await harness.writes()).toEqual([]);
	});

	test.each([
		['notes.txt', 'text/plain'],
		['photo', 'application/octet-stream'],
		['photo.constructor', 'image/png'],
	])('whether %s of type %s is a picture is the platform’s to say', async (name, type) => {
		const { error } = await uploadPicture(name, type);
		expect(error!.message).toContain(`accepts pictures (avif, jpg, png, jfif, bmp, ico, svg, webp, heic), not "${name}"`);
		expect(await harness.files('photo')).toEqual([]);
	});

	test('a thumbnail is downloaded in place of a picture, and has the name of its own type', async () => {
		await uploadPicture('photo.png', 'image/png');
		const result = await harness.run('download', { parameters, options: { thumbnails: true } });
		const [item] = result.output('Data Platform');
		expect(item!.binary!.data).toMatchObject({ fileName: 'photo.webp', mimeType: 'image/webp' });
		expect(await sharp(await read(item)).metadata()).toMatchObject({ width: 200, height: 100 });
	});
});
