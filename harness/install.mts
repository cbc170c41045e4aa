/**
 * Installs the pinned n8n (`harness/n8n`) unless it is installed already. It is large (2.2 GB), so
 * it is not among the development packages.
 *
 * If the environment variable `TEST_N8N` names another version, that one is installed and run
 * instead, in a folder of its own: `.cache/n8n/<version>`.
 *
 * From a shell: `node harness/install.mts`.
 */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from './nodePackage.mts';
import { type CommandResult, runCommand } from './processes.mts';

/** The parts of n8n's package.json that matter here: the version, and overrides of its packages. */
interface Manifest {
	dependencies: { n8n: string };
	[key: string]: unknown;
}

/** Overrides for a major version of n8n that needs others than the pinned one. */
const OVERRIDES: Readonly<Record<string, Record<string, string>>> = {
	'1': { linkedom: '0.18.12', xlsx: '0.18.5', '@langchain/langgraph-checkpoint': '1.0.0' },
};

const PINNED_FOLDER = join(import.meta.dirname, 'n8n');

const pinned = JSON.parse(readFileSync(join(PINNED_FOLDER, 'package.json'), 'utf8')) as Manifest;

/** The version of n8n to run. */
export const N8N_VERSION = process.env.TEST_N8N || pinned.dependencies.n8n;

const IS_PINNED = N8N_VERSION === pinned.dependencies.n8n;

/** Its folder: package.json, node_modules, and a lock file if it is the pinned version. */
export const N8N_FOLDER = IS_PINNED ? PINNED_FOLDER : join(ROOT, '.cache', 'n8n', N8N_VERSION);

/** n8n's command, a script for Node. */
export const N8N_COMMAND = join(N8N_FOLDER, 'node_modules', 'n8n', 'bin', 'n8n');

const MODULES_FOLDER = join(N8N_FOLDER, 'node_modules');
const MARKER = join(MODULES_FOLDER, '.complete');
const LOCK_FOLDER = join(N8N_FOLDER, '.installing');

/** The native packages that n8n needs, and code that fails if one is not built. */
const NATIVE_PACKAGES: Readonly<Record<string, string>> = {
	sqlite3: "new (require('sqlite3').Database)(':memory:')",
	'isolated-vm': "new (require('isolated-vm').Isolate)()",
};

const NODE_MAJORS = [22, 24];

/** Gets progress messages. */
type Log = (line: string) => void;

function logToTerminal(line: string): void {
	process.stderr.write(`${line}\n`);
}

/** Identifies what the installation depends on: another version, machine or Node needs a new one. */
function fingerprint(): string {
	const hash = createHash('sha256');
	for (const name of ['package.json', 'package-lock.json']) {
		const file = join(N8N_FOLDER, name);
		if (existsSync(file)) hash.update(readFileSync(file));
	}
	const { platform, arch, versions } = process;
	return `${hash.digest('hex')} ${platform} ${arch} ${versions.modules}`;
}

/** Whether the n8n to run is installed completely. */
export function isN8nInstalled(): boolean {
	try {
		return readFileSync(MARKER, 'utf8') === fingerprint();
	} catch {
		return false;
	}
}

/**
 * The headers that come with the `node` development package: with them a compiler needs no download
 * and cannot use those of another Node by mistake. Undefined if they are missing.
 */
function findNodeHeaders(): string | undefined {
	const parent = join(ROOT, 'node_modules', 'node', 'node_modules');
	if (!existsSync(parent)) return undefined;
	return readdirSync(parent)
		.map((name) => join(parent, name))
		.find((folder) => existsSync(join(folder, 'include', 'node', 'node.h')));
}

function npmEnvironment(): NodeJS.ProcessEnv {
	const headers = findNodeHeaders();
	return {
		...process.env,
		// Install scripts must run with the same Node as n8n.
		PATH: [dirname(realpathSync(process.execPath)), process.env.PATH].join(delimiter),
		...(headers === undefined ? {} : { npm_config_nodedir: headers }),
	};
}

async function npm(...args: string[]): Promise<CommandResult> {
	return await runCommand('npm', args, { cwd: N8N_FOLDER, env: npmEnvironment() });
}

/** The package.json paths of all packages in the lock file; none if there is no lock file. */
function lockedManifests(): string[] {
	if (!IS_PINNED) return [];
	const text = readFileSync(join(N8N_FOLDER, 'package-lock.json'), 'utf8');
	const lock = JSON.parse(text) as { packages: Record<string, { optional?: boolean }> };
	return Object.entries(lock.packages)
		.filter(([path, entry]) => path !== '' && entry.optional !== true)
		.map(([path]) => join(N8N_FOLDER, path, 'package.json'));
}

/** Prints the progress at intervals until the returned function is called. */
function showProgress(title: string, state: () => string): () => void {
	const terminal = process.stderr.isTTY;
	const started = Date.now();
	const show = () => {
		const seconds = Math.round((Date.now() - started) / 1000);
		const line = `  ${title}: ${state()}${seconds} s`;
		process.stderr.write(terminal ? `\r\x1b[K${line} ` : `${line}\n`);
	};
	const timer = setInterval(show, terminal ? 1_000 : 15_000);
	return () => {
		clearInterval(timer);
		if (terminal) process.stderr.write('\r\x1b[K');
	};
}

async function isLoadable(code: string): Promise<boolean> {
	const result = await runCommand(process.execPath, ['-e', code], { cwd: N8N_FOLDER });
	return result.code === 0;
}

