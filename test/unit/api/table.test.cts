/** How long a definition is kept, how many are, and for whom. */
import { keptTables, Table } from '../../../nodes/DataPlatform/api/table.ts';
import type { TableDefinition } from '../../../nodes/DataPlatform/api/types.ts';
import type { ApiClient } from '../../../nodes/DataPlatform/transport/client.ts';
import { fakePlatform, httpResponse, type Serve } from '../stubPlatform.cts';

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

describe('what an execution reads', () => {
	const fields = (...names: string[]) => names.map((name) => ({ name, type: 'text' }));
	const defined = (...names: string[]) => httpResponse(200, { data: { id: 't', items: fields(...names) } });
	const no = httpResponse(500, { errors: [{ message: 'no' }] });

	/** The table in a new execution, which gets these responses. */
	function inExecution(...responses: Array<ReturnType<Serve>>) {
		const { connection, sent } = fakePlatform((_, count) => responses[count - 1] ?? no, { retryBudgetMs: 0 });
		const paths = () => sent.map(({ url }) => new URL(url).pathname.replace('/api/v2', ''));
		return { table: new Table(connection, at('deals')), unplaced: new Table(connection, { table: 't' }), paths };
	}

	const namesOf = (table: TableDefinition | undefined) => table?.fields.map(({ name }) => name);

	beforeEach(() => keptTables.clear());
	afterEach(() => jest.restoreAllMocks());

	test('is read once, and known to the next one for a minute', async () => {
		const first = inExecution(defined('a'));
		expect(first.table.isKept).toBe(false);
		const both = await Promise.all([first.table.definition(), first.table.definition()]);
		expect(both.map(namesOf)).toEqual([['a'], ['a']]);
		expect(first.paths()).toEqual(['/apps/crm/tables/deals']);
		const { table, paths } = inExecution();
		expect(table.isKept).toBe(true);
		expect(namesOf(await table.recentDefinition())).toEqual(['a']);
		expect(paths()).toEqual([]);
		jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
		expect(table.isKept).toBe(false);
	});

	test('is not known to the next one if it can’t be read', async () => {
		await expect(inExecution(no).table.definition()).rejects.toThrow('no');
		const { table } = inExecution(defined('a'));
		expect(table.isKept).toBe(false);
		expect(namesOf(await table.definition())).toEqual(['a']);
	});

	/** Accepts only a definition with this field, and notes those that it checks. */
	const requiring = (name: string, checked: unknown[]) => (table: TableDefinition) => {
		checked.push(namesOf(table));
		if (!namesOf(table)!.includes(name)) throw new Error(`no ${name}`);
		return name;
	};

	test.each<[string, string, Array<ReturnType<Serve>>, expected: string, checked: string[][]]>([
		['is enough for what it accepts', 'a', [], 'a', [['a']]],
		['does not reject what a fresh one accepts', 'b', [defined('a', 'b')], 'b', [['a'], ['a', 'b']]],
		['rejects what a fresh one rejects', 'c', [defined('a', 'b')], 'no c', [['a'], ['a', 'b']]],
	])('of the last minute %s', async (_, name, responses, expected, all) => {
		await inExecution(defined('a')).table.definition();
		const { table, paths } = inExecution(...responses);
		const checked: unknown[] = [];
		const result = await table.checkWithKept(requiring(name, checked)).catch(({ message }: Error) => message);
		expect([result, checked]).toEqual([expected, all]);
		expect(paths()).toHaveLength(responses.length);
	});

	test('is checked once if it is fresh', async () => {
		const { table, paths } = inExecution(defined('a'));
		const checked: unknown[] = [];
		await expect(table.checkWithKept(requiring('b', checked))).rejects.toThrow('no b');
		expect(checked).toEqual([['a']]);
		expect(paths()).toHaveLength(1);
	});

	const applications = httpResponse(200, { data: [{ id: 'crm' }] });
	const tablesWith = (...names: string[]) => httpResponse(200, { data: [{ id: 't', items: fields(...names) }] });

	test('is found in its application, where the next one has both', async () => {
		const first = inExecution(applications, tablesWith('a'));
		expect(namesOf(await first.unplaced.definition())).toEqual(['a']);
		expect(first.unplaced.path).toBe('/api/v2/apps/crm/tables/t');
		const { unplaced, paths } = inExecution();
		expect(unplaced.path).toBe('/api/v2/apps/crm/tables/t');
		expect(namesOf(await unplaced.recentDefinition())).toEqual(['a']);
		expect(paths()).toEqual([]);
	});

	test('is known by its address, and not by its definition, if a list of tables shows no fields', async () => {
		await inExecution(applications, tablesWith()).unplaced.find();
		const { unplaced } = inExecution();
		expect(unplaced.path).toBe('/api/v2/apps/crm/tables/t');
		expect(await unplaced.recentDefinition()).toBeUndefined();
	});
});
