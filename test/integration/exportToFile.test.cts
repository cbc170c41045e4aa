import type { IDataObject } from 'n8n-workflow';
import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import { read, useFileStore } from './attachmentFixtures.cts';
import { cancelWhen, expectErrorItem, goingOn, numbered, useHarness, where, type Run } from './fixtures.cts';

const harness = useHarness();

useFileStore();

async function exported(run: Run = {}) {
	const result = await harness.run('exportToFile', run);
	if (result.error) throw result.error;
	const [item] = result.output('Data Platform');
	return { ...result, item, text: (await read(item)).toString('utf8') };
}

const lines = (text: string) => text.split('\r\n').slice(0, -1);

/** Stores notes for two pages, and returns their ranks. */
async function fillTwoPages() {
	const ranks = Array.from({ length: 1200 }, (_, rank) => rank);
	await harness.fill('notes', ...ranks.map((rank) => ({ text: 'x', rank })));
	return ranks;
}

const secondPage = { match: { method: 'GET', path: '/data$' }, when: { nth: [2] } };

test('all records are exported, even if the platform cuts pages to fewer than it returns by default', async () => {
	await harness.fill('orders', ...numbered(30));
	await harness.settings({ maxListedRecords: 10, maxFilteredRecords: 10 });
	const { item } = await exported();
	expect(item!.json).toMatchObject({ records: 30 });
});

test('a table is exported as CSV: a line with the columns, then one for each record with the values that Get Many returns', async () => {
	const stored = await harness.fill(
		'orders',
		{ number: '1', buyer: 'Smith, "Ann"', price: 9.5, state: 'open', tags: ['a', 'b'] },
		{ number: '2', buyer: '=1+1', comment: 'two\nlines', price: 1.5e-7 },
	);
	const { item, text } = await exported();
	expect(item!.json).toEqual({ records: 2, fileName: 'Orders.csv' });
	expect(item!.binary!.data).toMatchObject({ mimeType: 'text/csv', fileName: 'Orders.csv' });
	const [first, second] = stored;
	const { json } = await harness.run('getAll', { parameters: { returnAll: true } });
	const endOf = (id: string) => {
		const { created, modified, ver } = json().find((entry) => entry.id === id)!;
		return [created, modified, ver].join(',');
	};
	const [header, ...rest] = lines(text);
	expect(header).toBe('id,number,buyer,price,state,comment,tags,channels,related,label,created,modified,ver');
	const line = (id: string) => rest.find((entry) => entry.startsWith(id));
	expect(line(first!.id)).toContain(`${first!.id},1,"Smith, ""Ann""",9.5,open,,"[""a"",""b""]",,"{""count"":0`);
	expect(line(second!.id)).toContain(`${second!.id},2,'=1+1,1.5e-7,,"two\nlines",`);
	expect(rest.map((entry) => entry.endsWith(endOf(entry.slice(0, 36))))).toEqual([true, true]);
});

test('an NDJSON file has the records as Get Many returns them', async () => {
	await harness.fill('orders', ...numbered(3, { tags: ['a'], price: 1 }));
	const { text } = await exported({ parameters: { format: 'ndjson' } });
	const { json } = await harness.run('getAll', { parameters: { returnAll: true } });
	const values = text.trimEnd().split('\n');
	expect(values.map((line) => JSON.parse(line) as IDataObject)).toEqual(json());
});

test('only records that match the filter are exported, in the chosen order', async () => {
	await harness.fill('orders', ...numbered(3, { state: 'open' }), { number: '4', buyer: '-1' });
	const { text } = await exported({
		parameters: { ...where({ field: 'state', operator: 'eq', value: 'open' }), sort: { by: [{ field: 'number', direction: 'desc' }] } },
	});
	expect(lines(text).map((line) => line.split(',')[1])).toEqual(['number', '3', '2', '1']);
});

