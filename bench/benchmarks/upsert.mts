/**
 * Upsert of 1,000, 10,000 and 100,000 items into an empty table, on every wire: Create or Update
 * Many, the HTTP Request node in four configurations, and a bare client.
 */
import { startBenchEnv, type BenchEnv } from '../benchEnv.mts';
import { compete, type CompletedSeries, type Contestant } from '../compete.mts';
import {
	addGoal,
	addLimitGoal,
	createRow,
	median,
	round,
	secondsOf,
	spreadOf,
	type Benchmark,
	type PeerResult,
	type Row,
} from '../report/row.mts';
import { HTTPS_1, HTTPS_25, WIRES, type Wire } from '../wires.mts';
import type { HttpRequestNodeTasks, PeerDetails } from '../workers/httpRequestNode.mts';
import type { Worker, WorkerTasks } from '../workers/spawnWorker.mts';

/** The limit: the fastest way that we know. */
const LIMIT = { batchSize: 1000, concurrency: 4 };

const PEERS = {
	itemByItem: 'item by item',
	batching: 'batching option',
	bulk100: 'bulk of 100',
	bulk1000: 'bulk of 1,000',
};
type PeerName = keyof typeof PEERS;
type Name = 'ours' | 'limit' | 'floor' | PeerName;

interface Round {
	size: number;
	runs: number;
	/** How often each peer runs; what takes minutes is not repeated. */
	peers: Partial<Record<PeerName, number>>;
	maxRatioToLimit: number;
}

const ROUNDS: Round[] = [
	{
		size: 1_000,
		runs: 11,
		peers: { itemByItem: 3, batching: 1, bulk100: 11, bulk1000: 11 },
		maxRatioToLimit: 1.5,
	},
	{
		size: 10_000,
		runs: 7,
		peers: { itemByItem: 1, bulk100: 7, bulk1000: 7 },
		maxRatioToLimit: 1.15,
	},
	{
		size: 100_000,
		runs: 3,
		// Item by item the peer fails with so many items: see unbatched.mts.
		peers: { bulk100: 3, bulk1000: 3 },
		maxRatioToLimit: 1.15,
	},
];

const SMOKE_ROUND: Round = {
	size: 250,
	runs: 1,
	peers: { itemByItem: 1, batching: 1, bulk100: 1, bulk1000: 1 },
	maxRatioToLimit: 1.5,
};

const FEWER_REQUESTS = 50;

/** The wire whose times are in the chart. */
const CHART_WIRE = HTTPS_25;

/** The proxy needs two file handles for each connection; 20,000 are more than many systems allow. */
const isTooManyConnections = (size: number, { roundTripMs }: Wire) =>
	roundTripMs > 0 && size > 1_000;

interface Workers {
	node: Worker<WorkerTasks['node']>;
	bareClient: Worker<WorkerTasks['bareClient']>;
	httpRequestNode?: Worker<HttpRequestNodeTasks>;
}

function runPeer(
	peer: Worker<HttpRequestNodeTasks>,
	name: PeerName,
	task: HttpRequestNodeTasks['itemByItem'],
) {
	if (name === 'itemByItem' || name === 'batching') {
		return peer.run<typeof name, PeerDetails>(name, task);
	}
	const batchSize = name === 'bulk100' ? 100 : 1000;
	return peer.run<'bulk', PeerDetails>('bulk', { ...task, batchSize });
}

function toPeerResult(name: PeerName, series: CompletedSeries<Partial<PeerDetails>>): PeerResult {
	const seconds = secondsOf(series);
	const { failed, reason } = series.details;
	return {
		name: PEERS[name],
		seconds: round(median(seconds), 4),
		spread: spreadOf(seconds),
		runs: seconds.length,
		requests: series.requests,
		written: series.written,
		...(failed && { reason }),
	};
}

async function measureRound(
	env: BenchEnv,
	wire: Wire,
	{ node, bareClient, httpRequestNode: peer }: Workers,
	{ size, runs, peers, maxRatioToLimit }: Round,
): Promise<Row> {
	const { baseUrl, token } = env;
	const task = { baseUrl, token, size };
	const contestants: Partial<Record<Name, Contestant<Partial<PeerDetails>>>> = {
		ours: { runs, run: async () => await node.run('upsert', task) },
		limit: { runs, run: async () => await bareClient.run('upsert', { ...task, ...LIMIT }) },
		floor: { runs, run: async () => await node.run('floor', { ...task, ...LIMIT }) },
	};
	const peerNames = peer
		? (Object.keys(peers) as PeerName[]).filter(
				(name) => !(name === 'itemByItem' && isTooManyConnections(size, wire)),
			)
		: [];
	for (const name of peerNames) {
		contestants[name] = { runs: peers[name]!, run: async () => await runPeer(peer!, name, task) };
	}
	const results = await compete<Name, Partial<PeerDetails>>(env, contestants);
	const [ours, limit] = [results.ours!, results.limit!];
	for (const { written } of [ours, limit]) {
		if (written !== size) throw new Error(`The table has ${written} records instead of ${size}.`);
	}
	const complete = peerNames
		.filter((name) => results[name]!.written === size)
		.sort((a, b) => median(secondsOf(results[a])) - median(secondsOf(results[b])));
	const [fastest] = complete;
	const title = `upsert ${size.toLocaleString('en')}, ${wire.name}`;
	const row = createRow(
		title,
		{ ours, limit, floor: results.floor, peer: fastest && results[fastest] },
		{
			...(fastest && { peerName: PEERS[fastest] }),
			...(peerNames.length > 0 && {
				peers: peerNames.map((name) => toPeerResult(name, results[name]!)),
			}),
		},
	);
	if (row.ratioToPeer !== null) addGoal(row, '≤ fastest peer', row.ratioToPeer >= 1);
	addGoal(row, `≥ ${FEWER_REQUESTS} × fewer requests`, size >= FEWER_REQUESTS * ours.requests);
	addLimitGoal(row, maxRatioToLimit, title);
	if (wire === CHART_WIRE) row.chart!.times = `${size.toLocaleString('en')} items`;
	return row;
}

/** The first run of a process is slower, because its code is compiled while it runs. */
async function warmUp(env: BenchEnv, { node, bareClient, httpRequestNode: peer }: Workers) {
	const { baseUrl, token } = env;
	const task = { baseUrl, token, size: 2_000 };
	const runs = [
		() => node.run('upsert', task),
		() => node.run('floor', { ...task, ...LIMIT }),
		() => bareClient.run('upsert', { ...task, ...LIMIT }),
		() => peer?.run('bulk', { ...task, batchSize: 100 }),
	];
	for (const run of runs) {
		await env.resetTable();
		await run();
	}
}

export const upsert: Benchmark = {
	name: 'upsert',
	async run({ isSmoke, hasPeer }) {
		const rows: Row[] = [];
		for (const wire of isSmoke ? [HTTPS_1] : WIRES) {
			const env = await startBenchEnv({ wire });
			try {
				const workers: Workers = {
					node: await env.spawnWorker('node'),
					bareClient: await env.spawnWorker('bareClient'),
					httpRequestNode: hasPeer ? await env.spawnWorker('httpRequestNode') : undefined,
				};
				if (!isSmoke) await warmUp(env, workers);
				for (const round of isSmoke ? [SMOKE_ROUND] : ROUNDS) {
					rows.push(await measureRound(env, wire, workers, round));
				}
			} finally {
				await env.stop();
			}
		}
		return rows;
	},
};
