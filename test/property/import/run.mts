/**
 * Import From File in a process that is killed with SIGKILL at random moments, and restarted at the
 * row after the last one that n8n's log reports as confirmed: nothing may be lost or doubled,
 * except what the docs say about Create. Also tests a full disk. `npm run check -- import [--rounds
 * N] [--rows N] [--seed N]`.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { IDataObject } from 'n8n-workflow';
import type { LoggedRequest, StoredRecord } from '../../../harness/sandboxAdmin.mts';
import { startSandbox, type RunningSandbox } from '../../../harness/sandboxProcess.mts';
import { inTable } from '../../support/linearWorkflow.mts';
import { readOptions } from '../../support/options.mts';
import { SeededRandom } from '../../support/seededRandom.mts';
import { APP, idOf, TABLE } from '../faults/constants.mts';
import { Results, seedsFrom, type Verdict } from '../../support/results.mts';
import type { ImporterReply, ImporterTask } from './importer.mts';

const { rounds, rows, seed: first } = readOptions({ rounds: 20, rows: 50_000 });

/** One row in this many is bad. */
const BAD_EVERY = 997;

/** How many kills a round has at most. */
const MAX_KILLS = 3;

/** What to import, and into which table. */
const KINDS = ['upsert', 'update', 'create', 'createWithKey'] as const;
type Kind = (typeof KINDS)[number];

const nameOf = (index: number, seed: number) => `Name ${index}, ${seed}`;
const isBad = (index: number) => index % BAD_EVERY === 500;

/** Row 1 is the header. */
const rowOf = (index: number) => index + 2;

function csvOf(kind: Kind, count: number, seed: number): string {
	const lines = Array.from({ length: count }, (_, index) => {
		const amount = isBad(index) ? 'many' : String(index);
		const id = kind === 'update' ? `${idOf(index)},` : '';
		return `${id}c${index},"${nameOf(index, seed)}",${amount}\r\n`;
	});
	return `${kind === 'update' ? 'id,' : ''}code,name,amount\r\n${lines.join('')}`;
}

const parametersOf = (kind: Kind, startAtRow: number) => ({
	resource: 'record',
	operation: 'importFromFile',
	...inTable(APP, TABLE),
	importMode: kind === 'createWithKey' ? 'create' : kind,
	...(kind === 'update' && { matchOn: 'recordId' }),
	options: { startAtRow },
});

interface Run {
	reply?: ImporterReply;
	/** The last row that the log reports as confirmed. */
	confirmed?: number;
}

class Importer {
	readonly #child: ChildProcess;
	#log = '';

	/** @param maxFileBytes the largest file that the disk accepts */
	constructor(folder: string, maxFileBytes?: number) {
		const file = join(import.meta.dirname, 'importer.mts');
		const env = { ...process.env, N8N_USER_FOLDER: folder };
		const options = { env, silent: true, execArgv: [] };
		this.#child =
			maxFileBytes === undefined
				? fork(file, [], options)
				: fork(file, [], {
						...options,
						execPath: 'bash',
						// The file's path follows the script's own arguments.
						execArgv: ['-c', `ulimit -f ${maxFileBytes / 1024}; exec "${process.execPath}" "$0"`],
					});
		this.#child.stdout!.on('data', (text: Buffer) => (this.#log += text.toString('utf8')));
		this.#child.stderr!.on('data', (text: Buffer) => (this.#log += text.toString('utf8')));
	}

