/**
 * What the HTTP Request node does with 100,000 items, item by item. It opens a connection for each
 * of them at once, and takes minutes; so it is measured only where it is asked for.
 */
import { startBenchEnv } from '../benchEnv.mts';
import { createRow, type Benchmark } from '../report/row.mts';
import { spawnWorker } from '../workers/spawnWorker.mts';

interface PeerDetails {
	failed: number;
	reason: string;
}

export const unbatched: Benchmark = {
	name: 'unbatched',
	isExtra: true,
	async run({ isSmoke }) {
		const size = isSmoke ? 100 : 100_000;
		const env = await startBenchEnv();
		const peer = await spawnWorker('httpRequestNode');
		try {
			await env.changeSettings({ latencyMs: 5 });
			await env.resetTable();
			const { baseUrl, token } = env;
			const { result, requests } = await env.countRequests(
				async () => await peer.run<'oneByOne', PeerDetails>('oneByOne', { baseUrl, token, size }),
			);
			const written = await env.countRecords();
			return [
				createRow(
					`HTTP Request, ${size.toLocaleString('en')} items, item by item`,
					{ ours: [result] },
					{
						requests: { peer: requests },
						note: `the time and the memory are the peer's; it wrote ${written} and failed at ${result.failed}: ${result.reason}`,
					},
				),
			];
		} finally {
			peer.stop();
			await env.stop();
		}
	},
};
