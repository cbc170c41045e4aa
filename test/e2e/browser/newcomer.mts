/** A user in n8n's editor who follows a text step by step, and looks for signs of trouble. */

import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { goToWorkflow, settle } from './chromium.mts';
import type { Step } from './instructions.mts';

/** What a newcomer types if a text does not say what. */
const SOME_TEXT = 'Newcomer';

const ERROR_MESSAGE = '.el-notification:has(.el-notification--error, .el-notification--warning)';

/**
 * n8n says this of the tab's own save, if it has not granted the tab its right to write yet: on a slow
 * machine, when edits of a new workflow follow each other quickly. Nothing is lost.
 */
const OWN_SAVE = '.el-notification:has-text("Workflow updated elsewhere") .el-notification__closeBtn';

/** What n8n draws in red or orange on the canvas, and in a node's panel before it. */
const SIGNS_OF_TROUBLE = {
	canvas: {
		'a message': ERROR_MESSAGE,
		'a red mark': '[data-test-id="canvas-node-status-mark-error"], [data-test-id="node-issues"]',
		'an orange mark': '[data-test-id="canvas-node-status-mark-warning"]',
	},
	panel: {
		'a message': ERROR_MESSAGE,
		'a red mark': '[data-test-id="ndv"] .has-issues',
		'an error': '[data-test-id="ndv"] .node-error-view__header',
	},
};

export class Newcomer {
	readonly #editor: Page;
	/** Replaces the URLs in the text with those of this machine. */
	readonly #toAddress: (url: string) => string;
	/** A page opened next to the editor: a form, or the sandbox's page. */
	#beside: Page | undefined;
	#lastNode = '';

	constructor(editor: Page, toAddress: (url: string) => string) {
		this.#editor = editor;
		this.#toAddress = toAddress;
		editor.on('popup', (page) => (this.#beside = page));
	}

	async openWorkflow(url: string, name: string): Promise<void> {
		await this.comeBack();
		await this.closePanel();
		await goToWorkflow(this.#editor, url, name);
	}

	async follow(step: Step): Promise<void> {
		const doing = JSON.stringify(step);
		await this.#do(step).catch((error: unknown) => {
			throw new Error(`${doing}: ${error instanceof Error ? error.message : String(error)}`);
		});
		await this.assertNoTrouble(doing);
	}

	async #do({ kind, text, value }: Step): Promise<void> {
		const actions: Record<Step['kind'], () => Promise<void>> = {
			newWorkflow: () => this.#newWorkflow(),
			closePanel: () => this.closePanel(),
			comeBack: () => this.comeBack(),
			press: () => this.#press(text),
			doubleClick: () => this.openPanel(text),
			searchFor: () => this.#editor.keyboard.type(text),
			choose: () => this.#choose(text),
			set: () => this.#set(text, value!),
			enter: () => this.#enter(text, value ?? SOME_TEXT),
			write: () => this.#chat(text),
			open: () => this.openBeside(text),
			expect: () => this.#expect(text),
		};
		await actions[kind]();
	}

