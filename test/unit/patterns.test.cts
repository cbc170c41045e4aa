/**
 * No regular expression of the package takes more than linear time: values, names and files may
 * have any length. A pattern that restarts at each position of a text takes a hundred times the
 * limit here.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

const ROOT = join(__dirname, '..', '..');

interface Pattern {
	at: string;
	pattern: RegExp;
}

/** The regular expressions in a file. */
function patternsOf(path: string): Pattern[] {
	const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ES2022);
	const found: Pattern[] = [];
	const visit = (node: ts.Node) => {
		if (ts.isRegularExpressionLiteral(node)) {
			const end = node.text.lastIndexOf('/');
			const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
			found.push({
				at: `${relative(ROOT, path)}:${line} ${node.text}`,
				pattern: new RegExp(node.text.slice(1, end), node.text.slice(end + 1)),
			});
		}
		ts.forEachChild(node, visit);
	};
	visit(source);
	return found;
}

const patterns = ['nodes', 'credentials'].flatMap((folder) =>
	readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
		.filter((name) => name.endsWith('.ts'))
		.flatMap((name) => patternsOf(join(ROOT, folder, name))),
);

/** The short text comes first: on the long one, a pattern that takes exponential time never ends. */
const LENGTHS = [24, 10_000];
const MAX_MS = 15;

/** Characters that a pattern looks for, or that its classes stand for. */
function lettersOf({ source }: RegExp): string[] {
	const literal = source.replace(/\\[dwsbpuxDWSBPU]|[\\^$*+?{}[\]|]/g, '');
	const classes = [/\\d/, /\\w|[a-z]-z|\./, /\\s/].flatMap((name, at) => (name.test(source) ? ['0a '[at]!] : []));
	const backslash = source.includes('\\\\') ? ['\\'] : [];
	return [...new Set([...backslash, ...literal, ...classes, '0', ' '])].slice(0, 12);
}

/** The beginning of a pattern, so that the attack gets past it. */
const beginningOf = ({ source }: RegExp) => /^\^?([\w ]*)/.exec(source)![1]!;

function* attacks(pattern: RegExp): Generator<string> {
	const letters = lettersOf(pattern);
	const units = letters.flatMap((one) => [one, ...letters.map((other) => one + other)]);
	const all = LENGTHS.flatMap((length) => [...new Set(units)].map((unit) => ({ unit, times: length / unit.length })));
	for (const { unit, times } of all) {
		const pumped = unit.repeat(times);
		for (const end of ['\0', '1', '\n', ')']) {
			yield pumped + end;
			if (beginningOf(pattern) !== '') yield beginningOf(pattern) + pumped + end;
		}
	}
}

/** How long it takes: the minimum of several attempts, because the machine may be busy. */
function milliseconds(pattern: RegExp, text: string, tries: number): number {
	const start = performance.now();
	text.replace(pattern, '');
	const taken = performance.now() - start;
	return taken < MAX_MS || tries === 1 ? taken : Math.min(taken, milliseconds(pattern, text, tries - 1));
}

test('there are many', () => expect(patterns.length).toBeGreaterThan(60));

test.each(patterns.map(({ at, pattern }) => [at, pattern] as const))('%s', (_, pattern) => {
	const slow = [...attacks(pattern)].find((text) => milliseconds(pattern, text, 5) >= MAX_MS);
	expect(slow?.slice(0, 20)).toBeUndefined();
});

test.each<[string, RegExp]>([
	['two parts that take the same', /^\d*,?\d+$/],
	['an end that is looked for from each place', /0+$/],
	['a bracket that is looked for from each place', / \([^)]*\)$/],
	['an end behind what is repeated', /[\sT,]*(?=[Hh])/],
	['behind a beginning', /^Bearer +(.*)$/],
	['a repeated group of what is repeated', /^(?:\d+)+$/],
	['a quote that is escaped again and again', /"(?:[^"\\]|\\.)*"/],
])('would be noticed: %s', (_, pattern) => {
	const isSlow = (text: string) => milliseconds(pattern, text, 1) >= MAX_MS;
	expect([...attacks(pattern)].some(isSlow)).toBe(true);
});
