/** Every field type of the contract, written through the mapper and read back from the service. */
import type { IDataObject } from 'n8n-workflow';
import { defined, picked } from '../support/engine/engine.cts';
import { mapped, newDeal, useAllFieldTypes, type Mode } from './allFieldTypes.cts';
import { fileValue } from './fixtures.cts';

const harness = useAllFieldTypes();

const checklist = (...items: Array<[header: string, checked: boolean]>) => ({
	lists: [{ header: 'Before', items: items.map(([header, checked]) => ({ header, checked })) }],
});

/** What is written, and what the service then returns. */
const VALUES: Array<[field: string, given: unknown, shown: unknown]> = [
	['title', 'O\'Brien, (x) \\ "q" 😀 <b> {{ 1 }}', 'O\'Brien, (x) \\ "q" 😀 <b> {{ 1 }}'],
	['title', 42, '42'],
	['title', true, 'true'],
	['summary', 'Two\nlines\twith\ttabs\r\n', 'Two\nlines\twith\ttabs\r\n'],
	['summary', ' ', ' '],
	['notes', '# Head\n\n- **bold** [x](https://example.com)', '# Head\n\n- **bold** [x](https://example.com)'],
	['notes', '{"not":"an object"}', '{"not":"an object"}'],
	['stage', 'won', 'won'],
	['priority', 'high', 'high'],
	['seats', 7, 7],
	['seats', ' 7 ', 7],
	['seats', '1e3', 1000],
	['seats', Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
	['weight', -0.1, -0.1],
	['weight', '.5', 0.5],
	['weight', 0, 0],
	['weight', '-12.50', -12.5],
	['fee', 99.99, 99.99],
	['fee', '0', 0],
	['chance', 0.1, 0.1],
	['chance', '0.335', 0.335],
	['chance', 1, 1],
	['value', { amount: 9.5, currency: 'EUR' }, { amount: 9.5, currency: 'EUR' }],
	['value', '{"amount":-1,"currency":"USD"}', { amount: -1, currency: 'USD' }],
	['value', { amount: 0, currency: 'CZK', date: '2026-02-28' }, { amount: 0, currency: 'CZK', date: '2026-02-28' }],
	['signed', true, true],
	['signed', false, false],
	['signed', 'TRUE', true],
	['due', '2028-02-29', '2028-02-29'],
	['due', '2026-11-21T00:00:00', '2026-11-21'],
	['due', '2026-11-21 00:00', '2026-11-21'],
	['due', '2026-11-21T00:00:00Z', '2026-11-21'],
	['due', '2026-11-21T23:30:00Z', '2026-11-22'],
	['due', '2026-11-21T23:30:00+09:00', '2026-11-21'],
	['due', '2026-11-21T22:59:59Z', '2026-11-21'],
	['meeting', '2026-07-01T12:00:00Z', '2026-07-01T12:00:00.000Z'],
	['meeting', '2026-07-01T12:00:00', '2026-07-01T10:00:00.000Z'],
	['meeting', '2026-01-01 12:00', '2026-01-01T11:00:00.000Z'],
	['meeting', '2026-07-01T12:00:00.123+05:30', '2026-07-01T06:30:00.123Z'],
	['meeting', '2026-07-01T12:00:00-0700', '2026-07-01T19:00:00.000Z'],
	['meeting', '2026-07-01', '2026-06-30T22:00:00.000Z'],
	['channels', ['mail', 'web'], ['mail', 'web']],
	['channels', 'phone', ['phone']],
	['channels', '["web","mail"]', ['web', 'mail']],
	['tags', ['a,b', "O'Brien", '😀', ' '], ['a,b', "O'Brien", '😀', ' ']],
	['tags', 'a,b', ['a,b']],
	['tags', [1, true], ['1', 'true']],
	['link', 'https://example.com/a?b=c&d=%20#e', { href: 'https://example.com/a?b=c&d=%20#e' }],
	['link', { href: 'https://example.com', description: 'Ö' }, { href: 'https://example.com', description: 'Ö' }],
	[
		'steps',
		checklist(['Call', true], ['Write, then wait', false]),
		expect.objectContaining({ progress: 0.5, lists: [expect.objectContaining({ header: 'Before', checkedCount: 1, progress: 0.5 })] }),
	],
	['steps', JSON.stringify(checklist(['Call', true])), expect.objectContaining({ progress: 1 })],
	['steps', { lists: [] }, expect.objectContaining({ progress: 0, lists: [] })],
	[
		'talk',
		{ messages: [{ text: 'Hello\n"you"' }] },
		expect.objectContaining({ messages: [expect.objectContaining({ text: 'Hello\n"you"' })] }),
	],
];

/** Fields of a deal that the platform computes. */
const READ_ONLY = ['version', 'caption'];

/** Tested below, with records and files that exist. */
const LINKS_AND_FILES = ['company', 'people', 'sketch', 'papers'];

test('every field that can be written has a row here', async () => {
	const { number: _, ...fields } = await harness.readFields((await harness.create('automatic', 'title', 'x')).json()[0]!.id);
	const written = new Set([...VALUES.map(([field]) => field), ...LINKS_AND_FILES]);
	expect(Object.keys(fields).filter((name) => !written.has(name))).toEqual(READ_ONLY);
});

test('each value of an item is returned as the platform shows it', async () => {
	const { json } = await harness.run('create', {
		items: VALUES.map(([field, given]) => ({ ...newDeal(), [field]: given }) as IDataObject),
	});
	const read = await Promise.all(json().map(async ({ id }) => await harness.readFields(id)));
	expect(VALUES.map(([field, given], at) => [field, given, read[at]![field]])).toEqual(VALUES);
});

/** One value of each field. */
const MAPPED = VALUES.filter(([field], at) => VALUES.findIndex(([other]) => other === field) === at);

test.each(MAPPED)('a value of %s that is mapped by hand is written: %j', async (field, given, expected) => {
	expect(await harness.writeAndRead('defined', field, given)).toEqual(expected);
});

describe.each(['defined', 'automatic'] as const)('with fields that are %s', (mode) => {
	test.each([
		['a text', () => harness.companies[0]],
		['an object', () => ({ id: harness.companies[0] })],
		['a record that was read', () => ({ id: harness.companies[0], url: 'https://example.com/x', name: 'Other' })],
	])('company is linked to one record, given as %s', async (_, given) => {
		expect(await harness.writeAndRead(mode, 'company', given())).toMatchObject({ id: harness.companies[0] });
	});

	test.each([
		['a text', () => harness.people[0], 1],
		['a list', () => harness.people.slice(0, 3), 3],
		['JSON', () => JSON.stringify(harness.people.slice(0, 2)), 2],
		['additions', () => ({ add: harness.people.slice(0, 4) }), 4],
	])('people is linked to several records, given as %s', async (_, given, count) => {
		expect(await harness.writeAndRead(mode, 'people', given())).toMatchObject({ count });
	});

	test('people are added to and removed from the linked ones', async () => {
		const created = await harness.create(mode, 'people', harness.people.slice(0, 3));
		const { id } = created.json()[0]!;
		const change = { people: { add: [harness.people[5]], remove: [harness.people[0], harness.people[1]] } };
		const { items, parameters } = mapped(mode, change);
		const result = await harness.run('update', { items, parameters: { ...parameters, recordId: picked(String(id)) } });
		expect(result.error).toBeUndefined();
		expect((await harness.storedFields(id)).people).toEqual([harness.people[2], harness.people[5]]);
	});

	test.each([
		['sketch', 'dot.png', 'image/png'],
		['papers', 'a b (1).txt', 'text/plain'],
	])('%s has a file that is given as data', async (field, filename, mimetype) => {
		expect(await harness.writeAndRead(mode, field, [fileValue(filename, 'x', mimetype)])).toMatchObject([{ fileName: filename, mimetype }]);
	});
});

describe('an empty value', () => {
	const CLEARABLE = [
		...['summary', 'notes', 'stage', 'priority', 'seats', 'weight', 'fee', 'chance', 'value'],
		...['signed', 'due', 'meeting', 'channels', 'tags', 'link', 'steps', 'talk', 'company'],
		...['people', 'sketch', 'papers'],
	];

	/** A deal with a value in every field. */
	const full = async () => {
		const files = [fileValue('dot.png', 'x', 'image/png')];
		const values = Object.fromEntries(VALUES.map(([field, given]) => [field, given]));
		const links = { company: harness.companies[0], people: harness.people.slice(0, 2) };
		const item = { ...values, signed: true, ...links, sketch: files, papers: files, ...newDeal() };
		const created = await harness.run('create', { items: [item] });
		expect(created.error).toBeUndefined();
		return String(created.json()[0]!.id);
	};

	/** The fields that still have a value after all were given an empty one. */
	const fieldsLeft = async (id: string, empty: unknown, emptyValues: string, mode: Mode) => {
		const values = Object.fromEntries(CLEARABLE.map((field) => [field, empty])) as IDataObject;
		const { items, parameters } = mapped(mode, values);
		const result = await harness.run('update', { items, parameters: { ...parameters, recordId: picked(id) }, options: { emptyValues } });
		expect(result.error?.message).toBeUndefined();
		const stored = await harness.storedFields(id);
		return CLEARABLE.filter((field) => !['null', '[]'].includes(JSON.stringify(stored[field] ?? null)));
	};

	test.each([
		['defined', ''],
		['defined', null],
		['automatic', ''],
		['automatic', null],
		['automatic', []],
	] as const)('that is %s, %j, clears a field of every type only if the option is set', async (mode, empty) => {
		const id = await full();
		expect(await fieldsLeft(id, empty, 'leave', mode)).toEqual(CLEARABLE);
		expect(await fieldsLeft(id, empty, 'clear', mode)).toEqual([]);
	});
});

describe("the workflow's time zone", () => {
	const ZONES = ['America/Los_Angeles', 'Pacific/Kiritimati'];

	/**
	 * Values that stand for a day or an instant, and what they become in Berlin, the application's
	 * time zone.
	 */
	const MEANT: Array<[field: string, given: string, shown: string]> = [
		['due', '2026-11-21', '2026-11-21'],
		['due', '2026-11-21T00:00:00', '2026-11-21'],
		['due', '2026-11-21T23:30:00Z', '2026-11-22'],
		['due', "={{ '2026-11-21'.toDateTime() }}", '2026-11-21'],
		['due', '={{ DateTime.local(2026, 11, 21) }}', '2026-11-21'],
		['due', "={{ DateTime.fromISO('2026-11-21T23:30:00Z') }}", '2026-11-22'],
		['due', "={{ DateTime.fromISO('2026-11-21T22:30:00Z').toISO() }}", '2026-11-21'],
		['due', "={{ new Date('2026-11-21T23:30:00Z') }}", '2026-11-22'],
		['meeting', '2026-07-01T12:00:00', '2026-07-01T10:00:00.000Z'],
		['meeting', '2026-07-01T12:00:00Z', '2026-07-01T12:00:00.000Z'],
		['meeting', "={{ DateTime.fromISO('2026-07-01T12:00:00Z') }}", '2026-07-01T12:00:00.000Z'],
		['meeting', "={{ '2026-07-01T12:00:00+02:00'.toDateTime() }}", '2026-07-01T10:00:00.000Z'],
		['meeting', "={{ new Date('2026-07-01T12:00:00Z') }}", '2026-07-01T12:00:00.000Z'],
	];

	test.each(MEANT)('does not change %s: %s', async (field, given, expected) => {
		const all = await Promise.all(ZONES.map(async (zone) => await harness.writeAndRead('defined', field, given, zone)));
		expect(all).toEqual([expected, expected]);
	});

	test.each([
		['America/Los_Angeles', '2026-11-21'],
		// 14 hours ahead of UTC, so noon in UTC is on the next day.
		['Pacific/Kiritimati', '2026-11-22'],
	])('of %s decides which day the start of a day is', async (zone, expected) => {
		const given = "={{ DateTime.fromISO('2026-11-21T12:00:00Z').startOf('day') }}";
		expect(await harness.writeAndRead('defined', 'due', given, zone)).toBe(expected);
	});

	test('does not change the values of an item', async () => {
		const item = { due: '2026-11-21', meeting: '2026-07-01T12:00:00' };
		for (const timezone of ZONES) {
			const { json } = await harness.run('create', { items: [{ ...newDeal(), ...item }], timezone });
			expect(await harness.readFields(json()[0]!.id)).toMatchObject({ due: '2026-11-21', meeting: '2026-07-01T10:00:00.000Z' });
		}
	});
});

test('what Get Many read of every field type is written back by Update as it is', async () => {
	const values = Object.fromEntries(VALUES.map(([field, given]) => [field, given]));
	const created = await harness.run('create', { parameters: { columns: defined({ ...newDeal(), ...values }) } });
	expect(created.error?.message).toBeUndefined();
	const { id } = created.json()[0]!;
	const before = await harness.readFields(id);
	const result = await harness.run('update', {
		items: [{ id, ver: 0, created: '2026-11-21', modified: '2026-11-21', ...before }],
		parameters: { recordId: id },
	});
	expect(result.error?.message).toBeUndefined();
	expect(await harness.readFields(id)).toEqual(before);
	expect(result.hints[0]).toContain('these fields are read-only');
});
