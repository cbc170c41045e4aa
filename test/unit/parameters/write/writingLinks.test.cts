/** The options about links: values to look up, linked records to read. */
import type { IDataObject, IHttpRequestOptions, IN8nHttpFullResponse, INodeParameters, NodeParameterValueType } from 'n8n-workflow';

import type { TableDefinition } from '../../../../nodes/DataPlatform/api/types.ts';
import { inclusionsOf, warnAboutOmissions } from '../../../../nodes/DataPlatform/parameters/select/readingLinks.ts';
import { linkRules } from '../../../../nodes/DataPlatform/parameters/write/writingLinks.ts';
import { asItems, columns, fakeRun, locator, runNode, TABLE, type Given } from '../../fakeNode.cts';
import { fieldOf, tableOf } from '../../fixtures.cts';
import { httpResponse, notFound } from '../../stubPlatform.cts';
import { StubTables } from '../../stubTables.cts';

const ADA = '0f8fad5b-d9cb-469f-a165-70867728950e';

const link = (name: string, linkTableId: string | undefined, multiple = false) => fieldOf(name, 'schema_link', { linkTableId, multiple });

const named = (id: string, header: string, ...fields: TableDefinition['fields']) => ({
	...tableOf(fieldOf('name', 'text', { importKey: true }), ...fields),
	...{ id, internalName: id, header },
});

const definitions = {
	people: named(
		'people',
		'People',
		link('company', 'companies'),
		link('partner', 'partners'),
		link('clients', 'companies', true),
		link('lost', undefined),
		link('boss', 'people'),
	),
	companies: named('companies', 'Companies', fieldOf('city'), fieldOf('button', 'buttonform'), link('staff', 'people', true)),
	/** Belongs to another application. */
	partners: named('partners', 'Partners'),
};

const stored = {
	people: { [ADA]: { name: 'Ada', company: { id: 'a' }, clients: { count: 2 } } },
	companies: { a: { name: 'Acorn', city: 'Oslo' }, b: { name: 'Birch', city: 'Rome' } },
	partners: { x: { name: 'Xylo' } },
};

interface LinksGiven extends Omit<Given, 'serve'> {
	/** Responds in place of the tables, if it returns a response. */
	serve?: (options: IHttpRequestOptions) => IN8nHttpFullResponse | undefined;
}

/** One run on these tables, and the requests for records, without `apps/sales/`. */
async function run(operation: string, { parameters, serve, ...given }: LinksGiven = {}) {
	const tables = new StubTables(stored, definitions);
	const seen = await runNode(operation, {
		serve: (options) => serve?.(options) ?? (options.url.endsWith('/apps/sales/tables/partners') ? notFound() : tables.serve(options)),
		...given,
		parameters: { ...TABLE, ...parameters },
	});
	const requests = seen.requests.filter((request) => request.includes('/data')).map((request) => request.replace('apps/sales/tables/', ''));
	return { ...seen, requests, tables: tables.tables };
}

type Entries = INodeParameters[];

const LOOK_UP = 'POST companies/data/filter';
const WRITE = 'POST people/data/bulk';
const posts = (requests: string[]) => requests.filter((request) => request.startsWith('POST'));

/** A record created with these values, and these entries under Link Values. */
const create = async (link: Entries, values: IDataObject, given: LinksGiven = {}) =>
	await run('record: create', {
		parameters: { columns: columns(), options: { linkValues: { link } }, ...given.parameters },
		items: asItems({ name: 'Bob', ...values }),
		...given,
	});

