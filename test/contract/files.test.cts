import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { startSandbox, type RunningSandbox } from '../../harness/sandboxProcess.mts';
import { startStubServer } from '../support/stubServer.mts';
import { BROKEN_CONNECTION, checkFieldValue, usePlatform } from './contract.cts';

const platform = usePlatform();
const data = '/apps/crm/tables/deals/data';

let url: string;

beforeEach(async () => {
	await platform.admin.reset();
	const [deal] = await platform.admin.records('crm', 'deals');
	url = `${data}/${deal?.id}`;
});

interface FileEntry {
	fileId: string;
	fileName: string;
	fileSize: number;
	fileUrl: string;
	thumbnailUrl?: string;
}
const input = (filename: string, bytes: Buffer, mimetype = 'application/octet-stream') => ({
	filename,
	mimetype,
	filedata: `data:${mimetype};base64,${bytes.toString('base64')}`,
});
const papers = async (value: unknown, by = platform.client): Promise<FileEntry[]> => {
	const response = await by.patch(url, { fields: { papers: value } });
	if (response.status !== 200) throw new Error(response.data.errors[0].message);
	return response.data.data.fields.papers;
};
const download = async (address: string, by = platform.client) =>
	Buffer.from((await by.get(address, { responseType: 'arraybuffer' })).data);

test.each([0, 1, 2, 3, 1000, 5_000_000])('%d bytes are returned unchanged', async (size) => {
	const bytes = randomBytes(size);
	const [file] = await papers([input('data.bin', bytes)]);
	expect(file).toMatchObject({ fileName: 'data.bin', fileSize: size });
	expect(file).not.toHaveProperty('thumbnailUrl');
	expect((await download(file?.fileUrl ?? '')).equals(bytes)).toBe(true);
});

test.each([
	['unicode', 'ключ 🔑.txt'],
	['long', `${'long'.repeat(500)}.txt`],
	['awkward', 'a"b\\c/d.txt'],
])('a name that is %s is returned unchanged', async (_kind, name) => {
	const [file] = await papers([input(name, Buffer.from('x'))]);
	expect(file?.fileName).toBe(name);
	expect((await platform.client.get(file?.fileUrl ?? '')).headers['content-disposition']).toContain(encodeURIComponent(name));
});

test('files are added, removed and replaced', async () => {
	const [first] = await papers([input('1', Buffer.from('1'))]);
	const added = await papers({ add: [input('2', Buffer.from('2'))] });
	expect(added.map((file) => file.fileName)).toEqual(['1', '2']);
	checkFieldValue('file', 'read', added);
	const changed = await papers({ add: [input('3', Buffer.from('3'))], remove: [first?.fileId] });
	expect(changed.map((file) => file.fileName)).toEqual(['2', '3']);
	expect((await platform.client.get(first?.fileUrl ?? '')).status).toBe(404);
	expect(await papers([input('4', Buffer.from('4'))])).toHaveLength(1);
	expect(await papers(null)).toEqual([]);
	await expect(papers({ remove: [first?.fileId] })).rejects.toThrow('no file');
});

test.each<[string, unknown]>([
	['object', 7],
	['filename', [{ mimetype: 'a/b', filedata: 'data:a/b;base64,' }]],
	['mimetype', [{ filename: 'a', filedata: 'data:a/b;base64,' }]],
	['data URL', [{ filename: 'a', mimetype: 'a/b', filedata: 'eA==' }]],
	['data URL', [{ filename: 'a', mimetype: 'a/b', filedata: 'data:a/b;base64,###' }]],
	['data URL', [{ filename: 'a', mimetype: 'a/b', filedata: `spooled:${'0'.repeat(36)}` }]],
	['size', [{ filename: 'a', mimetype: 'a/b', filedata: 'data:a/b;base64,', size: 1 }]],
	['the setting fileUrls', 'https://example.com/file.txt'],
	['the setting fileUrls', 'not a URL'],
])('an invalid file is rejected: %s', async (message, value) => {
	await expect(papers(value)).rejects.toThrow(message);
	expect((await platform.client.get(url)).data.data.ver).toBe(0);
});

