/** Links by business key: the items have names, the platform gets record IDs. */
import type { IDataObject } from 'n8n-workflow';
import { automatic, loadColumns, loadOptions, picked, runOperation, type OperationRun, type RunResult } from '../support/engine/engine.cts';
import type { StoredRecord } from '../../harness/sandboxAdmin.mts';
import type { RunningSandbox } from '../../harness/sandboxProcess.mts';
import { sharedSandbox } from '../support/sharedSandbox.mts';
import { expectErrorItem, outcomes } from './fixtures.cts';

const APP = 'office';

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

let sandbox: RunningSandbox;

beforeAll(async () => {
	sandbox = await sharedSandbox();
});
beforeEach(async () => {
	await sandbox.admin.reset();
	const records = [
		{ name: 'Acorn', number: 1, city: 'Oslo' },
		{ name: 'Birch', number: 2, city: 'Oslo' },
		{ name: 'Dogwood, Test & Sons', number: 3, city: 'Rome' },
		{ name: 'Back\\slash', number: 4, city: 'Bonn' },
	].map((fields) => ({ fields }));
	for (const table of [memos, secrets, ranks, people]) {
		await sandbox.admin.createTable({ app: APP, table });
	}
	await sandbox.admin.createTable({ app: APP, table: companies, records });
	await sandbox.admin.clearRequests();
});

type Link = Partial<Record<'field' | 'valueType' | 'linkedField' | 'ifNotFound', string>>;

interface Run extends Omit<OperationRun, 'parameters'> {
	table?: string;
	links?: Link[];
	options?: IDataObject;
	parameters?: IDataObject;
	token?: string;
}

const byName: Link = { field: '*', valueType: 'importKey' };
const orCreate: Link = { ...byName, ifNotFound: 'create' };
const goingOn: Run = { onError: 'continueRegularOutput' };

async function run(
	operation: string,
	{ table = 'people', links = [byName], options = {}, parameters = {}, token, ...rest }: Run,
): Promise<RunResult> {
	return await runOperation(
		{ baseUrl: sandbox.baseUrl, token: token ?? sandbox.tokens.role },
		{
			...rest,
			parameters: {
				resource: 'record',
				operation,
				application: picked(APP),
				table: picked(table),
				columns: automatic,
				options: { ...options, linkValues: { link: links } },
				...parameters,
			},
		},
	);
}

const stored = async (table = 'people'): Promise<StoredRecord[]> => await sandbox.admin.records(APP, table);

const person = async (email: string) => (await stored()).find(({ fields }) => fields.email === email)?.fields;

const companyIds = async () => {
	const records = await stored('companies');
	return Object.fromEntries(records.map(({ id, fields }) => [String(fields.name), id]));
};

/** Linked tables are addressed by the ID in the link's definition. */
const LOOK_UPS = /tables\/[\da-f-]{36}\/data\/filter$/;
const CREATIONS = /tables\/[\da-f-]{36}\/data\/bulk$/;

const requests = async (method: string, path: RegExp) =>
	(await sandbox.admin.requests()).filter((request) => request.method === method && path.test(request.path));

describe('a link to one record', () => {
	test.each(['create', 'upsert'])('%s: by the import key of the linked table', async (operation) => {
		const result = await run(operation, {
			items: [
				{ email: 'a', company: 'Birch' },
				{ email: 'b', company: 'Dogwood, Test & Sons' },
				{ email: 'c', company: 'Back\\slash' },
			],
		});
		expect(result.error).toBeUndefined();
		const ids = await companyIds();
		expect(await person('a')).toEqual({ email: 'a', company: ids.Birch });
		expect(await person('b')).toEqual({ email: 'b', company: ids['Dogwood, Test & Sons'] });
		expect(await person('c')).toEqual({ email: 'c', company: ids['Back\\slash'] });
	});

	test('update', async () => {
		await run('create', { items: [{ email: 'a', company: 'Birch' }] });
		const [record] = await stored();
		const parameters = { recordId: picked(record!.id) };
		const result = await run('update', { items: [{ company: 'Acorn' }], parameters });
		expect(result.error).toBeUndefined();
		expect((await person('a'))?.company).toBe((await companyIds()).Acorn);
	});

	test('empty and null leave it empty, or clear it, as Empty Values says', async () => {
		await run('upsert', { items: [{ email: 'a', company: 'Acorn' }] });
		await run('upsert', { items: [{ email: 'a', company: '' }] });
		expect(await person('a')).toHaveProperty('company');
		const items = [{ email: 'a', company: null }];
		await run('upsert', { items, options: { emptyValues: 'clear' } });
		expect(await person('a')).not.toHaveProperty('company');
	});
});

