import type { IDataObject } from 'n8n-workflow';
import { numbered, outcomes, useHarness } from './fixtures.cts';

/** Output is written back, and items may have the names that the mapper shows. */
const harness = useHarness();

describe.each([true, false])('Get Many, then Update, with Simplify %s', (simple) => {
	test('writes what can be written, and names the rest', async () => {
		await harness.fill('orders', ...numbered(2, { tags: ['a'], price: 1 }));
		const before = await harness.records();
		const read = await harness.run('getAll', { parameters: { returnAll: true, simple } });
		const items = read.json();
		const same = await harness.run('update', { items });
		expect(same.error).toBeUndefined();
		expect(outcomes(same).every((outcome) => outcome !== 'failed')).toBe(true);
		expect((await harness.records()).map(({ fields }) => fields)).toEqual(before.map(({ fields }) => fields));
		expect(same.hints).toContain(
			"Not written, because these fields are read-only, or hold files or links as they were read: 'related', 'label'.",
		);
		const buyer = simple ? { buyer: 'Hare' } : { fields: { ...(items[0]!.fields as object), buyer: 'Hare' } };
		const changed = await harness.run('update', {
			items: [{ ...items[0], ...buyer } as IDataObject],
			parameters: { recordId: items[0]!.id },
		});
		expect(changed.error).toBeUndefined();
		expect(await harness.values('buyer')).toContain('Hare');
		expect(outcomes(same)).toHaveLength(2);
	});
});

test('read-only fields that are mapped by hand stay an error', async () => {
	const result = await harness.run('create', {
		parameters: { columns: { mappingMode: 'defineBelow', value: { number: '1', buyer: 'x', label: 'y' } } },
	});
	expect(result.error?.message).toContain("'label' is read-only");
});

describe('names as the mapper shows them', () => {
	const table = 'people';
	beforeEach(async () => {
		await harness.sandbox.admin.createTable({
			app: 'shop',
			table: {
				internalName: table,
				fields: [
					{ name: 'email', header: 'E-mail', type: 'text', metadata: { importKey: true } },
					{ name: 'firstname', header: 'First name', type: 'text' },
					{ name: 'city', header: 'Place', type: 'text' },
					{ name: 'country', header: 'Place', type: 'text' },
					{ name: 'note', header: 'email', type: 'text' },
				],
			},
		});
	});
	const write = async (item: IDataObject) => await harness.run('create', { table, items: [item], onError: 'continueRegularOutput' });
	const stored = async () => (await harness.records(table)).map(({ fields }) => fields);

	test.each([
		{ 'E-mail': 'a', 'First name': 'Ada' },
		{ ' e-MAIL ': 'a', 'first name': 'Ada' },
		{ 'E-mail (import key)': 'a', firstname: 'Ada' },
		{ email: 'a', 'E-mail': 'a', 'First name': 'Ada' },
	])('%j', async (item) => {
		expect(outcomes(await write(item))).toEqual(['inserted']);
		expect(await stored()).toEqual([{ email: 'a', firstname: 'Ada' }]);
	});

	test.each([
		[{ email: 'a', Place: 'Oslo' }, "has no field 'Place'"],
		[{ email: 'a', 'E-mail': 'b' }, "'email' and 'E-mail' are the same field"],
		[{ email: 'a', 'Last name': 'x' }, "has no field 'Last name'"],
	])('%j is an error', async (item, message) => {
		const [json] = (await write(item)).json();
		expect(json!.error).toContain(message);
		expect(await stored()).toEqual([]);
	});
});

describe('a table with a field called fields', () => {
	const table = 'forms';
	const of = async (...fields: IDataObject[]) => {
		await harness.sandbox.admin.createTable({
			app: 'shop',
			table: {
				internalName: table,
				fields: [{ name: 'code', type: 'text', metadata: { importKey: true } }, { name: 'fields', type: 'url_link' }, ...fields] as never,
			},
		});
	};
	const link = { href: 'https://example.com/a' };
	const change = (json: IDataObject, to: IDataObject): IDataObject => ({ ...json, ...to });

	test.each([true, false])('is written back, with Simplify %s', async (simple) => {
		await of();
		await harness.run('create', { table, items: [{ code: '1', fields: link }] });
		const [read] = (await harness.run('getAll', { table, parameters: { returnAll: true, simple } })).json();
		const moved = { href: 'https://example.com/b' };
		const item = simple
			? change(read!, { fields: moved })
			: change(read!, { fields: change(read!.fields as IDataObject, { fields: moved }) });
		for (const operation of ['upsert', 'update']) {
			const result = await harness.run(operation, { table, items: [item] });
			expect(result.error).toBeUndefined();
		}
		expect((await harness.records(table)).map(({ fields }) => fields)).toEqual([{ code: '1', fields: moved }]);
	});

	test('the output of a write without Simplify is written back, including its error', async () => {
		await of();
		const simple = false;
		const items = [{ code: '1', fields: link }];
		const written = await harness.run('upsert', { table, items, parameters: { simple } });
		const [output] = written.json();
		expect(output).toMatchObject({ outcome: 'inserted', fields: items[0] });
		const details = { outcome: 'failed', item: 0 };
		const failed = { ...output, error: 'No response', message: 'No response', details };
		for (const item of [output!, failed]) {
			const result = await harness.run('upsert', { table, items: [item as IDataObject] });
			expect(result.error).toBeUndefined();
		}
		expect((await harness.records(table)).map(({ fields }) => fields)).toEqual(items);
	});

	test('a value of the field is not mistaken for a record', async () => {
		await of();
		// Neither with the record's own properties next to it, nor with field names in it.
		for (const item of [
			{ code: '1', fields: link },
			{ id: 'x', code: '2', fields: link, created: 'a', modified: 'b', ver: 1 },
		]) {
			const result = await harness.run('upsert', { table, items: [item] });
			expect(outcomes(result)).toEqual(['inserted']);
		}
		expect(await harness.values('fields', table)).toEqual([link, link]);
	});
});

describe('with Link Values set for all fields', () => {
	const linkValues = { link: [{ field: '*', valueType: 'importKey' }] };
	test.each([true, false])('links to many as they were read, with Simplify %s', async (simple) => {
		await harness.fill('orders', ...numbered(2));
		const [first] = await harness.records();
		await harness.run('update', { items: [{ id: first!.id, related: ['2'] }], options: { linkValues } });
		const before = await harness.values('related');
		const items = (await harness.run('getAll', { parameters: { returnAll: true, simple } })).json();
		for (const operation of ['update', 'upsert']) {
			const result = await harness.run(operation, { items, options: { linkValues } });
			expect(result.error).toBeUndefined();
			expect(result.hints).toContain(
				"Not written, because these fields are read-only, or hold files or links as they were read: 'related', 'label'.",
			);
		}
		expect(await harness.values('related')).toEqual(before);
	});
});
