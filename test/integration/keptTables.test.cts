/**
 * What an execution keeps of a table's definition for the next one, and what it does not: between two
 * executions the table changes. docs/running.md, "What may be a minute old".
 */
import type { IDataObject } from 'n8n-workflow';
import { APP, outcomes, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

const ID = '00000000-0000-4000-8000-000000000001';
const TABLE = 'parts';
const byId = { recordId: '={{ $json.id }}' };
const goingOn: Run = { table: TABLE, onError: 'continueRegularOutput' };

type Field = { name: string; type: string; header?: string; metadata?: IDataObject };

const choices = (...values: string[]) => ({ items: values.map((value, order) => ({ value, order })) });

const code: Field = { name: 'code', type: 'text', metadata: { importKey: true } };
const size: Field = { name: 'size', type: 'text' };
const state: Field = { name: 'state', type: 'dropdown', metadata: choices('open', 'sent') };
const all = [code, size, state];

const record = { id: ID, fields: { code: 'a', size: '1', state: 'open' } as IDataObject };

/** The table with these fields, and one record. A table of this name is dropped before. */
async function makeTable(fields: Field[], values = record.fields) {
	const names = fields.map(({ name }) => name);
	const own = Object.entries(values).filter(([name]) => names.includes(name));
	await harness.sandbox.admin.createTable({
		app: APP,
		table: { internalName: TABLE, header: 'Parts', fields },
		records: [{ id: ID, fields: Object.fromEntries(own) }],
	});
}

/** Asks for the definition, as an execution a second ago. */
const warmUp = async () => {
	await harness.run('upsert', { ...goingOn, items: [{ code: 'a', size: '1' }] });
	await harness.sandbox.admin.clearRequests();
};

const run = async (operation: string, given: Run) => await harness.run(operation, { ...goingOn, isWarm: true, ...given });

/** The requests, without what identifies the table. */
const requests = async () =>
	(await harness.requests()).map(({ method, path }) => {
		const [, rest = ''] = path.split(`/tables/${TABLE}`);
		return `${method} ${rest.replace(ID, 'ID') || 'definition'}`;
	});

const item = (change: IDataObject = {}) => ({ id: ID, code: 'a', size: '2', ...change });

describe('one item, one request', () => {
	beforeEach(async () => {
		await makeTable(all);
		await warmUp();
	});

	test.each<[string, Run, string[]]>([
		['create', { items: [{ code: 'b', size: '2' }] }, ['POST /data/bulk']],
		['upsert', { items: [{ code: 'a', size: '2' }] }, ['POST /data/bulk']],
		['update', { items: [item()], parameters: byId }, ['PATCH /data/bulk']],
		[
			'upsert',
			{ items: [{ code: 'a', size: '2' }], options: { skipUnchanged: true } },
			['GET definition', 'POST /data/filter', 'PATCH /data/bulk'],
		],
		['count', { parameters: where('state', 'open') }, ['POST /data/count/filter']],
		['getAll', { parameters: where('state', 'open') }, ['POST /data/filter']],
	])('%s %j: %j', async (operation, given, expected) => {
		const result = await run(operation, given);
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
	const compared = ['GET definition', 'POST /data/filter'];
	const lookedUp = [...compared, 'POST /data/filter', 'PATCH /data/bulk'];
	const [skipUnchanged, dryRun, unknownFields] = [{ skipUnchanged: true }, { dryRun: true }, { unknownFields: 'ignore' }];
	const notSent = /not sent.*'size'/;
	const noKey = /import key/i;

	test.each<Row>([
		['added: its value is written', wider, renamed, ['updated'], { width: '2' }, checked],
		['added, unknown ones are ignored: it is written', wider, renamed, ['updated'], { width: '2' }, checked, unknownFields],
		['removed: the platform says so, then the check', [code, state], sized, [/Field 'size' is unknown/, notSent], {}, [bulk]],
		['renamed: the new name is written', [code, state, text('width')], renamed, ['updated'], { width: '2' }, checked],
		['of another type: rejected, then converted', [code, state, number], sized, [/size/, 'updated'], { size: 2 }, [bulk]],
		['read-only: rejected, then left out', [code, state, calculated], sized, [/size/, 'unchanged'], { code: 'a' }, [bulk]],
		['the key: it decides', keyed, { code: 'b', size: '1' }, ['updated'], { code: 'b' }, [bulk]],
		['no key any more: nothing is written', [{ ...code, metadata: {} }, state, size], sized, [noKey, noKey], { size: '1' }, [bulk]],
		['given a choice: it is written', withChoices('open', 'lost'), { code: 'a', state: 'lost' }, ['updated'], { state: 'lost' }, [bulk]],
		['without a choice: it is rejected', withChoices('open'), { code: 'a', state: 'sent' }, [/state/], { state: 'open' }, [bulk]],
		['removed, and values are compared: the check says so', [code, state], sized, [notSent], {}, compared, skipUnchanged],
		['removed, in a dry run: the check says so', [code, state], sized, [notSent], {}, compared, dryRun],
		['the key, and values are compared', keyed, { code: 'b', size: '1' }, ['updated'], { code: 'b' }, lookedUp, skipUnchanged],
	])('a field is %s', async (...[, fields, row, says, holds, asks, options]) => {
		await makeTable(all);
		await warmUp();
		await makeTable(fields, fields.includes(number) || fields.includes(calculated) ? { code: 'a' } : record.fields);
		for (const [round, said] of says.entries()) {
			await harness.sandbox.admin.clearRequests();
			const result = await run('upsert', { items: [row], options });
			const [json] = result.json();
			const text = json?.outcome ?? json?.error;
			if (typeof said === 'string') expect(text).toBe(said);
			else expect(text).toMatch(said);
			if (round === 0) expect(await requests()).toEqual(asks);
		}
		const [stored, ...others] = await harness.records(TABLE);
		expect(others).toEqual([]);
		expect(stored!.fields).toMatchObject(holds);
	});

	test('headers moved to other fields: keys that are headers mean the fields of now', async () => {
		const headed = (first: string, second: string) => [code, { ...size, header: first }, { ...text('width'), header: second }];
		await makeTable(headed('Length', 'Width'));
		await warmUp();
		await makeTable(headed('Width', 'Length'));
		await run('upsert', { items: [{ code: 'a', Length: '2' }] });
		expect((await harness.records(TABLE)).map(({ fields }) => fields)).toEqual([{ code: 'a', size: '1', width: '2' }]);
	});

	test('another field became the key: items are the same record by the key of now', async () => {
		await makeTable(all);
		await warmUp();
		await makeTable([
			{ ...code, metadata: {} },
			{ ...size, metadata: { importKey: true } },
		]);
		const result = await run('upsert', { items: ['2', '3'].map((value) => ({ code: 'b', size: value })) });
		expect(result.json().map(({ outcome, mergedInto }) => ({ outcome, mergedInto }))).toEqual([
			{ outcome: 'inserted' },
			{ outcome: 'inserted' },
		]);
		expect(await harness.records(TABLE)).toHaveLength(3);
	});

	test('the table was made again: a record that it no longer has is not found', async () => {
		await makeTable(all);
		await warmUp();
		await harness.sandbox.admin.createTable({ app: APP, table: { internalName: TABLE, header: 'Parts', fields: all } });
		const result = await run('update', { items: [item()], parameters: byId });
		expect(outcomes(result)).toEqual(['notFound']);
	});

	test('the token no longer counts: nothing is written', async () => {
		await makeTable(all);
		await warmUp();
		await harness.sandbox.admin.changeToken('role', { status: 'revoked' });
		const result = await run('upsert', { items: [sized] });
		expect(result.json()[0]!.error).toMatch(/token/i);
		const [stored] = await harness.records(TABLE);
		expect(stored!.fields).toMatchObject({ size: '1' });
	});
});

function where(field: string, value: string): IDataObject {
	const condition = [{ field, operator: 'is', choice: value }];
	return { filterMode: 'conditions', conditions: { condition } };
}
