/**
 * Installs the pinned n8n of this folder when it is not there yet. It is large (2.2 GB), so
 * it comes on demand and not with the development packages.
 *
 * Where the environment names another version in `TEST_N8N`, that one is installed and run
 * instead: in a folder of its own, `.cache/n8n/<version>`.
 *
 * `node n8n/install.mts` does it from a shell.
 */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type CommandResult, runCommand } from './processes.mts';

/** What npm needs to know: the version, and which of its packages to replace by others. */
interface Manifest {
	dependencies: { n8n: string };
	[key: string]: unknown;
}

/** In place of the pinned one's, for a line of n8n that another of these packages belongs to. */
const OVERRIDES: Readonly<Record<string, Record<string, string>>> = {
	'1': { linkedom: '0.18.12', xlsx: '0.18.5', '@langchain/langgraph-checkpoint': '1.0.0' },
};

const PINNED_FOLDER = dirname(fileURLToPath(import.meta.url));
const ROOT = dirname(PINNED_FOLDER);

const pinned = JSON.parse(readFileSync(join(PINNED_FOLDER, 'package.json'), 'utf8')) as Manifest;

/** The version of n8n that is run. */
export const N8N_VERSION = process.env.TEST_N8N || pinned.dependencies.n8n;

const IS_PINNED = N8N_VERSION === pinned.dependencies.n8n;

/** The folder of the n8n that is run: its package.json, node_modules, and a lock if it is pinned. */
export const N8N_FOLDER = IS_PINNED ? PINNED_FOLDER : join(ROOT, '.cache', 'n8n', N8N_VERSION);

/** n8n's command, a script for the Node that runs this file. */
export const N8N_COMMAND = join(N8N_FOLDER, 'node_modules', 'n8n', 'bin', 'n8n');

const MODULES = join(N8N_FOLDER, 'node_modules');
const MARKER = join(MODULES, '.complete');
const INSTALLING = join(N8N_FOLDER, '.installing');

/** What n8n needs compiled code of, and a line of code that fails without it. */
const NATIVE_PACKAGES: Readonly<Record<string, string>> = {
	sqlite3: "new (require('sqlite3').Database)(':memory:')",
	'isolated-vm': "new (require('isolated-vm').Isolate)()",
};

const NODE_MAJORS = [22, 24];

/** Tells people what goes on; a line without end is replaced by the next one. */
type Report = (line: string) => void;

function reportToTerminal(line: string): void {
	process.stderr.write(`${line}\n`);
}

/** What the installed folder depends on: another pin, machine or Node asks for a new install. */
function fingerprint(): string {
	const hash = createHash('sha256');
	for (const name of ['package.json', 'package-lock.json']) {
		const file = join(N8N_FOLDER, name);
		if (existsSync(file)) hash.update(readFileSync(file));
	}
	const { platform, arch, versions } = process;
	return `${hash.digest('hex')} ${platform} ${arch} ${versions.modules}`;
}

/** Whether the n8n that is to be run is there and complete. */
export function isN8nInstalled(): boolean {
	try {
		return readFileSync(MARKER, 'utf8') === fingerprint();
	} catch {
		return false;
	}
}

/**
 * The headers that came with the Node of the development packages: a compiler then needs no
 * download, and none of another Node are taken by mistake. Undefined when they are not there.
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
		// Install scripts must run on the Node that n8n will run on.
		PATH: [dirname(realpathSync(process.execPath)), process.env.PATH].join(delimiter),
		...(headers === undefined ? {} : { npm_config_nodedir: headers }),
	};
}

async function npm(...args: string[]): Promise<CommandResult> {
	return await runCommand('npm', args, { cwd: N8N_FOLDER, env: npmEnvironment() });
}

/** The folders of all packages that the lock file names; none where there is no such file. */
function lockedFolders(): string[] {
	if (!IS_PINNED) return [];
	const text = readFileSync(join(N8N_FOLDER, 'package-lock.json'), 'utf8');
	const lock = JSON.parse(text) as { packages: Record<string, { optional?: boolean }> };
	return Object.entries(lock.packages)
		.filter(([path, entry]) => path !== '' && entry.optional !== true)
		.map(([path]) => join(N8N_FOLDER, path, 'package.json'));
}

