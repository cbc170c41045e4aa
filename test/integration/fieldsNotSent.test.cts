/**
 * Update with Fields Not Sent set to Clear: an item with nothing to send would empty its
 * record.
 */
import type { IDataObject } from 'n8n-workflow';
import { defined } from '../support/engine/engine.cts';
import { APP, expectErrorItem, outcomes, useHarness, type Run } from './fixtures.cts';

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
	const { admin } = harness.sandbox;
	const records = ['a', 'b', 'c'].map((code) => ({ fields: { code, name: `name ${code}`, size: 1 } }));
	await admin.createTable({ app: APP, table: things, records });
	await admin.clearRequests();
	ids = (await harness.records('things')).map(({ id }) => id);
});

const update = (items: IDataObject[], { parameters, ...run }: Run = {}) =>
	harness.run('update', {
		table: 'things',
		items,
		onError: 'continueRegularOutput',
		...run,
		parameters: { updateMode: 'replace', recordId: '={{ $json.id }}', ...parameters },
	});
const stored = async () => (await harness.records('things')).map(({ fields }) => fields);

test.each<[string, IDataObject, Run]>([
	['nothing but the ID', {}, {}],
	['empty values', { code: '', name: null, size: '' }, {}],
	['undefined values', { name: undefined }, {}],
	['a change of nothing', { papers: { add: [], remove: [] } }, {}],
	['a change that adds nothing', { papers: { add: [] } }, {}],
	['a change that removes nothing', { papers: { remove: [] } }, {}],
	['only an unknown field that is ignored', { other: 1 }, { options: { unknownFields: 'ignore' } }],
	['expressions that give nothing', {}, { parameters: { columns: defined({ name: '={{ $json.missing }}', size: '={{ null }}' }) } }],
	['nothing but the values it is matched on', { name: 'name b' }, { parameters: { matchOn: 'fields', matchFields: ['name'] } }],
	['nothing but the import key', { code: 'b' }, { parameters: { matchOn: 'importKey' } }],
	['nothing, with Skip Unchanged', {}, { options: { skipUnchanged: true } }],
])('%s is an error of the item', async (_, values, run) => {
	const before = await stored();
	const isMapped = run.parameters !== undefined && 'columns' in run.parameters;
	const items = isMapped
		? [{ id: ids[1] }]
		: [
				{ id: ids[0], code: 'a', name: 'name a', size: 2 },
				{ id: ids[1], ...values },
				{ id: ids[2], code: 'c', name: 'name c', size: 2 },
			];
	const result = await update(items, run);
	const failed = result.output('Data Platform')[isMapped ? 0 : 1]!;
	expectErrorItem(failed, isMapped ? 0 : 1, 'no field has a value, so every field of the record would be cleared', { outcome: 'failed' });
	expect(failed.json.message).toContain("'Fields Not Sent'");
	expect((await stored())[1]).toEqual(before[1]);
	if (!isMapped) expect(outcomes(result)).toEqual(['updated', 'failed', 'updated']);
});

test('a field that the user clears is cleared', async () => {
	const result = await update([{ id: ids[1], name: null }], { options: { emptyValues: 'clear' } });
	expect(outcomes(result)).toEqual(['updated']);
	expect((await stored())[1]).toEqual({});
});
