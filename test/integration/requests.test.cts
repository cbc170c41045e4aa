/**
 * How many requests each operation takes: the table in bench/RESULTS.md. `WRITE_TABLE=1` with this
 * test writes it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IDataObject } from 'n8n-workflow';
import { automatic, picked, runOperation, type OperationRun } from '../support/engine/engine.cts';
import type { LoggedRequest, StoredRecord } from '../../harness/sandboxAdmin.mts';
import { APP, useHarness } from './fixtures.cts';
import { stored } from './attachmentFixtures.cts';

const harness = useHarness();

/** Long enough that requests sent at the same time overlap. */
const LATENCY_MS = 60;

const PARTS = 'parts';
const MAKERS = 'makers';

const makers = { internalName: MAKERS, header: 'Makers', fields: [{ name: 'name', type: 'text', metadata: { importKey: true } }] };

const parts = {
	internalName: PARTS,
	header: 'Parts',
	fields: [
		{ name: 'code', type: 'text', metadata: { importKey: true } },
		{ name: 'size', type: 'text' },
		{ name: 'weight', type: 'number' },
		{ name: 'state', type: 'dropdown', metadata: { items: [{ value: 'open', order: 0 }] } },
		{ name: 'maker', type: 'schema_link', metadata: { linkTableId: MAKERS } },
		{ name: 'similar', type: 'schema_link', metadata: { linkTableId: PARTS, multiple: true } },
		{ name: 'papers', type: 'file' },
	],
};

const idOf = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

/** Makes both tables, with this many parts. */
async function fill(count: number): Promise<StoredRecord[]> {
	const { admin } = harness.sandbox;
	await admin.settings({ latencyMs: 0 });
	await admin.createTable({ app: APP, table: makers, records: [{ fields: { name: 'Ada' } }] });
	const records = Array.from({ length: count }, (_, index) => ({
		id: idOf(index),
		fields: { code: String(index), size: '1', weight: index, state: 'open' },
	}));
	await admin.createTable({ app: APP, table: parts, records });
	return await harness.records(PARTS);
}

/** Items for the first parts, unless they start after those that are stored. */
const items = (count: number, change: IDataObject = {}, from = 0): IDataObject[] =>
	Array.from({ length: count }, (_, index) => ({ code: String(from + index), size: '1', ...change }));

const withIds = (all: IDataObject[]) => all.map((item, index) => ({ id: idOf(index), ...item }));

const changed = { size: '2' };
const byName = { linkValues: { link: [{ valueType: 'importKey', field: 'maker' }] } };
const onWeight = { matchOn: 'fields', matchFields: ['weight'] };
const byId = { recordId: picked('={{ $json.id }}') };
const isOpen = { filterMode: 'conditions', conditions: { condition: [{ field: 'state', operator: 'is', choice: 'open' }] } };

/** What is run, on a table with so many records. */
interface Execution {
	title: string;
	operation: string;
	records?: number;
	resource?: string;
	items?: IDataObject[];
	parameters?: IDataObject;
	options?: IDataObject;
	/** A file for the first item. */
	file?: string;
	/** Prepares the stored records. */
	prepare?(): Promise<unknown>;
}

const skipUnchanged = { skipUnchanged: true };

