import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { Container } from '@n8n/di';
import { Logger } from '@n8n/backend-common';
import { itemWithFile, openFiles, read, stored, useFileStore } from './attachmentFixtures.cts';
import { waitUntil } from '../support/waitUntil.mts';
import { cancelWhen, expectFailed, goingOn, order, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

useFileStore();

/** Imports one file. Returns the result and its rejected rows. */
async function imported(file: string | Buffer, run: Run = {}) {
	const result = await harness.run('importFromFile', { input: await itemWithFile('orders.csv', file), ...run });
	const item = result.error ? undefined : result.output('Data Platform')[0];
	const rejected = item?.binary?.rejected && (await read(item, 'rejected')).toString('utf8');
	return { ...result, item, json: item?.json ?? {}, rejected };
}

const fieldsOf = async (...names: string[]) =>
	(await harness.records())
		.map(({ fields }) => names.map((name) => fields[name] ?? null))
		.sort((a, b) => String(a[0]).localeCompare(String(b[0]), 'en', { numeric: true }));

const lines = (text: string | undefined) => (text ?? '').split('\r\n').slice(0, -1);

test('rows are created and updated by the import key, and counted', async () => {
	await harness.fill('orders', { number: '2', buyer: 'old' });
	const { error, json, item, hints } = await imported('number,buyer,price,state\r\n1,"Smith, Ann",9.5,open\r\n2,Hare,,sent\r\n');
	expect(error).toBeUndefined();
	const { length: requests } = await harness.requests();
	expect(json).toEqual({
		file: 'orders.csv',
		rows: 2,
		...{ inserted: 1, updated: 1, unchanged: 0, written: 0, found: 0, skipped: 0 },
		...{ notFound: 0, failed: 0, unknown: 0, rejected: 0 },
		confirmedThroughRow: 3,
		errors: [],
		columns: { number: 'number', buyer: 'buyer', price: 'price', state: 'state' },
		ignoredColumns: [],
		...{ requests, retries: 0, waitedMs: 0 },
	});
	expect(item!.binary).toBeUndefined();
	expect(item!.pairedItem).toEqual({ item: 0 });
	expect(hints[0]).toContain("'orders.csv', 2 rows: 1 inserted, 1 updated");
	expect(await fieldsOf('number', 'buyer', 'price', 'state')).toEqual([
		['1', 'Smith, Ann', 9.5, 'open'],
		['2', 'Hare', null, 'sent'],
	]);
});

test('bad rows are in a separate file with the reasons, good ones are written', async () => {
	const [header, good] = ['number,buyer,price', ['1,a,1', '8,i,8']];
	const bad = ['2,b,cheap', '3,c', '4,d,4,"surplus, too",', ',e,5', `6,${'x'.repeat(31)},6`, '7,"g"h,7'];
	const { json, rejected, hints } = await imported([header, good[0], ...bad, good[1], ''].join('\n'));
	expect(json).toMatchObject({ rows: 8, inserted: 2, failed: 6, rejected: 6, confirmedThroughRow: 9 });
	expect(lines(rejected)).toEqual([
		'\ufeffnumber,buyer,price,error,field,row',
		`2,b,cheap,"'price' accepts a number, not ""cheap""",price,3`,
		'3,c,,"the row has 2 cells, the header has 3",,4',
		`4,d,4,"the row has 5 cells, the header has 3; the cells after the last column: ""surplus, too"",",,5`,
		`,e,5,the import key 'number' has no value,number,6`,
		`6,${'x'.repeat(31)},6,"'buyer' accepts at most 30 characters, this has more",buyer,7`,
		'7,gh,7,the row has text after a closing quote in column 2,,8',
	]);
	expect(hints).toContainEqual(expect.stringContaining("The rejected rows are in 'rejected'"));
	expect((await harness.values('number')).sort()).toEqual(['1', '8']);
});

test('rejected rows can be corrected and imported again without further changes', async () => {
	const first = await imported('number,buyer,price\n1,a,one\n2,b,2\n');
	const again = await imported(first.rejected!.replace('1,a,one', '1,a,1'));
	expect(again.json).toMatchObject({ rows: 1, inserted: 1, rejected: 0 });
	expect(await fieldsOf('number', 'price')).toEqual([
		['1', 1],
		['2', 2],
	]);
	const ndjson = await imported('{"number":"3","price":"x"}\n{"number":4}\nnot json\n{"number":"1"}\n');
	expect(ndjson.json).toMatchObject({ rows: 4, unchanged: 1, rejected: 3 });
	const entries = JSON.parse(`[${ndjson.rejected!.trim().replaceAll('\n', ',')}]`) as IDataObject[];
	expect(entries).toMatchObject([{ row: 1 }, { row: 2 }, { row: 3, line: 'not json' }]);
	const mended = entries.slice(0, 2).map(({ error, field, row, ...rest }) => ({ ...rest, price: 3, buyer: 'c', error, field, row }));
	expect((await imported(mended.map((entry) => JSON.stringify(entry)).join('\n'))).json).toMatchObject({
		rows: 2,
		inserted: 2,
		rejected: 0,
	});
});

describe('how the file is stored and encoded', () => {
	const text = 'number;buyer\r\n1;Äpfel – €\r\n';
	const cp1252 = Buffer.from('number;buyer\r\n1;\xc4pfel \x96 \x80\r\n', 'latin1');
	test.each<[string, Buffer, IDataObject]>([
		['gzip', gzipSync(text), {}],
		['Windows-1252', cp1252, { encoding: 'windows-1252' }],
	])('a file in %s is read', async (_, file, options) => {
		const { error } = await imported(file, { options });
		expect(error).toBeUndefined();
		expect(await fieldsOf('number', 'buyer')).toEqual([['1', 'Äpfel – €']]);
		await waitUntil('no file is open', () => openFiles() === 0);
	});

	test.each(['$json.f.g', "$('Missing').first().json.name", '$json.f'])(
		'%s gives no name, so nothing of that item is imported',
		async (name) => {
			const input: INodeExecutionData[] = [];
			for (const n of [1, 2, 3]) {
				input.push({ json: { n }, binary: { data: await stored(`${n}.csv`, `number,buyer\n${n},a\n`) } });
			}
			const parameters = { inputDataFieldName: `={{ $json.n === 2 ? ${name} : "data" }}` };
			const result = await harness.run('importFromFile', { ...goingOn, input, parameters });
			expectFailed(result, 1, /./);
			expect(result.json()[2]).toMatchObject({ file: '3.csv', inserted: 1 });
			expect(await harness.values('number')).toEqual(['1', '3']);
		},
	);
});

test('a cell can link to several records by key', async () => {
	const [one, two] = await harness.fill('orders', order(1), order(2));
	const linkValues = { link: [{ field: 'related', valueType: 'importKey', ifNotFound: 'error' }] };
	const text = 'number,buyer,related\n3,c,1; 2\n4,d,5\n';
	const { json, rejected } = await imported(text, { options: { listSeparator: ';', linkValues } });
	expect(json).toMatchObject({ inserted: 1, rejected: 1 });
	expect(lines(rejected)[1]).toMatch(/^4,d,5,.*""5""/);
	const [, , created] = await harness.records();
	expect((created!.fields.related as string[]).sort()).toEqual([one.id, two.id].sort());
});

/** A file of so many orders, a hundred of which are a batch. */
const rows = (count: number) => `number,buyer\n${Array.from({ length: count }, (_, at) => `${at + 1},b`).join('\n')}\n`;
const batchSize = 100;

describe('an import that stops early', () => {
	const down = { match: { method: 'POST', path: '/bulk' }, fault: { kind: 'status', status: 401 } };

	test('an import that stops says up to which row everything is written, and continues there', async () => {
		await harness.faults({ ...down, when: { nth: [8, 9, 10, 11, 12] } });
		const text = rows(1200);
		const { error } = await imported(text, { parameters: { importMode: 'create' }, options: { batchSize } });
		const { details } = error!.context as { details: IDataObject };
		const through = details.confirmedThroughRow as number;
		expect(error!.message).toContain(`'orders.csv' is imported through row ${through} only`);
		expect(error!.description).toContain(`set 'File → Start at Row' in the options to ${through + 1}`);
		expect(details).toMatchObject({ startAtRow: through + 1, inserted: through - 1 });
		await harness.faults();
		const { json } = await imported(text, { parameters: { importMode: 'create' }, options: { startAtRow: through + 1 } });
		expect(json).toMatchObject({ rejected: 0, inserted: 1201 - through });
		const numbers = await harness.values('number');
		expect(new Set(numbers).size).toBe(1200);
		expect(numbers).toHaveLength(1200);
		await waitUntil('no file is open', () => openFiles() === 0);
	});

	const nth = Array.from({ length: 3000 }, (_, at) => at + 3);
	const body = { errors: [{ type: 'exception', message: 'Not now.' }] };
	const fails = (status: number) => ({ match: { method: 'POST', path: '/data' }, when: { nth }, fault: { kind: 'status', status, body } });
	test.each<[string, () => Promise<unknown>]>([
		['a limit, an error each', async () => await harness.settings({ maxRecords: 700 })],
		['a limit, one error for all', async () => await harness.settings({ maxRecords: 700, limitErrors: 'wholeBatch' })],
		['maintenance', async () => await harness.faults(fails(409))],
		['full storage', async () => await harness.faults(fails(507))],
		['500', async () => await harness.faults(fails(500))],
		['no right', async () => await harness.faults(fails(403))],
		['a used-up quota', async () => await harness.settings({ dailyQuota: 4 })],
	])('%s stops an import, and every row is imported once it is gone', async (_, arrange) => {
		const text = rows(1500);
		for (const importMode of ['create', 'upsert']) {
			await harness.reset();
			await arrange();
			const { error } = await imported(text, { parameters: { importMode }, options: { batchSize, parallelRequests: 1 } });
			const { details } = error!.context as { details: IDataObject };
			const startAtRow = details.startAtRow as number;
			const written = await harness.values('number');
			expect([startAtRow, error!.message]).toEqual([
				written.length + 2,
				expect.stringContaining(`is imported through row ${startAtRow - 1} only`),
			]);
			await harness.faults();
			await harness.settings({ maxRecords: null, dailyQuota: null });
			await imported(text, { parameters: { importMode }, options: { startAtRow } });
			expect(new Set(await harness.values('number')).size).toBe(1500);
			expect(await harness.values('number')).toHaveLength(1500);
		}
	});

	test("an import that n8n's Retry On Fail repeats creates no duplicates", async () => {
		await harness.faults({ ...down, when: { nth: [2] } });
		const { error } = await imported(rows(300), { parameters: { importMode: 'create' }, options: { batchSize }, retry: { maxTries: 3 } });
		expect(error!.message).toContain('is imported through row');
		const numbers = await harness.values('number');
		expect(new Set(numbers).size).toBe(numbers.length);
	});
});

describe('an import that is canceled', () => {
	/** Cancels after this many requests to a path, and `ms` later. */
	const cancelAt = (path: RegExp, requests: number, ms: number) =>
		cancelWhen(async () => (await harness.requests()).filter((request) => path.test(request.path)).length >= requests, ms);

	/** The paths of the node's requests, as it sends them: they may arrive later. */
	const sent: string[] = [];
	const watchSent = (message: unknown) => {
		const { path } = (message as { request: ClientRequest }).request;
		if (path.includes('/api/')) sent.push(path);
	};
	beforeAll(() => subscribe('http.client.request.start', watchSent));
	afterAll(() => unsubscribe('http.client.request.start', watchSent));

	const warnings = () => jest.spyOn(Container.get(Logger), 'warn');

	/** What the log says: the row up to which all is certain, and how many later rows are not. */
	function reportOf(log: ReturnType<typeof warnings>) {
		const text = log.mock.calls.map(([message]) => message).join('\n');
		log.mockRestore();
		const number = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? NaN);
		return {
			text,
			through: number(/'orders\.csv' is imported through row (\d+) only: The execution was canceled/),
			startAt: number(/set 'Start at Row' in the options to (\d+)/),
			unknown: number(/(\d+) rows after that may or may not have been written/),
		};
	}

	test.each(['create', 'upsert'])('%s: an import that is canceled ends at once, with a true report', async (importMode) => {
		const bulk = { match: { path: '/data/bulk$' }, when: { nth: [4] } };
		// Longer than the test may take.
		await harness.faults({ ...bulk, fault: { kind: 'slowAfter', ms: 600_000 } });
		const log = warnings();
		sent.length = 0;
		const { run } = await imported(rows(600), { parameters: { importMode }, options: { batchSize }, onStart: cancelAt(/\/bulk$/, 4, 200) });
		const before = [...sent];
		expect(before.length).toBeGreaterThan(4);
		expect(run.status).toBe('canceled');
		const { through, startAt, unknown } = reportOf(log);
		expect(startAt).toBe(through + 1);
		const written = new Set(
			(await harness.records()).filter(({ fields }) => fields.buyer === 'b').map(({ fields }) => Number(fields.number) + 1),
		);
		const confirmed = Array.from({ length: through - 1 }, (_, at) => at + 2);
		expect(confirmed.filter((row) => !written.has(row))).toEqual([]);
		// The batch that was running is stored, and the report says that its outcome is unknown.
		const after = [...written].filter((row) => row > through);
		expect(after.length).toBeGreaterThan(0);
		expect(unknown).toBeGreaterThan(0);
		if (importMode === 'create') expect(Math.max(...after)).toBeLessThanOrEqual(through + unknown);
		await new Promise((resolve) => setTimeout(resolve, 300));
		expect(sent).toEqual(before);
		await waitUntil('no file is open', () => openFiles() === 0);
	});

	test('an import that sends nothing because all rows are rejected can be canceled', async () => {
		const count = 100_000;
		const log = warnings();
		const { run } = await imported(`number,buyer\n${'1\n'.repeat(count)}`, {
			// The table's definition is read last, before the first row.
			onStart: cancelAt(/\/tables\/orders$/, 1, 0),
		});
		expect(run.status).toBe('canceled');
		const { text, through } = reportOf(log);
		expect(text).toContain('The execution was canceled');
		// Or NaN, if it was canceled before the first portion.
		expect(through).not.toBeGreaterThanOrEqual(count);
		await waitUntil('no file is open', () => openFiles() === 0);
	});
});

test('rejected lines keep all digits of their numbers, and lines that are nested too deeply all of their text', async () => {
	const deep = `{"number":"1","buyer":"a","comment":${'['.repeat(5000)}${']'.repeat(5000)}}`;
	const long = '{"number":"2","price":12345678901234567890,"buyer":"b"}';
	const { json, rejected } = await imported(`${deep}\n${long}\n{"buyer":"c"}\n{"number":"4","buyer":"d"}\n`);
	expect(json).toMatchObject({ rows: 4, inserted: 1, rejected: 3, confirmedThroughRow: 4 });
	const [first, second, third] = rejected!.split('\n');
	expect(JSON.parse(first!)).toMatchObject({ line: deep, row: 1 });
	expect(JSON.parse(second!)).toMatchObject({ number: '2', price: '12345678901234567890', buyer: 'b', row: 2 });
	expect(third).toMatch(/^\{"buyer":"c","error":.*,"row":3\}$/);
});
