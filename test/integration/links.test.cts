/** Links by business key: the items have names, the platform gets record IDs. */
import { itemWithFile, useFileStore } from './attachmentFixtures.cts';
import { loadOptions } from '../support/engine/engine.cts';
import { expectFailed, goingOn, outcomes, recordParameters, TestHarness, useReset, type Run } from './fixtures.cts';

useFileStore();

const harness = useReset(new TestHarness({ application: 'office', table: 'people' }));

const companies = {
	internalName: 'companies',
	header: 'Companies',
	fields: [
		{ name: 'name', type: 'text', metadata: { importKey: true, maxLength: 40 } },
		{ name: 'number', type: 'number' },
		{ name: 'city', type: 'text' },
		{ name: 'parent', type: 'schema_link', metadata: { linkTableId: 'companies' } },
	],
};
const people = {
	internalName: 'people',
	header: 'People',
	fields: [
		{ name: 'email', type: 'text', metadata: { importKey: true } },
		{ name: 'company', type: 'schema_link', metadata: { linkTableId: 'companies' } },
		{ name: 'clients', type: 'schema_link', metadata: { linkTableId: 'companies', multiple: true } },
		{ name: 'memo', type: 'schema_link', metadata: { linkTableId: 'memos' } },
		{ name: 'rank', type: 'schema_link', metadata: { linkTableId: 'ranks' } },
		{ name: 'secret', type: 'schema_link', metadata: { linkTableId: 'secrets' } },
		{ name: 'age', type: 'number' },
	],
};
const memos = { internalName: 'memos', header: 'Memos', fields: [{ name: 'text', type: 'text' }] };
const secrets = { internalName: 'secrets', header: 'Secrets', fields: [{ name: 'code', type: 'text', metadata: { importKey: true } }] };
/** A field other than the key is required. */
const ranks = {
	internalName: 'ranks',
	header: 'Ranks',
	fields: [
		{ name: 'level', type: 'number', metadata: { importKey: true } },
		{ name: 'title', type: 'text', metadata: { required: true } },
	],
};

beforeEach(async () => {
	for (const table of [memos, secrets, ranks, people]) await harness.createTable(table);
	const names = ['Acorn', 'Birch', 'Dogwood, Test & Sons', 'Back\\slash'];
	const records = names.map((name) => ({ name }));
	await harness.createTable(companies, records);
});

const byName = { field: '*', valueType: 'importKey' };
const orCreate = { ...byName, ifNotFound: 'create' };

/** Runs an operation with these Link Values. */
const run = async (operation: string, { links = [byName], options, ...rest }: Run & { links?: object[] }) =>
	await harness.run(operation, { ...rest, options: { ...options, linkValues: { link: links } } });

const person = async (email: string) => (await harness.records()).find(({ fields }) => fields.email === email)?.fields;

const companyIds = async () => Object.fromEntries((await harness.records('companies')).map(({ id, fields }) => [String(fields.name), id]));

/** Linked tables are addressed by the ID in the link's definition. */
const LOOK_UPS = /tables\/[\da-f-]{36}\/data\/filter$/;
const CREATIONS = /tables\/[\da-f-]{36}\/data\/bulk$/;

const requests = async (method: string, path: RegExp) =>
	(await harness.requests()).filter((request) => request.method === method && path.test(request.path));

test.each<[operation: string, file: string | undefined]>([
	['upsert', undefined],
	['sync', undefined],
	['importFromFile', 'email,company\na,\nb,Birch\n'],
])('%s: a name without the option is found before anything is written, also in a dry run', async (operation, file) => {
	const items = [{ email: 'a' }, { email: 'b', company: 'Birch' }];
	const input = file === undefined ? {} : { input: await itemWithFile('people.csv', file) };
	for (const dryRun of [true, false]) {
		const result = await harness.run(operation, { items, ...input, options: { dryRun } });
		expect(result.error?.message ?? JSON.stringify(result.json())).toMatch(
			/'company' accepts the id of one record, not .{1,3}Birch.{1,3}: for names or keys, add 'Link Values' in the options/,
		);
	}
	expect(await harness.values('email')).toEqual(file ? ['a'] : []);
});

describe('a link to one record', () => {
	test.each(['create', 'upsert'])('%s: a name is looked up by the import key of the linked table', async (operation) => {
		const names = ['Birch', 'Dogwood, Test & Sons', 'Back\\slash'];
		const result = await run(operation, { items: names.map((company) => ({ email: company, company })) });
		expect(result.error).toBeUndefined();
		const ids = await companyIds();
		expect(await harness.values('company')).toEqual([ids.Birch, ids['Dogwood, Test & Sons'], ids['Back\\slash']]);
	});

	test('update: a link to one record is changed by name', async () => {
		await run('create', { items: [{ email: 'a', company: 'Birch' }] });
		const [record] = await harness.records();
		const parameters = { recordId: record!.id };
		const result = await run('update', { items: [{ company: 'Acorn' }], parameters });
		expect(result.error).toBeUndefined();
		expect((await person('a'))?.company).toBe((await companyIds()).Acorn);
	});

	test('empty and null leave a link as it is, or clear it, as Empty Values says', async () => {
		await run('upsert', { items: [{ email: 'a', company: 'Acorn' }] });
		await run('upsert', { items: [{ email: 'a', company: '' }] });
		expect(await person('a')).toHaveProperty('company');
		const items = [{ email: 'a', company: null }];
		await run('upsert', { items, options: { emptyValues: 'clear' } });
		expect(await person('a')).not.toHaveProperty('company');
	});
});

