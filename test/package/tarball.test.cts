/** The tarball as npm publishes it: what is in it, and that it needs nothing but n8n-workflow. */
import { execFileSync } from 'node:child_process';
import {
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');

/** Bytes; the package is about half of it, so that a stray file is noticed and growth is not. */
const MOST_UNPACKED = 1_500_000;

const folder = mkdtempSync(join(tmpdir(), 'tarball-'));
const unpacked = join(folder, 'package');

beforeAll(() => {
	const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
		cwd: ROOT,
		encoding: 'utf8',
	});
	execFileSync('tar', ['-xzf', packed.trim()], { cwd: folder });
	// The one module beside it. Its own modules it finds where it really is; the package does not.
	mkdirSync(join(folder, 'node_modules'));
	symlinkSync(join(ROOT, 'node_modules/n8n-workflow'), join(folder, 'node_modules/n8n-workflow'));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Runs code where the package alone is, in a Node of its own; returns what it printed. */
const runThere = (code: string) =>
	execFileSync(process.execPath, ['--eval', code], {
		cwd: unpacked,
		encoding: 'utf8',
		env: { PATH: process.env.PATH },
		stdio: ['ignore', 'pipe', 'pipe'],
	});

test('holds dist, README, LICENSE and package.json, and no more than is run or shown', () => {
	expect(readdirSync(unpacked).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
	const files = readdirSync(join(unpacked, 'dist'), { recursive: true, encoding: 'utf8' })
		.map((file) => join(unpacked, 'dist', file))
		.filter((file) => statSync(file).isFile());
	expect([...new Set(files.map((file) => extname(file)))].sort()).toEqual(['.js', '.json', '.svg']);
	const bytes = files.reduce((total, file) => total + statSync(file).size, 0);
	expect(bytes).toBeLessThan(MOST_UNPACKED);
});

test('loads with n8n-workflow alone, every file of it', () => {
	const printed = runThere(`
		const { n8n } = require('./package.json');
		const { basename } = require('node:path');
		for (const path of [...n8n.nodes, ...n8n.credentials]) {
			const Type = require('./' + path)[basename(path).split('.')[0]];
			console.log(new Type().name ?? new Type().description.name);
		}
		for (const file of require('node:fs').readdirSync('dist', { recursive: true })) {
			if (file.endsWith('.js')) require('./dist/' + file);
		}
	`);
	expect(printed.trim().split('\n')).toEqual([
		'dataPlatform',
		'dataPlatformTrigger',
		'dataPlatformWebhookTrigger',
		'dataPlatformApi',
	]);
});

/**
 * Names that scanners for malware take for a download that is run, a shell or hidden code. n8n's scan will
 * have such rules; all of them run with `test/package/scan/scan.mts --rules`.
 */
const SUSPICIOUS = [
	/downloadFile\s*\(/i,
	/\b(eval|atob)\s*\(/,
	/\bnew\s+Function\s*\(/,
	/\bfromCharCode\s*\([^)]{40}/,
	/ {400}/,
	/\b_0x[a-f0-9]{4}/,
	/process\.env/,
];

test.each(SUSPICIOUS)('has nothing that looks like malware: %s', (pattern) => {
	const hits = readdirSync(join(unpacked, 'dist'), { recursive: true, encoding: 'utf8' })
		.filter((file) => file.endsWith('.js'))
		.filter((file) => pattern.test(readFileSync(join(unpacked, 'dist', file), 'utf8')));
	expect(hits).toEqual([]);
});

test('is alone there: what the repository has for development is not found', () => {
	expect(() => runThere("require('axios')")).toThrow(/Cannot find module 'axios'/);
});
