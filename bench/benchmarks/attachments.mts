/**
 * A file of 300 MB up and down, by the node in n8n's engine and by a bare client that streams the
 * same body. Every run has its own process, so that its peak memory is that of one file.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onWires } from '../benchEnv.mts';
import { createFileRecord, writeRandomFile } from '../fileTable.mts';
import { MIB, type Measurement } from '../measure.mts';
import { addGoal, createRow, type Benchmark, type Row } from '../report/row.mts';
import { HTTP, HTTPS } from '../wires.mts';

const MEGABYTES = 300;
const RUNS = 3;
const MAX_MEMORY_MB = 100;

export const attachments: Benchmark = {
	name: 'attachments',
	async run({ isSmoke }) {
		const megabytes = isSmoke ? 2 : MEGABYTES;
		const runs = isSmoke ? 1 : RUNS;
		const folder = await mkdtemp(join(tmpdir(), 'bench-'));
		try {
			const path = join(folder, 'file.bin');
			await writeRandomFile(path, megabytes);
			return await onWires([HTTP, HTTPS], async (env, wire) => {
				const { baseUrl, token } = env;
				const record = await createFileRecord(env);
				const task = { baseUrl, token, record, path, bytes: megabytes * MIB };
				const rows: Row[] = [];
				for (const work of ['upload', 'download'] as const) {
					const measurements: Record<string, Measurement[]> = { attachments: [], bareClient: [] };
					for (let count = 0; count < runs; count += 1) {
						for (const name of ['attachments', 'bareClient'] as const) {
							const worker = await env.spawnWorker(name);
							measurements[name]!.push(await worker.run(work, task));
							await worker.stop();
						}
					}
					const row = createRow(`${work} ${megabytes} MB, ${wire.name}`, {
						ours: { measurements: measurements.attachments! },
						limit: { measurements: measurements.bareClient! },
					});
					addGoal(row, `≤ ${MAX_MEMORY_MB} MB at worst`, row.ours.memoryMB! <= MAX_MEMORY_MB);
					rows.push(row);
				}
				return rows;
			});
		} finally {
			await rm(folder, { recursive: true, force: true });
		}
	},
};
