import { Table } from '../../../nodes/DataPlatform/api/table.ts';
import type { TableDefinition } from '../../../nodes/DataPlatform/api/types.ts';
import { checkNames, namesIn, refuseUnchecked, uncheckedNotice } from '../../../nodes/DataPlatform/parameters/select/fieldNames.ts';
import { ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { and, or } from '../../../nodes/DataPlatform/api/filters.ts';
import { fakePlatform, httpResponse } from '../stubPlatform.cts';

const table = (header: string, ...fields: Array<[name: string, type?: string, metadata?: object]>): TableDefinition => ({
	id: header,
	internalName: header,
	header,
	savedViews: [],
	fields: fields.map(([name, type = 'text', metadata = {}]) => ({ name, header: name, type, metadata })),
});

const people = table(
	'People',
	['fullname'],
	['send', 'buttonform'],
	['house', 'schema_link', { linkTableId: 'homes' }],
	['secret', 'schema_link', { linkTableId: 'secrets' }],
	['listed', 'schema_link', { filterableFields: ['city'] }],
	['bare', 'schema_link'],
	['shown', 'schema_link'],
);
const tables: Record<string, TableDefinition> = {
	homes: table('Homes', ['city'], ['owner', 'schema_link', { linkTableId: 'people' }]),
	people,
};

const requested: string[] = [];
beforeEach(() => {
	jest.spyOn(Table.prototype, 'definition').mockImplementation(async function definition(this: Table) {
		const name = this.at.table;
		requested.push(name);
		if (tables[name]) return tables[name];
		throw new ServiceError('The token has no right to do this', { delivery: 'rejected', status: 403, hint: 'Use another token.' });
	});
});
afterEach(() => jest.restoreAllMocks());

/** One company links to a table that its definition does not name: a stored value does. */
const records = [{ id: '1', fields: { shown: { id: 'a', url: 'https://platform.example.com/api/v2/apps/crm/tables/homes/data/a' } } }];

/** What is wrong, and what could not be checked. */
async function check(names: ReturnType<typeof namesIn>, unchecked?: typeof refuseUnchecked) {
	const notices: string[] = [];
	const note = (...about: Parameters<typeof uncheckedNotice>) => notices.push(uncheckedNotice(...about));
	const { connection: client } = fakePlatform(() => httpResponse(200, { data: records }));
	requested.length = 0;
	const of = { client, at: { application: 'crm', table: 'people' }, table: people };
	return await checkNames({ unchecked: unchecked ?? note }, of, names).then(
		() => notices[0],
		(error: Error) => error.message,
	);
}

const condition = (field: string) => ({ field, operator: 'notempty' });
const named = (...fields: string[]) => namesIn(and(...fields.map(condition)));

test('says where each name stands', () => {
	const filter = and(condition('a'), or(condition('b'), and(condition('c'))), condition('d'), or(condition('e')));
	expect(namesIn(filter).map(({ name, place }) => `${name}: ${place}`)).toEqual([
		'a: Condition 1 of the filter',
		'b: Condition 1 of group 1 of the filter',
		'c: Condition 1 of group 1 of group 1 of the filter',
		'd: Condition 2 of the filter',
		'e: Condition 1 of group 2 of the filter',
	]);
});

const IS = 'Condition 1 of the filter: ';

const NO_RIGHT =
	"Whether the tables have 'secret.city' was not checked: a table's definition can't be read (The token has no right to do this). The platform may ignore a name that it does not know: a filter then means all records. Use another token.";
const unknownTable = (name: string, link: string) =>
	`Whether the tables have '${name}' was not checked: the platform does not say which table '${link}' links to: use record IDs. The platform may ignore a name that it does not know: a filter then means all records. Name fields of the table itself.`;

test.each<[name: string, problem: string | undefined, notice?: string, tables?: string[]]>([
	['fullname', undefined],
	['id', undefined],
	['created', undefined],
	['modified', undefined],
	['ver', `${IS}table 'People' has no field 'ver'`],
	['fulname', `${IS}table 'People' has no field 'fulname', did you mean 'fullname'?`],
	['send', `${IS}table 'People' has no field 'send'`],
	['fullname.', `${IS}table 'People' has no field 'fullname.', did you mean 'fullname'?`],
	['fullname.city', `${IS}'fullname' of table 'People' is no link: it has no 'city'`],
	['id.city', `${IS}'id' of table 'People' is no link: it has no 'city'`],
	['hosue.city', `${IS}table 'People' has no field 'hosue', did you mean 'house'?`],
	['house', undefined],
	['house.city', undefined, undefined, ['homes']],
	['house.id', undefined],
	['bare.modified', undefined],
	['house.owner.house.city', undefined, undefined, ['homes', 'people', 'homes']],
	['house.town', `${IS}the linked table 'Homes' has no field 'town'`, undefined, ['homes']],
	[
		'house.owner.fulname',
		`${IS}the linked table 'People' has no field 'fulname', did you mean 'fullname'?`,
		undefined,
		['homes', 'people'],
	],
	[
		'secret.city',
		`${IS}'secret.city' can't be checked: a table's definition can't be read (The token has no right to do this)`,
		NO_RIGHT,
		['secrets'],
	],
	['listed.city', undefined],
	[
		'listed.town',
		`${IS}'listed.town' can't be checked: the platform does not say which table 'listed' links to: use record IDs`,
		unknownTable('listed.town', 'listed'),
	],
	[
		'bare.city',
		`${IS}'bare.city' can't be checked: the platform does not say which table 'bare' links to: use record IDs`,
		unknownTable('bare.city', 'bare'),
	],
	['shown.city', undefined, undefined, ['homes']],
	['shown.town', `${IS}the linked table 'Homes' has no field 'town'`, undefined, ['homes']],
	['constructor', `${IS}table 'People' has no field 'constructor'`],
])('%s: what is wrong, or unchecked, and which definitions it takes', async (name, problem, notice = problem, definitions = []) => {
	expect(await check(named(name))).toBe(notice);
	expect(requested).toEqual(definitions);
	expect(await check(named(name), refuseUnchecked)).toBe(problem);
});

test('every name is checked', async () => {
	expect(await check(named('fullname', 'fulname'))).toMatch("Condition 2 of the filter: table 'People' has no field 'fulname'");
	expect(await check(named('secret.city', 'fulname'))).toMatch("Condition 2 of the filter: table 'People' has no field 'fulname'");
});