describe('Link Values', () => {
	const any = (more: INodeParameters = {}) => ({ field: '*', ...more });
	test.each<[string, Entries, IDataObject, object]>([
		['record IDs', [any({ valueType: 'recordIds' })], { company: ADA }, { company: { id: ADA } }],
		['the import key', [any({ valueType: 'importKey' })], { company: 'Birch' }, { company: { id: 'b' } }],
		['the import key of several', [any()], { clients: ['Birch', 'Acorn'] }, { clients: { add: ['b', 'a'] } }],
		['another field', [any({ valueType: 'field', linkedField: ' city ' })], { company: 'Rome' }, { company: { id: 'b' } }],
		['a field of its own', [{ field: 'company' }], { company: 'Birch', boss: ADA }, { company: { id: 'b' }, boss: { id: ADA } }],
		[
			'all but one',
			[any(), { field: 'boss', valueType: 'recordIds' }],
			{ company: 'Birch', boss: ADA },
			{ company: { id: 'b' }, boss: { id: ADA } },
		],
		[
			'one in its own way',
			[{ field: 'company', valueType: 'field', linkedField: 'city' }, any()],
			{ company: 'Rome', boss: 'Ada' },
			{ company: { id: 'b' }, boss: { id: ADA } },
		],
		['none that is found, left empty', [any({ ifNotFound: 'leaveEmpty' })], { company: 'Cork' }, {}],
		['a table of another application', [any()], { partner: 'Xylo' }, { partner: { id: 'x' } }],
	])('%s', async (_, entries, values, fields) => {
		const { sent, error } = await create(entries, values);
		expect(error).toBeUndefined();
		expect(sent.at(-1)!.body).toEqual({ bulk: [{ fields: { name: 'Bob', ...fields } }] });
	});

	test('are not looked up without the option', async () => {
		const { requests } = await run('record: create', { parameters: { columns: columns() }, items: asItems({ name: 'Bob', company: ADA }) });
		expect(posts(requests)).toEqual([WRITE]);
	});

	const CHOOSE = 'Choose it from the list, or correct the expression in it.';
	test.each<[unknown, string, string]>([
		[
			[any({ valueType: 'id' })],
			`'Link Values Are' under 'Link Values' must be one of 'importKey', 'field', 'recordIds', not "id"`,
			CHOOSE,
		],
		[
			[any({ ifNotFound: 'skip' })],
			`'If Not Found' under 'Link Values' must be one of 'create', 'leaveEmpty', 'error', not "skip"`,
			CHOOSE,
		],
		[
			[any({ valueType: 'field', linkedField: ' ' })],
			"'Link Values' names no field of the linked table",
			"Choose it under 'Linked Field Name or ID'.",
		],
		[[any({ valueType: 'field' })], "'Link Values' names no field of the linked table", "Choose it under 'Linked Field Name or ID'."],
		[
			[{ field: 'name' }],
			"'Link Values' names 'name', which is no link field of table 'People'",
			'Its link fields are: company, partner, clients, lost, boss.',
		],
		[
			[{ field: 'nobody' }],
			"'Link Values' names 'nobody', which is no link field of table 'People'",
			'Its link fields are: company, partner, clients, lost, boss.',
		],
		[[any(), any()], "'Link Values' has two entries for '*'", 'Remove one.'],
		[['x', {}], `'Link Values' must be a list of entries, not ["x",{}]`, 'Correct the expression in it.'],
		[[{ field: 'boss' }, { field: ' boss ' }], "'Link Values' has two entries for 'boss'", 'Remove one.'],
		[[{ field: { a: 1 } }], "'Field Name or ID' under 'Link Values' must be text, not an object", 'Correct the expression in it.'],
	])('%j is rejected', async (entries, message, hint) => {
		const { run: context } = await fakeRun({ options: { linkValues: { link: entries } } });
		expect(() => linkRules(context, 0, definitions.people)).toThrow(expect.objectContaining({ message, hint, field: 'Link Values' }));
	});

	test('hold for link fields only', async () => {
		const { run: context } = await fakeRun({ options: { linkValues: { link: [{}] } } });
		expect([...linkRules(context, 0, definitions.companies).keys()]).toEqual(['staff']);
	});

	test('of a table without links are rejected', async () => {
		const { run: context } = await fakeRun({ options: { linkValues: { link: [{ field: 'company' }] } } });
		expect(() => linkRules(context, 0, tableOf(fieldOf('name')))).toThrow(
			expect.objectContaining({ hint: 'The table has no link field: remove the option.' }),
		);
	});

	test.each<[string, IDataObject, string]>([
		['a value that no record has', { company: 'Cork' }, "Nothing was sent: 'company': no record of 'Companies' has \"Cork\" in 'name'"],
		[
			'a link whose target the platform does not name',
			{ lost: 'Cork' },
			"Nothing was sent: 'lost': the platform does not say which table 'lost' links to: use record IDs",
		],
	])('%s is an error', async (_, values, message) => {
		const { error, requests } = await create([any()], values);
		expect(error?.message).toBe(message);
		expect(error?.context.details).toMatchObject({ field: Object.keys(values)[0] });
		expect(requests).not.toContain(WRITE);
	});

	test('without an application, a linked table is looked for in all of them', async () => {
		const { error, requests } = await create(
			[any()],
			{ company: 'Acorn' },
			{ parameters: { ...{ application: locator(''), columns: columns() }, options: { linkValues: { link: [any()] } } } },
		);
		expect(error).toBeUndefined();
		expect(posts(requests)).toEqual([LOOK_UP, WRITE]);
	});
});

