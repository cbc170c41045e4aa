/**
 * The pages of the repository: what they refer to exists.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { nodes, root } from './builtNodes.cts';

const PAGES = [
	'README.md',
	'AGENTS.md',
	'CONTRIBUTING.md',
	'CHANGELOG.md',
	'SECURITY.md',
	'examples/README.md',
	...globSync('docs/**/*.md', { cwd: root }),
];

const read = (page: string) => readFileSync(join(root, page), 'utf8');

/** A page without its blocks of code. */
const prose = (page: string) => read(page).replaceAll(/^```[^]*?^```/gm, '');

/** `a/{b,c}` as `a/b` and `a/c`. */
const alternatives = (path: string) => {
	const [, before = path, list = '', after = ''] = path.match(/^(.*)\{(.*)\}(.*)$/) ?? [];
	return list.split(',').map((part) => before + part + after);
};

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = (page: string) =>
	[...prose(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
		heading!
			.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
			.toLowerCase()
			.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
			.replaceAll(' ', '-'),
	);

test('every example is on the page of examples, under its name in n8n', () => {
	const examples = globSync('*.json', { cwd: join(root, 'examples') });
	const page = read('examples/README.md');
	const links = examples.map((file) => {
		const { name } = JSON.parse(read(`examples/${file}`)) as { name: string };
		return `[${name}](${file})`;
	});
	expect(examples.length).toBeGreaterThan(0);
	expect(links.filter((link) => !page.includes(link))).toEqual([]);
});

test('every picture is on a page', () => {
	const shown = PAGES.flatMap((page) => [...read(page).matchAll(/images\/([\w.-]+)/g)]);
	const pictures = globSync('docs/images/*', { cwd: root }).map((path) => basename(path));
	const names = new Set(shown.map(([, name]) => name));
	expect(pictures.filter((picture) => !names.has(picture))).toEqual([]);
});

/** What the editor and the sandbox's page call things: labels, choices, operators. */
const shownNames = () => {
	const described = nodes.map(([, { description }]) => JSON.stringify(description));
	const sources = globSync(['dist/nodes/DataPlatform/methods/loadOptions.js', 'dist/credentials/*.js', 'sandbox/page/*.{js,html}'], {
		cwd: root,
	}).map(read);
	return [...described, ...sources].join('\n');
};

test('a picture shows what its text names', () => {
	const names = shownNames();
	const isShown = (name: string) => [`"${name}"`, `'${name}'`, `>${name}<`].some((text) => names.includes(text));
	const pictures = PAGES.flatMap((page) => [...prose(page).matchAll(/!\[([^\]]*)\]\([^)]*\.png\)/g)]);
	const named = pictures.map(([, text]) => [...text!.matchAll(/'([^']+)'/g)].map((match) => match[1]!));
	expect(pictures.length).toBeGreaterThan(3);
	expect(named.filter((list) => list.length === 0)).toEqual([]);
	expect(named.flat().filter((name) => !isShown(name))).toEqual([]);
});

test('the bars of the speed page are as long as their labels say', () => {
	const page = read('docs/performance.md');
	const labels = [...page.matchAll(/: ([\d.]+)×"/g)].map(([, times]) => Number(times));
	const [, bars = '[]'] = page.match(/ bar (\[.*\])/) ?? [];
	const [, end] = page.match(/y-axis 0 --> (\d+)/) ?? [];
	const lengths = JSON.parse(bars) as number[];
	expect(lengths).toEqual(labels);
	expect(Number(end)).toBeGreaterThanOrEqual(Math.max(...lengths));
});

test('the help links of the nodes and the credential lead to a heading', () => {
	const sources = globSync(['nodes/**/*.json', 'credentials/*.ts'], { cwd: root });
	const anchors = sources.flatMap((path) => [...read(path).matchAll(/n8n-nodes-data-platform#([\w-]+)/g)].map(([, anchor]) => anchor!));
	expect(anchors.length).toBeGreaterThan(0);
	const headings = [...anchorsOf('README.md'), 'readme'];
	expect(anchors.filter((anchor) => !headings.includes(anchor))).toEqual([]);
});

describe.each(PAGES)('%s', (page) => {
	test('every link within the repository leads somewhere', () => {
		const links = [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
		const broken = links.filter((link) => {
			if (/^[a-z]+:/.test(link)) return false;
			const [file = '', anchor] = link.split('#');
			const path = file === '' ? page : join(dirname(page), file);
			if (!existsSync(join(root, path))) return true;
			return anchor !== undefined && !anchorsOf(path).includes(anchor);
		});
		expect(broken).toEqual([]);
	});

	test('every file that it names exists', () => {
		const folders = 'bench|contract|credentials|docs|examples|harness|nodes|sandbox|scripts|test';
		const named = [...prose(page).matchAll(/`([^`\n]+)`/g)]
			.map(([, code]) => code!.match(new RegExp(`^(?:${folders})/[\\w./*{},@-]*$`))?.[0])
			.flatMap((path) => (path === undefined ? [] : alternatives(path)));
		// A test is named without its extension.
		const missing = named.filter((path) => [path, `${path}.*`].every((pattern) => globSync(pattern, { cwd: root }).length === 0));
		expect(missing).toEqual([]);
	});

	test('every command that it names exists', () => {
		const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
		const keysOf = (path: string) => [...read(path).matchAll(/^\t(\w+): /gm)].map(([, name]) => name!);
		const [checks, programs] = [keysOf('scripts/test.mts'), keysOf('scripts/programs.mts')];
		const named = (pattern: RegExp) => [...read(page).matchAll(pattern)].map(([, name]) => name!);
		const missing = [
			...named(/npm run ([\w:]+)/g).filter((script) => !scripts[script]),
			...named(/npm run check -- (\w+)/g).filter((name) => !programs.includes(name)),
			...named(/npm test -- ((?:[a-z0-9]+ ?)+)/g)
				.flatMap((names) => names.trim().split(' '))
				.filter((name) => !['all', ...checks].includes(name)),
		];
		expect(missing).toEqual([]);
	});
});
