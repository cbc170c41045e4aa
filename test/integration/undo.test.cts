/**
 * Undo: what Sync, Create or Update and Update return as `previous` puts the table back, by the nodes
 * of examples/undo-a-sync.json.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { runInNewContext } from 'node:vm';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { runsOf } from '../support/part.mts';
import { SeededRandom } from '../support/seededRandom.mts';
import { read, useFileStore } from './attachmentFixtures.cts';
import { APP, byFields, byId, goingOn, numbered, order, outcomes, useHarness, type OnError, type Run } from './fixtures.cts';

const harness = useHarness();
useFileStore();

const { nodes } = JSON.parse(readFileSync(resolve(__dirname, '../../examples/undo-a-sync.json'), 'utf8')) as {
	nodes: Array<{ name: string; parameters: INodeParameters; onError?: OnError }>;
};

/** The parameters of the example's node that are not about its table. */
function parametersOf(name: string) {
	const { parameters: all, onError } = nodes.find((node) => node.name === name)!;
	const { application, table, columns, options, ...parameters } = all;
	return { parameters, options: options as IDataObject, onError };
}

type Undone = { outcome: string; id: string; fields?: IDataObject };

/** Does what the example does after a sync. @returns the items that fail */
async function undo(synced: IDataObject[], table: string) {
	const { jsCode } = nodes.find(({ name }) => name === 'What to undo')!.parameters;
	const $ = () => ({ all: () => synced.map((json) => ({ json })) });
	const result = runInNewContext(`(() => { ${jsCode as string} })()`, { $ }) as Array<{ json: Undone }>;
	const items = (JSON.parse(JSON.stringify(result)) as typeof result).map(({ json }) => json);
	const branches = [
		['inserted', 'delete', 'Delete what was created'],
		['deleted', 'create', 'Create what was deleted'],
		['', 'update', 'Put values back'],
	] as const;
	const failed: IDataObject[] = [];
	for (const [outcome, operation, name] of branches) {
		const isOther = (item: Undone) => outcome === '' && branches.every(([other]) => other !== item.outcome);
		const own = items.filter((item) => item.outcome === outcome || isOther(item)) as unknown as IDataObject[];
		const result = await harness.run(operation, { table, items: own, ...parametersOf(name) });
		expect(result.error).toBeUndefined();
		failed.push(...result.json().filter((json) => json.error));
	}
	return failed;
}

const choices = (...values: string[]) => ({ items: values.map((value, at) => ({ value, order: at })) });

const drawn = {
	internalName: 'drawn',
	header: 'Drawn',
	fields: [
		{ name: 'key', type: 'text', metadata: { importKey: true, required: true } },
		{ name: 'text', type: 'long_text' },
		{ name: 'count', type: 'number' },
		{ name: 'amount', type: 'decimal' },
		{ name: 'done', type: 'checkbox' },
		{ name: 'day', type: 'date' },
		{ name: 'at', type: 'datetime' },
		{ name: 'state', type: 'dropdown', metadata: choices('open', 'sent') },
		{ name: 'channels', type: 'dropdownmulti', metadata: choices('mail', 'web') },
		{ name: 'tags', type: 'chips' },
		{ name: 'page', type: 'url_link' },
		{ name: 'cost', type: 'money_with_currency' },
		{ name: 'note', type: 'schema_link', metadata: { linkTableId: 'notes' } },
		{ name: 'label', type: 'calculated', metadata: { template: '{key}: {count}' } },
		// Names that the output has beside a record's fields.
		{ name: 'previous', type: 'text' },
		{ name: 'outcome', type: 'text' },
	],
};