test('a link to many accepts a name, a list, a list as text, and what to add and remove', async () => {
	const result = await run('upsert', {
		items: [
			{ email: 'a', clients: 'Dogwood, Test & Sons' },
			{ email: 'b', clients: ['Acorn', 'Birch'] },
			{ email: 'c', clients: '["Acorn", "Dogwood, Test & Sons"]' },
		],
	});
	expect(result.error).toBeUndefined();
	const { Acorn, Birch, ...others } = await companyIds();
	const dogwood = others['Dogwood, Test & Sons'];
	expect((await person('a'))?.clients).toEqual([dogwood]);
	expect((await person('b'))?.clients).toEqual([Acorn, Birch]);
	expect((await person('c'))?.clients).toEqual([Acorn, dogwood]);
	await run('upsert', { items: [{ email: 'b', clients: { add: ['Dogwood, Test & Sons'], remove: ['Acorn'] } }] });
	expect((await person('b'))?.clients).toEqual([Birch, dogwood]);
});

describe('not found', () => {
	test('one unknown name among 1,000 is one error item; one look-up finds the others', async () => {
		const items = Array.from({ length: 1000 }, (_, index) => ({
			email: `p${index}`,
			company: index === 500 ? 'Nobody' : ['Acorn', 'Birch'][index % 2]!,
		}));
		const result = await run('create', { ...goingOn, items });
		const error = /Item 500.*'company': no record of 'Companies' has "Nobody" in 'name'/;
		expectFailed(result, 500, error, { field: 'company', outcome: 'failed' });
		expect(outcomes(result).filter((outcome) => outcome === 'inserted')).toHaveLength(999);
		expect((await requests('POST', LOOK_UPS)).map(({ records }) => records)).toEqual([2]);
	});

	test('missing names are created once each, in one request, and reported', async () => {
		const names = ['New', 'Acorn', 'Newer', 'New'];
		const items = names.map((company, index) => ({ email: `p${index}`, company, clients: ['New'] }));
		const result = await run('upsert', { links: [orCreate], items });
		expect(outcomes(result)).toEqual(Array(4).fill('inserted'));
		expect(result.hints).toEqual([expect.stringMatching(/^4 inserted, 2 linked records created \(/)]);
		const ids = await companyIds();
		expect(Object.keys(ids)).toHaveLength(6);
		expect(await harness.values('company')).toEqual([ids.New, ids.Acorn, ids.Newer, ids.New]);
		expect(await requests('POST', CREATIONS)).toHaveLength(1);
	});

	test('a dry run reports which linked records would be created, and writes nothing', async () => {
		const result = await run('upsert', {
			links: [orCreate],
			items: [{ email: 'a', company: 'New', clients: ['Acorn'] }],
			options: { dryRun: true },
		});
		const { Acorn } = await companyIds();
		expect(result.json()[0]).toMatchObject({
			outcome: 'inserted',
			after: { company: { id: `new record of 'companies' with "New" in 'name'` }, clients: { add: [Acorn] } },
		});
		expect(await harness.records('companies')).toHaveLength(4);
		expect(await harness.records()).toEqual([]);
	});
});

test('a record that Sync created for a link is not removed by the next run', async () => {
	const sync = async (parent: string, links: object[] = [orCreate]) =>
		await run('sync', {
			table: 'companies',
			links,
			items: [{ name: 'One', parent }],
			parameters: { missingRecords: 'delete', maxRecordsToRemove: 100, maxShareToRemove: 100 },
		});
	await sync('zz');
	const ids = await companyIds();
	expect(Object.keys(ids).sort()).toEqual(['One', 'zz']);
	for (const link of [orCreate, byName]) {
		expect(outcomes(await sync('zz', [link]))).toEqual(['unchanged']);
		expect(await companyIds()).toEqual(ids);
	}
	// Once no item links to it, it is missing like any other record.
	const result = await sync('yy');
	expect(outcomes(result)).toEqual(['updated', 'deleted']);
	expect(Object.keys(await companyIds()).sort()).toEqual(['One', 'yy']);
});

test('500 people of 120 companies, 20 of them new, take ten requests', async () => {
	const company = (index: number) => `company ${index % 120}`;
	const existing = Array.from({ length: 100 }, (_, index) => ({ name: company(index) }));
	await harness.createTable(companies, existing);
	const items = Array.from({ length: 500 }, (_, index) => ({ email: `p${index}`, company: company(index) }));
	const result = await run('upsert', { links: [{ ...orCreate, field: 'company' }], items, options: { output: 'summary', batchSize: 100 } });
	expect(result.json()[0]).toMatchObject({ inserted: 500, linkedRecordsCreated: 20 });
	expect(await requests('GET', /tables\/[^/]+$/)).toHaveLength(2);
	expect(await requests('POST', LOOK_UPS)).toHaveLength(2);
	expect(await requests('POST', CREATIONS)).toHaveLength(1);
	expect(await requests('POST', /people\/data\/bulk$/)).toHaveLength(5);
	expect(await harness.requests()).toHaveLength(10);
	const ids = await companyIds();
	const others = (await harness.records()).filter(({ fields }) => fields.company !== ids[company(Number(String(fields.email).slice(1)))]);
	expect(others).toEqual([]);
});

describe('the option', () => {
	/** The parameters of the node in the editor. */
	const parameters = (link: unknown) =>
		recordParameters('create', { application: 'office', table: 'people', options: { linkValues: { link } as object } });

	test('the editor lists the link fields, and the fields to find their records by', async () => {
		const list = async (method: string, path?: string) =>
			(await loadOptions(harness.credential, method, parameters([{ field: 'company' }]), path)).map(({ value }) => value);
		expect(await list('getLinkFields')).toEqual(['*', 'company', 'clients', 'memo', 'rank', 'secret']);
		const path = 'parameters.options.linkValues.link[0].linkedField';
		expect(await list('getLinkedFields', path)).toEqual(['', 'name', 'number', 'city']);
	});
});
