/**
 * Create or Update Many beside a table node of n8n itself, NocoDB's Create or Update: requests for
 * 1,000 items. NocoDB's API is a stub that stores nothing, so only the requests are compared.
 */
import { startBenchEnv } from '../benchEnv.mts';
import { compete } from '../compete.mts';
import { addGoal, createRow, type Benchmark } from '../report/row.mts';
import { startNocoDbStub } from '../servers/nocoDbStub.mts';

const SIZE = 1_000;
const FEWER_REQUESTS = 50;

export const tableNode: Benchmark = {
	name: 'tableNode',
	async run({ isSmoke, hasPeer }) {
		const size = isSmoke ? 100 : SIZE;
		const env = await startBenchEnv();
		const stub = await startNocoDbStub();
		try {
			const { baseUrl, token } = env;
			const node = await env.spawnWorker('node');
			const { ours } = await compete(env, {
				ours: { runs: 1, run: async () => await node.run('upsert', { baseUrl, token, size }) },
			});
			const row = createRow(`requests for ${size.toLocaleString('en')} items`, { ours: ours! });
			if (hasPeer) {
				const peer = await env.spawnWorker('nocoDbNode');
				await peer.run('upsert', { baseUrl: stub.baseUrl, size });
				row.requests!.peer = stub.countRequests();
				row.note = "the peer is n8n's NocoDB node: Create or Update";
				addGoal(
					row,
					`≥ ${FEWER_REQUESTS} × fewer requests`,
					row.requests!.peer >= FEWER_REQUESTS * ours!.requests,
				);
			}
			return [row];
		} finally {
			await stub.stop();
			await env.stop();
		}
	},
};
