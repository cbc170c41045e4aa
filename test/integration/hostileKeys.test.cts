/**
 * Names that every JavaScript object already has, as fields, IDs, keys and in responses: their
 * values are written and read like any others, and nothing else changes.
 */
import type { IDataObject } from 'n8n-workflow';
import { defined, loadColumns, picked } from '../support/engine/engine.cts';
import { watch } from '../support/engine/polls.cts';
import { APP, located, outcomes, startWorkflow, UNKNOWN_ID, useHarness, type Run } from './fixtures.cts';
import { useStubServer } from './useStubServer.cts';

const harness = useHarness();
const stranger = useStubServer();

const odd = {
	internalName: 'odd',
	header: 'Odd',
	fields: [
		{ name: 'constructor', type: 'text', metadata: { importKey: true } },
		{ name: 'toString', type: 'text' },
		{ name: 'hasOwnProperty', type: 'number' },
		{ name: 'valueOf', type: 'checkbox' },
		{ name: 'isPrototypeOf', type: 'chips' },
		{ name: 'then', type: 'text' },
		{ name: 'toJSON', type: 'text' },
		{ name: 'length', type: 'number' },
	],
};

/** Parses JSON, which creates an own property even for `__proto__`. */
const json = (text: string) => JSON.parse(text) as IDataObject;

const full = json(
	`{"constructor":"c1","toString":"t","hasOwnProperty":7,"valueOf":true,
	"isPrototypeOf":["a","b"],"then":"now","toJSON":"j","length":3}`,
);

const run = async (operation: string, more: Run = {}) => await harness.run(operation, { table: 'odd', ...more });

const stored = async () => (await harness.records('odd')).map(({ fields }) => fields);

const inherited = JSON.stringify(Object.getOwnPropertyNames(Object.prototype));
afterEach(() => {
	expect(JSON.stringify(Object.getOwnPropertyNames(Object.prototype))).toBe(inherited);
	expect(({} as IDataObject).polluted).toBeUndefined();
	expect(([] as unknown as IDataObject).polluted).toBeUndefined();
});

describe('fields named like the properties of every object', () => {
	beforeEach(async () => void (await harness.createTable(odd)));

	test('are written and read back', async () => {
		const written = await run('upsert', { items: [full, { constructor: 'c2' }] });
		expect(outcomes(written)).toEqual(['inserted', 'inserted']);
		expect(await stored()).toEqual([full, json('{"constructor":"c2"}')]);
		const parameters = { simple: false, returnAll: true, sort: { by: [{ field: 'constructor' }] } };
		const read = (await run('getAll', { parameters })).json().map(({ fields }) => fields as IDataObject);
		expect(read[0]).toMatchObject(full);
		expect([read[1]!.constructor, read[1]!.toString]).toEqual(['c2', null]);
	});

	test('are created, updated and cleared one by one', async () => {
		const created = await run('create', { items: [full] });
		expect(created.error).toBeUndefined();
		const parameters = { recordId: created.json()[0]!.id };
		const update = { toString: 'new', valueOf: '', isPrototypeOf: null };
		const updated = await run('update', { items: [update], parameters, options: { emptyValues: 'clear' } });
		expect(updated.error).toBeUndefined();
		const { valueOf: _valueOf, isPrototypeOf: _isPrototypeOf, ...kept } = full;
		expect(await stored()).toEqual([{ ...kept, toString: 'new' }]);
	});

	// n8n itself drops `constructor`, `prototype` and `__proto__` from manual mappings.
	test('are mapped by hand', async () => {
		const columns = defined(json('{"toString":"={{ $json.n }}","then":"now"}'));
		const result = await run('create', { items: [{ n: 'x' }], parameters: { columns } });
		expect(outcomes(result)).toEqual(['inserted']);
		expect(await stored()).toEqual([json('{"toString":"x","then":"now"}')]);
	});

	test('are offered in the editor', async () => {
		const parameters = { application: picked(APP), table: picked('odd'), resource: 'record' };
		const { fields } = await loadColumns(harness.credential, 'getColumnsToUpsert', parameters);
		expect(fields.map(({ id }) => id)).toEqual(odd.fields.map(({ name }) => name));
	});

	test('are watched by the trigger', async () => {
		await harness.createTable(odd, [json('{"constructor":"c1"}')]);
		const watching = await watch(harness.credential, {
			application: picked(APP),
			table: picked('odd'),
			triggerOn: 'createdOrUpdated',
			startFrom: 'beginning',
			options: { watchedFields: ['toString'], fieldsToLoad: ['toString', 'constructor'] },
		});
		const [item] = (await watching.poll()) ?? [];
		const { event, id, created, modified, ver, ...fields } = item!.json;
		expect([event, id, created, modified, ver]).not.toContain(undefined);
		expect(fields).toEqual({ toString: null, constructor: 'c1' });
	});
});

