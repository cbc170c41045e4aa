/** Reading across links: the records linked to one record, and linked records in place of links. */
import type { IDataObject } from 'n8n-workflow';
import { loadOptions, picked } from '../support/engine/engine.cts';
import { useDemoData, where, type Run } from './fixtures.cts';

const harness = useDemoData();

let dealId: string;
let companyId: string;
beforeEach(async () => {
	[dealId, companyId] = [(await harness.records('deals'))[0]!.id, (await harness.records('companies'))[0]!.id];
	await harness.clearRequests();
});

const getAll = async ({ parameters, ...run }: Run) =>
	await harness.run('getAll', { parameters: { returnAll: true, ...parameters }, ...run });

const linkedTo = (linkField: string, recordId: string) => ({ linkedTo: { record: { linkField, recordId } } });
const sort = { by: [{ field: 'number', direction: 'asc' }] };
const include = (...link: IDataObject[]) => ({ linkedRecords: { link } });
const dataRequests = async () => (await harness.requests()).filter(({ path }) => /\/data\b/.test(path));

describe('linked to', () => {
	test('Linked To reads the records of a link to many', async () => {
		const options = linkedTo('deals.people', dealId);
		const emails = (await getAll({ options })).json().map(({ email }) => email);
		expect(emails.sort()).toEqual(['ann.fox@example.com', 'bob.fox@example.com']);
	});

	test('Linked To reads the record of a link to one', async () => {
		const options = linkedTo('deals.company', dealId);
		const result = await getAll({ table: 'companies', options });
		expect(result.json()).toMatchObject([{ name: 'Acorn Sample Ltd' }]);
	});

	test('Linked To can be combined with a filter and chosen fields', async () => {
		const parameters = where({ field: 'firstname', operator: 'eq', value: 'Bob' });
		const options = linkedTo('deals.people', dealId);
		const result = await getAll({ parameters, options: { ...options, fieldsToLoad: ['email'] } });
		expect(result.json()).toEqual([expect.objectContaining({ email: 'bob.fox@example.com' })]);
		expect(result.json()[0]).not.toHaveProperty('surname');
	});

	test('an empty or wrong value of Linked To is an error: it never means all', async () => {
		const error = async (linkField: string, recordId: string, parameters = {}) =>
			(await getAll({ parameters, options: linkedTo(linkField, recordId) })).error?.message;
		expect(await error('', dealId)).toContain("'Link Field Name or ID' under 'Linked To' is empty");
		expect(await error('deals.people', '={{ $json.nothing }}')).toContain("'Record ID'");
		expect(await error('people', dealId)).toContain('no table and link field');
		expect(await error('deals.title', dealId)).toContain("has no link field 'title'");
		expect(await error('deals.company', dealId)).toContain('not a link');
		expect(await error('deals.people', 'gone')).toContain('no record');
		const any = { matchType: 'or', ...where(...['a', 'b'].map((value) => ({ field: 'firstname', operator: 'eq', value }))) };
		expect(await error('deals.people', dealId, any)).toContain("can't be combined with the choice of linked records");
		expect(await dataRequests()).toHaveLength(2);
	});

	test('the editor lists the links that point to the table', async () => {
		const list = async (table: string, application = 'crm') => {
			const parameters = { resource: 'record', operation: 'getAll', application: picked(application), table: picked(table) };
			return (await loadOptions(harness.credential, 'getIncomingLinks', parameters)).map(({ value }) => value);
		};
		expect(await list('contacts')).toEqual(['', 'deals.people']);
		expect(await list('companies', '')).toEqual(['', 'contacts.company', 'deals.company']);
	});
});

describe('include linked records', () => {
	const one = async (options: IDataObject) =>
		(await harness.run('get', { table: 'deals', parameters: { recordId: dealId }, options })).json()[0]!;

	test('links to one and to many can be included as IDs', async () => {
		const ids = (await harness.records('contacts'))
			.filter(({ fields }) => ['ann.fox@example.com', 'bob.fox@example.com'].includes(String(fields.email)))
			.map(({ id }) => id)
			.sort();
		const linked = await one(include({ field: '*' }));
		expect(linked).toMatchObject({ company: companyId });
		expect([...(linked.people as string[])].sort()).toEqual(ids);
		const [first, second] = (await getAll({ table: 'deals', options: include({ field: 'people' }), parameters: { sort } })).json();
		expect([...(first!.people as string[])].sort()).toEqual(ids);
		expect(second!.people).toEqual([]);
		// Only links with a value are read.
		expect(await dataRequests()).toHaveLength(4);
	});

	test('fields that the link shows take no request, other fields one for each record', async () => {
		const shown = { field: 'company', include: 'fields', linkedFields: ['name'] };
		expect((await one(include(shown))).company).toEqual({ id: companyId, name: 'Acorn Sample Ltd' });
		expect(await dataRequests()).toHaveLength(1);
		const read = { field: 'company', include: 'fields', linkedFields: ['size', 'city'] };
		expect((await one(include(read))).company).toEqual({ id: companyId, size: 'small', city: 'Berlin' });
		expect(await dataRequests()).toHaveLength(3);
	});

	test('linked records of many records are read once, together', async () => {
		const link = { field: 'company', include: 'fields', linkedFields: ['size'] };
		const records = (await getAll({ options: include(link) })).json();
		expect(records).toHaveLength(40);
		const companies = await harness.records('companies');
		const sizes = new Map(companies.map(({ id, fields }) => [id, fields.size]));
		const linked = records.filter(({ company }) => company !== null);
		expect(linked.length).toBeGreaterThan(30);
		for (const { company } of linked as Array<{ company: IDataObject }>) {
			expect(company).toEqual({ id: company.id, size: sizes.get(String(company.id)) });
		}
		// The contacts and the empty page after them, the companies
		expect(await dataRequests()).toHaveLength(3);
	});

	test('linked records are limited, with a notice if some were left out', async () => {
		const link = { field: 'people', limit: 1, include: 'fields', linkedFields: ['email'] };
		const result = await getAll({ table: 'deals', options: include(link), parameters: { sort } });
		expect(result.json()[0]!.people).toEqual([{ id: expect.any(String), email: expect.stringMatching(/^(ann|bob)\.fox@/) }]);
		expect(result.hints).toEqual([expect.stringContaining("more linked records than 'Limit'")]);
	});

	test('output with linked records can be written back', async () => {
		const link = (field: string, linkedField: string) => ({ field, include: 'fields', linkedFields: [linkedField] });
		const { company, people } = await one(include(link('company', 'name'), link('people', 'email')));
		const before = await harness.records('deals');
		const result = await harness.run('update', { table: 'deals', items: [{ company, people }], parameters: { recordId: dealId } });
		expect(result.error).toBeUndefined();
		const after = await harness.records('deals');
		expect(after[0]!.fields).toEqual(before[0]!.fields);
	});
});
