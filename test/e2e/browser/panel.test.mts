/** n8n's editor as a user sees it: the example, the node's panel, the credential. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { MAIN_EXAMPLE } from '../../../harness/examples.mts';
import { takePicture } from './chromium.mts';
import { openEditor } from './editor.mts';

const editor = await openEditor();
const byId = (id: string): Locator => editor.byId(id);

/** A test after which n8n shows no error. */
const step = (title: string, run: () => Promise<void>) =>
	test(title, async () => {
		await run();
		assert.deepEqual(await editor.page.locator('.el-notification--error').allInnerTexts(), []);
	});

/** The entries of the open list. */
const entries = (): Locator => byId('rlc-item').filter({ visible: true });

/** Opens the list of a resource locator and waits until it shows these entries, in any order. */
async function openList(parameter: string, ...expected: string[]): Promise<void> {
	await byId(`resource-locator-${parameter}`).getByTestId('rlc-input').click();
	// The chosen entry is there immediately, the others after the service has responded.
	await entries()
		.nth(expected.length - 1)
		.waitFor();
	const shown = (await entries().allInnerTexts()).map((text) => text.trim());
	assert.deepEqual(shown.sort(), expected.sort());
}

async function choose(text: string): Promise<void> {
	await entries().filter({ hasText: text }).click();
}

/** The labels of the mapper's fields, after the first of them has appeared. */
async function mappedFields(first: string): Promise<string[]> {
	const container = byId('ndv').getByTestId('mapping-fields-container');
	await container.getByText(first, { exact: true }).waitFor();
	const labels = await container.getByTestId('input-label').allInnerTexts();
	return labels.map((text) => text.split('\n', 1)[0]?.trim() ?? '').filter((text) => text !== '' && text !== 'Values to Send');
}

step('the example runs, and the panel shows the outcomes of the items', async () => {
	const { n8n, page } = editor;
	await editor.openWorkflow(await n8n.api.createWorkflow(await n8n.readExample(MAIN_EXAMPLE)));
	await byId('execute-workflow-button').click();
	await page.getByText('Workflow executed successfully').waitFor();

	await editor.openPanel('Write airports');
	await byId('output-panel').getByText('3,376 inserted').first().waitFor();
});

step('application and table are picked from lists', async () => {
	await openList('application', 'Customers', 'Geography');
	await choose('Customers');
	await openList('table', 'Companies', 'Contacts', 'Deals', 'Sync runs');
	await choose('Deals');

	await openList('application', 'Customers', 'Geography');
	await choose('Geography');
	await openList('table', 'Airports');
	await choose('Airports');
});

step("the mapper loads the chosen table's fields", async () => {
	await byId('mapping-mode-select').click();
	await editor.page.getByRole('option', { name: 'Manually' }).click();
	const fields = await mappedFields('City');
	assert.equal(fields.length, 7, fields.join());
	assert.match(fields[0] ?? '', /^IATA code/);
	assert.deepEqual(fields.slice(1), ['Name', 'City', 'State', 'Country', 'Latitude', 'Longitude']);
});

step('fields mapped by hand are written', async () => {
	for (const field of ['iata', 'name', 'city']) {
		const input = byId(`parameter-input-${field}`);
		await input.getByRole('textbox').click();
		// The equals sign turns the input into an editor for expressions, which would close
		// brackets by itself if they were typed one by one.
		await editor.page.keyboard.type('=');
		await input.locator('.cm-content').waitFor();
		await editor.page.keyboard.insertText(`{{ $json.${field} }}`);
		await byId('ndv').getByText('Mapping Column Mode').click();
	}
	await byId('mapping-fields-container').getByText('Bay Springs').waitFor();
	await byId('node-execute-button').click();
	await byId('output-panel').getByText('3,376 unchanged').first().waitFor();
});

step('another table brings other fields', async () => {
	await openList('application', 'Customers', 'Geography');
	await choose('Customers');
	await openList('table', 'Companies', 'Contacts', 'Deals', 'Sync runs');
	await choose('Contacts');
	const contacts = await mappedFields('Surname');
	assert.ok(!contacts.includes('City'), contacts.join());
});

step('the credential connects, and its token is not shown', async () => {
	await byId('credential-edit-button').click();
	const dialog = byId('editCredential-modal');
	await dialog.waitFor();
	await dialog.getByText('Base URL').first().waitFor();
	const values = await dialog
		.locator('input')
		.evaluateAll((inputs) => inputs.map((input) => (input instanceof HTMLInputElement ? input.value : '')));
	assert.ok(values.includes(editor.n8n.sandbox.baseUrl), values.join());
	assert.ok(!values.includes(editor.n8n.sandbox.tokens.role));

	await dialog.getByText('Created in the platform: an API token with an assigned role').waitFor();
	// Its result moves what is below it.
	await dialog.getByText('Connection tested successfully').waitFor();
	const limit = dialog.getByTestId('parameter-input-requestsPerMinute');
	assert.equal(await limit.count(), 0, 'what few credentials need is not shown');
	await dialog.getByTestId('parameter-input-moreSettings').locator('.el-switch').click();
	await limit.locator('input').fill('600');
	await dialog.getByTestId('credential-save-button').click();
	await dialog.getByText('Connection tested successfully').waitFor();
	await dialog.getByTestId('credential-save-button').getByText('Save').waitFor();
	await takePicture(editor.page, 'credential');
	await editor.page.keyboard.press('Escape');
	await dialog.waitFor({ state: 'hidden' });
});