test('options choose the fields, the name of the file and the format of CSV', async () => {
	await harness.fill('orders', ...numbered(3, { state: 'open' }), { number: '4', buyer: '-1' });
	const result = await harness.run('exportToFile', {
		parameters: { sort: { by: [{ field: 'number', direction: 'desc' }] }, outputField: 'table' },
		options: {
			fieldsToLoad: ['number', 'buyer'],
			fileName: 'out/orders',
			delimiter: ';',
			byteOrderMark: true,
			columnNames: 'headers',
			formulaGuard: false,
		},
	});
	expect(result.error).toBeUndefined();
	const bytes = await read(result.output('Data Platform')[0], 'table');
	const [header, first] = lines(bytes.toString('utf8'));
	expect(header).toBe('\ufeffid;number;buyer;created;modified;ver');
	expect(first!.split(';').slice(1, 3)).toEqual(['4', '-1']);
	expect(result.output('Data Platform')[0]!.binary!.table!.fileName).toBe('orders.csv');
});

test('an empty table is exported as a header in CSV, as an empty file in NDJSON', async () => {
	expect(lines((await exported()).text)).toEqual(['id,number,buyer,price,state,comment,tags,channels,related,label,created,modified,ver']);
	expect((await exported({ parameters: { format: 'ndjson' } })).text).toBe('');
});

test('linked records are exported with the fields that the options include', async () => {
	const [first] = await harness.fill('orders', { number: '1', buyer: 'a' });
	await harness.insert({ number: '2', buyer: 'b', related: { add: [first!.id] } });
	const { text } = await exported({
		options: { linkedRecords: { link: [{ field: 'related', include: 'fields', linkedFields: ['buyer'] }] } },
	});
	expect(lines(text)[2]).toContain(`"[{""id"":""${first!.id}"",""buyer"":""a""}]"`);
});

test('a table of several pages is exported with each record once', async () => {
	const ranks = await fillTwoPages();
	const { item, text } = await exported({ table: 'notes' });
	expect(item!.json.records).toBe(1200);
	const [, ...rows] = lines(text).map((line) => Number(line.split(',')[2]));
	expect(rows.sort((a, b) => a - b)).toEqual(ranks);
});

test('if the second page of a table cannot be read, the item is an error without a file', async () => {
	await fillTwoPages();
	await harness.faults({ ...secondPage, fault: { kind: 'status', status: 403 } });
	const result = await harness.run('exportToFile', { table: 'notes', ...goingOn });
	expectErrorItem(result.output('Data Platform')[0]!, 0, /./, { outcome: 'failed', status: 403 });
	expect(result.output('Data Platform')[0]!.binary).toBeUndefined();
});

test('an export that is canceled in the middle makes no file and reads nothing more', async () => {
	await fillTwoPages();
	await harness.faults({ ...secondPage, fault: { kind: 'slowBefore', ms: 20_000 } });
	const start = Date.now();
	const onStart = cancelWhen(async () => (await harness.requests()).filter(({ path }) => path.endsWith('/data')).length === 2);
	const result = await harness.run('exportToFile', { table: 'notes', onStart });
	expect(result.run.status).toBe('canceled');
	expect(Date.now() - start).toBeLessThan(10_000);
	expect(result.output('Data Platform')).toEqual([]);
	expect(JSON.stringify(result.run.data)).not.toContain('Notes.csv');
	const sent = (await harness.requests()).length;
	await new Promise((resolve) => setTimeout(resolve, 300));
	expect(await harness.requests()).toHaveLength(sent);
});

test('if the file store is full, the error says which file cannot be written, and why', async () => {
	await harness.fill('notes', { text: 'x' });
	const store = jest
		.spyOn(Container.get(BinaryDataService), 'store')
		.mockRejectedValue(new Error('ENOSPC: no space left on device, write'));
	const result = await harness.run('exportToFile', { table: 'notes' });
	store.mockRestore();
	expect(result.error!.message).toContain('no space left on device');
	expect(result.error!.message).toContain("'Notes.csv' can't be written");
});
