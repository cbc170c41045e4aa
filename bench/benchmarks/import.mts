/**
 * A million rows from a CSV file into an empty table, once more without a change, and back into a
 * file, beside a bare client that streams the same. Every run has a process of its own, so that its
 * peak memory is that of one file.
 */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { startBenchEnv, type BenchEnv } from '../benchEnv.mts';
import { COLUMNS, csvLineOf } from '../benchTable.mts';
import type { Measurement } from '../measure.mts';
import { addGoal, createRow, type Benchmark, type Row, type Series } from '../report/row.mts';
import { HTTP } from '../wires.mts';

const MAX_MEMORY_MB = 150;
const LINES_AT_ONCE = 1000;

/** The nodes' own. */
const PAGE_SIZE = 1000;
const CONCURRENCY = 4;

async function writeCsv(path: string, size: number) {
	function* lines() {
		yield `${COLUMNS.join(',')}\n`;
		for (let at = 0; at < size; at += LINES_AT_ONCE) {
			const count = Math.min(LINES_AT_ONCE, size - at);
			yield Array.from({ length: count }, (_, index) => csvLineOf(at + index)).join('');
		}
	}
	await pipeline(Readable.from(lines()), createWriteStream(path));
}

/** Does one thing in a process of its own, and checks what it returned. */
async function once<Details extends object>(
	env: BenchEnv,
	run: () => Promise<{ result: Measurement & Details; stop(): void }>,
	expected: Record<string, number>,
): Promise<Series> {
	const { result, requests, sandboxSeconds } = await env.observe(run);
	result.stop();
	for (const [name, value] of Object.entries(expected)) {
		const is = (result.result as Record<string, unknown>)[name];
		if (is !== value) throw new Error(`${name} is ${String(is)} instead of ${String(value)}`);
	}
	const seconds = sandboxSeconds === undefined ? [] : [sandboxSeconds];
	return { measurements: [result.result], requests, sandboxSeconds: seconds };
}

export const importRows: Benchmark = {
	name: 'import',
	isExtra: true,
	async run({ isSmoke }) {
		const size = isSmoke ? 12_000 : Number(process.env.BENCH_ROWS ?? 1_000_000);
		const folder = await mkdtemp(join(tmpdir(), 'bench-'));
		const env = await startBenchEnv({ wire: HTTP });
		const rows: Row[] = [];
		try {
			const path = join(folder, 'rows.csv');
			await writeCsv(path, size);
			const megabytes = Math.round((await stat(path)).size / 1e6);
			const { baseUrl, token } = env;
			const target = { baseUrl, token };
			const ours = async (options?: object) => {
				const worker = await env.spawnWorker('rowFiles');
				const task = { ...target, path, options: options as never };
				return {
					result: await worker.run<'importFile', object>('importFile', task),
					stop: worker.stop,
				};
			};
			const bare = async () => {
				const worker = await env.spawnWorker('bareClient');
				const task = { ...target, path, batchSize: PAGE_SIZE, concurrency: CONCURRENCY };
				return {
					result: await worker.run<'importFile', object>('importFile', task),
					stop: worker.stop,
				};
			};
			const count = size.toLocaleString('en');
			const add = (name: string, series: Series, limit?: Series) => {
				const row = createRow(name, { ours: series, limit });
				addGoal(row, `≤ ${MAX_MEMORY_MB} MB at worst`, row.memoryMB! <= MAX_MEMORY_MB);
				rows.push(row);
			};
			const requireCount = async () => {
				const held = await env.countRecords();
				if (held !== size) throw new Error(`The table has ${held} records instead of ${size}.`);
			};

			await env.resetTable();
			const limit = await once(env, bare, {});
			await requireCount();
			await env.resetTable();
			const imported = await once(env, async () => await ours(), { inserted: size, rejected: 0 });
			await requireCount();
			add(`Import ${count} rows (${megabytes} MB)`, imported, limit);
			const again = await once(env, async () => await ours({ skipUnchanged: true }), {
				unchanged: size,
				rejected: 0,
			});
			await requireCount();
			add(`Import ${count} unchanged rows again`, again);

			const exporting = async () => {
				const worker = await env.spawnWorker('rowFiles');
				return {
					result: await worker.run<'exportFile', object>('exportFile', target),
					stop: worker.stop,
				};
			};
			const exported = await once(env, exporting, { records: size });
			const bareExport = async () => {
				const worker = await env.spawnWorker('bareClient');
				const task = { ...target, path: join(folder, 'out.csv'), pageSize: PAGE_SIZE };
				return {
					result: await worker.run<'exportFile', object>('exportFile', task),
					stop: worker.stop,
				};
			};
			add(`Export ${count} rows`, exported, await once(env, bareExport, { records: size }));
			return rows;
		} finally {
			await env.stop();
			await rm(folder, { recursive: true, force: true });
		}
	},
};
