/** Parameters: their entries in the editor, how their values are read, and what is rejected. */
import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { ParameterReader, type Parameter } from '../../../nodes/DataPlatform/parameterKinds/parameter.ts';
import { anyValue, choice, date, flag, list, names, number, text, wholeNumber } from '../../../nodes/DataPlatform/parameterKinds/kinds.ts';
import { holdsExpression, requireNumber } from '../../../nodes/DataPlatform/parameterKinds/requireValue.ts';
import { filterOf } from '../../../nodes/DataPlatform/parameters/select/filter.ts';
import { OptionGroup, shownParameters } from '../../../nodes/DataPlatform/parameters/defineOperation.ts';
import {
	application,
	chosenApplication,
	itemRecordId,
	recordId,
	recordKeyOf,
	table,
} from '../../../nodes/DataPlatform/parameters/select/table.ts';
import { InputError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { fakeRun } from '../fakeNode.cts';
import { thrownBy } from '../fixtures.cts';

function expectRefused(read: () => unknown, expected: object) {
	const error = thrownBy(read);
	expect(error).toBeInstanceOf(InputError);
	expect(error).toMatchObject(expected);
}

describe('a number within bounds', () => {
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
	])('%j is %d', (value, expected) => {
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
	])('%j is not one', (value, given) => {
		expectRefused(() => requireNumber(value, SIZE, { min: 1, max: 10 }), {
			message: `'Size' must be a number from 1 to 10, ${given}`,
			field: 'Size',
			hint: "Correct 'Size', or the expression in it.",
		});
	});

	test.each([1.5, '1.5', 1e300, Infinity, NaN])('%j is no whole one', (value) => {
		const bounds = { min: 1, isWhole: true };
		expect(requireNumber(' 2 ', SIZE, bounds)).toBe(2);
		expectRefused(() => requireNumber(value, SIZE, bounds), {
			message: expect.stringContaining("'Size' must be a whole number at least 1, not"),
		});
	});

	test('with a lower bound only', () => {
		expect(requireNumber(1e9, SIZE, { min: 1 })).toBe(1e9);
		expectRefused(() => requireNumber(0, SIZE, { min: 1 }), { message: "'Size' must be a number at least 1, not 0" });
	});
});

const PLATFORM = 'https://platform.example.com';
const url = (value: string) => ({ __rl: true, mode: 'url', value });
const inTable = (parameter: Parameter<string, unknown>, value: unknown) => parameter.in({ [parameter.name]: value }, { label: 'List' });

