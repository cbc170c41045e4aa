/** An operation that reads what it writes: `readValues` of `writeItems`. */
import { findOperation } from '../../../nodes/DataPlatform/actions/index.ts';
import { writeItems } from '../../../nodes/DataPlatform/actions/record/writeItems.ts';
import { tableAt } from '../../../nodes/DataPlatform/api/table.ts';
import { createClient } from '../../../nodes/DataPlatform/run/createClient.ts';
import { Ledger } from '../../../nodes/DataPlatform/run/ledger.ts';
import { RunContext } from '../../../nodes/DataPlatform/run/run.ts';
import { asItems, columns, fakeExecution, TABLE } from '../fakeNode.cts';
import { fieldOf, tableOf } from '../fixtures.cts';
import { StubTables } from '../stubTables.cts';

const name = fieldOf('name', 'text', { importKey: true });
const now = { ...tableOf(name, fieldOf('age', 'number')), id: 'people' };
/** A minute ago, its field was text. */
const kept = { ...now, fields: [name, fieldOf('age')] };

test('values from the platform are written in the form of the table as it is now, not of a kept definition', async () => {
	const tables = new StubTables({ people: { r1: { name: 'Ada', age: 1 } } }, { people: now });
	const parameters = { resource: 'record', operation: 'upsert', ...TABLE, columns: columns() };
	const { context, seen } = fakeExecution({ parameters, items: asItems({}), serve: (options) => tables.serve(options) });
	const client = await createClient(context, {});
	tableAt(client, { application: 'sales', table: 'people' }).keep({ table: kept, askedAt: Date.now() });
	const report = new Ledger(1);
	const run = new RunContext<string>(context, client, findOperation('record', 'upsert').shown);
	const definitions: unknown[] = [];
	await writeItems(run, report, () => ({
		mode: 'upsert',
		duplicates: 'error',
		skipUnchanged: false,
		readValues: async ({ fields }, indexes) => {
			definitions.push([fields.map(({ type }) => type), indexes]);
			return () => ({ name: 'Ada', age: 2 });
		},
	}));
	expect(definitions).toEqual([[['text', 'number'], [0]]]);
	expect(seen.requests).toEqual(['GET apps/sales/tables/people', 'POST apps/sales/tables/people/data/bulk']);
	expect(seen.sent[1]!.body).toMatchObject({ bulk: [{ fields: { name: 'Ada', age: 2 } }] });
	expect(report.items()).toMatchObject([{ json: { outcome: 'updated' } }]);
});
