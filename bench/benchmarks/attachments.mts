/**
 * A file of 300 MB up and down, by the node in n8n's engine and by a bare client that streams the
 * same body. The sandbox, the engine and the bare client are processes of their own.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { open, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import axios from 'axios';
import { startSandbox } from '../../harness/sandboxProcess.mts';
import { MIB } from '../memory.mts';
import { createRow, addLimitGoal, type Benchmark, type Measurement } from '../report/row.mts';

const MEGABYTES = 300;
const RUNS = 5;
const MOST_MEMORY_MB = 100;

export const PLACE = { app: 'bench', table: 'papers', field: 'file' };

/** What the worker process does. */
export interface Task {
	who: 'ours' | 'limit';
	work: 'upload' | 'download';
	baseUrl: string;
	token: string;
	record: string;
	/** The file to send. */
	path: string;
	bytes: number;
}

async function makeFile(path: string, megabytes: number): Promise<void> {
	const file = await open(path, 'w');
	for (let written = 0; written < megabytes; written += 1) await file.write(randomBytes(MIB));
	await file.close();
}

async function makeRecord(baseUrl: string): Promise<string> {
	const { app, table, field } = PLACE;
	const fields = [{ name: field, type: 'file' }];
	const admin = axios.create({ baseURL: `${baseUrl}/sandbox` });
	await admin.post('/tables', {
		app,
		table: { internalName: table, fields },
		records: [{ fields: {} }],
	});
	const { data } = await admin.get<{ data: Array<{ id: string }> }>(
		`/tables/${app}/${table}/records`,
	);
	return data.data[0]!.id;
}

const run = promisify(execFile);

async function measure(task: Task): Promise<Measurement> {
	const program = join(import.meta.dirname, '..', 'workers', 'attachments.mts');
	const profile = process.env.BENCH_PROFILE
		? ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROFILE}`]
		: [];
	const args = ['--expose-gc', ...profile, program, JSON.stringify(task)];
	const { stdout } = await run(process.execPath, args);
	return JSON.parse(stdout.trim().split('\n').at(-1)!) as Measurement;
}

export const attachments: Benchmark = {
	name: 'attachments',
	async run({ isSmoke }) {
		const megabytes = isSmoke ? 2 : MEGABYTES;
		const runs = isSmoke ? 1 : RUNS;
		const folder = await mkdtemp(join(tmpdir(), 'bench-'));
		const sandbox = await startSandbox();
		try {
			const path = join(folder, 'file.bin');
			await makeFile(path, megabytes);
			const record = await makeRecord(sandbox.baseUrl);
			const { baseUrl, tokens } = sandbox;
			const bytes = megabytes * MIB;
			const rows = [];
			for (const work of ['upload', 'download'] as const) {
				const ours: Measurement[] = [];
				const limit: Measurement[] = [];
				// In turns, so that whatever else the machine does falls on both.
				for (let count = 0; count < runs; count += 1) {
					const task = { work, baseUrl, token: tokens.role, record, path, bytes };
					ours.push(await measure({ ...task, who: 'ours' }));
					limit.push(await measure({ ...task, who: 'limit' }));
				}
				const row = createRow(`${work} ${megabytes} MB`, { ours, limit });
				const isFlat = (row.memoryMB ?? 0) <= MOST_MEMORY_MB;
				addLimitGoal(row, 1.25, row.name);
				row.goals.push({ text: `≤ ${MOST_MEMORY_MB} MB`, isMet: isFlat });
				rows.push(row);
			}
			return rows;
		} finally {
			await sandbox.stop();
			await rm(folder, { recursive: true, force: true });
		}
	},
};
