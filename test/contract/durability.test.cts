import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axios from 'axios';
import { startSandbox } from '../../harness/sandboxProcess.mts';
import { BROKEN_CONNECTION } from './contract.cts';

const contacts = '/apps/crm/tables/contacts/data';
const folder = mkdtempSync(join(tmpdir(), 'sandbox-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('what was confirmed survives kill -9, and so do the tokens', async () => {
	const db = join(folder, 'data.sqlite');
	const first = await startSandbox({ db });
	await first.admin.settings({ maxBulkRecords: 50 });
	const confirmed: string[] = [];
	const writer = (async () => {
		for (let batch = 0; ; batch += 1) {
			const emails = [0, 1, 2].map((index) => `${batch}-${index}@example.com`);
			const bulk = emails.map((email) => ({ fields: { surname: 'x', email } }));
			const response = await first.client().post(`${contacts}/bulk`, { bulk });
			if (response.status === 200) confirmed.push(...emails);
		}
	})();
	await new Promise((resolve) => setTimeout(resolve, 800));
	const isBroken = expect(writer).rejects.toThrow(BROKEN_CONNECTION);
	await first.stop('SIGKILL');
	await isBroken;
	expect(confirmed.length).toBeGreaterThan(10);

	const second = await startSandbox({ db });
	expect(second.tokens).toEqual(first.tokens);
	const kept = new Set((await second.admin.records('crm', 'contacts')).map((r) => r.fields.email));
	expect(confirmed.filter((email) => !kept.has(email))).toEqual([]);
	// Batches are atomic: three records each, and at most one more batch than was confirmed.
	expect((kept.size - 40) % 3).toBe(0);
	expect(kept.size - 40 - confirmed.length).toBeLessThanOrEqual(3);
	expect((await second.client().post(`${contacts}/bulk`, { bulk: [] })).status).toBe(200);
	const { data } = (await second.admin.http.get('/settings')).data;
	expect(data.maxBulkRecords).toBe(50);
	await second.admin.reset();
	expect(await second.admin.records('crm', 'contacts')).toHaveLength(40);
	await second.stop();
	expect(await second.exited).toBe(0);
});

test('SIGINT stops the sandbox gracefully, even with an open connection', async () => {
	const sandbox = await startSandbox();
	await sandbox.admin.faults([{ fault: { kind: 'hang' } }]);
	const pending = sandbox.client().get('/ping');
	const broken = expect(pending).rejects.toThrow(BROKEN_CONNECTION);
	await new Promise((resolve) => setTimeout(resolve, 100));
	await sandbox.stop('SIGINT');
	expect(await sandbox.exited).toBe(0);
	await broken;
});

test('the sandbox can speak HTTPS with a self-signed certificate', async () => {
	const sandbox = await startSandbox({ https: true });
	expect(sandbox.baseUrl).toMatch(/^https:/);
	const [record] = (await sandbox.client().get(`${contacts}?limit=1`)).data.data;
	expect(record.fields.company.url).toContain(sandbox.baseUrl);
	await expect(axios.get(`${sandbox.baseUrl}/api/v2/ping`, { proxy: false })).rejects.toThrow(/certificate/);
	await sandbox.stop();
});

test('a page in the middle of a large table is found by latest change without sorting the table', async () => {
	const sandbox = await startSandbox({ seeded: false });
	const fields = [{ name: 'n', type: 'number' }];
	await sandbox.admin.createTable({ app: 'big', table: { internalName: 'rows', fields } });
	const client = sandbox.client();
	for (let start = 0; start < 100_000; start += 10_000) {
		const bulk = Array.from({ length: 10_000 }, (_, index) => ({ fields: { n: start + index } }));
		await client.post('/rows/data/bulk', { bulk });
	}
	const read = async (sort: string) => {
		const begin = performance.now();
		const page = await client.get(`/rows/data?sort=${sort}(desc)&limit=1000&skip=50000`);
		expect(page.data.data[0].fields.n).toBe(49_999);
		return performance.now() - begin;
	};
	const [byChange, byValue] = [[Infinity], [Infinity]];
	for (let attempt = 0; attempt < 5; attempt += 1) {
		byChange.push(await read('modified'));
		byValue.push(await read('n'));
	}
	// By a value, the whole table is sorted: some seven times as long.
	expect(Math.min(...byChange)).toBeLessThan(Math.min(...byValue) / 2);
	await sandbox.stop();
});
