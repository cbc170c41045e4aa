/** A poll of the trigger with nothing new, on a table of 1,000,000 records. */
import { mkdtemp, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openGround } from './sandbox.mts';
import { rowOf, type Benchmark, type Measure } from './row.mts';
import { hire } from './workers/hire.mts';

/**
 * Multiplies the one record of the table, in the sandbox's own file: a million through its API
 * would take longer than all measurements. Each is a second older than the one after it.
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

interface Told {
	items: number;
}

export const poll: Benchmark = {
	name: 'poll',
	async run({ isSmoke }) {
		const size = isSmoke ? 1_000 : 1_000_000;
		const runs = isSmoke ? 1 : 15;
		const folder = await mkdtemp(join(tmpdir(), 'bench-'));
		const file = join(folder, 'sandbox.sqlite');
		const first = await openGround(file);
		await first.freshTable(1);
		await first.stop();
		fill(file, size);
		const ground = await openGround(file);
		const node = await hire('node');
		try {
			const stored = await ground.stored();
			if (stored !== size) throw new Error(`The table has ${stored} records instead of ${size}`);
			const { baseUrl, token } = ground;
			// The first one takes note of where it begins.
			await node.run('poll', { baseUrl, token });
			const ours: Measure[] = [];
			let most = 0;
			for (let count = 0; count < runs; count += 1) {
				const { result, requests } = await ground.counting(
					async () => await node.run<'poll', Told>('poll', { baseUrl, token }),
				);
				if (result.items > 0) throw new Error('A poll told of something that is not new');
				ours.push(result);
				most = Math.max(most, requests);
			}
			return [
				rowOf(
					`idle poll of ${size.toLocaleString('en')} records`,
					{ ours },
					{ requests: { ours: most }, goals: [{ text: '1 request', isMet: most === 1 }] },
				),
			];
		} finally {
			node.stop();
			await ground.stop();
			await rm(folder, { recursive: true, force: true });
		}
	},
};
