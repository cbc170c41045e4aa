// Installs the packages of package-lock.json unless they are installed. npm's `pre…` scripts call it
// before anything is installed, with any Node that the machine has: so it is plain JavaScript that
// imports only Node's own modules.

import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST_NODE = [20, 19];

/**
 * Major versions of Node that run what is not shipped: the dev dependency `node` is 24; CI replaces
 * it with 22 (`npm install --no-save node@22`) to test on both.
 */
const PROJECT_NODES = [24, 22];

const root = resolve(fileURLToPath(new URL('..', import.meta.url)));

/** Exits with code 1 and a message without a stack trace. */
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

/** The packages that every machine needs: optional ones depend on the platform. */
function requiredPackages() {
	const packages = readPackages('package-lock.json');
	if (packages === undefined) fail('package-lock.json is missing or damaged. Restore it from git.');
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
 * npm writes the list of installed packages at the very end, after every install script: after an
 * interrupted installation the file is missing.
 */
function isInstalled(required) {
	const installed = readPackages(join('node_modules', '.package-lock.json'));
	if (installed === undefined) return false;
	const complete = required.every(([path, entry]) => installed[path]?.version === entry.version);
	return complete && isProjectNode(projectNodeVersion());
}

const isProjectNode = (version) => PROJECT_NODES.some((major) => version.startsWith(`v${major}.`));

/**
 * The environment for npm: without this project's own `.bin` in PATH, because `npm ci` deletes
 * node_modules, and with it the Node that npm may be running on.
 */
function npmEnvironment() {
	const bin = join(root, 'node_modules', '.bin');
	const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => resolve(entry) !== bin);
	return { ...process.env, PATH: path.join(delimiter) };
}

/** Runs `npm ci`; returns its exit code, or why it could not be started. */
async function runNpm(environment) {
	const child = spawn('npm', ['ci', '--loglevel=error'], {
		cwd: root,
		env: environment,
		// Standard output belongs to the program that is started afterwards.
		stdio: ['ignore', process.stderr, process.stderr],
		shell: process.platform === 'win32',
	});
	for (const signal of ['SIGINT', 'SIGTERM']) {
		process.once(signal, () => {
			// After SIGTERM npm runs on for seconds and disturbs the next installation.
			child.kill('SIGKILL');
			process.exit(130);
		});
	}
	return await new Promise((resolve) => {
		child.on('error', (error) => resolve(error.message));
		child.on('close', resolve);
	});
}

async function install() {
	checkNode();
	const required = requiredPackages();
	if (isInstalled(required)) return;

	const started = Date.now();
	process.stderr.write(
		`Installing ${required.length} development packages, once: about a minute or two…\n`,
	);
	const code = await runNpm(npmEnvironment());
	if (code !== 0) {
		fail(
			`npm ci failed (${code}). Check that npm is there and that its registry is reachable, and try again.`,
		);
	}
	const version = projectNodeVersion();
	if (!isProjectNode(version)) {
		fail(
			`The packages are installed, but Node ${PROJECT_NODES[0]} is not (found: ${version || 'none'}).\n` +
				'The install script of the package "node" installs it. Allow it to run\n' +
				'(npm config get ignore-scripts must print false), remove node_modules and try again.',
		);
	}
	const seconds = Math.round((Date.now() - started) / 1000);
	process.stderr.write(`Installed in ${seconds} s, with Node ${version.slice(1)}.\n`);
}

await install();
