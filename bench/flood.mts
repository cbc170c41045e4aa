/**
 * What the HTTP Request node does with 100,000 items, item by item. It opens a connection for each
 * of them at once, and takes minutes; so it is measured only where it is asked for.
 */
import { openGround } from './sandbox.mts';
import { rowOf, type Benchmark } from './row.mts';
import { hire } from './workers/hire.mts';

interface PeerTold {
	failed: number;
	reason: string;
}

export const flood: Benchmark = {
	name: 'flood',
	isExtra: true,
	async run({ isSmoke }) {
		const size = isSmoke ? 100 : 100_000;
		const ground = await openGround();
		const peer = await hire('peer');
		try {
			await ground.change({ latencyMs: 5 });
			await ground.freshTable();
			const { baseUrl, token } = ground;
			const { result, requests } = await ground.counting(
				async () => await peer.run<'oneByOne', PeerTold>('oneByOne', { baseUrl, token, size }),
			);
			const written = await ground.stored();
			return [
				rowOf(
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
			await ground.stop();
		}
	},
};
