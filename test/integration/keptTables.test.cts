/**
 * What an execution keeps of a table's definition for the next one, and what it does not: between two
 * executions the table changes. docs/running.md, "What may be a minute old".
 */
import type { IDataObject } from 'n8n-workflow';
import { APP, byId, goingOn, outcomes, useHarness, where, type Run } from './fixtures.cts';

const harness = useHarness();

const ID = '00000000-0000-4000-8000-000000000001';
const TABLE = 'parts';

type Field = { name: string; type: string; header?: string; metadata?: IDataObject };

const choices = (...values: string[]) => ({ items: values.map((value, order) => ({ value, order })) });

const code: Field = { name: 'code', type: 'text', metadata: { importKey: true } };
const size: Field = { name: 'size', type: 'text' };
const state: Field = { name: 'state', type: 'dropdown', metadata: choices('open', 'sent') };
const all = [code, size, state];

/** The table with these fields, and one record. A table of this name is dropped before. */
async function makeTable(fields: Field[], values: IDataObject = { code: 'a', size: '1', state: 'open' }) {
	const own = fields.filter(({ name }) => name in values).map(({ name }) => [name, values[name]]);
	const table = { internalName: TABLE, header: 'Parts', fields };
	await harness.sandbox.admin.createTable({ app: APP, table, records: [{ id: ID, fields: Object.fromEntries(own) }] });
}

/** Makes the table and asks for its definition, as an execution a second ago. */
async function makeKnown(fields = all) {
	await makeTable(fields);
	await harness.run('upsert', { table: TABLE, items: [{ code: 'a', size: '1' }] });
	await harness.clearRequests();
}

const run = async (operation: string, more: Run) => await harness.run(operation, { ...goingOn, table: TABLE, isWarm: true, ...more });

const isOpen = where({ field: 'state', operator: 'is', choice: 'open' });

/** The requests, without what identifies the table. */
const requests = async () =>
	(await harness.requests()).map(({ method, path }) => {
		const [, rest = ''] = path.split(`/tables/${TABLE}`);
		return `${method} ${rest.replace(ID, 'ID') || 'definition'}`;
	});

const item = (change: IDataObject = {}) => ({ id: ID, code: 'a', size: '2', ...change });

describe('one item, one request', () => {
	beforeEach(() => makeKnown());

	test.each<[string, Run, string[]]>([
		['create', { items: [{ code: 'b', size: '2' }] }, ['POST /data/bulk']],
		['upsert', { items: [{ code: 'a', size: '2' }] }, ['POST /data/bulk']],
		['update', { items: [item()], parameters: byId }, ['PATCH /data/bulk']],
		['upsert', { items: [item()], options: { skipUnchanged: true } }, ['GET definition', 'POST /data/filter', 'PATCH /data/bulk']],
		['count', { parameters: isOpen }, ['POST /data/count/filter']],
		['getAll', { parameters: isOpen }, ['POST /data/filter']],
	])('%s %j: %j', async (operation, more, expected) => {
		const result = await run(operation, more);
		expect(result.error).toBeUndefined();
		expect(await requests()).toEqual(expected);
	});
});

