/** Keys that only the platform could compare, because it doesn't tell its time zone: an error of the check, with what mends it. */
import type { IDataObject } from 'n8n-workflow';
import { defined } from '../support/engine/engine.cts';
import { itemWithFile, useFileStore } from './attachmentFixtures.cts';
import { byFields, expectFailed, goingOn, outcomes, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

useFileStore();

const tasks = {
	internalName: 'tasks',
	header: 'Tasks',
	fields: [
		{ name: 'due', type: 'datetime', metadata: { importKey: true } },
		{ name: 'day', type: 'date' },
		{ name: 'n', type: 'number' },
	],
};

/** 10 and 12 o'clock in Berlin, where the application is. */
const [TEN, TWELVE] = ['2026-07-01T08:00:00.000Z', '2026-07-01T10:00:00.000Z'];

beforeEach(async () => {
	await harness.sandbox.admin.reset();
	const records = [
		{ due: TEN, day: '2026-07-01', n: 0 },
		{ due: TWELVE, day: '2026-07-02', n: 0 },
	];
	await harness.createTable(tasks, records, 'Europe/Berlin');
	await harness.faults({ match: { method: 'GET', path: '/apps/[^/]+$' }, fault: { kind: 'status', status: 403, body: { errors: [] } } });
});

const run = (operation: string, items: IDataObject[], more: Run = {}) => harness.run(operation, { table: 'tasks', items, ...more });
const numbers = async () => await harness.values('n', 'tasks');

const onDay: Run = { parameters: byFields('day') };
const withoutZone = '\'due\' accepts a time with a zone such as 2026-11-21T09:30:00Z, not "2026-07-01T12:00:00"';
const useZone = "use {{ DateTime.fromISO(String($json.due), {zone: 'Europe/Berlin'}).toISO() ?? $json.due }}";

describe.each<[operation: string, more: Run, bad: IDataObject, good: IDataObject, error: string]>([
	['upsert', {}, { due: '2026-07-01T12:00:00' }, { due: TEN }, `${withoutZone}: ${useZone}`],
	['sync', {}, { due: '2026-07-01T12:00:00' }, { due: TEN }, `${withoutZone}: ${useZone}`],
	...['upsert', 'update', 'sync'].map((operation): [string, Run, IDataObject, IDataObject, string] => [
		operation,
		onDay,
		{ day: '2026-07-01T23:00:00Z' },
		{ day: '2026-07-01' },
		"the field to match on 'day' accepts a date such as 2026-11-21, not \"2026-07-01T23:00:00Z\": use {{ DateTime.fromISO(String($json.day), {zone: 'Europe/Berlin'}).toISODate() ?? $json.day }}",
	]),
])('%s, %j: %j', (operation, more, bad, good, error) => {
	const items = [good, bad, good].map((item, index) => ({ ...item, n: index + 1 }));

	test('fails by itself; the others are written', async () => {
		const result = await run(operation, items, { ...more, ...goingOn });
		expect(outcomes(result)).toEqual(['updated', 'failed', 'updated']);
		expectFailed(result, 1, error, { field: Object.keys(bad)[0] });
		expect(await numbers()).toEqual([3, 0]);
	});

	test('sends nothing if errors stop the node', async () => {
		const result = await run(operation, [items[1]!], more);
		expect(result.error?.message).toContain(error);
		expect(await harness.writes()).toEqual([]);
	});
});

test.each([
	['due', useZone, '2026-07-01T12:00:00', TWELVE],
	[
		'day',
		"use {{ DateTime.fromISO(String($json.day), {zone: 'Europe/Berlin'}).toISODate() ?? $json.day }}",
		'2026-07-01T23:00:00Z',
		'2026-07-02',
	],
])('the expression for %s finds the record: %s', async (field, advice, given, stored) => {
	const columns = defined({ [field]: `=${advice.slice('use '.length)}`, n: 5 });
	const result = await run('upsert', [{ [field]: given }], { parameters: { ...byFields(field), columns } });
	expect(outcomes(result)).toEqual(['updated']);
	const [record] = (await harness.records('tasks')).filter(({ fields }) => fields.n === 5);
	expect(record!.fields[field]).toBe(stored);
});

test('Sync removes nothing if a key is inexact: its record could be the one that seems to be missing', async () => {
	const items = [{ due: TEN }, { due: '2026-07-01T12:00:00' }];
	const result = await run('sync', items, { ...goingOn, parameters: { missingRecords: 'delete' } });
	expect(outcomes(result)).toEqual(['unchanged', 'failed']);
	expect(result.hints.join()).toContain('No record was removed');
	expect(await numbers()).toEqual([0, 0]);
});

test('Import From File names its option Time Zone, which mends it', async () => {
	const text = 'due,n\n2026-07-01T12:00:00,7\n';
	const imported = async (options: IDataObject) =>
		(await run('importFromFile', [], { ...goingOn, input: await itemWithFile('tasks.csv', text), options })).json()[0];
	expect((await imported({}))!.details).toMatchObject({
		rejected: 1,
		errors: [
			{ row: 2, error: expect.stringContaining(`${withoutZone}: for a CSV file, set 'Values and Formats → Time Zone' in the options`) },
		],
	});
	expect(await imported({ timeZone: 'Europe/Berlin' })).toMatchObject({ updated: 1 });
	expect(await numbers()).toEqual([0, 7]);
});
