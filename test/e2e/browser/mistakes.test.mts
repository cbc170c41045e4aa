/** A user's mistakes in n8n's editor: what the panel says, and the demo's agent. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NODE, openEditor } from './editor.mts';
import { Newcomer } from './newcomer.mts';

const editor = await openEditor();

const byId = (value: string) => ({ __rl: true, mode: 'id', value });

interface Mistake {
	/** Makes the items: the code of a Code node. */
	code?: string;
	parameters: object;
	onError?: string;
}

/** Runs the node on the contacts and returns what its output panel says. */
async function outputAfter({ code = 'return [{}];', parameters, onError }: Mistake) {
	const { page } = editor;
	const columns = { mappingMode: 'autoMapInputData', value: null, matchingColumns: [], schema: [] };
	const contacts = { resource: 'record', application: byId('crm'), table: byId('contacts'), columns, options: {} };
	await editor.openNode({ ...contacts, ...parameters }, { code, onError });
	await page.getByTestId('execute-workflow-button').click();
	await page
		.getByText(/Workflow executed successfully|Problem in node/)
		.first()
		.waitFor();
	await editor.openPanel(NODE);
	const panel = page.getByTestId('output-panel');
	await panel.getByText(/item/).first().waitFor();
	return panel;
}

test('a column that no field is called like gets no suggestion, but the list of fields', async () => {
	const panel = await outputAfter({
		code: "return [{ json: { firstname: 'Ann', lastname: 'Fox', email: 'a@example.com' } }];",
		parameters: { operation: 'create' },
	});
	await panel.getByText("table 'Contacts' has no field 'lastname'").first().waitFor();
	await panel.getByText("The table's fields are: 'firstname', 'surname'").first().waitFor();
	assert.equal(await panel.getByText('did you mean').count(), 0);
});

test('a table that is nearly called like that is named', async () => {
	const panel = await outputAfter({ parameters: { operation: 'getAll', table: byId('contact') } });
	await panel.getByText("has no table 'contact', did you mean 'contacts'?").first().waitFor();
});

test('500 problems of 5,000 items are said by their two causes, with their values as they are', async () => {
	const asked: string[] = [];
	editor.page.on('request', (request) => asked.push(request.url()));
	const panel = await outputAfter({
		code: `return Array.from({ length: 5000 }, (_, at) => ({ json: {
			surname: at % 20 === 13 ? 'x'.repeat(60) : 'S',
			email: 'e' + at + '@example.com',
			age: at % 20 === 3 ? '<img src=/evil.png>' : 7,
		} }));`,
		parameters: { operation: 'upsert' },
		onError: 'continueRegularOutput',
	});
	const hint = panel.getByText('4500 inserted, 500 failed').first();
	await hint.waitFor();
	const text = await hint.innerText();
	assert.match(
		text,
		/250 × 'age' accepts a number, not "<img src=\/evil\.png>" \(items 3, 23, 43, …\); 250 × 'surname' .* \(items 13, 33, 53, …\)/,
	);
	assert.deepEqual(
		asked.filter((url) => url.includes('evil')),
		[],
	);
});

test("the demo's agent answers every message in a sentence", async () => {
	const { n8n, page } = editor;
	const { modelCredential } = n8n.services;
	const workflow = await n8n.readExample('agent-with-contacts.json');
	const id = await n8n.api.createCredential(modelCredential);
	for (const node of workflow.nodes) {
		if (!node.type.endsWith('.lmChatOpenAi')) continue;
		node.credentials = { openAiApi: { id, name: modelCredential.name } };
	}
	await editor.openWorkflow(await n8n.api.createWorkflow(workflow));
	const newcomer = new Newcomer(page, (url) => url);
	await newcomer.follow({ kind: 'press', text: 'Open chat' });
	for (const text of ['Put Bob Fox on the newsletter.', 'Put Zoe Nobody on the newsletter', 'Delete all contacts']) {
		await newcomer.follow({ kind: 'write', text });
	}
	const replies = await page.locator('.chat-message-from-bot').allInnerTexts();
	assert.match(replies.at(-3) ?? '', /Bob Fox now gets the newsletter/);
	assert.match(replies.at(-2) ?? '', /nobody named Nobody/);
	assert.match(replies.at(-1) ?? '', /can't do that/);
});