describe('a change in the last minute', () => {
	const text = (name: string): Field => ({ name, type: 'text' });
	const renamed = { code: 'a', width: '2' };
	const sized = { code: 'a', size: '2' };

	/** Once the table has these fields: what each execution says, what the table then holds, and what the first one asks. */
	type Row = [
		change: string,
		fields: Field[],
		row: IDataObject,
		says: Array<string | RegExp>,
		holds: IDataObject,
		asks: string[],
		options?: IDataObject,
	];
	const number: Field = { name: 'size', type: 'number' };
	const calculated: Field = { name: 'size', type: 'calculated', metadata: { template: '{code}' } };
	const keyed = [{ ...code, metadata: {} }, state, { ...size, metadata: { importKey: true } }];
	const wider = [...all, text('width')];
	const withChoices = (...values: string[]) => [code, size, { ...state, metadata: choices(...values) }];
	const bulk = 'POST /data/bulk';
	const checked = ['GET definition', bulk];
	const onlyChecked = ['GET definition'];
	const lookedUp = [...onlyChecked, 'POST /data/filter', 'PATCH /data/bulk'];
	const [skipUnchanged, dryRun, unknownFields] = [{ skipUnchanged: true }, { dryRun: true }, { unknownFields: 'ignore' }];
	const notSent = /not sent.*'size'/;

	test.each<Row>([
		['added: its value is written', wider, renamed, ['updated'], { width: '2' }, checked],
		['added, unknown ones are ignored: it is written', wider, renamed, ['updated'], { width: '2' }, checked, unknownFields],
		['removed: the platform says so, then the check', [code, state], sized, [/Field 'size' is unknown/, notSent], {}, [bulk]],
		['renamed: the new name is written', [code, state, text('width')], renamed, ['updated'], { width: '2' }, checked],
		['of another type: rejected, then converted', [code, state, number], sized, [/size/, 'updated'], { size: 2 }, [bulk]],
		['read-only: rejected, then left out', [code, state, calculated], sized, [/size/, 'unchanged'], { code: 'a' }, [bulk]],
		['the key: it decides', keyed, { code: 'b', size: '1' }, ['updated'], { code: 'b' }, [bulk]],
		[
			'not marked as the key any more: as the first field it still is',
			[{ ...code, metadata: {} }, state, size],
			sized,
			['updated'],
			{ size: '2' },
			[bulk],
		],
		['given a choice: it is written', withChoices('open', 'lost'), { code: 'a', state: 'lost' }, ['updated'], { state: 'lost' }, [bulk]],
		['without a choice: it is rejected', withChoices('open'), { code: 'a', state: 'sent' }, [/state/], { state: 'open' }, [bulk]],
		['removed, and values are compared: the check says so', [code, state], sized, [notSent], {}, onlyChecked, skipUnchanged],
		['removed, in a dry run: the check says so', [code, state], sized, [notSent], {}, onlyChecked, dryRun],
		['the key, and values are compared', keyed, { code: 'b', size: '1' }, ['updated'], { code: 'b' }, lookedUp, skipUnchanged],
	])('a field is %s', async (...[, fields, row, says, holds, asks, options]) => {
		await makeKnown();
		await makeTable(fields, fields.includes(number) || fields.includes(calculated) ? { code: 'a' } : undefined);
		for (const [round, said] of says.entries()) {
			await harness.clearRequests();
			const [json] = (await run('upsert', { items: [row], options })).json();
			expect(json!.outcome ?? json!.error).toEqual(typeof said === 'string' ? said : expect.stringMatching(said));
			if (round === 0) expect(await requests()).toEqual(asks);
		}
		const [stored, ...others] = await harness.records(TABLE);
		expect(others).toEqual([]);
		expect(stored!.fields).toMatchObject(holds);
	});

	test('if headers moved to other fields, keys of items mean the fields that have these headers now', async () => {
		const headed = (first: string, second: string) => [code, { ...size, header: first }, { ...text('width'), header: second }];
		await makeKnown(headed('Length', 'Width'));
		await makeTable(headed('Width', 'Length'));
		await run('upsert', { items: [{ code: 'a', Length: '2' }] });
		expect((await harness.records(TABLE)).map(({ fields }) => fields)).toEqual([{ code: 'a', size: '1', width: '2' }]);
	});

	test('if another field became the key, items are merged by the new key only', async () => {
		await makeKnown();
		await makeTable(keyed);
		const result = await run('upsert', { items: ['2', '3'].map((value) => ({ code: 'b', size: value })) });
		expect(outcomes(result)).toEqual(['inserted', 'inserted']);
		expect(await harness.records(TABLE)).toHaveLength(3);
	});

	test('if the table was made again, a record that it no longer has is not found', async () => {
		await makeKnown();
		await harness.createTable({ internalName: TABLE, header: 'Parts', fields: all });
		const result = await run('update', { items: [item()], parameters: byId });
		expect(outcomes(result)).toEqual(['notFound']);
	});

	test('if the token was revoked, nothing is written', async () => {
		await makeKnown();
		await harness.sandbox.admin.changeToken('role', { status: 'revoked' });
		const result = await run('upsert', { items: [sized] });
		expect(result.json()[0]!.error).toMatch(/token/i);
		const [stored] = await harness.records(TABLE);
		expect(stored!.fields).toMatchObject({ size: '1' });
	});
});
