/**
 * Upsert of 1,000, 10,000 and 100,000 items into an empty table: Create or Update Many, the HTTP
 * Request node in three configurations, and a bare client with the same batches.
 */
import { startBenchEnv, type BenchEnv } from '../benchEnv.mts';
import {
	createRow,
	addLimitGoal,
	type Benchmark,
	type Measurement,
	type Row,
} from '../report/row.mts';
import { spawnWorker, type Worker } from '../workers/spawnWorker.mts';
import type { BareClientTasks } from '../workers/bareClient.mts';
import type { NodeTasks } from '../workers/node.mts';
import type { HttpRequestNodeTasks } from '../workers/httpRequestNode.mts';

const BATCH_SIZE = 100;

/** How often each is measured; what takes minutes is not repeated. */
interface Round {
	size: number;
	latencyMs: number;
	runs: number;
	/** How often n8n's HTTP function alone is measured. */
	floor: number;
	peers: Partial<Record<keyof HttpRequestNodeTasks, number>>;
}

const ROUNDS: Round[] = [
	{ size: 1_000, latencyMs: 0, runs: 11, floor: 11, peers: { oneByOne: 5 } },
	{ size: 1_000, latencyMs: 5, runs: 11, floor: 11, peers: { oneByOne: 5, batching: 1, bulk: 11 } },
	{ size: 1_000, latencyMs: 25, runs: 11, floor: 11, peers: { oneByOne: 5 } },
	{ size: 10_000, latencyMs: 0, runs: 7, floor: 7, peers: { oneByOne: 2 } },
	{ size: 10_000, latencyMs: 5, runs: 7, floor: 7, peers: { oneByOne: 3, bulk: 7 } },
	{ size: 10_000, latencyMs: 25, runs: 3, floor: 3, peers: { oneByOne: 2 } },
	{ size: 100_000, latencyMs: 0, runs: 3, floor: 3, peers: {} },
	// The peer does not come through with so many at once: see flood.mts.
	{ size: 100_000, latencyMs: 5, runs: 3, floor: 3, peers: {} },
	{ size: 100_000, latencyMs: 25, runs: 1, floor: 0, peers: {} },
];

const SMOKE: Round[] = [
	{
		size: 250,
		latencyMs: 1,
		runs: 1,
		floor: 1,
		peers: { oneByOne: 1, batching: 1, bulk: 1 },
	},
];

const PEERS: Record<keyof HttpRequestNodeTasks, string> = {
	oneByOne: 'item by item',
	batching: 'batching option',
	bulk: 'bulk by hand',
};

interface Crew {
	node: Worker<NodeTasks>;
	bare: Worker<BareClientTasks>;
	peer?: Worker<HttpRequestNodeTasks>;
}

interface Counted {
	measures: Measurement[];
	requests: number;
	stored: number;
	/** Why its times are worth nothing. */
	note?: string;
}

interface PeerDetails {
	failed: number;
	reason: string;
}

async function once<Details>(
	env: BenchEnv,
	into: Counted,
	work: () => Promise<Measurement & Partial<Details>>,
) {
	await env.resetTable();
	const { result, requests } = await env.countRequests(work);
	into.measures.push(result);
	into.requests = requests;
	into.stored = await env.countRecords();
	return result;
}

const nothing = (): Counted => ({ measures: [], requests: 0, stored: 0 });

async function measure(env: BenchEnv, crew: Crew, round: Round): Promise<Row[]> {
	const { size, latencyMs, runs } = round;
	const { baseUrl, token } = env;
	const target = { baseUrl, token, size };
	await env.changeSettings({ latencyMs });
	const ours = nothing();
	const limit = nothing();
	const floor = nothing();
	const batched = { ...target, batchSize: BATCH_SIZE };
	const peers = new Map<keyof HttpRequestNodeTasks, Counted>();
	// In turns, so that whatever else the machine does falls on all of them.
	for (let count = 0; count < runs; count += 1) {
		await once(env, ours, () => crew.node.run('upsert', target));
		await once(env, limit, () => crew.bare.run('upsert', batched));
		if (count < round.floor) await once(env, floor, () => crew.node.run('helper', batched));
		for (const name of Object.keys(round.peers) as Array<keyof HttpRequestNodeTasks>) {
			if (!crew.peer || count >= round.peers[name]!) continue;
			const into = peers.get(name) ?? nothing();
			peers.set(name, into);
			const { peer } = crew;
			const { failed, reason } = await once<PeerDetails>(env, into, () => peer.run(name, target));
			if (failed) into.note = `the peer wrote ${into.stored} of ${size}: ${reason}`;
		}
	}
	for (const { stored } of [ours, limit]) {
		if (stored !== size) throw new Error(`The table has ${stored} records instead of ${size}`);
	}
	const title = `upsert ${size.toLocaleString('en')}, ${latencyMs} ms`;
	if (peers.size === 0) peers.set('oneByOne', nothing());
	return [...peers].map(([name, peer]) => {
		const isMeasured = peer.measures.length > 0 && peer.note === undefined;
		const row = createRow(
			isMeasured ? `${title} (peer: ${PEERS[name]})` : title,
			{
				ours: ours.measures,
				limit: limit.measures,
				floor: floor.measures,
				peer: isMeasured ? peer.measures : [],
			},
			{
				requests: {
					ours: ours.requests,
					limit: limit.requests,
					...(isMeasured && { peer: peer.requests }),
				},
				note: peer.note,
			},
		);
		if (name !== 'oneByOne') return row;
		addLimitGoal(row, 1.15, title);
		if (isMeasured) row.goals.push(...goalsAgainstPeer(row, latencyMs));
		if (latencyMs === 5) row.chart!.times = `${size.toLocaleString('en')} items`;
		return row;
	});
}

const FEWER = 50;
const FASTER = 20;

function goalsAgainstPeer({ requests, ratioToPeer }: Row, latencyMs: number) {
	const fewer = (requests?.peer ?? 0) / (requests?.ours ?? 1);
	return [
		{ text: `≥ ${FEWER} × fewer requests`, isMet: fewer >= FEWER },
		...(latencyMs === 5
			? [{ text: `≥ ${FASTER} × faster`, isMet: (ratioToPeer ?? 0) >= FASTER }]
			: []),
	];
}

/** What comes first is slower, whoever it is: code is compiled while it runs. */
async function warm(env: BenchEnv, { node, bare, peer }: Crew) {
	const { baseUrl, token } = env;
	const task = { baseUrl, token, size: 2_000, batchSize: BATCH_SIZE };
	const works = [
		() => node.run('upsert', task),
		() => bare.run('upsert', task),
		() => peer?.run('oneByOne', task),
	];
	for (const work of works) {
		await env.resetTable();
		await work();
	}
}

export const upsert: Benchmark = {
	name: 'upsert',
	async run({ isSmoke, hasPeer }) {
		const env = await startBenchEnv();
		const crew: Crew = {
			node: await spawnWorker('node'),
			bare: await spawnWorker('bareClient'),
			peer: hasPeer ? await spawnWorker('httpRequestNode') : undefined,
		};
		try {
			const rows: Row[] = [];
			await warm(env, crew);
			for (const round of isSmoke ? SMOKE : ROUNDS) {
				rows.push(...(await measure(env, crew, round)));
			}
			return rows;
		} finally {
			for (const worker of Object.values(crew)) worker?.stop();
			await env.stop();
		}
	},
};
