/**
 * Upserts with the default options against platforms with limits that the node does not know, beside
 * the same node with fixed batch sizes: what must be found out must not cost much.
 */
import { startBenchEnv, type BenchEnv, type SandboxSettings } from '../benchEnv.mts';
import { compete, type CompletedSeries } from '../compete.mts';
import { addGoal, createRow, type Benchmark, type Row } from '../report/row.mts';
import { startSlowPlatform } from '../servers/slowPlatform.mts';
import type { PeerDetails } from '../workers/httpRequestNode.mts';
import type { UpsertDetails } from '../workers/node.mts';

interface Limits {
	name: string;
	size: number;
	settings?: SandboxSettings;
	/** How long the platform takes for each record of a bulk request. */
	msPerRecord?: number;
	/** Whether the HTTP Request node runs beside it, item by item, with a tenth of the items. */
	hasPeer?: boolean;
}

const PLATFORMS: Limits[] = [
	{ name: 'at most 100 records a request', size: 100_000, settings: { maxBulkRecords: 100 } },
	{ name: '20 s for 1,000 records', size: 3_000, msPerRecord: 20 },
	{
		name: '600 requests a minute',
		size: 100_000,
		settings: { rateLimitPerMinute: 600 },
		hasPeer: true,
	},
	// The same rate with a window so short that the limit is reached.
	{
		name: '10 requests a second',
		size: 100_000,
		settings: { rateLimitPerMinute: 10, rateLimitWindowMs: 1_000 },
	},
];

const NO_LIMITS: SandboxSettings = {
	maxBulkRecords: null,
	rateLimitPerMinute: null,
	rateLimitWindowMs: 60_000,
};

const FIXED_SIZES = [100, 1000];
const MAX_MORE_REQUESTS = 1.05;

type UpsertSeries = CompletedSeries<UpsertDetails>;

const isComplete = ({ written, details }: UpsertSeries, size: number) =>
	written === size && !details.outcomes.failed;

async function measurePlatform(
	env: BenchEnv,
	{ name, settings = {}, msPerRecord, hasPeer }: Limits,
	size: number,
): Promise<Row> {
	const slow = msPerRecord ? await startSlowPlatform(env.baseUrl, msPerRecord) : undefined;
	try {
		const node = await env.spawnWorker('node');
		const task = { baseUrl: slow?.baseUrl ?? env.baseUrl, token: env.token, size };
		const prepare = async () => {
			await env.changeSettings(NO_LIMITS);
			await env.resetTable();
			// A new limit starts a new window.
			await env.changeSettings(settings);
		};
		const upsertWith = (options?: { batchSize: number }) => ({
			runs: 1,
			run: async () => await node.run<'upsert', UpsertDetails>('upsert', { ...task, options }),
		});
		const results = await compete<string, UpsertDetails>(
			env,
			Object.fromEntries([
				['ours', upsertWith()],
				...FIXED_SIZES.map((batchSize) => [String(batchSize), upsertWith({ batchSize })]),
			]),
			prepare,
		);
		const ours = results.ours!;
		const fixed = FIXED_SIZES.map((batchSize) => ({ batchSize, ...results[batchSize]! }));
		const best = fixed
			.filter((series) => isComplete(series, size))
			.sort((a, b) => a.requests - b.requests)[0];
		const notes = fixed.map(
			(series) =>
				`batches of ${series.batchSize}: ${series.requests} requests, ` +
				`${series.details.seconds.toFixed(1)} s, ${series.written} written`,
		);
		if (hasPeer) {
			const peer = await env.spawnWorker('httpRequestNode');
			const { itemByItem } = await compete<'itemByItem', PeerDetails>(
				env,
				{
					itemByItem: {
						runs: 1,
						run: async () => await peer.run('itemByItem', { ...task, size: size / 10 }),
					},
				},
				prepare,
			);
			notes.push(
				`HTTP Request, item by item, ${size / 10} items: ${itemByItem!.requests} requests, ` +
					`${itemByItem!.details.seconds.toFixed(1)} s, ${itemByItem!.written} written`,
			);
		}
		const row = createRow(
			`upsert ${size.toLocaleString('en')}, ${name}`,
			{ ours },
			{ note: `“${ours.details.hint}” (${notes.join('; ')})` },
		);
		addGoal(row, 'all written', ours.written === size);
		addGoal(row, 'no item failed', !ours.details.outcomes.failed);
		if (best) {
			addGoal(
				row,
				`≤ 5 % more requests than batches of ${best.batchSize} (${best.requests})`,
				ours.requests <= MAX_MORE_REQUESTS * best.requests,
			);
		}
		return row;
	} finally {
		await slow?.stop();
	}
}

export const platformLimits: Benchmark = {
	name: 'platformLimits',
	async run({ isSmoke, hasPeer }) {
		const env = await startBenchEnv();
		try {
			const rows: Row[] = [];
			for (const limits of PLATFORMS) {
				const size = isSmoke ? 120 : limits.size;
				rows.push(
					await measurePlatform(
						env,
						{
							...limits,
							hasPeer: limits.hasPeer && hasPeer,
							...(isSmoke && limits.msPerRecord && { msPerRecord: 1 }),
						},
						size,
					),
				);
			}
			return rows;
		} finally {
			await env.stop();
		}
	},
};
