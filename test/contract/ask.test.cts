import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startSandbox, type RunningSandbox } from '../../harness/sandboxProcess.mts';
import { variants } from '../../sandbox/state/variants.mts';
import { SeededRandom } from '../support/seededRandom.mts';

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

let sandboxes: RunningSandbox[];
beforeAll(async () => {
	sandboxes = await Promise.all(cases.map(async () => await startSandbox({ seeded: false })));
});
afterAll(async () => void (await Promise.all(sandboxes.map(async (sandbox) => await sandbox.stop()))));

/** Every kind of field that a question needs, and records to read. */
async function prepare(sandbox: RunningSandbox, settings: Settings): Promise<string> {
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
				{ name: 'papers', type: 'file' },
				{ name: 'label', type: 'calculated', metadata: { template: '{code}!' } },
				{ name: 'team', type: 'schema_link', metadata: { linkTableId: 'teams' } },
				{ name: 'mates', type: 'schema_link', metadata: { linkTableId: 'teams', multiple: true } },
			],
		},
	});
	await sandbox.admin.settings(settings);
	const team = '00000000-0000-4000-8000-000000000001';
	const fields = {
		code: 'a',
		size: 5,
		due: '2026-11-22T00:00:00Z',
		team: { id: team },
		mates: { add: [team] },
		// Without a file to read, a picture that is written shows how files are described.
		...(settings.fileSize !== 'number' && {
			papers: [{ filename: 'a.txt', mimetype: 'text/plain', filedata: 'data:text/plain;base64,YQ==' }],
		}),
	};
	const { status, data } = await sandbox.client().post('/apps/shop/tables/things/data', { fields });
	if (status >= 300) throw new Error(JSON.stringify(data));
	// Its link may come late: the program asks about records as they are.
	await sleep(2 * Number(settings.lateValuesMs ?? 0));
	const allow = ['structure', 'read', 'create', 'update', 'delete'];
	return await sandbox.admin.createToken({ name: 'ask', type: 'role', permissions: [{ app: 'shop', table: '*', allow }] });
}

const ask = async (token: string, ...args: string[]) =>
	await run('node', ['ask/main.mts', ...args], { cwd: ROOT, env: { ...process.env, PLATFORM_TOKEN: token } });

/** What the program says of a platform, and what it leaves behind. */
async function askOne(sandbox: RunningSandbox, settings: Settings) {
	const token = await prepare(sandbox, settings);
	const before = await sandbox.admin.records('shop', 'things');
	const { stdout } = await ask(token, '--base-url', sandbox.baseUrl, '--table', 'shop/things');
	const after = await sandbox.admin.records('shop', 'things');
	return { before, after, stdout, token };
}

test('names every reading that can be asked for, and leaves nothing behind', async () => {
	const all = await Promise.all(cases.map(async ([, settings], index) => await askOne(sandboxes[index]!, settings)));
	for (const [index, { before, after, stdout, token }] of all.entries()) {
		const [name, settings] = cases[index]!;
		// Nobody can tell the order of records that may not be written at once.
		const hidden = settings.bulkRight === 'import' ? ['bulkOrder', 'errorPosition'] : [];
		const expected = Object.fromEntries(Object.entries(settings).filter(([setting]) => !hidden.includes(setting)));
		expect([name, JSON.parse(stdout.trim().split('\n').at(-1)!)]).toEqual([name, expected]);
		expect(stdout).not.toContain(token);
		expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
	}
});

test('without a table it only reads', async () => {
	const [sandbox] = sandboxes;
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
