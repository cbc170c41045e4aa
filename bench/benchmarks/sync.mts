/** Sync of a table in which one record in a hundred is new, changed or gone. */
import assert from 'node:assert/strict';
import { onWires } from '../benchEnv.mts';
import { compete } from '../compete.mts';
import { addGoal, createRow, type Benchmark } from '../report/row.mts';
import { HTTPS_25 } from '../wires.mts';
import type { UpsertDetails } from '../workers/node.mts';

const MAX_SECONDS = 2;

export const sync: Benchmark = {
	name: 'sync',
	async run({ isSmoke }) {
		const size = isSmoke ? 300 : 10_000;
		const part = size / 100;
		return await onWires([HTTPS_25], async (env, wire) => {
			const node = await env.spawnWorker('node');
			const { baseUrl, token } = env;
			const task = { baseUrl, token, size, part };
			const { ours } = await compete<'ours', UpsertDetails>(
				env,
				{ ours: { runs: isSmoke ? 1 : 5, run: async () => await node.run('sync', task) } },
				async () => await env.resetTable(size),
			);
			assert.deepEqual(ours!.details.outcomes, {
				inserted: part,
				updated: part,
				deleted: part,
				unchanged: size - 2 * part,
			});
			const row = createRow(
				`sync of ${size.toLocaleString('en')}: ${part} new, ${part} changed, ${part} deleted, ${wire.name}`,
				{ ours: ours! },
			);
			addGoal(
				row,
				'a request for each deletion, at most 5 % of them and 3 for each 999 records besides',
				ours!.requests <= part * 1.05 + (3 * size) / 999 + 15,
			);
			addGoal(row, `≤ ${MAX_SECONDS} s`, row.ours.seconds! <= MAX_SECONDS);
			return [row];
		});
	},
};
