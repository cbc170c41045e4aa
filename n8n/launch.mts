/** Runs n8n as a user would run it, and installs the package as a user would. */

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { N8N_COMMAND, N8N_FOLDER } from './install.mts';
import {
	type CommandResult,
	findFreePort,
	isPortFree,
	runCommand,
	startProcess,
} from './processes.mts';

/** The folder of the package: this repository. */
export const ROOT = dirname(import.meta.dirname);

/** Parts of n8n that call outside (lists of servers, AI) and that no workflow here needs. */
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

/** Those that this n8n has: older ones do not start where they are told of one that they lack. */
function disabledModules(): string {
	const folder = join(N8N_FOLDER, 'node_modules', 'n8n', 'dist', 'modules');
	const known = new Set(readdirSync(folder).map((name) => name.replace(/\.ee$/, '')));
	return UNUSED_MODULES.filter((name) => known.has(name)).join(',');
}

/** A slow machine takes long for the first start, which creates n8n's database. */
const READY_MILLISECONDS = 180_000;

export interface N8nOptions {
	/** Where n8n keeps its `.n8n` folder: database, key, installed packages. */
	userFolder: string;
	/** The editor's port (of a worker: the one of its health check); a free one when left out. */
	port?: number;
	/** More environment variables for n8n. */
	env?: Readonly<Record<string, string>>;
}

export interface RunningN8n {
	/** The editor's address (of a worker: its health check's), without a slash at its end. */
	url: string;
	pid: number;
	userFolder: string;
	/** The last 64 KiB that n8n printed. */
	output(): string;
	/** Settles when n8n ends, whoever ended it. */
	exited: Promise<number | null>;
	stop(): Promise<void>;
}

/** Makes a folder for an n8n to be thrown away; it goes at the latest with this process. */
export async function makeUserFolder(): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), 'data-platform-n8n-'));
	process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
	return folder;
}

/**
 * n8n's environment: nothing of the user's own n8n, which may be set up on this machine, and
 * nothing that calls outside.
 */
async function n8nEnvironment(options: N8nOptions): Promise<NodeJS.ProcessEnv> {
	const foreign = /^(N8N|DB|EXECUTIONS|OFFLOAD|QUEUE|WEBHOOK|CREDENTIALS|GENERIC|NODES|NODE)_/;
	const inherited = Object.entries(process.env).filter(([name]) => !foreign.test(name));
	return {
		...Object.fromEntries(inherited),
		N8N_USER_FOLDER: options.userFolder,
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_HOST: '127.0.0.1',
		// The editor is reached without HTTPS, on this machine alone.
		N8N_SECURE_COOKIE: 'false',
		// Every process has a broker for its task runner; two cannot share its port.
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
		...options.env,
	};
}

/** What answers once it is ready: n8n 1 says so before its editor can be asked for anything. */
const READY_PATHS = {
	start: ['/healthz/readiness', '/rest/settings'],
	// A worker serves nothing but its health.
	worker: ['/healthz/readiness'],
};

async function isReady(url: string, command: keyof typeof READY_PATHS): Promise<boolean> {
	try {
		for (const path of READY_PATHS[command]) {
			const answer = await fetch(`${url}${path}`);
			await answer.body?.cancel();
			if (!answer.ok) return false;
		}
		return true;
	} catch {
		return false;
	}
}

/**
 * Starts n8n and waits until it can be used: about ten seconds.
 *
 * @throws Error when the port is taken, or with n8n's last words when it ends or hangs
 */
export async function startN8n(options: N8nOptions): Promise<RunningN8n> {
	return await launch('start', options, (port) => ({ N8N_PORT: port }));
}

/**
 * Starts a worker of n8n's queue mode and waits until it takes jobs: about five seconds.
 *
 * @throws Error as `startN8n` does
 */
export async function startWorker(options: N8nOptions): Promise<RunningN8n> {
	return await launch('worker', options, (port) => ({
		QUEUE_HEALTH_CHECK_ACTIVE: 'true',
		QUEUE_HEALTH_CHECK_PORT: port,
		N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
	}));
}

async function launch(
	command: keyof typeof READY_PATHS,
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
		env: { ...(await n8nEnvironment(options)), ...portSettings(String(port)) },
	});
	let ended = false;
	void n8n.exited.then(() => (ended = true));

	const deadline = Date.now() + READY_MILLISECONDS;
	while (!(await isReady(url, command))) {
		if (ended || Date.now() > deadline) {
			const what = ended ? 'ended before it was ready' : 'did not get ready in three minutes';
			await n8n.stop();
			throw new Error(`n8n ${what}. It said last:\n${n8n.output().slice(-3_000)}`);
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
 * @throws Error with all that it printed when it ends with a failure
 */
export async function runN8nCommand(
	userFolder: string,
	args: readonly string[],
	env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
	const result = await runCommand(process.execPath, [N8N_COMMAND, ...args], {
		cwd: userFolder,
		env: await n8nEnvironment({ userFolder, env }),
		stdoutFile: join(userFolder, 'printed.txt'),
	});
	if (result.code !== 0) throw new Error(`n8n ${args.join(' ')} failed:\n${result.output}`);
	return result;
}

/** Builds the package into `dist`. */
export async function buildPackage(): Promise<void> {
	const { code, output } = await runCommand('npm', ['run', 'build'], { cwd: ROOT });
	if (code !== 0) throw new Error(`The package cannot be built:\n${output}`);
}

/** Packs the built package into a folder as for publishing; returns the tarball's path. */
export async function packPackage(folder: string): Promise<string> {
	await mkdir(folder, { recursive: true });
	// Scripts are left out: what was built last is packed, however often.
	const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
	const { code, stdout, output } = await runCommand('npm', args, { cwd: ROOT });
	if (code !== 0) throw new Error(`The package cannot be packed:\n${output}`);
	const [packed] = JSON.parse(stdout) as Array<{ filename: string }>;
	const tarball = join(folder, packed?.filename ?? '');
	if (packed === undefined || !existsSync(tarball)) throw new Error(`No tarball:\n${output}`);
	return tarball;
}

/** Installs a packed package where n8n puts community packages, with n8n's own npm options. */
export async function installPackage(userFolder: string, tarball: string): Promise<void> {
	const folder = join(userFolder, '.n8n', 'nodes');
	await mkdir(folder, { recursive: true });
	const manifest = { name: 'installed-nodes', private: true, dependencies: {} };
	await writeFile(join(folder, 'package.json'), JSON.stringify(manifest, null, 2));
	const { code, output } = await runCommand(
		'npm',
		[
			'install',
			tarball,
			'--ignore-scripts',
			'--package-lock=false',
			'--legacy-peer-deps',
			'--no-audit',
			'--no-fund',
		],
		{ cwd: folder },
	);
	if (code !== 0) throw new Error(`The package cannot be installed:\n${output}`);
}
