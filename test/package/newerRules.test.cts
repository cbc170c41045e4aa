/**
 * Rules of n8n's lint that are newer than the plugin that installs here (CONTRIBUTING.md). n8n's rules read the
 * source; these read the built descriptions, where nothing is hidden behind a constant.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifest, nodes, parameters, root } from './builtNodes.cts';

/** The categories that n8n's documentation lists. */
const CATEGORIES = [
	...['Analytics', 'Communication', 'Data & Storage', 'Development', 'Finance & Accounting'],
	...['Marketing & Content', 'Miscellaneous', 'Productivity', 'Sales', 'Utility'],
];

/** The maximum length of a hint (hint-max-length). */
const LONGEST_HINT = 120;

test('no-monorepo, require-mit-license', () => {
	expect(manifest.repository).not.toHaveProperty('directory');
	expect(manifest.license).toBe('MIT');
});

describe.each(nodes)('%s', (path, { description }) => {
	const all = [...parameters(description.properties)].map(({ property }) => property);
	const lists = all.map(({ name, options = [] }): [string, Array<{ name: string; value?: unknown }>] => [
		name,
		options.filter((option) => 'value' in option),
	]);

	test('hint-max-length', () => {
		const hints = all.flatMap(({ hint, modes = [] }) => [hint, ...modes.map((mode) => mode.hint)]);
		expect(hints.filter((hint) => (hint ?? '').length > LONGEST_HINT)).toEqual([]);
	});

	test('require-param-default', () => {
		expect(all.filter((parameter) => parameter.default === undefined)).toEqual([]);
	});

	test('no-duplicate-param-options, no-asterisk-in-option-names', () => {
		const hasTwice = (options: unknown[]) => new Set(options).size < options.length;
		const isWrong = (options: Array<{ name: string; value?: unknown }>) =>
			hasTwice(options.map(({ name }) => name)) ||
			hasTwice(options.map(({ value }) => value)) ||
			options.some(({ name }) => name.includes('*'));
		expect(lists.filter(([, options]) => isWrong(options))).toEqual([]);
	});

	test('node-class-description-non-core-color', () => {
		expect(description.defaults).not.toHaveProperty('color');
		expect(description).not.toHaveProperty('iconColor');
	});

	test('valid-node-categories, no-logic-or-flow-nodes, no-codex-subcategories, no-ai-codex-category', () => {
		const codex = JSON.parse(readFileSync(join(root, path.replace(/\.js$/, '.json')), 'utf8')) as { categories: string[] };
		expect(codex.categories.filter((category) => !CATEGORIES.includes(category))).toEqual([]);
		expect(codex).not.toHaveProperty('subcategories');
	});

	test('open-ended-node-fields: JSON only beside another way, or as what is sent', () => {
		const json = all.filter(({ type, required }) => type === 'json' && !required);
		const known = ['filterTree', 'bodyJson'];
		expect(json.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
	});
});

/** WCAG's relative luminance of `#rrggbb`. */
function luminance(colour: string): number {
	const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
		const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
		return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
	});
	return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
	const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
	return (lighter + 0.05) / (darker + 0.05);
}

// n8n's rule requires 1.5; WCAG requires 3 for pictures.
test.each([
	['platform.svg', '#ffffff'],
	['platform.dark.svg', '#2b2b2b'],
])('icon-contrast: %s on %s', (icon, background) => {
	const picture = readFileSync(join(root, 'icons', icon), 'utf8');
	const colours = [...picture.matchAll(/(?:fill|stroke)="(#[0-9a-f]{6})"/g)].map(([, colour]) => colour!);
	expect(Math.max(...colours.map((colour) => contrast(colour, background)))).toBeGreaterThan(3);
});

test('no-hardcoded-ids', () => {
	const source = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })
		.filter((file) => file.endsWith('.js'))
		.map((file) => readFileSync(join(root, 'dist', file), 'utf8'))
		.join('\n');
	const names = '(partner|affiliate|reseller|account|tenant|customer|client)_?id';
	expect(source).not.toMatch(new RegExp(`\\b${names}['"]?\\s*[:=]\\s*['"]`, 'i'));
});
