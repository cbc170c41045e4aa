/**
 * Checks the editor's entries against n8n's lint rules. `n8n-node lint` only finds entries in
 * object literals of the sources, and ours are made by `parameterKinds/kinds`.
 */
import { Linter, type ESLint } from 'eslint';
import type { INodeProperties } from 'n8n-workflow';
import { nodes } from './builtNodes.cts';

const plugin = require('eslint-plugin-n8n-nodes-base') as ESLint.Plugin & { configs: { nodes: { rules: Linter.RulesRecord } } };

/** Each entry once, however many operations show it. */
const entries = [
	...new Set(
		nodes.flatMap(([, { description }]) => description.properties).map(({ displayOptions, ...entry }) => JSON.stringify(entry, null, '\t')),
	),
];

/** A rule that `n8n-node lint` turns off. */
const OFF = 'type-options-max-value-present';

const RULES = Object.fromEntries(
	Object.keys(plugin.configs.nodes.rules)
		.filter((rule) => rule.startsWith('n8n-nodes-base/node-param-') && !rule.endsWith(OFF))
		.map((rule) => [rule, 'error'] as const),
);

/** The findings of the rules: the rule, and the text. */
function findings(texts: string[]): string[] {
	// The rules look for names without quotes.
	const source = `export const entries = [${texts.join()}];`.replaceAll(/^(\t*)"(\w+)":/gm, '$1$2:');
	const lines = source.split('\n');
	return new Linter({ configType: 'flat' })
		.verify(source, { plugins: { 'n8n-nodes-base': plugin }, rules: RULES }, 'entries.js')
		.map(({ ruleId, line }) => {
			const about = /"([^<"\\]*)/.exec(lines[line - 1]!)?.[1] ?? lines[line - 1]!.trim();
			return `${String(ruleId).replace('n8n-nodes-base/node-param-', '')}: ${about}`;
		});
}

const isResource = (entry: string) => entry.includes('"name": "resource"');

test('keep the rules, with reasons for exceptions', () => {
	expect(entries.length).toBeGreaterThan(50);
	const others = entries.filter((entry) => !isResource(entry));
	expect([...new Set(findings(others))].toSorted()).toEqual([
		// It is a column called id.
		"description-miscased-id: How to find each row's record; its ID stands in the column 'id'",
		// Lists of words that the node itself defines: nobody would use an ID.
		'description-wrong-for-dynamic-multi-options: What to compute. The list depends on the type of the field.',
		// It continues after the sentence that the rule requires.
		'description-wrong-for-dynamic-options: Choose from the list, or specify an ID using an ',
		'description-wrong-for-dynamic-options: How to compare. The list depends on the type of the field.',
		'display-name-wrong-for-dynamic-multi-options: Aggregations',
		'display-name-wrong-for-dynamic-options: Operator',
		'display-name-wrong-for-dynamic-options: Value (From List)',
		// People search for these words. The rule takes no parentheses.
		'operation-option-action-miscased: Create or update records (bulk upsert)',
		'operation-option-action-miscased: Create records (bulk insert)',
		'operation-option-action-miscased: Update records (bulk update)',
		// Encodings: Automatic stands before Arabic.
		'options-type-unsorted-items: options: [',
	]);
	const unsorted = others.filter((entry) => findings([entry]).some((finding) => finding.startsWith('options-type-unsorted')));
	expect(unsorted.map((entry) => (JSON.parse(entry) as INodeProperties).displayName)).toEqual(['Options']);
});

test('resources are in the order of use: n8n describes an operation by the first that has it', () => {
	const [resource, ...others] = entries.filter(isResource);
	expect(others).toEqual([]);
	expect(findings([resource!])).toEqual(['options-type-unsorted-items: options: [']);
});

test('the rules are at work', () => {
	const wrong: INodeProperties = { displayName: 'Simplify', name: 'simple', type: 'boolean', default: true, description: 'If to simplify' };
	expect(findings([JSON.stringify(wrong, null, '\t')])).toEqual(['description-wrong-for-simplify: If to simplify']);
});
