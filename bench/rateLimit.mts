/** 10,000 items where the platform takes 600 requests a minute from a token. */
import { openGround } from './sandbox.mts';
import { rowOf, type Benchmark, type Row } from './row.mts';
import { hire } from './workers/hire.mts';

const PER_MINUTE = 600;

interface Told {
	hint: string;
}

interface PeerTold {
	failed: number;
	reason: string;
}

export const rateLimit: Benchmark = {
	name: 'rateLimit',
	async run({ isSmoke, hasPeer }) {
		const size = isSmoke ? 300 : 10_000;
		// With batches of 10 there are more requests than a minute allows: it has to wait.
		const batchSizes = isSmoke ? [100] : [100, 10];
		const ground = await openGround();
		const node = await hire('node');
		const peer = hasPeer ? await hire('peer') : undefined;
		const { baseUrl, token } = ground;
		const target = { baseUrl, token, size };
		const attempt = async <Result,>(work: () => Promise<Result>) => {
			await ground.freshTable();
			// Begins a new minute.
			await ground.change({ rateLimitPerMinute: PER_MINUTE });
			const { result, requests } = await ground.counting(work);
			return { result, requests, stored: await ground.stored() };
		};
		try {
			const rows: Row[] = [];
			const theirs =
				peer &&
				(await attempt(async () => await peer.run<'oneByOne', PeerTold>('oneByOne', target)));
			for (const batchSize of batchSizes) {
				const ours = await attempt(
					async () => await node.run<'upsert', Told>('upsert', { ...target, batchSize }),
				);
				const their = theirs
					? `; the peer, item by item, wrote ${theirs.stored} of ${size} in ` +
						`${theirs.result.seconds.toFixed(1)} s and failed at ${theirs.result.failed}`
					: '';
				rows.push(
					rowOf(
						`upsert ${size.toLocaleString('en')}, ${PER_MINUTE} requests a minute, batches of ${batchSize}`,
						{ ours: [ours.result] },
						{
							requests: { ours: ours.requests, ...(theirs && { peer: theirs.requests }) },
							goals: [{ text: 'all written', isMet: ours.stored === size }],
							note: `“${ours.result.hint}”${their}`,
						},
					),
				);
			}
			return rows;
		} finally {
			node.stop();
			peer?.stop();
			await ground.stop();
		}
	},
};
