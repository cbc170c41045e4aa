/** The editor of the shared n8n in a browser, with its owner signed in. */

import assert from 'node:assert/strict';
import { after, afterEach } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import type { JsonObject } from '../../../harness/n8nApi.mts';
import { baseNode, linearWorkflow, NODE_TYPE } from '../../support/linearWorkflow.mts';
import { type SharedN8n, useN8n } from '../sharedN8n.mts';
import { goToWorkflow, keepLastView, openBrowser, openPage } from './chromium.mts';

/** The name of our node in the workflows that `openNode` makes. */
export const NODE = 'Contacts';

export class Editor {
	readonly n8n: SharedN8n;
	readonly page: Page;
	#opened = 0;

	constructor(n8n: SharedN8n, page: Page) {
		this.n8n = n8n;
		this.page = page;
	}

	byId(id: string): Locator {
		return this.page.getByTestId(id);
	}

	nodeOnCanvas(name: string): Locator {
		return this.page.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`);
	}

	/** Opens a stored workflow. */
	async openWorkflow(id: string): Promise<void> {
		const { url, api } = this.n8n;
		const { name } = await api.request<{ name: string }>('GET', `/workflows/${id}`);
		this.#opened += 1;
		await this.closePanel();
		await this.#closeMessages();
		await goToWorkflow(this.page, `${url}/workflow/${id}`, name);
	}

	/** What n8n says of another workflow. */
	async #closeMessages(): Promise<void> {
		// One may be going already.
		for (const close of await this.page.locator('.el-notification__closeBtn').all()) await close.click({ timeout: 1000 }).catch(() => {});
		await this.page.waitForFunction(() => !document.querySelector('.el-notification'));
	}

	async closePanel(): Promise<void> {
		if (!(await this.byId('ndv').isVisible())) return;
		await this.byId('ndv-close-button').click();
		await this.byId('ndv').waitFor({ state: 'hidden' });
	}

	async openPanel(node: string): Promise<void> {
		await this.nodeOnCanvas(node).dblclick();
		await this.byId('ndv').waitFor();
	}

	/** Makes a workflow in which our node is the last one, and opens it. */
	async openNode(parameters: JsonObject, { code, ...settings }: { code?: string; onError?: string } = {}): Promise<void> {
		const { api, credential } = this.n8n;
		const items = code === undefined ? [] : [baseNode('Items', 'code', 2, { jsCode: code })];
		const node = { name: NODE, type: NODE_TYPE, typeVersion: 1, parameters, ...settings };
		const name = `${String(parameters.operation)} ${this.#opened}`;
		await this.openWorkflow(await api.createWorkflow(linearWorkflow(name, credential.id, [...items, node])));
	}
}

/** High enough for the credential's dialog, and for a filter with a group. */
const VIEWPORT = { width: 1280, height: 1100 };

let opened: Promise<Editor> | undefined;

/** That of all test files in this process: `all.mts` has those that use one. A test fails if the page had an error. */
export const openEditor = async (): Promise<Editor> => await (opened ??= open());

async function open(): Promise<Editor> {
	const n8n = await useN8n();
	const browser = await openBrowser();
	after(async () => await browser.close());
	const { page, errors } = await openPage(browser);
	afterEach(async () => {
		await keepLastView(page);
		assert.deepEqual(errors.splice(0), [], 'the page had errors');
	});
	await page.setViewportSize(VIEWPORT);
	// Signed in without n8n's form.
	const [name = '', value = ''] = n8n.api.cookie().split(/=(.*)/s);
	await page.context().addCookies([{ name, value, url: n8n.url }]);
	await page.addInitScript((id) => localStorage.setItem('n8n-browserId', id), n8n.api.browserId);
	return new Editor(n8n, page);
}
