/**
 * n8n in queue mode for a test: Redis, PostgreSQL, a main process and workers, the packed package
 * installed in each one's own folder as on machines of their own, and a sandbox.
 */

import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureN8n } from './install.mts';
import {
	buildPackage,
	installPackage,
	makeUserFolder,
	packPackage,
	type RunningN8n,
	startN8n,
	startWorker,
} from './launch.mts';
import { type RunningSandbox, startSandbox } from './sandbox.mts';
import {
	requireServices,
	type RunningPostgres,
	type RunningRedis,
	startPostgres,
	startRedis,
} from './services.mts';

export interface QueueDesk {
	folder: string;
	redis: RunningRedis;
	postgres: RunningPostgres;
	sandbox: RunningSandbox;
	/** The one that was started last. */
	readonly main: RunningN8n;
	/** The workers that were started, by number; a killed one stays here until it is started anew. */
	workers: RunningN8n[];
	/** Starts main again, in its own folder, after it has ended. */
	startMain(): Promise<void>;
	/** Starts the worker of this number, in its own folder. */
	startWorker(number: number): Promise<void>;
	/** The ids of the executions that the worker of this number took up, in order. */
	executionsOf(number: number): Promise<string[]>;
	/** Stops main and workers; what they wrote stays. */
	stopN8n(): Promise<void>;
	/** Stops all that runs and removes the folder. */
	clear(): Promise<void>;
}

/** Where n8n finds the other parts. */
export interface QueueParts {
	redis: Pick<RunningRedis, 'host' | 'port'>;
	postgres: Pick<RunningPostgres, 'host' | 'port' | 'database' | 'user' | 'password'>;
	encryptionKey: string;
}

/** What main and workers have in their environment for queue mode, the same in all of them. */
export function queueEnvironment({ redis, postgres, encryptionKey }: QueueParts) {
	return {
		DB_TYPE: 'postgresdb',
		DB_POSTGRESDB_HOST: postgres.host,
		DB_POSTGRESDB_PORT: String(postgres.port),
		DB_POSTGRESDB_DATABASE: postgres.database,
		DB_POSTGRESDB_USER: postgres.user,
		DB_POSTGRESDB_PASSWORD: postgres.password,
		EXECUTIONS_MODE: 'queue',
		N8N_DEFAULT_BINARY_DATA_MODE: 'database',
		N8N_ENCRYPTION_KEY: encryptionKey,
		OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true',
		QUEUE_BULL_REDIS_HOST: redis.host,
		QUEUE_BULL_REDIS_PORT: String(redis.port),
	};
}

/** How many executions one worker runs at a time here: two of them share what more there are. */
export const WORKER_CONCURRENCY = 5;

/** Everything that a process of n8n logs, in its folder. */
export const logOf = (userFolder: string) => join(userFolder, 'n8n.log');

/**
 * Sets it all up: half a minute, and minutes more where n8n itself is not installed yet.
 *
 * @throws Error that says what to install where Redis or PostgreSQL is missing
 */
export async function setUpQueue(
	options: { workers?: number; env?: Readonly<Record<string, string>> } = {},
): Promise<QueueDesk> {
	requireServices();
	await ensureN8n();
	const folder = await makeUserFolder();
	const cleanups = [async () => await rm(folder, { recursive: true, force: true, maxRetries: 3 })];
	const clear = async () => {
		for (const undo of cleanups.splice(0).reverse()) await undo();
	};
	try {
		await buildPackage();
		const tarball = await packPackage(folder);
		const redis = await startRedis(join(folder, 'redis'));
		cleanups.push(redis.stop);
		// PostgreSQL's user must be able to reach its folder.
		const postgresFolder = await makeUserFolder();
		cleanups.push(async () => await rm(postgresFolder, { recursive: true, force: true }));
		const postgres = await startPostgres(postgresFolder);
		cleanups.push(postgres.stop);
		const sandbox = await startSandbox();
		cleanups.push(sandbox.stop);

		const encryptionKey = randomBytes(24).toString('base64');
		const folderOf = (name: string) => join(folder, name);
		const settings = (name: string) => ({
			userFolder: folderOf(name),
			env: {
				...queueEnvironment({ redis, postgres, encryptionKey }),
				N8N_CONCURRENCY_PRODUCTION_LIMIT: String(WORKER_CONCURRENCY),
				N8N_LOG_LEVEL: 'debug',
				// On the console too: what an n8n that does not start has to say comes from there.
				N8N_LOG_OUTPUT: 'console,file',
				N8N_LOG_FILE_LOCATION: logOf(folderOf(name)),
				...options.env,
			},
		});
		const nameOf = (number: number) => `worker-${number}`;
		const numbers = Array.from({ length: options.workers ?? 2 }, (_, number) => number);
		for (const name of ['main', ...numbers.map(nameOf)]) {
			await installPackage(folderOf(name), tarball);
		}
		// Main makes the database's tables; workers wait for none.
		let main = await startN8n(settings('main'));
		cleanups.push(async () => await main.stop());
		const workers: RunningN8n[] = [];
		cleanups.push(async () => void (await Promise.all(workers.map((worker) => worker.stop()))));
		const begin = async (number: number) => {
			workers[number] = await startWorker(settings(nameOf(number)));
		};
		await Promise.all(numbers.map(begin));
		return {
			folder,
			redis,
			postgres,
			sandbox,
			get main() {
				return main;
			},
			startMain: async () => {
				main = await startN8n(settings('main'));
			},
			workers,
			startWorker: begin,
			executionsOf: async (number) => {
				const log = await readFile(logOf(folderOf(nameOf(number))), 'utf8');
				return [...log.matchAll(/Worker started execution (\d+)/g)].map(([, id = '']) => id);
			},
			stopN8n: async () => {
				await Promise.all([main, ...workers].map((n8n) => n8n.stop()));
			},
			clear,
		};
	} catch (error) {
		await clear();
		throw error;
	}
}
