/** An import that also removes the records that are missing from the file. */
import type { IDataObject } from 'n8n-workflow';
import { itemWithFile, useFileStore } from './attachmentFixtures.cts';
import { numbered, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

useFileStore();

const deleting = { missingRecords: 'delete', maxShareToRemove: 100 };

const marking = { ...deleting, missingRecords: 'setFields', fieldsToSet: { entry: [{ field: 'state', value: 'sent' }] } };

async function mirrored(file: string | Buffer, { parameters, ...run }: Run = {}) {
	const input = await itemWithFile('orders.csv', file);
	const result = await harness.run('importFromFile', { input, parameters: { ...deleting, ...parameters }, ...run });
	return { ...result, json: (result.error ? {} : result.json()[0]) as IDataObject };
}

const numbers = async () => (await harness.values('number')).sort();

beforeEach(async () => {
	await harness.fill('orders', ...numbered(5));
});

test('a table equals the file: rows are created and updated, other records deleted, and counted', async () => {
	const windows = Buffer.from('number;price;buyer\r\n1;1,5;Zoë\r\n9;2,5;Zoë\r\n', 'latin1');
	const { json, hints } = await mirrored(windows, { options: { numberFormat: 'comma', encoding: 'windows-1252' } });
	expect(json).toMatchObject({ rows: 2, inserted: 1, updated: 1, deleted: 4, failed: 0, scopeRecords: 5, missingRecords: 4 });
	expect(hints[0]).toContain("'orders.csv', 2 rows: 1 inserted, 1 updated, 4 deleted");
	expect(await numbers()).toEqual(['1', '9']);
});

test('records are marked, only those of the part that the file stands for', async () => {
	const parameters = {
		...marking,
		filterMode: 'conditions',
		conditions: { condition: [{ field: 'number', operator: 'neq', value: '5' }] },
	};
	const { json } = await mirrored('number\n1\n2\n', { parameters });
	expect(json).toMatchObject({ marked: 2, deleted: 0, scopeRecords: 4 });
	expect(await harness.values('state')).toEqual(expect.arrayContaining(['sent', 'sent', undefined]));
	expect(await numbers()).toHaveLength(5);
});

test('by record ID', async () => {
	const [first] = await harness.records();
	const { json } = await mirrored(`id,buyer\n${first!.id},Ann\n`, { parameters: { matchOn: 'recordId' } });
	expect(json).toMatchObject({ rows: 1, deleted: 4 });
	expect(await harness.values('buyer')).toEqual(['Ann']);
});

test('leave is the default, and nothing but updating and creating removes', async () => {
	const { json } = await mirrored('number\n1\n', { parameters: { missingRecords: 'leave' } });
	expect(json).not.toHaveProperty('deleted');
	await mirrored('number,buyer\n7,Ann\n', { parameters: { importMode: 'create' } });
	expect(await numbers()).toHaveLength(6);
});

test.each<[string, string, Run, string]>([
	[
		'more are missing than the maximum',
		'number\n1\n8\n',
		{ parameters: { maxRecordsToRemove: 3 } },
		'4 of 5 records (80 %) are missing from the input, more than the maximum of 3',
	],
	[
		'more are missing than the share',
		'number\n1\n',
		{ parameters: { maxShareToRemove: 20 } },
		'4 of 5 records (80 %) are missing from the input, more than 20 %',
	],
	['the file has no row', 'number\n', {}, 'the input is empty'],
	[
		'rows are left out',
		'number\n1\n',
		{ options: { startAtRow: 2 } },
		"for 'Records Missing From Input', all rows of one file are the input",
	],
	['rows at the end are left out', 'number\n1\n', { options: { endAtRow: 2 } }, 'all rows of one file are the input'],
])('nothing is written if %s', async (_, file, run, message) => {
	const { error } = await mirrored(file, run);
	expect(error?.message).toContain('Nothing was written or removed: ');
	expect(error?.message).toContain(message);
	expect(await harness.writes()).toEqual([]);
});

test('a dry run lists what would be removed, also if that is more than the maximum', async () => {
	const { json, hints } = await mirrored('number\n1\n', { parameters: { maxRecordsToRemove: 3 }, options: { dryRun: true } });
	const removed = json.removedRecords as Array<{ key: string }>;
	expect(removed.map(({ key }) => key).sort()).toEqual(['2', '3', '4', '5']);
	expect(hints).toContainEqual(expect.stringContaining('4 of 5 records (80 %) are missing from the input, more than the maximum of 3'));
	expect(await numbers()).toHaveLength(5);
});

test('nothing is written if there are two files', async () => {
	const input = [...(await itemWithFile('a.csv', 'number\n1\n')), ...(await itemWithFile('b.csv', 'number\n2\n'))];
	const { error } = await mirrored('', { input });
	expect(error?.message).toContain('all rows of one file are the input');
	expect(await numbers()).toHaveLength(5);
});

test('an empty file removes all if that is allowed', async () => {
	const { json } = await mirrored('number\n', { parameters: { allowEmptyInput: true } });
	expect(json).toMatchObject({ rows: 0, deleted: 5 });
});

test.each([
	['has no key', 'number,price\n1,1\n,2\n', 'row 3'],
	['has more cells than the header', 'number,price\n1,1\n2,2,2\n', 'row 3'],
])('nothing is removed if a row %s, whatever the options are', async (_, file, row) => {
	const { json, hints } = await mirrored(file, { parameters: { removeDespiteFailures: true } });
	expect(json).toMatchObject({ rows: 2, rejected: 1 });
	expect(hints).toContainEqual(expect.stringContaining(`No record was removed: it is unknown which one ${row} stands for`));
	expect(await numbers()).toHaveLength(5);
});

test('after a rejected row, missing records stay unless the option is set', async () => {
	const file = 'number,price\n1,1\n2,-1\n';
	const left = await mirrored(file);
	expect(left.hints).toContainEqual('3 records missing from the file stayed: 1 row rejected.');
	expect(await numbers()).toHaveLength(5);
	const { json } = await mirrored(file, { parameters: { removeDespiteFailures: true } });
	expect(json).toMatchObject({ rejected: 1, deleted: 3 });
	expect(await numbers()).toEqual(['1', '2']);
});

test('if no row could be imported, missing records stay, whatever the options are', async () => {
	const { error } = await mirrored('number,price\n1,x\n2,x\n', { parameters: { removeDespiteFailures: true } });
	expect(error?.message).toContain("No row of 'orders.csv' was imported");
	expect(await numbers()).toHaveLength(5);
});

test.each([
	['in braces', (id: string) => `{${id}}`],
	['without hyphens', (id: string) => id.replaceAll('-', '')],
	['cut', (id: string) => id.slice(0, -1)],
])('a record ID %s is no other record: nothing is created or removed', async (_, written) => {
	const stored = await harness.records();
	const ids = stored.map(({ id }, at) => (at === 0 ? written(id) : id));
	const file = `id,buyer\n${ids.map((id) => `${id},Ann`).join('\n')}\n`;
	const { json } = await mirrored(file, { parameters: { matchOn: 'recordId', removeDespiteFailures: true } });
	expect(json).toMatchObject({ updated: 4, rejected: 1, errors: [{ field: 'id', row: 2 }] });
	expect((await harness.records()).map(({ id }) => id).sort()).toEqual(stored.map(({ id }) => id).sort());
});

test('an import that stops removes nothing, and is imported again as a whole', async () => {
	await harness.faults({ match: { path: '/data/bulk$' }, fault: { kind: 'status', status: 401 } });
	const { error } = await mirrored('number,buyer\n1,a\n9,b\n');
	expect(error?.description).not.toContain('Start at Row');
	expect(await numbers()).toHaveLength(5);
});

test('a record that could not be removed makes the import fail, which says why', async () => {
	await harness.faults({ match: { method: 'DELETE' }, when: { nth: [1] }, fault: { kind: 'status', status: 409 } });
	const { error } = await mirrored('number,buyer\n1,a\n2,b\n3,c\n9,d\n');
	expect(error?.message).toContain('The rows are imported, but 1 of 2 records missing from the file were not removed: ');
	expect(error?.context?.details).toMatchObject({ inserted: 1, deleted: 1, missingRecords: 2 });
});

test('a dry run counts what would be removed', async () => {
	const { json, hints } = await mirrored('number\n1\n', { options: { dryRun: true } });
	expect(json).toMatchObject({ deleted: 4, missingRecords: 4, dryRun: true });
	expect(hints[0]).toContain('Dry run, nothing was written: ');
	expect(await numbers()).toHaveLength(5);
});
