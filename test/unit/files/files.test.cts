import { compareFiles } from '../../../nodes/DataPlatform/files/transfer.ts';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import * as fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import type { FieldDefinition, JsonValue } from '../../../nodes/DataPlatform/api/types.ts';
import { newStream, withStallTimeout, type ByteStream } from '../../../nodes/DataPlatform/transport/streams.ts';
import { streamBody } from '../../../nodes/DataPlatform/files/uploadStream.ts';
import type { Upload } from '../../../nodes/DataPlatform/files/uploadValidation.ts';
import { fileField, guardUpload, pictureName, safeFileName, safeMimetype } from '../../../nodes/DataPlatform/files/uploadValidation.ts';
import { anyText } from '../../support/anyText.cts';
import { thrownBy } from '../fixtures.cts';

const field = (type: string, name = 'papers'): FieldDefinition => ({ name, header: name, type, metadata: {} });

const asStream = (chunks: Uint8Array[]) => Readable.from(chunks, { objectMode: true }) as unknown as ByteStream;

const read = async (stream: ByteStream) => await buffer(stream as unknown as Readable);

const upload = (content: Upload['content'], bytes: number, name = 'a.bin'): Upload => ({
	name,
	mimetype: 'application/octet-stream',
	bytes,
	content,
});

const inField = (files: JsonValue[]) => ({ fields: { papers: files } }) as IDataObject;

interface Sent {
	fields: { papers: Array<{ filename: string; filedata: string }> };
}

/** What the service receives: the body's bytes, and the files in it. */
async function sent(uploads: Upload[], body = inField) {
	const stream = streamBody(body, uploads);
	const bytes = await read(stream.body);
	stream.close();
	const json = JSON.parse(bytes.toString('utf8')) as Sent;
	const files = json.fields.papers.map(({ filedata }) => Buffer.from(filedata.replace(/^data:[^,]*;base64,/, ''), 'base64'));
	return { announced: stream.bytes, bytes, json, files, isWhole: stream.isFullySent() };
}

