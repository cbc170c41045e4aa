/** How long a definition is kept, how many are, and for whom. */
import { forgetTable, keepTable, keptTable } from '../../../nodes/DataPlatform/api/keptTables.ts';
import type { TableDefinition } from '../../../nodes/DataPlatform/api/types.ts';
import type { ApiClient } from '../../../nodes/DataPlatform/transport/client.ts';

const client = (account: string) => ({ account }) as ApiClient;
const mine = client('mine');
const at = (table: string) => ({ application: 'crm', table });
const definition = (name: string) => ({ internalName: name }) as TableDefinition;
const keep = (table: string, askedAt = Date.now(), whose = mine) => keepTable(whose, at(table), definition(table), askedAt);

test('a definition is kept for a minute from when it was asked for', () => {
	keep('deals', Date.now() - 59_000);
	expect(keptTable(mine, at('deals'))).toEqual(definition('deals'));
	keep('deals', Date.now() - 60_000);
	expect(keptTable(mine, at('deals'))).toBeUndefined();
});

test('another token gets none of it, nor does another table', () => {
	keep('deals');
	expect(keptTable(client('theirs'), at('deals'))).toBeUndefined();
	expect(keptTable(mine, at('people'))).toBeUndefined();
});

test('it is forgotten if it proved wrong', () => {
	keep('deals');
	forgetTable(mine, at('deals'));
	expect(keptTable(mine, at('deals'))).toBeUndefined();
});

test('fifty are kept: the one that was asked for first goes first', () => {
	for (let number = 0; number <= 50; number += 1) keep(`t${number}`);
	expect(keptTable(mine, at('t0'))).toBeUndefined();
	expect(keptTable(mine, at('t1'))).toEqual(definition('t1'));
	keep('t1');
	keep('new');
	expect([keptTable(mine, at('t1')), keptTable(mine, at('t2'))]).toEqual([definition('t1'), undefined]);
});
