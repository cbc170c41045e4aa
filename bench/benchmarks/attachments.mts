/**
 * A file of 300 MB up and down, by the node in n8n's engine and by a bare client that streams the same
 * body. Every run has a process of its own, so that its peak memory is that of one file.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startBenchEnv, type BenchEnv } from '../benchEnv.mts';
import { MIB, type Measurement } from '../measure.mts';
import { profileArgs } from '../profile.mts';
import { addGoal, addLimitGoal, createRow, type Benchmark, type Row } from '../report/row.mts';
import { HTTP, HTTPS } from '../wires.mts';
import type { AttachmentTask } from '../workers/attachments.mts';

const LOCATION = { app: 'bench', table: 'papers', field: 'file' };

const MEGABYTES = 300;
const RUNS = 5;
const MAX_MEMORY_MB = 100;
const MAX_RATIO = 1.25;

async function writeRandomFile(path: string, megabytes: number): Promise<void> {
	const file = await open(path, 'w');
	for (let written = 0; written < megabytes; written += 1) await file.write(randomBytes(MIB));
	await file.close();
}

/** Creates a table with one record and returns the record's id. */
async function createRecord({ admin }: BenchEnv): Promise<string> {
	const { app, table, field } = LOCATION;
	const fields = [{ name: field, type: 'file' }];
	await admin.createTable({
		app,
		table: { internalName: table, fields },
		records: [{ fields: {} }],
	});
	return (await admin.records(app, table))[0]!.id;
}

const run = promisify(execFile);

async function runTask({ certificateFile }: BenchEnv, task: AttachmentTask): Promise<Measurement> {
	const program = join(import.meta.dirname, '..', 'workers', 'attachments.mts');
	const args = ['--expose-gc', ...profileArgs(task.work), program, JSON.stringify(task)];
	const { stdout } = await run(process.execPath, args, {
		env: { ...process.env, ...(certificateFile && { NODE_EXTRA_CA_CERTS: certificateFile }) },
	});
	return JSON.parse(stdout.trim().split('\n').at(-1)!) as Measurement;
}

export const attachments: Benchmark = {
	name: 'attachments',
	async run({ isSmoke }) {
		const megabytes = isSmoke ? 2 : MEGABYTES;
		const runs = isSmoke ? 1 : RUNS;
		const folder = await mkdtemp(join(tmpdir(), 'bench-'));
		const rows: Row[] = [];
		try {
			const path = join(folder, 'file.bin');
			await writeRandomFile(path, megabytes);
			for (const wire of [HTTP, HTTPS]) {
				const env = await startBenchEnv({ wire });
				try {
					const { baseUrl, token } = env;
					const record = await createRecord(env);
					for (const work of ['upload', 'download'] as const) {
						const bytes = megabytes * MIB;
						const task = { ...LOCATION, work, baseUrl, token, record, path, bytes };
						const ours: Measurement[] = [];
						const limit: Measurement[] = [];
						for (let count = 0; count < runs; count += 1) {
							ours.push(await runTask(env, { ...task, client: 'node' }));
							limit.push(await runTask(env, { ...task, client: 'bareClient' }));
						}
						const row = createRow(`${work} ${megabytes} MB, ${wire.name}`, {
							ours: { measurements: ours },
							limit: { measurements: limit },
						});
						addLimitGoal(row, MAX_RATIO, row.name);
						addGoal(row, `≤ ${MAX_MEMORY_MB} MB at worst`, row.memoryMB! <= MAX_MEMORY_MB);
						rows.push(row);
					}
				} finally {
					await env.stop();
				}
			}
			return rows;
		} finally {
			await rm(folder, { recursive: true, force: true });
		}
	},
};
