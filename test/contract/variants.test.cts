import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { variants } from '../../sandbox/state/variants.mts';
import { sharedSandbox } from '../support/sharedSandbox.mts';
import { usePlatform } from './contract.cts';

interface ContractVariant {
	name: string;
	setting: string;
	readings: unknown[];
}

const ROOT = join(__dirname, '..', '..');
const document = parse(readFileSync(join(ROOT, 'contract', 'openapi.yaml'), 'utf8')) as { 'x-variants': ContractVariant[] };
const stated = document['x-variants'];
const played = variants.map(({ name, setting, readings }) => ({ name, setting, readings: readings.map(({ value }) => value) }));

test('the sandbox plays every variant of the contract, and no other', () => {
	expect(played).toEqual(stated);
});

test('docs/sandbox.md has a row for each variant, with its readings', () => {
	const page = readFileSync(join(ROOT, 'docs', 'sandbox.md'), 'utf8');
	const rows = [...page.matchAll(/^\| `(\w+)` +\| [^|]*\| ([^|]*)\|$/gm)].map(([, setting, readings]) => [
		setting,
		[...readings!.matchAll(/`([^`]*)`: /g)].map(([, value]) => value),
	]);
	expect(rows).toEqual(played.map(({ setting, readings }) => [setting, readings.map(String)]));
});

test.each(variants)('$setting: the first reading is the default, and every one can be set', async ({ setting, readings }) => {
	const { admin } = await sharedSandbox();
	await admin.reset();
	const current = async () => ((await admin.http.get('/settings')).data.data as Record<string, unknown>)[setting];
	expect(await current()).toBe(readings[0].value);
	for (const { value } of readings) {
		await admin.settings({ [setting]: value });
		expect(await current()).toBe(value);
	}
	await admin.reset();
});

describe('what a response says about records', () => {
	const platform = usePlatform({ seeded: false });
	const data = '/apps/shop/tables/items/data';
	const fields = [
		{ name: 'code', header: 'Code', type: 'text', unique: true },
		{ name: 'note', type: 'long_text' },
		{ name: 'size', type: 'number' },
	];
	const rejections = [
		{ field: 'note', contains: 'secret', message: 'Keep secrets elsewhere.' },
		{ field: 'size', equals: '13', message: 'Not 13: ask Ann.' },
	];
	const taken = { id: 'specifiedCodeAlreadyExistsException', message: 'Items, Code, a' };

	const start = async (settings: Record<string, unknown>) => {
		await platform.admin.reset();
		const table = { internalName: 'items', header: 'Items', fields, rejections };
		await platform.admin.createTable({ app: 'shop', table, records: [{ fields: { code: 'a' } }] });
		await platform.admin.settings(settings);
	};
	const createMany = async (...records: object[]) => {
		const bulk = records.map((each) => ({ fields: each }));
		return await platform.client.post(`${data}/bulk?dataResponseType=MetadataOnly`, { bulk });
	};

	test.each([[201], [200]])('a create answers %d', async (createStatus) => {
		await start({ createStatus });
		expect((await platform.client.post(data, { fields: { code: 'n' } })).status).toBe(createStatus);
	});

	test.each([
		['request', 'bcdef'],
		['other', 'dfceb'],
	])('bulkOrder %s: the records b to f are listed as %s', async (bulkOrder, order) => {
		await start({ bulkOrder });
		const response = await createMany(...[...'bcdef'].map((code) => ({ code })));
		const stored = new Map((await platform.admin.records('shop', 'items')).map(({ id, fields: { code } }) => [id, code]));
		expect(response.data.data.map(({ id }: { id: string }) => stored.get(id)).join('')).toBe(order);
		const two = await createMany({ code: 'x' }, { code: 'y' });
		const [x, y] = (await platform.admin.records('shop', 'items')).slice(-2).map(({ id }) => id);
		expect(two.data.data.map(({ id }: { id: string }) => id)).toEqual(bulkOrder === 'request' ? [x, y] : [y, x]);
	});

	test.each([
		['RecordIndex', { RecordIndex: 1 }],
		['recordIndex', { recordIndex: 1 }],
		['none', {}],
	])('errorPosition %s: an error has %j, whatever made it', async (errorPosition, position) => {
		await start({ errorPosition });
		const without = ['type', 'id', 'message'];
		const error = expect.objectContaining(position);
		const positionOf = async (bulk: object[]) => {
			const { errors } = (await platform.sandbox.client().post(`${data}/bulk`, { bulk })).data;
			expect(errors).toEqual([error]);
			return Object.keys(errors[0]).filter((name) => !without.includes(name));
		};
		const good = { fields: { code: 'n' } };
		const names = Object.keys(position);
		expect(await positionOf([good, { fields: { size: 'much' } }])).toEqual(names);
		expect(await positionOf([good, {}])).toEqual(names);
		await platform.admin.settings({ batchFailure: 'wholeBatch400' });
		expect(await positionOf([good, { fields: { size: 'much' } }])).toEqual(names);
		for (const kind of ['failRecords', 'rejectBatch']) {
			await platform.admin.settings({ batchFailure: 'perRecord' });
			await platform.admin.faults([{ fault: { kind, indexes: [1], withIndex: true } }]);
			expect(await positionOf([good, good])).toEqual(names);
		}
	});

	test.each([
		['a value that another record has', { code: 'a' }, taken],
		['its own value', { code: 'b', size: 1 }, undefined],
		['text that a workflow rejects', { note: 'a secret' }, { message: 'Keep secrets elsewhere.' }],
		['a number that a workflow rejects', { size: 13 }, { message: 'Not 13: ask Ann.' }],
		['other values', { note: 'open', size: 130 }, undefined],
	])('rejections byField, an update with %s', async (_, values, error) => {
		await start({ rejections: 'byField' });
		const { id } = (await platform.client.post(data, { fields: { code: 'b' } })).data.data;
		const response = await platform.client.patch(`${data}/${id}`, { fields: values });
		expect(response.status).toBe(error ? 400 : 200);
		expect(response.data.errors).toEqual(error && [expect.objectContaining(error)]);
		const many = await createMany({ code: 'c' }, { code: 'd', ...values });
		if (error) expect(many.data.errors).toEqual([expect.objectContaining({ ...error, RecordIndex: 1 })]);
		await platform.admin.settings({ rejections: 'none' });
		expect((await platform.client.patch(`${data}/${id}`, { fields: values })).status).toBe(200);
	});

	test('a definition tells neither', async () => {
		await start({ rejections: 'byField' });
		const { items } = (await platform.client.get('/apps/shop/tables/items')).data.data;
		expect(JSON.stringify(items)).not.toMatch(/unique|reject/);
	});

	test('a unique field is text, a number or a date', async () => {
		const table = { internalName: 'odd', fields: [{ name: 'flag', type: 'checkbox', unique: true }] };
		await expect(platform.admin.createTable({ app: 'shop', table })).rejects.toThrow();
	});
});
