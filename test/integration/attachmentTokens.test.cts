import { waitUntil } from '../support/waitUntil.mts';
import { defined } from '../support/engine/engine.cts';
import { itemWithFile, read, stored, useAttachmentHarness } from './attachmentFixtures.cts';
import { cancelWhen, type Run } from './fixtures.cts';
import { useStubServer } from './useStubServer.cts';

const harness = useAttachmentHarness();

describe('a file at another host', () => {
	const elsewhere = useStubServer();

	const allClosed = async () => await waitUntil('no connection is open', async () => (await elsewhere.countConnections()) === 0);

	const download = async (fileSize: number, run: Run = {}) => {
		const fileUrl = `${elsewhere.origin}/there.txt?signature=1&token=demo-elsewhere`;
		const papers = [{ fileId: 'f', fileName: 'there.txt', fileSize, mimetype: 'text/plain', fileUrl }];
		const body = { data: { id: harness.id, ver: 1, fields: { papers } } };
		await harness.faults({ match: { method: 'GET', path: '/data/' }, fault: { kind: 'status', status: 200, body } });
		return await harness.run('download', run);
	};

	test('is fetched without the token', async () => {
		elsewhere.respond = () => ({ body: 'there' });
		const result = await download(5);
		expect(result.error).toBeUndefined();
		expect((await read(result.output('Data Platform')[0])).toString()).toBe('there');
		expect(elsewhere.requests).toHaveLength(1);
		// The token in its address is all that lets it in there.
		expect(elsewhere.requests[0]!.target).toBe('/there.txt?signature=1&token=demo-elsewhere');
		expect(elsewhere.requests[0]!.headers).not.toHaveProperty('authorization');
		expect(JSON.stringify(elsewhere.requests)).not.toContain(harness.sandbox.tokens.role);
	});

	test('that stops sending ends within the timeout', async () => {
		elsewhere.respond = () => ({ body: 'th', stalls: true });
		const start = Date.now();
		const { error } = await download(5, { options: { timeout: 1, maxRetryWait: 0 } });
		expect(error!.message).toContain('stopped sending');
		expect(Date.now() - start).toBeLessThan(30_000);
		await allClosed();
	});

	test.each([
		[404, false],
		[500, false],
		[302, false],
		[404, true],
	])('that rejects with a long body (%i, endless %s) leaves no connection open', async (status, stalls) => {
		elsewhere.respond = () => ({ status, body: 'x'.repeat(30_000_000), stalls });
		const start = Date.now();
		const { error } = await download(5, { options: { timeout: stalls ? 2 : 30, maxRetryWait: 0 } });
		expect(error!.message).toMatch(/^'there\.txt' could not be downloaded/);
		await allClosed();
		expect(Date.now() - start).toBeLessThan(10_000);
	});

	test('that is canceled ends at once', async () => {
		const sent = 100_000;
		elsewhere.respond = () => ({ body: 'x'.repeat(sent), stalls: true });
		const start = Date.now();
		const onStart = cancelWhen(() => elsewhere.requests.length > 0, 200);
		const { run, output } = await download(sent + 1, { options: { timeout: 60 }, onStart });
		expect(run.status).toBe('canceled');
		expect(output('Data Platform')).toEqual([]);
		await allClosed();
		expect(Date.now() - start).toBeLessThan(10_000);
		expect(elsewhere.requests).toHaveLength(1);
	});

	test('that rejects, and sends a byte now and then, ends within the timeout', async () => {
		elsewhere.respond = () => ({ status: 404, body: 'x'.repeat(100), byteIntervalMs: 500 });
		const start = Date.now();
		const { error } = await download(5, { options: { timeout: 2, maxRetryWait: 0 } });
		expect(error!.description).toContain('the platform does not have it');
		expect(Date.now() - start).toBeLessThan(30_000);
		await allClosed();
	});
});

describe('a short token', () => {
	const credential = () => ({ token: harness.sandbox.tokens.short, accessType: 'short' });

	test('uploads, though it may read neither table nor record', async () => {
		const { json, error } = await harness.upload([await stored('a.txt', 'content')], { credential: credential() });
		expect(error).toBeUndefined();
		expect(json()[0]).toMatchObject({ id: harness.id, uploaded: ['a.txt'] });
		expect(await harness.names()).toEqual(['a.txt']);
	});

	test('removes by ID', async () => {
		await harness.upload([await stored('a.txt', 'content')]);
		const [file] = await harness.files();
		const parameters = { removeMode: 'id', fileId: file!.fileId };
		const { json } = await harness.run('remove', { credential: credential(), parameters });
		expect(json()[0]).toMatchObject({ removed: [{ fileId: file!.fileId }], remaining: 0 });
	});

	test.each([
		['download', {}],
		['remove', { removeMode: 'all' }],
		['upload', { target: 'new', columns: defined({ title: 'New' }) }],
		['upload', { updateOtherFields: true, columns: defined({ title: 'New' }) }],
	])('fails at %s %j, and the error says which token it requires', async (operation, parameters) => {
		const { error } = await harness.run(operation, { credential: credential(), input: await itemWithFile('a', 'a'), parameters });
		expect(error!.description).toContain("'API Token With Role' or 'Standard JWT Token'");
		expect(error!.description).toContain("'Short API Token'");
	});
});
