/** Parameters as operations read them, the filter builder, hints, and what a second try knows. */
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { getMany } from '../../nodes/DataPlatform/actions/record/getMany.ts';
import { filterOf } from '../../nodes/DataPlatform/execution/filterInput.ts';
import { hintText } from '../../nodes/DataPlatform/execution/hints.ts';
import { ItemResults } from '../../nodes/DataPlatform/execution/itemResults.ts';
import {
	holdsExpression,
	parameterText,
	pickedApplication,
} from '../../nodes/DataPlatform/execution/locator.ts';
import { restoreProgress, saveProgress } from '../../nodes/DataPlatform/execution/retryProgress.ts';
import { isTool, requireNumber, RunContext } from '../../nodes/DataPlatform/execution/run.ts';
import { InputError } from '../../nodes/DataPlatform/transport/errors.ts';
import { httpResponse, fakePlatform } from './stubPlatform.cts';

function thrownBy(action: () => unknown): unknown {
	try {
		action();
	} catch (error) {
		return error;
	}
	throw new Error('Nothing was thrown');
}

describe('a number within bounds', () => {
	test.each([
		[1, 1],
		[10, 10],
		['5', 5],
		['1.25', 1.25],
		[' 5 ', 5],
		[1.5, 1.5],
		['1.5', 1.5],
		['-0.5', -0.5],
	])('%j is %d', (value, number) => {
		expect(requireNumber(value, 'Size', { min: -1, max: 10 })).toBe(number);
	});

	test.each<[unknown, string]>([
		[0, 'not 0'],
		[11, 'not 11'],
		['', 'not ""'],
		[' ', 'not " "'],
		['five', 'not "five"'],
		['0x2', 'not "0x2"'],
		['1e1', 'not "1e1"'],
		['2.', 'not "2."'],
		['1 2', 'not "1 2"'],
		[NaN, 'not NaN'],
		[undefined, 'it is empty'],
		[null, 'not null'],
		[true, 'not true'],
		[[5], 'not [5]'],
	])('%j is none', (value, given) => {
		const error = thrownBy(() => requireNumber(value, 'Size', { min: 1, max: 10 }));
		expect(error).toBeInstanceOf(InputError);
		expect(error).toMatchObject({
			message: `'Size' must be a number from 1 to 10, ${given}`,
			field: 'Size',
			hint: "Correct 'Size', or the expression in it.",
		});
	});

	test.each([1.5, '1.5', Infinity, NaN])('%j is no whole one', (value) => {
		const bounds = { min: 1, isWhole: true };
		expect(requireNumber(' 2 ', 'Size', bounds)).toBe(2);
		expect(thrownBy(() => requireNumber(value, 'Size', bounds))).toMatchObject({
			message: expect.stringContaining("'Size' must be a whole number at least 1, not"),
		});
	});

	test('with a lower bound only', () => {
		expect(requireNumber(1e9, 'Size', { min: 1 })).toBe(1e9);
		expect(thrownBy(() => requireNumber(0, 'Size', { min: 1 }))).toMatchObject({
			message: "'Size' must be a number at least 1, not 0",
		});
	});
});