/** Shows every now and then how far it is, until the returned function is called. */
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

/** Gets compiled code for what has none for this machine: downloaded, else compiled here. */
async function buildNativePackages(): Promise<void> {
	for (const [name, code] of Object.entries(NATIVE_PACKAGES)) {
		if (await isLoadable(code)) continue;
		const stop = showProgress(`building ${name}`, () => '');
		const { output } = await npm('rebuild', name, '--foreground-scripts');
		stop();
		if (await isLoadable(code)) continue;
		throw new Error(
			`${output.slice(-3_000)}\n\n${name} could neither be downloaded for this machine nor ` +
				'built. Building it takes Python 3, make and a C++ compiler ' +
				'(Debian: apt-get install python3 make g++).',
		);
	}
}

async function installPackages(): Promise<void> {
	const folders = lockedFolders();
	const stop = showProgress('packages', () => {
		const there = folders.filter((folder) => existsSync(folder)).length;
		return folders.length > 0 ? `${there} of ${folders.length}, ` : '';
	});
	// Scripts are left out: of the fifteen packages that have one, n8n starts without any but
	// the two above. Without --no-save npm would rewrite the lock file for each platform.
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
			`${output.slice(-3_000)}\n\nInstalling n8n failed (npm ended with ${code}). Is the npm ` +
				'registry reachable, and are 3 GB of disk free? Try again then.',
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

/** Lets one process install at a time: the tests and the demo may both want it first. */
async function withLock(work: () => Promise<void>, report: Report): Promise<void> {
	let told = false;
	for (;;) {
		try {
			await mkdir(INSTALLING);
			break;
		} catch {
			const owner = Number(await readFile(join(INSTALLING, 'pid'), 'utf8').catch(() => '0'));
			const age = Date.now() - (await stat(INSTALLING).catch(() => ({ mtimeMs: 0 }))).mtimeMs;
			// A folder without a number is one of these microseconds old, or left by a kill.
			const abandoned = owner === 0 ? age > 5_000 : !isAlive(owner);
			if (abandoned) {
				await rm(INSTALLING, { recursive: true, force: true });
				continue;
			}
			if (!told) report(`Waiting for process ${owner}, which is installing n8n…`);
			told = true;
			await sleep(1_000);
		}
	}
	try {
		await writeFile(join(INSTALLING, 'pid'), String(process.pid));
		await work();
	} finally {
		await rm(INSTALLING, { recursive: true, force: true });
	}
}

/** Another version has the pinned one's package.json, with a number of its own. */
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
 * Installs the n8n that is to be run if it is not there, complete and for this machine. Takes
 * three to five minutes the first time, nothing afterwards. What an interrupted install left is
 * thrown away.
 *
 * @throws Error with a message for people when npm, a compiler or a Node that n8n runs on is missing
 */
export async function ensureN8n(report: Report = reportToTerminal): Promise<void> {
	if (!IS_PINNED) await writeManifest();
	if (isN8nInstalled()) return;
	if (!NODE_MAJORS.includes(Number(process.versions.node.split('.')[0]))) {
		throw new Error(
			`n8n runs on Node ${NODE_MAJORS.join(' or ')}, this is ${process.versions.node}. Start through ` +
				'npm ("npm start", "npm run …"), which finds the right one among the packages.',
		);
	}
	await withLock(async () => {
		if (isN8nInstalled()) return;
		const started = Date.now();
		report(`Installing n8n ${N8N_VERSION}, once: 2.2 GB, about three to five minutes…`);
		// npm repairs a half-written folder only in part: it trusts files that it finds.
		await rm(MODULES, { recursive: true, force: true });
		await installPackages();
		await buildNativePackages();
		await writeFile(MARKER, fingerprint());
		report(`n8n ${N8N_VERSION} installed in ${Math.round((Date.now() - started) / 1000)} s.`);
	}, report);
}

if (import.meta.main) {
	try {
		await ensureN8n();
	} catch (error) {
		process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
		process.exitCode = 1;
	}
}
