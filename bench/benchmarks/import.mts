/**
 * Many rows from a CSV file into an empty table, again without a change, and back into a file.
 * Every run has its own process, so that its peak memory is that of one file.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBenchEnv } from '../benchEnv.mts';
import { writeCsv } from '../benchTable.mts';
import type { Measurement } from '../measure.mts';
import { addGoal, createRow, type Benchmark, type Row } from '../report/row.mts';
import type { Worker, WorkerTasks } from '../workers/spawnWorker.mts';

const MAX_MEMORY_MB = 150;

export const importRows: Benchmark = {
	name: 'import',
	async run({ isSmoke }) {
		const size = isSmoke ? 12_000 : Number(process.env.BENCH_ROWS ?? 300_000);
		const count = size.toLocaleString('en');
		const folder = await mkdtemp(join(tmpdir(), 'bench-'));
		const env = await startBenchEnv();
		const rows: Row[] = [];
		/** Runs one task in a process of its own, and checks what it returned and what is stored. */
		const measure = async (
			title: string,
			run: (worker: Worker<WorkerTasks['rowFiles']>) => Promise<Measurement>,
			expected: Record<string, number>,
		) => {
			const worker = await env.spawnWorker('rowFiles');
			const { result, requests } = await env.observe(async () => await run(worker));
			await worker.stop();
			const returned = { ...result, stored: await env.countRecords() };
			assert.deepEqual(returned, { ...returned, ...expected, stored: size });
			const row = createRow(title, { ours: { measurements: [result], requests } });
			addGoal(row, `≤ ${MAX_MEMORY_MB} MB at worst`, row.ours.memoryMB! <= MAX_MEMORY_MB);
			rows.push(row);
		};
		try {
			const { baseUrl, token } = env;
			const target = { baseUrl, token };
			const path = join(folder, 'rows.csv');
			await writeCsv(path, size);
			const megabytes = Math.round((await stat(path)).size / 1e6);
			await env.resetTable();
			await measure(
				`Import ${count} rows (${megabytes} MB)`,
				(worker) => worker.run('importFile', { ...target, path }),
				{ inserted: size, rejected: 0 },
			);
			await measure(
				`Import ${count} unchanged rows again`,
				(worker) => worker.run('importFile', { ...target, path, options: { skipUnchanged: true } }),
				{ unchanged: size, rejected: 0 },
			);
			await measure(`Export ${count} rows`, (worker) => worker.run('exportFile', target), {
				records: size,
			});
			return rows;
		} finally {
			await env.stop();
			await rm(folder, { recursive: true, force: true });
		}
	},
};
