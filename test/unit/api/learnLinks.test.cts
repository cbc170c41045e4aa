/** What the values of records show of links whose definition does not say it. */
import { learnLinks } from '../../../nodes/DataPlatform/api/learnLinks.ts';
import { learnedFacts } from '../../../nodes/DataPlatform/api/table.ts';
import type { FieldDefinition, FieldMetadata } from '../../../nodes/DataPlatform/api/types.ts';
import { fakePlatform, httpResponse, networkError, type Serve } from '../stubPlatform.cts';

const at = { application: 'crm', table: 'people' };
const DATA = 'https://platform.example.com/api/v2';

const link = (name: string, metadata: FieldMetadata = {}): FieldDefinition => ({ name, header: name, type: 'schema_link', metadata });

/** Responds with the records that have these values. */
const records = (...values: object[]) => httpResponse(200, { data: values.map((fields, index) => ({ id: `r${index}`, fields })) });

/** An execution that gets these responses, and what it asked for. */
function execution(...responses: Array<ReturnType<Serve>>) {
	const { connection, sent } = fakePlatform((_, count) => responses[count - 1] ?? records(), { retryBudgetMs: 0 });
	const learn = async (...fields: FieldDefinition[]) => await learnLinks({ client: connection, at }, fields);
	const asked = () => sent.map(({ body }) => (JSON.parse(String(body)) as { loadFields: string[] }).loadFields);
	return { learn, sent, asked };
}

beforeEach(() => learnedFacts.clear());

const inCrm = { linkTableId: 'companies', linkApplication: 'crm' };

test.each<[string, unknown, FieldMetadata]>([
	['with an ID leads to one', { id: 'c1', url: `${DATA}/apps/crm/tables/companies/data/c1` }, { multiple: false, ...inCrm }],
	['with a count leads to many', { count: 2, url: `${DATA}/apps/crm/schemas/companies/data?linkId=1` }, { multiple: true, ...inCrm }],
	['with a count of none does too', { count: 0, url: `${DATA}/apps/crm/tables/companies/data` }, { multiple: true, ...inCrm }],
	['with both leads to many', { id: 'c1', count: 1 }, { multiple: true }],
	['with a text as its count leads to one', { id: 'c1', count: '1' }, { multiple: false }],
	[
		'may have an address without an application',
		{ id: 'c1', url: `${DATA}/companies/data/c1` },
		{ multiple: false, linkTableId: 'companies' },
	],
	['may have no address', { count: 2 }, { multiple: true }],
	['may have an address that names no table', { id: 'c1', url: 'https://platform.example.com/companies/c1' }, { multiple: false }],
])('a value %s', async (_, value, expected) => {
	const field = link('company');
	await execution(records({ company: value })).learn(field);
	expect(field.metadata).toEqual(expected);
});

test.each<[string, unknown]>([
	['a text', 'c1'],
	['nothing', null],
	['a list', [{ id: 'c1' }]],
	['neither an ID nor a count', { url: `${DATA}/companies/data/c1` }],
	['a number as its ID', { id: 5 }],
])('a value that is or has %s shows nothing, and is asked for once', async (_, value) => {
	const field = link('company');
	const { learn, sent } = execution(records({ company: value }));
	await learn(field);
	expect(field.metadata).toEqual({});
	expect(sent).toHaveLength(1);
});

test('the first record with a value shows it', async () => {
	const field = link('company');
	await execution(records({}, { company: null }, { company: { id: 'c1' } }, { company: { count: 1 } })).learn(field);
	expect(field.metadata).toEqual({ multiple: false });
});

test('a few records that have any of the links are asked for', async () => {
	const { learn, sent } = execution();
	await learn(link('company'), link('boss'), { ...link('name'), type: 'text' }, link('team', { multiple: false }));
	const { url, body } = sent[0]!;
	expect(url).toBe(`${DATA}/apps/crm/tables/people/data/filter?limit=24`);
	const condition = (field: string) => ({ field, operator: 'notempty' });
	expect(JSON.parse(String(body))).toEqual({
		filter: [condition('company'), condition('boss')],
		filterOperator: 'or',
		loadFields: ['company', 'boss'],
	});
});

test('nothing is asked if the definition says it of every link', async () => {
	const { learn, sent } = execution();
	await learn(link('team', { multiple: true }), { ...link('name'), type: 'text' });
	expect(sent).toEqual([]);
});

test('while each page shows something, what is still unknown is asked for again', async () => {
	const { learn, asked } = execution(records({ a: { id: '1' } }), records({ b: { count: 1 } }));
	const [a, b, c] = [link('a'), link('b'), link('c')];
	await learn(a, b, c);
	expect([a, b, c].map(({ metadata }) => metadata.multiple)).toEqual([false, true, undefined]);
	expect(asked()).toEqual([['a', 'b', 'c'], ['b', 'c'], ['c']]);
});

test('what was learned is known to the next execution, which asks for the rest only', async () => {
	await execution(records({ a: { id: '1' } })).learn(link('a'));
	const [a, b] = [link('a'), link('b')];
	const known = execution();
	await known.learn(a);
	expect(known.asked()).toEqual([]);
	const later = execution(records({ b: { id: '2' } }));
	await later.learn(a, b);
	expect([a, b].map(({ metadata }) => metadata)).toEqual([{ multiple: false }, { multiple: false }]);
	expect(later.asked()).toEqual([['b']]);
});

test('if the platform shows no records, links stay unknown; a failure of the network is thrown', async () => {
	const field = link('a');
	await execution(httpResponse(403, { errors: [{ message: 'no' }] })).learn(field);
	expect(field.metadata).toEqual({});
	await expect(execution(networkError('ECONNRESET')).learn(field)).rejects.toMatchObject({ delivery: 'notApplied' });
});