describe('what is picked in a locator', () => {
	test.each<[parameter: Parameter<string, unknown>, value: unknown, name: string]>([
		[table, ' people ', 'people'],
		[table, 7, '7'],
		[table, { __rl: true, mode: 'list', value: ' people ' }, 'people'],
		[table, { __rl: true, mode: 'id', value: 5 }, '5'],
		[application, undefined, ''],
		[application, null, ''],
		[application, url(''), ''],
		[table, url(`${PLATFORM}/apps/sales/tables/people/data/x`), 'people'],
		[table, url(`${PLATFORM}/tables/people`), 'people'],
		[table, url('/apps/sales/tables/a%20b?x=/tables/other'), 'a b'],
		[table, url(`${PLATFORM}/#/apps/sales/tables/people`), 'people'],
		[table, url('tables:///tables/people'), 'people'],
		[table, url(`${PLATFORM}/tables/%zz`), '%zz'],
		[application, url(`${PLATFORM}/apps/sales/tables/people`), 'sales'],
		[application, url(`${PLATFORM}/apps/sales`), 'sales'],
		[application, url(`${PLATFORM}/apps/apps/apps/tables/people`), 'apps'],
		[application, url(`${PLATFORM}/apps/ui/apps/sales/tables/people`), 'sales'],
		[table, url(`${PLATFORM}/apps/tables/tables/data/data/apps`), 'data'],
		[recordId, url(`${PLATFORM}/apps/tables/tables/data/data/apps`), 'apps'],
		[recordId, url(`${PLATFORM}/apps/sales/tables/people/data/x?y=1`), 'x'],
		[itemRecordId, url(`${PLATFORM}/apps/sales/tables/people/data/x?y=1`), 'x'],
		[recordId, url(`${PLATFORM}/tables/people/data/x`), 'x'],
		[recordId, url(`${PLATFORM}/data/data/x`), 'x'],
		[recordId, url(`${PLATFORM}/data/x/`), 'x'],
		[recordId, url(`${PLATFORM}/data/x/history`), 'x'],
		[table, url('https://tables/tables/people'), 'people'],
		[table, url('HTTPS://a.b/tables/%20people%20'), 'people'],
		[application, url('https://apps/apps/sales'), 'sales'],
		[application, url('https://x/apps/sales?to=/apps/other/tables/x'), 'sales'],
		[application, url('svn+ssh2.x-y://apps/apps/sales'), 'sales'],
		[application, url('x/https://y/apps/sales'), 'sales'],
		[recordId, url(`${PLATFORM}/?v=/apps/a/tables/b/data/c#/apps/sales/tables/people/data/x?tab=2`), 'x'],
	])('%s %j is %s', (parameter, value, expected) => {
		expect(inTable(parameter, value)).toBe(expected);
	});

	test.each<[unknown, string, string]>([
		[url(`${PLATFORM}/people`), "The address in 'Table' does not lead to one", 'Addresses look like https://'],
		[url('https://tables/people'), "The address in 'Table' does not lead to one", 'Addresses look like https://'],
		[url('h://tables/tables/'), "The address in 'Table' does not lead to one", 'Addresses look like https://'],
		[url(`${PLATFORM}?next=/tables/people`), "The address in 'Table' does not lead to one", 'Addresses look like https://'],
		[
			url(`${PLATFORM}/login?next=/apps/sales/tables/people`),
			"The address in 'Table' does not lead to one",
			'Addresses look like https://',
		],
		[true, "'Table' must be text, not a boolean", 'Correct the expression in it.'],
		[NaN, "'Table' must be text, not NaN", 'Correct the expression in it.'],
		[{ a: 1 }, "'Table' must be text, not an object", 'Correct the expression in it.'],
		[['a'], "'Table' must be text, not a list", 'Correct the expression in it.'],
		['', "'Table' is empty", 'Fill it in.'],
	])('%j is not one', async (value, message, hint) => {
		const { run } = await fakeRun({ table: value as never });
		expectRefused(() => table.of(run, 0), { message, field: 'Table', hint: expect.stringContaining(hint) });
	});

	test('an application may be left empty, but not by its expression', async () => {
		const chosen = async (value: unknown) => {
			const { run } = await fakeRun({ application: value as never });
			return () => chosenApplication(run, 0);
		};
		expect((await chosen('={{ "sales" }}'))()).toBe('sales');
		expect((await chosen(''))()).toBeUndefined();
		expect((await chosen(url(`${PLATFORM}/apps/sales/tables/people`)))()).toBe('sales');
		expectRefused(await chosen(true), { message: "'Application' must be text, not a boolean" });
		for (const nothing of ['={{ "" }}', { __rl: true, mode: 'id', value: '={{ undefined }}' }]) {
			expectRefused(await chosen(nothing), {
				message: "'Application' is empty: its expression returned nothing",
				field: 'Application',
				hint: 'Correct the expression, or remove it.',
			});
		}
	});

	test.each<[IDataObject, string]>([
		[{ application: 'sales', table: 'people', recordId: 'r1' }, '["sales","people","r1"]'],
		[{ table: 'people', recordId: 'r1' }, '[null,"people","r1"]'],
		[{ table: 'people', recordId: '0F8FAD5B-D9CB-469F-A165-70867728950E' }, '[null,"people","0f8fad5b-d9cb-469f-a165-70867728950e"]'],
	])('%j is the record %s', async (parameters, key) => {
		const { run } = await fakeRun(parameters);
		expect(recordKeyOf(run, 0)).toBe(key);
	});

	test.each<[IDataObject, string]>([
		[{ table: 'people', recordId: '' }, "'Record' is empty"],
		[{ table: '', recordId: 'r1' }, "'Table' is empty"],
	])('%j is not a record', async (parameters, message) => {
		const { run } = await fakeRun(parameters);
		expect(() => recordKeyOf(run, 0)).toThrow(message);
	});
});

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
const day = date('day', { label: 'Day' });
const field = text('field', { label: 'Field', preset: '*' });
const order = choice('order', { label: 'Order', choices: { up: 'Up', down: 'Down' }, preset: 'up' });
const value = anyValue('value', { label: 'Value' });
const sorts = list('sorts', { label: 'Sorts', add: 'Add Sort', entry: ['by', 'Sort'], parts: [field, order, value] });
const fields = [name, key, view, columns, keys, watched];

