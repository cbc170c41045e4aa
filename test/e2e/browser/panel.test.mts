/** n8n's editor as a user sees it: the example, the node's panel, the credential. */

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { type TestEnvironment, setUpTestEnvironment } from '../../../harness/testEnvironment.mts';
import { CREDENTIAL_NAME, CREDENTIAL_TYPE, MAIN_EXAMPLE, readExample, sandboxCredential } from '../../../harness/examples.mts';
import { type RunningN8n, startN8n } from '../../../harness/n8nProcess.mts';
import { createOwner, signIn, withCredential } from '../../../harness/n8nApi.mts';
import { keepLastView, openBrowser, openPage, takePicture } from './chromium.mts';

const NODE = 'Write airports';

let environment: TestEnvironment;
let n8n: RunningN8n;
let browser: Browser;
let page: Page;
let errors: string[];
let workflowId: string;

const owner = createOwner();

before(async () => {
	environment = await setUpTestEnvironment();
	n8n = await startN8n({ userFolder: environment.userFolder });
	const n8nApi = await signIn(n8n.url, owner);
	const id = await n8nApi.createCredential(sandboxCredential(environment.sandbox));
	const workflow = await readExample(MAIN_EXAMPLE, environment.services.addresses);
	workflowId = await n8nApi.createWorkflow(withCredential(workflow, CREDENTIAL_TYPE, { id, name: CREDENTIAL_NAME }));
	browser = await openBrowser();
	({ page, errors } = await openPage(browser));
});

after(async () => {
	await browser?.close();
	await n8n?.stop();
	await environment?.tearDown();
});

afterEach(async () => {
	await keepLastView(page);
	assert.deepEqual(errors.splice(0), [], 'the page had errors');
	assert.deepEqual(await page.locator('.el-notification--error').allInnerTexts(), []);
});

const byId = (id: string): Locator => page.getByTestId(id);

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

const nodeOnCanvas = (): Locator => page.locator(`[data-test-id="canvas-node"][data-node-name="${NODE}"]`);

async function openPanel(): Promise<void> {
	await nodeOnCanvas().dblclick();
	await byId('ndv').waitFor();
}

/** The labels of the mapper's fields, after the first of them has appeared. */
async function mappedFields(first: string): Promise<string[]> {
	const container = byId('ndv').getByTestId('mapping-fields-container');
	await container.getByText(first, { exact: true }).waitFor();
	const labels = await container.getByTestId('input-label').allInnerTexts();
	return labels.map((text) => text.split('\n', 1)[0]?.trim() ?? '').filter((text) => text !== '' && text !== 'Values to Send');
}

test('the owner signs in and opens the example', async () => {
	await page.goto(`${n8n.url}/signin`);
	await page.locator('input[type=email]').fill(owner.email);
	await page.locator('input[type=password]').fill(owner.password);
	await page.keyboard.press('Enter');
	await page.waitForURL(/\/(home|workflow)/);

	await page.goto(`${n8n.url}/workflow/${workflowId}`);
	await nodeOnCanvas().waitFor();
	assert.equal(await byId('canvas-node').count(), 4);
});

test('the example runs, and the panel shows the outcomes of the items', async () => {
	await byId('execute-workflow-button').click();
	await page.getByText('Workflow executed successfully').waitFor();

	await openPanel();
	await byId('output-panel').getByText('3376 inserted').first().waitFor();
});

test('application and table are picked from lists', async () => {
	await openList('application', 'Customers', 'Geography');
	await choose('Customers');
	await openList('table', 'Companies', 'Contacts', 'Deals', 'Sync runs');
	await choose('Deals');

	await openList('application', 'Customers', 'Geography');
	await choose('Geography');
	await openList('table', 'Airports');
	await choose('Airports');
});

test("the mapper loads the chosen table's fields", async () => {
	await byId('mapping-mode-select').click();
	await page.getByRole('option', { name: 'Manually' }).click();
	const fields = await mappedFields('City');
	assert.equal(fields.length, 7, fields.join());
	assert.match(fields[0] ?? '', /^IATA code/);
	assert.deepEqual(fields.slice(1), ['Name', 'City', 'State', 'Country', 'Latitude', 'Longitude']);
});

test('fields mapped by hand are written', async () => {
	for (const field of ['iata', 'name', 'city']) {
		const input = byId(`parameter-input-${field}`);
		await input.getByRole('textbox').click();
		// The equals sign turns the input into an editor for expressions, which would close
		// brackets by itself if they were typed one by one.
		await page.keyboard.type('=');
		await input.locator('.cm-content').waitFor();
		await page.keyboard.insertText(`{{ $json.${field} }}`);
		await byId('ndv').getByText('Mapping Column Mode').click();
	}
	await byId('mapping-fields-container').getByText('Bay Springs').waitFor();
	await byId('node-execute-button').click();
	await byId('output-panel').getByText('3376 unchanged').first().waitFor();
});

test('another table brings other fields', async () => {
	await openList('application', 'Customers', 'Geography');
	await choose('Customers');
	await openList('table', 'Companies', 'Contacts', 'Deals', 'Sync runs');
	await choose('Contacts');
	const contacts = await mappedFields('Surname');
	assert.ok(!contacts.includes('City'), contacts.join());
});

test('the credential connects, and its token is not shown', async () => {
	await byId('credential-edit-button').click();
	const dialog = byId('editCredential-modal');
	await dialog.waitFor();
	await dialog.getByText('Base URL').first().waitFor();
	const values = await dialog
		.locator('input')
		.evaluateAll((inputs) => inputs.map((input) => (input instanceof HTMLInputElement ? input.value : '')));
	assert.ok(values.includes(environment.sandbox.baseUrl), values.join());
	assert.ok(!values.includes(environment.sandbox.tokens.role));

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
	await takePicture(page, 'credential');
});
