/** Whether nodes after Data Platform still know which item theirs comes from. */
import { NodeConnectionTypes } from 'n8n-workflow';
import { NODE_TYPE, defined, runWorkflow, type WorkflowJson } from '../support/engine/engine.cts';
import { numbered, recordParameters, useHarness } from './fixtures.cts';

const harness = useHarness();

const to = (node: string) => [{ node, type: NodeConnectionTypes.Main, index: 0 }];

/** A node that stores a note, such as `good: 1 inserted`: its name, the number of the original item, and the outcome or error. */
function note(name: string) {
	const text = `={{ "${name}: " + $('Items').item.json.number + " " + ($json.error ?? $json.outcome ?? $json.id ?? "") }}`;
	const parameters = recordParameters('create', { table: 'notes', parameters: { columns: defined({ text }) } });
	return { name, type: NODE_TYPE, parameters };
}

/** Items → Data Platform → good, or → bad by the error output. */
const workflow = (operation: string): WorkflowJson => ({
	nodes: [
		{ name: 'Items', type: 'test.items' },
		{ name: 'Data Platform', type: NODE_TYPE, parameters: recordParameters(operation), onError: 'continueErrorOutput' },
		note('good'),
		note('bad'),
	],
	connections: { Items: { main: [to('Data Platform')] }, 'Data Platform': { main: [to('good'), to('bad')] } },
});

/** Runs the workflow with these items. Returns the notes that it stored. */
async function notesOf(run: WorkflowJson, items: ReturnType<typeof numbered>): Promise<string[]> {
	const result = await runWorkflow(
		run,
		items.map((json) => ({ json })),
		harness.credential,
	);
	expect(result.error).toBeUndefined();
	return (await harness.values('text', 'notes')).map(String);
}

test.each(['create', 'upsert'])("after %s, $('Items').item is the original item on the success and the error output", async (operation) => {
	const items = numbered(5).map((order, index) => (index === 2 ? { ...order, state: 'lost' } : order));
	const good = ['good: 1 inserted', 'good: 2 inserted', 'good: 4 inserted', 'good: 5 inserted'];
	expect((await notesOf(workflow(operation), items)).sort()).toEqual([expect.stringMatching(/^bad: 3 .*'state'/), ...good]);
});

test("two nodes after Data Platform, $('Items').item is still the original item", async () => {
	const { nodes, connections } = workflow('upsert');
	const later = { nodes: [...nodes, note('later')], connections: { ...connections, good: { main: [to('later')] } } };
	const notes = (await notesOf(later, numbered(3))).filter((text) => text.startsWith('later'));
	expect(notes.map((text) => text.split(' ')[1])).toEqual(['1', '2', '3']);
});
