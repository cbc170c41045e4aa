import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { variants } from '../../sandbox/state/variants.mts';
import { SeededRandom } from '../support/seededRandom.mts';
import { startSandboxThread, type SandboxThread } from '../support/sandboxThread.mts';

const ROOT = join(__dirname, '..', '..');
const run = promisify(execFile);

/** Only a limit that is reached, or another's words, would show these. */
const NOT_ASKED = ['rejections', 'dailyQuota', 'quotaRetryAfter', 'maxRecords', 'maxStorageBytes', 'limitErrors'];

const asked = variants.filter(({ setting }) => !NOT_ASKED.includes(setting));

type Settings = Record<string, unknown>;

const random = new SeededRandom(Number(process.env.SEED ?? 1));
const cases: Array<[string, Settings]> = [
	['the defaults', Object.fromEntries(asked.map(({ setting, readings }) => [setting, readings[0].value]))],
	['the others', Object.fromEntries(asked.map(({ setting, readings }) => [setting, readings[1].value]))],
	['drawn ones', Object.fromEntries(asked.map(({ setting, readings }) => [setting, random.of(...readings).value]))],
];

let thread: SandboxThread;
beforeAll(async () => {
	thread = await startSandboxThread(cases.length);
});
afterAll(() => thread.stop());

/** Every kind of field that a question needs, and records to read. */
async function prepare(sandbox: SandboxThread['sandboxes'][number], settings: Settings): Promise<string> {
	await sandbox.admin.createTable({
		app: 'shop',
		table: { internalName: 'teams', fields: [{ name: 'name', type: 'text' }] },
		records: [{ id: '00000000-0000-4000-8000-000000000001', fields: { name: 'red' } }],
	});
	await sandbox.admin.createTable({
		app: 'shop',
		table: {
			internalName: 'things',
			fields: [
				{ name: 'code', type: 'text', metadata: { importKey: true, required: true } },
				{ name: 'size', type: 'number', metadata: { required: true, min: 5 } },
				{ name: 'due', type: 'date' },
				{ name: 'seen', type: 'datetime' },
				{ name: 'photo', type: 'picture' },
				{ name: 'label', type: 'calculated', metadata: { template: '{code}!' } },
				{ name: 'team', type: 'schema_link', metadata: { linkTableId: 'teams' } },
				{ name: 'mates', type: 'schema_link', metadata: { linkTableId: 'teams', multiple: true } },
			],
		},
	});
	await sandbox.admin.settings(settings);
	const team = '00000000-0000-4000-8000-000000000001';
	const fields = { code: 'a', size: 5, due: '2026-11-22T00:00:00Z', team: { id: team }, mates: { add: [team] } };
	const { status, data } = await sandbox.client().post('/apps/shop/tables/things/data', { fields });
	if (status >= 300) throw new Error(JSON.stringify(data));
	const allow = ['structure', 'read', 'create', 'update', 'delete'];
	return await sandbox.admin.createToken({ name: 'ask', type: 'role', permissions: [{ app: 'shop', table: '*', allow }] });
}

const ask = async (token: string, ...args: string[]) =>
	await run('node', ['ask/main.mts', ...args], { cwd: ROOT, env: { ...process.env, PLATFORM_TOKEN: token } });

test.concurrent.each(cases)('names every reading that can be asked for: %s', async (name, settings) => {
	const sandbox = thread.sandboxes[cases.findIndex(([other]) => other === name)]!;
	const token = await prepare(sandbox, settings);
	const before = await sandbox.admin.records('shop', 'things');
	const { stdout } = await ask(token, '--base-url', sandbox.baseUrl, '--table', 'shop/things');
	const found = JSON.parse(stdout.trim().split('\n').at(-1)!) as Settings;
	// Nobody can tell the order of records that may not be written at once.
	const hidden = settings.bulkRight === 'import' ? ['bulkOrder', 'errorPosition'] : [];
	expect(found).toEqual(Object.fromEntries(Object.entries(settings).filter(([setting]) => !hidden.includes(setting))));
	expect(stdout).not.toContain(token);
	expect(await sandbox.admin.records('shop', 'things')).toEqual(before);
});

test('without a table it only reads', async () => {
	const [sandbox] = thread.sandboxes;
	await sandbox!.admin.clearRequests();
	const { stdout } = await ask(sandbox!.tokens.role, '--base-url', sandbox!.baseUrl);
	expect(new Set((await sandbox!.admin.requests()).map(({ method }) => method))).toEqual(new Set(['GET']));
	expect(stdout).toContain('or a write (--table)');
});

test.each([
	[['--base-url', 'http://platform.example.com'], 'must begin with https://'],
	[[], '--base-url is missing'],
	[['--token', 'x'], "Unknown option '--token'"],
])('says what is wrong with %j', async (args, message) => {
	await expect(ask('x', ...args)).rejects.toMatchObject({ stderr: expect.stringContaining(message) });
});
