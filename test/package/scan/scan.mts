/**
 * n8n's own scan, offline: of the source as it is in git, and of the tarball as npm publishes it.
 * Closes with a line that counts both. `node test/package/scan/scan.mts`
 *
 * With `--rules FOLDER` also GuardDog's threat rules on the tarball (threats.mts).
 */

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { findThreats } from './threats.mts';

const FOLDER = import.meta.dirname;
const ROOT = join(FOLDER, '../../..');

const { rules } = parseArgs({ options: { rules: { type: 'string' } } }).values;

interface Finding {
	passed: boolean;
	message?: string;
	details?: string;
}

interface Scanner {
	SOURCE_FILE_PATTERNS: string[];
	analyzePackage(folder: string, patterns: string[]): Promise<Finding>;
}

/** Runs a command and shows its output; rejects if it fails. */
async function run(command: string, rest: string[], folder: string): Promise<void> {
	const child = spawn(command, rest, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
	const code = await new Promise((resolve) => child.on('close', resolve));
	if (code !== 0) throw new Error(`${command} ${rest.join(' ')} ended with code ${String(code)}`);
}

/** The scanner. Installs it and YARA-X if one of them is missing. */
async function scanner(): Promise<Scanner> {
	const modules = join(FOLDER, 'node_modules');
	const entry = join(modules, '@n8n/scan-community-package/scanner/scanner.mjs');
	if (!existsSync(entry) || !existsSync(join(modules, '@virustotal/yara-x'))) {
		await run('npm', ['install', '--no-save', '--loglevel=error'], FOLDER);
	}
	return (await import(entry)) as Scanner;
}

/** A copy of the files in git, without anything built or installed. */
async function source(folder: string): Promise<string> {
	const target = join(folder, 'source');
	await run('git', ['clone', '--quiet', '--depth=1', `file://${ROOT}`, target], folder);
	return target;
}

async function tarball(folder: string): Promise<string> {
	await run('npm', ['pack', '--silent', '--pack-destination', folder], ROOT);
	const packed = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
	if (!packed) throw new Error('npm packed nothing');
	await run('tar', ['-xzf', packed], folder);
	return join(folder, 'package');
}

const folder = await mkdtemp(join(tmpdir(), 'scan-'));
let passed = 0;
let failed = 0;

function report(name: string, isPassed: boolean, details = '') {
	console.log(isPassed ? `✓ ${name}` : `✗ ${name}: ${details}`);
	if (isPassed) passed += 1;
	else failed += 1;
}

try {
	const { analyzePackage, SOURCE_FILE_PATTERNS } = await scanner();
	const packed = await tarball(folder);
	const scans: Array<[string, string, string[]]> = [
		['source', await source(folder), SOURCE_FILE_PATTERNS],
		['tarball', packed, ['**/*.js', 'package.json']],
	];
	for (const [name, place, patterns] of scans) {
		const { passed: isClean, message, details = '' } = await analyzePackage(place, patterns);
		// The scan also passes a folder without any file to check, and says so.
		report(name, isClean && message === undefined, `${message ?? ''}\n${details}`);
	}
	if (rules !== undefined) {
		const threats = await findThreats(packed, rules);
		report("tarball, GuardDog's threat rules", threats.length === 0, threats.join('\n'));
	}
	console.log(`${passed} passed, ${failed} failed`);
} finally {
	await rm(folder, { recursive: true, force: true });
}
process.exit(failed === 0 ? 0 : 1);