type Given = Record<string, unknown>;

/** Reads parameters that are stored as given. */
async function readerOf(given: Given, inOptions: Given = {}) {
	const { context } = await fakeRun({ ...given, options: inOptions } as IDataObject);
	const group = new OptionGroup<'size' | 'share'>('rare', 'Rare', 'Rare ones', [size, share]);
	const { shown } = shownParameters(fields, [on, way, day, sorts, group]);
	return new ParameterReader<string>(
		shown,
		(...reading) => context.getNodeParameter(...reading),
		() => context.getTimezone(),
	);
}

describe('a value', () => {
	test.each<[Parameter<string, unknown>, unknown, unknown]>([
		[name, ' Fox ', 'Fox'],
		[name, 5, '5'],
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
	])('%s: %j is %j', async (parameter, given, expected) => {
		const reader = await readerOf({ [parameter.name]: given });
		expect(parameter.of(reader, 0)).toEqual(expected);
	});

	test.each<[Parameter<string, unknown>, unknown, unknown]>([
		[on, false, false],
		[way, 'fast', 'fast'],
		[day, '2026-11-21T09:00:00', Date.UTC(2026, 10, 21, 8)],
		[day, '2026-11-21T09:00:00Z', Date.UTC(2026, 10, 21, 9)],
		[day, '={{ new Date(Date.UTC(2026, 10, 21, 9)) }}', Date.UTC(2026, 10, 21, 9)],
		[sorts, {}, []],
		[sorts, { by: [{ field: 'a' }] }, [{ field: 'a' }]],
		[sorts, { by: { field: 'a' } }, [{ field: 'a' }]],
	])('the option %s: %j is %j', async (parameter, given, expected) => {
		const reader = await readerOf({}, { [parameter.name]: given });
		expect(parameter.of(reader, 0)).toEqual(expected);
	});

	test('is the preset that the node shows if not set', async () => {
		const reader = await readerOf({});
		expect([on.of(reader, 0), way.of(reader, 0), size.of(reader, 0)]).toEqual([true, 'slow', 3]);
		expect([name.of(reader, 0), columns.of(reader, 0), sorts.of(reader, 0)]).toEqual(['', [], []]);
		const { run } = await fakeRun({});
		expect(size.with({ preset: 4 }).of(run, 0)).toBe(4);
		const { shown } = shownParameters([size.with({ preset: 5 })]);
		const other = new ParameterReader<'size'>(
			shown,
			(_, __, preset) => preset,
			() => 'UTC',
		);
		expect(size.of(other, 0)).toBe(5);
	});

	test('of an option in a group is read where it is stored', async () => {
		const reader = await readerOf({}, { rare: { settings: { size: 7, share: '={{ 0.5 }}' } } });
		expect([size.of(reader, 0), share.of(reader, 0)]).toEqual([7, 0.5]);
		expect(reader.isExpression(share)).toBe(true);
		expect(reader.expressions().map(({ path }) => path)).toEqual(['options.rare.settings.share']);
		expect([reader.raw(share), reader.raw(on)]).toEqual(['={{ 0.5 }}', null]);
	});

	test('in an entry of a list', () => {
		const entry = { field: undefined, order: undefined, value: 7 };
		expect([field.in(entry, sorts), order.in(entry, sorts), value.in(entry, sorts)]).toEqual([...['*', 'up', 7]]);
		expectRefused(() => order.in({ order: 'left' }, sorts), {
			message: `'Order' under 'Sorts' must be one of 'up', 'down', not "left"`,
			field: 'Sorts',
			hint: 'Choose it from the list, or correct the expression in it.',
		});
	});

	const EMPTY = 'Fill it in. If it is an expression, it returned nothing for this item.';
	const NOTHING = 'Correct the expression, or remove it.';
	const CORRECT = 'Correct the expression in it.';
	test.each<[Parameter<string, unknown>, unknown, string, string]>([
		[key, ' ', "'Key' is empty", EMPTY],
		[keys, ' , ', "'Keys' is empty", EMPTY],
		[view, '={{ " " }}', "'View' is empty: its expression returned nothing", NOTHING],
		[watched, '={{ undefined }}', "'Watched' is empty: its expression returned nothing", NOTHING],
		[columns, [{ a: 1 }], "'Columns' must be text, not an object", CORRECT],
		[name, true, "'Name' must be text, not a boolean", CORRECT],
	])('%s %j is rejected', async (parameter, given, message, hint) => {
		const reader = await readerOf({ [parameter.name]: given });
		expectRefused(() => parameter.of(reader, 0), { message, hint, field: parameter.label });
	});

	const WAY = 'Choose it from the list, or correct the expression in it.';
	const DAY = 'Choose a date, or write it as 2026-11-21T00:00:00Z.';
	test.each<[Parameter<string, unknown>, unknown, string, string]>([
		[on, 'yes', `'On' must be true or false, not "yes"`, CORRECT],
		[on, '={{ undefined }}', "'On' must be true or false, it is empty", CORRECT],
		[way, '={{ undefined }}', "'Way' must be one of 'fast', 'slow', it is empty", WAY],
		[way, ['fast'], `'Way' must be one of 'fast', 'slow', not ["fast"]`, WAY],
		[way, 'constructor', `'Way' must be one of 'fast', 'slow', not "constructor"`, WAY],
		[day, 'soon', `'Day' must be a date, not "soon"`, DAY],
		[day, '', "'Day' must be a date, it is empty", DAY],
		[sorts, { by: ['x'] }, `'Sorts' must be a list of entries, not ["x"]`, CORRECT],
		[sorts, '={{ undefined }}', "'Sorts' is empty: its expression returned nothing", 'Correct the expression, or remove it.'],
	])('the option %s %j is rejected', async (parameter, given, message, hint) => {
		const reader = await readerOf({}, { [parameter.name]: given });
		expectRefused(() => parameter.of(reader, 0), { message, hint, field: parameter.label });
	});
});

