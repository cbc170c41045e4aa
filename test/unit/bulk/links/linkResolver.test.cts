/** Links by business key, on tables in memory. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { idsByKey, LinkResolver, MAX_REMEMBERED } from '../../../../nodes/DataPlatform/bulk/links/linkResolver.ts';
import type { DefinedTable, FieldDefinition, FieldValues } from '../../../../nodes/DataPlatform/api/types.ts';
import { InputError, ServiceError } from '../../../../nodes/DataPlatform/transport/errors.ts';
import { fieldOf, planRecords, tableOf } from '../../fixtures.cts';
import { httpResponse } from '../../stubPlatform.cts';
import { StubTables } from '../../stubTables.cts';
import type { LinkRule, PlanInput } from '../../../../nodes/DataPlatform/bulk/terms.ts';

const to = (name: string, multiple = false, more = {}) => fieldOf(name, 'schema_link', { linkTableId: 'companies', multiple, ...more });

const people = {
	...tableOf(
		fieldOf('name', 'text', { importKey: true }),
		to('company'),
		to('clients', true),
		to('shown', false, { readOnly: true }),
		fieldOf('site', 'url_link'),
	),
	id: 'people',
};

const companies = {
	...tableOf(
		fieldOf('name', 'text', { importKey: true }),
		fieldOf('city'),
		fieldOf('number', 'number'),
		fieldOf('logo', 'picture'),
		to('parent'),
	),
	id: 'companies',
	internalName: 'companies',
	header: 'Companies',
};

const stored: Record<string, FieldValues> = {
	a: { name: 'Acorn', city: 'Oslo', number: 1 },
	b: { name: 'Birch', city: 'Oslo', number: 2 },
	c: { name: 'Cedar, Inc', city: 'Rome', number: 3 },
};

const byName: LinkRule = { ifNotFound: 'error' };
const orEmpty: LinkRule = { ifNotFound: 'leaveEmpty' };
const orCreate: LinkRule = { ifNotFound: 'create' };
const byField = (linkedField: string): LinkRule => ({ linkedField, ifNotFound: 'error' });

interface Setup {
	rule?: LinkRule;
	rules?: Record<string, LinkRule>;
	target?: Partial<typeof companies>;
	targetOf?: (field: FieldDefinition) => Promise<DefinedTable>;
	table?: typeof people;
	/** Responds instead of the tables. */
	respond?: Parameters<StubTables['client']>[0];
}

function setUp(setup: Setup = {}) {
	const { rule = byName, rules, target = {}, targetOf, table = people, respond } = setup;
	const stub = new StubTables({ companies: stored, people: {} });
	const client = stub.client(respond);
	const linked = { client, at: { table: 'companies' }, table: { ...companies, ...target } };
	const resolver = new LinkResolver(targetOf ?? (async () => linked));
	const of = new Map(Object.entries(rules ?? Object.fromEntries(table.fields.map(({ name }) => [name, rule]))));
	const resolve = async (values: unknown[], createsRows?: boolean) =>
		await resolver.resolve(
			table,
			values.map((entry, index): PlanInput => ({ index, values: entry })),
			of,
			createsRows,
		);
	return { stub, resolver, resolve };
}

/** Values with `a` in place of `{ id: 'a' }`. */
const shown = (values: unknown): unknown =>
	JSON.parse(JSON.stringify(values), (_, value: unknown) => {
		const [id, ...others] = Object.entries(value ?? {});
		return id?.[0] === 'id' && others.length === 0 ? (id[1] as unknown) : value;
	});

/** What one item's values become, or what is wrong with them. */
async function resolved(values: unknown, setup?: Setup) {
	const [row] = await setUp(setup).resolve([values]);
	return row!.problems?.map(({ field, message }) => `${field}: ${message}`).join('; ') ?? shown(row!.values);
}