describe('the text of a parameter', () => {
	const url = (value: string) => ({ __rl: true, mode: 'url', value });
	const PLATFORM = 'https://platform.example.com';
	test.each<[parameter: string, value: unknown, text: string]>([
		['table', ' people ', 'people'],
		['table', 7, '7'],
		['table', undefined, ''],
		['table', null, ''],
		['table', { __rl: true, mode: 'list', value: ' people ' }, 'people'],
		['table', { __rl: true, mode: 'id', value: 5 }, '5'],
		['table', url(''), ''],
		['table', url(`${PLATFORM}/apps/sales/tables/people/data/x`), 'people'],
		['table', url(`${PLATFORM}/tables/people`), 'people'],
		['table', url('/apps/sales/tables/a%20b?x=/tables/other'), 'a b'],
		['table', url(`${PLATFORM}/#/apps/sales/tables/people`), 'people'],
		['table', url('tables:///tables/people'), 'people'],
		['table', url(`${PLATFORM}/tables/%zz`), '%zz'],
		['application', url(`${PLATFORM}/apps/sales/tables/people`), 'sales'],
		['application', url(`${PLATFORM}/apps/sales`), 'sales'],
		['application', url(`${PLATFORM}/apps/apps/apps/tables/people`), 'apps'],
		['recordId', url(`${PLATFORM}/apps/sales/tables/people/data/x?y=1`), 'x'],
		['recordId', url(`${PLATFORM}/tables/people/data/x`), 'x'],
		['recordId', url(`${PLATFORM}/data/data/x`), 'x'],
		['recordId', url(`${PLATFORM}/data/x/`), 'x'],
		['recordId', url(`${PLATFORM}/data/x/history`), 'x'],
		['table', url('https://tables/tables/people'), 'people'],
		['table', url('HTTPS://a.b/tables/%20people%20'), 'people'],
		['application', url('https://apps/apps/sales'), 'sales'],
		['application', url('https://x/apps/sales?to=/apps/other/tables/x'), 'sales'],
		['application', url('svn+ssh2.x-y://apps/apps/sales'), 'sales'],
		['application', url('x/https://y/apps/sales'), 'sales'],
	])('%s %j is %s', (parameter, value, text) => {
		expect(parameterText(value, parameter, 'Table')).toBe(text);
	});

	test.each<[unknown, string, string]>([
		[
			url(`${PLATFORM}/people`),
			"The address in 'Table' does not lead to one",
			'Addresses look like https://',
		],
		[
			url('https://tables/people'),
			"The address in 'Table' does not lead to one",
			'Addresses look like https://',
		],
		[
			url('h://tables/tables/'),
			"The address in 'Table' does not lead to one",
			'Addresses look like https://',
		],
		[true, "'Table' must be text, not a boolean", 'Correct the expression in it.'],
		[NaN, "'Table' must be text, not NaN", 'Correct the expression in it.'],
		[{ a: 1 }, "'Table' must be text, not an object", 'Correct the expression in it.'],
		[['a'], "'Table' must be text, not a list", 'Correct the expression in it.'],
	])('%j is none', (value, message, hint) => {
		const error = thrownBy(() => parameterText(value, 'table', 'Table'));
		expect(error).toBeInstanceOf(InputError);
		expect(error).toMatchObject({ message, field: 'Table', hint: expect.stringContaining(hint) });
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

	test('an application may be left empty, but not by its expression', () => {
		expect(pickedApplication('sales', '=x')).toBe('sales');
		expect(pickedApplication('', '')).toBeUndefined();
		const address = { __rl: true, mode: 'url', value: `${PLATFORM}/apps/sales/tables/people` };
		expect(pickedApplication(address, address)).toBe('sales');
		expect(thrownBy(() => pickedApplication(true, ''))).toMatchObject({
			message: "'Application' must be text, not a boolean",
		});
		expect(thrownBy(() => pickedApplication('', '=x'))).toMatchObject({
			message: "'Application' is empty: its expression returned nothing",
			field: 'Application',
			hint: expect.stringContaining('Correct the expression.'),
		});
	});
});

/** A run whose parameters are given; those in `raw` are expressions. */
function runOf(
	parameters: Record<string, unknown>,
	raw: Record<string, unknown> = {},
	type = 'dataPlatform',
) {
	const { connection, sent } = fakePlatform(() =>
		httpResponse(200, { data: { id: 't', items: [{ name: 'a', type: 'text' }] } }),
	);
	const context = {
		getInputData: () => [{ json: { a: 1 } }],
		getNode: () => ({ type, parameters }),
		getNodeParameter: (
			name: string,
			_index: number,
			fallback: unknown,
			options?: { rawExpressions?: boolean },
		) => (options?.rawExpressions ? (raw[name] ?? parameters[name]) : parameters[name]) ?? fallback,
	} as unknown as IExecuteFunctions;
	return { run: new RunContext(context, connection), sent };
}

describe('a parameter', () => {
	const { run } = runOf(
		{
			name: ' Fox ',
			empty: ' ',
			nothing: null,
			on: true,
			off: false,
			odd: 'yes',
			number: 5,
			list: 'a, b,,c',
		},
		{ empty: '=x', list: '=y', missing: '=z' },
	);
	test.each<[string, () => unknown, unknown]>([
		['a text', () => run.text('name', 'Name', 0), 'Fox'],
		['an optional text', () => run.optionalText('nothing', 'Name', 0), ''],
		['a text that narrows', () => run.narrowingText('name', 'Name', 0), 'Fox'],
		['a text that narrows nothing', () => run.narrowingText('nothing', 'Name', 0), ''],
		['a switch that is on', () => run.flag('on', 'On', 0), true],
		['a switch that is off', () => run.flag('off', 'On', 0), false],
		['a switch that is not set', () => run.flag('nothing', 'On', 0), false],
		['names', () => run.names('list', 'List', 0), ['a', 'b', 'c']],
		['no names', () => run.names('nothing', 'List', 0), []],
		['a name of digits', () => run.names('number', 'List', 0), ['5']],
		[
			'a text that narrows, of an expression',
			() => run.narrowingText('list', 'List', 0),
			'a, b,,c',
		],
		['a default', () => run.option('options.size', 0, 5), 5],
		['a reader', () => run.readerOf(0)('nothing'), undefined],
		['a value', () => run.readerOf(0)('name'), ' Fox '],
		['an expression', () => run.isExpression('list'), true],
		['no expression', () => run.isExpression('name'), false],
		['the item', () => run.json(0), { a: 1 }],
		['no item', () => run.json(1), undefined],
	])('%s', (_, read, value) => {
		expect(read()).toEqual(value);
	});

	test.each<[string, () => unknown, object]>([
		[
			'a text that is empty',
			() => run.text('nothing', 'Name', 0),
			{
				message: "'Name' is empty",
				field: 'Name',
				hint: 'Fill it in. If it is an expression, it returned nothing for this item.',
			},
		],
		[
			'an expression that should narrow',
			() => run.narrowingText('empty', 'Name', 0),
			{
				message: "'Name' is empty: its expression returned nothing",
				field: 'Name',
				hint: 'Correct the expression, or remove it.',
			},
		],
		[
			'a switch with another value',
			() => run.flag('odd', 'On', 0),
			{ message: "'On' must be true or false", field: 'On', hint: 'Correct the expression in it.' },
		],
		[
			'a switch whose expression gives nothing',
			() => run.flag('missing', 'On', 0),
			{ message: "'On' must be true or false" },
		],
	])('%s', (_, read, expected) => {
		const error = thrownBy(read);
		expect(error).toBeInstanceOf(InputError);
		expect(error).toMatchObject(expected);
	});

	test('the node of an agent is a tool', () => {
		expect(isTool({ type: 'dataPlatformTool' } as never)).toBe(true);
		expect(isTool({ type: 'Tooling' } as never)).toBe(false);
		expect(runOf({}, {}, 'dataPlatformTool').run.isTool).toBe(true);
	});

	test('a table’s definition is read once in a run', async () => {
		const { run: reading, sent } = runOf({ application: 'a', table: 't' });
		expect(reading.table(0)).toEqual({ application: 'a', table: 't' });
		await reading.definition(reading.table(0));
		await reading.definition(reading.table(0));
		expect(sent).toHaveLength(1);
		await reading.definition({ application: 'b', table: 't' });
		expect(sent).toHaveLength(2);
	});
});

test.each([
	['dataPlatformTool', 250, 200],
	['dataPlatformTool', 200, 200],
	['dataPlatform', 250, 250],
])('Return All of a %s: of %d records %d', async (type, stored, returned) => {
	const { connection } = fakePlatform(({ url }) => {
		const query = new URL(url).searchParams;
		const [skip, limit] = [Number(query.get('skip')), Number(query.get('limit'))];
		const count = Math.min(limit, stored - skip);
		const record = (_: unknown, at: number) => ({ id: `r${skip + at}`, fields: {} });
		return httpResponse(200, { data: Array.from({ length: count }, record) });
	});
	const parameters: IDataObject = { table: 't', filterMode: 'none', returnAll: true, simple: true };
	const { run } = runOf(parameters, {}, type);
	const records = await getMany.execute(new RunContext(run.context, connection), 0);
	const isCapped = stored > returned;
	expect(records).toHaveLength(returned + (isCapped ? 1 : 0));
	const { notice } = (records as IDataObject[]).at(-1)!;
	expect(notice === undefined).toBe(!isCapped);
});

describe('the filter builder', () => {
	const filter = (parameters: Record<string, unknown>) =>
		filterOf((name: string) => parameters[name]);
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
				'conditions.condition': [{ ...isFox, operator: 'exactly' }],
				'groups.group': [{ matchType: 'or', conditions: { condition: [isFox, isFox] } }],
			},
			{
				filter: [
					{ ...isFox, operator: '===' },
					{ filter: [isFox, isFox], filterOperator: 'or' },
				],
				filterOperator: 'and',
			},
		],
	])('%j', (parameters, expected) => {
		expect(filter(parameters as Record<string, unknown>)).toEqual(expected);
	});

	const conditions = (more: object) => ({ filterMode: 'conditions', matchType: 'and', ...more });
	test.each<[object, object]>([
		[
			{},
			{
				message: "'Filter' is none of 'none', 'conditions' and 'json'",
				field: 'Filter',
				hint: expect.stringContaining('Choose it'),
			},
		],
		[
			{ filterMode: 'json' },
			{
				message: "'Filter Tree' is empty",
				field: 'Filter Tree',
				hint: expect.stringContaining('it returned nothing'),
			},
		],
		[{ filterMode: 'json', filterTree: ' ' }, { message: "'Filter Tree' is empty" }],
		[
			{ filterMode: 'json', filterTree: '{' },
			{
				message: "'Filter Tree' is not valid JSON",
				field: 'Filter Tree',
				hint: expect.stringContaining('A filter is'),
			},
		],
		[
			{ filterMode: 'conditions', matchType: 'any' },
			{
				message: "'Match' of the filter is neither 'and' nor 'or'",
				field: 'Match',
				hint: expect.stringContaining('Choose it'),
			},
		],
		[
			conditions({ 'conditions.condition': ['x'] }),
			{ message: expect.stringContaining('Condition 1 of the filter'), field: 'Conditions' },
		],
		[
			conditions({ 'conditions.condition': [isFox, { ...isFox, value: '' }] }),
			{ message: expect.stringContaining('Condition 2 of the filter') },
		],
		[
			conditions({ 'groups.group': [{}] }),
			{
				message: 'Group 1 of the filter has no condition',
				field: 'Groups',
				hint: 'Add a condition to it, or remove the group.',
			},
		],
		[
			conditions({ 'groups.group': [{ matchType: 'x', conditions: { condition: [isFox] } }] }),
			{ message: "'Match' of group 1 of the filter is neither 'and' nor 'or'" },
		],
		[
			conditions({ 'groups.group': [{ matchType: 'or', conditions: { condition: [{}] } }] }),
			{ message: expect.stringContaining('Condition 1 of group 1 of the filter') },
		],
	])('%j is refused', (parameters, expected) => {
		const error = thrownBy(() => filter(parameters as Record<string, unknown>));
		expect(error).toBeInstanceOf(InputError);
		expect(error).toMatchObject(expected);
	});
});

