import { existsSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';
import { startSandbox, type RunningSandbox } from '../../harness/sandboxProcess.mts';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

let sandbox: RunningSandbox;

beforeAll(async () => {
	sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

test('the page has a policy that only allows content from the sandbox', async () => {
	const { http } = sandbox.admin;
	for (const [path, type] of [
		['/', 'text/html'],
		['/page/app.js', 'text/javascript'],
		['/page/views.js', 'text/javascript'],
		['/page/style.css', 'text/css'],
	] as const) {
		const response = await http.get(`${sandbox.baseUrl}${path}`);
		expect(response.headers['content-type']).toContain(type);
		expect(response.headers['content-security-policy']).toContain("default-src 'self'");
	}
});

// Skipped without a browser, except in CI.
const inBrowser = existsSync(executablePath) || process.env.CI ? describe : describe.skip;

inBrowser('in a browser', () => {
	let browser: Browser;
	let page: Page;
	const errors: string[] = [];

	beforeAll(async () => {
		const args = ['--no-sandbox', '--disable-background-networking'];
		browser = await chromium.launch({ executablePath, args });
		page = await browser.newPage();
		// Below Jest's limit, so that a failure names what was missing on the page.
		page.setDefaultTimeout(15_000);
		page.on('pageerror', (error) => errors.push(error.message));
		page.on('console', (message) => {
			if (message.type() === 'error') errors.push(message.text());
		});
	});
	afterAll(() => browser?.close());
	afterEach(() => expect(errors).toEqual([]));

	test('shows records as they change', async () => {
		await page.goto(`${sandbox.baseUrl}/#/records/crm/contacts`);
		await page.getByText('ann.fox@example.com').waitFor();
		const fields = { surname: 'Live', email: '<b>live@example.com</b>' };
		await sandbox.client().post('/contacts/data', { fields });
		await page.getByText('<b>live@example.com</b>').waitFor();
		expect(await page.innerText('nav a[aria-current]')).toMatch(/Contacts\s*41/);
	});

	test('can be used with the keyboard: sections, and the details of a run', async () => {
		const [workflow] = (await sandbox.admin.http.get('/workflows')).data.data;
		await sandbox.client().post(workflow.webhookUrl, { surname: 'Key', email: 'k@example.com' });
		await page.focus('nav a[href="#/runs"]');
		await page.keyboard.press('Enter');
		const payload = page.locator('details', { hasText: 'Payload' }).first();
		await payload.waitFor();
		await page.getByText('succeeded').waitFor();
		await payload.locator('summary').focus();
		await page.keyboard.press('Enter');
		expect(await payload.innerText()).toContain('k@example.com');
		await sandbox.client().get('/ping');
		await page.waitForTimeout(500);
		expect(await payload.innerText()).toContain('k@example.com');
		expect(await page.evaluate('document.activeElement.tagName')).toBe('SUMMARY');
	});

	test('shows a record in full, with its versions', async () => {
		await page.goto(`${sandbox.baseUrl}/#/records/crm/deals`);
		await page.getByRole('row', { name: 'D-001' }).getByRole('link', { name: 'Open' }).click();
		await page.getByRole('heading', { level: 2, name: 'D-001', exact: true }).waitFor();
		expect(await page.getByRole('row', { name: 'Weight (kg)' }).innerText()).toMatch(
			/weight\s+decimal\s+12.5/,
		);
		expect(await page.innerText('nav a[aria-current]')).toMatch(/^Deals/);
		await page.getByText('Sample data').waitFor();
	});

	test('shows the body of a request when it is opened', async () => {
		const fields = { surname: 'Body', email: 'body@example.com' };
		await sandbox.client().post('/contacts/data', { fields });
		await page.goto(`${sandbox.baseUrl}/#/requests`);
		const body = page.locator('details').first();
		await body.locator('summary').click();
		await body.getByText('body@example.com').waitFor();
	});

	test('has the demo tokens and webhook URLs to copy, and no other token', async () => {
		const value = await sandbox.admin.createToken({ name: 'private', type: 'short' });
		await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
		await page.goto(`${sandbox.baseUrl}/#/tokens`);
		await page.getByRole('button', { name: `Copy ${sandbox.tokens.role}` }).click();
		await page.getByText('Copied').waitFor();
		expect(await page.evaluate('navigator.clipboard.readText()')).toBe(sandbox.tokens.role);
		expect(await page.content()).not.toContain(value);
		await page.goto(`${sandbox.baseUrl}/#/workflows`);
		await page.getByRole('button', { name: `Copy ${sandbox.baseUrl}/webhooks/` }).waitFor();
	});

	test('says what to do where there is nothing yet', async () => {
		await page.goto(`${sandbox.baseUrl}/#/records/geo/airports`);
		await page.getByText('Application Geography, Table Airports').first().waitFor();
		await page.getByText('No records yet. In n8n').waitFor();
	});

	test.each([
		['workflows', 'Workflows'],
		['runs', 'Workflow runs'],
		['requests', 'Requests'],
		['files', 'Files'],
		['records/crm/deals', 'Deals'],
		['nowhere', 'Not found'],
	])('%s contains no token values', async (section, name) => {
		await page.goto(`${sandbox.baseUrl}/#/${section}`);
		await page.getByRole('heading', { level: 2, name, exact: true }).waitFor();
		await page.waitForTimeout(400);
		const text = await page.content();
		for (const value of Object.values(sandbox.tokens)) expect(text).not.toContain(value);
	});
});