describe('values of links become ids', () => {
	test.each<[given: object, becomes: object]>([
		[{ company: 'Acorn' }, { company: 'a' }],
		[{ company: { id: 'x', url: 'u' } }, { company: 'x' }],
		[{ company: 'Cedar, Inc' }, { company: 'c' }],
		[{ clients: 'Acorn' }, { clients: ['a'] }],
		[{ clients: ['Acorn', 'Birch'] }, { clients: ['a', 'b'] }],
		[{ clients: '["Acorn","Birch"]' }, { clients: ['a', 'b'] }],
		[{ clients: 'Cedar, Inc' }, { clients: ['c'] }],
		[{ clients: { id: 'x' } }, { clients: ['x'] }],
		[{ clients: [{ id: 'x' }, 'Acorn'] }, { clients: ['x', 'a'] }],
		[{ clients: { add: ['Acorn'] } }, { clients: ['a'] }],
		[{ clients: { remove: ['Birch'] } }, { clients: { add: [], remove: ['b'] } }],
		[{ clients: { add: ['Acorn'], remove: ['Birch'] } }, { clients: { add: ['a'], remove: ['b'] } }],
		// Nothing to look up.
		[
			{ company: null, clients: [] },
			{ company: null, clients: [] },
		],
		[{ company: '' }, { company: '' }],
		[{ clients: { count: 2, url: 'u' } }, { clients: { count: 2, url: 'u' } }],
		[
			{ shown: 'Acorn', name: 'Ada' },
			{ shown: 'Acorn', name: 'Ada' },
		],
		[{}, {}],
	])('%j: %j', async (given, becomes) => {
		expect(await resolved(given)).toEqual(becomes);
	});

	test.each([null, 'text', 5, [1]])('values that are not an object stay as they are: %j', async (values) => {
		expect(await resolved(values)).toEqual(values);
	});

	test('fields without a rule hold ids', async () => {
		const { resolve, stub } = setUp({ rules: { company: byName } });
		const [row] = await resolve([{ company: 'Acorn', clients: ['x'] }]);
		expect(shown(row!.values)).toEqual({ company: 'a', clients: ['x'] });
		expect(stub.requests).toEqual(['POST companies filter']);
	});

	test.each<[rule: LinkRule, given: unknown, id: unknown]>([
		[byField('city'), 'Rome', 'c'],
		[byField('number'), 2, 'b'],
		[byField('number'), '2.0', 'b'],
		[byField('name'), 'Birch', 'b'],
		[{ linkedField: 'name', ifNotFound: 'create' }, 'Birch', 'b'],
	])('by %j: %j', async (rule, company, id) => {
		expect(await resolved({ company }, { rule })).toEqual({ company: id });
	});
});

