import { NodeConnectionTypes } from 'n8n-workflow';
import { NODE_TYPE, defined, runWorkflow, type WorkflowJson } from '../support/engine/engine.cts';
import { numbered, recordParameters, useHarness } from './fixtures.cts';

/** The error branch and the success branch both know which item theirs comes from. */
const harness = useHarness();

const to = (node: string) => [{ node, type: NodeConnectionTypes.Main, index: 0 }];

/** Writes a note about the item that this one comes from. */
const note = (name: string) => ({
	name,
	type: NODE_TYPE,
	parameters: recordParameters('create', {
		table: 'notes',
		parameters: {
			columns: defined({
				text: `={{ "${name}: " + $('Items').item.json.number + " " + ($json.error ?? $json.outcome ?? $json.id ?? "") }}`,
			}),
		},
	}) as never,
});

const workflow = (operation: string, options = {}): WorkflowJson => ({
	nodes: [
		{ name: 'Items', type: 'test.items' },
		{
			name: 'Data Platform',
			type: NODE_TYPE,
			parameters: recordParameters(operation, { options }) as never,
			onError: 'continueErrorOutput',
		},
		note('good'),
		note('bad'),
	],
	connections: { Items: { main: [to('Data Platform')] }, 'Data Platform': { main: [to('good'), to('bad')] } },
});

describe.each(['create', 'upsert'])('after %s', (operation) => {
	test("$('Items').item resolves on both branches", async () => {
		const items = numbered(5).map((order, index) => ({ json: index === 2 ? { ...order, state: 'lost' } : order }));
		const result = await runWorkflow(workflow(operation), items, harness.credential);
		expect(result.error).toBeUndefined();
		const notes = (await harness.values('text', 'notes')).map(String);
		expect(notes).toHaveLength(5);
		const good = notes.filter((text) => text.startsWith('good: '));
		expect(good.map((text) => text.split(' ')[1])).toEqual(['1', '2', '4', '5']);
		const bad = notes.filter((text) => text.startsWith('bad: '));
		expect(bad).toEqual([expect.stringMatching(/^bad: 3 .*'state'/)]);
	});
});

test('two nodes further on the items are still known', async () => {
	const { nodes, connections } = workflow('upsert');
	nodes.push(note('later'));
	connections.good = { main: [to('later')] };
	const items = numbered(3).map((json) => ({ json }));
	const result = await runWorkflow({ nodes, connections }, items, harness.credential);
	expect(result.error).toBeUndefined();
	const later = (await harness.values('text', 'notes')).map(String).filter((t) => t.startsWith('later'));
	expect(later.map((text) => text.split(' ')[1])).toEqual(['1', '2', '3']);
});