describe('the editor’s entry', () => {
	test.each<[Parameter<string, unknown>, Partial<INodeProperties>]>([
		[name, { displayName: 'Name', name: 'name', type: 'string', default: '' }],
		[view, { type: 'options', typeOptions: { loadOptionsMethod: 'getViews' } }],
		[columns, { type: 'multiOptions', default: [] }],
		[on, { type: 'boolean', default: true }],
		[size, { type: 'number', typeOptions: { minValue: 1, maxValue: 9, numberPrecision: 0 } }],
		[share, { type: 'number', typeOptions: { minValue: 1 } }],
		[
			way,
			{
				type: 'options',
				default: 'slow',
				options: [
					{ name: 'Fast', value: 'fast' },
					{ name: 'Slow', value: 'slow', description: 'Takes its time' },
				],
			},
		],
		[
			sorts,
			{
				type: 'fixedCollection',
				placeholder: 'Add Sort',
				typeOptions: { multipleValues: true },
				options: [{ displayName: 'Sort', name: 'by', values: [field.property, order.property, value.property] }],
			},
		],
	])('of %s', (parameter, expected) => {
		expect(parameter.property).toMatchObject(expected);
	});

	test('of another operation differs in what it says', () => {
		const shown = size.with({ show: { name: ['x'] } });
		const changed = shown.with({ preset: 5, description: 'Larger', hide: { key: [''] } });
		expect(changed.property).toEqual({
			...size.property,
			...{ default: 5, description: 'Larger' },
			displayOptions: { show: { name: ['x'] }, hide: { key: [''] } },
		});
		expect(key.with({ required: false }).in({ key: '' }, sorts)).toBe('');
		expect(size.property).not.toHaveProperty('displayOptions');
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
])('%j holds an expression: %s', (raw, expected) => {
	expect(holdsExpression(raw)).toBe(expected);
});

describe('the filter builder', () => {
	const filter = async (parameters: object) => {
		const { run } = await fakeRun(parameters as IDataObject);
		return () => filterOf(run, 0);
	};
	const isFox = { field: 'name', operator: 'eq', value: 'Fox' };
	test.each<[object, object]>([
		[{ filterMode: 'none' }, { filter: [], filterOperator: 'and' }],
		[
			{ filterMode: 'json', filterTree: `[${JSON.stringify(isFox)}]` },
			{ filter: [isFox], filterOperator: 'and' },
		],
		[
			{ filterMode: 'json', filterTree: [isFox] },
			{ filter: [isFox], filterOperator: 'and' },
		],
		[
			{ filterMode: 'conditions', matchType: 'or' },
			{ filter: [], filterOperator: 'or' },
		],
		[
			{
				filterMode: 'conditions',
				matchType: 'and',
				conditions: { condition: [{ ...isFox, operator: 'exactly' }] },
				groups: { group: [{ matchType: 'or', conditions: { condition: [isFox, isFox] } }] },
			},
			{
				filter: [
					{ ...isFox, operator: '===' },
					{ filter: [isFox, isFox], filterOperator: 'or' },
				],
				filterOperator: 'and',
			},
		],
	])('%j', async (parameters, expected) => {
		expect((await filter(parameters))()).toEqual(expected);
	});

	const conditions = (more: object) => ({ filterMode: 'conditions', matchType: 'and', ...more });
	test.each<[object, object]>([
		[
			{ filterMode: 'all' },
			{
				message: `'Filter' must be one of 'none', 'conditions', 'json', not "all"`,
				field: 'Filter',
				hint: expect.stringContaining('Choose it'),
			},
		],
		[
			{ filterMode: 'json', filterTree: '={{ undefined }}' },
			{ message: "'Filter Tree' is empty", field: 'Filter Tree', hint: expect.stringContaining('it returned nothing') },
		],
		[{ filterMode: 'json', filterTree: ' ' }, { message: "'Filter Tree' is empty" }],
		[
			{ filterMode: 'json', filterTree: '{' },
			{ message: "'Filter Tree' is not valid JSON", field: 'Filter Tree', hint: expect.stringContaining('A filter is') },
		],
		[
			{ filterMode: 'conditions', matchType: 'any' },
			{ message: `'Match' must be one of 'and', 'or', not "any"`, field: 'Match', hint: expect.stringContaining('Choose it') },
		],
		[
			conditions({ conditions: { condition: ['x'] } }),
			{ message: `'Conditions' must be a list of entries, not ["x"]`, field: 'Conditions' },
		],
		[
			conditions({ conditions: { condition: [isFox, { ...isFox, value: '' }] } }),
			{ message: expect.stringContaining('Condition 2 of the filter') },
		],
		[
			conditions({ groups: { group: [{}] } }),
			{ message: 'Group 1 of the filter has no condition', field: 'Groups', hint: 'Add a condition to it, or remove the group.' },
		],
		[
			conditions({ groups: { group: [{ matchType: 'x', conditions: { condition: [isFox] } }] } }),
			{ message: `'Match' under 'Groups' must be one of 'and', 'or', not "x"` },
		],
		[
			conditions({ groups: { group: [{ matchType: 'or', conditions: { condition: [{}] } }] } }),
			{ message: expect.stringContaining('Condition 1 of group 1 of the filter') },
		],
	])('%j is rejected', async (parameters, expected) => {
		expectRefused(await filter(parameters), expected);
	});
});
