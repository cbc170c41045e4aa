/**
 * Redis and PostgreSQL for n8n's queue mode, as local processes: from the system's packages, on
 * free loopback ports, with their data in a temporary folder.
 */

import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, mkdir, stat, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort, runCommand, type RunningProcess, startProcess } from './processes.mts';

const READY_TIMEOUT_MS = 60_000;

/** Where Debian and its derivatives install PostgreSQL's commands, one folder for each version. */
const POSTGRES_VERSIONS = '/usr/lib/postgresql';

/** The user that Debian's package creates: PostgreSQL refuses to run as root. */
const POSTGRES_USER = 'postgres';

const INSTALL_HINT =
	'Install them (Debian: apt-get install --no-install-recommends redis-server postgresql; ' +
	'the services that this starts are not used and may be stopped).';

export interface RunningRedis {
	host: string;
	port: number;
	/** Writes all keys to a file, uncompressed, and returns its path. */
	dump(): Promise<string>;
	/** The file with every command that a client has sent since the start. */
	commands: string;
	stop(): Promise<void>;
}

export interface RunningPostgres {
	host: string;
	port: number;
	database: string;
	user: string;
	password: string;
	/** Writes the whole database as SQL to a file and returns its path. */
	dump(file: string): Promise<string>;
	/** Returns the result of a query: one line for each row, columns separated by `|`. */
	query(sql: string): Promise<string>;
	stop(): Promise<void>;
}

function findCommand(name: string, folders: readonly string[]): string {
	const found = [...folders, ...(process.env.PATH ?? '').split(delimiter)]
		.map((folder) => join(folder, name))
		.find((file) => existsSync(file));
	if (found === undefined) {
		throw new Error(
			`Queue mode needs Redis and PostgreSQL, but ${name} is not installed. ${INSTALL_HINT}`,
		);
	}
	return found;
}

function postgresCommand(name: string): string {
	const versions = existsSync(POSTGRES_VERSIONS) ? readdirSync(POSTGRES_VERSIONS) : [];
	const newestFirst = versions.sort((a, b) => Number(b) - Number(a));
	return findCommand(
		name,
		newestFirst.map((version) => join(POSTGRES_VERSIONS, version, 'bin')),
	);
}

/** @throws Error that says what to install if Redis or PostgreSQL is missing */
export function requireServices(): void {
	findCommand('redis-server', []);
	findCommand('redis-cli', []);
	for (const name of ['initdb', 'postgres', 'psql', 'pg_dump']) postgresCommand(name);
}

async function waitUntilReady(
	title: string,
	service: RunningProcess,
	isReady: () => Promise<boolean>,
): Promise<void> {
	let hasExited = false;
	void service.exited.then(() => (hasExited = true));
	const deadline = Date.now() + READY_TIMEOUT_MS;
	while (!(await isReady())) {
		if (hasExited || Date.now() > deadline) {
			await service.stop();
			throw new Error(
				`${title} did not start. Its last output:\n${service.output().slice(-3_000)}`,
			);
		}
		await sleep(100);
	}
}

async function runOrThrow(command: string, args: readonly string[], env?: NodeJS.ProcessEnv) {
	const result = await runCommand(command, args, env && { env });
	if (result.code !== 0) throw new Error(`${command} failed:\n${result.output}`);
	return result.stdout;
}

/** Starts Redis without persistence. Every command that it receives is logged to a file. */
export async function startRedis(folder: string): Promise<RunningRedis> {
	const port = await findFreePort();
	await mkdir(folder, { recursive: true });
	const address = ['-h', '127.0.0.1', '-p', String(port)];
	const settings = { bind: '127.0.0.1', port, dir: folder, save: '', rdbcompression: 'no' };
	const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
	const redis = startProcess(findCommand('redis-server', []), args);
	const cli = findCommand('redis-cli', []);
	await waitUntilReady('Redis', redis, async () => {
		const { output } = await runCommand(cli, [...address, 'ping']);
		return output.trim() === 'PONG';
	});
	const commands = join(folder, 'commands.txt');
	await writeFile(commands, '');
	const monitor = startProcess(cli, [...address, 'monitor'], { stdoutFile: commands });
	await waitUntilReady('The log of Redis', monitor, async () => (await stat(commands)).size > 0);
	return {
		host: '127.0.0.1',
		port,
		commands,
		dump: async () => {
			await runOrThrow(cli, [...address, 'save']);
			return join(folder, 'dump.rdb');
		},
		stop: async () => {
			await monitor.stop();
			await redis.stop();
		},
	};
}

/** The command line, run as the user `postgres` if this process is root. */
async function asUnprivilegedUser(line: readonly string[], folder: string): Promise<string[]> {
	if (process.getuid?.() !== 0) return [...line];
	const id = async (flag: string) => Number(await runOrThrow('id', [flag, POSTGRES_USER]));
	const [user, group] = [await id('-u'), await id('-g')];
	await chown(folder, user, group);
	return ['setpriv', `--reuid=${user}`, `--regid=${group}`, '--clear-groups', ...line];
}

/** Starts PostgreSQL with one empty database. */
export async function startPostgres(folder: string): Promise<RunningPostgres> {
	const [port, password] = [await findFreePort(), randomBytes(12).toString('hex')];
	const [host, user, database] = ['127.0.0.1', 'n8n', 'n8n'];
	await mkdir(folder, { recursive: true });
	await chmod(folder, 0o700);
	const secret = join(folder, 'password');
	await writeFile(secret, password, { mode: 0o644 });
	const data = join(folder, 'data');
	const start = async (command: string, args: readonly string[]) =>
		await asUnprivilegedUser([postgresCommand(command), ...args], folder);

	const [init = '', ...initArgs] = await start('initdb', [
		`--pgdata=${data}`,
		`--username=${user}`,
		`--pwfile=${secret}`,
		'--auth=scram-sha-256',
		'--encoding=UTF8',
		'--locale=C',
		'--no-sync',
	]);
	await runOrThrow(init, initArgs);
	const settings = {
		listen_addresses: host,
		port,
		// No socket file, whose folder may not be writable, and nothing left in /dev/shm after a kill.
		unix_socket_directories: '',
		dynamic_shared_memory_type: 'mmap',
		fsync: 'off',
		max_connections: 100,
	};
	const [command = '', ...args] = await start('postgres', [
		'-D',
		data,
		...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
	]);
	const postgres = startProcess(command, args);
	const env = { ...process.env, PGPASSWORD: password };
	const login = ['-h', host, '-p', String(port), '-U', user];
	const psql = async (name: string, sql: string) =>
		await runCommand(postgresCommand('psql'), [...login, '-d', name, '-Atc', sql], { env });
	await waitUntilReady('PostgreSQL', postgres, async () => {
		const { code, output } = await psql('postgres', `CREATE DATABASE ${database}`);
		return code === 0 || output.includes('already exists');
	});
	return {
		host,
		port,
		database,
		user,
		password,
		dump: async (file) => {
			await runOrThrow(postgresCommand('pg_dump'), [...login, '-d', database, '-f', file], env);
			return file;
		},
		query: async (sql) => {
			const { code, stdout, output } = await psql(database, sql);
			if (code !== 0) throw new Error(`PostgreSQL rejected ${sql}:\n${output}`);
			return stdout.trim();
		},
		stop: async () => {
			// Fast shutdown; SIGTERM would wait until all clients have disconnected.
			if (postgres.pid > 0) process.kill(postgres.pid, 'SIGINT');
			await postgres.stop();
		},
	};
}
