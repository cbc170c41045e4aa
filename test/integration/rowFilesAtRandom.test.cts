/**
 * Random tables through files and back, and random damage to files: every good row is written once,
 * every bad one is in the file of rejected rows.
 */
import { gzipSync } from 'node:zlib';
import type { IDataObject } from 'n8n-workflow';
import { runsOf } from '../support/part.mts';
import { SeededRandom } from '../support/seededRandom.mts';
import { itemWithFile, read, useFileStore } from './attachmentFixtures.cts';
import { useHarness, type Run } from './fixtures.cts';

const harness = useHarness();
const SEEDS = Array.from({ length: runsOf(12) }, (_, seed) => seed + 1);

useFileStore();

const mixed = {
	internalName: 'mixed',
	header: 'Mixed',
	fields: [
		{ name: 'key', header: 'Key, of it', type: 'text', metadata: { importKey: true } },
		{ name: 'text', header: '=Text', type: 'long_text' },
		{ name: 'error', header: 'Own "error"', type: 'text' },
		{ name: 'count', type: 'number' },
		{ name: 'amount', type: 'decimal' },
		{ name: 'done', type: 'checkbox' },
		{ name: 'day', type: 'date' },
		{ name: 'at', type: 'datetime' },
		{ name: 'tags', type: 'chips' },
		{ name: 'page', type: 'url_link' },
		{ name: 'cost', type: 'money_with_currency' },
	],
};

/** Runs an operation that must succeed. */
async function run(operation: string, more: Run) {
	const result = await harness.run(operation, more);
	expect(result.error).toBeUndefined();
	return result;
}

/** Exports a table. Returns it as the input of an import. */
async function exported(table: string, format: string, options: IDataObject) {
	const result = await run('exportToFile', { table, parameters: { format }, options });
	return [{ json: {}, binary: result.output('Data Platform')[0]!.binary! }];
}

async function removeAll(table: string) {
	for (const { id } of await harness.records(table)) await harness.remove(id, table);
}

/** The fields of a table's records, by key: two imports don't write in the same order. */
const fieldsByKey = async (table: string) => new Map((await harness.records(table)).map(({ fields }) => [fields.key, fields]));

const LETTERS: [string, ...string[]] = ['a', ...'b"\',;|\t\r\n =+-@[]{}:\\äé€😀0'];

const textOf = (random: SeededRandom, length: number) =>
	Array.from({ length: random.between(1, length) }, () => random.of(...LETTERS)).join('');

function randomFields(random: SeededRandom, index: number): IDataObject {
	const all: IDataObject = {
		text: textOf(random, 12),
		error: textOf(random, 3),
		count: random.between(-1e9, 1e9),
		amount: random.between(-1e6, 1e6) / random.of(1, 8, 1000, 7),
		done: random.happens(0.5),
		day: `20${random.between(10, 99)}-0${random.between(1, 9)}-1${random.between(0, 9)}`,
		at: `2026-0${random.between(1, 9)}-1${random.between(0, 9)}T0${random.between(0, 9)}:30:00Z`,
		tags: Array.from({ length: random.between(1, 3) }, (_, at) => `${at}${textOf(random, 3)}`),
		page: { href: `https://example.com/${random.between(1, 99)}`, description: textOf(random, 4) },
		cost: { amount: random.between(1, 99) / 4, currency: 'EUR' },
	};
	const kept = Object.entries(all).filter(() => random.happens(0.7));
	return { key: `k${index} ${textOf(random, 3)}`, ...Object.fromEntries(kept) };
}

test.each(SEEDS)('a table that is exported and imported again is the same, seed %d', async (seed) => {
	const random = new SeededRandom(seed);
	const records = Array.from({ length: 40 }, (_, index) => randomFields(random, index));
	const table = 'mixed';
	await harness.createTable(mixed);
	await run('create', { table, items: records });
	const before = await harness.records(table);
	const fields = await fieldsByKey(table);
	const format = random.of('csv', 'ndjson');
	const options = {
		delimiter: random.of(',', ';', '\t', '|'),
		byteOrderMark: random.happens(0.5),
		columnNames: random.of('names', 'headers'),
	};
	const input = await exported(table, format, options);
	const same = await run('importFromFile', { table, input, options: { skipUnchanged: true } });
	expect(same.json()[0]).toMatchObject({ rows: 40, rejected: 0 });
	expect(await harness.records(table)).toEqual(before);
	await removeAll(table);
	const fresh = await run('importFromFile', { table, input });
	expect(fresh.json()[0]).toMatchObject({ rows: 40, inserted: 40, rejected: 0 });
	expect(await fieldsByKey(table)).toEqual(fields);
});

