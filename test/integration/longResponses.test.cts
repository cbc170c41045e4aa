/** JSON that is too long for memory, or never ends. */
import { gzipSync } from 'node:zlib';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkCredential, picked, runOperation, type OperationRun } from '../support/engine/engine.cts';
import { waitUntil } from '../support/waitUntil.mts';
import type { StubResponse } from '../support/stubServer.mts';
import { useStubServer } from './useStubServer.cts';

const MIB = 1024 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };
const TOO_LONG = "The platform's response is longer than 64 MiB, and was not read to the end";

const platform = useStubServer();
const credential = () => ({ baseUrl: platform.origin, token: 'demo-token-of-a-role' });

async function listApplications(response: StubResponse, run: Partial<OperationRun> = {}) {
	platform.respond = () => response;
	const parameters = { resource: 'application', operation: 'getAll' };
	return await runOperation(credential(), { ...run, parameters });
}

const allClosed = async () => await waitUntil('no connection is open', async () => (await platform.countConnections()) === 0);

const packed = (bytes: Buffer) => ({ headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body: gzipSync(bytes) });
const zipped = (bytes: number) => packed(Buffer.alloc(bytes, ' '));

/** A few kilobytes that are many values. */
const manyValues = () => packed(Buffer.from(`{"data":[${'{},'.repeat(1_000_000)}{}]}`));
const NOT_READ = "The platform's response could not be read (application/json, 3000013 characters)";

test.each<[string, StubResponse]>([
	['that never ends', { headers: JSON_TYPE, body: ' '.repeat(MIB), repeats: true }],
	['that is packed', zipped(65 * MIB)],
	['that is an error', { ...zipped(65 * MIB), status: 500 }],
])('JSON %s is read up to 64 MiB, and not requested again', async (_, response) => {
	const { error } = await listApplications(response);
	expect(error).toMatchObject({ message: TOO_LONG });
	expect(error!.description).toContain('fewer fields');
	expect(platform.requests).toHaveLength(1);
	await allClosed();
});

test.each([
	[200, NOT_READ],
	[500, 'The platform failed (500)'],
])('JSON with millions of values is not parsed: %i', async (status, message) => {
	platform.respond = () => ({ ...manyValues(), status });
	const table = { application: picked('shop'), table: picked('orders') };
	const parameters = { resource: 'record', operation: 'getAll', ...table, options: { maxRetryWait: 0 } };
	const { error } = await runOperation(credential(), { parameters });
	expect(error).toMatchObject({ message });
	await allClosed();
});

test('JSON of almost 64 MiB is read', async () => {
	const body = `{"data":[]${' '.repeat(64 * MIB - 11)}}`;
	const { error, json } = await listApplications({ headers: JSON_TYPE, body });
	expect(error).toBeUndefined();
	expect(json()).toEqual([]);
});

test.each([
	['stops', { stalls: true }],
	['arrives byte by byte', { byteIntervalMs: 900 }],
])('JSON that %s ends within the timeout', async (_, pace) => {
	const start = Date.now();
	const options = { timeout: 1, maxRetryWait: 0 };
	platform.respond = () => ({ headers: JSON_TYPE, body: '{"data":[]}', ...pace });
	const table = { application: picked('shop'), table: picked('orders') };
	const parameters = { resource: 'record', operation: 'getAll', ...table, options };
	const { error } = await runOperation(credential(), { parameters });
	expect(error).toMatchObject({ message: 'The platform did not respond in time' });
	expect(Date.now() - start).toBeLessThan(9000);
	await allClosed();
});

test('JSON that stops ends at once if the execution is canceled', async () => {
	const start = Date.now();
	const onStart = (cancel: () => void) =>
		void waitUntil('it has begun', () => platform.requests.length > 0).then(async () => {
			await sleep(200);
			cancel();
		});
	const { run } = await listApplications({ headers: JSON_TYPE, body: '{"da', stalls: true }, { onStart });
	expect(run.status).toBe('canceled');
	expect(Date.now() - start).toBeLessThan(25_000);
	await allClosed();
});

test('the test of the credential reads no more than 64 MiB', async () => {
	platform.respond = () => ({ headers: JSON_TYPE, body: ' '.repeat(MIB), repeats: true });
	const { status, message } = await checkCredential(credential());
	expect([status, message]).toEqual(['Error', expect.stringContaining(TOO_LONG)]);
	await allClosed();
});

test('the test of the credential does not parse millions of values', async () => {
	platform.respond = manyValues;
	const { status, message } = await checkCredential(credential());
	expect([status, message]).toEqual(['Error', expect.stringContaining(NOT_READ)]);
});
