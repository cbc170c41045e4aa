import type { IDataObject } from 'n8n-workflow';
import { loadColumns, loadOptions, picked, searchList, type Credential } from '../support/engine/engine.cts';
import type { StubResponse } from '../support/stubServer.mts';
import { useDemoData, where } from './fixtures.cts';
import { useStubServer } from './useStubServer.cts';

const demo = useDemoData({ once: true });

const chosen = (application: string, table = '') => ({
	resource: 'record',
	operation: 'create',
	application: picked(application),
	table: picked(table),
});
const contacts = chosen('crm', 'contacts');
const deals = chosen('crm', 'deals');

describe('the list', () => {
	test('of applications is sorted, and filtered regardless of case', async () => {
		const found = async (search?: string) =>
			(await searchList(demo.credential, 'searchApplications', {}, search)).results.map(({ value }) => value);
		expect(await found()).toEqual(['crm', 'geo']);
		expect(await found('GE')).toEqual(['geo']);
		expect(await found('zzz')).toEqual([]);
	});

	test('of tables has those of the chosen application, or of all if none is chosen', async () => {
		const { results } = await searchList(demo.credential, 'searchTables', chosen('crm'));
		expect(results.map(({ value }) => value)).toEqual(['companies', 'contacts', 'deals', 'syncRuns']);
		const all = await searchList(demo.credential, 'searchTables', chosen(''));
		expect(all.results).toHaveLength(5);
		expect(all.results.map(({ name }) => name)).toContainEqual(expect.stringMatching(/: Airports$/));
	});

	test('has a table by its ID if another application has one with the same name', async () => {
		const fields = [{ name: 'a', type: 'text' }];
		await demo.sandbox.admin.createTable({ app: 'geo', table: { internalName: 'contacts', header: 'Contacts', fields }, records: [] });
		const { results } = await searchList(demo.credential, 'searchTables', chosen('', 'contacts'));
		expect(results.map(({ value }) => value)).not.toContain('contacts');
		await demo.reset();
	});
});

describe('the records of a table without a field to search in', () => {
	const platform = useStubServer();

	test('are listed by ID, whatever the search', async () => {
		const records = Array.from({ length: 60 }, (_, at) => ({ id: `record-${at}`, fields: {} }));
		platform.respondWith({ fields: [{ name: 'a', type: 'number' }], records });
		const { results, paginationToken } = await searchList(platform.credential, 'searchRecords', chosen('crm', 't'), 'x');
		expect(results).toHaveLength(50);
		expect(results[0]).toEqual({ name: 'record-0', value: 'record-0' });
		expect(paginationToken).toBe('50');
	});
});