/** Values of each field, also those that mean no value. */
const valuesOf = (notes: string[]): Record<string, readonly [unknown, ...unknown[]]> => ({
	text: [null, '', 'a\nb', '  spaced '],
	count: [null, 0, 7],
	amount: [null, 0.1, -2],
	done: [null, true, false],
	day: [null, '2026-02-28', '2024-02-29'],
	at: [null, '2026-03-29T01:30:00Z', '2026-01-01T00:00:00Z'],
	state: [null, 'open', 'sent'],
	channels: [null, [], ['mail'], ['mail', 'web']],
	tags: [null, [], ['b', 'a']],
	page: [null, { href: 'https://example.com/a' }, { href: 'https://example.com/', description: 'b' }],
	cost: [null, { amount: 1.5, currency: 'EUR' }, { amount: 0, currency: 'CZK', date: '2021-05-06' }],
	note: [null, ...notes.map((id) => ({ id }))],
	previous: [null, 'p'],
	outcome: [null, 'inserted', 'x'],
});

function drawFields(random: SeededRandom, key: number, notes: string[]): IDataObject {
	const entries = Object.entries(valuesOf(notes)).filter(() => random.happens(0.7));
	return { key: `k${key}`, ...Object.fromEntries(entries.map(([name, values]) => [name, random.of(...values)])) } as IDataObject;
}

/** An empty value may be stored as another one. */
const withoutBlanks = (fields: IDataObject) =>
	Object.fromEntries(
		Object.entries(fields).filter(([, value]) => ![null, '[]', '""'].includes(value === null ? null : JSON.stringify(value))),
	);

/** The records of a table without what a new record can't have again. */
const content = async (table: string) =>
	Object.fromEntries((await harness.records(table)).map(({ fields }) => [fields.key, withoutBlanks(fields as IDataObject)]));

const guards = { maxRecordsToRemove: 100, maxShareToRemove: 100 };
const removals: [object, ...object[]] = [
	{ missingRecords: 'delete', ...guards },
	{ missingRecords: 'setFields', fieldsToSet: { entry: [{ field: 'state', value: 'sent' }] }, ...guards },
	{ missingRecords: 'leave' },
];

const previousLines = (text: string): IDataObject[] =>
	text
		.split('\n')
		.filter((line) => line !== '')
		.map((line) => JSON.parse(line) as IDataObject);

test.each(Array.from({ length: runsOf(12) }, (_, at) => at + 1))('a sync at random is undone: seed %d', async (seed) => {
	const random = new SeededRandom(seed);
	const notes = (await harness.fill('notes', { text: 'a' }, { text: 'b' })).map(({ id }) => id);
	const size = random.between(2, 9);
	const indexes = Array.from({ length: size }, (_, at) => at);
	await harness.createTable(
		drawn,
		indexes.map((at) => drawFields(random, at, notes)),
	);
	await harness.settings({
		emptyFields: random.of('null', 'absent'),
		links: random.of('nested', 'flat'),
		dates: random.of('current', 'older'),
		bulkOrder: random.of('request', 'other'),
	});
	const before = await content('drawn');
	const items = [...indexes.filter(() => random.happens(0.7)), size, size + 1].map((at) => drawFields(random, at, notes));
	const isSummarized = random.happens(0.5);
	const options = {
		previousValues: true,
		inputValues: { settings: { emptyValues: random.of('clear', 'leave') } },
		output: isSummarized ? 'summary' : random.of('sent', 'stored'),
	};
	const parameters = random.of(...removals);
	const result = await harness.run('sync', { table: 'drawn', items, parameters, options });
	expect(result.error).toBeUndefined();
	expect(await content('drawn')).not.toEqual(before);
	const [output] = result.output('Data Platform');
	expect(await undo(isSummarized ? previousLines(String(await read(output, 'previous'))) : result.json(), 'drawn')).toEqual([]);
	expect(await content('drawn')).toEqual(before);
});

