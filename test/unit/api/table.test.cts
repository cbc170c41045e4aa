/** How long a definition is kept, how many are, and for whom. */
import { Table } from '../../../nodes/DataPlatform/api/table.ts';
import type { TableDefinition } from '../../../nodes/DataPlatform/api/types.ts';
import type { ApiClient } from '../../../nodes/DataPlatform/transport/client.ts';

const client = (account: string) => ({ account }) as ApiClient;
const mine = client('mine');
const at = (table: string) => ({ application: 'crm', table });
const definition = (name: string) => ({ internalName: name }) as TableDefinition;
const tableOf = (name: string, whose = mine) => new Table(whose, at(name));
const keep = (name: string, askedAt = Date.now()) => tableOf(name).keep({ table: Promise.resolve(definition(name)), askedAt });
const kept = async (name: string, whose = mine) => await tableOf(name, whose).recentDefinition();

test('a definition is kept for a minute from when it was asked for', async () => {
	keep('deals', Date.now() - 59_000);
	expect(await kept('deals')).toEqual(definition('deals'));
	keep('deals', Date.now() - 60_000);
	expect(await kept('deals')).toBeUndefined();
});

test('another token gets none of it, nor does another table', async () => {
	keep('deals');
	expect(await kept('deals', client('theirs'))).toBeUndefined();
	expect(await kept('people')).toBeUndefined();
});

test('it is forgotten if it proved wrong', async () => {
	keep('deals');
	tableOf('deals').forget();
	expect(await kept('deals')).toBeUndefined();
});

test('where a table is stays known if its definition proved wrong', async () => {
	tableOf('deals').keep({ table: Promise.resolve(definition('deals')), path: '/apps/crm/tables/deals', askedAt: Date.now() });
	tableOf('deals').forget();
	expect([await kept('deals'), tableOf('deals').path]).toEqual([undefined, '/apps/crm/tables/deals']);
});

test('fifty are kept: the one that was asked for first goes first', async () => {
	for (let number = 0; number <= 50; number += 1) keep(`t${number}`);
	expect(await kept('t0')).toBeUndefined();
	expect(await kept('t1')).toEqual(definition('t1'));
	keep('t1');
	keep('new');
	expect([await kept('t1'), await kept('t2')]).toEqual([definition('t1'), undefined]);
});
