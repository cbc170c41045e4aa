/**
 * Lists the licences of everything in node_modules, as each package.json states them. Fails if one is
 * neither permissive nor explained here. None of it ships: the published package has no dependencies
 * (test/package).
 *
 *   npm run licences
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Permissive licences: they require a notice at most. */
const PERMISSIVE = new Set([
	'0BSD',
	'AFL-2.1',
	'Apache-2.0',
	'BSD-2-Clause',
	'BSD-3-Clause',
	'BlueOak-1.0.0',
	'CC-BY-4.0',
	'CC0-1.0',
	'ISC',
	'MIT',
	'MIT-0',
	'Python-2.0',
	'Unlicense',
]);

const DEVELOPMENT = 'used only for development and tests';

/** Other licences: for which packages, and why they are acceptable. */
const EXPLAINED: Array<{ licence: RegExp; packages: RegExp; why: string }> = [
	{
		licence: /^(SEE LICENSE IN LICENSE(_EE)?\.md|LicenseRef-n8n-.*)$/,
		packages: /^(n8n-|@n8n\/|@n8n_io\/)/,
		why: `n8n's own (Sustainable Use License): ${DEVELOPMENT}; users have n8n already`,
	},
	{
		licence: /^LGPL-3\.0-or-later$/,
		packages: /^@img\/sharp-libvips-/,
		why: `libvips, loaded by sharp in the sandbox and in tests: ${DEVELOPMENT}, unchanged`,
	},
];

interface Manifest {
	name?: string;
	version?: string;
	license?: string | { type?: string };
	licenses?: Array<{ type?: string }>;
}

/** Every package in a node_modules folder, including nested ones. */
function* packagesIn(modules: string): Generator<Manifest> {
	if (!existsSync(modules)) return;
	for (const entry of readdirSync(modules).filter((name) => !name.startsWith('.'))) {
		const names = entry.startsWith('@')
			? readdirSync(join(modules, entry)).map((name) => join(entry, name))
			: [entry];
		for (const name of names) {
			const file = join(modules, name, 'package.json');
			if (existsSync(file)) yield JSON.parse(readFileSync(file, 'utf8')) as Manifest;
			yield* packagesIn(join(modules, name, 'node_modules'));
		}
	}
}

/** The licence as an SPDX expression, also from older forms of package.json. */
function licenceOf({ license, licenses }: Manifest): string {
	if (typeof license === 'string') return license;
	const given = license ? [license] : (licenses ?? []);
	return given.map(({ type }) => type ?? 'unknown').join(' OR ') || 'none stated';
}

/** For OR one permissive licence is enough, for AND all must be. */
function isPermissive(licence: string): boolean {
	const alternatives = licence.replace(/^\((.*)\)$/, '$1').split(' OR ');
	return alternatives.some((text) => text.split(' AND ').every((one) => PERMISSIVE.has(one)));
}

const byLicence = new Map<string, string[]>();
for (const found of packagesIn(join(import.meta.dirname, '..', 'node_modules'))) {
	const licence = licenceOf(found);
	const same = byLicence.get(licence) ?? [];
	byLicence.set(licence, [...same, `${found.name ?? '?'}@${found.version ?? '?'}`]);
}

let passed = 0;
const unknown: string[] = [];
for (const [licence, packages] of [...byLicence].sort(([, a], [, b]) => b.length - a.length)) {
	const reasons = EXPLAINED.filter((entry) => entry.licence.test(licence));
	const others = packages.filter(
		(name) => !isPermissive(licence) && !reasons.some((reason) => reason.packages.test(name)),
	);
	if (others.length === 0) passed += 1;
	else unknown.push(`${licence}: ${others.join(', ')}`);
	console.log(`${String(packages.length).padStart(5)}  ${licence}`);
	for (const { why } of reasons) console.log(`         ${why}`);
}
for (const entry of unknown) console.log(`Not known, not explained: ${entry}`);
console.log(`\n${passed} passed, ${unknown.length} failed`);
process.exit(unknown.length === 0 && passed > 0 ? 0 : 1);
