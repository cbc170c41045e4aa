/**
 * Upserts with the default options against platforms with limits that the node does not know,
 * compared with fixed batch sizes: finding the limits must not cost much.
 */
import { onWires, type BenchEnv } from '../benchEnv.mts';
import { compete, type Contestant } from '../compete.mts';
import { addGoal, createRow, type Benchmark, type Row } from '../report/row.mts';
import { startSlowPlatform } from '../servers/slowPlatform.mts';
import { HTTP } from '../wires.mts';
import type { UpsertDetails } from '../workers/node.mts';

interface Platform {
	name: string;
	size: number;
	/** Of the sandbox. */
	settings?: Record<string, number | null>;
	/** How long the platform takes for each record of a bulk request. */
	msPerRecord?: number;
}

const PLATFORMS: Platform[] = [
	{ name: 'at most 100 records a request', size: 20_000, settings: { maxBulkRecords: 100 } },
	{ name: '20 s for 1,000 records', size: 3_000, msPerRecord: 20 },
	// 600 a minute, with a window so short that the limit is reached.
	{
		name: '10 requests a second',
		size: 20_000,
		settings: { rateLimitPerMinute: 10, rateLimitWindowMs: 1_000 },
	},
];

const NO_LIMITS = { maxBulkRecords: null, rateLimitPerMinute: null, rateLimitWindowMs: 60_000 };

const FIXED_SIZES = [100, 1000];
const MAX_MORE_REQUESTS = 1.05;

/** It takes a few requests to learn a limit. */
const TO_LEARN = 5;

async function measurePlatform(
	env: BenchEnv,
	{ name, size, settings = {}, msPerRecord }: Platform,
): Promise<Row> {
	const slow = msPerRecord ? await startSlowPlatform(env.baseUrl, msPerRecord) : undefined;
	try {
		const node = await env.spawnWorker('node');
		const task = { baseUrl: slow?.baseUrl ?? env.baseUrl, token: env.token, size };
		const upsertWith = (options?: { batchSize: number }): Contestant<UpsertDetails> => ({
			runs: 1,
			run: async () => await node.run('upsert', { ...task, options }),
		});
		const results = await compete<string, UpsertDetails>(
			env,
			Object.fromEntries([
				['ours', upsertWith()],
				...FIXED_SIZES.map((batchSize) => [String(batchSize), upsertWith({ batchSize })]),
			]),
			async () => {
				await env.admin.settings(NO_LIMITS);
				await env.resetTable();
				// A new limit starts a new window.
				await env.admin.settings(settings);
			},
		);
		const ours = results.ours!;
		const fixed = FIXED_SIZES.map((batchSize) => ({ batchSize, ...results[batchSize]! }));
		const [best] = fixed
			.filter(({ records, details }) => records === size && !details.outcomes.failed)
			.sort((a, b) => a.requests - b.requests);
		const notes = fixed.map(
			({ batchSize, requests, details, records }) =>
				`batches of ${batchSize}: ${requests} requests, ` +
				`${details.seconds.toFixed(1)} s, ${records} written`,
		);
		const row = createRow(
			`upsert ${size.toLocaleString('en')}, ${name}`,
			{ ours },
			{ note: `“${ours.details.hint}” (${notes.join('; ')})` },
		);
		addGoal(row, 'all written', ours.records === size);
		addGoal(row, 'no item failed', !ours.details.outcomes.failed);
		if (best) {
			addGoal(
				row,
				`≤ 5 % and ${TO_LEARN} requests more than batches of ${best.batchSize} (${best.requests})`,
				ours.requests <= MAX_MORE_REQUESTS * best.requests + TO_LEARN,
			);
		}
		return row;
	} finally {
		await slow?.stop();
	}
}

export const platformLimits: Benchmark = {
	name: 'platformLimits',
	async run({ isSmoke }) {
		return await onWires([HTTP], async (env) => {
			const rows: Row[] = [];
			for (const platform of PLATFORMS) {
				const small = { size: 120, ...(platform.msPerRecord && { msPerRecord: 1 }) };
				rows.push(await measurePlatform(env, { ...platform, ...(isSmoke && small) }));
			}
			return rows;
		});
	},
};