describe('what is not found', () => {
	const no = (field: string, name: string, more = '') => `${field}: '${field}': no record of 'Companies' has "${name}" in 'name'${more}`;
	const close = '; "Acorn" differs only in case or spaces';
	test.each<[LinkRule, given: object, becomes: unknown]>([
		[byName, { company: 'Nobody' }, no('company', 'Nobody')],
		[byName, { clients: ['Acorn', 'Nobody'] }, no('clients', 'Nobody')],
		[byName, { clients: ['X', 'X'] }, no('clients', 'X')],
		[byName, { clients: ['X', 'Y'] }, `${no('clients', 'X')}; no record of 'Companies' has "Y" in 'name'`],
		[byName, { clients: { remove: ['Nobody'] } }, no('clients', 'Nobody')],
		[orEmpty, { company: 'Nobody' }, { company: null }],
		[orEmpty, { clients: ['Nobody', 'Acorn'] }, { clients: ['a'] }],
		[orEmpty, { clients: { add: ['Acorn'], remove: ['Nobody'] } }, { clients: { add: ['a'], remove: [] } }],
		[orCreate, { clients: { remove: ['Nobody'] } }, { clients: { add: [], remove: [] } }],
		[orCreate, { company: 'New' }, { company: `new record of 'companies' with "New" in 'name'` }],
		[byName, { company: 'acorn' }, no('company', 'acorn', close)],
		[orEmpty, { company: ' Acorn' }, no('company', ' Acorn', close)],
		[orEmpty, { company: 'ACORN' }, no('company', 'ACORN', close)],
		[orCreate, { company: 'acorn' }, no('company', 'acorn', close)],
		[orCreate, { clients: { remove: ['acorn'] } }, no('clients', 'acorn', close)],
	])('%j %j: %j', async (rule, given, becomes) => {
		expect(await resolved(given, { rule })).toEqual(becomes);
	});

	test.each<[given: object, message: string]>([
		[{ company: ['Acorn'] }, "company: 'company': 'name' accepts text"],
		[{ company: '  ' }, "company: 'company': 'name' is empty"],
		[{ clients: [null] }, "clients: 'clients': 'name' is empty"],
		[{ clients: [undefined] }, "clients: 'clients': 'name' is empty"],
		[{ clients: { id: '' } }, "clients: 'clients' accepts values of the linked records"],
		[
			{ clients: { names: [] } },
			`clients: 'clients' accepts values of the linked records, or {"add":[values],"remove":[values]}, not {"names":[]}`,
		],
		[{ clients: { add: 'Acorn' } }, "clients: 'clients' accepts values of the linked records"],
		[{ clients: { remove: 'Acorn' } }, "clients: 'clients' accepts values of the linked records"],
	])('%j: %s', async (given, message) => {
		expect(await resolved(given)).toContain(message);
	});

	test('an item with a wrong link loses the link, and keeps its other problems', async () => {
		const { resolver } = setUp();
		const problems = [{ field: 'name', message: 'too long' }];
		const rows = [{ index: 3, values: { name: 'x', company: 'Nobody' }, id: 'r', problems }];
		const [row] = await resolver.resolve(people, rows, new Map([['company', byName]]));
		expect(row).toMatchObject({ index: 3, id: 'r', values: { name: 'x' } });
		expect(row!.values).not.toHaveProperty('company');
		expect(row!.problems).toEqual([problems[0], { field: 'company', message: no('company', 'Nobody').slice(9) }]);
	});

	test.each(['error', 'leaveEmpty'] as const)('two records with the value are an error that names both: %s', async (ifNotFound) => {
		expect(await resolved({ company: 'Oslo' }, { rule: { ...byField('city'), ifNotFound } })).toBe(
			`company: 'company': several records of 'Companies' have "Oslo" in 'city': 'a', 'b'`,
		);
	});
});

