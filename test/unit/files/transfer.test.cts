/** Files that are uploaded, removed and downloaded: the requests, and what each failure means. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { IDataObject, IN8nHttpFullResponse } from 'n8n-workflow';
import { downloadInto } from '../../../nodes/DataPlatform/actions/attachment/download.ts';
import type { Attachment, PlatformRecord } from '../../../nodes/DataPlatform/api/types.ts';
import { fetchFile, filesIn, removeFiles, uploadFiles, type UploadTarget } from '../../../nodes/DataPlatform/files/transfer.ts';
import type { Upload } from '../../../nodes/DataPlatform/files/uploadValidation.ts';
import { contentOf } from '../../../nodes/DataPlatform/input/binaryStore.ts';
import type { ApiClient, ClientSettings } from '../../../nodes/DataPlatform/transport/client.ts';
import { ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { fakeRun } from '../fakeNode.cts';
import { thrownBy } from '../fixtures.cts';
import { fakePlatform, httpResponse, networkError, type Serve } from '../stubPlatform.cts';

const at = { table: 'people' };
const ID = '01234567-89ab-cdef-0123-456789abcdef';
const no = (status: number) => httpResponse(status, { errors: [{ message: 'no' }] });
const lost = () => networkError('ECONNRESET');
const ok = (data: unknown) => httpResponse(200, { data });

const upload = (name: string, text = 'abc'): Upload => ({ name, mimetype: 'text/plain', bytes: text.length, content: Buffer.from(text) });
const file = (fileId: string, fileName: string, fileSize = 3) => ({ fileId, fileName, fileSize });
const record = (files?: object[], id = ID) => ({ id, fields: files ? { papers: files } : {} });

/** Runs one function against responses. Returns what was sent, and its result or error. */
async function call<T>(
	run: (client: ReturnType<typeof fakePlatform>['connection']) => Promise<T>,
	responses: Array<ReturnType<Serve>>,
	settings: Partial<ClientSettings> = {},
) {
	// No wait between attempts.
	jest.spyOn(Math, 'random').mockReturnValue(-1);
	const { connection, sent, withToken } = fakePlatform((_, count) => responses[Math.min(count, responses.length) - 1]!, {
		retryBudgetMs: 10_000,
		...settings,
	});
	let failure: unknown;
	const result = await run(connection).catch((error: unknown) => {
		failure = error;
		return undefined;
	});
	jest.restoreAllMocks();
	const requests = sent.map(({ method, url }) => `${method} ${url.replace('https://platform.example.com/api/v2', '')}`);
	return { result, failure, requests, sent, withToken };
}

describe('filesIn', () => {
	const filesOf = (papers: unknown) =>
		filesIn({ id: ID, fields: papers === undefined ? {} : { papers } } as unknown as PlatformRecord, 'papers');

	test('an empty field holds no files', () => {
		expect([filesOf(null), filesOf([])]).toEqual([[], []]);
	});

	const CHOOSE = { name: 'InputError', field: 'papers', hint: 'Choose a picture or file field of the table.' };
	test.each<[unknown, string, object]>([
		[undefined, `Record '${ID}' has no field 'papers'`, CHOOSE],
		['a.txt', "The field 'papers' holds no files", CHOOSE],
		[
			[{ fileName: 'a.txt' }],
			`The files in 'papers' of record '${ID}' can't be read`,
			{ name: 'ServiceError', delivery: 'notApplied', hint: 'The platform returned files without their IDs.' },
		],
	])('%j is an error', (papers, message, expected) => {
		expect(thrownBy(() => filesOf(papers))).toMatchObject({ message, ...expected });
	});
});