describe('undone', () => {
	const lost = { match: { path: '/data/bulk$' }, fault: { kind: 'resetAfter' } } as const;
	const unread = {
		match: { path: '/data/(?!bulk)' },
		when: { nth: [2, 3, 4, 5, 6, 7, 8, 9] },
		fault: { kind: 'status' as const, status: 403 },
	};
	const withoutImport = async () => {
		await harness.settings({ bulkRight: 'import', createStatus: 200 });
		const permissions = [{ app: APP, table: '*', allow: ['structure', 'read', 'create', 'update'] }];
		return { credential: { token: await harness.sandbox.admin.createToken({ name: 'robot', type: 'role', permissions }) } };
	};
	const items = [order(1, { price: 6 }), order(2, { price: 7 }), order(2, { price: 8 }), order(1, { price: 9 })];

	test.each<[what: string, items: IDataObject[], before: () => Promise<unknown>]>([
		['items with one key', items, async () => {}],
		['a new record in a request of its own', items.slice(0, 2), withoutImport],
		['items that may have been written', items.slice(0, 1), async () => await harness.faults(lost, unread)],
	])('%s, from the items and from the file', async (_, written, before) => {
		for (const output of ['sent', 'summary']) {
			await harness.reset();
			await harness.fill('orders', order(1, { price: 5 }));
			const access = (await before()) as object | undefined;
			const options = { previousValues: true, output };
			const result = await harness.run('upsert', { items: written, options, ...goingOn, ...access });
			expect(await harness.values('price')).not.toEqual([5]);
			await harness.faults();
			const [item] = result.output('Data Platform');
			const synced = output === 'summary' ? previousLines(String(await read(item, 'previous'))) : result.json();
			if (output === 'summary') expect(new Set(synced.map(({ id }) => id)).size).toBe(synced.length);
			expect(await undo(synced, 'orders')).toEqual([]);
			expect(await harness.values('price')).toEqual([5]);
		}
	});

	test('without links to records that were deleted', async () => {
		const fields = [
			{ name: 'key', type: 'text', metadata: { importKey: true } },
			{ name: 'age', type: 'number' },
			{ name: 'boss', type: 'schema_link', metadata: { linkTableId: 'people' } },
		];
		const people = ['a', 'b', 'c'].map((key) => ({ key, age: 1 }));
		const [, boss] = await harness.createTable({ internalName: 'people', header: 'People', fields }, people);
		await harness.run('upsert', { table: 'people', items: ['a', 'c'].map((key) => ({ key, boss: { id: boss!.id } })) });
		const options = { previousValues: true, inputValues: { settings: { emptyValues: 'clear' } } };
		const items = [{ key: 'c', age: 9, boss: null }];
		const result = await harness.run('sync', { table: 'people', items, parameters: removals[0], options });
		expect(outcomes(result)).toEqual(['updated', 'deleted', 'deleted']);
		expect(await undo(result.json(), 'people')).toEqual([]);
		expect(await content('people')).toEqual(Object.fromEntries(people.map((person) => [person.key, person])));
	});

	test('though others deleted some of the records meanwhile', async () => {
		await harness.fill('orders', order(1, { price: 5 }), order(2, { price: 5 }));
		const changed = [1, 2, 3, 4].map((number) => order(number, { price: 6 }));
		const synced = (await harness.run('upsert', { items: changed, options: { previousValues: true } })).json();
		const gone = [synced[0]!, synced[2]!].map(({ id }) => ({ id }));
		await harness.run('delete', { items: gone, parameters: byId });
		expect(await undo(synced, 'orders')).toHaveLength(gone.length);
		expect(await harness.values('price')).toEqual([5]);
	});
});

const previous = (result: Awaited<ReturnType<typeof harness.run>>) => result.json().map((json) => json.previous);