describe('what the linked table does not allow', () => {
	const keyless = companies.fields.map((field) => ({ ...field, metadata: {} }));
	const required = companies.fields.map((field) =>
		['city', 'number'].includes(field.name)
			? { ...field, metadata: { required: true } }
			: field.name === 'parent'
				? { ...field, metadata: { required: true, readOnly: true } }
				: field,
	);
	test.each<[LinkRule, fields: FieldDefinition[], message: string]>([
		[
			byName,
			keyless,
			"the linked table 'Companies' does not say which field is its import key: set 'Link Values Are' to 'Other Field of the Linked Table', and choose it",
		],
		[byField('colour'), companies.fields, "the linked table 'Companies' has no field 'colour'"],
		[byField('logo'), companies.fields, "records can't be found by 'logo' (picture)"],
		[{ linkedField: 'city', ifNotFound: 'create' }, companies.fields, "records of 'Companies' are created only by their import key 'name'"],
		[orCreate, required, "records of 'Companies' can't be created by 'name' alone: it also requires 'city', 'number'"],
	])('%j: %#', async (rule, fields, message) => {
		const result = await resolved({ company: 'Acorn' }, { rule, target: { fields } });
		expect(result).toBe(`company: 'company': ${message}`);
	});

	test('an import key that is required is no obstacle', async () => {
		const fields = companies.fields.map((field) =>
			field.name === 'name' ? { ...field, metadata: { importKey: true, required: true } } : field,
		);
		expect(await resolved({ company: 'Acorn' }, { rule: orCreate, target: { fields } })).toEqual({ company: 'a' });
	});

	test.each<[string, Error, string]>([
		['an unknown target', new InputError('give record IDs', { hint: '' }), 'give record IDs'],
		['403', new ServiceError('forbidden', { delivery: 'rejected', status: 403 }), "its linked table can't be read: forbidden"],
		['404', new ServiceError('missing', { delivery: 'rejected', status: 404 }), "its linked table can't be read: missing"],
	])('%s is the problem of the items that use the link', async (_, error, message) => {
		const targetOf = async () => await Promise.reject<DefinedTable>(error);
		const { resolve } = setUp({ targetOf });
		const rows = await resolve([{ company: 'Acorn' }, { name: 'x' }, { company: { id: 'x' } }]);
		expect(rows[0]!.problems).toEqual([{ field: 'company', message: `'company': ${message}` }]);
		expect(rows[1]!.problems).toBeUndefined();
		expect(shown(rows[2]!.values)).toEqual({ company: 'x' });
	});

	test('a linked table that must not be searched is the problem of every field that links to it', async () => {
		const { resolve } = setUp({ respond: () => httpResponse(403, { errors: [{ message: 'no' }] }) });
		const [row, other] = await resolve([{ company: 'Acorn', clients: ['Birch'] }, { company: { id: 'x' } }]);
		const message = expect.stringContaining("its linked table can't be read");
		expect(row!.problems).toEqual([
			{ field: 'company', message },
			{ field: 'clients', message },
		]);
		expect(shown(other!.values)).toEqual({ company: 'x' });
	});

	test.each([
		['down', new ServiceError('down', { delivery: 'ambiguous', status: 503 })],
		['no connection', new ServiceError('no connection', { delivery: 'notApplied' })],
		['a fault of ours', new TypeError('a fault of ours')],
	])('%s fails for all', async (_, error) => {
		const targetOf = async () => await Promise.reject<DefinedTable>(error);
		await expect(setUp({ targetOf }).resolve([{ company: 'Acorn' }])).rejects.toBe(error);
	});
});

describe('requests', () => {
	test('one looks all values up, and none what is known already', async () => {
		const { resolve, stub } = setUp();
		await resolve([{ company: 'Acorn', clients: ['Birch', 'Nobody'] }, { company: 'Acorn' }]);
		await resolve([{ company: 'Birch' }, { clients: ['Acorn', 'Nobody'] }]);
		// One request for both fields, for unknown values only.
		expect(stub.requests).toEqual(['POST companies filter']);
	});

	test('links by ID need no linked table', async () => {
		const down = new ServiceError('down', { delivery: 'notApplied' });
		const targetOf = async () => await Promise.reject<DefinedTable>(down);
		const values = { company: { id: 'x' }, clients: { add: [{ id: 'y' }], remove: [{ id: 'z' }] } };
		const [row] = await setUp({ targetOf }).resolve([values]);
		expect(shown(row!.values)).toEqual({ company: 'x', clients: { add: ['y'], remove: ['z'] } });
	});

	test.each([
		['the table itself', 'companies', 2],
		['another table', 'people', 1],
	])('a value that %s did not hold', async (_, id, count) => {
		const { resolve, stub } = setUp({ table: { ...people, id } });
		await resolve([{ company: 'Later' }]);
		await resolve([{ company: 'Later' }]);
		expect(stub.requests).toHaveLength(count);
		await resolve([{ company: 'Acorn' }]);
		await resolve([{ company: 'Acorn' }]);
		expect(stub.requests).toHaveLength(count + 1);
	});
});