describe('a body with files in it', () => {
	test.each([0, 1, 2, 3, 4, 49_151, 49_152, 49_153, 200_000])(
		'%d bytes, stored and in memory: the length is exact, the file the same',
		async (size) => {
			const content = randomBytes(size);
			for (const given of [content, async () => asStream([content])]) {
				const { announced, bytes, files, isWhole } = await sent([upload(given, size)]);
				expect(bytes.length).toBe(announced);
				expect(files[0]!.equals(content)).toBe(true);
				expect(isWhole).toBe(true);
			}
		},
	);

	test('however the files are cut into chunks', async () => {
		const chunks = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 12 });
		const file = fc.record({ chunks, inMemory: fc.boolean(), name: fc.string({ unit: 'grapheme' }) });
		await fc.assert(
			fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 4 }), async (entries) => {
				const uploads = entries.map(({ chunks: cut, inMemory, name }) => {
					const whole = Buffer.concat(cut);
					return upload(inMemory ? whole : async () => asStream(cut), whole.length, name);
				});
				const { announced, bytes, json, files } = await sent(uploads);
				expect(bytes.length).toBe(announced);
				entries.forEach(({ chunks: cut, name }, index) => {
					expect(files[index]!.equals(Buffer.concat(cut))).toBe(true);
					expect(json.fields.papers[index]!.filename).toBe(name);
				});
			}),
		);
	});

	test('chunks whose memory is reused by their source', async () => {
		const whole = randomBytes(100);
		async function* reusing() {
			const memory = Buffer.alloc(7);
			for (let at = 0; at < whole.length; at += 7) {
				const size = whole.copy(memory, 0, at, at + 7);
				yield memory.subarray(0, size);
				memory.fill(0);
			}
		}
		const stored = { [Symbol.asyncIterator]: reusing, destroy: () => undefined, on: () => undefined };
		const { files } = await sent([upload(async () => stored as unknown as ByteStream, 100)]);
		expect(files[0]!.equals(whole)).toBe(true);
	});

	test.each([
		['shorter', 99, '99 bytes, but should have 100'],
		['longer', 101, 'more than 100 bytes, but should have 100'],
	])('a file that is %s than its size in n8n', async (_kind, size, message) => {
		const stream = streamBody(inField, [upload(async () => asStream([randomBytes(size)]), 100, 'odd')]);
		let out = 0;
		const reading = (async () => {
			for await (const piece of stream.body) out += piece.length;
		})();
		await expect(reading).rejects.toThrow(`'odd' was read as ${message}`);
		expect(out).toBeLessThan(stream.bytes);
		expect(stream.isFullySent()).toBe(false);
	});

	test('nothing in the record is mistaken for a file', async () => {
		const body = (files: JsonValue[]) => ({ fields: { title: '\u00000\u0000 {"', papers: files, note: 'data:;base64,' } }) as IDataObject;
		const { json, files } = await sent([upload(Buffer.from('x'), 1)], body);
		expect(json.fields).toMatchObject({ title: '\u00000\u0000 {"', note: 'data:;base64,' });
		expect(files[0]!.toString()).toBe('x');
	});

	test('files are opened when it is their turn, and all are closed', async () => {
		const opened: Readable[] = [];
		const content = async () => {
			const stream = Readable.from(Array.from({ length: 40 }, () => Buffer.alloc(48 * 1024)));
			opened.push(stream);
			return stream as unknown as ByteStream;
		};
		const size = 40 * 48 * 1024;
		const stream = streamBody(inField, [upload(content, size), upload(content, size)]);
		expect(opened).toHaveLength(0);
		const pieces = stream.body[Symbol.asyncIterator]();
		for (let count = 0; count < 5; count += 1) await pieces.next();
		expect(opened).toHaveLength(1);
		expect(stream.isFullySent()).toBe(false);
		stream.close();
		expect(opened.every(({ destroyed }) => destroyed)).toBe(true);
	});

	test('a file that cannot be opened, after others that could', async () => {
		const stream = streamBody(inField, [
			upload(async () => asStream([Buffer.alloc(10)]), 10),
			upload(async () => await Promise.reject(new Error('gone')), 10, 'b'),
		]);
		await expect(read(stream.body)).rejects.toThrow("'b' can't be read from n8n's store: gone");
		stream.close();
	});

	test('a file that breaks off, and one that is cut off: nothing was written', async () => {
		async function* broken() {
			yield Buffer.alloc(2);
			throw new Error('disk');
		}
		const content = async () => Readable.from(broken()) as unknown as ByteStream;
		const stream = streamBody(inField, [upload(content, 10, 'b')]);
		await expect(read(stream.body)).rejects.toMatchObject({
			message: "'b' can't be read from n8n's store: disk",
			delivery: 'rejected',
			hint: 'Nothing was written. Run the node that created the file again.',
		});
		const short = streamBody(inField, [upload(async () => asStream([]), 2, 'c')]);
		await expect(read(short.body)).rejects.toMatchObject({
			message: "'c' was read as 0 bytes, but should have 2",
			delivery: 'rejected',
			hint: 'Nothing was written. Check the node that created the file, and run it again.',
		});
	});

	test('a closed body is not produced any further', async () => {
		const content = async () => asStream([Buffer.alloc(10)]);
		const stream = streamBody(inField, [upload(content, 10)]);
		stream.close();
		expect((stream.body as unknown as Readable).destroyed).toBe(true);
	});

	test('a failure without a reader ends nothing', async () => {
		async function* failing() {
			yield Buffer.alloc(1);
			throw new Error('nobody listens');
		}
		const stream = newStream(failing());
		stream.destroy(new Error('either'));
		await new Promise(setImmediate);
		expect((stream as unknown as Readable).destroyed).toBe(true);
	});
});

describe('incoming bytes', () => {
	const hangUp = jest.fn();

	function silent() {
		const source = new Readable({ read: () => undefined });
		source.push(Buffer.alloc(1));
		return source as unknown as ByteStream;
	}

	test.each([undefined, 10])('as many as expected: %s', async (expected) => {
		const stream = withStallTimeout(asStream([Buffer.alloc(4), Buffer.alloc(6)]), hangUp, 100, expected);
		expect(await read(stream)).toHaveLength(10);
	});

	test.each([
		[9, 'The platform sends more than the expected 9 bytes'],
		[11, 'Received 10 of 11 bytes'],
	])('other than expected: %d', async (expected, message) => {
		const stream = withStallTimeout(asStream([Buffer.alloc(10)]), hangUp, 100, expected);
		await expect(read(stream)).rejects.toThrow(message);
	});

	test('silence ends it and hangs up', async () => {
		const source = silent();
		await expect(read(withStallTimeout(source, hangUp, 100))).rejects.toThrow('stopped sending');
		expect((source as unknown as Readable).destroyed).toBe(true);
		expect(hangUp).toHaveBeenCalledTimes(1);
	});

	test.each([-1, 0, 1])('only a pause that is too long counts as silence, even if the clock is set by %i hours', async (hours) => {
		jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
		const stream = withStallTimeout(silent(), hangUp, 1000);
		let failure: unknown;
		const reading = read(stream).catch((error) => (failure = error));
		await jest.advanceTimersByTimeAsync(499);
		jest.setSystemTime(Date.now() + hours * 3600_000);
		await jest.advanceTimersByTimeAsync(1000);
		await new Promise(setImmediate);
		expect(failure).toBeUndefined();
		await jest.advanceTimersByTimeAsync(1);
		await reading;
		expect(failure).toMatchObject({ message: 'The platform stopped sending', delivery: 'ambiguous' });
		jest.useRealTimers();
	});

	test('a slow reader does not count as silence', async () => {
		const chunks = Array.from({ length: 40 }, () => Buffer.alloc(1));
		const patient = withStallTimeout(asStream(chunks), hangUp, 100, 40);
		const reading = patient[Symbol.asyncIterator]();
		await reading.next();
		await new Promise((resolve) => setTimeout(resolve, 1200));
		let count = 1;
		while (!(await reading.next()).done) count += 1;
		expect(count).toBe(40);
	});
});

