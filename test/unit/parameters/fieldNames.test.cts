import type { TableAddress, TableDefinition } from '../../../nodes/DataPlatform/api/types.ts';
import { namesIn, requireNames, requireNamesToRemove } from '../../../nodes/DataPlatform/parameters/select/fieldNames.ts';
import type { RunContext } from '../../../nodes/DataPlatform/run/run.ts';
import { ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { and, or } from '../../../nodes/DataPlatform/api/filters.ts';

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
);
const tables: Record<string, TableDefinition> = {
	homes: table('Homes', ['city'], ['owner', 'schema_link', { linkTableId: 'people' }]),
	people,
};

const run = {
	definition: async ({ table: name }: TableAddress) => {
		if (tables[name]) return tables[name];
		throw new ServiceError('The token has no right to do this', { delivery: 'rejected', status: 403 });
	},
} as unknown as RunContext<never>;

const condition = (field: string) => ({ field, operator: 'notempty' });
const named = (...fields: string[]) => namesIn(and(...fields.map(condition)));

const problemOf = async (check: () => Promise<void> | void) => {
	try {
		await check();
		return undefined;
	} catch (error) {
		return (error as Error).message;
	}
};

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

test.each<[name: string, toRead: string | undefined, toRemove?: string]>([
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
	['house.city', undefined],
	['house.id', undefined],
	['house.owner.house.city', undefined],
	['house.town', undefined, `${IS}the linked table 'Homes' has no field 'town'`],
	['house.owner.fulname', undefined, `${IS}the linked table 'People' has no field 'fulname', did you mean 'fullname'?`],
	['secret.city', undefined, `${IS}'secret.city' can't be checked: The token has no right to do this`],
	['listed.city', undefined],
	['listed.town', undefined, `${IS}'listed.town' can't be checked: the platform does not say which table 'listed' links to`],
	['bare.city', undefined, `${IS}'bare.city' can't be checked: the platform does not say which table 'bare' links to`],
	['constructor', `${IS}table 'People' has no field 'constructor'`],
])('%s: to read %j', async (name, toRead, toRemove = toRead) => {
	expect(await problemOf(() => requireNames(named(name), people))).toBe(toRead);
	expect(await problemOf(async () => await requireNamesToRemove(run, { application: 'crm', table: 'people' }, named(name), people))).toBe(
		toRemove,
	);
});

test('every name is checked', () => {
	expect(() => requireNames(named('fullname', 'fulname'), people)).toThrow(
		"Condition 2 of the filter: table 'People' has no field 'fulname'",
	);
});