describe('a link to many records', () => {
	test('a name, a list, a list as text, and a change', async () => {
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
});

describe('not found', () => {
	test('one unknown name among 1,000 is one error item; one look-up finds the others', async () => {
		const items = Array.from({ length: 1000 }, (_, index) => ({
			email: `p${index}`,
			company: index === 500 ? 'Nobody' : ['Acorn', 'Birch'][index % 2]!,
		}));
		const result = await run('create', { ...goingOn, items });
		const output = result.output('Data Platform');
		expectErrorItem(output[500]!, 500, /Item 500.*'company': no record of 'Companies' has "Nobody" in 'name'/, {
			field: 'company',
			outcome: 'failed',
		});
		expect(outcomes(result).filter((outcome) => outcome === 'inserted')).toHaveLength(999);
		expect((await requests('POST', LOOK_UPS)).map(({ records }) => records)).toEqual([2]);
	});

	test('created: once each, in one request, and reported', async () => {
		const names = ['New', 'Acorn', 'Newer', 'New'];
		const items = names.map((company, index) => ({ email: `p${index}`, company, clients: ['New'] }));
		const result = await run('upsert', { links: [orCreate], items });
		expect(outcomes(result)).toEqual(Array(4).fill('inserted'));
		expect(result.hints).toEqual([expect.stringMatching(/^4 inserted, 2 linked records created \(/)]);
		const ids = await companyIds();
		expect(Object.keys(ids)).toHaveLength(6);
		expect((await stored()).map(({ fields }) => fields.company)).toEqual(names.map((name) => ids[name]));
		expect(await requests('POST', CREATIONS)).toHaveLength(1);
	});

	test('a dry run reports what would be created, and writes nothing', async () => {
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
		expect(await stored('companies')).toHaveLength(4);
		expect(await stored()).toEqual([]);
	});
});

describe('what can go wrong with the linked table', () => {
	test('a record that Sync created for a link is not removed by the next run', async () => {
		const sync = async (parent: string, more: Run = {}) =>
			await run('sync', {
				table: 'companies',
				links: [orCreate],
				items: [{ name: 'One', parent }],
				parameters: { missingRecords: 'delete', maxRecordsToRemove: 100, maxShareToRemove: 100 },
				...more,
			});
		await sync('zz');
		const ids = await companyIds();
		expect(Object.keys(ids).sort()).toEqual(['One', 'zz']);
		for (const links of [[orCreate], [byName]]) {
			expect(outcomes(await sync('zz', { links }))).toEqual(['unchanged']);
			expect(await companyIds()).toEqual(ids);
		}
		// Once no item links to it, it is missing like any other record.
		const result = await sync('yy');
		expect(outcomes(result)).toEqual(['updated', 'deleted']);
		expect(Object.keys(await companyIds()).sort()).toEqual(['One', 'yy']);
	});
});

describe('the number of requests', () => {
	test('500 people of 120 companies, 20 of them new', async () => {
		const company = (index: number) => `company ${index % 120}`;
		const records = Array.from({ length: 100 }, (_, index) => ({ fields: { name: company(index) } }));
		await sandbox.admin.createTable({ app: APP, table: companies, records });
		await sandbox.admin.clearRequests();
		const items = Array.from({ length: 500 }, (_, index) => ({ email: `p${index}`, company: company(index) }));
		const result = await run('upsert', {
			links: [{ ...orCreate, field: 'company' }],
			items,
			options: { output: 'summary', batchSize: 100 },
		});
		expect(result.json()[0]).toMatchObject({ inserted: 500, linkedRecordsCreated: 20 });
		expect(await requests('GET', /tables\/[^/]+$/)).toHaveLength(2);
		expect(await requests('POST', LOOK_UPS)).toHaveLength(2);
		expect(await requests('POST', CREATIONS)).toHaveLength(1);
		expect(await requests('POST', /people\/data\/bulk$/)).toHaveLength(5);
		expect(await sandbox.admin.requests()).toHaveLength(10);
		const ids = await companyIds();
		const others = (await stored()).filter(({ fields }) => fields.company !== ids[company(Number(String(fields.email).slice(1)))]);
		expect(others).toEqual([]);
	});
});

describe('the option', () => {
	test('the lists of link fields and of the fields to find them by', async () => {
		const credential = { baseUrl: sandbox.baseUrl, token: sandbox.tokens.role };
		const parameters = {
			resource: 'record',
			operation: 'create',
			application: picked(APP),
			table: picked('people'),
			options: { linkValues: { link: [{ field: 'company' }] } },
		};
		const list = async (method: string, path = '') => (await loadOptions(credential, method, parameters, path)).map(({ value }) => value);
		expect(await list('getLinkFields')).toEqual(['*', 'company', 'clients', 'memo', 'rank', 'secret']);
		const path = 'parameters.options.linkValues.link[0].linkedField';
		expect(await list('getLinkedFields', path)).toEqual(['', 'name', 'number', 'city']);
	});

	const columns = async (link: unknown) => {
		const credential = { baseUrl: sandbox.baseUrl, token: sandbox.tokens.role };
		const { fields } = await loadColumns(credential, 'getColumnsToCreate', {
			resource: 'record',
			operation: 'create',
			application: picked(APP),
			table: picked('people'),
			options: { linkValues: { link } },
		});
		return fields;
	};

	test('the mapper offers linked records as a list if there are few', async () => {
		const company = async (link: unknown) => {
			const { type, options } = (await columns(link)).find(({ id }) => id === 'company')!;
			return { type, values: options?.map(({ value }) => value).sort() };
		};
		const ids = await companyIds();
		expect(await company([])).toEqual({ type: 'options', values: Object.values(ids).sort() });
		expect(await company([byName])).toEqual({ type: 'options', values: Object.keys(ids).sort() });
		const records = Array.from({ length: 101 }, (_, at) => ({ fields: { name: `c${at}` } }));
		await sandbox.admin.createTable({ app: APP, table: companies, records });
		expect(await company([])).toEqual({ type: 'string', values: undefined });
	});

	test('the mapper says what each link field takes if it has no list', async () => {
		const labels = async (link: unknown) => (await columns(link)).map(({ displayName }) => displayName);
		expect(await labels([])).toEqual(expect.arrayContaining(['company', 'memo (record ID)', 'clients (record IDs to add)']));
		const links = [byName, { field: 'memo', valueType: 'field', linkedField: 'text' }];
		expect(await labels(links)).toEqual(
			expect.arrayContaining(['company (linked import key)', 'clients (linked import keys to add)', "memo (linked 'text')"]),
		);
		expect(await labels([{ ...byName, valueType: '={{ $json.x }}' }])).toContain('company');
	});
});
