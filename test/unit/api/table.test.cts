/** How long a definition is kept, how many are, and for whom. */
import { Table } from '../../../nodes/DataPlatform/api/table.ts';
import type { TableDefinition } from '../../../nodes/DataPlatform/api/types.ts';
import type { ApiClient } from '../../../nodes/DataPlatform/transport/client.ts';

const client = (account: string) => ({ account }) as ApiClient;
const mine = client('mine');
const at = (table: string) => ({ application: 'crm', table });
const definition = (name: string) => ({ internalName: name }) as TableDefinition;
const tableOf = (name: string, whose = mine) => new Table(whose, at(name));
const keep = (name: string, askedAt = Date.now()) => tableOf(name).keep({ table: definition(name), askedAt });

test('a definition is kept for a minute from when it was asked for', () => {
	keep('deals', Date.now() - 59_000);
	expect(tableOf('deals').kept).toEqual(definition('deals'));
	keep('deals', Date.now() - 60_000);
	expect(tableOf('deals').kept).toBeUndefined();
});

test('another token gets none of it, nor does another table', () => {
	keep('deals');
	expect(tableOf('deals', client('theirs')).kept).toBeUndefined();
	expect(tableOf('people').kept).toBeUndefined();
});

test('it is forgotten if it proved wrong', () => {
	keep('deals');
	tableOf('deals').forget();
	expect(tableOf('deals').kept).toBeUndefined();
});

test('where a table is stays known if its definition proved wrong', () => {
	tableOf('deals').keep({ table: definition('deals'), path: '/apps/crm/tables/deals', askedAt: Date.now() });
	tableOf('deals').forget();
	expect([tableOf('deals').kept, tableOf('deals').path]).toEqual([undefined, '/apps/crm/tables/deals']);
	tableOf('deals').forgetPath();
	expect(tableOf('deals').path).toBeUndefined();
});

test('fifty are kept: the one that was asked for first goes first', () => {
	for (let number = 0; number <= 50; number += 1) keep(`t${number}`);
	expect(tableOf('t0').kept).toBeUndefined();
	expect(tableOf('t1').kept).toEqual(definition('t1'));
	keep('t1');
	keep('new');
	expect([tableOf('t1').kept, tableOf('t2').kept]).toEqual([definition('t1'), undefined]);
});
