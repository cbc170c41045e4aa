/** Filling in the parameters as a user: a filter with a group, a record from the list. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { part } from '../../support/part.mts';
import { readRecords } from '../../support/apiClient.mts';
import { settle, takePicture } from './chromium.mts';
import { NODE, openEditor } from './editor.mts';

const editor = await openEditor();
const byId = (id: string): Locator => editor.byId(id);

const locator = (value: string, cachedResultName: string) => ({ __rl: true, mode: 'list', value, cachedResultName });

/** Opens the panel of a node that works on the contacts. */
async function openPanel(operation: string, table = locator('contacts', 'Contacts'), parameters: object = {}): Promise<void> {
	await editor.openNode({ resource: 'record', operation, application: locator('crm', 'Customers'), table, ...parameters });
	await editor.openPanel(NODE);
}

/** The entries of the open list. */
const listed = (): Locator => editor.page.locator('.el-select-dropdown__item').filter({ visible: true });

/** The names of the entries in the open list. Operators come from the service. */
async function optionsOf(input: Locator, expected: string): Promise<string[]> {
	const options = listed();
	const found = options.filter({ hasText: expected }).first();
	// A list that is still loading is disabled, and may begin to load again.
	for (let tries = 1; !(await found.isVisible()); tries++) {
		assert.ok(tries < 40, `'${expected}' is not in the list`);
		await input.locator('input').first().click();
		await found.waitFor({ timeout: 3_000 }).catch(() => undefined);
	}
	return (await options.allInnerTexts()).map((text) => text.split('\n', 1)[0]?.trim() ?? '');
}

async function choose(input: Locator, name: string): Promise<string[]> {
	const names = await optionsOf(input, name);
	await listed().nth(names.indexOf(name)).click();
	// It fades out, beside the next list that is opened.
	await listed().first().waitFor({ state: 'hidden' });
	return names;
}

/** Fills in the last of several conditions. */
async function addCondition(list: Locator, field: string, operator: string, value: string) {
	await list.getByText('Add Condition').last().click();
	const last = (name: string) => list.getByTestId(`parameter-input-${name}`).last();
	// n8n calls every text input `parameter-input-field` too; the field is chosen from a list.
	const lists = list.getByTestId('parameter-input-field').filter({ has: editor.page.locator('.el-select') });
	const fields = await choose(lists.last(), field);
	// The list of operators follows the field.
	await settle(editor.page);
	const operators = await choose(last('operator'), operator);
	const text = last('value').getByRole('textbox');
	await text.fill(value);
	await text.blur();
	await settle(editor.page);
	return { fields, operators };
}

const shownRows = async (): Promise<string[]> => {
	await byId('output-panel').locator('tbody tr').first().waitFor();
	return await byId('output-panel').locator('tbody tr').allInnerTexts();
};

test('a filter with a group is built from lists, and the node returns the records that match it', async () => {
	await openPanel('getAll');
	await choose(byId('parameter-input-filterMode'), 'Conditions');
	const outer = byId('fixed-collection-conditions').first();
	const { fields } = await addCondition(outer, 'Newsletter', 'Equal', 'true');
	assert.ok(fields.includes('Full name') && !fields.includes('newsletter'), fields.join());

	await editor.page.getByText('Add Group').click();
	const group = byId('fixed-collection-groups');
	await choose(group.getByTestId('parameter-input-matchType'), 'Any Condition');
	const age = await addCondition(group, 'Age', 'Greater Than or Equal', '60');
	assert.ok(!age.operators.includes('Contains'), age.operators.join());
	const name = await addCondition(group, 'Surname', 'Starts With', 'W');
	assert.ok(name.operators.includes('Contains'), name.operators.join());

	await byId('node-execute-button').click();
	await byId('output-panel').getByText('items').first().waitFor();
	await byId('output-panel').getByTestId('radio-button-table').click();
	const rows = await shownRows();
	await takePicture(editor.page, 'filter');

	const contacts = (await readRecords(editor.n8n.sandbox, 'crm', 'contacts')).map((one) => one.fields);
	const matching = contacts.filter(
		({ newsletter, age: years, surname }) => newsletter === true && (Number(years) >= 60 || String(surname).startsWith('W')),
	);
	assert.ok(matching.length > 1 && matching.length < contacts.length);
	assert.equal(rows.length, matching.length);
	for (const { email } of matching) assert.ok(rows.some((row) => row.includes(String(email))));
});