describe('names', () => {
	test.each([
		['a.txt', 'a.txt'],
		['/etc/passwd', 'passwd'],
		['..\\..\\x', 'x'],
		['a/', 'file'],
		['..', 'file'],
		['', 'file'],
		[' \t\n', 'file'],
		['tab\tnew\nline', 'tabnewline'],
		['\u202eevil\u2066', 'evil'],
		['報告 ключ 🔑.pdf', '報告 ключ 🔑.pdf'],
		['half \ud800 pair', 'half \ufffd pair'],
	])('%j is sent as %j', (name, safe) => {
		expect(safeFileName(name)).toBe(safe);
	});

	test('any name comes out safe, and stays so', () => {
		fc.assert(
			fc.property(anyText(), (name) => {
				const safe = safeFileName(name);
				expect(safe).not.toBe('');
				expect(safe).not.toMatch(/[/\\\p{Cc}]|^\.+$/u);
				expect(safeFileName(safe)).toBe(safe);
			}),
		);
	});

	test.each([
		['Text/Plain', 'text/plain'],
		['text/plain; charset=utf-8', 'text/plain; charset=utf-8'],
		['text/plain; name="a,b"', 'text/plain'],
		['text/plain;charset=utf-8', 'text/plain;charset=utf-8'],
		['text/plain ; a=1; b=2', 'text/plain ; a=1; b=2'],
		['text/plain ; name="a,b"', 'text/plain'],
		['text/plain;  a=1', 'text/plain;  a=1'],
		['a b/c', 'application/octet-stream'],
		['', 'application/octet-stream'],
		['nonsense', 'application/octet-stream'],
		['image/jpg', 'image/jpeg'],
		['Image/JPG; q=1', 'image/jpeg; q=1'],
		['image/jpgx', 'image/jpgx'],
		['a/b,c', 'application/octet-stream'],
		[undefined, 'application/octet-stream'],
	])('the type %j is sent as %j', (type, safe) => {
		expect(safeMimetype(type)).toBe(safe);
	});

	test.each([
		['photo.png', 'image/webp', 'photo.webp'],
		['photo.jpeg', 'image/jpeg', 'photo.jpeg'],
		['photo', 'image/svg+xml', 'photo.svg'],
		['v1.2', 'image/png', 'v1.2.png'],
		['photo.jfif', 'image/jpeg', 'photo.jfif'],
		['photo', 'image/jfif', 'photo.jpg'],
		['photo', ' Image/PNG ; a=1', 'photo.png'],
		['a.png.b/c', 'image/png', 'a.png.b/c.png'],
		['photo.png', 'text/plain', 'photo.png'],
		['photo.constructor', 'image/png', 'photo.constructor.png'],
		['photo.__proto__', 'image/png', 'photo.__proto__.png'],
	])('the picture %s of the type %s is called %s', (name, type, expected) => {
		expect(pictureName(name, type)).toBe(expected);
	});
});

