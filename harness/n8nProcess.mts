/** Runs n8n as a user does: its server, its queue workers, its commands. */

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { N8N_COMMAND, N8N_FOLDER, withLock } from './install.mts';
import {
	type CommandResult,
	findFreePort,
	isPortFree,
	runCommand,
	startProcess,
} from './processes.mts';
import { neededVariables } from './neededVariables.mts';

/**
 * Modules of n8n that send requests to other servers (server lists, AI). No workflow here needs
 * them.
 */
const UNUSED_MODULES = [
	'agents',
	'agent-evals',
	'chat-hub',
	'instance-ai',
	'instance-reporting',
	'mcp',
	'mcp-registry',
	'quick-connect',
	'workflow-builder',
];

/** Those that this n8n has: older versions don't start if the list contains an unknown name. */
function disabledModules(): string {
	const folder = join(N8N_FOLDER, 'node_modules', 'n8n', 'dist', 'modules');
	const present = new Set(readdirSync(folder).map((name) => name.replace(/\.ee$/, '')));
	return UNUSED_MODULES.filter((name) => present.has(name)).join(',');
}

const BARE = {
	N8N_DISABLE_UI: 'true',
	// It waits for a runner of Code nodes that nobody starts.
	N8N_RUNNERS_MODE: 'external',
	N8N_RUNNERS_AUTH_TOKEN: 'none',
};

/** The first start creates n8n's database, which takes a while on a slow machine. */
const READY_TIMEOUT_MS = 300_000;

export interface N8nOptions {
	/** Where n8n keeps its `.n8n` folder: database, key, installed packages. */
	userFolder: string;
	/** The port of the editor, or of a worker's health check; a free one by default. */
	port?: number;
	/** Additional environment variables for n8n. */
	env?: Readonly<Record<string, string>>;
	/** Without the editor and without what runs Code nodes: it starts in half the time. */
	isBare?: boolean;
}

export interface RunningN8n {
	/** The URL of the editor, or of a worker's health check, without a trailing slash. */
	url: string;
	pid: number;
	userFolder: string;
	/** The last 64 KiB that n8n printed. */
	output(): string;
	/** Resolves when n8n ends, whatever ended it. */
	exited: Promise<number | null>;
	stop(): Promise<void>;
}

/** Makes a temporary user folder for n8n. It is removed when this process exits, if not before. */
export async function makeUserFolder(): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), 'data-platform-n8n-'));
	process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
	return folder;
}

/** What the first start of the n8n to run has left: its key, and its database as it is when empty. */
const FIRST_START = join(N8N_FOLDER, 'node_modules', '.first-start');

let firstStart: Promise<void> | undefined;

async function keepFirstStart(): Promise<void> {
	if (existsSync(FIRST_START)) return;
	// All suites may need it at the same time.
	await withLock(async () => {
		if (existsSync(FIRST_START)) return;
		const first = await makeUserFolder();
		await (await startN8n({ userFolder: first, isBare: true })).stop();
		const copy = `${FIRST_START}-${process.pid}`;
		for (const name of readdirSync(join(first, '.n8n'))) {
			if (!/^(config|database\..*)$/.test(name)) continue;
			await cp(join(first, '.n8n', name), join(copy, name));
		}
		await rename(copy, FIRST_START);
	});
}

/**
 * Makes a temporary user folder that n8n has started in before, so that it need not create its
 * database again: half of the time of a start.
 */
export async function makeStartedUserFolder(): Promise<string> {
	firstStart ??= keepFirstStart();
	await firstStart;
	const folder = await makeUserFolder();
	await cp(FIRST_START, join(folder, '.n8n'), { recursive: true });
	return folder;
}