test('Delete Many: the choices of a dropdown are picked from a list', async () => {
	await openPanel('deleteMany', locator('deals', 'Deals'));
	const list = byId('fixed-collection-conditions').first();
	await list.getByText('Add Condition').last().click();
	const field = list.getByTestId('parameter-input-field').filter({ has: editor.page.locator('.el-select') });
	await choose(field.last(), 'Stage');
	const operators = await choose(list.getByTestId('parameter-input-operator'), 'Is (From List)');
	assert.equal(operators[0], 'Is (From List)', operators.join());
	assert.ok(!operators.includes('Greater Than'), operators.join());
	const choices = await choose(list.getByTestId('parameter-input-choice'), 'lost');
	assert.deepEqual(choices, ['Choose a Value', 'open', 'won', 'lost']);
	await settle(editor.page);
	await takePicture(editor.page, 'choices');
});

/** The labels in the panel that are wider than the space for them. */
const cutLabels = async (): Promise<string[]> =>
	await byId('ndv').evaluate((panel) => {
		const labels = Array.from(panel.querySelectorAll('[data-test-id="input-label"] *')).filter(
			(element) => getComputedStyle(element).overflow === 'hidden',
		);
		if (labels.length === 0) throw new Error('No label was found');
		return labels.filter((element) => element.scrollWidth > element.clientWidth).map((element) => element.textContent ?? '');
	});

test('rare options are in sub-collections, and no label is cut', async () => {
	const all = { settings: {} };
	const options = { requests: all, inputValues: all, matching: all };
	await openPanel('upsert', undefined, { options: { ...options, linkValues: { link: [{}] } } });
	for (const option of ['Multiple Matches', 'Parallel Requests']) await editor.page.getByText(option).waitFor();
	await byId('mapping-fields-container').getByText('Photo (web address)').waitFor();
	assert.deepEqual(await cutLabels(), []);

	await openPanel('importFromFile', undefined, { options: { ...options, file: all } });
	await editor.page.getByText('Rejected Rows Limit').waitFor();
	assert.deepEqual(await cutLabels(), []);
});

test('no label of a field is cut, in any table of the sandbox', async () => {
	const response = await fetch(`${editor.n8n.sandbox.baseUrl}/sandbox/tables`);
	const { data } = (await response.json()) as { data: Array<Record<'app' | 'appName' | 'table' | 'header', string>> };
	assert.ok(data.length > 2);
	for (const { app, appName, table, header } of part(data, 1)) {
		const application = locator(app, appName);
		await openPanel('upsert', locator(table, header), { application });
		const list = byId('mapping-fields-container');
		await list.getByTestId('input-label').first().waitFor();
		assert.deepEqual(await cutLabels(), [], header);
	}
});

test('a record is searched for and picked from the list', async () => {
	await openPanel('get');
	await byId('resource-locator-recordId').getByTestId('rlc-input').click();
	const entries = byId('rlc-item').filter({ visible: true });
	await entries.first().waitFor();
	await editor.page.keyboard.type('wren');
	await entries.filter({ hasText: 'dog@example.com' }).first().waitFor({ state: 'hidden' });
	await entries.nth(9).waitFor();
	const found = await entries.allInnerTexts();
	assert.equal(found.length, 10, found.join());
	await entries.filter({ hasText: 'cleo.wren@example.com' }).click();

	await byId('node-execute-button').click();
	await byId('output-panel').getByText('cleo.wren@example.com').first().waitFor();
});

test("an invalid value is reported with the field's label in the panel", async () => {
	await openPanel('create');
	const container = byId('mapping-fields-container');
	await container.getByText('Surname', { exact: true }).waitFor();
	const write = async (field: string, value: string) => await byId(`parameter-input-${field}`).getByRole('textbox').fill(value);
	await write('surname', 'Fox');
	await write('email', 'new.fox@example.com');
	await byId('parameter-input-age').locator('input').fill('200');
	await byId('node-execute-button').click();
	await byId('output-panel').getByText("'age' must be at most 150").first().waitFor();

	const contacts = await readRecords(editor.n8n.sandbox, 'crm', 'contacts');
	assert.ok(contacts.every(({ fields }) => fields.email !== 'new.fox@example.com'));
});
