/** The table of docs/development/platform.md has every operation, and every reading but the defaults. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { variants } from '../../sandbox/state/variants.mts';
import { nodes, root } from './builtNodes.cts';

const page = readFileSync(join(root, 'docs/development/platform.md'), 'utf8');

test('the table of what has been tried has every reading', () => {
	const readings = variants.flatMap(({ setting, readings: [, ...others] }) => others.map(({ value }) => `${setting} ${String(value)}`));
	expect([...page.matchAll(/^\d+\. (.+)$/gm)].map(([, name]) => name)).toEqual(readings);
});

test('and every operation', () => {
	const offered = nodes.flatMap(([, { description }]) =>
		description.properties
			.filter(({ name }) => name === 'operation')
			.flatMap(({ displayOptions, options = [] }) =>
				options.map((option) => `${String(displayOptions?.show?.resource?.[0])}: ${'value' in option ? String(option.value) : ''}`),
			),
	);
	const rows = new Set([...page.matchAll(/^\| (\S+: \w+) /gm)].map(([, name]) => name));
	expect(offered.filter((name) => !rows.has(name))).toEqual([]);
	expect(offered.length).toBeGreaterThan(10);
});
