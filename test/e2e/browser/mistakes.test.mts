/** A user's mistakes in n8n's editor: what the panel says. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AUTOMATIC, inTable } from '../../support/linearWorkflow.mts';
import { NODE, openEditor } from './editor.mts';

const editor = await openEditor();

interface Mistake {
	/** Makes the items: the code of a Code node. */
	code?: string;
	parameters: object;
	onError?: string;
}

/** Runs the node on the contacts and returns what its output panel says. */
async function outputAfter({ code = 'return [{}];', parameters, onError }: Mistake) {
	const { page } = editor;
	const contacts = { resource: 'record', ...inTable('crm', 'contacts'), columns: AUTOMATIC, options: {} };
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
	const hint = panel.getByText('4,500 inserted, 500 failed').first();
	await hint.waitFor();
	const text = await hint.innerText();
	assert.match(
		text,
		/250 × 'age' accepts a number, not "<img src=\/evil\.png>" \(items 3 \(e3@example\.com\), 23 .*, …\); 250 × 'surname' .* \(items 13 \(e13@example\.com\), 33 .*, …\)/,
	);
	assert.deepEqual(
		asked.filter((url) => url.includes('evil')),
		[],
	);
});
