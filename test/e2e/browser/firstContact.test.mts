/**
 * The first ten minutes of a newcomer: `npm start`, then what the notes on the canvas and the
 * README say, word for word. The text is read from the files; an instruction that is not understood
 * fails.
 */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { listExamples, MAIN_EXAMPLE, N8N_ADDRESS, readExample } from '../../../harness/examples.mts';
import { ensureN8n } from '../../../harness/install.mts';
import type { WorkflowJson } from '../../../harness/n8nApi.mts';
import { ROOT } from '../../../harness/nodePackage.mts';
import { findFreePort, type RunningProcess, startProcess } from '../../../harness/processes.mts';
import { part } from '../../support/part.mts';
import { keepLastView, openBrowser, openPage } from './chromium.mts';
import { linksOf, readSteps, sectionOf } from './instructions.mts';
import { Newcomer } from './newcomer.mts';

let started: RunningProcess;
let browser: Browser;
let page: Page;
let errors: string[];
let newcomer: Newcomer;
let n8nUrl: string;
let sandboxUrl: string;
/** The URLs of the workflows by name. */
let workflows: Map<string, string>;

/** The links that `npm start` prints when everything is ready. */
async function readLinks(): Promise<string[]> {
	return await new Promise<string[]>((resolve, reject) => {
		started.onLine((line) => {
			if (!line.startsWith('Ctrl-C')) return;
			const [, last = ''] = started.output().split('Open the editor.');
			resolve([...last.matchAll(/http:\S+/g)].map(([url]) => url));
		});
		void started.exited.then(() => reject(new Error(`npm start ended:\n${started.output()}`)));
	});
}

before(async () => {
	await ensureN8n();
	const ports = [await findFreePort(), await findFreePort()];
	started = startProcess(process.execPath, ['harness/start.mts', `--port=${ports[0]}`, `--sandbox-port=${ports[1]}`], { cwd: ROOT });
	const [signIn = '', list = '', sandbox = ''] = await readLinks();
	n8nUrl = new URL(list).origin;
	sandboxUrl = sandbox;
	browser = await openBrowser();
	({ page, errors } = await openPage(browser));
	newcomer = new Newcomer(page, (url) => url.replace('https://platform.example.com', sandboxUrl).replace(N8N_ADDRESS, n8nUrl));
	await page.goto(signIn);
	await page.getByTestId('node-creator-plus-button').waitFor();
	workflows = await listWorkflows();
});

after(async () => {
	await browser?.close();
	await started?.stop();
});

afterEach(async () => {
	await keepLastView(page);
	assert.deepEqual(errors.splice(0), [], 'the page had errors');
});

/** As in the editor's list. */
async function listWorkflows(): Promise<Map<string, string>> {
	const found = await page.evaluate(async () => {
		const headers = { 'browser-id': localStorage.getItem('n8n-browserId') ?? '' };
		const response = await fetch('/rest/workflows?take=100', { headers });
		return ((await response.json()) as { data: Array<{ id: string; name: string }> }).data;
	});
	return new Map(found.map(({ id, name }) => [name, `${n8nUrl}/workflow/${id}`]));
}

const notesOf = ({ nodes }: WorkflowJson): string =>
	nodes
		.filter(({ type }) => type === 'n8n-nodes-base.stickyNote')
		.map(({ parameters }) => String(parameters.content))
		.join('\n\n');

/** The nodes that the editor may change when it opens them: those with lists of fields. */
const nodesToOpen = ({ nodes }: WorkflowJson): string[] =>
	nodes
		.filter(
			({ type, parameters }) =>
				type.startsWith('n8n-nodes-data-platform.') ||
				(parameters.columns as { mappingMode?: string } | undefined)?.mappingMode !== undefined,
		)
		.map(({ name }) => name);

test('the link that npm start prints leads to the first example, its notes and an empty table', async () => {
	await page.getByTestId('canvas').getByRole('heading', { name: 'Start here' }).waitFor();
	const { records } = (await (await fetch(`${sandboxUrl}/sandbox/tables`)).json()).data.find(
		({ table }: { table: string }) => table === 'airports',
	);
	assert.equal(records, 0);
});

const others = (await listExamples()).filter((name) => name !== MAIN_EXAMPLE);
for (const file of [MAIN_EXAMPLE, ...part(others, 3)]) {
	test(`${file}: what its notes say is what happens`, async () => {
		const example = await readExample(file);
		const url = workflows.get(example.name);
		assert.ok(url, `npm start has no workflow "${example.name}"`);
		const notes = notesOf(example);
		const steps = readSteps(notes);
		assert.ok(
			steps.some(({ kind }) => kind === 'press'),
			'the notes do not say what to press',
		);
		await newcomer.openWorkflow(url, example.name);
		for (const step of steps) await newcomer.follow(step);
		await newcomer.comeBack();
		for (const node of nodesToOpen(example)) {
			await newcomer.openPanel(node);
			await newcomer.assertNoTrouble(`opening ${node}`);
		}
		await newcomer.closePanel();
		await newcomer.assertNoTrouble('opening all nodes');
		for (const link of linksOf(notes)) await newcomer.openBeside(link);
	});
}

const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
for (const heading of ['Credentials', 'Your first workflow']) {
	test(`README, ${heading}: what it says is what happens`, async () => {
		const steps = readSteps(sectionOf(readme, heading));
		assert.ok(
			steps.some(({ kind }) => kind === 'expect'),
			'README does not say what one sees',
		);
		for (const step of steps) await newcomer.follow(step);
	});
}