describe('several items with links', () => {
	const parameters = { columns: columns(), options: { linkValues: { link: [{ field: '*', ifNotFound: 'leaveEmpty' }] } } };

	test('one whose values can’t be read does not keep the others from it', async () => {
		const items = asItems({ name: 'B', company: 'Acorn' }, { name: 'C' }, { name: 'D', company: 'Birch' });
		const { requests, json } = await run('record: create', {
			parameters: { ...parameters, columns: columns({ name: '={{ $json.name }}', company: '={{ $json.company.trim() }}' }) },
			items,
			node: { onError: 'continueRegularOutput' },
		});
		expect(posts(requests)).toEqual([LOOK_UP, WRITE]);
		expect(json).toMatchObject([{ name: 'B' }, { details: { item: 1 } }, { name: 'D' }]);
	});
});

test('linked records that are created are left out of the audit log, too', async () => {
	const creating = [{ field: '*', ifNotFound: 'create' }];
	const { sent } = await create(
		creating,
		{},
		{
			parameters: { columns: columns(), options: { linkValues: { link: creating }, skipAudit: true } },
			items: asItems({ name: 'Bob', company: 'Cork' }),
		},
	);
	const bodies = sent.filter(({ request }) => request.endsWith('/bulk'));
	expect(bodies.map(({ body }) => body)).toMatchObject([{ skipAudit: true }, { skipAudit: true }]);
});

describe('Linked To', () => {
	const linkedTo = (record: NodeParameterValueType) => ({ parameters: { returnAll: true, options: { linkedTo: { record } } } });

	test('narrows to the records that a link leads to', async () => {
		const { sent, error } = await run('record: getAll', { ...linkedTo({ linkField: 'companies.staff', recordId: ' a ' }) });
		expect(error).toBeUndefined();
		expect(sent.at(-1)).toMatchObject({
			request: 'GET apps/sales/tables/people/data',
			query: { linkId: 'a', linkTableId: 'companies', linkField: 'staff' },
		});
	});

	const EMPTY = 'Fill it in. If it is an expression, it returned nothing for this item.';
	const CHOOSE = 'Choose it from the list, or correct the expression in it.';
	test.each<[NodeParameterValueType, string, string]>([
		[{ recordId: 'a' }, "'Link Field Name or ID' under 'Linked To' is empty", EMPTY],
		[{ linkField: 'companies.staff', recordId: ' ' }, "'Record ID' under 'Linked To' is empty", EMPTY],
		['text', "'Link Field Name or ID' under 'Linked To' is empty", EMPTY],
		...['staff', '.staff', 'companies.', '.companies.staff'].map((linkField): [NodeParameterValueType, string, string] => [
			{ linkField, recordId: 'a' },
			`'${linkField}' is no table and link field, such as deals.people`,
			CHOOSE,
		]),
		[{ linkField: 'companies.city', recordId: 'a' }, "Table 'Companies' has no link field 'city'", CHOOSE],
		[{ linkField: 'companies.x.y', recordId: 'a' }, "Table 'Companies' has no link field 'x.y'", CHOOSE],
	])('%j is rejected', async (record, message, hint) => {
		const { error, requests } = await run('record: getAll', linkedTo(record));
		expect(error).toMatchObject({ message, description: hint });
		expect(error?.context.details).toMatchObject({ field: 'Linked To' });
		expect(requests).toEqual([]);
	});
});