describe('uploadFiles', () => {
	const target = (client: ApiClient, more: Partial<UploadTarget> = {}): UploadTarget => ({
		table: { client, at },
		field: 'papers',
		id: ID,
		before: record([file('old', 'a.txt')]) as unknown as PlatformRecord,
		fields: {},
		existing: 'keep',
		...more,
	});
	const send = async (responses: Array<ReturnType<Serve>>, more: Partial<UploadTarget> = {}, uploads = [upload('a.txt')]) =>
		await call((client) => uploadFiles(target(client, more), uploads), responses);

	const DATA = { filename: 'a.txt', mimetype: 'text/plain', filedata: 'data:text/plain;base64,YWJj' };
	test.each<[string, Partial<UploadTarget>, string, object]>([
		['is added to those of the field', {}, `PATCH /people/data/${ID}`, { papers: { add: [DATA] } }],
		['replaces all of the field', { existing: 'remove' }, `PATCH /people/data/${ID}`, { papers: [DATA] }],
		[
			'replaces some of the field',
			{ existing: { remove: ['old'] } },
			`PATCH /people/data/${ID}`,
			{ papers: { add: [DATA], remove: ['old'] } },
		],
		[
			'makes a record of its own',
			{ id: undefined, before: undefined, fields: { title: 'x' } },
			'POST /people/data',
			{ title: 'x', papers: [DATA] },
		],
	])('the file %s', async (_, more, request, fields) => {
		const { result, requests, sent } = await send([ok(record([file('new', 'a.txt')]))], more);
		expect(result).toMatchObject({ id: ID });
		expect(requests).toEqual([request]);
		expect(JSON.parse(String(sent[0]!.body))).toEqual({ fields });
	});

	test('the request asks to be left out of the audit log, as the run is set', async () => {
		const { sent } = await call((client) => uploadFiles(target(client), [upload('a.txt')]), [ok(record([]))], { skipAudit: true });
		expect(JSON.parse(String(sent[0]!.body))).toMatchObject({ skipAudit: true });
	});

	test.each<[string, Partial<UploadTarget>, number]>([
		['adds files', {}, 1],
		['replaces some files', { existing: { remove: ['old'] } }, 1],
		['makes a record', { id: undefined, before: undefined }, 1],
		['makes a record of nothing but files', { id: undefined, existing: 'remove' }, 1],
		['replaces all files', { existing: 'remove' }, 6],
	])('a lost request that %s is sent as often as it does no harm', async (_, more, attempts) => {
		const { requests } = await send([lost()], more);
		expect(requests.filter((request) => !request.startsWith('GET'))).toHaveLength(attempts);
	});

	test('a response with fewer files than were sent is no success: a field may hold one', async () => {
		const { failure, requests } = await send([ok(record([file('new', 'b.txt')]))], {}, [upload('a.txt'), upload('b.txt')]);
		expect(failure).toMatchObject({ message: `The record '${ID}' has 1 of the 2 files`, delivery: 'ambiguous' });
		expect(requests).toHaveLength(1);
	});

	test('a refusal is in the platform’s words, and the advice is what is documented', async () => {
		const { failure } = await send([no(400)]);
		expect(failure).toMatchObject({
			message: 'no',
			delivery: 'rejected',
			hint: expect.stringContaining('a picture field holds one picture'),
		});
	});

	const BROKEN = 'The connection broke before the response was complete (ECONNRESET)';
	const there = ok(record([file('old', 'a.txt'), file('new', 'a.txt')]));
	test.each<[string, Array<ReturnType<Serve>>]>([
		['is lost', [lost(), there]],
		['is answered by another record', [ok(record([], ID.replace('0', '1'))), there]],
		['is answered without a record', [ok(null), there]],
		['is answered without the field', [ok(record()), there]],
	])('an upload whose request %s is done if the record has the file now', async (_, responses) => {
		const { result, requests } = await send(responses);
		expect(result).toMatchObject({ fields: { papers: [{}, { fileId: 'new' }] } });
		expect(requests).toEqual([`PATCH /people/data/${ID}`, `GET /people/data/${ID}`]);
	});

	test('an upload is done if the response lacks a field that the token may not read', async () => {
		const { result, requests } = await send([ok(record())], { before: undefined });
		expect(result).toMatchObject({ id: ID });
		expect(requests).toHaveLength(1);
	});

	const fresh = { id: undefined, before: undefined };
	const unreadable = { before: undefined };
	const notYet = `${BROKEN}; the record '${ID}' does not have 'a.txt' yet`;
	const none = 'The response contains no record; the token may not read the record';
	const [files, made] = ['the files were stored', 'the record was created'];
	test.each<[what: string, responses: Array<ReturnType<Serve>>, more: Partial<UploadTarget>, unknown: string, reason: string]>([
		['the record has only what it had before', [lost(), ok(record([file('old', 'a.txt')]))], {}, files, notYet],
		['the record has another file', [lost(), ok(record([file('new', 'a.txt', 4)]))], {}, files, notYet],
		['the record can’t be read', [lost(), no(400)], {}, files, `${BROKEN}; looking it up failed: no`],
		['the token may not read the record', [lost()], unreadable, files, `${BROKEN}; the token may not read the record`],
		['there is no record in the response', [ok(null)], unreadable, files, none],
		['the record was to be made', [lost()], fresh, made, BROKEN],
	])('a lost upload stays unknown if %s', async (_, responses, more, unknown, reason) => {
		const { failure } = await send(responses, more);
		expect(failure).toBeInstanceOf(ServiceError);
		expect(failure).toMatchObject({
			message: `Unknown whether ${unknown}: ${reason}`,
			delivery: 'ambiguous',
			hint:
				unknown === made
					? 'Look for it in the table before you run it again.'
					: "Look at the record before you run it again; with 'Skip Existing' on, files that are already there are not sent again.",
		});
	});

	test('a new record that the platform refuses was not created', async () => {
		expect((await send([no(400)], fresh)).failure).toMatchObject({ message: 'no', delivery: 'rejected' });
	});

	test('a lost upload of files and values is done if the record has the file now', async () => {
		expect((await send([lost(), there], { fields: { a: 1 } })).result).toMatchObject({ id: ID });
	});

	test('after a 403, the hint asks for a token with this right', async () => {
		const { failure } = await call((client) => uploadFiles(target(client), [upload('a.txt')]), [no(403)], { tokenType: 'short' });
		expect(failure).toMatchObject({ hint: expect.stringContaining('Ask for a token that has this right.') });
	});

	test('the error of a lost upload names every file that the record lacks', async () => {
		const uploads = [upload('a.txt'), upload('b.txt'), upload('c.txt')];
		const { failure } = await send([lost(), ok(record([file('new', 'b.txt')]))], {}, uploads);
		expect(failure).toMatchObject({ message: expect.stringMatching(/'a\.txt', 'c\.txt' yet$/) });
	});

	const full = httpResponse(400, { errors: [{ type: 'exception', message: 'no' }] });

	test('after ten rejections in the same words, no file of that kind that is not smaller is sent, until one is accepted', async () => {
		const { failure, requests } = await call(
			async (client) => {
				const tries = async (count: number, file: Upload, more: Partial<UploadTarget> = {}) => {
					for (let at = 0; at < count; at += 1) await uploadFiles(target(client, more), [file]).catch(() => undefined);
				};
				await tries(15, upload('a.txt'));
				await tries(1, upload('small.txt', 'a'));
				await tries(1, { ...upload('a.pdf'), mimetype: 'application/pdf' });
				await tries(1, upload('a.txt'), { existing: 'remove' });
				await tries(1, upload('a.txt'), { field: 'others' });
				return await uploadFiles(target(client), [upload('large.txt', 'abcd')]);
			},
			[full],
		);
		expect(requests).toHaveLength(14);
		expect(failure).toMatchObject({
			message: 'Not sent: no; 12 uploads in a row were rejected with these words',
			delivery: 'rejected',
			status: 400,
		});
	});

	test('after rejections that may be about a record each, each is sent', async () => {
		const { requests } = await call(
			async (client) => {
				for (let at = 0; at < 15; at += 1) await uploadFiles(target(client), [upload('a.txt')]).catch(() => undefined);
			},
			[no(400)],
		);
		expect(requests).toHaveLength(15);
	});

	test('with other fields, or after an upload that is accepted, each is sent', async () => {
		const accepted = ok(record([file('new', 'a.txt')]));
		const responses = Array.from({ length: 40 }, (_, at) => (at % 9 === 8 ? accepted : full));
		const { requests } = await call(async (client) => {
			for (let at = 0; at < 18; at += 1) await uploadFiles(target(client), [upload('a.txt')]).catch(() => undefined);
			const more = { fields: { a: 1 } };
			for (let at = 0; at < 15; at += 1) await uploadFiles(target(client, more), [upload('a.txt')]).catch(() => undefined);
		}, responses);
		expect(requests).toHaveLength(33);
	});

	test('a lost request without files is done unless it had values to write', async () => {
		const none = { existing: { remove: ['old'] } };
		expect((await send([lost(), ok(record([]))], none, [])).result).toMatchObject({ id: ID });
		const { failure } = await send([lost(), ok(record([]))], { ...none, fields: { a: 1 } }, []);
		expect(failure).toMatchObject({ message: expect.stringMatching(/the new values yet$/) });
	});

	test.each<[string, ReturnType<Serve>, object]>([
		[
			'too large',
			httpResponse(413, ''),
			{
				message: 'The request is too large for the platform',
				delivery: 'rejected',
				status: 413,
				hint: expect.stringMatching(/a file has at most 50 MB.*If the storage is full, make room first\.$/),
			},
		],
		[
			'not sent',
			networkError('ECONNREFUSED'),
			{
				message: 'Nothing was stored: The platform could not be reached (ECONNREFUSED)',
				delivery: 'notApplied',
				hint: "Check the 'Base URL' in the credential and that the platform is up.",
			},
		],
		['refused', no(400), { message: 'no', delivery: 'rejected', status: 400 }],
		[
			'asked to wait',
			httpResponse(429, '', { 'retry-after': '7' }),
			{ delivery: 'notApplied', status: 429, message: expect.stringMatching(/^The platform asked/) },
		],
	])('an upload that is %s fails with what is known', async (_, response, expected) => {
		const { failure } = await call((client) => uploadFiles(target(client), [upload('a.txt'), upload('b.txt')]), [response], {
			retryBudgetMs: 0,
		});
		expect(failure).toMatchObject(expected);
	});
});