/** Downloads or compiles the native packages that do not load on this machine. */
async function buildNativePackages(): Promise<void> {
	for (const [name, code] of Object.entries(NATIVE_PACKAGES)) {
		if (await isLoadable(code)) continue;
		const stop = showProgress(`building ${name}`, () => '');
		const { output } = await npm('rebuild', name, '--foreground-scripts');
		stop();
		if (await isLoadable(code)) continue;
		throw new Error(
			`${output.slice(-3_000)}\n\n${name} could neither be downloaded for this machine nor ` +
				'built. Building it needs Python 3, make and a C++ compiler ' +
				'(Debian: apt-get install python3 make g++).',
		);
	}
}

async function installPackages(): Promise<void> {
	const manifests = lockedManifests();
	const stop = showProgress('packages', () => {
		const installed = manifests.filter((file) => existsSync(file)).length;
		return manifests.length > 0 ? `${installed} of ${manifests.length}, ` : '';
	});
	// Without install scripts: fifteen packages have one, and n8n needs only those of the two native
	// packages. Without --no-save npm would rewrite the lock file for each platform.
	const { code, output } = await npm(
		'install',
		'--legacy-peer-deps',
		'--ignore-scripts',
		'--no-save',
		...(IS_PINNED ? [] : ['--package-lock=false']),
		'--no-audit',
		'--no-fund',
		'--no-progress',
		'--loglevel=error',
	);
	stop();
	if (code !== 0) {
		throw new Error(
			`${output.slice(-3_000)}\n\nInstalling n8n failed (npm exited with ${code}). Check that the ` +
				'npm registry is reachable and that 3 GB of disk are free, then try again.',
		);
	}
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
}

/** The process that holds the lock, or 0. */
const ownerOf = async (): Promise<number> =>
	Number(await readFile(join(LOCK_FOLDER, 'pid'), 'utf8').catch(() => '0'));

/** Lets only one process install at a time: tests and the demo may start together. */
export async function withLock(work: () => Promise<void>, log = logToTerminal): Promise<void> {
	let isLogged = false;
	for (;;) {
		try {
			await mkdir(LOCK_FOLDER);
			break;
		} catch {
			const owner = await ownerOf();
			const since = (await stat(LOCK_FOLDER).catch(() => undefined))?.mtimeMs;
			// Given back meanwhile: somebody else may hold a new one by now.
			if (since === undefined) continue;
			const age = Date.now() - since;
			// A lock without a process id was created microseconds ago, or left behind by a kill.
			const abandoned = owner === 0 ? age > 5_000 : !isAlive(owner);
			if (abandoned) {
				// It may be another's by now: whoever held it gave it back and ended.
				if ((await ownerOf()) !== owner) continue;
				await rm(LOCK_FOLDER, { recursive: true, force: true });
				continue;
			}
			if (!isLogged) log(`Waiting for process ${owner}, which is installing n8n…`);
			isLogged = true;
			await sleep(1_000);
		}
	}
	try {
		await writeFile(join(LOCK_FOLDER, 'pid'), String(process.pid));
		await work();
	} finally {
		await rm(LOCK_FOLDER, { recursive: true, force: true });
	}
}

/** Writes the package.json of another version: the pinned one's, with that version number. */
async function writeManifest(): Promise<void> {
	if (!/^\d+\.\d+\.\d+$/.test(N8N_VERSION)) {
		throw new Error(`TEST_N8N is '${N8N_VERSION}', not a version such as 1.123.81.`);
	}
	const dependencies = { ...pinned.dependencies, n8n: N8N_VERSION };
	const overrides = OVERRIDES[N8N_VERSION.split('.', 1)[0]!] ?? pinned.overrides;
	const manifest = JSON.stringify({ ...pinned, dependencies, overrides }, null, '\t');
	await mkdir(N8N_FOLDER, { recursive: true });
	await writeFile(join(N8N_FOLDER, 'package.json'), manifest);
}

/**
 * Makes sure that the n8n to run is installed, completely and for this machine. Takes three to five
 * minutes the first time and nothing afterwards. Removes what an interrupted installation left.
 *
 * @throws Error that says what to do if npm, a compiler or a suitable Node is missing
 */
export async function ensureN8n(log: Log = logToTerminal): Promise<void> {
	if (!IS_PINNED) await writeManifest();
	if (isN8nInstalled()) return;
	if (!NODE_MAJORS.includes(Number(process.versions.node.split('.')[0]))) {
		throw new Error(
			`n8n needs Node ${NODE_MAJORS.join(' or ')}, this is ${process.versions.node}. Start it with npm ` +
				'("npm start", "npm run …"), which uses the Node among the development packages.',
		);
	}
	await withLock(async () => {
		if (isN8nInstalled()) return;
		const started = Date.now();
		log(`Installing n8n ${N8N_VERSION}, once: 2.2 GB, about three to five minutes…`);
		// npm does not fully repair an interrupted installation: it trusts the files that it finds.
		await rm(MODULES_FOLDER, { recursive: true, force: true });
		await installPackages();
		await buildNativePackages();
		await writeFile(MARKER, fingerprint());
		log(`n8n ${N8N_VERSION} installed in ${Math.round((Date.now() - started) / 1000)} s.`);
	}, log);
}

if (import.meta.main) {
	try {
		await ensureN8n();
	} catch (error) {
		process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
		process.exitCode = 1;
	}
}
