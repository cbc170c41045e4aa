/** Going from node to node inside the panel, by the arrows at its sides, must not empty a mapping (n8n issue 26615). */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../harness/n8nApi.mts';
import { baseNode, inTable, linearWorkflow, NODE_TYPE } from '../../support/linearWorkflow.mts';
import { settle } from './chromium.mts';
import { openEditor } from './editor.mts';

const editor = await openEditor();

/** Fields mapped by hand, as the editor stores them. */
const mapped = (table: string, value: Record<string, string>): JsonObject => ({
	...{ resource: 'record', operation: 'upsert', ...inTable('crm', table), matchOn: 'importKey' },
	columns: { mappingMode: 'defineBelow', value, matchingColumns: [], schema: [] },
});

const FIRST = { email: '={{ $json.email }}', surname: '={{ $json.surname }}' };
const SECOND = { name: '={{ $json.company }}', city: '={{ $json.city }}' };

const NODES = [
	['Contacts', mapped('contacts', FIRST)],
	['Companies', mapped('companies', SECOND)],
	['More contacts', mapped('contacts', FIRST)],
] as const;

async function goTo(name: string): Promise<void> {
	await editor.page.locator(`[data-test-id="floating-node"][data-node-name="${name}"]`).click();
	await editor.byId('ndv').getByText(name, { exact: true }).filter({ visible: true }).first().waitFor();
}

/** What the panel shows for a field. */
const shown = async (field: string) => (await editor.byId(`parameter-input-${field}`).locator('.cm-content').innerText()).trim();

for (const [speed, pause] of [
	['at once', async () => {}],
	['once the fields are loaded', async () => await settle(editor.page)],
] as const) {
	test(`mappings stay, going on ${speed}`, async () => {
		const { n8n, page } = editor;
		const jsCode = "return [{ json: { email: 'a@example.com', surname: 'A', company: 'C', city: 'D' } }];";
		const steps = NODES.map(([name, parameters]) => ({ name, type: NODE_TYPE, typeVersion: 1, parameters }));
		const id = await n8n.api.createWorkflow(
			linearWorkflow(`Switching ${speed}`, n8n.credential.id, [baseNode('Items', 'code', 2, { jsCode }), ...steps]),
		);
		await editor.openWorkflow(id);
		await editor.openPanel('Contacts');
		await pause();
		for (const name of ['Companies', 'More contacts', 'Companies', 'Contacts', 'Companies']) {
			await goTo(name);
			await pause();
		}
		await settle(page);
		assert.deepEqual(
			[await shown('name'), await shown('city')],
			Object.values(SECOND).map((value) => value.slice(1)),
		);
		await editor.closePanel();
		await settle(page);
		// What the editor has now is stored with the next run.
		await page.keyboard.press('ControlOrMeta+s');
		await settle(page);
		const { nodes } = await n8n.api.request<{ nodes: Array<{ name: string; parameters: { columns?: { value: object } } }> }>(
			'GET',
			`/workflows/${id}`,
		);
		const stored = nodes.flatMap(({ name, parameters }) => (parameters.columns ? [[name, parameters.columns.value]] : []));
		assert.deepEqual(
			stored,
			NODES.map(([name, { columns }]) => [name, (columns as { value: object }).value]),
		);
	});
}
