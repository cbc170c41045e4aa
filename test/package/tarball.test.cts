/** The tarball as npm publishes it: its content, and that it needs nothing but n8n-workflow. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');

/** In bytes. The package is about half of it, so growth passes but a stray file is noticed. */
const MOST_UNPACKED = 1_500_000;

const folder = mkdtempSync(join(tmpdir(), 'tarball-'));
const unpacked = join(folder, 'package');

beforeAll(() => {
	const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT, encoding: 'utf8' });
	execFileSync('tar', ['-xzf', packed.trim()], { cwd: folder });
	// The only module next to it. It finds its own dependencies at its real location; the package
	// can't.
	mkdirSync(join(folder, 'node_modules'));
	symlinkSync(join(ROOT, 'node_modules/n8n-workflow'), join(folder, 'node_modules/n8n-workflow'));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Runs code in its own Node, where only the package is available. Returns what it printed. */
const runThere = (code: string) =>
	execFileSync(process.execPath, ['--eval', code], {
		cwd: unpacked,
		encoding: 'utf8',
		env: { PATH: process.env.PATH },
		stdio: ['ignore', 'pipe', 'pipe'],
	});

test('contains dist, README, LICENSE and package.json, and nothing that is not used', () => {
	expect(readdirSync(unpacked).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
	const files = readdirSync(join(unpacked, 'dist'), { recursive: true, encoding: 'utf8' })
		.map((file) => join(unpacked, 'dist', file))
		.filter((file) => statSync(file).isFile());
	expect([...new Set(files.map((file) => extname(file)))].sort()).toEqual(['.js', '.json', '.svg']);
	const bytes = files.reduce((total, file) => total + statSync(file).size, 0);
	expect(bytes).toBeLessThan(MOST_UNPACKED);
});

test('every file of it loads with only n8n-workflow', () => {
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
	expect(printed.trim().split('\n')).toEqual(['dataPlatform', 'dataPlatformTrigger', 'dataPlatformWebhookTrigger', 'dataPlatformApi']);
});

/**
 * Names that malware scanners associate with downloads that are executed, shells or hidden code.
 * n8n's scan will have such rules; `test/package/scan/scan.mts --rules` runs all of them.
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

test('finds none of the development packages', () => {
	expect(() => runThere("require('axios')")).toThrow(/Cannot find module 'axios'/);
});