describe('fetchFile', () => {
	const bytes = (text: string, headers: IDataObject = {}, status = 200): IN8nHttpFullResponse => ({
		statusCode: status,
		headers,
		body: Readable.from([Buffer.from(text)]),
	});

	async function fetched(
		attachment: Partial<Attachment>,
		response: IN8nHttpFullResponse | Error = bytes('abc'),
		kind: 'file' | 'thumbnail' = 'file',
		settings: Partial<ClientSettings> = {},
	) {
		const stored: unknown[] = [];
		const { failure, requests, withToken } = await call(
			async (client) =>
				await fetchFile({ client, at }, { fileId: 'f/1', fileName: 'a.txt', ...attachment }, kind, async (content, mimetype) => {
					stored.push([String(await buffer(content as unknown as Readable)), mimetype]);
				}),
			[response],
			{ retryBudgetMs: 0, ...settings },
		);
		return { failure, requests, stored, withToken };
	}

	const local = { baseUrl: 'http://localhost:5999' };
	test.each<[string, Partial<Attachment>, string, Partial<ClientSettings>, boolean]>([
		['by its id', {}, 'GET /people/files/f%2F1', {}, true],
		['by its id, if its address is none', { fileUrl: 'f' }, 'GET /people/files/f%2F1', {}, true],
		[
			'from the platform, by its address',
			{ fileUrl: 'https://platform.example.com/x/y?z=1' },
			'GET https://platform.example.com/x/y?z=1',
			{},
			true,
		],
		[
			'from the platform without a token in its address',
			{ fileUrl: 'https://platform.example.com/x/y?token=demo-short&z=1' },
			'GET https://platform.example.com/x/y?z=1',
			{},
			true,
		],
		['from elsewhere', { fileUrl: 'https://files.example.com/y?z=1' }, 'GET https://files.example.com/y?z=1', {}, false],
		...['172.32.0.1', '11.0.0.1', '10.example.com', 'fd00.example.com', 'localhost.example.com'].map(
			(host): [string, object, string, object, boolean] => [
				`from ${host}`,
				{ fileUrl: `https://${host}/y` },
				`GET https://${host}/y`,
				{},
				false,
			],
		),
		[
			'from the private network, if the platform is on this computer',
			{ fileUrl: 'https://10.1.2.3/y' },
			'GET https://10.1.2.3/y',
			local,
			false,
		],
		['from this computer, if the platform is on it', { fileUrl: 'http://127.0.0.1:80/y' }, 'GET http://127.0.0.1/y', local, false],
	])('a file is fetched %s, and the token goes only to the platform', async (...row) => {
		const [, attachment, request, settings, hasToken] = row;
		const { requests, stored, withToken } = await fetched(attachment, bytes('abc'), 'file', settings);
		expect(requests).toEqual([request]);
		expect(withToken).toEqual([hasToken]);
		expect(stored).toEqual([['abc', undefined]]);
	});

	test.each<[string, string, string]>([
		['without encryption', 'http://files.example.com/y', 'The address of the file must use HTTPS. Nothing was sent'],
		[
			'on this computer',
			'https://127.0.0.1:8443/y',
			'The platform says that the file is on this computer (127.0.0.1:8443), so it was not downloaded',
		],
		...['localhost.', 'a.localhost', '0.0.0.0', '[::]', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:a00:1]'].map(
			(host): [string, string, string] => [
				`on this computer: ${host}`,
				`https://${host}/y`,
				`The platform says that the file is on this computer (${new URL(`https://${host}`).host}), so it was not downloaded`,
			],
		),
		...['10.1.2.3', '172.16.0.1', '172.31.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '[fd00::1]', '[fe80::1]'].map(
			(host): [string, string, string] => [
				`in the private network: ${host}`,
				`https://${host}/y`,
				`The platform says that the file is in the private network (${host}), so it was not downloaded`,
			],
		),
	])('a file is not fetched from an address %s', async (_, fileUrl, message) => {
		const { failure, requests } = await fetched({ fileUrl });
		expect(failure).toMatchObject({ name: 'InputError', message });
		expect(requests).toEqual([]);
	});

	test('the error of a file on this computer says what to do', async () => {
		const { failure } = await fetched({ fileUrl: 'https://localhost/y' });
		expect(failure).toMatchObject({ hint: 'Look at the record in the platform.' });
	});

	const type = { 'content-type': 'image/png' };
	test.each<[string, Partial<Attachment>, IDataObject, 'file' | 'thumbnail', string | undefined]>([
		['that the record says', { mimetype: 'text/plain' }, type, 'file', 'text/plain'],
		['of the response, if the record says none', {}, type, 'file', 'image/png'],
		['none, if nobody says one', {}, {}, 'file', undefined],
		['none, if it is not readable', {}, { 'content-type': ['x'] }, 'file', undefined],
		['of the picture itself', { mimetype: 'text/plain' }, type, 'thumbnail', 'image/png'],
		['of any kind, if it is a file', {}, { 'content-type': 'text/html' }, 'file', 'text/html'],
	])('a fetched file has the type %s', async (_, attachment, headers, kind, mimetype) => {
		const { stored } = await fetched(attachment, bytes('abc', headers), kind);
		expect(stored).toEqual([['abc', mimetype]]);
	});

	test('a thumbnail has a separate URL', async () => {
		const thumbnailUrl = 'https://files.example.com/t';
		const fileUrl = 'https://files.example.com/f';
		expect((await fetched({ fileUrl }, bytes('a'), 'thumbnail')).requests).toEqual(['GET /people/files/f%2F1/thumbnail']);
		expect((await fetched({ thumbnailUrl, fileUrl }, bytes('a'), 'thumbnail')).requests).toEqual([`GET ${thumbnailUrl}`]);
		// Its size differs from that of the file.
		expect((await fetched({ fileSize: 9 }, bytes('a'), 'thumbnail')).failure).toBeUndefined();
	});

	test.each<[string, Partial<Attachment>, IN8nHttpFullResponse | Error, 'file' | 'thumbnail', object]>([
		['is not all there', { fileSize: 4 }, bytes('abc'), 'file', { message: "'a.txt' could not be downloaded: Received 3 of 4 bytes" }],
		[
			'is gone',
			{},
			bytes('', {}, 404),
			'file',
			{
				message: "'a.txt' could not be downloaded: The platform found no such record or table",
				status: 404,
				hint: 'The record listed the file, but the platform does not have it: it may have been removed since. Check the record.',
			},
		],
		[
			'is at another host, which refuses it',
			{ fileUrl: 'https://files.example.com:8443/f' },
			bytes('', {}, 403),
			'file',
			{
				message: "'a.txt' could not be downloaded from files.example.com:8443, without the token: The token has no right to do this",
				status: 403,
			},
		],
		[
			'can’t be reached',
			{},
			networkError('ECONNREFUSED'),
			'file',
			{ hint: "Check the 'Base URL' in the credential and that the platform is up.", delivery: 'notApplied' },
		],
		[
			'has an empty thumbnail',
			{},
			{ ...bytes(''), body: Readable.from([]) },
			'thumbnail',
			{ message: "The thumbnail of 'a.txt' could not be downloaded: Received no bytes" },
		],
		[
			'has a page for a thumbnail',
			{},
			bytes('x', { 'content-type': 'Text/html' }),
			'thumbnail',
			{ message: "The thumbnail of 'a.txt' could not be downloaded: The response is not a picture but Text/html", delivery: 'notApplied' },
		],
		[
			'has JSON for a thumbnail',
			{},
			bytes('{}', { 'content-type': 'application/json' }),
			'thumbnail',
			{ message: expect.stringContaining('not a picture but application/json') },
		],
	])('a file that %s is an error, and nothing is stored', async (_, attachment, response, kind, expected) => {
		const { failure, stored } = await fetched(attachment, response, kind);
		expect(failure).toBeInstanceOf(ServiceError);
		expect(failure).toMatchObject(expected);
		expect(stored).toEqual([]);
	});
});

