/** Parameters: their entries in the editor, how their values are read, and what is rejected. */
import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { ParameterReader, type Parameter } from '../../../nodes/DataPlatform/parameterKinds/parameter.ts';
import {
	anyValue,
	choice,
	flag,
	list,
	names,
	number,
	startTime,
	text,
	wholeNumber,
} from '../../../nodes/DataPlatform/parameterKinds/kinds.ts';
import { holdsExpression, requireNumber } from '../../../nodes/DataPlatform/parameterKinds/requireValue.ts';
import { filterOf } from '../../../nodes/DataPlatform/parameters/select/filter.ts';
import { OptionGroup, shownParameters } from '../../../nodes/DataPlatform/parameters/defineOperation.ts';
import { recordKeyOf } from '../../../nodes/DataPlatform/parameters/select/records.ts';
import { application, chosenApplication, itemRecordId, recordId, table } from '../../../nodes/DataPlatform/parameters/select/table.ts';
import { InputError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { fakeRun } from '../fakeNode.cts';
import { thrownBy } from '../fixtures.cts';

const CORRECT = 'Correct the expression in it.';
const NOTHING = 'Correct the expression, or remove it.';
const CHOOSE = 'Choose it from the list, or correct the expression in it.';

function expectRefused(read: () => unknown, expected: object) {
	const error = thrownBy(read);
	expect(error).toBeInstanceOf(InputError);
	expect(error).toMatchObject(expected);
}

describe('a number', () => {
	const SIZE = { label: 'Size' };
	test.each([
		[1, 1],
		[10, 10],
		['5', 5],
		['1.25', 1.25],
		[' 5 ', 5],
		[1.5, 1.5],
		['1.5', 1.5],
		['-0.5', -0.5],
	])('from -1 to 10 may be %j, which is read as %d', (value, expected) => {
		expect(requireNumber(value, SIZE, { min: -1, max: 10 })).toBe(expected);
	});

	test.each<[unknown, string]>([
		[0, 'not 0'],
		[11, 'not 11'],
		['', 'it is empty'],
		[' ', 'not " "'],
		['five', 'not "five"'],
		['0x2', 'not "0x2"'],
		['1e1', 'not "1e1"'],
		['2.', 'not "2."'],
		['1 2', 'not "1 2"'],
		[NaN, 'not NaN'],
		[undefined, 'it is empty'],
		[null, 'it is empty'],
		[true, 'not true'],
		[[5], 'not [5]'],
	])('from 1 to 10 may not be %j, and the error says: %s', (value, given) => {
		expectRefused(() => requireNumber(value, SIZE, { min: 1, max: 10 }), {
			message: `'Size' must be a number from 1 to 10, ${given}`,
			field: 'Size',
			hint: "Correct 'Size', or the expression in it.",
		});
	});

	test.each([1.5, '1.5', 1e300, Infinity, NaN])('that must be whole may be 2, but not %d', (value) => {
		const bounds = { min: 1, isWhole: true };
		expect(requireNumber(' 2 ', SIZE, bounds)).toBe(2);
		expectRefused(() => requireNumber(value, SIZE, bounds), {
			message: expect.stringContaining("'Size' must be a whole number at least 1, not"),
		});
	});

	test('with a lower bound only may be large, but not below the bound', () => {
		expect(requireNumber(1e9, SIZE, { min: 1 })).toBe(1e9);
		expectRefused(() => requireNumber(0, SIZE, { min: 1 }), { message: "'Size' must be a number at least 1, not 0" });
	});
});

const PLATFORM = 'https://platform.example.com';
const url = (value: string) => ({ __rl: true, mode: 'url', value });
/** Reads a value as an entry of a list has it. */
const inList = (parameter: Parameter<string, unknown>, value: unknown) => parameter.in({ [parameter.name]: value }, { label: 'List' });

describe('what is chosen in a locator', () => {
	test.each<[parameter: Parameter<string, unknown>, value: unknown, name: string]>([
		[table, ' people ', 'people'],
		[table, 7, '7'],
		[table, { __rl: true, mode: 'list', value: ' people ' }, 'people'],
		[table, { __rl: true, mode: 'id', value: 5 }, '5'],
		[application, undefined, ''],
		[application, null, ''],
		[itemRecordId, ' x ', 'x'],
		// An import key may begin or end with a space.
		[recordId, ' x ', ' x '],
		[recordId, { __rl: true, mode: 'id', value: ' x ' }, ' x '],
		[recordId, url(` ${PLATFORM}/data/x `), 'x'],
	])('%s: %j is read as "%s"', (parameter, value, expected) => {
		expect(inList(parameter, value)).toBe(expected);
	});

	test.each<[parameter: Parameter<string, unknown>, address: string, name: string]>([
		[application, '', ''],
		[table, `${PLATFORM}/apps/sales/tables/people/data/x`, 'people'],
		[table, `${PLATFORM}/tables/people`, 'people'],
		[table, '/apps/sales/tables/a%20b?x=/tables/other', 'a b'],
		[table, `${PLATFORM}/#/apps/sales/tables/people`, 'people'],
		[table, 'tables:///tables/people', 'people'],
		[table, `${PLATFORM}/tables/%zz`, '%zz'],
		[application, `${PLATFORM}/apps/sales/tables/people`, 'sales'],
		[application, `${PLATFORM}/apps/sales`, 'sales'],
		[application, `${PLATFORM}/apps/apps/apps/tables/people`, 'apps'],
		[application, `${PLATFORM}/apps/ui/apps/sales/tables/people`, 'sales'],
		[table, `${PLATFORM}/apps/tables/tables/data/data/apps`, 'data'],
		[recordId, `${PLATFORM}/apps/tables/tables/data/data/apps`, 'apps'],
		[recordId, `${PLATFORM}/apps/sales/tables/people/data/x?y=1`, 'x'],
		[itemRecordId, `${PLATFORM}/apps/sales/tables/people/data/x?y=1`, 'x'],
		[recordId, `${PLATFORM}/tables/people/data/x`, 'x'],
		[recordId, `${PLATFORM}/data/data/x`, 'x'],
		[recordId, `${PLATFORM}/data/x/`, 'x'],
		[recordId, `${PLATFORM}/data/x/history`, 'x'],
		[table, 'https://tables/tables/people', 'people'],
		[table, 'HTTPS://a.b/tables/%20people%20', 'people'],
		[application, 'https://apps/apps/sales', 'sales'],
		[application, 'https://x/apps/sales?to=/apps/other/tables/x', 'sales'],
		[application, 'svn+ssh2.x-y://apps/apps/sales', 'sales'],
		[application, 'x/https://y/apps/sales', 'sales'],
		[application, `${PLATFORM}/app/sales/schema/people?recordId=x`, 'sales'],
		[application, `${PLATFORM}/app/sales`, 'sales'],
		[table, `${PLATFORM}/app/sales/schema/a%20b?recordId=x`, 'a b'],
		[table, `${PLATFORM}/apps/sales/schemas/people/data/?limit=5`, 'people'],
		[table, `${PLATFORM}/#/app/sales/schema/people/list?view=2&recordId=x`, 'people'],
		[recordId, `${PLATFORM}/app/sales/schema/people?recordId=a%20b`, 'a b'],
		[recordId, `${PLATFORM}/app/sales/schema/people/?view=2&recordId=x&tab=3#top`, 'x'],
		[recordId, `${PLATFORM}/app/sales/schema/people/list/2?recordId=x`, 'x'],
		[recordId, `${PLATFORM}/#/app/sales/schema/people?recordId=x&recordIds=y`, 'x'],
		[recordId, `${PLATFORM}/apps/sales/schemas/people/data/x`, 'x'],
		[recordId, `${PLATFORM}/?v=/apps/a/tables/b/data/c#/apps/sales/tables/people/data/x?tab=2`, 'x'],
	])('%s: the address "%s" leads to "%s"', (parameter, address, expected) => {
		expect(inList(parameter, url(address))).toBe(expected);
	});

	const NO_TABLE = "The address in 'Table' does not lead to one";
	test.each<[value: unknown, message: string, hint: string]>([
		[url(`${PLATFORM}/people`), NO_TABLE, 'Addresses look like https://'],
		[url('https://tables/people'), NO_TABLE, 'Addresses look like https://'],
		[url('h://tables/tables/'), NO_TABLE, 'Addresses look like https://'],
		[url(`${PLATFORM}?next=/tables/people`), NO_TABLE, 'Addresses look like https://'],
		[url(`${PLATFORM}/login?next=/apps/sales/tables/people`), NO_TABLE, 'Addresses look like https://'],
		[url(`${PLATFORM}/schema?recordId=x`), NO_TABLE, 'Addresses look like https://'],
		[true, "'Table' must be text, not a boolean", CORRECT],
		[NaN, "'Table' must be text, not NaN", CORRECT],
		[{ a: 1 }, "'Table' must be text, not an object", CORRECT],
		[['a'], "'Table' must be text, not a list", CORRECT],
		['', "'Table' is empty", 'Fill it in.'],
		[' ', "'Table' is empty", 'Fill it in.'],
	])('is rejected as a table if it is %j: %s', async (value, message, hint) => {
		const { run } = await fakeRun({ table: value as never });
		expectRefused(() => table.of(run, 0), { message, field: 'Table', hint: expect.stringContaining(hint) });
	});

	const chosen = async (value: unknown) => {
		const { run } = await fakeRun({ application: value as never });
		return () => chosenApplication(run, 0);
	};
	test.each<[value: unknown, application: string | undefined]>([
		['={{ "sales" }}', 'sales'],
		['', undefined],
		[url(`${PLATFORM}/apps/sales/tables/people`), 'sales'],
	])('may be left empty for an application: %j is %s', async (value, expected) => {
		expect((await chosen(value))()).toBe(expected);
	});

	const empty = { message: "'Application' is empty: its expression returned nothing", field: 'Application', hint: NOTHING };
	test.each<[value: unknown, error: object]>([
		[true, { message: "'Application' must be text, not a boolean" }],
		['={{ "" }}', empty],
		[{ __rl: true, mode: 'id', value: '={{ undefined }}' }, empty],
	])('is rejected as an application if it is %j: %j', async (value, error) => {
		expectRefused(await chosen(value), error);
	});

	test.each<[IDataObject, string]>([
		[
			{ application: 'sales', table: 'people', recordId: '0f8fad5b-d9cb-469f-a165-70867728950e' },
			'["sales","people","0f8fad5b-d9cb-469f-a165-70867728950e"]',
		],
		[{ table: 'people', recordId: '0F8FAD5B-D9CB-469F-A165-70867728950E' }, '[null,"people","0f8fad5b-d9cb-469f-a165-70867728950e"]'],
	])('with the parameters %j is the record %s', async (parameters, key) => {
		const { run } = await fakeRun(parameters);
		expect(await recordKeyOf(run, 0)).toBe(key);
	});

	test.each<[IDataObject, string]>([
		[{ table: 'people', recordId: '' }, "'Record' is empty"],
		[{ table: 'people', recordId: '  ' }, "'Record' is empty"],
		[{ table: '', recordId: 'r1' }, "'Table' is empty"],
	])('with the parameters %j is rejected as a record: %s', async (parameters, message) => {
		const { run } = await fakeRun(parameters);
		await expect(recordKeyOf(run, 0)).rejects.toThrow(message);
	});
});

// Parameters of every kind, as an operation might have them.
const name = text('name', { label: 'Name' });
const key = text('key', { label: 'Key', required: true });
const view = text('view', { label: 'View', narrows: true, loads: { loadOptionsMethod: 'getViews' } });
const columns = names('columns', { label: 'Columns' });
const keys = names('keys', { label: 'Keys', required: true });
const watched = names('watched', { label: 'Watched', narrows: true });
const on = flag('on', { label: 'On', preset: true });
const size = wholeNumber('size', { label: 'Size', min: 1, max: 9, preset: 3 });
const share = number('share', { label: 'Share', min: 0.5, editorMin: 1, preset: 1 });
const way = choice('way', { label: 'Way', choices: { fast: 'Fast', slow: ['Slow', 'Takes its time'] }, preset: 'slow' });
const day = startTime('day', { label: 'Day' });
const field = text('field', { label: 'Field', preset: '*' });
const order = choice('order', { label: 'Order', choices: { up: 'Up', down: 'Down' }, preset: 'up' });
const value = anyValue('value', { label: 'Value' });
const sorts = list('sorts', { label: 'Sorts', add: 'Add Sort', entry: ['by', 'Sort'], parts: [field, order, value] });
const fields = [name, key, view, columns, keys, watched];

/** Reads parameters from a node that has stored these values, and these under its options. */
async function readerOf(stored: Record<string, unknown>, options: Record<string, unknown> = {}) {
	const { context } = await fakeRun({ ...stored, options } as IDataObject);
	const group = new OptionGroup<'size' | 'share'>('rare', 'Rare', 'Rare ones', [size, share]);
	const { shown } = shownParameters(fields, [on, way, day, sorts, group]);
	return new ParameterReader<string>(
		shown,
		(...reading) => context.getNodeParameter(...reading),
		() => context.getTimezone(),
	);
}

describe('a parameter', () => {
	afterEach(() => jest.restoreAllMocks());

	test.each<[Parameter<string, unknown>, value: unknown, read: unknown]>([
		[name, ' Fox ', 'Fox'],
		[name, 5, '5'],
		[name, 'constructor', 'constructor'],
		[name, '={{ undefined }}', ''],
		[key, 'k', 'k'],
		[view, '', ''],
		[view, '={{ "v" }}', 'v'],
		[columns, 'a, b,,c', ['a', 'b', 'c']],
		[columns, ['a', 5], ['a', '5']],
		[columns, 5, ['5']],
		[columns, '={{ undefined }}', []],
		[watched, [], []],
		[watched, ['={{ "a" }}'], ['a']],
	])('%s with the value %j is read as %j', async (parameter, given, expected) => {
		const reader = await readerOf({ [parameter.name]: given });
		expect(parameter.of(reader, 0)).toEqual(expected);
	});

	test.each<[Parameter<string, unknown>, value: unknown, read: unknown]>([
		[on, false, false],
		[way, 'fast', 'fast'],
		[day, '2026-11-21T09:00:00', Date.UTC(2026, 10, 21, 8)],
		[day, '2026-11-21T09:00:00Z', Date.UTC(2026, 10, 21, 9)],
		[day, '={{ new Date(Date.UTC(2026, 10, 21, 9)) }}', Date.UTC(2026, 10, 21, 9)],
		[sorts, {}, []],
		[sorts, { by: [{ field: 'a' }] }, [{ field: 'a' }]],
		[sorts, { by: { field: 'a' } }, [{ field: 'a' }]],
	])('%s, an option with the value %j, is read as %j', async (parameter, given, expected) => {
		const reader = await readerOf({}, { [parameter.name]: given });
		expect(parameter.of(reader, 0)).toEqual(expected);
	});

	test.each([
		['America/New_York', '2025-11-02T01:30:00', '2025-11-02T05:30:00Z'],
		['America/New_York', '2025-11-02 01:30', '2025-11-02T05:30:00Z'],
		['America/New_York', '2025-11-02T01:30:00-05:00', '2025-11-02T06:30:00Z'],
		['America/New_York', '2025-11-02T00:59:00', '2025-11-02T04:59:00Z'],
		['America/New_York', '2025-11-02T02:00:00', '2025-11-02T07:00:00Z'],
		['UTC', '2025-11-02T01:30:00[America/New_York]', '2025-11-02T05:30:00Z'],
		['Europe/Berlin', '2025-10-26T02:30:00', '2025-10-26T00:30:00Z'],
		['America/Havana', '2025-11-02', '2025-11-02T04:00:00Z'],
		['Asia/Beirut', '2025-10-25T23:30:00', '2025-10-25T20:30:00Z'],
		['Australia/Lord_Howe', '2025-04-06T01:45:00', '2025-04-05T14:45:00Z'],
		// Skipped.
		['America/New_York', '2025-03-09T02:30:00', '2025-03-09T06:30:00Z'],
		['America/New_York', '2025-03-09T02:30:00-05:00', '2025-03-09T07:30:00Z'],
		['America/New_York', '2025-03-09T03:30:00', '2025-03-09T07:30:00Z'],
		['America/Havana', '2025-03-09', '2025-03-09T05:00:00Z'],
		['America/Havana', '2025-03-09T00:30', '2025-03-09T04:30:00Z'],
		['Australia/Lord_Howe', '2025-10-05T0215', '2025-10-04T15:15:00Z'],
	])('in %s, the start %s is the earlier of the readings, %s: it loses no change', (zone, text, utc) => {
		const { shown } = shownParameters([day]);
		const reader = new ParameterReader<'day'>(
			shown,
			() => text,
			() => zone,
		);
		expect(day.of(reader, 0)).toBe(Date.parse(utc));
	});

	const NOON = Date.UTC(2026, 5, 1, 12);
	test.each<[zone: string, value: unknown, offered: string]>([
		// The date picker drops the Z: what was picked may be a time in UTC.
		['America/New_York', '2026-06-01T10:00:00', '2026-06-01T10:00:00Z'],
		['America/New_York', '2026-06-01T10:00:00 ', '2026-06-01T10:00:00Z'],
		['America/New_York', '2026-06-01T13:00:00', '2026-06-01T12:00:00Z'],
		['America/New_York', '2026-06-01T14:00:00Z', '2026-06-01T12:00:00Z'],
		['America/New_York', '2026-06-01T14:00:00Z ', '2026-06-01T12:00:00Z'],
		['America/New_York', '2026-06-01T10:00:00-04:00', '2026-06-01T12:00:00Z'],
		['America/New_York', '2026-06-01T10:00:00[America/New_York]', '2026-06-01T12:00:00Z'],
		['America/New_York', new Date(Date.UTC(2026, 5, 1, 14)), '2026-06-01T12:00:00Z'],
		['Europe/Berlin', '2026-06-01T14:30:00', '2026-06-01T12:00:00Z'],
	])('in %s at noon in UTC, the start %j is in the future; one that is not is offered: %s', (zone, value, offered) => {
		jest.spyOn(Date, 'now').mockReturnValue(NOON);
		const { shown } = shownParameters([day]);
		const reader = new ParameterReader<'day'>(
			shown,
			() => value,
			() => zone,
		);
		expectRefused(() => day.of(reader, 0), {
			message: expect.stringContaining("'Day' is in the future: 2026-06-01 "),
			hint: expect.stringContaining(`write one in UTC as an expression: {{ '${offered}' }}.`),
		});
	});

	test('that is a start may be this very moment', () => {
		jest.spyOn(Date, 'now').mockReturnValue(NOON);
		expect(inList(day, '2026-06-01T12:00:00Z')).toBe(NOON);
	});

	test('that is not set is read as the preset that the node shows, even if the operation has its own', async () => {
		const reader = await readerOf({});
		expect([on.of(reader, 0), way.of(reader, 0), size.of(reader, 0)]).toEqual([true, 'slow', 3]);
		expect([name.of(reader, 0), columns.of(reader, 0), sorts.of(reader, 0)]).toEqual(['', [], []]);
		const { run } = await fakeRun({});
		expect(size.with({ preset: 4 }).of(run, 0)).toBe(4);
		const { shown } = shownParameters([size.with({ preset: 5 })]);
		const unset = (_: string, __: number, preset: unknown) => preset;
		expect(size.of(new ParameterReader<'size'>(shown, unset, () => 'UTC'), 0)).toBe(5);
	});

	test('in a group of options is read where it is stored, and so is its expression', async () => {
		const reader = await readerOf({}, { rare: { settings: { size: 7, share: '={{ 0.5 }}' } } });
		expect([size.of(reader, 0), share.of(reader, 0)]).toEqual([7, 0.5]);
		expect(reader.isExpression(share)).toBe(true);
		expect(reader.expressions().map(({ path }) => path)).toEqual(['options.rare.settings.share']);
		expect([reader.raw(share), reader.raw(on)]).toEqual(['={{ 0.5 }}', null]);
	});

	test('that is not set has a preset that no run can change for the next one', async () => {
		const read = async () => columns.of(await readerOf({}), 0);
		(await read()).push('x');
		expect(await read()).toEqual([]);
	});

	test('in an entry of a list is read, has its preset if not set, and names the list if it is rejected', () => {
		const entry = { field: undefined, order: undefined, value: 7 };
		expect([field.in(entry, sorts), order.in(entry, sorts), value.in(entry, sorts)]).toEqual(['*', 'up', 7]);
		expectRefused(() => order.in({ order: 'left' }, sorts), {
			message: `'Order' under 'Sorts' must be one of 'up', 'down', not "left"`,
			field: 'Sorts',
			hint: CHOOSE,
		});
	});

	const EMPTY = 'Fill it in. If it is an expression, it returned nothing for this item.';
	test.each<[Parameter<string, unknown>, value: unknown, message: string, hint: string]>([
		[key, ' ', "'Key' is empty", EMPTY],
		[keys, ' , ', "'Keys' is empty", EMPTY],
		[view, '={{ " " }}', "'View' is empty: its expression returned nothing", NOTHING],
		[watched, '={{ undefined }}', "'Watched' is empty: its expression returned nothing", NOTHING],
		[columns, [{ a: 1 }], "'Columns' must be text, not an object", CORRECT],
		[name, true, "'Name' must be text, not a boolean", CORRECT],
	])('%s is rejected with the value %j: %s', async (parameter, given, message, hint) => {
		const reader = await readerOf({ [parameter.name]: given });
		expectRefused(() => parameter.of(reader, 0), { message, hint, field: parameter.label });
	});

	const DAY = "Choose a date, or write it as an expression such as {{ '2026-11-21T00:00:00Z' }}.";
	test.each<[Parameter<string, unknown>, value: unknown, message: string, hint: string]>([
		[on, 'yes', `'On' must be true or false, not "yes"`, CORRECT],
		[on, '={{ undefined }}', "'On' must be true or false, it is empty", CORRECT],
		[way, '={{ undefined }}', "'Way' must be one of 'fast', 'slow', it is empty", CHOOSE],
		[way, ['fast'], `'Way' must be one of 'fast', 'slow', not ["fast"]`, CHOOSE],
		[way, 'constructor', `'Way' must be one of 'fast', 'slow', not "constructor"`, CHOOSE],
		[day, 'soon', `'Day' must be a date, not "soon"`, DAY],
		[day, '', "'Day' must be a date, it is empty", DAY],
		[day, ' 2026-02-30', `'Day' must be a day that exists, not " 2026-02-30"`, DAY],
		...['T10:00:00Z[Europe/Berlin]', 'T10:00+01:00[Europe/Berlin]', 'T10:00:00+99:00', ' 10:00:00.5-15'].map(
			(time): [typeof day, string, string, string] => [day, `2025-12-01${time}`, `'Day' must be a date, not "2025-12-01${time}"`, DAY],
		),
		[sorts, { by: ['x'] }, `'Sorts' must be a list of entries, not ["x"]`, CORRECT],
		[sorts, '={{ undefined }}', "'Sorts' is empty: its expression returned nothing", NOTHING],
	])('%s, an option, is rejected with the value %j: %s', async (parameter, given, message, hint) => {
		const reader = await readerOf({}, { [parameter.name]: given });
		expectRefused(() => parameter.of(reader, 0), { message, hint, field: parameter.label });
	});
});

describe('the editor’s entry', () => {
	const ways = [
		{ name: 'Fast', value: 'fast' },
		{ name: 'Slow', value: 'slow', description: 'Takes its time' },
	];
	const sort = { displayName: 'Sort', name: 'by', values: [field.property, order.property, value.property] };
	test.each<[Parameter<string, unknown>, Partial<INodeProperties>]>([
		[name, { displayName: 'Name', name: 'name', type: 'string', default: '' }],
		[view, { type: 'options', typeOptions: { loadOptionsMethod: 'getViews' } }],
		[columns, { type: 'multiOptions', default: [] }],
		[on, { type: 'boolean', default: true }],
		[size, { type: 'number', typeOptions: { minValue: 1, maxValue: 9, numberPrecision: 0 } }],
		[share, { type: 'number', typeOptions: { minValue: 1 } }],
		[way, { type: 'options', default: 'slow', options: ways }],
		[sorts, { type: 'fixedCollection', placeholder: 'Add Sort', typeOptions: { multipleValues: true }, options: [sort] }],
	])('of %s is %j', (parameter, expected) => {
		expect(parameter.property).toMatchObject(expected);
	});

	test('may differ in another operation: preset, description, and when it is shown', () => {
		const shown = size.with({ show: { name: ['x'] } });
		const changed = shown.with({ preset: 5, description: 'Larger', hide: { key: [''] } });
		expect(changed.property).toEqual({
			...size.property,
			...{ default: 5, description: 'Larger' },
			displayOptions: { show: { name: ['x'] }, hide: { key: [''] } },
		});
		expect(key.with({ required: false }).in({ key: '' }, sorts)).toBe('');
		expect(size.property).not.toHaveProperty('displayOptions');
		expect(size.with({ preset: 5 }).property).not.toHaveProperty('displayOptions');
	});
});

test.each<[unknown, boolean]>([
	['={{ $json.a }}', true],
	['a', false],
	['a=', false],
	[{ mode: 'id', value: '=a' }, true],
	[['a', ['=b']], true],
	[{ a: 'b' }, false],
	[null, false],
	[5, false],
])('a value such as %j holds an expression: %s', (raw, expected) => {
	expect(holdsExpression(raw)).toBe(expected);
});

describe('the filter of an operation', () => {
	const filter = async (parameters: object) => {
		const { run } = await fakeRun(parameters as IDataObject);
		return () => filterOf(run, 0);
	};
	const isFox = { field: 'name', operator: 'eq', value: 'Fox' };
	const condition = (...entries: unknown[]) => ({ conditions: { condition: entries } });
	/** The parameters of the filter builder: its conditions, and groups. */
	const built = (conditions: unknown[], ...groups: object[]) => ({
		...{ filterMode: 'conditions', matchType: 'and' },
		...(conditions.length > 0 && condition(...conditions)),
		...(groups.length > 0 && { groups: { group: groups } }),
	});
	const json = (filterTree: unknown) => ({ filterMode: 'json', filterTree });
	const and = (...entries: object[]) => ({ filter: entries, filterOperator: 'and' });
	const or = (...entries: object[]) => ({ filter: entries, filterOperator: 'or' });
	const foxOrFox = { matchType: 'or', ...condition(isFox, isFox) };

	test.each<[what: string, parameters: object, filter: object]>([
		['no filter', { filterMode: 'none' }, and()],
		['JSON as text', json('[{"field":"name","operator":"eq","value":"Fox"}]'), and(isFox)],
		['JSON from an expression', json([isFox]), and(isFox)],
		['no conditions', { filterMode: 'conditions', matchType: 'or' }, or()],
		['conditions and a group', built([{ ...isFox, operator: 'exactly' }], foxOrFox), and({ ...isFox, operator: '===' }, or(isFox, isFox))],
	])('is read from %s', async (_, parameters, expected) => {
		expect((await filter(parameters))()).toEqual(expected);
	});

	const choose = expect.stringContaining('Choose it');
	const says = (part: string) => ({ message: expect.stringContaining(part) });
	const nothing = { message: "'Filter Tree' is empty", field: 'Filter Tree', hint: expect.stringContaining('it returned nothing') };
	const invalid = { message: "'Filter Tree' is not valid JSON", field: 'Filter Tree', hint: expect.stringContaining('A filter is') };
	const mode = { message: `'Filter' must be one of 'none', 'conditions', 'json', not "all"`, field: 'Filter', hint: choose };
	const match = { message: `'Match' must be one of 'and', 'or', not "any"`, field: 'Match', hint: choose };
	const entries = { message: `'Conditions' must be a list of entries, not ["x"]`, field: 'Conditions' };
	const hint = 'Add a condition to it, or remove the group.';
	const noCondition = { message: 'Group 1 of the filter has no condition', field: 'Groups', hint };
	const groupMatch = { message: `'Match' under 'Groups' must be one of 'and', 'or', not "x"` };
	test.each<[what: string, parameters: object, error: object]>([
		['an unknown mode', { filterMode: 'all' }, mode],
		['an expression that returns no JSON', json('={{ undefined }}'), nothing],
		['blank JSON', json(' '), { message: "'Filter Tree' is empty" }],
		['invalid JSON', json('{'), invalid],
		['an unknown way to match', { filterMode: 'conditions', matchType: 'any' }, match],
		['a text for a condition', built(['x']), entries],
		['a second condition without a value', built([isFox, { ...isFox, value: '' }]), says('Condition 2 of the filter')],
		['a group without conditions', built([], {}), noCondition],
		['a group with an unknown way to match', built([], { matchType: 'x', ...condition(isFox) }), groupMatch],
		['an empty condition in a group', built([], { matchType: 'or', ...condition({}) }), says('Condition 1 of group 1 of the filter')],
	])('is rejected with %s', async (_, parameters, error) => {
		expectRefused(await filter(parameters), error);
	});
});
