/** Get Many of 100,000 records, beside a bare client that reads the same pages. */
import { openGround } from './sandbox.mts';
import { rowOf, setLimit, type Benchmark, type Measure } from './row.mts';
import { hire } from './workers/hire.mts';

/** The nodes' own. */
const PAGE_SIZE = 1000;

interface Told {
	records: number;
}

export const getMany: Benchmark = {
	name: 'getMany',
	async run({ isSmoke }) {
		const size = isSmoke ? 2_500 : 100_000;
		const runs = isSmoke ? 1 : 7;
		const ground = await openGround();
		const node = await hire('node');
		const bare = await hire('bare');
		try {
			await ground.freshTable(size);
			const ours: Measure[] = [];
			const limit: Measure[] = [];
			const requests = { ours: 0, limit: 0 };
			const { baseUrl, token } = ground;
			const target = { baseUrl, token };
			const read = async (who: 'ours' | 'limit', into: Measure[]) => {
				const counted = await ground.counting(async () =>
					who === 'ours'
						? await node.run<'getMany', Told>('getMany', target)
						: await bare.run<'getMany', Told>('getMany', { ...target, pageSize: PAGE_SIZE }),
				);
				const { records } = counted.result;
				if (records !== size) throw new Error(`${who}: ${records} records instead of ${size}`);
				into.push(counted.result);
				requests[who] = counted.requests;
			};
			for (let count = 0; count < runs; count += 1) {
				await read('ours', ours);
				await read('limit', limit);
			}
			const row = rowOf(`Get Many ${size.toLocaleString('en')}`, { ours, limit }, { requests });
			setLimit(row, 1.15, row.name);
			return [row];
		} finally {
			node.stop();
			bare.stop();
			await ground.stop();
		}
	},
};