test('pictures have thumbnails, and a picture field only accepts pictures', async () => {
	const create = { width: 800, height: 400, channels: 3, background: 'red' } as const;
	const bytes = await sharp({ create }).png().toBuffer();
	const fields = { sketch: [input('sketch.png', bytes, 'image/png')] };
	const [file] = (await platform.client.patch(url, { fields })).data.data.fields.sketch as FileEntry[];
	const thumbnail = await sharp(await download(file?.thumbnailUrl ?? '')).metadata();
	expect([thumbnail.width, thumbnail.height]).toEqual([200, 100]);
	const text = { sketch: [input('notes.txt', Buffer.from('x'), 'text/plain')] };
	const rejected = await platform.client.patch(url, { fields: text });
	expect(rejected.data.errors[0].message).toContain("'sketch' accepts pictures");
});

describe('what a field takes: as documented, and without rules', () => {
	const one = (name: string, size = 1, type = 'image/png') => input(name, Buffer.alloc(size), type);
	const two = [one('a.png'), one('b.png')];

	beforeEach(async () => {
		const fields = [
			{ name: 'photo', type: 'picture' as const },
			{ name: 'paper', type: 'file' as const, metadata: { oneFile: true } },
			{ name: 'papers', type: 'file' as const },
		];
		await platform.admin.createTable({ app: 'crm', table: { internalName: 'kept', fields } });
	});

	test.each<[what: string, fields: object, message?: string]>([
		['two pictures', { photo: two }, "'photo' holds one picture, not 2"],
		['another picture', { photo: { add: [one('c.png')] } }, "'photo' holds one picture, not 2"],
		['a file in place of several', { paper: two }, "'paper' holds one file, not 2"],
		['a format that is not listed', { photo: [one('a.gif', 1, 'image/gif')] }, "'photo' accepts pictures"],
		['51 MB', { papers: [one('a.bin', 51_000_000)] }, "'papers' accepts files up to 50 MB"],
		['several files', { papers: two }, undefined],
	])('%s', async (_, fields, message) => {
		const created = await platform.client.post('/apps/crm/tables/kept/data', { fields: { photo: [one('first.png')] } });
		const record = `/apps/crm/tables/kept/data/${created.data.data.id}`;
		const documented = await platform.client.patch(record, { fields });
		expect([documented.status, documented.data.errors?.[0].message]).toEqual(
			message ? [400, expect.stringContaining(message)] : [200, undefined],
		);
		await platform.admin.settings({ attachmentRules: 'none' });
		expect((await platform.client.patch(record, { fields })).status).toBe(200);
	});

	test('a definition does not say which field has one file', async () => {
		const { items } = (await platform.client.get('/apps/crm/tables/kept')).data.data;
		expect(items.map(({ metadata }: { metadata: object }) => metadata)).toEqual([{}, {}, {}]);
	});
});

test.each([
	['text', '1'],
	['absent', undefined],
])('sizes of files are %s', async (fileSize, expected) => {
	await platform.admin.settings({ fileSize });
	const [file] = await papers([input('a.txt', Buffer.from('x'))]);
	expect(file!.fileSize).toBe(expected);
});

test('addresses of files have a token, which is enough to read them', async () => {
	await platform.admin.settings({ fileAddresses: 'withToken' });
	const fields = { sketch: [input('a.svg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'))] };
	const [file] = (await platform.client.patch(url, { fields })).data.data.fields.sketch as FileEntry[];
	const bare = platform.as('');
	for (const address of [file!.fileUrl, file!.thumbnailUrl!]) {
		expect(address).toContain(`?token=${platform.tokens.short}`);
		expect((await bare.get(address)).status).toBe(200);
	}
});

