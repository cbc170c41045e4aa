/** The environment of a benchmark: a sandbox in its own process, a wire to it, and workers. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import type { SandboxAdmin } from '../harness/sandboxAdmin.mts';
import { startSandbox } from '../harness/sandboxProcess.mts';
import { APP, benchTable, createItems, splitIntoBatches, TABLE } from './benchTable.mts';
import { readCpuSeconds } from './measure.mts';
import { profileArgs } from './profile.mts';
import { startLatencyProxy } from './servers/latencyProxy.mts';
import { HTTP, type Wire } from './wires.mts';
import { spawnWorker, type Worker, type WorkerTasks } from './workers/spawnWorker.mts';

const MAX_BATCH_SIZE = 1000;

export interface BenchEnv {
	/** The platform's origin, over the wire. */
	baseUrl: string;
	token: string;
	/** A file with the certificate that clients must trust; none over plain HTTP. */
	certificateFile?: string;
	/** A client of the sandbox's administration. */
	admin: SandboxAdmin;
	/** Replaces the table with an empty one, or with one that has this many records. */
	resetTable(records?: number): Promise<void>;
	/** Counts the table's records, or those that match a filter such as `city(eq)Lyon`. */
	countRecords(filter?: string): Promise<number>;
	/** Does the work and counts the requests and the sandbox's processor time (NaN if unknown). */
	observe<Result>(
		work: () => Promise<Result>,
	): Promise<{ result: Result; requests: number; sandboxSeconds: number }>;
	/** Starts a worker that ends with this environment. */
	spawnWorker<Name extends keyof WorkerTasks>(name: Name): Promise<Worker<WorkerTasks[Name]>>;
	stop(): Promise<void>;
}

/** The certificate of a server on loopback, in PEM. */
async function fetchCertificate(port: number): Promise<string> {
	return await new Promise((resolve, reject) => {
		const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
			resolve(socket.getPeerX509Certificate()!.toString());
			socket.end();
		});
		socket.on('error', reject);
	});
}

/** Measures on each of the wires, with an environment of its own. */
export async function onWires<Result>(
	wires: readonly Wire[],
	work: (env: BenchEnv, wire: Wire) => Promise<Result[]>,
): Promise<Result[]> {
	const results: Result[] = [];
	for (const wire of wires) {
		const env = await startBenchEnv(wire);
		try {
			results.push(...(await work(env, wire)));
		} finally {
			await env.stop();
		}
	}
	return results;
}

/** Starts a sandbox behind a wire. */
export async function startBenchEnv(wire: Wire = HTTP): Promise<BenchEnv> {
	const cleanups: Array<() => Promise<void> | void> = [];
	const stop = async () => {
		for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
	};
	try {
		const nodeArgs = profileArgs('sandbox');
		const sandbox = await startSandbox({ https: wire.https, nodeArgs });
		cleanups.push(sandbox.stop);
		const url = new URL(sandbox.baseUrl);
		let certificateFile: string | undefined;
		if (wire.https) {
			const folder = await mkdtemp(join(tmpdir(), 'bench-certificate-'));
			cleanups.push(async () => await rm(folder, { recursive: true, force: true }));
			certificateFile = join(folder, 'certificate.pem');
			await writeFile(certificateFile, await fetchCertificate(Number(url.port)));
		}
		if (wire.roundTripMs > 0) {
			const proxy = await startLatencyProxy(Number(url.port), wire.roundTripMs);
			cleanups.push(proxy.stop);
			url.port = String(proxy.port);
		}
		// Bypasses the proxy: preparations need not wait for the wire.
		const { admin, tokens } = sandbox;
		const api = sandbox.client(tokens.jwt);
		/** Sends a request only to learn its number in the log. */
		const nextRequestNumber = async () => {
			await admin.clearRequests();
			await api.get('/ping');
			return (await admin.requests()).at(-1)!.number;
		};
		// Tests need the history of records; a benchmark does not. Without its limit for files, large ones
		// can be measured.
		await admin.settings({ history: false, attachmentRules: 'none' });
		return {
			baseUrl: url.origin,
			token: tokens.role,
			certificateFile,
			admin,
			async resetTable(records = 0) {
				await admin.createTable({ app: APP, table: benchTable });
				for (const batch of splitIntoBatches(createItems(records), MAX_BATCH_SIZE)) {
					await api.post(`/apps/${APP}/tables/${TABLE}/data/bulk`, {
						bulk: batch.map((fields) => ({ fields })),
					});
				}
			},
			async countRecords(filter) {
				const path = `/apps/${APP}/tables/${TABLE}/data/count`;
				return (await api.get<{ data: { count: number } }>(path, { params: { filter } })).data.data
					.count;
			},
			async observe(work) {
				const first = await nextRequestNumber();
				const cpuBefore = readCpuSeconds(sandbox.pid);
				const result = await work();
				const sandboxSeconds = readCpuSeconds(sandbox.pid) - cpuBefore;
				return { result, requests: (await nextRequestNumber()) - first - 1, sandboxSeconds };
			},
			async spawnWorker(name) {
				const worker = await spawnWorker(name, certificateFile);
				cleanups.push(worker.stop);
				return worker;
			},
			stop,
		};
	} catch (error) {
		await stop();
		throw error;
	}
}
