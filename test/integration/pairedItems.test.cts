/** The error branch and the success branch both know which item theirs comes from. */
import { NodeConnectionTypes } from 'n8n-workflow';
import { NODE_TYPE, defined, runWorkflow, type WorkflowJson } from '../support/engine/engine.cts';
import { numbered, recordParameters, useHarness } from './fixtures.cts';

const harness = useHarness();

const to = (node: string) => [{ node, type: NodeConnectionTypes.Main, index: 0 }];

/** Writes a note about the item that this one comes from. */
function note(name: string) {
	const text = `={{ "${name}: " + $('Items').item.json.number + " " + ($json.error ?? $json.outcome ?? $json.id ?? "") }}`;
	const parameters = recordParameters('create', { table: 'notes', parameters: { columns: defined({ text }) } });
	return { name, type: NODE_TYPE, parameters };
}

const workflow = (operation: string): WorkflowJson => ({
	nodes: [
		{ name: 'Items', type: 'test.items' },
		{ name: 'Data Platform', type: NODE_TYPE, parameters: recordParameters(operation), onError: 'continueErrorOutput' },
		note('good'),
		note('bad'),
	],
	connections: { Items: { main: [to('Data Platform')] }, 'Data Platform': { main: [to('good'), to('bad')] } },
});

test.each(['create', 'upsert'])("after %s, $('Items').item resolves on both branches", async (operation) => {
	const items = numbered(5).map((order, index) => ({ json: index === 2 ? { ...order, state: 'lost' } : order }));
	const result = await runWorkflow(workflow(operation), items, harness.credential);
	expect(result.error).toBeUndefined();
	const notes = (await harness.values('text', 'notes')).map(String).sort();
	const good = ['1', '2', '4', '5'].map((number) => `good: ${number} inserted`);
	expect(notes).toEqual([expect.stringMatching(/^bad: 3 .*'state'/), ...good]);
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