test('a short token only gives access to attachments', async () => {
	const short = platform.as(platform.tokens.short);
	const [file] = await papers({ add: [input('a.txt', Buffer.from('short'))] }, short);
	expect((await download(file?.fileUrl ?? '', short)).toString()).toBe('short');
	const rejected = [
		short.get(url),
		short.patch(url, { fields: { title: 'x' } }),
		short.patch(url, { fields: { title: 'x', papers: null } }),
		short.patch(url, { fields: { papers: null }, useUpsert: true }),
		short.put(url, { fields: { papers: null } }),
		short.post(data, { fields: { papers: null } }),
	];
	for (const response of await Promise.all(rejected)) {
		expect(response.status).toBe(403);
		expect(response.data.errors[0].message).toContain('token with a role');
	}
	const bare = platform.as('');
	const path = file?.fileUrl ?? '';
	expect((await bare.get(path)).status).toBe(401);
	expect((await bare.get(`${path}?token=${platform.tokens.short}`)).data).toBe('short');
	expect((await bare.get(`${path}?token=demo-nothing`)).status).toBe(401);
	expect((await bare.get(`${path}?token=${platform.tokens.role}`)).status).toBe(403);
});

test('a file can be given as a URL, which the platform fetches: from other servers only if the settings say so', async () => {
	const server = await startStubServer(({ target }) => ({
		status: target === '/there.txt' ? 200 : 404,
		headers: { 'content-type': 'text/plain; charset=utf-8' },
		body: 'fetched',
	}));
	await expect(papers(`${server.origin}/there.txt`)).rejects.toThrow('cannot be fetched');
	expect(server.requests).toEqual([]);
	await platform.admin.settings({ fileUrls: 'loopback' });
	const [file] = await papers(`${server.origin}/there.txt`);
	expect(file).toMatchObject({ fileName: 'there.txt', mimetype: 'text/plain', fileSize: 7 });
	await expect(papers(`${server.origin}/missing.txt`)).rejects.toThrow('cannot be fetched');
	await server.stop();
});

test('a file above the limit gets 413, and nothing is written', async () => {
	await platform.admin.settings({ maxFileBytes: 10 });
	const fields = { papers: [input('a', Buffer.alloc(11))] };
	expect((await platform.client.patch(url, { fields })).status).toBe(413);
	const bulk = [{ id: url.split('/').at(-1), fields }];
	expect((await platform.client.patch(`${data}/bulk`, { bulk })).status).toBe(413);
	expect(await papers([input('a', Buffer.alloc(10))])).toHaveLength(1);
});

test('an upload that is reset writes nothing, and a download can be truncated', async () => {
	await platform.admin.faults([{ fault: { kind: 'resetUpload', bytes: 1_000_000 } }]);
	await expect(papers([input('a', randomBytes(3_000_000))])).rejects.toThrow(BROKEN_CONNECTION);
	expect((await platform.admin.requests()).at(-1)).toMatchObject({ outcome: 'reset' });
	await platform.admin.faults([]);
	expect((await platform.client.get(url)).data.data.ver).toBe(0);
	const [file] = await papers([input('a', randomBytes(10_000))]);
	await platform.admin.faults([{ match: { path: '/files/' }, fault: { kind: 'truncate' } }]);
	await expect(download(file?.fileUrl ?? '')).rejects.toThrow('aborted');
});

test('a download that a fault drops leaves no open file', async () => {
	const [file] = await papers([input('a', randomBytes(10_000))]);
	await platform.admin.faults([{ match: { path: '/files/' }, fault: { kind: 'resetAfter' } }]);
	for (let count = 0; count < 5; count += 1) {
		await expect(download(file?.fileUrl ?? '')).rejects.toThrow(BROKEN_CONNECTION);
	}
	await platform.admin.waitUntilIdle();
	const folder = `/proc/${platform.sandbox.pid}/fd`;
	const open = readdirSync(folder).map((name) => readlinkSync(join(folder, name)));
	expect(open.filter((path) => path.includes('sandbox-files'))).toEqual([]);
});

