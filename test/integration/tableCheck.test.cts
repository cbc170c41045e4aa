/** Table: Get with Expected Fields, through n8n's engine. */
import { goingOn, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

const check = async (expected: unknown[], run: Run = { options: { expectedFields: '={{ $json.expected }}' } }) =>
	await harness.run('get', {
		...run,
		...goingOn,
		parameters: { resource: 'table' },
		items: expected.map((value) => ({ expected: value })),
	});

test('each item is checked against what it expects; the table is read once', async () => {
	const result = await check([['number', 'buyer'], 'phone, number', [{ name: 'price', type: 'text' }]]);
	expect(result.json()).toMatchObject([
		{ matches: true, differences: [], internalName: 'orders' },
		{ matches: false, differences: [{ field: 'phone', difference: 'missing' }] },
		{ matches: false, differences: [{ field: 'price', difference: 'type' }] },
	]);
	expect(await harness.requests()).toHaveLength(1);
});

test('what names no fields, or not only fields, is an error of its item, not a table that matches', async () => {
	const nothing = "'Expected Fields' names no fields";
	const noJson = "'Expected Fields' begins like JSON, but is not valid JSON";
	const problems: Array<[unknown, string]> = [
		...[null, ' ', ',', [], '{}'].map((value): [unknown, string] => [value, nothing]),
		// An expression that returned nothing may have left the name empty.
		['number,', "'Expected Fields' names no field in entry 2 of 2"],
		['number,,buyer', "'Expected Fields' names no field in entry 2 of 3"],
		['[{"name":"number"', noJson],
		[' {"fields": [', noJson],
	];
	const expected = [['number'], ...problems.map(([value]) => value)];
	const [good, ...bad] = (await check(expected)).json();
	expect(good?.matches).toBe(true);
	expect(bad.map(({ error }) => error)).toEqual(problems.map(([, problem]) => problem));
});

test("the table's own output matches, until a link leads elsewhere", async () => {
	const [output] = (await check([['number']])).json();
	const fields = output!.fields as Array<{ name: string; multiple?: boolean }>;
	const changed = fields.map((field) => (field.name === 'related' ? { ...field, multiple: false, linkTableId: 'elsewhere' } : field));
	const [same, other] = (await check([output, { ...output, fields: changed }])).json();
	expect(same).toMatchObject({ matches: true, differences: [] });
	expect(other!.differences).toMatchObject([
		{ field: 'related', difference: 'multiple' },
		{ field: 'related', difference: 'linkedTable' },
	]);
});

test('without the option nothing is compared', async () => {
	const [table] = (await check([['number']], {})).json();
	expect(table).toMatchObject({ internalName: 'orders' });
	expect(table).not.toHaveProperty('matches');
});