	async #newWorkflow(): Promise<void> {
		await this.comeBack();
		await this.#editor.goto(new URL('/workflow/new', this.#editor.url()).href);
		await this.#byId('node-creator-plus-button').waitFor();
	}

	/** Fails if n8n shows anything in red or orange. */
	async assertNoTrouble(after: string): Promise<void> {
		// It may be going already.
		for (const close of await this.#editor.locator(OWN_SAVE).all()) await close.click({ timeout: 1000 }).catch(() => {});
		await this.#editor.locator(OWN_SAVE).waitFor({ state: 'detached' });
		const shown = (await this.#byId('ndv').isVisible()) ? 'panel' : 'canvas';
		for (const [name, selector] of Object.entries(SIGNS_OF_TROUBLE[shown])) {
			const texts = await this.#editor.locator(selector).allInnerTexts();
			assert.deepEqual(texts, [], `${name} after ${after}`);
		}
	}

	async openPanel(node: string): Promise<void> {
		await this.closePanel();
		const onCanvas = this.#byId('canvas-node').and(this.#editor.locator(`[data-node-name=${JSON.stringify(node)}]`));
		// It may be covered by another part of the editor.
		await this.#byId('zoom-to-fit').click();
		await onCanvas.dblclick();
		await this.#byId('ndv').waitFor();
		this.#lastNode = node;
		// n8n may still complete the stored parameters when it has the fields.
		await settle(this.#editor);
	}

	async closePanel(): Promise<void> {
		const close = this.#byId('ndv-close-button');
		if (!(await close.isVisible())) return;
		await close.click();
		await close.waitFor({ state: 'hidden' });
	}

	/** Opens a link in another tab, as the notes do. Its page must have some content. */
	async openBeside(url: string): Promise<void> {
		await this.comeBack();
		const page = await this.#editor.context().newPage();
		this.#beside = page;
		await page.goto(this.#toAddress(url));
		await page.getByRole('heading', { level: 2 }).filter({ hasText: /\S/ }).first().waitFor();
		assert.equal(await page.getByRole('heading', { name: 'Not found' }).count(), 0, url);
		assert.equal(await page.locator('.empty').count(), 0, `${url} shows nothing`);
	}

	async comeBack(): Promise<void> {
		await this.#beside?.close();
		this.#beside = undefined;
	}

	async #press(name: string): Promise<void> {
		if (this.#beside) {
			await this.#beside.getByRole('button', { name, exact: true }).click();
			await settle(this.#beside);
			if (await this.#beside.locator('form').count()) await this.#waitForRun();
			return;
		}
		switch (name) {
			case '+':
				await this.closePanel();
				await this.#byId('node-creator-plus-button').click();
				return await this.#byId('node-creator').getByRole('textbox').waitFor();
			case 'Open chat':
				return await this.#openChat();
			case 'Execute workflow':
				await this.closePanel();
				return await this.#run(async () => await this.#byId('execute-workflow-button').click());
			case 'Execute step':
				await this.#run(async () => await this.#byId('node-execute-button').click());
				return await this.#byId('output-panel')
					.getByText(/^\d+ items?$/)
					.first()
					.waitFor();
			default:
				return await this.#pressAnything(name);
		}
	}

	/** n8n opens the next workflow with the chat if it was left open. */
	async #openChat(): Promise<void> {
		const open = this.#editor.getByRole('button', { name: 'Open chat' }).filter({ visible: true });
		const chat = this.#editor.locator('.chat-wrapper textarea').filter({ visible: true });
		await open.or(chat).first().waitFor();
		if ((await chat.count()) === 0) await open.last().click();
	}

	async #pressAnything(name: string): Promise<void> {
		const creator = this.#byId('node-creator');
		if (await creator.isVisible()) return await creator.getByText(name).first().click();
		// n8n also shows some buttons next to the node.
		await this.#editor.getByRole('button', { name }).filter({ visible: true }).last().click();
	}

	/** Starts an execution, and waits until it has ended or a form has opened. */
	async #run(start: () => Promise<void>): Promise<void> {
		const begun = this.#editor.waitForResponse(/\/rest\/workflows\/[^/]+\/run/);
		await start();
		await begun;
		await this.#waitForRun();
	}

	/** Waits until no execution is running, or one waits for the newcomer. */
	async #waitForRun(): Promise<void> {
		await settle(this.#editor);
		const question = this.#editor.getByRole('button', { name: 'Approve' });
		const running = this.#editor
			.getByTestId('stop-execution-button')
			.or(this.#editor.getByText('Executing node'))
			.filter({ visible: true });
		while ((await running.count()) > 0 && !this.#beside) {
			if (await question.filter({ visible: true }).count()) return;
			await this.#editor.waitForTimeout(100);
		}
	}

	async #choose(name: string): Promise<void> {
		if (this.#beside) {
			await this.#beside.getByRole('combobox').selectOption(name);
			return;
		}
		const entries = this.#byId('node-creator').getByTestId('item-iterator-item');
		await entries.getByText(name, { exact: true }).first().click();
	}

	/** The smallest part of the panel with the label and something to fill in. */
	#parameter(label: string): Locator {
		const labels = this.#byId('ndv').getByTestId('input-label');
		const named = labels.getByText(label, { exact: true }).first();
		return named.locator('xpath=ancestor::*[.//input or .//textarea or .//*[@contenteditable="true"]][1]');
	}

	async #set(label: string, value: string): Promise<void> {
		const parameter = this.#parameter(label);
		await parameter.locator('input:visible').last().click();
		const option = this.#byId('rlc-item')
			.or(this.#editor.locator('.el-select-dropdown__item'))
			.or(this.#editor.getByRole('option'))
			.filter({ visible: true });
		await option.getByText(value, { exact: true }).first().click();
		await settle(this.#editor);
	}

	async #enter(label: string, value: string): Promise<void> {
		const input = this.#parameter(label).locator('input:visible, textarea:visible, .cm-content').last();
		await input.click();
		await this.#editor.keyboard.press('ControlOrMeta+A');
		await this.#editor.keyboard.insertText(value);
		await settle(this.#editor);
	}

	async #chat(message: string): Promise<void> {
		const replies = this.#editor.locator('.chat-message-from-bot:not(.chat-message-typing)');
		const before = await replies.count();
		await this.#editor.locator('.chat-wrapper textarea').fill(message);
		await this.#editor.keyboard.press('Enter');
		await replies.nth(before).waitFor();
		await this.#waitForRun();
		const reply = await replies.last().innerText();
		assert.doesNotMatch(reply, /[{}[\]]/, 'the answer is no sentence');
	}

	async #expect(text: string): Promise<void> {
		if (!(await this.#byId('ndv').isVisible())) await this.openPanel(this.#lastNode);
		await this.#byId('output-panel').getByText(text).first().waitFor();
	}

	#byId(id: string): Locator {
		return this.#editor.getByTestId(id);
	}
}
