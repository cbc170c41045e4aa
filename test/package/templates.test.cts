/** What n8n's template library asks of a submission. */
import { templateNames, templateOf } from '../../scripts/templates.mts';

const wordsOf = (text: string) => text.split(/\s+/).filter(Boolean).length;

test('three examples are prepared', () => {
	expect(templateNames()).toHaveLength(3);
});

test.each(templateNames())('%s is as the library asks', (name) => {
	const { workflow, description, overview, sections } = templateOf(name);
	const notes = workflow.nodes.filter(({ type }) => type.endsWith('.stickyNote'));
	const nodes = workflow.nodes.filter((node) => !notes.includes(node));
	// A title that begins with what it does.
	expect(workflow.name).toMatch(/^(Ask|Import|Sync) .* (from|in|into|to) /);
	expect(notes.filter(({ parameters }) => parameters.color === undefined)).toHaveLength(1);
	expect(wordsOf(overview)).toBeGreaterThanOrEqual(100);
	expect(wordsOf(overview)).toBeLessThanOrEqual(300);
	// Each node is in one section.
	expect(sections.flatMap((section) => section.nodes).toSorted()).toEqual(nodes.map((node) => node.name).toSorted());
	for (const { text } of sections) expect(wordsOf(text)).toBeLessThan(50);
	for (const heading of ["Who's it for", 'How it works', 'How to set up', 'Requirements', 'How to customize']) {
		expect(description).toContain(`\n## ${heading}\n`);
	}
	expect(wordsOf(description)).toBeLessThan(300);
	expect(description).toContain('Self-hosted n8n only');
	expect(JSON.stringify(workflow)).not.toMatch(/"credentials"|data-platform-demo/);
	// Steps name nodes that are there.
	const names = new Set(nodes.map((node) => node.name));
	const steps = overview.split('### Setup')[1]!;
	const named = [...steps.matchAll(/_([^_]+)_/g)].map(([, text]) => text!);
	expect(
		named.filter((text) => !names.has(text) && !['Data Platform API', 'Two-Way Sync', 'Delete them', 'Keep them'].includes(text)),
	).toEqual([]);
});