describe('the options', () => {
	const values = async (method: string, parameters: IDataObject = contacts) =>
		(await loadOptions(demo.credential, method, parameters)).map(({ value }) => value);

	test('the fields to load have data: buttons and hints are not among them', async () => {
		const fields = await values('getFields', deals);
		expect(fields).toEqual(expect.arrayContaining(['number', 'caption', 'version', 'sketch']));
		expect(fields).not.toContain('send');
		expect(fields).not.toContain('hint');
	});

	test('the fields to filter by include those of linked records, and a filter on one returns only records that match it', async () => {
		expect(await values('getFilterFields')).toEqual(expect.arrayContaining(['company', 'company.name', 'company.city']));
		const filter = where({ field: 'company.name', operator: 'startswith', value: 'Elm' });
		const result = await demo.run('getAll', { parameters: { ...filter, returnAll: true } });
		const names = result.json().map(({ company }) => (company as IDataObject).name);
		expect([...new Set(names)]).toEqual(['Elm Placeholder AG']);
	});

	test('the fields to sort by are created, ID, modified, then those to filter by except fields of linked records', async () => {
		const fields = await values('getFilterFields', deals);
		expect(fields).toContain('stage');
		expect(fields).not.toContain('send');
		const sorts = await values('getSortFields', deals);
		const unlinked = fields.filter((name) => !String(name).includes('.')).slice(1, -3);
		expect(fields.slice(-3)).toEqual(['created', 'id', 'modified']);
		expect(sorts).toEqual(['', ...fields.slice(-3), ...unlinked]);
	});

	test('lists to choose one entry from have an empty value, so that the editor does not mark it', async () => {
		for (const method of [
			...['getChoice', 'getField', 'getFileField', 'getFilterFields', 'getIncomingLinks', 'getLinkedFields'],
			...['getSavedViews', 'getSortFields', 'getSummaryFields', 'getWritableFields'],
		]) {
			expect((await values(method, deals))[0]).toBe('');
		}
		for (const method of ['getFields', 'getMatchFields', 'getChoices']) {
			expect(await values(method, deals)).not.toContain('');
		}
	});

	test('the fields to match on are neither read-only nor pictures nor buttons', async () => {
		const fields = await values('getMatchFields', deals);
		expect(fields).toEqual(expect.arrayContaining(['number', 'stage']));
		for (const name of ['caption', 'version', 'sketch', 'send']) expect(fields).not.toContain(name);
	});

	test('saved views have their names and descriptions, after None', async () => {
		const views = await loadOptions(demo.credential, 'getSavedViews', contacts);
		expect(views.map(({ name }) => name)).toEqual(['None', 'Adults', 'Newsletter']);
		expect(views[1]?.description).toBe('Eighteen and older');
	});

	test.each([
		...['getFields', 'getFileField', 'getFilterFields', 'getIncomingLinks', 'getLinkFields'],
		...['getSavedViews', 'getSortFields', 'getSummaryFields'],
	])('%s says that a table must be chosen', async (method) => {
		expect(await loadOptions(demo.credential, method, chosen('crm'))).toEqual([{ name: 'Choose a Table First', value: '' }]);
	});
});

describe('columns of the mapping', () => {
	const columns = async (method: string, parameters: IDataObject = contacts) => {
		const { fields } = await loadColumns(demo.credential, method, parameters);
		return new Map(fields.map((field) => [field.id, field]));
	};

	test('of an upsert: the import key comes first', async () => {
		expect([...(await columns('getColumnsToUpsert')).keys()][0]).toBe('email');
	});

	test('of a table with many fields, the required ones and the key are shown at first', async () => {
		const names = Array.from({ length: 60 }, (_, index) => ({ name: `f${index}`, type: 'text' }));
		const key = { name: 'number', type: 'text', metadata: { importKey: true } };
		const required = { name: 'title', type: 'text', metadata: { required: true } };
		const table = { internalName: 'wide', header: 'Wide', fields: [...names, required, key] };
		await demo.createTable(table);
		for (const method of ['getColumnsToCreate', 'getColumnsToUpsert']) {
			const fields = [...(await columns(method, chosen('crm', 'wide'))).values()];
			expect(fields).toHaveLength(62);
			const shown = fields.filter(({ removed }) => !removed);
			expect(shown.map(({ id }) => id)).toEqual(['number', 'title']);
		}
		await demo.reset();
	});

	test('of a new record: required fields are marked, read-only ones are left out, a checkbox has the options true and false', async () => {
		const fields = await columns('getColumnsToCreate');
		expect(fields.has('fullName')).toBe(false);
		expect(fields.get('surname')).toMatchObject({ displayName: 'Surname', required: true });
		expect(fields.get('email')).toMatchObject({ displayName: 'E-mail (import key)', required: false });
		expect(fields.get('age')?.type).toBe('number');
		// A switch would write false into a field that nobody touched.
		expect(fields.get('newsletter')).toMatchObject({ type: 'options', options: [{ value: true }, { value: false }] });
		expect(fields.get('dateOfBirth')?.type).toBe('dateTime');
	});

	test.each(['importKey', 'fields', 'recordId'])(
		'of an upsert matched on %s: nothing is required, the import key is marked',
		async (matchOn) => {
			const fields = await columns('getColumnsToUpsert', { ...contacts, matchOn });
			expect([...fields.values()].some((field) => field.required)).toBe(false);
			expect(fields.get('email')?.displayName).toBe('E-mail (import key)');
		},
	);

	test('of an update: nothing is required, and nothing is shown before it is added', async () => {
		const fields = await columns('getColumnsToUpdate');
		expect([...fields.values()].every(({ removed }) => removed)).toBe(true);
		expect([...fields.values()].some((field) => field.required)).toBe(false);
	});

	test('have an input for every type; choices keep their order, links say what to fill in', async () => {
		const fields = await columns('getColumnsToCreate', deals);
		expect(fields.get('stage')).toMatchObject({
			type: 'options',
			options: ['open', 'won', 'lost'].map((value) => ({ name: value, value })),
		});
		const typesOf = (type: string | undefined) => [...fields.keys()].filter((name) => fields.get(name)?.type === type);
		expect(typesOf('number')).toEqual(expect.arrayContaining(['fee', 'chance']));
		expect(typesOf('string')).toEqual(expect.arrayContaining(['tags', 'value', 'steps', 'sketch', 'link']));
		expect(fields.get('company')?.displayName).toBe('Company (linked record)');
		expect(fields.get('people')?.displayName).toContain('(linked records to add)');
	});
});