describe('removeFiles', () => {
	const remove = async (responses: Array<ReturnType<Serve>>) =>
		await call((client) => removeFiles({ client, at }, ID, 'papers', ['a', 'b']), responses);
	const LOOK = 'Look at the record in the platform.';

	test('files are removed by their IDs', async () => {
		const { result, requests, sent } = await remove([ok(record([file('c', 'c.txt')]))]);
		expect(result).toMatchObject({ fields: { papers: [{ fileId: 'c' }] } });
		expect(requests).toEqual([`PATCH /people/data/${ID}`]);
		expect(JSON.parse(String(sent[0]!.body))).toEqual({ fields: { papers: { remove: ['a', 'b'] } } });
	});

	test.each<[string, ReturnType<Serve>]>([
		['has no record', ok(null)],
		['has another record', ok(record([], ID.replace('0', '1')))],
		['does not show the field', ok(record())],
	])('the record is read if the response %s', async (_, response) => {
		const { result, requests } = await remove([response, ok(record([]))]);
		expect(result).toMatchObject({ fields: { papers: [] } });
		expect(requests).toEqual([`PATCH /people/data/${ID}`, `GET /people/data/${ID}`]);
	});

	test('a record that the token may not read is what the response shows of it', async () => {
		expect((await remove([ok(record()), no(403)])).result).toEqual(expect.objectContaining({ id: ID, fields: {} }));
		expect((await remove([ok(null), no(403)])).failure).toMatchObject({
			message: 'The platform confirmed the change, but reading the record failed: no (403)',
			delivery: 'ambiguous',
			status: 403,
		});
		expect((await remove([ok(record()), no(400)])).failure).toMatchObject({
			message: 'The platform confirmed the change, but reading the record failed: no',
			delivery: 'ambiguous',
		});
		// Another writer has deleted it since.
		expect((await remove([ok(record()), no(404)])).failure).toMatchObject({ delivery: 'ambiguous', outcome: 'unknown' });
	});

	test('files that are still there are named', async () => {
		const left = ok(record([file('a', 'a.txt'), file('b', 'b.txt'), file('c', 'c.txt')]));
		expect((await remove([left])).failure).toMatchObject({
			message: "The platform did not remove 'a.txt', 'b.txt' from the record",
			delivery: 'rejected',
			hint: LOOK,
		});
		expect((await remove([lost(), left])).failure).toMatchObject({ delivery: 'ambiguous' });
	});

	test('after a 403, the hint asks for a token with this right', async () => {
		const { failure } = await call((client) => removeFiles({ client, at }, ID, 'papers', ['a']), [no(403)], { tokenType: 'short' });
		expect(failure).toMatchObject({ hint: expect.stringContaining('Ask for a token that has this right.') });
	});

	test('files that the platform no longer knows were removed by an attempt that was lost', async () => {
		const { result, requests } = await remove([lost(), no(400), ok(record([]))]);
		expect(result).toMatchObject({ fields: { papers: [] } });
		expect(requests).toHaveLength(3);
	});

	test('a lost removal stays unknown if the record still has one of the files', async () => {
		const { failure } = await remove([...Array.from({ length: 6 }, lost), ok(record([file('b', 'b.txt')]))]);
		expect(failure).toMatchObject({ message: expect.stringMatching(/; the record still has them$/), delivery: 'ambiguous' });
	});

	test.each<[string, ReturnType<Serve>, object]>([
		[
			'is lost',
			lost(),
			{
				message: expect.stringContaining(
					'Unknown whether the files were removed: The connection broke before the response was complete (ECONNRESET)',
				),
				delivery: 'ambiguous',
				hint: 'Look at the record in the platform before you run it again.',
			},
		],
		['is refused', no(400), { message: 'no', delivery: 'rejected', status: 400 }],
	])('a removal that %s fails with what is known', async (_, response, expected) => {
		expect((await remove([response])).failure).toMatchObject(expected);
	});
});