describe('creating what is missing', () => {
	const planning = { mode: 'create', empty: 'leave', unknownFields: 'error', duplicates: 'merge' } as const;
	async function create(values: object[], respond?: Setup['respond']) {
		const { stub, resolver, resolve } = setUp({ rule: orCreate, respond });
		const plan = planRecords(people, await resolve(values), planning);
		return { stub, resolver, plan, resolve };
	}

	test('in one request, once each; those that are there are not', async () => {
		const { stub, resolver, plan } = await create([
			{ company: 'New', clients: ['Newer', 'Acorn'] },
			{ company: 'New', clients: { add: ['New'], remove: ['Birch'] } },
		]);
		await resolver.createMissing(plan, people);
		expect(plan.records.map(({ fields }) => fields)).toEqual([
			{ company: { id: 'new1' }, clients: { add: ['new2', 'a'] } },
			{ company: { id: 'new1' }, clients: { add: ['new1'], remove: ['b'] } },
		]);
		expect(resolver.createdCount).toBe(2);
		const bulk = stub.bodies.find((body) => body.bulk);
		expect(bulk).toMatchObject({ useUpsert: true, bulk: [{ fields: { name: 'New' } }, { fields: { name: 'Newer' } }] });
		// One look-up for both link fields.
		expect(stub.requests).toEqual(['POST companies filter', 'POST companies bulk']);
	});

	test('only for the records of the plan', async () => {
		const { stub, resolver, plan } = await create([{ company: 'New' }, { company: 'Other' }]);
		plan.records.shift();
		await resolver.createMissing(plan, people);
		expect(stub.tables.companies!.map(({ fields }) => fields.name)).toEqual(['Acorn', 'Birch', 'Cedar, Inc', 'Other']);
	});

	test('one that is rejected does not prevent others from being created', async () => {
		const names = ['x'.repeat(41), ...Array.from({ length: 50 }, (_, index) => `New ${index}`)];
		// More requests than may run at once.
		const respond: Setup['respond'] = (_, { body }) => (String(body).length > 500 ? httpResponse(413, {}) : undefined);
		const { resolver, plan } = await create(
			names.map((company) => ({ company })),
			respond,
		);
		await resolver.createMissing(plan, people);
		expect([resolver.createdCount, plan.records.length]).toEqual([50, 50]);
	});

	test('a name stands for one record, however many items have it, and however long it is', async () => {
		const { resolve } = setUp({ rule: orCreate });
		const long = 'long '.repeat(20);
		const rows = await resolve(['New', 'New', `${long}1`, `${long}2`].map((company) => ({ company })));
		const ids = rows.map(({ values }) => (values as { company: { id: string } }).company.id);
		expect(ids[0]).toBe(`new record of 'companies' with "New" in 'name'`);
		expect(new Set(ids).size).toBe(3);
	});

	test('and are known from then on', async () => {
		const { stub, resolver, plan, resolve } = await create([{ company: 'New' }]);
		await resolver.createMissing(plan, people);
		resolver.startPortion();
		const sent = stub.requests.length;
		expect(shown((await resolve([{ company: 'New' }]))[0]!.values)).toEqual({ company: 'new1' });
		expect(stub.requests).toHaveLength(sent);
	});

	test('a later portion notices that a new name differs only in case from a created one', async () => {
		const { resolver, plan, resolve } = await create([{ company: 'New' }, { company: 'NEW' }]);
		await resolver.createMissing(plan, people);
		resolver.startPortion();
		const [row] = await resolve([{ company: 'NEW' }]);
		expect(row!.problems![0]!.message).toBe(
			`'company': no record of 'Companies' has "NEW" in 'name'; "New" differs only in case or spaces`,
		);
	});

	test('what is to be created for one portion is forgotten with the next', async () => {
		const { resolver, plan, resolve } = await create([{ company: 'New' }]);
		resolver.startPortion();
		expect((await resolve([{ company: 'NEW' }]))[0]!.problems).toBeUndefined();
		await resolver.createMissing(plan, people);
		expect(resolver.createdCount).toBe(0);
	});

	test('nothing is sent if nothing is missing', async () => {
		const { stub, resolver, plan } = await create([{ company: 'Acorn' }]);
		const sent = stub.requests.length;
		await resolver.createMissing(plan, people);
		expect(stub.requests).toHaveLength(sent);
	});

	test('one whose ID could not be read is a problem of its records', async () => {
		let isWritten = false;
		const { resolver, plan } = await create([{ company: 'New' }], (request) => {
			if (isWritten) return httpResponse(403, {});
			isWritten = request === 'POST companies bulk';
			return isWritten ? httpResponse(200, { bulk: { successCount: 1 }, data: [] }) : undefined;
		});
		await resolver.createMissing(plan, people);
		expect(plan.problems).toMatchObject([{ message: `'company': "New" was written to 'Companies', but its ID could not be read` }]);
	});

	test('one that is rejected is a problem of its records', async () => {
		const long = 'x'.repeat(41);
		const { resolver, plan } = await create([{ company: long, clients: [long] }, { company: 'New' }]);
		await resolver.createMissing(plan, people);
		expect(plan.records.map(({ index }) => index)).toEqual([1]);
		expect(plan.problems).toEqual(
			['company', 'clients'].map((field) => ({
				index: 0,
				field,
				message: `'${field}': "${long}" could not be created in 'Companies': too long`,
			})),
		);
		expect(resolver.createdCount).toBe(1);
	});

	test('a record that exists by then is linked, and not counted', async () => {
		const { stub, resolver, plan } = await create([{ company: 'New' }]);
		stub.tables.companies!.push({
			id: 'other',
			created: '2020-01-01T00:00:00Z',
			modified: '2020-01-01T00:00:00Z',
			ver: 1,
			fields: { name: 'New' },
		});
		await resolver.createMissing(plan, people);
		expect(plan.records[0]!.fields.company).toEqual({ id: 'other' });
		expect(resolver.createdCount).toBe(0);
	});

	test('of two new names that differ only in case, the second is an error', async () => {
		const { plan } = await create([{ company: 'New' }, { company: 'NEW' }, { company: 'New' }]);
		expect(plan.records.map(({ index }) => index)).toEqual([0, 2]);
		expect(plan.problems[0]!.message).toBe(
			`'company': "NEW" is to be created in 'Companies', but another item has "New", which differs only in case or spaces`,
		);
	});

	test.each([
		['the table itself, if rows need to create their records', 'companies', true, 'failed'],
		['the table itself, if rows update what exists', 'companies', false, 'created'],
		['another table', 'people', true, 'created'],
	])('of %s', async (_, id, createsRows, result) => {
		const { resolve } = setUp({ rule: orCreate, table: { ...people, id } });
		const [row, known] = await resolve([{ company: 'New' }, { company: 'Acorn' }], createsRows);
		const problem = `'company': no record of 'Companies' has "New" in 'name'. No link creates it here, because an item for it could then no longer write its values: create it first, or use Create or Update by import key, without rules for existing records`;
		expect(row!.problems?.[0]?.message).toBe(result === 'failed' ? problem : undefined);
		expect(shown(known!.values)).toEqual({ company: 'a' });
	});

	test('records of two tables with the same name stand apart', async () => {
		const stub = new StubTables({ companies: {}, brands: {} });
		const client = stub.client();
		const resolver = new LinkResolver(async ({ name }) => ({
			client,
			at: { table: name === 'company' ? 'companies' : 'brands' },
			table: { ...companies, id: name },
		}));
		const rules = new Map([
			['company', orCreate],
			['clients', orCreate],
		]);
		const rows = await resolver.resolve(people, [{ index: 0, values: { company: 'New', clients: ['New'] } }], rules);
		const plan = planRecords(people, rows, planning);
		await resolver.createMissing(plan, people);
		expect(plan.records[0]!.fields).toEqual({
			company: { id: stub.tables.companies![0]!.id },
			clients: { add: [stub.tables.brands![0]!.id] },
		});
	});
});