describe('a list that cannot be loaded says why', () => {
	test.each<[what: string, change: () => Partial<Credential>, message: RegExp]>([
		['an expired token', () => ({ token: demo.sandbox.tokens.expired }), /did not accept the token/],
		['a revoked token', () => ({ token: demo.sandbox.tokens.revoked }), /did not accept the token/],
		['a token without the right', () => ({ token: demo.sandbox.tokens.workflow }), /can only start workflows/],
		['plain HTTP', () => ({ baseUrl: 'http://platform.example.com' }), /must use HTTPS/],
		['no address', () => ({ baseUrl: 'platform' }), /is not a web address/],
	])('%s, without naming the token', async (_, change, message) => {
		const bad = { ...demo.credential, ...change() };
		const all = [
			searchList(bad, 'searchApplications', {}),
			searchList(bad, 'searchTables', chosen('crm')),
			searchList(bad, 'searchTables', chosen('')),
			loadOptions(bad, 'getFields', contacts),
			loadOptions(bad, 'getFilterFields', contacts),
			loadOptions(bad, 'getSortFields', contacts),
			loadOptions(bad, 'getSavedViews', contacts),
			loadColumns(bad, 'getColumnsToCreate', contacts),
			loadColumns(bad, 'getColumnsToUpsert', contacts),
			loadColumns(bad, 'getColumnsToUpdate', contacts),
		];
		for (const result of await Promise.allSettled(all)) {
			const reason = (result as PromiseRejectedResult).reason as Error;
			expect(reason.message).toMatch(message);
			expect(JSON.stringify([reason.message, reason])).not.toContain(bad.token);
		}
	});

	describe('after one request, with what to do in the editor', () => {
		const platform = useStubServer();
		const wait = (headers = {}) => ({ status: 429, headers, body: '{}' });

		test.each<[what: string, response: StubResponse, hint: string]>([
			['asks to wait', wait({ 'retry-after': '30' }), 'Load the list again in 30 s.'],
			['asks to wait without saying how long', wait(), 'Load the list again in a minute.'],
			['fails', { status: 502 }, 'Check the platform and the network, then load'],
		])('a platform that %s', async (_, response, hint) => {
			platform.respond = () => response;
			const start = Date.now();
			const loading = searchList(platform.credential, 'searchApplications', {});
			await expect(loading).rejects.toMatchObject({ description: expect.stringContaining(hint) });
			expect(Date.now() - start).toBeLessThan(30_000);
			expect(platform.requests).toHaveLength(1);
		});
	});

	test('an unknown table is named, with its application if one is chosen', async () => {
		const unknown = chosen('crm', 'nothing');
		await expect(loadColumns(demo.credential, 'getColumnsToCreate', unknown)).rejects.toThrow("There is no table 'nothing' in 'crm'");
		const anywhere = loadOptions(demo.credential, 'getFields', chosen('', 'nothing'));
		await expect(anywhere).rejects.toThrow("No application that this token can see has a table 'nothing'");
	});
});