describe('IDs and import keys with such names', () => {
	const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype'];

	test('are matched by their import key', async () => {
		await harness.createTable(odd);
		const items = ids.map((id) => json(`{"constructor":"${id}","then":"${id}"}`));
		expect(outcomes(await run('upsert', { items }))).toEqual(ids.map(() => 'inserted'));
		await harness.faults({ when: { nth: [2] }, fault: { kind: 'resetAfter' } });
		const changed = items.map((item) => ({ ...item, length: 1 }));
		const written = outcomes(await run('upsert', { items: changed, options: { batchSize: 2 } }));
		expect(written).toEqual(['written', 'written', 'updated', 'updated', 'updated']);
		expect(await stored()).toEqual(changed);
	});

	// The sandbox assigns its own IDs, so a stub server plays the platform.
	test('are emitted once by the trigger, also after a restart of n8n', async () => {
		const times = ids.map((_, index) => `2026-11-21T10:00:0${index}Z`);
		stranger.respondWith({ records: ids.map((id, at) => ({ id, ver: 1, created: times[at], modified: times[at], fields: { a: id } })) });
		const place = { application: picked('crm'), table: picked('t'), triggerOn: 'createdOrUpdated', startFrom: 'beginning' };
		const parameters = { ...place, options: { watchedFields: ['a'] } };
		const watching = await watch(stranger.credential, parameters);
		expect((await watching.poll())?.map((item) => item.json.id)).toEqual(ids);
		expect(await watching.poll()).toBeNull();
		const restarted = await watch(stranger.credential, parameters, { staticData: watching.staticData() });
		expect(await restarted.poll()).toBeNull();
	});
});

describe('__proto__ in requests', () => {
	const hostile = json('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":1}}}');

	test('is a key like any other in a webhook call', async () => {
		const parameters = { bodySource: 'json', bodyJson: JSON.stringify(hostile) };
		const result = await startWorkflow(stranger.credential, `${stranger.origin}/hook`, { parameters });
		expect(result.error).toBeUndefined();
		expect(stranger.requests.map(({ body }) => body)).toEqual([JSON.stringify(hostile)]);
	});

	test('is no field of a table, with the other values written', async () => {
		const items = [json('{"number":"1","buyer":"x","__proto__":{"polluted":true}}')];
		const refused = await harness.run('create', { items });
		expect(refused.error?.message).toContain("has no field '__proto__'");
		const options = { unknownFields: 'ignore' };
		expect(outcomes(await harness.run('create', { items, options }))).toEqual(['inserted']);
		expect((await harness.records())[0]?.fields).toEqual({ number: '1', buyer: 'x' });
	});
});

describe('__proto__ in responses', () => {
	const field = '"__proto__":{"polluted":true}';
	const responses = {
		record: `{"data":{"id":"${UNKNOWN_ID}","ver":1,"fields":{"a":1,${field}},${field}}}`,
		records: `{"data":[{"id":"r1","ver":1,"fields":{"a":1,${field}},${field}}],${field}}`,
		errors: `{"errors":[{"id":"x","message":"no",${field}}],${field}}`,
		table: `{"data":{"id":"t","internalNameApi":"t","items":[{"name":"__proto__","type":"constructor",
			"metadata":{"importKey":true,${field}}},{"name":"a","type":"__proto__"},{"name":"b","type":"toString"}],
			"settings":{"userFilters":[],${field}}}}`,
	};
	test.each([
		['get', true],
		['get', false],
		['getAll', true],
		['getAll', false],
	])('of records is a field like any other: %s, simplified: %j', async (operation, simple) => {
		stranger.respond = ({ target }) => {
			if (target.includes('/data/')) return { body: responses.record };
			return { body: target.includes('skip=') ? '{"data":[]}' : responses.records };
		};
		const result = await stranger.run(operation, { parameters: { simple, ...(operation === 'get' && { recordId: located(UNKNOWN_ID) }) } });
		expect(result.error).toBeUndefined();
		const [output] = result.json();
		const fields = (simple ? output : output!.fields) as IDataObject;
		expect(fields.a).toBe(1);
		expect(fields.polluted).toBeUndefined();
		expect(Object.getOwnPropertyDescriptor(fields, '__proto__')?.value).toEqual({ polluted: true });
	});

	test('of a table is a field, and a field of a type with such a name is not written', async () => {
		stranger.respond = ({ target }) => ({
			body: target.includes('bulk') ? '{"data":[],"bulk":{"successCount":0}}' : target.includes('/data') ? '{"data":[]}' : responses.table,
		});
		await stranger.run('upsert', { items: [json('{"__proto__":"key","a":"x","b":{"no":"text"}}')] });
		const sent = stranger.requests.filter(({ target }) => target.endsWith('/bulk') || target.includes('/bulk?'));
		expect(sent[0]?.body).toContain('{"fields":{"__proto__":"key"}}');
	});
});
