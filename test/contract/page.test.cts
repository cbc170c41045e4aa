import { existsSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';
import sharp from 'sharp';
import { usePlatform } from './contract.cts';

const platform = usePlatform();
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

test('the page has a policy that only allows content from the sandbox', async () => {
	const { http } = platform.admin;
	for (const [path, type] of [
		['/', 'text/html'],
		['/page/app.js', 'text/javascript'],
		['/page/faults.js', 'text/javascript'],
		['/page/lists.js', 'text/javascript'],
		['/page/platform.js', 'text/javascript'],
		['/page/views.js', 'text/javascript'],
		['/page/style.css', 'text/css'],
	] as const) {
		const response = await http.get(`${platform.sandbox.baseUrl}${path}`);
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
		// Below Jest's limit, so that a failure names what is missing on the page.
		page.setDefaultTimeout(120_000);
		page.on('pageerror', (error) => errors.push(error.message));
		page.on('console', (message) => {
			if (message.type() === 'error') errors.push(message.text());
		});
	});
	afterAll(() => browser?.close());
	afterEach(() => expect(errors).toEqual([]));

	const open = async (section: string) => await page.goto(`${platform.sandbox.baseUrl}/#/${section}`);
	// The page changes sections after its address: what is typed before would be lost.
	const openToType = async (section: string) => {
		await open(section);
		await page.locator(`nav a[aria-current][href="#/${section}"]`).waitFor();
	};

	test('shows records as they change', async () => {
		await open('records/crm/contacts');
		await page.getByText('ann.fox@example.com').waitFor();
		const fields = { surname: 'Live', email: '<b>live@example.com</b>' };
		await platform.client.post('/contacts/data', { fields });
		await page.getByText('<b>live@example.com</b>').waitFor();
		expect(await page.innerText('nav a[aria-current]')).toMatch(/Contacts\s*41/);
	});

	test.each(['nested', 'flat'] as const)('shows a field of a linked record, with links %s', async (links) => {
		await platform.admin.settings({ links });
		await open('records/crm/contacts');
		await page.locator('td', { hasText: 'Acorn Sample Ltd' }).first().waitFor();
	});

	test('can be used with the keyboard: sections, and the details of a run', async () => {
		const [workflow] = (await platform.admin.http.get('/workflows')).data.data;
		await platform.client.post(workflow.webhookUrl, { surname: 'Key', email: 'k@example.com' });
		await open('records/crm/contacts');
		await page.focus('nav a[href="#/runs"]');
		await page.keyboard.press('Enter');
		const payload = page.locator('details', { hasText: 'Payload' }).first();
		await payload.waitFor();
		await page.getByText('succeeded').waitFor();
		await payload.locator('summary').focus();
		await page.keyboard.press('Enter');
		expect(await payload.innerText()).toContain('k@example.com');
		await platform.client.get('/ping');
		await page.waitForTimeout(500);
		expect(await payload.innerText()).toContain('k@example.com');
		expect(await page.evaluate('document.activeElement.tagName')).toBe('SUMMARY');
	});

	test('shows a record in full, with its versions', async () => {
		await open('records/crm/deals');
		await page.getByRole('row', { name: 'D-001' }).getByRole('link', { name: 'Open' }).click();
		await page.getByRole('heading', { level: 2, name: 'D-001', exact: true }).waitFor();
		expect(await page.getByRole('row', { name: 'Weight (kg)' }).innerText()).toMatch(/weight\s+decimal\s+12.5/);
		expect(await page.innerText('nav a[aria-current]')).toMatch(/^Deals/);
		await page.getByRole('cell', { name: 'Sample data' }).waitFor();
	});

	test('shows the body of a request and its response when they are opened', async () => {
		const fields = { surname: 'Body', email: 'body@example.com' };
		await platform.client.post('/contacts/data', { fields });
		await open('requests');
		const body = page.locator('tbody details').first();
		await body.locator('summary').click();
		await body.getByText('body@example.com').waitFor();
		await body.getByText('Response:').waitFor();
		await body.getByText('"created"').waitFor();
	});

	test('says why a record of a bulk request was not written, in red', async () => {
		const bulk = [{ fields: { surname: 'Good' } }, { fields: { surname: 'Bad', age: 'old' } }];
		await platform.client.post('/contacts/data/bulk', { bulk });
		await open('requests');
		const row = page.getByRole('row').nth(1);
		await row.getByText(/Record 1: .*age/).waitFor();
		expect(await row.locator('td').nth(1).locator('.bad').innerText()).toBe('200');
	});

	test('has the demo tokens and webhook URLs to copy, and no other token', async () => {
		const value = await platform.admin.createToken({ name: 'private', type: 'short' });
		await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
		await open('tokens');
		await page.getByRole('button', { name: `Copy ${platform.tokens.role}` }).click();
		await page.getByText('Copied').waitFor();
		expect(await page.evaluate('navigator.clipboard.readText()')).toBe(platform.tokens.role);
		expect(await page.content()).not.toContain(value);
		await open('workflows');
		await page.getByRole('button', { name: `Copy ${platform.sandbox.baseUrl}/webhooks/` }).waitFor();
	});

	test('says what to do if there is nothing yet', async () => {
		await open('records/geo/airports');
		await page.getByText('Application Geography, Table Airports').first().waitFor();
		await page.getByText('No records yet. In n8n').waitFor();
	});

	test('skips to the content, which stays as it is', async () => {
		await open('tokens');
		await page.getByRole('heading', { level: 2, name: 'Tokens' }).waitFor();
		await page.focus('.skip');
		await page.keyboard.press('Enter');
		expect(await page.evaluate('document.activeElement.id')).toBe('content');
		await platform.client.get('/ping');
		await page.waitForTimeout(500);
		expect(await page.innerText('h2')).toBe('Tokens');
		expect(page.url()).toMatch(/#\/tokens$/);
	});

	/** The texts of a column, from top to bottom. */
	const column = async (header: string) => {
		const headers = await page.getByRole('columnheader').allInnerTexts();
		const place = headers.map((text) => text.replace(/ [▲▼]$/, '')).indexOf(header) + 1;
		return await page.locator(`tbody td:nth-child(${place})`).allInnerTexts();
	};

	test('finds records in the whole table, and sorts them', async () => {
		const names = Array.from({ length: 300 }, (_, index) => `Number ${index}`);
		await platform.admin.createTable({
			app: 'crm',
			table: {
				internalName: 'many',
				header: 'Many',
				fields: [
					{ name: 'name', header: 'Name', type: 'text' },
					{ name: 'rank', header: 'Rank', type: 'number' },
				],
			},
			records: names.map((name, index) => ({ fields: { name, rank: 300 - index } })),
		});
		await openToType('records/crm/many');
		await page.getByText('1 to 100 of 300').waitFor();
		for (const shown of ['101 to 200 of 300', '201 to 300 of 300']) {
			await page.getByRole('button', { name: 'Next' }).click();
			await page.getByText(shown).waitFor();
		}
		expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
		expect((await column('Name')).sort()[0]).toBe('Number 0');
		const search = page.getByRole('searchbox', { name: 'Search' });
		await search.fill('NUMBER 1');
		await page.getByText('111 records.').waitFor();
		await page.getByText('1 to 100 of 111').waitFor();
		await page.getByRole('button', { name: 'Rank' }).click();
		await page.locator('th[aria-sort="ascending"]', { hasText: 'Rank' }).waitFor();
		expect((await column('Rank')).slice(0, 2)).toEqual(['101', '102']);
		await page.getByRole('button', { name: 'Rank' }).click();
		await page.locator('th[aria-sort="descending"]', { hasText: 'Rank' }).waitFor();
		expect((await column('Name')).slice(0, 2)).toEqual(['Number 1', 'Number 10']);
		// Text and choices survive a refresh, but not a change of section.
		await platform.client.get('/ping');
		await page.waitForTimeout(500);
		expect(await search.inputValue()).toBe('NUMBER 1');
		expect((await column('Name')).length).toBe(100);
		await search.fill('nobody');
		await page.getByText('No record contains this text.').waitFor();
		await page.getByRole('link', { name: 'Deals' }).click();
		await page.getByRole('cell', { name: 'D-001', exact: true }).waitFor();
		expect(await search.inputValue()).toBe('');
	});

	test('finds and sorts requests', async () => {
		await platform.client.get('/apps/nothing');
		await platform.client.get('/ping');
		await openToType('requests');
		await page.getByRole('searchbox', { name: 'Search' }).fill('apps/nothing');
		await page.getByRole('row').nth(2).waitFor({ state: 'detached' });
		expect(await column('Status')).toEqual(['404']);
		await page.getByRole('searchbox', { name: 'Search' }).fill('');
		await page.getByRole('button', { name: 'No.' }).click();
		await page.locator('th[aria-sort="ascending"]').waitFor();
		const numbers = (await column('No.')).map(Number);
		expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
	});

	test.each([
		['Too many requests (429)', 429],
		['Lost response to a write', null],
		['Slow response (5 s)', 201],
	])('makes the next request fail: %s', async (name, status) => {
		await open('requests');
		await page.getByRole('button', { name }).click();
		await page.getByText(`${name}: waits for a request.`).waitFor();
		const write = async () =>
			await platform.client
				.post('/contacts/data', { fields: { surname: name, email: `${name}@example.com` } })
				.then((response) => response.status as number | null)
				.catch(() => null);
		const [first] = await Promise.all([write(), page.getByText(`${name}: has happened to request `).waitFor()]);
		expect(first).toBe(status);
		await page
			.getByRole('cell', { name: `Fault: ${name}` })
			.first()
			.waitFor();
		// Only one request gets the fault; a write whose response was lost is stored.
		expect(await write()).toBe(201);
		const stored = (await platform.admin.records('crm', 'contacts')).filter(({ fields }) => fields.surname === name);
		expect(stored).toHaveLength(status === 429 ? 1 : 2);
		await page.getByRole('button', { name: 'Remove' }).click();
		await page.getByRole('button', { name: 'Remove' }).waitFor({ state: 'detached' });
		expect((await platform.admin.http.get('/faults')).data.data).toEqual([]);
	});

	test('has a button for each other fault, too', async () => {
		await open('requests');
		await page.getByText('Other faults').click();
		const labels = await page.locator('.faults details button').allInnerTexts();
		expect(labels).toContain('No response');
		const bulk = [{ fields: { surname: 'Any' } }];
		// A request that gets no response would keep the process from ending.
		const end = new AbortController();
		const config = { maxRedirects: 0, signal: end.signal };
		for (const label of labels) {
			await page.getByRole('button', { name: label, exact: true }).click();
			await page.getByText(`${label}: waits for a request.`).waitFor();
			void platform.client.post('/contacts/data/bulk', { bulk }, config).catch(() => null);
			await page.getByText(`${label}: has happened to request `).waitFor();
		}
		end.abort();
		await platform.admin.faults([]);
	});

	test('fits on a phone, and shows that a table goes on', async () => {
		await page.setViewportSize({ width: 390, height: 844 });
		await open('records/crm/deals');
		await page.getByRole('cell', { name: 'D-012', exact: true }).waitFor();
		expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
		expect((await page.locator('main').boundingBox())!.y).toBeLessThan(250);
		// In one go: the page may render anew in between.
		const boxes = "['.scroll', 'tbody tr'].map((part) => document.querySelector(part).getBoundingClientRect().toJSON())";
		const [box, firstRow] = (await page.evaluate(boxes)) as [DOMRect, DOMRect];
		const brightness = async () => {
			const clip = { x: box.x + box.width - 6, y: firstRow.y + 2, width: 4, height: 2 };
			return (await sharp(await page.screenshot({ clip })).stats()).channels[0]!.mean;
		};
		expect(await brightness()).toBeLessThan(230);
		await page.evaluate("document.querySelector('.scroll').scrollTo(10_000, 0)");
		expect(await brightness()).toBeGreaterThan(250);
		await page.setViewportSize({ width: 1280, height: 720 });
	});

	test.each(['records/crm/deals', 'files', 'tokens', 'workflows', 'runs', 'requests'])(
		'every column of %s has a header',
		async (section) => {
			const [workflow] = (await platform.admin.http.get('/workflows')).data.data;
			await platform.client.post(workflow.webhookUrl, {});
			const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';
			const filedata = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
			const photo = [{ filename: 'a.svg', mimetype: 'image/svg+xml', filedata }];
			await platform.client.post('/contacts/data', { fields: { surname: 'Photo', photo } });
			await open(section);
			await page.getByRole('columnheader').first().waitFor();
			await page.waitForTimeout(400);
			expect(await page.locator('th:empty').count()).toBe(0);
		},
	);

	test('shows tokens and requests at once, and finds a table, among 2,000', async () => {
		const create = async (number: number) => {
			const header = `Table ${number}`;
			const table = { internalName: `t${number}`, header, fields: [{ name: 'n', type: 'text' }] };
			await platform.admin.createTable({ app: 'big', table });
		};
		// Otherwise the page shows each change at once.
		await page.goto('about:blank');
		await Promise.all(Array.from({ length: 2000 }, (_, number) => create(number)));
		await open('tokens');
		await page.getByRole('link', { name: 'Table 1999' }).waitFor();
		for (const section of ['requests', 'tokens']) {
			const link = `document.querySelector('nav a[href="#/${section}"]')`;
			expect(await page.evaluate(`${link}.getBoundingClientRect().bottom`)).toBeLessThan(400);
		}
		await page.getByRole('searchbox', { name: 'Find a table' }).fill('table 1234');
		await page.getByRole('link', { name: 'Table 1999' }).waitFor({ state: 'detached' });
		await page.getByRole('link', { name: 'Table 1234' }).click();
		await page.getByRole('heading', { level: 2, name: 'Table 1234' }).waitFor();
	});

	test('shows which reading of each variant is played, and plays another', async () => {
		await open('platform');
		const dates = page.getByLabel('Dates', { exact: true });
		expect(await dates.inputValue()).toBe('0');
		await dates.selectOption({ index: 1 });
		await page.locator('#variant-dates.changed').waitFor();
		expect((await platform.admin.http.get('/settings')).data.data).toMatchObject({ dates: 'older' });
		await platform.admin.settings({ dailyQuota: 7 });
		await page.getByText('Another value: 7').waitFor({ state: 'attached' });
		await platform.admin.settings({ dates: 'current', dailyQuota: null });
	});

	test('restores the sample data when asked twice', async () => {
		await open('records/crm/contacts');
		await page.getByText('40 records.').waitFor({ state: 'detached' });
		page.once('dialog', (dialog) => void dialog.dismiss());
		await page.getByRole('button', { name: 'Reset' }).click();
		await page.waitForTimeout(500);
		expect((await platform.admin.records('crm', 'contacts')).length).toBeGreaterThan(40);
		page.once('dialog', (dialog) => void dialog.accept());
		await page.getByRole('button', { name: 'Reset' }).click();
		await page.getByText('40 records.').waitFor();
	});

	test.each([
		['workflows', 'Workflows'],
		['runs', 'Workflow runs'],
		['requests', 'Requests and faults'],
		['files', 'Files'],
		['records/crm/deals', 'Deals'],
		['nowhere', 'Not found'],
	])('%s contains no token values', async (section, name) => {
		await open(section);
		await page.getByRole('heading', { level: 2, name, exact: true }).waitFor();
		await page.waitForTimeout(400);
		const text = await page.content();
		for (const value of Object.values(platform.tokens)) expect(text).not.toContain(value);
	});
});