const EXECUTIONS: Execution[] = [
	{ title: 'Create, 1 item', operation: 'create', items: items(1, {}, 50) },
	{ title: 'Create, 1,000 items', operation: 'create', items: items(1000, {}, 50) },
	{ title: 'Create or Update, 1 new item', operation: 'upsert', items: items(1, {}, 50) },
	{ title: 'Create or Update, 1 changed item', operation: 'upsert', items: items(1, changed) },
	{ title: 'Create or Update, 1 unchanged item', operation: 'upsert', items: items(1) },
	{ title: 'Create or Update, 1,000 new items', operation: 'upsert', items: items(1000, {}, 50) },
	{
		title: 'Create or Update, 300 unchanged items with links to several records',
		operation: 'upsert',
		records: 300,
		items: items(300, { similar: [idOf(0)] }),
		prepare: async () => await run({ title: 'Links', operation: 'upsert', items: items(300, { similar: [idOf(0)] }) }),
	},
	{ title: 'Create or Update, 1 unchanged item, Skip Unchanged', operation: 'upsert', items: items(1), options: skipUnchanged },
	{ title: 'Create or Update, 1 changed item, Skip Unchanged', operation: 'upsert', items: items(1, changed), options: skipUnchanged },
	{
		title: 'Create or Update, 1 changed item, matched on other fields',
		operation: 'upsert',
		items: [{ weight: 0, ...changed }],
		parameters: onWeight,
	},
	{
		title: 'Create or Update, 1 changed item, with a link by name',
		operation: 'upsert',
		items: items(1, { ...changed, maker: 'Ada' }),
		options: byName,
	},
	{
		title: 'Create or Update, 1 unchanged item, with a link by name, Skip Unchanged',
		operation: 'upsert',
		items: items(1, { maker: 'Ada' }),
		options: { ...skipUnchanged, ...byName },
		prepare: async () => await run({ title: 'Link', operation: 'upsert', items: items(1, { maker: 'Ada' }), options: byName }),
	},
	{ title: 'Create or Update, 1 changed item, Dry Run', operation: 'upsert', items: items(1, changed), options: { dryRun: true } },
	{ title: 'Update, 1 item by ID', operation: 'update', items: withIds(items(1, changed)), parameters: byId },
	{
		title: 'Update, 1 item by ID, Stored Record as output',
		operation: 'update',
		items: withIds(items(1, changed)),
		parameters: byId,
		options: { output: 'stored' },
	},
	{ title: 'Update, 1,000 items by ID', operation: 'update', records: 1000, items: withIds(items(1000, changed)), parameters: byId },
	{
		title: 'Sync of 20 records: 1 new, 1 changed, 1 deleted',
		operation: 'sync',
		items: [...items(1, changed), ...items(18, {}, 1), ...items(1, {}, 50)],
		parameters: { missingRecords: 'delete', maxRecordsToRemove: 5 },
	},
	{ title: 'Delete, 1 record', operation: 'delete', items: withIds(items(1)), parameters: byId },
	{ title: 'Delete Many, 20 records', operation: 'deleteMany', parameters: isOpen },
	{ title: 'Get', operation: 'get', items: withIds(items(1)), parameters: byId },
	{ title: 'Get Many, 20 records, limit 50', operation: 'getAll' },
	{ title: 'Get Many, 20 records, by a choice', operation: 'getAll', parameters: isOpen },
	{ title: 'Get Many, 50 records, limit 50', operation: 'getAll', records: 60 },
	{ title: 'Get Many, 60 records, all', operation: 'getAll', records: 60, parameters: { returnAll: true } },
	{ title: 'Count', operation: 'count' },
	{ title: 'Count, by a choice', operation: 'count', parameters: isOpen },
	{ title: 'Summarize', operation: 'summarize', parameters: { summaries: { summary: [{ field: 'weight', aggregations: ['min'] }] } } },
	{ title: 'Get Changes', operation: 'getChanges' },
	{
		title: 'Import From File, 20 rows',
		operation: 'importFromFile',
		file: ['code,size', ...items(20, {}, 50).map(({ code, size }) => `${code},${size}`)].join('\n'),
	},
	{ title: 'Export to File, 20 records', operation: 'exportToFile' },
	{
		title: 'Attachment: Upload',
		resource: 'attachment',
		operation: 'upload',
		items: withIds(items(1)),
		parameters: { ...byId, fileField: 'papers', inputDataFieldName: 'data' },
		file: 'text',
	},
	{
		title: 'Attachment: Download, 1 file',
		resource: 'attachment',
		operation: 'download',
		items: withIds(items(1)),
		parameters: { ...byId, fileField: 'papers' },
		prepare: upload,
	},
	{
		title: 'Attachment: Remove, 1 file',
		resource: 'attachment',
		operation: 'remove',
		items: withIds(items(1)),
		parameters: { ...byId, fileField: 'papers', removeMode: 'all' },
		prepare: upload,
	},
	{ title: 'Table: Get', resource: 'table', operation: 'get' },
	{ title: 'Table: Get Many', resource: 'table', operation: 'getAll' },
	{ title: 'Application: Get Many', resource: 'application', operation: 'getAll' },
];