	/** Runs one task, or until the process is killed. */
	async run(task: ImporterTask, kill: (child: ChildProcess, ended: AbortSignal) => Promise<void> = async () => undefined): Promise<Run> {
		await this.#message();
		const replied = this.#message();
		// Then everything that it wrote has been read.
		const exited = Promise.all([once(this.#child, 'exit'), once(this.#child.stdout!, 'close')]);
		const ended = new AbortController();
		this.#child.send(task);
		const killing = kill(this.#child, ended.signal);
		const reply = await replied;
		ended.abort();
		await killing;
		if (this.#child.connected) this.#child.disconnect();
		await exited;
		const lines = [...this.#log.matchAll(/is confirmed through row (\d+)/g)];
		return { reply, confirmed: lines.length > 0 ? Number(lines.at(-1)![1]) : undefined };
	}

	async #message() {
		const ended = once(this.#child, 'exit').then(([code, signal]) => {
			if (signal === 'SIGKILL') return [undefined];
			throw new Error(`The importer exited (${String(code ?? signal)}):\n${this.#log.slice(-3000)}`);
		});
		// Matters only while something waits for a message.
		ended.catch(() => undefined);
		const [message] = (await Promise.race([once(this.#child, 'message'), ended])) as unknown[];
		return message as ImporterReply | undefined;
	}
}

const isWrite = ({ method, path }: LoggedRequest) => method !== 'GET' && path.endsWith('/bulk');

/** Kills the process slightly after the platform has received this many bulk requests. */
async function killAt(sandbox: RunningSandbox, requests: number, laterMs: number, child: ChildProcess, ended: AbortSignal) {
	const isReached = async () => (await sandbox.admin.requests()).filter(isWrite).length >= requests;
	while (!ended.aborted && !(await isReached())) await pause(5);
	await pause(laterMs);
	if (!ended.aborted) child.kill('SIGKILL');
}

async function createTable(sandbox: RunningSandbox, kind: Kind, count: number) {
	const records = Array.from({ length: kind === 'update' ? count : 0 }, (_, index) => ({
		id: idOf(index),
		fields: { code: `c${index}`, name: 'old', amount: -1 },
	}));
	await sandbox.admin.createTable({
		app: APP,
		table: {
			internalName: TABLE,
			header: 'Goods',
			fields: [
				{ name: 'code', type: 'text', ...(kind !== 'create' && { metadata: { importKey: true } }) },
				{ name: 'name', type: 'text' },
				{ name: 'amount', type: 'number' },
			],
		},
		records,
	});
	await sandbox.admin.clearRequests();
}

/** How often each code is in the table with the file's values, and what else is there. */
function compare(records: StoredRecord[], kind: Kind, seed: number) {
	const times = new Map<number, number>();
	const strange: string[] = [];
	for (const { fields } of records) {
		const index = Number(String(fields.code).slice(1));
		const isNew = fields.name === nameOf(index, seed) && fields.amount === index && !isBad(index);
		const isOld = kind === 'update' && fields.name === 'old' && fields.amount === -1;
		if (isNew) times.set(index, (times.get(index) ?? 0) + 1);
		else if (!isOld) strange.push(`${String(fields.code)} is ${JSON.stringify(fields)}`);
	}
	return { times, strange };
}

async function round(sandbox: RunningSandbox, folder: string, seed: number, count: number): Promise<Verdict> {
	const kind = KINDS[seed % KINDS.length]!;
	const random = new SeededRandom(seed);
	const path = join(folder, 'goods.csv');
	await writeFile(path, csvOf(kind, count, seed));
	/** Whether the platform refuses a key that exists, which is unknown; both are tested. */
	const isUnique = kind === 'createWithKey' && seed % 8 < 4;
	// Each page is a request: with a few records per page there would be thousands.
	await sandbox.admin.settings({
		importKey: isUnique ? 'unique' : 'notUnique',
		timePrecisionMs: random.of(1, 1, 1000, 60_000),
		maxListedRecords: random.of<number | null>(null, 60, 120, 600),
		maxFilteredRecords: random.of<number | null>(null, null, 60, 120, 600),
	});
	await createTable(sandbox, kind, count);
	const credential = { baseUrl: sandbox.baseUrl, token: sandbox.tokens.role };
	const wrong: string[] = [];
	const say = (what: string, all: unknown[]) => {
		if (all.length > 0) wrong.push(`${all.length} ${what}, such as ${all.slice(0, 3).join(', ')}`);
	};
	/** How often killed runs wrote each row after what their log reports. */
	const extra = new Map<number, number>();
	const startedAt: number[] = [];
	let start = 1;
	let kills = 0;
	for (;;) {
		startedAt.push(start);
		const isLast = kills === MAX_KILLS || (kills > 0 && random.happens(0.4));
		const requests = random.between(1, Math.max(2, Math.ceil((count - start) / 1000)));
		const laterMs = random.between(0, 60);
		const before = compare(await sandbox.admin.records(APP, TABLE), kind, seed).times;
		await sandbox.admin.clearRequests();
		const importer = new Importer(folder);
		const { reply, confirmed = start - 1 } = await importer.run(
			{ credential, path, parameters: parametersOf(kind, start) },
			isLast ? undefined : async (child, ended) => await killAt(sandbox, requests, laterMs, child, ended),
		);
		// Requests that were running at the kill may still be applied.
		await sandbox.admin.waitUntilIdle();
		const { times, strange } = compare(await sandbox.admin.records(APP, TABLE), kind, seed);
		say('values that nobody sent', strange);
		const through = reply ? count + 1 : confirmed;
		const good = Array.from({ length: count }, (_, index) => index).filter((index) => !isBad(index));
		say(
			reply ? 'rows lost' : `rows lost before row ${through}, which the log confirms`,
			good.filter((index) => rowOf(index) <= through && !times.has(index)).map(rowOf),
		);
		if (!reply) {
			kills += 1;
			for (const index of good) {
				if (rowOf(index) <= confirmed) continue;
				const added = (times.get(index) ?? 0) - (before.get(index) ?? 0);
				if (added > 0) extra.set(index, (extra.get(index) ?? 0) + added);
			}
			start = Math.max(start, confirmed + 1);
			continue;
		}
		// Unless its key is unique, a row that a killed run created after its log comes again.
		const mayBe = (index: number) => 1 + (kind.startsWith('create') && !isUnique ? (extra.get(index) ?? 0) : 0);
		say('rows doubled', good.filter((index) => times.get(index)! > mayBe(index)).map(rowOf));
		// A record whose key exists is not created again.
		const there = isUnique ? [...extra.keys()] : [];
		checkReport(reply, { start, count, good, there }, wrong);
		const seen = { kills, 'rows written before a kill, after the last line of the log': extra.size };
		return { problems: wrong, evidence: [`${kind}, started at rows ${startedAt.join(', ')}`], seen };
	}
}

/** Checks the report of the run that reached the end. */
function checkReport(
	{ json = {}, rejected = '', error }: ImporterReply,
	{ start, count, ...indexes }: { start: number; count: number; good: number[]; there: number[] },
	wrong: string[],
) {
	if (error) {
		wrong.push(`it failed: ${error.message}`);
		return;
	}
	const first = Math.max(0, start - 2);
	const rows = count - first;
	const fine = indexes.good.filter((index) => index >= first).length;
	const there = indexes.there.filter((index) => index >= first).length;
	const expected: IDataObject = { rows, rejected: rows - fine + there, confirmedThroughRow: Math.max(start - 1, count + 1), unknown: 0 };
	for (const [name, value] of Object.entries(expected)) {
		if (json[name] !== value) wrong.push(`${name} is ${String(json[name])}, not ${String(value)}`);
	}
	const { inserted = 0, updated = 0, unchanged = 0 } = json as Record<string, number>;
	if (inserted + updated + unchanged !== fine - there) {
		wrong.push(`${inserted} inserted, ${updated} updated, ${unchanged} unchanged of ${fine - there}`);
	}
	const named = rejected
		.split('\r\n')
		.slice(1, -1)
		.map((line) => Number(line.split(',').at(-1)));
	if (named.length !== rows - fine + there) wrong.push(`${named.length} rows in the rejected file`);
	const unnamed = Array.from({ length: rows }, (_, at) => first + at)
		.filter(isBad)
		.filter((index) => !named.includes(rowOf(index)));
	if (unnamed.length > 0) wrong.push(`${unnamed.length} bad rows are not in the rejected file`);
}

/**
 * A disk that accepts files of at most half a mebibyte: for an export of about twice that, and for more
 * rejected rows than that.
 */
async function fullDisk(sandbox: RunningSandbox, folder: string): Promise<Verdict> {
	const wrong: string[] = [];
	const size = 10_000;
	await createTable(sandbox, 'update', size);
	const credential = { baseUrl: sandbox.baseUrl, token: sandbox.tokens.role };
	const run = async (task: Omit<ImporterTask, 'credential'>) =>
		(await new Importer(folder, 512 * 1024).run({ credential, ...task })).reply!;
	const exported = await run({ parameters: { resource: 'record', operation: 'exportToFile', ...inTable(APP, TABLE), options: {} } });
	const requireError = ({ error, files }: ImporterReply, what: string) => {
		if (!error?.message.includes('EFBIG')) wrong.push(`${what}: ${error?.message ?? 'no error'}`);
		if (files.length > 0) wrong.push(`${what}: a file is in the output`);
	};
	requireError(exported, 'export');

	const path = join(folder, 'goods.csv');
	// Every second row is bad, and its reason is longer than the row.
	const lines = Array.from({ length: size * 4 }, (_, at) => `n${at},x,${at % 2 ? 'many' : at}\n`);
	await writeFile(path, `code,name,amount\n${lines.join('')}`);
	const imported = await run({ path, parameters: parametersOf('upsert', 1) });
	requireError(imported, 'import');
	const through = Number(imported.error?.details?.confirmedThroughRow ?? 0);
	const stored = new Set((await sandbox.admin.records(APP, TABLE)).map(({ fields }) => String(fields.code)));
	const lost = lines.flatMap((_, at) => (at % 2 === 0 && rowOf(at) <= through && !stored.has(`n${at}`) ? [rowOf(at)] : []));
	if (lost.length > 0) wrong.push(`import: rows lost that the report confirms, such as ${lost[0]}`);
	return { problems: wrong, evidence: [`the import is confirmed through row ${through}`] };
}

const folder = await mkdtemp(join(tmpdir(), 'data-platform-import-'));
const sandbox = await startSandbox({ seeded: false });
const results = new Results();
console.log(`${rounds} imports of ${rows} rows from seed ${first} on`);
try {
	// Tests of other programs need the history of records.
	await sandbox.admin.settings({ history: false });
	for (const seed of seedsFrom(first, rounds)) {
		const again = `import --rounds 1 --rows ${rows} --seed ${seed}`;
		await results.run('import', again, async () => await round(sandbox, folder, seed, rows));
	}
	await results.run('a full disk', 'import --rounds 0', async () => await fullDisk(sandbox, folder));
} finally {
	await sandbox.stop();
	await rm(folder, { recursive: true, force: true });
}
if (rounds > 0 && !results.seen.get('kills')) results.fail('No process was killed in the middle.');
results.end();
