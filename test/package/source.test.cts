/** Rules for the source that n8n's lint does not have: its configuration may not be changed. */
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as ts from 'typescript';

const root = resolve(__dirname, '../..');

/** The lines of conditional expressions inside others. */
function nestedTernaries(text: string): number[] {
	const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest);
	const lines: number[] = [];
	const visit = (node: ts.Node, isInside: boolean) => {
		const isTernary = ts.isConditionalExpression(node);
		if (isTernary && isInside) {
			lines.push(source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1);
		}
		const isTransparent = ts.isParenthesizedExpression(node) && isInside;
		ts.forEachChild(node, (child) => visit(child, isTernary || isTransparent));
	};
	visit(source, false);
	return lines;
}

test('no nested ternaries: if and return say it', () => {
	const files = globSync('{nodes,credentials}/**/*.ts', { cwd: root });
	const found = files.flatMap((file) => nestedTernaries(readFileSync(join(root, file), 'utf8')).map((line) => `${file}:${line}`));
	expect(files.length).toBeGreaterThan(100);
	expect(found).toEqual([]);
	expect(nestedTernaries('a ? b :\n (c ? d : e)')).toEqual([2]);
});
