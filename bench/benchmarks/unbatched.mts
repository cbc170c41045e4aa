/**
 * The HTTP Request node with 100,000 items, item by item. It opens a connection for each of them at
 * once and takes minutes, so it is measured only by name.
 */
import { startBenchEnv } from '../benchEnv.mts';
import { compete } from '../compete.mts';
import { createRow, type Benchmark } from '../report/row.mts';
import { HTTPS_25 } from '../wires.mts';
import type { PeerDetails } from '../workers/httpRequestNode.mts';

export const unbatched: Benchmark = {
	name: 'unbatched',
	isExtra: true,
	async run({ isSmoke }) {
		const size = isSmoke ? 100 : 100_000;
		const env = await startBenchEnv({ wire: HTTPS_25 });
		try {
			const { baseUrl, token } = env;
			const peer = await env.spawnWorker('httpRequestNode');
			const { itemByItem } = await compete<'itemByItem', PeerDetails>(env, {
				itemByItem: {
					runs: 1,
					run: async () => await peer.run('itemByItem', { baseUrl, token, size }),
				},
			});
			const { written, details } = itemByItem!;
			return [
				createRow(
					`HTTP Request, ${size.toLocaleString('en')} items, item by item`,
					{ ours: itemByItem! },
					{
						note: `time and memory are the peer's; it wrote ${written}, and ${details.failed} requests failed: ${details.reason}`,
					},
				),
			];
		} finally {
			await env.stop();
		}
	},
};
