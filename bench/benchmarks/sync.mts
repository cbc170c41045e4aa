/**
 * Sync Many of a table of which one record in a hundred is new, changed or gone; and the rerun of a
 * Create or Update Many that broke off after 60 % of its items.
 */
import { startBenchEnv } from '../benchEnv.mts';
import { compete } from '../compete.mts';
import { addGoal, createRow, type Benchmark, type Row } from '../report/row.mts';
import { HTTPS_25 } from '../wires.mts';
import type { UpsertDetails } from '../workers/node.mts';

const shown = (count: number) => count.toLocaleString('en');

export const sync: Benchmark = {
	name: 'sync',
	async run({ isSmoke }) {
		const rows: Row[] = [];
		const env = await startBenchEnv({ wire: HTTPS_25 });
		try {
			const node = await env.spawnWorker('node');
			const { baseUrl, token } = env;
			const size = isSmoke ? 300 : 10_000;
			const part = size / 100;
			const mirror = await compete<'ours', UpsertDetails>(
				env,
				{
					ours: {
						runs: isSmoke ? 1 : 5,
						run: async () =>
							await node.run<'sync', UpsertDetails>('sync', { baseUrl, token, size, part }),
					},
				},
				async () => await env.resetTable(size),
			);
			const mirrorRow = createRow(
				`sync of ${shown(size)}: ${part} new, ${part} changed, ${part} deleted, ${HTTPS_25.name}`,
				{ ours: mirror.ours! },
			);
			const { outcomes } = mirror.ours!.details;
			const isMirrored =
				outcomes.inserted === part &&
				outcomes.updated === part &&
				outcomes.deleted === part &&
				outcomes.unchanged === size - 2 * part;
			addGoal(mirrorRow, 'each outcome as often as it must be', isMirrored);
			const most = part * 1.05 + (3 * size) / 999 + 15;
			addGoal(
				mirrorRow,
				'a request for each deletion, at most 5 % of them and 3 for each 999 records besides',
				mirror.ours!.requests <= most,
			);
			rows.push(mirrorRow);

			const total = isSmoke ? 500 : 100_000;
			const written = total * 0.6;
			const rerun = await compete<'ours', UpsertDetails>(
				env,
				{
					ours: {
						runs: isSmoke ? 1 : 3,
						run: async () =>
							await node.run<'upsert', UpsertDetails>('upsert', {
								baseUrl,
								token,
								size: total,
								options: { skipUnchanged: true },
							}),
					},
				},
				async () => await env.resetTable(written),
			);
			const rerunRow = createRow(
				`rerun of ${shown(total)}, ${shown(written)} written before, ${HTTPS_25.name}`,
				{ ours: rerun.ours! },
			);
			const rerunOutcomes = rerun.ours!.details.outcomes;
			addGoal(
				rerunRow,
				'what was written is not written again',
				rerunOutcomes.unchanged === written && rerunOutcomes.inserted === total - written,
			);
			rows.push(rerunRow);
		} finally {
			await env.stop();
		}
		return rows;
	},
};