test('a file is stored while it arrives, not held in memory', async () => {
	const events: string[] = [];
	async function* pieces() {
		for (let piece = 1; piece <= 20; piece += 1) {
			events.push(`sent ${piece}`);
			yield Buffer.from([piece]);
		}
	}
	const { run } = await fakeRun(
		{},
		{
			serve: () => ({ ...httpResponse(200, ''), body: Readable.from(pieces()) }) as unknown as IN8nHttpFullResponse,
			receive: ([piece]) => void events.push(`stored ${piece}`),
		},
	);
	const files = [{ fileId: 'f', fileName: 'a.bin', mimetype: 'application/octet-stream' }];
	await downloadInto(run, { client: run.client, at }, files, { kind: 'file', outputName: 'data' });
	expect(events).toContain('stored 20');
	expect(events.indexOf('stored 1')).toBeLessThan(events.indexOf('sent 20'));
});

test("a file in n8n's store is read while it is sent, not held in memory", async () => {
	const binary = { data: { id: 'f', data: 'store', mimeType: 'text/plain', fileName: 'a.txt' } };
	const { run, seen } = await fakeRun({}, { items: [{ json: {}, binary }], files: { f: 'abc' } });
	const content = (await contentOf(run, 0, 'data')) as () => Promise<Readable>;
	expect(seen.openStreams).toBe(0);
	expect((await buffer(await content())).toString()).toBe('abc');
});