test('what rows link to is known until the next portion, even from a list with a problem', async () => {
	const { resolver, resolve } = setUp();
	await resolve([
		{ company: 'Acorn', clients: ['Birch', 'Nobody'] },
		{ company: { id: 'x' }, clients: { remove: ['Cedar, Inc'] } },
	]);
	expect([...resolver.linkedIds].sort()).toEqual(['a', 'b', 'x']);
	resolver.startPortion();
	expect([...resolver.linkedIds]).toEqual([]);
});

test('what is remembered of a value does not hold the text that it was cut from', async () => {
	setFlagsFromString('--expose_gc');
	const collect = runInNewContext('gc') as () => void;
	const { resolve } = setUp({ rule: orEmpty });
	const heap = () => {
		collect();
		return process.memoryUsage().heapUsed;
	};
	const before = heap();
	const pieces = 400;
	for (let at = 0; at < pieces; at += 1) {
		const piece = Buffer.alloc(64 * 1024, `a piece of a file, number ${at}; `).toString('latin1');
		await resolve([{ company: piece.slice(100, 140) }]);
	}
	expect(heap() - before).toBeLessThan((pieces * 64 * 1024) / 2);
});

describe('links whose kind the definition does not say', () => {
	const open = (name: string) => fieldOf(name, 'schema_link', { multiple: undefined });
	const table = tableOf(fieldOf('name'), open('boss'), open('team'), to('company'));

	test.each<[string, rows: unknown[], learned: string[] | undefined]>([
		['that a row has', [{ boss: 'x' }], ['boss']],
		['that any row has', [{ boss: null }, { team: 'y' }, { boss: 'x' }], ['boss', 'team']],
		['only, if others are known', [{ company: 'Acorn', name: 'n' }], undefined],
		['unless they are empty', [{ boss: null }, { boss: '' }, {}], undefined],
		['unless no row is one', ['x', null, [1]], undefined],
		['unless there are no rows', [], undefined],
	])('are learned %s', async (_, rows, learned) => {
		const asked: string[][] = [];
		const resolver = new LinkResolver(
			() => Promise.reject(new Error('not needed')),
			async (fields) => void asked.push(fields.map(({ name }) => name)),
		);
		await resolver.learnFor(
			table,
			rows.map((values, index) => ({ index, values })),
		);
		expect(asked).toEqual(learned ? [learned] : []);
	});
});