describe('previous values', () => {
	const stored = () => harness.fill('orders', order(1, { price: 5 }), order(2), order(3));
	const items = [order(1, { price: 6 }), order(2, { price: 7 }), order(3), order(4)];
	const rules = { fieldRules: { field: [{ field: 'price', rule: 'ifEmpty' }] } };

	test.each<[what: string, operation: string, run: Run, expected: unknown[]]>([
		['Create or Update', 'upsert', { items }, [{ price: 5 }, { price: null }, undefined, undefined]],
		['with field rules', 'upsert', { items, options: rules }, [undefined, { price: null }, undefined, undefined]],
		['Update by other fields', 'update', { items: items.slice(0, 2), parameters: byFields('number') }, [{ price: 5 }, { price: null }]],
		[
			'with all fields that a full update clears',
			'update',
			{
				items: [order(1, { price: 6 }), { number: '1', buyer: 'Buyer 1' }].slice(1),
				parameters: { ...byFields('number'), updateMode: 'replace' },
			},
			[{ price: 5 }],
		],
		['none in a dry run', 'upsert', { items, options: { dryRun: true } }, [undefined, undefined, undefined, undefined]],
	])('%s', async (_, operation, { options, ...run }, expected) => {
		await stored();
		expect(previous(await harness.run(operation, { ...run, options: { previousValues: true, ...options } }))).toEqual(expected);
	});

	test('Update by ID', async () => {
		const [first] = await stored();
		const options = { previousValues: true };
		const result = await harness.run('update', {
			items: [{ id: first.id, price: 6 }],
			parameters: { matchOn: 'recordId', ...byId },
			options,
		});
		expect(previous(result)).toEqual([{ price: 5 }]);
	});

	test('without the option there are none, and no request more', async () => {
		await stored();
		const result = await harness.run('upsert', { items, options: { skipUnchanged: true } });
		expect(previous(result)).toEqual([undefined, undefined, undefined, undefined]);
		const { length } = await harness.requests();
		await stored();
		await harness.run('upsert', { items, options: { previousValues: true } });
		expect(await harness.requests()).toHaveLength(length);
	});

	test('of an item that may have been written, in its details', async () => {
		await stored();
		const lost = { match: { path: '/data/bulk$' }, fault: { kind: 'resetAfter' } } as const;
		const forbidden = { kind: 'status', status: 403 } as const;
		await harness.faults(lost, { match: { path: '/data/(?!bulk)' }, when: { nth: [2, 3, 4, 5, 6, 7, 8, 9] }, fault: forbidden });
		const result = await harness.run('upsert', { items: items.slice(0, 1), ...goingOn, options: { previousValues: true } });
		expect(result.json()).toMatchObject([{ details: { outcome: 'unknown', previous: { price: 5 } } }]);
	});

	test('in a summary, a file has a line for each record that was created, changed or deleted', async () => {
		await stored();
		const options = { previousValues: true, output: 'summary' };
		const run = { items: items.slice(0, 3), parameters: removals[0], options };
		const [summary] = (await harness.run('sync', { ...run, items: [...items.slice(0, 2), order(4)] })).output('Data Platform');
		const ids = Object.fromEntries((await harness.records()).map(({ id, fields }) => [fields.number, id]));
		expect(previousLines(String(await read(summary, 'previous')))).toEqual([
			{ outcome: 'updated', id: ids[1], previous: { price: 5 } },
			{ outcome: 'updated', id: ids[2], previous: { price: null } },
			{ outcome: 'inserted', id: ids[4] },
			{
				outcome: 'deleted',
				id: expect.any(String) as string,
				previous: expect.objectContaining({ number: '3', buyer: 'Buyer 3' }) as object,
			},
		]);
		const again = await harness.run('upsert', { items: items.slice(0, 2), options });
		expect([outcomes(again), again.output('Data Platform')[0]!.binary]).toEqual([[undefined], undefined]);
	});
});

test('previous values of 2,000 items in a summary are one item', async () => {
	await harness.fill('orders', ...numbered(2000));
	const options = { previousValues: true, output: 'summary' };
	const result = await harness.run('upsert', { items: numbered(2000, { price: 2 }), options });
	const [summary, ...others] = result.output('Data Platform');
	expect(others).toEqual([]);
	expect(previousLines(String(await read(summary, 'previous')))).toHaveLength(2000);
});
