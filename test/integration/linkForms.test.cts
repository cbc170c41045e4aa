/** Links as the platform may show them, with and without what the definition says of them. */
import type { IDataObject } from 'n8n-workflow';
import { loadColumns, loadOptions } from '../support/engine/engine.cts';
import { itemWithFile, useFileStore } from './attachmentFixtures.cts';
import { outcomes, recordParameters, TestHarness, useReset, type Run } from './fixtures.cts';

const harness = useReset(new TestHarness({ application: 'office', table: 'people' }));

useFileStore();

const companies = {
	internalName: 'companies',
	header: 'Companies',
	fields: [
		{ name: 'name', type: 'text', metadata: { importKey: true } },
		{ name: 'city', type: 'text' },
	],
};
const link = (name: string, metadata: object = {}) => ({
	name,
	type: 'schema_link',
	metadata: { linkTableId: 'companies', filterableFields: ['name'], ...metadata },
});
const people = {
	internalName: 'people',
	header: 'People',
	fields: [{ name: 'email', type: 'text', metadata: { importKey: true } }, link('company'), link('clients', { multiple: true })],
};

let acorn: string;
let birch: string;
beforeEach(async () => {
	[acorn, birch] = (await harness.createTable(companies, [{ name: 'Acorn', city: 'Oslo' }, { name: 'Birch' }])).map(({ id }) => id) as [
		string,
		string,
	];
	await harness.createTable(people);
});

/** The first has a link of each kind, the second none. */
const fill = () => harness.createTable(people, [{ email: 'a', company: { id: acorn }, clients: { add: [acorn, birch] } }, { email: 'b' }]);

const person = async (email: string) => (await harness.records()).find(({ fields }) => fields.email === email)?.fields;

const FORMS = ['nested', 'flat'].flatMap((links) =>
	['withUrl', 'withoutUrl'].flatMap((linkLists) =>
		['full', 'documented'].map((definition): [string, IDataObject] => [
			`${links}, ${linkLists}, ${definition}`,
			{ links, linkLists, definition },
		]),
	),
);
const sort = { by: [{ field: 'email', direction: 'asc' }] };
const getAll = async (run: Run = {}) => await harness.run('getAll', { ...run, parameters: { returnAll: true, sort, ...run.parameters } });
const include = (...entries: IDataObject[]) => ({ linkedRecords: { link: entries } });

describe.each(FORMS)('%s', (_, settings) => {
	beforeEach(() => harness.settings(settings));

	test('Simplify returns links to one in one form', async () => {
		await fill();
		const [first, second] = (await getAll()).json();
		expect(first!.company).toEqual({ name: 'Acorn', id: acorn, url: expect.any(String) });
		expect(second!.company).toBeNull();
		expect(first!.clients).toMatchObject({ count: 2 });
		const [raw] = (await getAll({ parameters: { simple: false } })).json();
		expect((raw!.fields as IDataObject).company).toMatchObject({ id: acorn });
	});

	test.each([true, false])('what was read is written back, with Simplify %s', async (simple) => {
		await fill();
		const before = await harness.records();
		const items = (await getAll({ parameters: { simple } })).json();
		for (const operation of ['update', 'upsert']) {
			const importKey = operation === 'upsert' ? { matching: { settings: { importKey: 'email' } } } : {};
			const result = await harness.run(operation, { items, options: importKey });
			expect(result.error).toBeUndefined();
			expect(outcomes(result)).toEqual(['unchanged', 'unchanged']);
			const skipped = await harness.run(operation, { items, options: { ...importKey, skipUnchanged: true } });
			expect(outcomes(skipped)).toEqual(['unchanged', 'unchanged']);
		}
		expect(await harness.records()).toEqual(before);
	});

	test('an ID, a list and a change are written', async () => {
		const [first, second] = await fill();
		const write = async (item: IDataObject) => expect((await harness.run('update', { items: [item] })).error).toBeUndefined();
		await write({ id: second!.id, company: birch, clients: birch });
		expect(await person('b')).toMatchObject({ company: birch, clients: [birch] });
		await write({ id: second!.id, company: { id: acorn }, clients: [acorn] });
		expect(await person('b')).toMatchObject({ company: acorn, clients: [birch, acorn] });
		await write({ id: first!.id, company: {}, clients: { add: [], remove: [acorn] } });
		expect(await person('a')).toMatchObject({ company: acorn, clients: [birch] });
	});

	test('linked records are included', async () => {
		await fill();
		const ids = await getAll({ options: include({ field: 'company' }) });
		expect(ids.json().map(({ company }) => company)).toEqual([acorn, null]);
		const requests = async () => (await harness.requests()).filter(({ path }) => path.includes('companies/data')).length;
		const named = { field: 'company', include: 'fields', linkedFields: ['name'] };
		await harness.clearRequests();
		expect((await getAll({ options: include(named) })).json()[0]!.company).toEqual({ id: acorn, name: 'Acorn' });
		expect(await requests()).toBe(0);
		const placed = { ...named, linkedFields: ['city'] };
		expect((await getAll({ options: include(placed) })).json()[0]!.company).toEqual({ id: acorn, city: 'Oslo' });
		const many = await getAll({ options: include({ ...named, field: 'clients' }) });
		if (settings.definition === 'documented' && settings.linkLists === 'withoutUrl') {
			expect(many.error?.message).toContain("does not say which table 'clients' links to");
			return;
		}
		const [first, second] = many.json().map(({ clients }) => clients as IDataObject[]);
		expect(first).toHaveLength(2);
		expect(first).toEqual(
			expect.arrayContaining([
				{ id: acorn, name: 'Acorn' },
				{ id: birch, name: 'Birch' },
			]),
		);
		expect(second).toEqual([]);
	});
});