describe('the guard', () => {
	const table = {
		id: 't',
		internalName: 'docs',
		header: 'Documents',
		fields: [field('file'), field('picture', 'photo'), field('text', 'title')],
		savedViews: [],
	};
	const picture = (name: string, mimetype: string) => ({ ...upload(Buffer.alloc(1), 1, name), mimetype });

	test('finds the field, or says which there are', () => {
		expect(fileField(table, 'photo').type).toBe('picture');
		expect(() => fileField(table, 'title')).toThrow("'title' holds no files: its type is text");
		expect(() => fileField(table, 'paper')).toThrow("Table 'Documents' has no field 'paper'");
	});

	test('says which fields take files', () => {
		expect(thrownBy(() => fileField(table, 'title'))).toMatchObject({
			name: 'InputError',
			field: 'title',
			hint: "Fields for files in this table: 'papers', 'photo'.",
		});
		expect(thrownBy(() => fileField({ ...table, fields: [] }, 'title'))).toMatchObject({
			field: 'title',
			hint: 'This table has no field for files; add one in the platform.',
		});
	});

	test('says what to do about a file that is too large', () => {
		const large = upload(Buffer.alloc(2), 2);
		expect(thrownBy(() => guardUpload(field('file'), large, 1))).toMatchObject({
			field: 'papers',
			hint: "Nothing was sent. Raise 'Max File Size (MiB)' in the options if this is intended.",
		});
		expect(thrownBy(() => guardUpload(undefined, large, 1))).toMatchObject({
			field: undefined,
			hint: "Nothing was sent. Raise 'Max File Size (MiB)' in the options if this is intended.",
		});
	});

	test.each([
		['a.png', 'image/png', 'a.png', 'image/png'],
		['a.jpg', 'image/jpeg; q=1', 'a.jpg', 'image/jpeg; q=1'],
		['a.png', 'application/octet-stream', 'a.png', 'image/png'],
		['a.ico', 'binary/octet-stream', 'a.ico', 'image/x-icon'],
		['a', 'image/webp', 'a.webp', 'image/webp'],
		['a.gif', 'image/gif', 'a.gif', 'image/gif'],
		// The platform decides.
		['a.txt', 'image/png', 'a.txt', 'image/png'],
		['a', 'text/plain', 'a', 'text/plain'],
	])('takes the picture %s of the type %s as %s, %s', (name, mimetype, as, type) => {
		expect(guardUpload(field('picture'), picture(name, mimetype), 0)).toMatchObject({ name: as, mimetype: type, bytes: 1 });
	});

	test('measures size in MiB, to the byte', () => {
		const limit = 1024 * 1024;
		const sized = (bytes: number) => guardUpload(field('file'), upload(Buffer.alloc(0), bytes), limit);
		expect(sized(limit).bytes).toBe(limit);
		expect(() => sized(limit + 1)).toThrow(`'a.bin' has ${limit + 1} bytes, more than the limit of 1.0 MiB`);
		expect(guardUpload(field('file'), upload(Buffer.alloc(0), 2 ** 40), 0).bytes).toBe(2 ** 40);
	});

	test('lets anything into a file field, and into one that it may not see', () => {
		const odd = picture('a.exe', 'text/plain');
		expect(guardUpload(field('file'), odd, 0)).toBe(odd);
		expect(guardUpload(undefined, odd, 0)).toBe(odd);
	});

	test('rejects what only has the extension of a picture', () => {
		expect(thrownBy(() => guardUpload(field('picture'), picture('a.png', 'text/html'), 0))).toMatchObject({
			message: "'a.png' has the extension of a picture, but its type is text/html",
			field: 'papers',
			hint: 'Nothing was sent. Check the node that created the file.',
		});
	});

	test.each(['avif', 'jpg', 'jpeg', 'png', 'jfif', 'bmp', 'ico', 'svg', 'webp', 'heic'])(
		'knows the picture %s by its ending',
		(extension) => {
			const given = picture(`a.${extension.toUpperCase()}`, 'application/octet-stream');
			expect(guardUpload(field('picture'), given, 0).mimetype).toMatch(/^image\//);
		},
	);
});

test('a file in the field accounts for one of two uploads with its name and size', () => {
	const upload = { name: 'a.txt', mimetype: 'text/plain', bytes: 3, content: new Uint8Array(3) };
	const file = { fileId: '1', fileName: 'a.txt', fileSize: 3, mimetype: 'text/plain' };
	const uploads = [upload, { ...upload }];
	expect(compareFiles(uploads, [file]).missing).toEqual([uploads[1]]);
	expect(compareFiles(uploads, [file, file, file])).toEqual({ missing: [], others: [file], isByName: false });
	const unsized = { ...file, fileSize: undefined };
	expect(compareFiles(uploads, [unsized, { ...unsized, fileName: 'b.txt' }])).toMatchObject({ missing: [uploads[1]], isByName: true });
});
