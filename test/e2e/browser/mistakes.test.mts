/** A user's mistakes in n8n's editor: what the panel says, and the demo's agent. */

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { CREDENTIAL_NAME, CREDENTIAL_TYPE, readExample, sandboxCredential } from '../../../harness/examples.mts';
import { createOwner, type N8nApi, signIn, withCredential } from '../../../harness/n8nApi.mts';
import { type RunningN8n, startN8n } from '../../../harness/n8nProcess.mts';
import { setUpTestEnvironment, type TestEnvironment } from '../../../harness/testEnvironment.mts';
import { keepLastView, openBrowser, openPage } from './chromium.mts';
import { Newcomer } from './newcomer.mts';

const NODE = 'Contacts';

let environment: TestEnvironment;
let n8n: RunningN8n;
let n8nApi: N8nApi;
let credential: { id: string; name: string };
let browser: Browser;
let page: Page;
let errors: string[];

before(async () => {
	environment = await setUpTestEnvironment();
	n8n = await startN8n({ userFolder: environment.userFolder });
	const owner = createOwner();
	n8nApi = await signIn(n8n.url, owner);
	const id = await n8nApi.createCredential(sandboxCredential(environment.sandbox));
	credential = { id, name: CREDENTIAL_NAME };
	browser = await openBrowser();
	({ page, errors } = await openPage(browser));
	await page.goto(`${n8n.url}/signin`);
	await page.locator('input[type=email]').fill(owner.email);
	await page.locator('input[type=password]').fill(owner.password);
	await page.keyboard.press('Enter');
	await page.waitForURL(/\/(home|workflow)/);
});

after(async () => {
	await browser?.close();
	await n8n?.stop();
	await environment?.tearDown();
});

afterEach(async () => {
	await keepLastView(page);
	assert.deepEqual(errors.splice(0), [], 'the page had errors');
});

const byId = (value: string) => ({ __rl: true, mode: 'id', value });

interface Mistake {
	/** Makes the items: the code of a Code node. */
	code?: string;
	parameters: object;
	onError?: string;
}

/** Runs the node on the contacts and returns what its output panel says. */
async function outputAfter({ code = 'return [{}];', parameters, onError }: Mistake) {
	const node = (name: string, type: string, own: object) => ({
		...{ id: name, name, type, typeVersion: 1, parameters: own },
		position: [name.length * 40, 0],
	});
	const to = (name: string) => ({ main: [[{ node: name, type: 'main', index: 0 }]] });
	const columns = { mappingMode: 'autoMapInputData', value: null, matchingColumns: [], schema: [] };
	const all = {
		resource: 'record',
		application: byId('crm'),
		table: byId('contacts'),
		columns,
		options: {},
		...parameters,
	};
	const workflowId = await n8nApi.createWorkflow({
		name: 'Mistake',
		nodes: [
			node('Go', 'n8n-nodes-base.manualTrigger', {}),
			{ ...node('Items', 'n8n-nodes-base.code', { jsCode: code }), typeVersion: 2 },
			{
				...node(NODE, 'n8n-nodes-data-platform.dataPlatform', all),
				credentials: { [CREDENTIAL_TYPE]: credential },
				onError,
			},
		],
		connections: { Go: to('Items'), Items: to(NODE) },
	} as unknown as Parameters<N8nApi['createWorkflow']>[0]);
	await page.goto(`${n8n.url}/workflow/${workflowId}`);
	const onCanvas = page.locator(`[data-test-id="canvas-node"][data-node-name="${NODE}"]`);
	await page.getByTestId('execute-workflow-button').click();
	await page
		.getByText(/Workflow executed successfully|Problem in node/)
		.first()
		.waitFor();
	await onCanvas.dblclick();
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
	const panel = await outputAfter({
		parameters: { operation: 'getAll', table: byId('contact') },
	});
	await panel.getByText("has no table 'contact', did you mean 'contacts'?").first().waitFor();
});

test('500 problems of 5,000 items are said by their two causes, with their values as they are', async () => {
	const asked: string[] = [];
	page.on('request', (request) => asked.push(request.url()));
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
	const { services } = environment;
	const example = await readExample('agent-with-contacts.json', services.addresses);
	const workflow = withCredential(example, CREDENTIAL_TYPE, credential);
	const id = await n8nApi.createCredential(services.modelCredential);
	for (const node of workflow.nodes) {
		if (!node.type.endsWith('.lmChatOpenAi')) continue;
		node.credentials = { openAiApi: { id, name: services.modelCredential.name } };
	}
	const workflowId = await n8nApi.createWorkflow(workflow);
	const newcomer = new Newcomer(page, (url) => url);
	await newcomer.openWorkflow(`${n8n.url}/workflow/${workflowId}`);
	await newcomer.follow({ kind: 'press', text: 'Open chat' });
	for (const text of ['Put Bob Fox on the newsletter.', 'Put Zoe Nobody on the newsletter', 'Delete all contacts']) {
		await newcomer.follow({ kind: 'write', text });
	}
	const replies = await page.locator('.chat-message-from-bot').allInnerTexts();
	assert.match(replies.at(-3) ?? '', /Bob Fox now gets the newsletter/);
	assert.match(replies.at(-2) ?? '', /nobody named Nobody/);
	assert.match(replies.at(-1) ?? '', /can't do that/);
});
