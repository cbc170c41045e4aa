/**
 * Upsert of 1,000, 10,000 and 100,000 items into an empty table: Create or Update Many, the HTTP
 * Request node in three configurations, and a bare client with the same batches.
 */
import { openGround, type Ground } from './sandbox.mts';
import { rowOf, setLimit, type Benchmark, type Measure, type Row } from './row.mts';
import { hire, type Worker } from './workers/hire.mts';
import type { BareTasks } from './workers/bare.mts';
import type { NodeTasks } from './workers/node.mts';
import type { PeerTasks } from './workers/peer.mts';

const BATCH_SIZE = 100;

/** How often each is measured; what takes minutes is not repeated. */
interface Round {
	size: number;
	latencyMs: number;
	runs: number;
	/** How often n8n's HTTP function alone is measured. */
	floor: number;
	peers: Partial<Record<keyof PeerTasks, number>>;
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

const PEERS: Record<keyof PeerTasks, string> = {
	oneByOne: 'item by item',
	batching: 'batching option',
	bulk: 'bulk by hand',
};

interface Crew {
	node: Worker<NodeTasks>;
	bare: Worker<BareTasks>;
	peer?: Worker<PeerTasks>;
}

interface Counted {
	measures: Measure[];
	requests: number;
	stored: number;
	/** Why its times are worth nothing. */
	note?: string;
}

interface PeerTold {
	failed: number;
	reason: string;
}

async function once<Told>(
	ground: Ground,
	into: Counted,
	work: () => Promise<Measure & Partial<Told>>,
) {
	await ground.freshTable();
	const { result, requests } = await ground.counting(work);
	into.measures.push(result);
	into.requests = requests;
	into.stored = await ground.stored();
	return result;
}

const nothing = (): Counted => ({ measures: [], requests: 0, stored: 0 });

async function measure(ground: Ground, crew: Crew, round: Round): Promise<Row[]> {
	const { size, latencyMs, runs } = round;
	const { baseUrl, token } = ground;
	const target = { baseUrl, token, size };
	await ground.change({ latencyMs });
	const ours = nothing();
	const limit = nothing();
	const floor = nothing();
	const batched = { ...target, batchSize: BATCH_SIZE };
	const peers = new Map<keyof PeerTasks, Counted>();
	// In turns, so that whatever else the machine does falls on all of them.
	for (let count = 0; count < runs; count += 1) {
		await once(ground, ours, () => crew.node.run('upsert', target));
		await once(ground, limit, () => crew.bare.run('upsert', batched));
		if (count < round.floor) await once(ground, floor, () => crew.node.run('helper', batched));
		for (const name of Object.keys(round.peers) as Array<keyof PeerTasks>) {
			if (!crew.peer || count >= round.peers[name]!) continue;
			const into = peers.get(name) ?? nothing();
			peers.set(name, into);
			const { peer } = crew;
			const { failed, reason } = await once<PeerTold>(ground, into, () => peer.run(name, target));
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
		const row = rowOf(
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
		setLimit(row, 1.15, title);
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
async function warm(ground: Ground, { node, bare, peer }: Crew) {
	const { baseUrl, token } = ground;
	const task = { baseUrl, token, size: 2_000, batchSize: BATCH_SIZE };
	const works = [
		() => node.run('upsert', task),
		() => bare.run('upsert', task),
		() => peer?.run('oneByOne', task),
	];
	for (const work of works) {
		await ground.freshTable();
		await work();
	}
}

export const upsert: Benchmark = {
	name: 'upsert',
	async run({ isSmoke, hasPeer }) {
		const ground = await openGround();
		const crew: Crew = {
			node: await hire('node'),
			bare: await hire('bare'),
			peer: hasPeer ? await hire('peer') : undefined,
		};
		try {
			const rows: Row[] = [];
			await warm(ground, crew);
			for (const round of isSmoke ? SMOKE : ROUNDS) {
				rows.push(...(await measure(ground, crew, round)));
			}
			return rows;
		} finally {
			for (const worker of Object.values(crew)) worker?.stop();
			await ground.stop();
		}
	},
};
