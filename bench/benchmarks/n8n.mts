/**
 * Real n8n: our node beside workflows of n8n's own nodes that do the same work. Ours and theirs each
 * have an n8n of their own, so that neither leaves anything in the other's memory.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureN8n } from '../../harness/install.mts';
import { onWires, type BenchEnv } from '../benchEnv.mts';
import { compete, ContestantFailed, type Contestant } from '../compete.mts';
import { createFileRecord } from '../fileTable.mts';
import type { Measurement } from '../measure.mts';
import { MAX_SECONDS, N8nHost } from '../n8n/host.mts';
import { type Place, toWorkflow } from '../n8n/steps.mts';
import type { Returned } from '../n8n/storedExecution.mts';
import { type Workload, type WorkloadContestant, workloads } from '../n8n/workloads.mts';
import {
	addGoal,
	createRow,
	type Benchmark,
	type BenchOptions,
	type Row,
	type Series,
} from '../report/row.mts';
import { HTTP, HTTPS_25, type Wire } from '../wires.mts';

const MAX_BLOCK_MS = 250;

/** Below this, a row compares one or a few items. */
const FEW_ITEMS = 100;

/** Larger sizes are measured on loopback only. */
const MOST_REMOTE = 10_000;

/** How often to run a size. Few items take milliseconds, in which much else happens. */
const RUNS: Array<[most: number, runs: number]> = [
	[FEW_ITEMS, 11],
	[1_000, 5],
	[Infinity, 3],
];

/**
 * How much faster ours must be than the fastest hand-built workflow. With a few items, both wait for
 * the same round trips.
 */
function leastRatio({ isReading, takesMore }: Workload, size: number): number | undefined {
	if (takesMore) return undefined;
	if (isReading) return size <= FEW_ITEMS ? 1 / 1.15 : 1;
	if (size <= FEW_ITEMS) return 1 / 1.15;
	return size < 10_000 ? 1 : 1.5;
}

const shown = (count: number) => count.toLocaleString('en');

interface Setting {
	options: BenchOptions;
	wire: Wire;
	env: BenchEnv;
	hosts: { ours: N8nHost; peers: N8nHost };
	/** n8n may read its files. */
	folder: string;
	/** The record with the attachments. */
	record: string;
}

type Details = Measurement & Returned;
type Results = Partial<Record<string, Series>>;

async function placeFor(
	setting: Setting,
	work: Workload,
	name: string,
	size: number,
): Promise<Place> {
	const { env, hosts, folder, record } = setting;
	const file = join(folder, `${work.title(String(size))}.dat`);
	if (work.writeFile && !existsSync(file)) await work.writeFile(file, size);
	return { env, host: name === 'ours' ? hosts.ours : hosts.peers, size, file, record };
}

async function runOnce(place: Place, work: Workload, { steps }: WorkloadContestant, name: string) {
	const source = (await work.source?.(place)) ?? [];
	const measured = await steps(place);
	const title = `${work.title(shown(place.size))} ${name}`;
	const workflow = await toWorkflow(place, title, [...source, ...measured]);
	const names = measured.map((step) => step.name);
	return await place.host.run(workflow, names, work.isCold);
}

/** Runs contestants with so many items, in turns. */
async function measureSize(
	setting: Setting,
	work: Workload,
	{ size, runs }: { size: number; runs: number },
	contestants: Array<[string, WorkloadContestant]>,
): Promise<Results> {
	const { env } = setting;
	try {
		await work.setUp?.(await placeFor(setting, work, 'ours', size), async (other) => {
			const place = await placeFor(setting, other, 'ours', size);
			await runOnce(place, other, { steps: other.ours }, 'ours');
		});
	} catch (error) {
		if (!(error instanceof ContestantFailed)) throw error;
		const failure = `not run: ${error.message}`;
		return Object.fromEntries(contestants.map(([name]) => [name, { measurements: [], failure }]));
	}
	const prepared: Record<string, Contestant<Details>> = {};
	for (const [name, contestant] of contestants) {
		const place = await placeFor(setting, work, name, size);
		prepared[name] = {
			runs,
			run: async () => await runOnce(place, work, contestant, name),
			count: async (returned) =>
				contestant.count
					? await contestant.count(place)
					: await (work.count?.(place, returned) ?? env.countRecords()),
			records: size,
			differs: contestant.differs,
		};
	}
	return await compete<string, Details>(env, prepared, async () => {
		if (work.setUp) return;
		await env.resetTable(work.recordsBefore?.(size));
	});
}