/** Starts a change of the deal, whose body is sent later. */
const startChange = ({ baseUrl, tokens }: RunningSandbox) =>
	request(`${baseUrl}/api/v2${url}`, {
		method: 'PATCH',
		headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${tokens.role}` },
	});

/** Sends the first half of a file of 2 MB and waits until the sandbox has received it. */
async function uploadHalf(sandbox: RunningSandbox) {
	const body = JSON.stringify({ fields: { papers: [input('a', randomBytes(2_000_000))] } });
	const sent = startChange(sandbox);
	const ended = once(sent, 'response').then(
		([response]) => String(response.statusCode),
		(error: Error) => error.message,
	);
	sent.write(body.slice(0, 1_000_000));
	const arrived = async () => (await sandbox.admin.requests()).at(-1)?.bodyBytes ?? 0;
	while ((await arrived()) < 1_000_000) await new Promise((done) => setTimeout(done, 10));
	return { ended, sendRest: () => sent.end(body.slice(1_000_000)) };
}

test('a reset of the sandbox during an upload ends the request', async () => {
	const { ended, sendRest } = await uploadHalf(platform.sandbox);
	await platform.admin.reset();
	sendRest();
	expect(await ended).toMatch(BROKEN_CONNECTION);
	expect(await papers([input('b', randomBytes(2_000_000))])).toHaveLength(1);
});

test.each([
	['as they are', '/'],
	['escaped', '\\/'],
])('large files are decoded while they are received: slashes %s', async (_name, slash) => {
	const bytes = randomBytes(700_000);
	// A text that contains a data URL is not a file.
	const quoted = `"data:text/plain;base64,${'A'.repeat(400_000)}`;
	const text = `5" of "text" and a backslash \\ ${'é'.repeat(300_000)} ${quoted}`;
	const body = Buffer.from(
		JSON.stringify({ fields: { summary: text, papers: [input('a', bytes), input('b', bytes)] } }).replaceAll('/', slash),
	);
	const sent = startChange(platform.sandbox);
	// Chunks of many sizes, so that boundaries are everywhere.
	for (let at = 0, size = 1; at < body.length; at += size, size = (size * 7 + 3) % 9973) {
		sent.write(body.subarray(at, at + Math.max(size, 1)));
		if (size === 0) size = 1;
	}
	sent.end();
	const [response] = await once(sent, 'response');
	response.resume();
	expect(response.statusCode).toBe(200);
	const { fields } = (await platform.client.get(url)).data.data;
	expect(fields.summary).toBe(text);
	const files = await Promise.all((fields.papers as FileEntry[]).map(async ({ fileUrl }) => await download(fileUrl)));
	expect(files.map((file) => file.equals(bytes))).toEqual([true, true]);
});

test('bytes are stored beside the database, once for each content, and survive a restart', async () => {
	const folder = mkdtempSync(join(tmpdir(), 'sandbox-test-'));
	const db = join(folder, 'data.sqlite');
	const first = await startSandbox({ db });
	const bytes = randomBytes(100);
	const fields = { papers: [input('a', bytes), input('b', bytes)] };
	const deal = (await first.client().patch(url, { fields })).data.data;
	const { ended } = await uploadHalf(first);
	expect(readdirSync(`${db}-files`)).toHaveLength(2);
	await first.stop('SIGKILL');
	expect(await ended).toMatch(BROKEN_CONNECTION);
	const second = await startSandbox({ db });
	const path = new URL(deal.fields.papers[1].fileUrl).pathname;
	const again = await download(`${second.baseUrl}${path}`, second.client());
	expect(again.equals(bytes)).toBe(true);
	const hash = createHash('sha256').update(bytes).digest('hex');
	expect(readdirSync(`${db}-files`)).toEqual([hash]);
	await second.stop();
	expect(existsSync(`${db}-files`)).toBe(true);
	rmSync(folder, { recursive: true });
});