describe('a definition with documented metadata only', () => {
	const byName = { linkValues: { link: [{ field: 'company', valueType: 'field', linkedField: 'name' }] } };
	beforeEach(() => harness.settings({ definition: 'documented' }));

	test('what a value shows is kept: the next run asks for nothing more', async () => {
		const [first] = await fill();
		await harness.run('count');
		const items = [{ id: first!.id, company: birch, clients: birch }];
		const count = async () => {
			await harness.clearRequests();
			await harness.run('update', { items, isWarm: true });
			return (await harness.requests()).filter(({ path }) => path.endsWith('/filter')).length;
		};
		expect([await count(), await count()]).toEqual([1, 0]);
	});

	test('names are looked up in the table that a value shows', async () => {
		await fill();
		const result = await harness.run('create', { items: [{ email: 'c', company: 'Birch' }], options: byName });
		expect(result.error).toBeUndefined();
		expect(await person('c')).toMatchObject({ company: birch });
	});

	test('a linked record is created by the field that the user chose', async () => {
		await fill();
		const options = { linkValues: { link: [{ ...byName.linkValues.link[0], ifNotFound: 'create' }] } };
		const items = [
			{ email: 'c', company: 'New' },
			{ email: 'd', company: 'New' },
		];
		expect(outcomes(await harness.run('create', { items, options }))).toEqual(['inserted', 'inserted']);
		const created = (await harness.records('companies')).filter(({ fields }) => fields.name === 'New');
		expect(created).toHaveLength(1);
		expect(await person('d')).toMatchObject({ company: created[0]!.id });
	});

	test('if no record shows it, the error has expressions that work', async () => {
		const { error } = await harness.run('create', { items: [{ email: 'c', company: acorn }] });
		expect(error?.message).toContain(
			"'company' may link to one record or to many, and no record of the table shows which: use {{ $json.company && { id: $json.company } }} if to one, {{ $json.company && [$json.company] }} if to many",
		);
		const [toOne, toMany] = [...error!.message.matchAll(/use (.*) if to one, (.*) if to many/g)][0]!.slice(1);
		const value = { email: '={{ $json.email }}', company: `=${toOne}`, clients: `=${toMany}` };
		const columns = { mappingMode: 'defineBelow', value };
		const items = [{ email: 'c', company: acorn }, { email: 'without' }];
		const mapped = await harness.run('create', { items, parameters: { columns } });
		expect(mapped.error).toBeUndefined();
		expect(await person('c')).toEqual({ email: 'c', company: acorn, clients: [acorn] });
		expect(await person('without')).toEqual({ email: 'without' });
		const named = await harness.run('create', { items: [{ email: 'd', company: 'Acorn' }], options: byName });
		expect(named.error).toBeUndefined();
	});

	test('a file’s cells are read by what is learned', async () => {
		await fill();
		const file = `email,company,clients\nx,${birch},"${acorn},${birch}"\n`;
		const options = { importKey: 'email', listSeparator: ',' };
		const result = await harness.run('importFromFile', { input: await itemWithFile('people.csv', file), options });
		expect(result.json()[0]).toMatchObject({ inserted: 1, errors: [] });
		expect(await person('x')).toMatchObject({ company: birch, clients: [acorn, birch] });
	});

	test('the editor lists what it can', async () => {
		await fill();
		const parameters = recordParameters('create', { application: 'office', table: 'people' });
		const { fields } = await loadColumns(harness.credential, 'getColumnsToCreate', parameters);
		expect(fields.find(({ id }) => id === 'company')?.displayName).toBe('company (linked record)');
		expect(fields.find(({ id }) => id === 'clients')?.displayName).toBe('clients (linked records to add)');
		const incoming = recordParameters('getAll', { application: 'office', table: 'companies' });
		const lists = (await loadOptions(harness.credential, 'getIncomingLinks', incoming)).map(({ value }) => value);
		expect(lists).toEqual(['', 'people.company', 'people.clients']);
	});
});

test('of two items of one record, the last one says whether it is linked', async () => {
	const items = [
		{ email: 'a', clients: [acorn, birch] },
		{ email: 'a', clients: { remove: [acorn] } },
		{ email: 'b', clients: { remove: [acorn] } },
		{ email: 'b', clients: acorn },
	];
	expect(outcomes(await harness.run('upsert', { items }))).toEqual(Array(4).fill('inserted'));
	expect([await person('a'), await person('b')]).toMatchObject([{ clients: [birch] }, { clients: [acorn] }]);
});
