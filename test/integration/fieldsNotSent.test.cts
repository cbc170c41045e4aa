/**
 * Update with Fields Not Sent set to Clear: an item with nothing to send would empty its
 * record.
 */
import type { IDataObject } from 'n8n-workflow';
import { defined } from '../support/engine/engine.cts';
import { byFields, byId, expectFailed, goingOn, outcomes, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

const things = {
	internalName: 'things',
	header: 'Things',
	fields: [
		{ name: 'code', type: 'text', metadata: { importKey: true } },
		{ name: 'name', type: 'text' },
		{ name: 'size', type: 'number' },
		{ name: 'papers', type: 'file' },
	],
};

let ids: string[] = [];

beforeEach(async () => {
	const records = ['a', 'b', 'c'].map((code) => ({ code, name: `name ${code}`, size: 1 }));
	ids = (await harness.createTable(things, records)).map(({ id }) => id);
});

const update = (items: IDataObject[], { parameters, ...run }: Run = {}) =>
	harness.run('update', { table: 'things', items, ...goingOn, ...run, parameters: { updateMode: 'replace', ...byId, ...parameters } });
const stored = async () => (await harness.records('things')).map(({ fields }) => fields);

const NOTHING_TO_WRITE = 'no field has a value, so every field of the record would be cleared';

test.each<[string, IDataObject, Run]>([
	['nothing but the ID', {}, {}],
	['empty values', { code: '', name: null, size: '' }, {}],
	['undefined values', { name: undefined }, {}],
	['a change of nothing', { papers: { add: [], remove: [] } }, {}],
	['a change that adds nothing', { papers: { add: [] } }, {}],
	['a change that removes nothing', { papers: { remove: [] } }, {}],
	['only an unknown field that is ignored', { other: 1 }, { options: { unknownFields: 'ignore' } }],
	['nothing but the values it is matched on', { name: 'name b' }, { parameters: byFields('name') }],
	['nothing but the import key', { code: 'b' }, { parameters: { matchOn: 'importKey' } }],
	['nothing, with Skip Unchanged', {}, { options: { skipUnchanged: true } }],
])('an item with %s is an error, and its record is not changed', async (_, values, run) => {
	const before = await stored();
	const items = [
		{ id: ids[0], code: 'a', name: 'name a', size: 2 },
		{ id: ids[1], ...values },
		{ id: ids[2], code: 'c', name: 'name c', size: 2 },
	];
	const result = await update(items, run);
	expect(outcomes(result)).toEqual(['updated', 'failed', 'updated']);
	expectFailed(result, 1, NOTHING_TO_WRITE);
	expect(result.json()[1]!.message).toContain("'Fields Not Sent'");
	expect((await stored())[1]).toEqual(before[1]);
});

test('an item whose expressions return nothing is an error', async () => {
	const before = await stored();
	const columns = defined({ name: '={{ $json.missing }}', size: '={{ null }}' });
	expectFailed(await update([{ id: ids[1] }], { parameters: { columns } }), 0, NOTHING_TO_WRITE, { outcome: 'failed' });
	expect(await stored()).toEqual(before);
});

test('a field that the user clears is cleared', async () => {
	const result = await update([{ id: ids[1], name: null }], { options: { emptyValues: 'clear' } });
	expect(outcomes(result)).toEqual(['updated']);
	expect((await stored())[1]).toEqual({});
});