/** Why there is no need to run a contestant, if it failed or was too slow with fewer items. */
function foreseenFailure(before: Series | undefined, smaller: number, size: number) {
	if (!before) return undefined;
	if (before.failure !== undefined) return `not run: ${shown(smaller)} failed`;
	const { seconds } = before.measurements.at(-1)!;
	if ((seconds * size) / smaller <= MAX_SECONDS) return undefined;
	return `not run: ${shown(smaller)} took ${seconds.toFixed(0)} s, and ${MAX_SECONDS} s is the limit`;
}

function toRow({ ours, ...peers }: Results, { wire }: Setting, work: Workload, size: number): Row {
	const row = createRow(
		`${work.title(shown(size))}, ${wire.name}`,
		{ ours: ours!, peers: peers as Record<string, Series> },
		{ place: 'n8n' },
	);
	const { seconds, blockMs } = row.ours;
	const isDone = seconds !== null;
	const least = leastRatio(work, size);
	if (least !== undefined) {
		const goal = least < 1 ? '≤ 1.15 × its time' : `≥ ${least} × as fast`;
		addGoal(row, goal, isDone && (row.ratioToPeer ?? least) >= least);
	}
	addGoal(row, `block ≤ ${MAX_BLOCK_MS} ms`, isDone && blockMs! <= MAX_BLOCK_MS);
	console.error(row.name);
	return row;
}

async function measureWork(setting: Setting, work: Workload): Promise<Row[]> {
	const { options, wire } = setting;
	const all: Array<[string, WorkloadContestant]> = [
		['ours', { steps: work.ours }],
		...Object.entries(work.peers).filter(([, { differs }]) => !differs || wire === HTTP),
	];
	// The first run of a process is slower: its code is loaded and compiled while it runs.
	if (options.scale !== 'smoke') {
		await measureSize(setting, work, { size: work.sizes.smoke[0]!, runs: 1 }, all);
	}
	const rows: Row[] = [];
	let before: { size: number; results: Results } | undefined;
	for (const size of work.sizes[options.scale]) {
		if (wire !== HTTP && size > MOST_REMOTE) continue;
		const contestants = all.filter(([, { most = size }]) => size <= most);
		const results: Results = {};
		for (const [name] of contestants) {
			const failure = before && foreseenFailure(before.results[name], before.size, size);
			if (failure !== undefined) results[name] = { measurements: [], failure };
		}
		const runs = options.scale === 'full' ? RUNS.find(([most]) => size <= most)![1] : 1;
		const able = contestants.filter(([name]) => !results[name]);
		Object.assign(results, await measureSize(setting, work, { size, runs }, able));
		rows.push(toRow(results, setting, work, size));
		before = { size, results };
	}
	return rows;
}

export const n8n: Benchmark = {
	name: 'n8n',
	async run(options) {
		await ensureN8n();
		const folder = await mkdtemp(join(tmpdir(), 'bench-n8n-'));
		const wires = options.scale === 'smoke' ? [HTTP] : [HTTP, HTTPS_25];
		try {
			return await onWires(wires, async (env, wire) => {
				const variables = {
					N8N_RESTRICT_FILE_ACCESS_TO: folder,
					...(env.certificateFile && { NODE_EXTRA_CA_CERTS: env.certificateFile }),
				};
				const isMeasured = options.scale !== 'smoke';
				const ours = await N8nHost.create(variables, { isMeasured });
				const peers = isMeasured ? await N8nHost.create(variables, { isMeasured }) : ours;
				try {
					const record = await createFileRecord(env);
					const setting = { options, wire, env, hosts: { ours, peers }, folder, record };
					const rows: Row[] = [];
					for (const work of workloads) {
						if (!work.title('').includes(options.work ?? '')) continue;
						rows.push(...(await measureWork(setting, work)));
					}
					return rows;
				} finally {
					await ours.stop();
					await peers.stop();
				}
			});
		} finally {
			await rm(folder, { recursive: true, force: true });
		}
	},
};
