/** Links by business key, on tables in memory. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { MAX_REMEMBERED, type LinkRule } from '../../../nodes/DataPlatform/bulk/linkCatalog.ts';
import { LinkResolver } from '../../../nodes/DataPlatform/bulk/links.ts';
import type { LinkTarget } from '../../../nodes/DataPlatform/api/linkedRecords.ts';
import { planRecords, type PlanInput } from '../../../nodes/DataPlatform/bulk/plan.ts';
import type { FieldDefinition, FieldValues } from '../../../nodes/DataPlatform/api/types.ts';
import { InputError, ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { fieldOf, tableOf } from '../fixtures.cts';
import { httpResponse } from '../stubPlatform.cts';
import { StubTables } from '../stubTables.cts';

const to = (name: string, multiple = false, more = {}) =>
	fieldOf(name, 'schema_link', { linkTableId: 'companies', multiple, ...more });

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
	targetOf?: (field: FieldDefinition) => Promise<LinkTarget>;
	respond?: Parameters<StubTables['client']>[0];
	table?: typeof people;
}

function setUp({
	rule = byName,
	rules,
	target = {},
	targetOf,
	respond,
	table = people,
}: Setup = {}) {
	const stub = new StubTables({ companies: stored, people: {} });
	const linked = { at: { table: 'companies' }, table: { ...companies, ...target } };
	const resolver = new LinkResolver(stub.client(respond), targetOf ?? (async () => linked));
	const of = new Map(
		Object.entries(rules ?? Object.fromEntries(table.fields.map(({ name }) => [name, rule]))),
	);
	const resolve = async (values: unknown[], createsOwnRows = false) =>
		await resolver.resolve(
			table,
			values.map((entry, index): PlanInput => ({ index, values: entry })),
			of,
			...(createsOwnRows ? [true] : []),
		);
	return { stub, resolver, resolve, rules: of };
}

/** What one item's values become, or what is wrong with them. */
async function resolved(values: unknown, setup?: Setup) {
	const [row] = await setUp(setup).resolve([values]);
	return (
		row!.problems?.map(({ field, message }) => `${field}: ${message}`).join('; ') ?? row!.values
	);
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
		[
			{ clients: { add: ['Acorn'], remove: ['Birch'] } },
			{ clients: { add: ['a'], remove: ['b'] } },
		],
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

	test.each([null, 'text', 5, [1]])(
		'values that are not an object stay as they are: %j',
		async (values) => {
			expect(await resolved(values)).toEqual(values);
		},
	);

	test('fields without a rule hold ids', async () => {
		const { resolve, stub } = setUp({ rules: { company: byName } });
		const [row] = await resolve([{ company: 'Acorn', clients: ['x'] }]);
		expect(row!.values).toEqual({ company: 'a', clients: ['x'] });
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
	const no = (field: string, name: string, more = '') =>
		`${field}: '${field}': no record of 'Companies' has "${name}" in 'name'${more}`;
	const close = '; "Acorn" differs only in case or spaces';
	test.each<[LinkRule, given: object, becomes: unknown]>([
		[byName, { company: 'Nobody' }, no('company', 'Nobody')],
		[byName, { clients: ['Acorn', 'Nobody'] }, no('clients', 'Nobody')],
		[byName, { clients: ['X', 'X'] }, no('clients', 'X')],
		[
			byName,
			{ clients: ['X', 'Y'] },
			`${no('clients', 'X')}; no record of 'Companies' has "Y" in 'name'`,
		],
		[byName, { clients: { remove: ['Nobody'] } }, no('clients', 'Nobody')],
		[orEmpty, { company: 'Nobody' }, { company: null }],
		[orEmpty, { clients: ['Nobody', 'Acorn'] }, { clients: ['a'] }],
		[
			orEmpty,
			{ clients: { add: ['Acorn'], remove: ['Nobody'] } },
			{ clients: { add: ['a'], remove: [] } },
		],
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
		[{ company: ['Acorn'] }, "company: 'company': 'name' takes text"],
		[{ company: '  ' }, "company: 'company': 'name' is empty"],
		[{ clients: [null] }, "clients: 'clients': 'name' is empty"],
		[{ clients: [undefined] }, "clients: 'clients': 'name' is empty"],
		[{ clients: { id: '' } }, "clients: 'clients' takes values of the linked records"],
		[
			{ clients: { names: [] } },
			`clients: 'clients' takes values of the linked records, or {"add":[values],"remove":[values]}, not {"names":[]}`,
		],
		[{ clients: { add: 'Acorn' } }, "clients: 'clients' takes values of the linked records"],
		[{ clients: { remove: 'Acorn' } }, "clients: 'clients' takes values of the linked records"],
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
		expect(row!.problems).toEqual([
			problems[0],
			{ field: 'company', message: no('company', 'Nobody').slice(9) },
		]);
	});

	test('two records with the value are an error that names both', async () => {
		expect(await resolved({ company: 'Oslo' }, { rule: byField('city') })).toBe(
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
			"the linked table 'Companies' has no import key field: choose one of its fields",
		],
		[byField('colour'), companies.fields, "the linked table 'Companies' has no field 'colour'"],
		[byField('logo'), companies.fields, "records can't be found by 'logo' (picture)"],
		[
			{ linkedField: 'city', ifNotFound: 'create' },
			companies.fields,
			"records of 'Companies' are created only by their import key 'name'",
		],
		[
			{ linkedField: 'city', ifNotFound: 'create' },
			keyless,
			"records of 'Companies' are created only by their import key, which it does not have",
		],
		[
			orCreate,
			required,
			"records of 'Companies' can't be created by 'name' alone: it also requires 'city', 'number'",
		],
	])('%j: %#', async (rule, fields, message) => {
		const result = await resolved({ company: 'Acorn' }, { rule, target: { fields } });
		expect(result).toBe(`company: 'company': ${message}`);
	});

	test('an import key that is required is no obstacle', async () => {
		const fields = companies.fields.map((field) =>
			field.name === 'name' ? { ...field, metadata: { importKey: true, required: true } } : field,
		);
		expect(await resolved({ company: 'Acorn' }, { rule: orCreate, target: { fields } })).toEqual({
			company: 'a',
		});
	});

	test.each<[string, Error, string]>([
		['an unknown target', new InputError('give record IDs', { hint: '' }), 'give record IDs'],
		[
			'403',
			new ServiceError('forbidden', { delivery: 'rejected', status: 403 }),
			"its linked table can't be read: forbidden",
		],
		[
			'404',
			new ServiceError('missing', { delivery: 'rejected', status: 404 }),
			"its linked table can't be read: missing",
		],
	])('%s is the problem of the items that use the link', async (_, error, message) => {
		const targetOf = async () => await Promise.reject<LinkTarget>(error);
		const { resolve } = setUp({ targetOf });
		const rows = await resolve([{ company: 'Acorn' }, { name: 'x' }, { company: { id: 'x' } }]);
		expect(rows[0]!.problems).toEqual([{ field: 'company', message: `'company': ${message}` }]);
		expect(rows[1]!.problems).toBeUndefined();
		expect(rows[2]!.values).toEqual({ company: 'x' });
	});

	test.each([
		new ServiceError('down', { delivery: 'ambiguous', status: 503 }),
		new ServiceError('no connection', { delivery: 'notApplied' }),
		new TypeError('a fault of ours'),
	])('%s fails for all', async (error) => {
		const targetOf = async () => await Promise.reject<LinkTarget>(error);
		await expect(setUp({ targetOf }).resolve([{ company: 'Acorn' }])).rejects.toBe(error);
	});
});

describe('requests', () => {
	test('one looks all values up, and none what is known already', async () => {
		const { resolve, stub } = setUp();
		await resolve([{ company: 'Acorn', clients: ['Birch', 'Nobody'] }, { company: 'Acorn' }]);
		await resolve([{ company: 'Birch' }, { clients: ['Acorn', 'Nobody'] }]);
		// One request for each field, for unknown values only, and one that shows that nothing was
		// missed.
		expect(stub.requests).toEqual(Array.from({ length: 3 }, () => 'POST companies filter'));
	});

	test('looking ahead takes one for all items, each by its own rules', async () => {
		const { resolver, resolve, stub, rules } = setUp();
		const cities = new Map([['company', byField('city')]]);
		await resolver.lookAhead(people, [
			{ values: { company: 'Acorn', clients: [{ id: 'x' }] }, rules },
			{ values: { company: 'Birch' }, rules },
			{ values: { company: 'Rome' }, rules: cities },
			{ values: { company: {}, clients: { names: [] } }, rules },
			{ values: null, rules },
			{ values: { company: 'Cedar, Inc' }, rules: new Map() },
		]);
		expect(stub.requests).toHaveLength(2);
		await resolve([{ company: 'Acorn' }]);
		await resolve([{ company: 'Birch' }]);
		expect(stub.requests).toHaveLength(2);
		await resolve([{ company: 'Cedar, Inc' }]);
		expect(stub.requests).toHaveLength(3);
	});

	test('looking ahead requests what items name, and no table if they name nothing', async () => {
		const asked: string[] = [];
		const targetOf = async ({ name }: FieldDefinition) => {
			asked.push(name);
			return { at: { table: 'companies' }, table: companies };
		};
		const { resolver, stub, rules } = setUp({ targetOf });
		await resolver.lookAhead(people, [
			{ values: { name: 'x', clients: [{ id: 'x' }] }, rules },
			{ values: { clients: { add: [{ id: 'x' }], remove: [{ id: 'y' }] } }, rules },
		]);
		expect(asked).toEqual([]);
		await resolver.lookAhead(people, [{ values: { company: 'Acorn' }, rules }]);
		expect(asked).toEqual(['company']);
		expect(stub.bodies).toMatchObject([
			{ filter: [{ field: 'name', operator: 'in', value: 'Acorn' }] },
		]);
	});

	test('links by ID need no linked table', async () => {
		const down = new ServiceError('down', { delivery: 'notApplied' });
		const targetOf = async () => await Promise.reject<LinkTarget>(down);
		const values = { company: { id: 'x' }, clients: { add: [{ id: 'y' }], remove: [{ id: 'z' }] } };
		const [row] = await setUp({ targetOf }).resolve([values]);
		expect(row!.values).toEqual({ company: 'x', clients: { add: ['y'], remove: ['z'] } });
	});

	test('a failure while looking ahead is reported when an item needs the value', async () => {
		let isDown = true;
		const respond = () => (isDown ? httpResponse(401, {}) : undefined);
		const { resolver, resolve, rules } = setUp({ respond });
		await resolver.lookAhead(people, [{ values: { company: 'Acorn' }, rules }]);
		await expect(resolve([{ company: 'Acorn' }])).rejects.toThrow(ServiceError);
		isDown = false;
		expect((await resolve([{ company: 'Acorn' }]))[0]!.values).toEqual({ company: 'a' });
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
	const options = { batchBytes: 1_000_000 };
	const planning = {
		mode: 'create',
		empty: 'leave',
		unknownFields: 'error',
		duplicates: 'merge',
	} as const;
	async function create(values: object[], setup: Setup = {}, createsOwnRows = false) {
		const { stub, resolver, resolve } = setUp({ rule: orCreate, ...setup });
		const table = setup.table ?? people;
		const plan = planRecords(table, await resolve(values, createsOwnRows), planning);
		return { stub, resolver, plan, table, resolve };
	}

	test('in one request, once each; those that are there are not', async () => {
		const { stub, resolver, plan } = await create([
			{ company: 'New', clients: ['Newer', 'Acorn'] },
			{ company: 'New', clients: { add: ['New'], remove: ['Birch'] } },
		]);
		await resolver.createMissing(plan, people, options);
		expect(plan.records.map(({ fields }) => fields)).toEqual([
			{ company: { id: 'new1' }, clients: { add: ['new2', 'a'] } },
			{ company: { id: 'new1' }, clients: { add: ['new1'], remove: ['b'] } },
		]);
		expect(resolver.createdCount).toBe(2);
		const bulk = stub.bodies.find((body) => body.bulk);
		expect(bulk).toMatchObject({
			useUpsert: true,
			bulk: [{ fields: { name: 'New' } }, { fields: { name: 'Newer' } }],
		});
		// One look-up for each link field, one that shows that nothing was missed, then the newest
		// change before the first write.
		expect(stub.requests).toEqual([
			'POST companies filter',
			'POST companies filter',
			'POST companies filter',
			'GET companies',
			'POST companies bulk',
		]);
	});

	test('one that is rejected does not prevent others from being created', async () => {
		const names = ['x'.repeat(41), ...Array.from({ length: 50 }, (_, index) => `New ${index}`)];
		const { resolver, plan } = await create(names.map((company) => ({ company })));
		// More requests than may run at once.
		await resolver.createMissing(plan, people, { batchBytes: 100 });
		expect([resolver.createdCount, plan.records.length]).toEqual([50, 50]);
	});

	test('what was created for a portion is not created again for one that was resolved before', async () => {
		const { resolver, plan, resolve, stub } = await create([{ company: 'New' }]);
		const next = planRecords(people, await resolve([{ company: 'New' }]), planning);
		await resolver.createMissing(plan, people, options);
		const before = stub.requests.length;
		await resolver.createMissing(next, people, options);
		expect(next.records[0]!.fields).toEqual({ company: { id: 'new1' } });
		expect(stub.requests).toHaveLength(before);
	});

	test('other values of the record stay as they are', async () => {
		const site = { href: 'https://example.com', description: 'x' };
		const { resolver, plan } = await create([
			{ company: 'New', site },
			{ company: 'Other', site },
		]);
		const [first, second] = plan.records;
		await resolver.createMissing({ ...plan, records: [first!] }, people, options);
		resolver.dropMissing([second!], people);
		expect([first!.fields.site, second!.fields.site]).toEqual([site, site]);
	});

	test('a name stands for one record, however many items have it', async () => {
		const { resolve } = setUp({ rule: orCreate });
		const rows = await resolve([{ company: 'New' }, { company: 'New' }]);
		const id = `new record of 'companies' with "New" in 'name'`;
		expect(rows.map(({ values }) => values)).toEqual([{ company: id }, { company: id }]);
	});

	test('only for the records of the plan', async () => {
		const { stub, resolver, plan } = await create([{ company: 'New' }, { company: 'Other' }]);
		plan.records.shift();
		await resolver.createMissing(plan, people, options);
		expect(stub.tables.companies!.map(({ fields }) => fields.name)).not.toContain('New');
		expect(stub.tables.companies!.map(({ fields }) => fields.name)).toContain('Other');
	});

	test('and are known from then on', async () => {
		const { stub, resolver, plan, resolve } = await create([{ company: 'New' }]);
		await resolver.createMissing(plan, people, options);
		const sent = stub.requests.length;
		expect((await resolve([{ company: 'New' }]))[0]!.values).toEqual({ company: 'new1' });
		expect(stub.requests).toHaveLength(sent);
	});

	test('nothing is sent if nothing is missing', async () => {
		const { stub, resolver, plan } = await create([{ company: 'Acorn' }]);
		const sent = stub.requests.length;
		await resolver.createMissing(plan, people, options);
		resolver.dropMissing(plan.records, people);
		expect(stub.requests).toHaveLength(sent);
	});

	test('one that is rejected is a problem of its records, now and later', async () => {
		const long = 'x'.repeat(41);
		const { resolver, plan, resolve } = await create([
			{ company: long, clients: [long] },
			{ company: 'New' },
		]);
		await resolver.createMissing(plan, people, options);
		expect(plan.records.map(({ index }) => index)).toEqual([1]);
		expect(plan.problems).toEqual(
			['company', 'clients'].map((field) => ({
				index: 0,
				field,
				message: `'${field}': "${long}" could not be created in 'Companies': too long`,
			})),
		);
		expect(resolver.createdCount).toBe(1);
		const [again] = await resolve([{ company: long }]);
		expect(again!.problems![0]!.message).toContain('could not be created');
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
		await resolver.createMissing(plan, people, options);
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

	test.each([true, false])(
		'one that an item creates itself, if that matters: %s',
		async (createsOwnRows) => {
			const table = { ...people, ...companies } as unknown as typeof people;
			const values = [{ name: 'A', parent: 'B' }, { name: 'B' }, { name: 'B' }, { parent: 'C' }];
			const { plan } = await create(values, { table, target: {} }, createsOwnRows);
			const problem = `'parent': no record of 'Companies' has "B" in 'name' yet: item 1 creates it. Only an operation on many records links items to each other`;
			expect(plan.problems.map(({ message }) => message)).toEqual(createsOwnRows ? [problem] : []);
		},
	);

	test('an item without data, or a table without an import key, creates none itself', async () => {
		const rows = [{ company: 'Acorn' }, null, {}, { name: 5 }];
		const { resolve } = setUp({ rule: orCreate });
		expect((await resolve(rows, true))[0]!.values).toEqual({ company: 'a' });
		const fields = people.fields.map((field) =>
			field.name === 'name' ? { ...field, metadata: {} } : field,
		);
		const keyless = setUp({ rule: orCreate, table: { ...people, fields } });
		expect((await keyless.resolve(rows, true))[0]!.values).toEqual({ company: 'a' });
	});

	test('records of two tables with the same name stand apart', async () => {
		const stub = new StubTables({ companies: {}, brands: {} });
		const resolver = new LinkResolver(stub.client(), async ({ name }) => ({
			at: { table: name === 'company' ? 'companies' : 'brands' },
			table: { ...companies, id: name },
		}));
		const rules = new Map([
			['company', orCreate],
			['clients', orCreate],
		]);
		const rows = await resolver.resolve(
			people,
			[{ index: 0, values: { company: 'New', clients: ['New'] } }],
			rules,
		);
		const plan = planRecords(people, rows, planning);
		await resolver.createMissing(plan, people, options);
		expect(plan.records[0]!.fields).toEqual({
			company: { id: stub.tables.companies![0]!.id },
			clients: { add: [stub.tables.brands![0]!.id] },
		});
	});

	test('records that are not written lose the links to what was not created', async () => {
		const { resolver, plan } = await create([
			{ name: 'x', company: 'New', clients: ['Acorn'] },
			{ name: 'y', company: 'Acorn', clients: ['New', 'Birch'] },
		]);
		resolver.dropMissing(plan.records, people);
		expect(plan.records.map(({ fields }) => fields)).toEqual([
			{ name: 'x', clients: { add: ['a'] } },
			{ name: 'y', company: { id: 'a' } },
		]);
	});

	test('and keep those to what was created', async () => {
		const { resolver, plan } = await create([
			{ company: 'New' },
			{ company: 'New', clients: ['Other'] },
		]);
		const [first, second] = plan.records;
		await resolver.createMissing({ ...plan, records: [first!] }, people, options);
		resolver.dropMissing([second!], people);
		expect(second!.fields).toEqual({ company: { id: 'new1' } });
	});
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

test('of hundreds of thousands of values, only so many are remembered', async () => {
	const { stub, resolve } = setUp();
	const count = () => stub.requests.length;
	await resolve([{ company: 'Acorn' }]);
	expect(count()).toBe(1);
	await resolve(Array.from({ length: MAX_REMEMBERED }, (_, at) => ({ company: `x${at}` })));
	const before = count();
	// Still known, and needed: it stays when the others are dropped.
	expect((await resolve([{ company: 'Acorn' }]))[0]!.values).toEqual({ company: 'a' });
	expect(count()).toBe(before);
	await resolve([{ company: 'x1' }]);
	expect(count()).toBe(before + 1);
});