/** n8n's environment variables, without requests to other servers. */
async function n8nVariables(options: N8nOptions): Promise<NodeJS.ProcessEnv> {
	return {
		...neededVariables(process.env),
		N8N_USER_FOLDER: options.userFolder,
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_HOST: '127.0.0.1',
		// The editor is served without HTTPS, on loopback only.
		N8N_SECURE_COOKIE: 'false',
		// Every process has a task broker; two cannot share its port.
		N8N_RUNNERS_BROKER_PORT: String(await findFreePort()),
		N8N_PYTHON_ENABLED: 'false',
		N8N_DIAGNOSTICS_ENABLED: 'false',
		N8N_DISABLED_MODULES: disabledModules(),
		N8N_DYNAMIC_BANNERS_ENABLED: 'false',
		N8N_HIRING_BANNER_ENABLED: 'false',
		N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
		N8N_PERSONALIZATION_ENABLED: 'false',
		N8N_TEMPLATES_ENABLED: 'false',
		N8N_UNVERIFIED_PACKAGES_ENABLED: 'true',
		N8N_VERIFIED_PACKAGES_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_WHATS_NEW_ENABLED: 'false',
		N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '5',
		...(options.isBare && BARE),
		...options.env,
	};
}

/**
 * The paths of n8n that show whether it is ready, each with its status then: n8n 1 reports ready
 * before its editor can be used.
 */
function readyPaths(command: 'start' | 'worker', isBare = false): Array<[string, number]> {
	const health: [string, number] = ['/healthz/readiness', 200];
	// A worker serves only its health check.
	if (command === 'worker') return [health];
	return [health, isBare ? ['/rest/login', 401] : ['/rest/settings', 200]];
}

async function isReady(url: string, paths: Array<[string, number]>): Promise<boolean> {
	try {
		for (const [path, status] of paths) {
			const response = await fetch(`${url}${path}`);
			await response.body?.cancel();
			if (response.status !== status) return false;
		}
		return true;
	} catch {
		return false;
	}
}

/**
 * Starts n8n and waits until it can be used: about ten seconds, or five if it is bare.
 *
 * @throws Error if the port is in use, or with n8n's last output if it ends or hangs
 */
export async function startN8n(options: N8nOptions): Promise<RunningN8n> {
	return await startAndWait('start', options, (port) => ({ N8N_PORT: port }));
}

/**
 * Starts a worker of n8n's queue mode and waits until it accepts jobs: about five seconds.
 *
 * @throws Error like `startN8n`
 */
export async function startWorker(options: N8nOptions): Promise<RunningN8n> {
	return await startAndWait('worker', options, (port) => ({
		QUEUE_HEALTH_CHECK_ACTIVE: 'true',
		QUEUE_HEALTH_CHECK_PORT: port,
		N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
	}));
}

async function startAndWait(
	command: 'start' | 'worker',
	options: N8nOptions,
	portSettings: (port: string) => Record<string, string>,
): Promise<RunningN8n> {
	if (options.port !== undefined && !(await isPortFree(options.port))) {
		throw new Error(`Port ${options.port} for n8n is in use.`);
	}
	const port = options.port ?? (await findFreePort());
	const url = `http://127.0.0.1:${port}`;
	await mkdir(options.userFolder, { recursive: true });
	const n8n = startProcess(process.execPath, [N8N_COMMAND, command], {
		cwd: options.userFolder,
		env: { ...(await n8nVariables(options)), ...portSettings(String(port)) },
	});
	let hasExited = false;
	void n8n.exited.then(() => (hasExited = true));

	const deadline = Date.now() + READY_TIMEOUT_MS;
	const paths = readyPaths(command, options.isBare);
	while (!(await isReady(url, paths))) {
		if (hasExited || Date.now() > deadline) {
			const problem = hasExited ? 'exited before it was ready' : 'was not ready after five minutes';
			await n8n.stop();
			throw new Error(`n8n ${problem}. Its last output:\n${n8n.output().slice(-3_000)}`);
		}
		await sleep(100);
	}
	const { pid, output, exited, stop } = n8n;
	return { url, pid, userFolder: options.userFolder, output, exited, stop };
}

/**
 * Runs one of n8n's own commands (`import:workflow`, `execute` …) on a user folder; about five
 * seconds.
 *
 * @throws Error with the command's output if it fails
 */
export async function runN8nCommand(
	userFolder: string,
	args: readonly string[],
	env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
	const result = await runCommand(process.execPath, [N8N_COMMAND, ...args], {
		cwd: userFolder,
		env: await n8nVariables({ userFolder, env }),
		stdoutFile: join(userFolder, 'stdout.txt'),
	});
	if (result.code !== 0) throw new Error(`n8n ${args.join(' ')} failed:\n${result.output}`);
	return result;
}
