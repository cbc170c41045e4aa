/** A parameter's label is written down once: in `labels.ts`, or where the parameter is defined. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { LABELS } from '../../nodes/DataPlatform/labels.ts';
import { nodes, parameters, root } from './builtNodes.cts';

const labels = new Set(
	nodes
		.flatMap(([, { description }]) => [...parameters(description.properties)])
		.filter(({ property }) => property.type !== 'notice')
		.map(({ property }) => property.displayName),
);

/**
 * Properties whose texts declare a label, or name something else: choices, list entries,
 * operations.
 */
const NAMES = new Set(['label', 'displayName', 'choices', 'entry', 'name', 'action']);

/** Whether a text is in such a property, or is the name of a group of options. */
function isName(node: ts.Node): boolean {
	for (let at = node.parent; at && !ts.isStatement(at); at = at.parent) {
		if (ts.isNewExpression(at) && at.expression.getText() === 'OptionGroup') return true;
		if (ts.isPropertyAssignment(at) && NAMES.has(at.name.getText())) return true;
	}
	return false;
}

const isText = (node: ts.Node): node is ts.LiteralLikeNode =>
	ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node);

/** Whether a text contains a label: in quotes or, if it has several words, as words of its own. */
function names(text: string, label: string): boolean {
	if (text.includes(`'${label}'`)) return true;
	const at = label.includes(' ') ? text.indexOf(label) : -1;
	return at >= 0 && !/\w$/.test(text.slice(0, at)) && !/^\w/.test(text.slice(at + label.length));
}

/** The labels that a text repeats. */
const typedAgain = (node: ts.LiteralLikeNode): string[] =>
	isName(node)
		? [...labels].filter((label) => node.text.includes(`'${label}'`))
		: [...labels].filter((label) => node.text === label || names(node.text, label));

/** Where a source repeats a label. */
function occurrences(file: string, source: string): string[] {
	const parsed = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
	const found: string[] = [];
	const visit = (node: ts.Node) => {
		if (isText(node)) {
			const { line } = parsed.getLineAndCharacterOfPosition(node.getStart());
			for (const label of typedAgain(node)) found.push(`${file}:${line + 1} ${label}`);
		}
		ts.forEachChild(node, visit);
	};
	visit(parsed);
	return found;
}

const folder = join(root, 'nodes');
/** Messages that name properties of the platform, not parameters, and the labels themselves. */
const OTHERS = ['fields/types/structured.ts', 'DataPlatform/labels.ts'];

const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
	.filter((file) => file.endsWith('.ts') && !OTHERS.some((other) => file.endsWith(other)))
	.map((file) => join(folder, file));

test.each<[string, string[]]>([
	["throw new InputError('x', { field: 'Batch Size' });", ['a.ts:1 Batch Size']],
	["requireNumber(value, 'Batch Size');", ['a.ts:1 Batch Size']],
	["const hint = `Lower 'Batch Size' or ${more}.`;", ['a.ts:1 Batch Size']],
	["const hint = 'With Batch Size 0 it is automatic';", ['a.ts:1 Batch Size']],
	["const hint = 'A limit';", []],
	["const batchSize = wholeNumber('batchSize', { label: 'Batch Size' });", []],
	["const size = choice('size', { choices: { batch: 'Batch Size' } });", []],
])('%s', (source, found) => {
	expect(occurrences('a.ts', source)).toEqual(found);
});

test('no label is repeated', () => {
	expect(labels.size).toBeGreaterThan(100);
	expect(sources.length).toBeGreaterThan(100);
	const found = sources.flatMap((file) => occurrences(relative(root, file), readFileSync(file, 'utf8')));
	expect(found).toEqual([]);
});

test.each(Object.values(LABELS))("'%s' is a label of the editor", (label) => {
	expect(labels).toContain(label);
});