describe('Include Linked Records', () => {
	const including = (...link: Entries) => ({ recordId: locator(ADA), options: { linkedRecords: { link } } });
	const get = async (...entries: Entries) =>
		await run('record: get', {
			parameters: including(...entries),
			// What Ada's link shows: the companies that are linked.
			serve: ({ url }) =>
				url.includes(`companies/data?`) && url.includes(`linkId=${ADA}`)
					? httpResponse(200, {
							data: [
								{ id: 'a', fields: { name: 'Acorn', city: 'Oslo' } },
								{ id: 'b', fields: { name: 'Birch', city: 'Rome' } },
							],
						})
					: undefined,
		});

	test.each<[string, Entries, IDataObject]>([
		['none', [], { company: { id: 'a' }, clients: { count: 2 } }],
		['their IDs', [{ field: 'company' }], { company: 'a', clients: { count: 2 } }],
		[
			'their fields',
			[{ field: 'company', include: 'fields', linkedFields: ['name', 'city'] }],
			{ company: { id: 'a', name: 'Acorn', city: 'Oslo' }, clients: { count: 2 } },
		],
		[
			'fields as an expression gives them',
			[{ field: 'company', include: 'fields', linkedFields: ' city,, name ' }],
			{ company: { id: 'a', name: 'Acorn', city: 'Oslo' }, clients: { count: 2 } },
		],
		[
			'of a link to many',
			[{ field: 'clients', include: 'fields', linkedFields: ['city'] }],
			{
				company: { id: 'a' },
				clients: [
					{ id: 'a', city: 'Oslo' },
					{ id: 'b', city: 'Rome' },
				],
			},
		],
	])('%s', async (_, entries, expected) => {
		const { json, error } = await get(...entries);
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ id: ADA, name: 'Ada', ...expected }]);
	});

	test('no more than Limit of each', async () => {
		const { json, sent, hints } = await get({ field: 'clients', limit: 1 });
		expect(json).toMatchObject([{ clients: ['a'] }]);
		// One more shows that there are more.
		expect(sent.at(-1)!.query.limit).toBe('2');
		expect(hints).toEqual([
			{
				message:
					"Some links have more linked records than 'Limit' under 'Include Linked Records': only the first of each are in the output.",
				type: 'warning',
				location: 'outputPane',
			},
		]);
	});

	test('of more than the requests that it may take, the rest is left', async () => {
		const { run: context, seen } = await fakeRun({});
		warnAboutOmissions(context, { isCut: false, isUnread: true } as never);
		warnAboutOmissions(context, { isCut: false, isUnread: true } as never);
		expect(seen.hints).toEqual([
			{
				message:
					'Some linked records were not read, because that would take more than 1000 requests. Their links are as the platform returned them.',
				type: 'warning',
				location: 'outputPane',
			},
		]);
	});

	test('what is named for a field counts more than what is for all', async () => {
		const { run: context } = await fakeRun(
			{
				...{ application: 'sales', table: 'companies' },
				options: { linkedRecords: { link: [{ field: '*', limit: 7 }, { field: 'staff' }] } },
			},
			{ serve: (options) => new StubTables(stored, definitions).serve(options) },
		);
		expect(await inclusionsOf(context, 0)).toMatchObject([
			{
				field: { name: 'staff' },
				tableId: 'companies',
				target: { at: { application: 'sales', table: 'people' }, table: { header: 'People' } },
				limit: 50,
			},
		]);
	});

	test.each<[Entries, string]>([
		[[{ field: 'city' }], "'Include Linked Records' names 'city', which is no link field of table 'People'"],
		[[{ field: 'company', include: 'all' }], `'Include' under 'Include Linked Records' must be one of 'fields', 'recordIds', not "all"`],
		[[{ field: 'company', include: 'fields' }], "No field of the linked table 'Companies' is chosen"],
		[[{ field: 'company', include: 'fields', linkedFields: '' }], "No field of the linked table 'Companies' is chosen"],
		[[{ field: 'company', include: 'fields', linkedFields: [' '] }], "No field of the linked table 'Companies' is chosen"],
		[[{ field: 'company', include: 'fields', linkedFields: ['name', 'x'] }], "The linked table 'Companies' has no field 'x'"],
		[[{ field: 'company', include: 'fields', linkedFields: ['button'] }], "The linked table 'Companies' has no field 'button'"],
		[
			[{ field: 'company', include: 'fields', linkedFields: [{ a: 1 }] }],
			"'Linked Field Names or IDs' under 'Include Linked Records' must be text, not an object",
		],
		[[{ field: 'company', limit: 0 }], "'Limit' under 'Include Linked Records' must be a whole number from 1 to 1000, not 0"],
		[[{ field: 'company', limit: 1001 }], "'Limit' under 'Include Linked Records' must be a whole number from 1 to 1000, not 1001"],
		[[{ field: 'company', limit: 1.5 }], "'Limit' under 'Include Linked Records' must be a whole number from 1 to 1000, not 1.5"],
	])('%j is rejected', async (entries, message) => {
		const { error } = await get(...entries);
		expect(error?.message).toBe(message);
		expect(error?.context.details).toMatchObject({ field: 'Include Linked Records' });
	});

	test('of a link whose target is not reported are rejected', async () => {
		const { error } = await get({ field: 'lost' });
		expect(error?.message).toContain("does not say which table 'lost' links to");
		expect(error?.description).toBe('Give record IDs, or leave the field out.');
		expect(error?.context.details).toMatchObject({ field: 'lost' });
	});
});