describe('records by their import keys', () => {
	const find = async (values: string[], table = companies) => {
		const stub = new StubTables({ companies: { ...stored, d: { name: 'Twin' }, e: { name: 'Twin' } } });
		const idOf = await idsByKey({ client: stub.client(), at: { table: 'companies' }, table }, values);
		return { ids: values.map((value) => idOf(value)), requests: stub.requests };
	};

	test('are looked up together; one that is missing or not alone says so', async () => {
		const { ids, requests } = await find(['Acorn', 'Birch', 'Nowhere', 'acorn', 'Twin']);
		expect(ids).toEqual([
			{ id: 'a' },
			{ id: 'b' },
			{ problem: `no record of 'Companies' has "Nowhere" in 'name'`, isMissing: true },
			{ problem: `no record of 'Companies' has "acorn" in 'name'; "Acorn" differs only in case or spaces`, isMissing: true },
			{ problem: `several records of 'Companies' have "Twin" in 'name': 'd', 'e'` },
		]);
		expect(new Set(requests)).toEqual(new Set(['POST companies filter']));
	});

	test('can’t be found in a table without a key: nothing is sent', async () => {
		const keyless = { ...companies, fields: [fieldOf('logo', 'picture')] };
		const { ids, requests } = await find(['Acorn'], keyless);
		expect(ids).toEqual([{ problem: expect.stringContaining('Companies') }]);
		expect(requests).toEqual([]);
	});
});

test('at scale: of hundreds of thousands of values, only so many are remembered', async () => {
	const { stub, resolver, resolve } = setUp();
	const isKnown = async () => {
		const before = stub.requests.length;
		resolver.startPortion();
		await resolve([{ company: 'Acorn' }]);
		return stub.requests.length === before;
	};
	expect([await isKnown(), await isKnown()]).toEqual([false, true]);
	await resolve(Array.from({ length: MAX_REMEMBERED }, (_, at) => ({ company: `x${at}` })));
	expect([await isKnown(), await isKnown()]).toEqual([false, true]);
});
