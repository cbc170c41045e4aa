/** A poll of the trigger when nothing has changed, on a table of 1,000,000 records. */
import { mkdtemp, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBenchEnv } from '../benchEnv.mts';
import { compete } from '../compete.mts';
import { addGoal, createRow, type Benchmark } from '../report/row.mts';

/**
 * Multiplies the one record of the table in the sandbox's own file, because a million records would
 * take minutes through its API. Each is a second older than the next one.
 */
function fill(file: string, size: number): void {
	const database = new DatabaseSync(file);
	database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;');
	const number = "(SELECT MAX(tbl) FROM records WHERE key = 'person-0@example.com')";
	database
		.prepare(
			`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO records (tbl, id, key, ver, created, modified, fields)
			SELECT r.tbl, lower(hex(randomblob(4)) || '-0000-4000-8000-' || printf('%012x', i)),
				'person-' || i || '@example.com', 1,
				r.created - 1000 * (? - i), r.modified - 1000 * (? - i), r.fields
			FROM n, records r WHERE r.tbl = ${number} AND r.key = 'person-0@example.com'`,
		)
		.run(size - 1, size, size);
	database.close();
}

interface Details {
	items: number;
}

export const idlePoll: Benchmark = {
	name: 'idlePoll',
	async run({ isSmoke }) {
		const size = isSmoke ? 1_000 : 1_000_000;
		const runs = isSmoke ? 1 : 15;
		const folder = await mkdtemp(join(tmpdir(), 'bench-'));
		const file = join(folder, 'sandbox.sqlite');
		const first = await startBenchEnv({ db: file });
		await first.resetTable(1);
		await first.stop();
		fill(file, size);
		const env = await startBenchEnv({ db: file });
		try {
			const stored = await env.countRecords();
			if (stored !== size) throw new Error(`The table has ${stored} records instead of ${size}.`);
			const node = await env.spawnWorker('node');
			const { baseUrl, token } = env;
			// The first poll only records where to begin.
			await node.run('poll', { baseUrl, token });
			const { ours } = await compete<'ours', Details>(
				env,
				{
					ours: {
						runs,
						run: async () => {
							const result = await node.run<'poll', Details>('poll', { baseUrl, token });
							if (result.items > 0)
								throw new Error('A poll emitted items, but nothing had changed.');
							return result;
						},
					},
				},
				async () => undefined,
			);
			const row = createRow(`idle poll of ${size.toLocaleString('en')} records`, { ours: ours! });
			addGoal(row, '1 request', ours!.requests === 1);
			return [row];
		} finally {
			await env.stop();
			await rm(folder, { recursive: true, force: true });
		}
	},
};
