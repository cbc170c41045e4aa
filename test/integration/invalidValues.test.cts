/**
 * Invalid values of every field type that can be written: the error names the item and the field.
 * For read-only fields see writeBack.
 */
import type { IDataObject } from 'n8n-workflow';
import { defined, type RunResult } from '../support/engine/engine.cts';
import { newDeal, useAllFieldTypes } from './allFieldTypes.cts';
import { goingOn } from './fixtures.cts';

const harness = useAllFieldTypes();

describe('wrong values', () => {
	const WRONG: Array<[field: string, given: unknown, message: RegExp]> = [
		['title', { a: 1 }, /accepts text/],
		['summary', ['a'], /accepts text/],
		['notes', { a: 1 }, /accepts text/],
		['stage', 'nearly', /open.*won.*lost/],
		['priority', 'High', /low.*normal.*high/],
		['seats', 1.5, /whole number/],
		['seats', 0, /at least 1/],
		['seats', '7 seats', /accepts a number/],
		['weight', '1,5', /accepts a number/],
		['weight', true, /accepts a number/],
		['fee', -1, /at least 0/],
		['fee', '€ 5', /accepts a number/],
		['chance', 50, /at most 1/],
		['chance', '50 %', /accepts a number/],
		['value', 9.5, /"amount".*"currency"/],
		['value', { amount: 1 }, /"currency"/],
		['value', { amount: '1', currency: 'EUR' }, /a number as 'amount'/],
		['value', { amount: 1, currency: 'euro' }, /currency/],
		['value', '{"amount":1,', /"amount".*"currency"/],
		['signed', 'yes', /true or false/],
		['signed', 1, /true or false/],
		['due', '2026-02-29', /accepts a date/],
		['due', '21.11.2026', /accepts a date/],
		['due', 1795219200, /accepts a date/],
		['meeting', '12:00', /accepts a date and time/],
		['meeting', '2026-11-21T24:30', /accepts a date and time/],
		['channels', ['mail', 'pigeon'], /mail.*phone.*web/],
		['channels', { a: 1 }, /accepts a list of texts/],
		['tags', [{ a: 1 }], /accepts a list of texts/],
		['link', { url: 'https://example.com' }, /"href"/],
		['link', 5, /"href"/],
		['steps', 'Call, write', /"lists"/],
		['steps', { lists: [{ header: 'x' }] }, /items/],
		['steps', '{"lists":[', /"lists"/],
		['talk', 'Hello', /"messages"/],
		['company', 'Acorn Sample Ltd', /id of one record.*add 'Link Values' in the options/],
		['company', '00000000-0000-4000-8000-000000000000', /does not exist/],
		['company', ['a', 'b'], /id of one record/],
		['people', [1, 2], /record ids/],
		['people', ['Ann', 'Bob'], /record ids.*add 'Link Values' in the options/],
		['people', { add: 'x' }, /record ids/],
		['people', ['00000000-0000-4000-8000-000000000000'], /does not exist/],
		['sketch', 5, /accepts a web address/],
		['papers', { file: 'x' }, /accepts a web address/],
		['sumary', 'x', /did you mean 'summary'/],
	];

	const item = (field: string, given: unknown) => ({ ...newDeal(), [field]: given }) as IDataObject;

	test('each is the error of its item, and names its field', async () => {
		const items = [newDeal(), ...WRONG.map(([field, given]) => item(field, given)), newDeal()];
		const result = await harness.run('create', { items, onError: 'continueErrorOutput' });
		expect(result.json('Data Platform', 0)).toHaveLength(2);
		const failed = result.output('Data Platform', 1).map(({ json, pairedItem }) => [pairedItem, json.error]);
		const texts = WRONG.map(([field, , message]) => new RegExp(`(?=.*'${field}').*(${message.source})`));
		expect(failed).toEqual(texts.map((text, at) => [{ item: at + 1 }, expect.stringMatching(text)]));
	});

	test.each(WRONG.slice(0, 3))('%s: %j stops the node, naming item and field', async (field, given, message) => {
		const { error } = await harness.run('create', { items: [newDeal(), item(field, given), newDeal()] });
		expect(error?.message).toMatch(message);
		expect(error?.message).toContain(`'${field}'`);
		expect(error?.context?.itemIndex).toBe(1);
	});
});

describe('the expression in the error', () => {
	const BAD = '31.02.1990';
	const people = [{ 'Due By': '31.12.1990' }, { 'Due By': '' }, { 'Due By': BAD }].map((item, index) => ({
		...item,
		Name: `Deal ${index}`,
	}));
	const create = async (columns: IDataObject, items: IDataObject[]) =>
		await harness.run('create', { table: 'deals', items, parameters: { columns }, ...goingOn });
	const mapped = (due: string) => defined({ number: '={{ $json.Name }}', title: '={{ $json.Name }}', due });

	test.each([
		['a column with a space', '={{ $json["Due By"] }}', '$json["Due By"]'],
		['more than a column', '={{ $json["Due By"] || null }}', '($json["Due By"] || null)'],
	])('reads %s as it is mapped; pasted word for word, it reads the good values, and no bad one is lost', async (_, due, source) => {
		const first = (await create(mapped(due), people)).json();
		const remedy = /use (\{\{.*?\}\})/.exec(String(first[0]!.error))![1]!;
		expect(remedy).toBe(`{{ DateTime.fromFormat(String(${source}), 'dd.MM.yyyy').toISODate() ?? ${source} }}`);
		const second = (await create(mapped(`=${remedy}`), people)).json();
		expect(second).toMatchObject([{ due: '1990-12-31T00:00:00Z' }, { outcome: 'inserted' }, { error: expect.stringContaining(BAD) }]);
	});

	test('names the item’s key if the mapping is automatic, and no column if the mapping has several', async () => {
		const error = async (run: Promise<RunResult>) => String((await run).json()[0]!.error);
		const item = { number: 'a', title: 'A', Due: '31.12.1990' };
		expect(await error(harness.run('create', { table: 'deals', items: [item], ...goingOn }))).toContain('String($json.Due)');
		const fields = [
			{ name: 'day', header: 'Due', type: 'date' },
			{ name: 'x', header: 'Day', type: 'text' },
		];
		await harness.createTable({ internalName: 'days', header: 'Days', fields });
		const days = harness.run('create', { table: 'days', items: [{ Day: 'x', Due: '31.12.1990' }], ...goingOn });
		expect(await error(days)).toContain('String($json.Due)');
		const nested = [{ id: 'x', fields: { ...item, Due: undefined, due: '31.12.1990' } }];
		expect(await error(harness.run('create', { table: 'deals', items: nested, ...goingOn }))).toContain('String($json.fields.due)');
		expect(await error(create(mapped('={{ $json.day }}.12.{{ $json.year }}'), [{ Name: 'x', day: 31, year: 1990 }]))).toContain(
			'String(your column)',
		);
		expect(await error(create(mapped('31.12.1990'), [{ Name: 'x' }]))).toContain('String("31.12.1990")');
	});
});
