/**
 * The environment for tests of n8n's queue mode: Redis, PostgreSQL, a main process, workers and a
 * sandbox. Each n8n process has the package in its own user folder, as on separate machines.
 */

import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureN8n } from './install.mts';
import { makeUserFolder, type RunningN8n, startN8n, startWorker } from './n8nProcess.mts';
import { buildPackage, installPackage, packPackage } from './nodePackage.mts';
import { type RunningSandbox, startSandbox } from './sandboxProcess.mts';
import {
	requireServices,
	type RunningPostgres,
	type RunningRedis,
	startPostgres,
	startRedis,
} from './queueServices.mts';

export interface QueueEnvironment {
	folder: string;
	redis: RunningRedis;
	postgres: RunningPostgres;
	sandbox: RunningSandbox;
	/** The main process that was started last. */
	readonly main: RunningN8n;
	/** The workers, by number; a killed one stays here until it is started again. */
	workers: RunningN8n[];
	/** Starts main again in its own folder, after it has ended. */
	startMain(): Promise<void>;
	/** Starts a worker in its own folder. */
	startWorker(number: number): Promise<void>;
	/** The ids of the executions that a worker has started, in order. */
	executionsOf(number: number): Promise<string[]>;
	/** Stops main and workers; their data stays. */
	stopN8n(): Promise<void>;
	/** Stops everything and removes the folder. */
	tearDown(): Promise<void>;
}

/** How n8n connects to the services. */
export interface QueueConnection {
	redis: Pick<RunningRedis, 'host' | 'port'>;
	postgres: Pick<RunningPostgres, 'host' | 'port' | 'database' | 'user' | 'password'>;
	encryptionKey: string;
}

/** The environment variables for queue mode, the same for main and all workers. */
export function queueVariables({ redis, postgres, encryptionKey }: QueueConnection) {
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

/** How many executions a worker runs at once. A second worker runs the others. */
export const WORKER_CONCURRENCY = 5;

/** The log file of the n8n process with this user folder. */
export const logFile = (userFolder: string) => join(userFolder, 'n8n.log');

/**
 * Sets everything up. Takes half a minute, and minutes more if n8n itself is not installed yet.
 *
 * @throws Error that says what to install if Redis or PostgreSQL is missing
 */
export async function setUpQueueEnvironment(
	options: { workers?: number; env?: Readonly<Record<string, string>> } = {},
): Promise<QueueEnvironment> {
	requireServices();
	await ensureN8n();
	const folder = await makeUserFolder();
	const cleanups = [async () => await rm(folder, { recursive: true, force: true, maxRetries: 3 })];
	const tearDown = async () => {
		for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
	};
	try {
		await buildPackage();
		const tarball = await packPackage(folder);
		const redis = await startRedis(join(folder, 'redis'));
		cleanups.push(redis.stop);
		// A folder that PostgreSQL's user can enter.
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
			isBare: true,
			env: {
				...queueVariables({ redis, postgres, encryptionKey }),
				N8N_CONCURRENCY_PRODUCTION_LIMIT: String(WORKER_CONCURRENCY),
				N8N_LOG_LEVEL: 'debug',
				// On the console too: if n8n does not start, its error is read from there.
				N8N_LOG_OUTPUT: 'console,file',
				N8N_LOG_FILE_LOCATION: logFile(folderOf(name)),
				...options.env,
			},
		});
		const nameOf = (number: number) => `worker-${number}`;
		const numbers = Array.from({ length: options.workers ?? 2 }, (_, number) => number);
		for (const name of ['main', ...numbers.map(nameOf)]) {
			await installPackage(folderOf(name), tarball);
		}
		// Main creates the database's tables; workers do not wait for them.
		let main = await startN8n(settings('main'));
		cleanups.push(async () => await main.stop());
		const workers: RunningN8n[] = [];
		cleanups.push(async () => void (await Promise.all(workers.map((worker) => worker.stop()))));
		const start = async (number: number) => {
			workers[number] = await startWorker(settings(nameOf(number)));
		};
		await Promise.all(numbers.map(start));
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
			startWorker: start,
			executionsOf: async (number) => {
				const log = await readFile(logFile(folderOf(nameOf(number))), 'utf8');
				return [...log.matchAll(/Worker started execution (\d+)/g)].map(([, id = '']) => id);
			},
			stopN8n: async () => {
				await Promise.all([main, ...workers].map((n8n) => n8n.stop()));
			},
			tearDown,
		};
	} catch (error) {
		await tearDown();
		throw error;
	}
}