test.each<[Parameters<typeof hintText>[0], string | undefined]>([
	[undefined, undefined],
	['as it is', 'as it is'],
	[{ code: 'chooseApplication' }, "Choose one in 'Application'."],
	[
		{ code: 'useAndConditions', besides: 'savedView' },
		'Leave the saved view out, or use conditions that must all hold.',
	],
	[
		{ code: 'shortenFilter', besides: 'linkedTo' },
		"Leave 'Linked To' out, or use fewer or shorter values.",
	],
	[
		{ code: 'correctQuery', parts: ['filter', 'linkedTo'] },
		"Check 'Filter', 'Linked To': what is named there may have been renamed or deleted.",
	],
	[
		{ code: 'allowWebhookOrigin', origin: 'https://a.example.com' },
		"If this address belongs to your platform, add https://a.example.com to 'Webhook Origins' in the credential, under 'More Settings'.",
	],
	[
		{ code: 'replaceExpiredToken', expires: '2026-11-21T09:30:00.000Z' },
		'The token expired on 2026-11-21 09:30 UTC. Make a new one in the platform and enter it in the credential.',
	],
	[
		{ code: 'useTokenOfType', purpose: 'workflows', types: ['role', 'workflow'], type: 'short' },
		"Starting workflows takes a token of the type 'API Token With Role' or 'Workflow Execution Token'; the credential has a 'Short API Token'.",
	],
	[
		{ code: 'useTokenOfType', purpose: 'data', types: ['jwt'], type: 'other' },
		"Reading and writing data takes a token of the type 'Standard JWT Token'; the credential has a 'other'.",
	],
])('the hint %j', (hint, text) => {
	expect(hintText(hint)).toBe(text);
});

