/**
 * Random tables through files and back, and random damage to files: every good row is written once,
 * every bad one is in the file of rejected rows.
 */
import { gzipSync } from 'node:zlib';
import type { IDataObject } from 'n8n-workflow';
import { runsOf } from '../support/part.mts';
import { SeededRandom } from '../support/seededRandom.mts';
import { read, stored, useFileStore } from './attachmentFixtures.cts';
import { useHarness } from './fixtures.cts';

const harness = useHarness();
const TABLE = 'mixed';
const SEEDS = Array.from({ length: runsOf(12) }, (_, seed) => seed + 1);

useFileStore();

beforeEach(async () => {
	await harness.sandbox.admin.createTable({
		app: 'shop',
		table: {
			internalName: TABLE,
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
		},
	});
});

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

const tableRecords = async () => (await harness.records(TABLE)).map(({ id, ver, fields }) => ({ id, ver, fields }));

test.each(SEEDS)('table → file → table, seed %d', async (seed) => {
	const random = new SeededRandom(seed);
	const records = Array.from({ length: 40 }, (_, index) => randomFields(random, index));
	const made = await harness.run('create', { table: TABLE, items: records });
	expect(made.error).toBeUndefined();
	const before = await tableRecords();
	const format = random.of('csv', 'ndjson');
	const exported = await harness.run('exportToFile', {
		table: TABLE,
		parameters: { format },
		options: { delimiter: random.of(',', ';', '\t', '|'), byteOrderMark: random.happens(0.5), columnNames: random.of('names', 'headers') },
	});
	expect(exported.error).toBeUndefined();
	const binary = exported.output('Data Platform')[0]!.binary!;
	const again = async (options: IDataObject = {}) =>
		await harness.run('importFromFile', { table: TABLE, input: [{ json: {}, binary }], options });
	const same = await again({ skipUnchanged: true });
	expect(same.error).toBeUndefined();
	expect(same.json()[0]).toMatchObject({ rows: 40, rejected: 0 });
	expect(await tableRecords()).toEqual(before);
	// Into an empty table, it creates the same records.
	for (const { id } of await harness.records(TABLE)) {
		await harness.sandbox.client().delete(`/apps/shop/tables/${TABLE}/data/${id}`);
	}
	const fresh = await again();
	expect(fresh.json()[0]).toMatchObject({ rows: 40, inserted: 40, rejected: 0 });
	const byKey = (all: Array<{ fields: Record<string, unknown> }>) => new Map(all.map(({ fields }) => [fields.key, fields]));
	expect(byKey(await tableRecords())).toEqual(byKey(before));
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
	const data = await stored('orders.csv', text, 'text/csv');
	const result = await harness.run('importFromFile', { input: [{ json: {}, binary: { data } }] });
	expect(result.error).toBeUndefined();
	const bad = rows.filter(({ isBad }) => isBad);
	expect(result.json()[0]).toMatchObject({ rows: 300, inserted: 300 - bad.length, rejected: bad.length });
	const written = (await harness.records()).map(({ fields }) => fields.number);
	const good = rows.filter(({ isBad }) => !isBad).map(({ index }) => `n${index}`);
	expect(written.sort()).toEqual(good.sort());
	const rejected = (await read(result.output('Data Platform')[0], 'rejected')).toString('utf8');
	const named = rejected.split('\r\n').slice(1, -1);
	expect(named.map((line) => Number(line.split(',').at(-1)))).toEqual(bad.map(({ index }) => index + 2));
	expect(named.every((line) => line.split(',').at(-3) !== '')).toBe(true);
});

/** Imports a file of orders. */
async function imported(file: string | Buffer, options: IDataObject = {}) {
	const data = await stored('orders.csv', file, 'text/csv');
	return await harness.run('importFromFile', { input: [{ json: {}, binary: { data } }], options });
}

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
	await harness.sandbox.admin.createTable({
		app: 'shop',
		table: {
			internalName: 'headers',
			header: 'Headers',
			fields: [{ name: 'key', type: 'text', metadata: { importKey: true } }, ...fields],
		},
		records: ['a', 'b'].map((key) => ({ fields: { key, ...Object.fromEntries(names.map((name) => [name, `${key} ${name}`])) } })),
	});
	const fieldsOf = async () => Object.fromEntries((await harness.records('headers')).map((record) => [record.fields.key, record.fields]));
	const before = await fieldsOf();
	const exported = await harness.run('exportToFile', {
		table: 'headers',
		parameters: { format: random.of('csv', 'csv', 'ndjson') },
		options: { columnNames: 'headers' },
	});
	const binary = exported.output('Data Platform')[0]!.binary!;
	for (const { id } of await harness.records('headers')) {
		await harness.sandbox.client().delete(`/apps/shop/tables/headers/data/${id}`);
	}
	const { error, json } = await harness.run('importFromFile', { table: 'headers', input: [{ json: {}, binary }] });
	expect(error).toBeUndefined();
	expect(json()[0]).toMatchObject({ inserted: 2, rejected: 0 });
	expect(await fieldsOf()).toEqual(before);
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
	const { error } = await imported(damaged);
	expect(error!.message).toMatch(/^The gzip file (ends in the middle|is damaged: \w+|is several)/);
	expect(await harness.writes()).toEqual([]);
});
