/**
 * How many requests each operation takes: the table in docs/performance.md. `WRITE_TABLE=1` with this
 * test writes it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { runOperation } from '../support/engine/engine.cts';
import type { LoggedRequest } from '../../harness/sandboxAdmin.mts';
import { APP, byFields, byId, recordParameters, useHarness, where, type Run } from './fixtures.cts';
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
async function fill(count: number) {
	const { admin } = harness.sandbox;
	await admin.settings({ latencyMs: 0 });
	await admin.createTable({ app: APP, table: makers, records: [{ fields: { name: 'Ada' } }] });
	const records = Array.from({ length: count }, (_, index) => ({
		id: idOf(index),
		fields: { code: String(index), size: '1', weight: index, state: 'open' },
	}));
	await admin.createTable({ app: APP, table: parts, records });
}

/** Items for the first parts, unless they start after those that are stored. */
const items = (count: number, change: IDataObject = {}, from = 0): IDataObject[] =>
	Array.from({ length: count }, (_, index) => ({ code: String(from + index), size: '1', ...change }));

const withIds = (all: IDataObject[]) => all.map((item, index) => ({ id: idOf(index), ...item }));

const changed = { size: '2' };
const byName = { linkValues: { link: [{ valueType: 'importKey', field: 'maker' }] } };
const isOpen = where({ field: 'state', operator: 'is', choice: 'open' });
const skipUnchanged = { skipUnchanged: true };

/** What is run, on a table with so many records. */
interface Execution extends Pick<Run, 'options' | 'parameters'> {
	operation: string;
	records?: number;
	resource?: string;
	items?: IDataObject[];
	/** A file for the first item. */
	file?: string;
	/** Is run before, to prepare the stored records. */
	before?: Execution;
}

const upsert = (given: IDataObject[], options?: IDataObject): Execution => ({ operation: 'upsert', items: given, options });
const update = (count: number): Execution => ({
	operation: 'update',
	records: count,
	items: withIds(items(count, changed)),
	parameters: byId,
});
const attachment = (operation: string, parameters = {}): Execution => ({
	resource: 'attachment',
	operation,
	items: withIds(items(1)),
	parameters: { ...byId, fileField: 'papers', ...parameters },
});
const upload: Execution = { ...attachment('upload', { inputDataFieldName: 'data' }), file: 'text' };
const linked = upsert(items(300, { similar: [idOf(0)] }));
const named = upsert(items(1, { maker: 'Ada' }), byName);
const csv = ['code,size', ...items(20, {}, 50).map(({ code, size }) => `${code},${size}`)].join('\n');
const UNCHANGED = items(3000);
const unchangedRows = ['code,size', ...UNCHANGED.map(({ code, size }) => `${code},${size}`)].join('\n');
const summaries = { summary: [{ field: 'weight', aggregations: ['min'] }] };
const synced = [...items(1, changed), ...items(18, {}, 1), ...items(1, {}, 50)];