describe('a second try of the node', () => {
	const tryOf = (
		store: IDataObject,
		{
			items = [{ a: 1 }, { a: 2 }] as IDataObject[],
			parameters = { p: 1 },
			runIndex = 0,
			retries = { retryOnFail: true } as { retryOnFail?: boolean; maxTries?: number },
		} = {},
	) =>
		({
			getContext: () => store,
			evaluateExpression: () => runIndex,
			getNode: () => ({ parameters, ...retries }),
			getInputData: () => items.map((json) => ({ json })),
		}) as unknown as IExecuteFunctions;
	const failed = { message: 'no', details: { outcome: 'failed' } };
	const unknown = { message: 'lost', details: { outcome: 'unknown' } };

	function saved(store: IDataObject, isFailed = true) {
		const first = new ItemResults(2);
		first.done(0, [{ json: { id: 'x' } }]);
		first.failed(1, failed);
		saveProgress(tryOf(store), first, isFailed);
	}
	const restored = (
		store: IDataObject,
		more?: Parameters<typeof tryOf>[1],
		retriesUnknown?: boolean,
	) => {
		const second = new ItemResults(2);
		restoreProgress(tryOf(store, more), second, retriesUnknown);
		return [second.hasResult(0), second.hasResult(1)];
	};

	test.each<[string, Parameters<typeof tryOf>[1], boolean]>([
		['with the same input knows what was done', {}, true],
		['with another item does not', { items: [{ a: 1 }, { a: 3 }] }, false],
		['with fewer items does not', { items: [{ a: 1 }] }, false],
		['with items cut elsewhere does not', { items: [{ a: 1, b: 2 }] }, false],
		['with other parameters does not', { parameters: { p: 2 } }, false],
		['in another run does not', { runIndex: 1 }, false],
	])('%s', (_, more, isKnown) => {
		const store: IDataObject = {};
		saved(store);
		expect(restored(store, more)).toEqual([isKnown, false]);
	});

	test('knows nothing after a success, nor where nothing was done', () => {
		const store: IDataObject = {};
		saved(store);
		saved(store, false);
		expect(store).toEqual({});
		saved(store);
		const nothing = new ItemResults(2);
		nothing.failed(0, failed);
		saveProgress(tryOf(store), nothing, true);
		expect(restored(store)).toEqual([false, false]);
	});

	test.each([
		[{}, 0],
		[{ retryOnFail: false, maxTries: 5 }, 0],
		[{ retryOnFail: true }, 2],
		[{ retryOnFail: true, maxTries: 1 }, 1],
		[{ retryOnFail: true, maxTries: 4 }, 3],
		[{ retryOnFail: true, maxTries: 9 }, 4],
	])('with the settings %j it is kept for %i more tries', (retries, more) => {
		const store: IDataObject = {};
		const first = new ItemResults(2);
		first.done(0, [{ json: { id: 'x' } }]);
		const kept = Array.from({ length: 6 }, () => {
			saveProgress(tryOf(store, { retries }), first, true);
			return Object.keys(store).length;
		});
		expect(kept.indexOf(0)).toBe(more);
	});

	test('knows what was done that is of no item', () => {
		const store: IDataObject = {};
		const deleted = [{ json: { outcome: 'deleted' } }];
		const first = new ItemResults(2);
		first.done(0, [{ json: { id: 'x' } }]);
		first.failed(1, failed);
		first.add(deleted);
		saveProgress(tryOf(store), first, true);
		const second = new ItemResults(2);
		restoreProgress(tryOf(store), second);
		expect(second.hasResult(0)).toBe(true);
		expect(second.otherProgress()).toEqual([deleted]);
	});

	test('does what may have been done again only where that does no harm', () => {
		const store: IDataObject = {};
		const first = new ItemResults(2);
		first.failed(0, unknown);
		saveProgress(tryOf(store), first, true);
		expect(restored(store)).toEqual([true, false]);
		expect(restored(store, {}, true)).toEqual([false, false]);
	});
});