async function upload() {
	await run(EXECUTIONS.find(({ operation }) => operation === 'upload')!);
}

const WRITES = /^(create|sync|update|upsert)/;

async function run({ resource = 'record', operation, items: given, parameters, options, file }: Execution, isWarm = false) {
	const ofTable = resource !== 'application' && { application: picked(APP) };
	const isOfOne = resource !== 'application' && !(resource === 'table' && operation === 'getAll');
	const [first = {}, ...others] = given ?? [];
	const data = file === undefined ? undefined : await stored('file.csv', file, 'text/csv');
	const input = [{ json: first, ...(data && { binary: { data } }) }, ...others.map((json) => ({ json }))];
	const result = await runOperation(harness.credential, {
		isWarm,
		input,
		parameters: {
			resource,
			operation,
			...ofTable,
			...(isOfOne && { table: picked(PARTS) }),
			...(resource === 'record' && WRITES.test(operation) && { columns: automatic }),
			options: options ?? {},
			...parameters,
		} as OperationRun['parameters'],
	});
	if (result.error) throw result.error;
	return result;
}

/** How many round trips one after the other these requests take. */
function wavesOf(requests: LoggedRequest[]): number {
	let waves = 0;
	let end = 0;
	for (const { startedAt, milliseconds } of requests) {
		const start = Date.parse(startedAt);
		if (start < end) continue;
		waves += 1;
		end = start + milliseconds!;
	}
	return waves;
}

/** Another execution a moment ago. */
const ANOTHER: Execution = { title: 'Another', operation: 'upsert', items: items(1, { ...changed, maker: 'Ada' }, 5), options: byName };

async function requestsOf(execution: Execution, isWarm: boolean): Promise<string> {
	const { admin } = harness.sandbox;
	await fill(execution.records ?? 20);
	await execution.prepare?.();
	if (isWarm) await run(ANOTHER);
	await admin.clearRequests();
	await admin.settings({ latencyMs: LATENCY_MS });
	await run(execution, isWarm);
	await admin.settings({ latencyMs: 0 });
	const requests = await admin.requests();
	const waves = wavesOf(requests);
	return waves === requests.length ? String(waves) : `${requests.length} in ${waves}`;
}

/** On a busy machine, requests that were sent together may look as if they were not. */
const ATTEMPTS = 3;

async function sameIfRepeated(execution: Execution, isWarm: boolean, expected = '') {
	const cells: string[] = [];
	while (cells.length < ATTEMPTS && !cells.includes(expected.trim())) {
		cells.push(await requestsOf(execution, isWarm));
		if (process.env.WRITE_TABLE) break;
	}
	return cells.at(-1)!;
}

const PAGE = join(__dirname, '..', '..', 'bench', 'RESULTS.md');
const MARKED = /(<!-- requests: begin -->\n\n)[^]*(\n\n<!-- requests: end -->)/;

function tableOf(rows: string[][]): string {
	const all = [['Requests, and in how many round trips if some are sent together', 'Cold', 'Warm'], ...rows];
	const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => row[column]!.length)));
	const line = (row: string[], fill = ' ') =>
		`| ${row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!, fill) : cell.padStart(widths[at]!, fill))).join(' | ')} |`;
	const rule = `| ${'-'.repeat(widths[0]!)} | ${'-'.repeat(widths[1]! - 1)}: | ${'-'.repeat(widths[2]! - 1)}: |`;
	return [line(all[0]!), rule, ...rows.map((row) => line(row))].join('\n');
}

test('each operation takes the requests that bench/RESULTS.md says', async () => {
	const page = readFileSync(PAGE, 'utf8');
	const rows: string[][] = [];
	for (const execution of EXECUTIONS) {
		const { title } = execution;
		const [, , cold, warm] =
			page
				.split('\n')
				.find((line) => line.startsWith(`| ${title} `))
				?.split('|') ?? [];
		rows.push([title, await sameIfRepeated(execution, false, cold), await sameIfRepeated(execution, true, warm)]);
	}
	const expected = page.replace(MARKED, (_, begin, end) => `${begin}${tableOf(rows)}${end}`);
	if (process.env.WRITE_TABLE) writeFileSync(PAGE, expected);
	else expect(page).toBe(expected);
}, 120_000);