type Damage = (line: string) => string;

/** Ways to damage a line, and whether its row is still good. */
const DAMAGES: [Damage, ...Damage[]] = [
	(line) => line.slice(0, line.lastIndexOf(',')),
	(line) => `${line},more`,
	(line) => line.replace(/^[^,]*/, ''),
	(line) => line.replace(/,\d+$/, ',many'),
	(line) => `"${line.slice(0, 2)}"x${line.slice(2)}`,
	(line) => line.replace(',', ',\0'),
	(line) => line.replace(/,[^,]*,/, `,${'x'.repeat(31)},`),
];

test.each(SEEDS)('good rows are written once, bad ones rejected, seed %d', async (seed) => {
	const random = new SeededRandom(1000 + seed);
	const rows = Array.from({ length: 300 }, (_, index) => {
		const line = `n${index},Buyer ${index},${index}`;
		const isBad = random.happens(0.2);
		return { index, isBad, line: isBad ? random.of(...DAMAGES)(line) : line };
	});
	const ends = ['\n', '\r\n', '\r'] as const;
	const text = `number,buyer,price\n${rows.map(({ line }) => line + random.of(...ends)).join('')}`;
	const result = await run('importFromFile', { input: await itemWithFile('orders.csv', text) });
	const bad = rows.filter(({ isBad }) => isBad);
	expect(result.json()[0]).toMatchObject({ rows: 300, inserted: 300 - bad.length, rejected: bad.length });
	const good = rows.filter(({ isBad }) => !isBad).map(({ index }) => `n${index}`);
	expect((await harness.values('number')).sort()).toEqual(good.sort());
	const rejected = (await read(result.output('Data Platform')[0], 'rejected')).toString('utf8');
	const named = rejected.split('\r\n').slice(1, -1);
	expect(named.map((line) => Number(line.split(',').at(-1)))).toEqual(bad.map(({ index }) => index + 2));
	expect(named.every((line) => line.split(',').at(-3) !== '')).toBe(true);
});

/** The columns that this node adds to a record's fields, and others that look like them. */
const HEADERS: [string, ...string[]] = [
	'error',
	...['outcome', 'event', 'mergedInto', 'before', 'after', 'uploaded', 'id', 'created', 'ver'],
	...['Error', 'EVENT', 'field_error', 'field_field_outcome', 'Name (import key)', 'row', 'field'],
	...[' Name ', 'Name', "'=x", '=x', 'a;b', 'f1', 'F2', ' ', '__proto__', 'constructor'],
];

test.each(SEEDS)('fields of any header are exported and imported, seed %d', async (seed) => {
	const random = new SeededRandom(6000 + seed);
	const names = ['f1', 'f2', 'f3', 'f4', 'error', 'outcome', 'field_event'];
	const fields = names.map((name) => ({ name, header: random.of(...HEADERS), type: 'text' }));
	const key = { name: 'key', type: 'text', metadata: { importKey: true } };
	const records = ['a', 'b'].map((value) => ({ key: value, ...Object.fromEntries(names.map((name) => [name, `${value} ${name}`])) }));
	const table = 'headers';
	await harness.createTable({ internalName: table, header: 'Headers', fields: [key, ...fields] }, records);
	const before = await fieldsByKey(table);
	const input = await exported(table, random.of('csv', 'csv', 'ndjson'), { columnNames: 'headers' });
	await removeAll(table);
	const { json } = await run('importFromFile', { table, input });
	expect(json()[0]).toMatchObject({ inserted: 2, rejected: 0 });
	expect(await fieldsByKey(table)).toEqual(before);
});

test.each(SEEDS)('a gzip file that is damaged anywhere imports no row, seed %d', async (seed) => {
	const random = new SeededRandom(7000 + seed);
	const lines = Array.from({ length: 12_000 }, (__, at) => `n${at},${random.between(1, 1e9)}\n`);
	const packed = gzipSync(`number,buyer\n${lines.join('')}`);
	const damaged = random.happens(0.5) ? packed.subarray(0, random.between(3, packed.length - 1)) : Buffer.from(packed);
	// After the header of the gzip file, in which nothing checks the name and the time.
	if (damaged.length === packed.length) {
		damaged[random.between(10, packed.length - 1)]! ^= 1 << random.between(0, 7);
	}
	const { error } = await harness.run('importFromFile', { input: await itemWithFile('orders.csv', damaged) });
	expect(error!.message).toMatch(/^The gzip file is damaged, cut off, or several joined files: \w+/);
	expect(await harness.writes()).toEqual([]);
});
