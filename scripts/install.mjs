// Installs what package-lock.json names when it is not there yet. npm's `pre…` scripts call it
// before anything is installed, on whichever Node the machine has: so plain JavaScript, with
// Node's own modules alone.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST_NODE = [20, 19];

/**
 * What may run all that is not shipped: the dev dependency `node` is 24; CI puts 22 in its place
 * (`npm install --no-save node@22`) to see the tests pass on both.
 */
const PROJECT_NODES = [24, 22];

const root = resolve(fileURLToPath(new URL('..', import.meta.url)));

/** Ends with a message for people: no stack, exit code 1. */
function fail(message) {
	process.stderr.write(`\n${message}\n`);
	process.exit(1);
}

function checkNode() {
	const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
	const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE;
	if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
		fail(
			`Node.js ${OLDEST_NODE.join('.')} or newer is needed, this is ${process.versions.node}.\n` +
				'Get it from https://nodejs.org, or through your version manager.',
		);
	}
}

function readPackages(file) {
	try {
		return JSON.parse(readFileSync(join(root, file), 'utf8')).packages ?? {};
	} catch {
		return undefined;
	}
}

/** The packages that must be there on every machine: optional ones depend on the platform. */
function requiredPackages() {
	const packages = readPackages('package-lock.json');
	if (packages === undefined)
		fail('package-lock.json is missing or damaged: get it from git again.');
	return Object.entries(packages).filter(
		([path, entry]) =>
			path !== '' &&
			path !== 'node_modules/node' &&
			!entry.optional &&
			!entry.devOptional &&
			!entry.link,
	);
}

function projectNodeVersion() {
	const node = join(root, 'node_modules', '.bin', 'node');
	const { stdout } = spawnSync(node, ['--version'], {
		encoding: 'utf8',
		shell: process.platform === 'win32',
	});
	return stdout?.trim() ?? '';
}

/**
 * npm writes the list of what it installed last of all, after every install script: what it
 * says is there, is there, and after an interrupted install the file is missing.
 */
function isInstalled(required) {
	const installed = readPackages(join('node_modules', '.package-lock.json'));
	if (installed === undefined) return false;
	const complete = required.every(([path, entry]) => installed[path]?.version === entry.version);
	return complete && isProjectNode(projectNodeVersion());
}

const isProjectNode = (version) => PROJECT_NODES.some((major) => version.startsWith(`v${major}.`));

/**
 * The surroundings for npm: without this project's own `.bin` on the PATH, because `npm ci`
 * deletes node_modules, and with it the Node that npm may be running on.
 */
function npmEnvironment() {
	const bin = join(root, 'node_modules', '.bin');
	const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => resolve(entry) !== bin);
	return { ...process.env, PATH: path.join(delimiter) };
}

/** Shows how many of the packages are unpacked: one moving line, or in a log one every 10 s. */
function showProgress(required, started) {
	const terminal = process.stderr.isTTY;
	const show = () => {
		const there = required.filter(([path]) => existsSync(join(root, path, 'package.json'))).length;
		const seconds = Math.round((Date.now() - started) / 1000);
		const line = `  ${there} of ${required.length} packages, ${seconds} s`;
		process.stderr.write(terminal ? `\r${line} ` : `${line}\n`);
	};
	const timer = setInterval(show, terminal ? 500 : 10_000);
	return () => {
		clearInterval(timer);
		if (terminal) process.stderr.write('\r\x1b[K');
	};
}

/** Runs `npm ci`; its output is shown only when it fails. */
async function runNpm(environment) {
	const child = spawn('npm', ['ci', '--no-progress', '--loglevel=error'], {
		cwd: root,
		env: environment,
		stdio: ['ignore', 'pipe', 'pipe'],
		shell: process.platform === 'win32',
	});
	for (const signal of ['SIGINT', 'SIGTERM']) {
		process.once(signal, () => {
			// Asked to end, npm goes on for seconds and gets in the way of the next install.
			child.kill('SIGKILL');
			process.exit(130);
		});
	}
	let output = '';
	child.stdout.on('data', (chunk) => (output += chunk));
	child.stderr.on('data', (chunk) => (output += chunk));
	const code = await new Promise((settle) => {
		child.on('error', (error) => settle(error.message));
		child.on('close', settle);
	});
	return { code, output };
}

async function install() {
	checkNode();
	const required = requiredPackages();
	if (isInstalled(required)) return;

	const environment = npmEnvironment();
	const npm = spawnSync('npm', ['--version'], {
		env: environment,
		encoding: 'utf8',
		shell: process.platform === 'win32',
	});
	if (npm.status !== 0) fail('npm was not found. It comes with Node.js: https://nodejs.org');

	const started = Date.now();
	process.stderr.write(
		`Installing ${required.length} development packages, once: about a minute or two…\n`,
	);
	const stopProgress = showProgress(required, started);
	const { code, output } = await runNpm(environment);
	stopProgress();
	if (code !== 0) {
		fail(
			`${output.trim()}\n\nnpm ci failed (${code}). Is the npm registry reachable? Try again then.`,
		);
	}
	const version = projectNodeVersion();
	if (!isProjectNode(version)) {
		fail(
			`The packages are there, but Node ${PROJECT_NODES[0]} is not (found: ${version || 'none'}).\n` +
				'The package "node" brings it with its install script: allow it to run\n' +
				'(npm config get ignore-scripts must say false), remove node_modules, try again.',
		);
	}
	const seconds = Math.round((Date.now() - started) / 1000);
	process.stderr.write(`Installed in ${seconds} s, with Node ${version.slice(1)}.\n`);
}

await install();