const EXECUTIONS: Record<string, Execution> = {
	'Create, 1 item': { operation: 'create', items: items(1, {}, 50) },
	'Create, 1,000 items': { operation: 'create', items: items(1000, {}, 50) },
	'Create or Update, 1 new item': upsert(items(1, {}, 50)),
	'Create or Update, 1 changed item': upsert(items(1, changed)),
	'Create or Update, 1 unchanged item': upsert(items(1)),
	'Create or Update, 1,000 new items': upsert(items(1000, {}, 50)),
	'Create or Update, 3,000 unchanged items, Summary as output': { ...upsert(UNCHANGED, { output: 'summary' }), records: 3000 },
	'Create or Update, 300 unchanged items with links to several records': { ...linked, records: 300, before: linked },
	'Create or Update, 1 unchanged item, Skip Unchanged': upsert(items(1), skipUnchanged),
	'Create or Update, 1 changed item, Skip Unchanged': upsert(items(1, changed), skipUnchanged),
	'Create or Update, 1 changed item, matched on other fields': { ...upsert([{ weight: 0, ...changed }]), parameters: byFields('weight') },
	'Create or Update, 1 changed item, with a link by name': upsert(items(1, { ...changed, maker: 'Ada' }), byName),
	'Create or Update, 1 unchanged item, with a link by name, Skip Unchanged': {
		...upsert(items(1, { maker: 'Ada' }), { ...skipUnchanged, ...byName }),
		before: named,
	},
	'Create or Update, 1 changed item, Dry Run': upsert(items(1, changed), { dryRun: true }),
	'Update, 1 item by ID': { ...update(1), records: 20 },
	'Update, 1 item by ID, Stored Record as output': { ...update(1), records: 20, options: { output: 'stored' } },
	'Update, 1,000 items by ID': update(1000),
	'Sync of 20 records: 1 new, 1 changed, 1 deleted': {
		operation: 'sync',
		items: synced,
		parameters: { missingRecords: 'delete', maxRecordsToRemove: 5 },
	},
	'Delete, 1 record': { operation: 'delete', items: withIds(items(1)), parameters: byId },
	'Delete Many, 20 records': { operation: 'deleteMany', parameters: isOpen },
	Get: { operation: 'get', items: withIds(items(1)), parameters: byId },
	'Get Many, 20 records, limit 50': { operation: 'getAll' },
	'Get Many, 20 records, by a choice': { operation: 'getAll', parameters: isOpen },
	'Get Many, 50 records, limit 50': { operation: 'getAll', records: 60 },
	'Get Many, 60 records, all': { operation: 'getAll', records: 60, parameters: { returnAll: true } },
	Count: { operation: 'count' },
	'Count, by a choice': { operation: 'count', parameters: isOpen },
	Summarize: { operation: 'summarize', parameters: { summaries } },
	'Get Changes': { operation: 'getChanges' },
	'Import From File, 20 rows': { operation: 'importFromFile', file: csv },
	'Import From File, 3,000 unchanged rows': { operation: 'importFromFile', records: 3000, file: unchangedRows },
	'Export to File, 20 records': { operation: 'exportToFile' },
	'Attachment: Upload': upload,
	'Attachment: Download, 1 file': { ...attachment('download'), before: upload },
	'Attachment: Remove, 1 file': { ...attachment('remove', { removeMode: 'all' }), before: upload },
	'Table: Get': { resource: 'table', operation: 'get' },
	'Table: Get Many': { resource: 'table', operation: 'getAll' },
	'Application: Get Many': { resource: 'application', operation: 'getAll' },
};

async function run({ resource = 'record', operation, items: given = [{}], file, ...more }: Execution, isWarm = false) {
	const { application, table, ...others } = recordParameters(operation, { table: PARTS, ...more });
	const isOfAll = resource === 'application' || (resource === 'table' && operation === 'getAll');
	const place = { ...(resource !== 'application' && { application }), ...(!isOfAll && { table }) };
	const input: INodeExecutionData[] = given.map((json) => ({ json }));
	if (file !== undefined) input[0]!.binary = { data: await stored('file.csv', file, 'text/csv') };
	const { error } = await runOperation(harness.credential, {
		isWarm,
		isOrderShown: true,
		input,
		parameters: { ...others, resource, ...place },
	});
	if (error) throw error;
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
const ANOTHER = upsert(items(1, { ...changed, maker: 'Ada' }, 5), byName);

async function requestsOf(execution: Execution, isWarm: boolean): Promise<string> {
	const { admin } = harness.sandbox;
	await fill(execution.records ?? 20);
	if (execution.before) await run(execution.before);
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

const PAGE = join(__dirname, '..', '..', 'docs', 'performance.md');
const MARKED = /(<!-- requests: begin -->\n\n)[^]*(\n\n<!-- requests: end -->)/;

function tableOf(rows: string[][]): string {
	const all = [['Requests, and in how many round trips if some are sent together', 'Cold', 'Warm'], ...rows];
	const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => row[column]!.length)));
	const line = (row: string[], fill = ' ') =>
		`| ${row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!, fill) : cell.padStart(widths[at]!, fill))).join(' | ')} |`;
	const rule = `| ${'-'.repeat(widths[0]!)} | ${'-'.repeat(widths[1]! - 1)}: | ${'-'.repeat(widths[2]! - 1)}: |`;
	return [line(all[0]!), rule, ...rows.map((row) => line(row))].join('\n');
}

test('each operation takes the requests that docs/performance.md says', async () => {
	const page = readFileSync(PAGE, 'utf8');
	const rows: string[][] = [];
	const lines = page.split('\n');
	for (const [title, execution] of Object.entries(EXECUTIONS)) {
		const line = lines.find((text) => text.startsWith(`| ${title} `));
		const [, , cold, warm] = line?.split('|') ?? [];
		rows.push([title, await sameIfRepeated(execution, false, cold), await sameIfRepeated(execution, true, warm)]);
	}
	const expected = page.replace(MARKED, (_, begin, end) => `${begin}${tableOf(rows)}${end}`);
	if (process.env.WRITE_TABLE) writeFileSync(PAGE, expected);
	else expect(page).toBe(expected);
}, 120_000);
