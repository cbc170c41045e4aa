/** 10,000 items where the platform takes 600 requests a minute from a token. */
import { startBenchEnv } from '../benchEnv.mts';
import { createRow, type Benchmark, type Row } from '../report/row.mts';
import { spawnWorker } from '../workers/spawnWorker.mts';

const PER_MINUTE = 600;

interface Details {
	hint: string;
}

interface PeerDetails {
	failed: number;
	reason: string;
}

export const rateLimit: Benchmark = {
	name: 'rateLimit',
	async run({ isSmoke, hasPeer }) {
		const size = isSmoke ? 300 : 10_000;
		// With batches of 10 there are more requests than a minute allows: it has to wait.
		const batchSizes = isSmoke ? [100] : [100, 10];
		const env = await startBenchEnv();
		const node = await spawnWorker('node');
		const peer = hasPeer ? await spawnWorker('httpRequestNode') : undefined;
		const { baseUrl, token } = env;
		const target = { baseUrl, token, size };
		const attempt = async <Result,>(work: () => Promise<Result>) => {
			await env.resetTable();
			// Begins a new minute.
			await env.changeSettings({ rateLimitPerMinute: PER_MINUTE });
			const { result, requests } = await env.countRequests(work);
			return { result, requests, stored: await env.countRecords() };
		};
		try {
			const rows: Row[] = [];
			const theirs =
				peer &&
				(await attempt(async () => await peer.run<'oneByOne', PeerDetails>('oneByOne', target)));
			for (const batchSize of batchSizes) {
				const ours = await attempt(
					async () => await node.run<'upsert', Details>('upsert', { ...target, batchSize }),
				);
				const their = theirs
					? `; the peer, item by item, wrote ${theirs.stored} of ${size} in ` +
						`${theirs.result.seconds.toFixed(1)} s and failed at ${theirs.result.failed}`
					: '';
				rows.push(
					createRow(
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
			await env.stop();
		}
	},
};
