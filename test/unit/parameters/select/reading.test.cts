/** Which records are read, where changes start, and the shape of a record in the output. */
import { Readable } from 'node:stream';
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { clientSettings, createClient } from '../../../../nodes/DataPlatform/run/createClient.ts';
import { keptTables } from '../../../../nodes/DataPlatform/api/table.ts';
import { changeOutput } from '../../../../nodes/DataPlatform/parameters/changes/changes.ts';
import { warnAboutShift, queryHint } from '../../../../nodes/DataPlatform/parameters/select/reading.ts';
import { prefixedName, rawRecord, simplifiedRecord, unprefixedName } from '../../../../nodes/DataPlatform/input/recordOutput.ts';
import { asItems, fakeExecution, fakeRun, locator, runNode, TABLE, type Given } from '../../fakeNode.cts';
import { fieldOf, storedOf, tableOf } from '../../fixtures.cts';
import { ServiceError } from '../../../../nodes/DataPlatform/transport/errors.ts';
import { httpResponse, networkError, pageResponse } from '../../stubPlatform.cts';
import { StubTables } from '../../stubTables.cts';

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

const definitions = { people: { ...tableOf(fieldOf('name'), fieldOf('id')), id: 'people' } };
const stored = { people: { r1: { name: 'Ada', id: '7' }, r2: { name: 'Bob', id: '8' } } };

async function read(operation: string, parameters: INodeParameters, given: Given = {}) {
	const tables = new StubTables(stored, definitions);
	const run = await runNode(operation, { serve: (options) => tables.serve(options), ...given, parameters: { ...TABLE, ...parameters } });
	return { ...run, details: run.error?.context.details as IDataObject | undefined };
}

const isAda = { filterMode: 'conditions', conditions: { condition: [{ field: 'name', operator: 'contains', value: 'Ada' }] } };

describe('which records are read', () => {
	const RECORDS = 'GET apps/sales/tables/people/data';
	const FILTER = 'POST apps/sales/tables/people/data/filter';
	test.each<[string, INodeParameters, string, IDataObject, unknown]>([
		['all', {}, RECORDS, { sort: 'created,id' }, undefined],
		[
			'sorted',
			{ sort: { by: [{ field: ' name ', direction: 'desc' }, { field: 'id' }] } },
			RECORDS,
			{ sort: 'name(desc),id,id' },
			undefined,
		],
		['those of a view', { options: { savedView: ' v1 ' } }, RECORDS, { userFilter: 'v1' }, undefined],
		['those of a filter', isAda, FILTER, {}, { filter: [{ field: 'name', operator: 'contains', value: 'Ada' }], filterOperator: 'and' }],
		['all fields, if an expression chose none', { options: { fieldsToLoad: '={{ undefined }}' } }, RECORDS, {}, undefined],
		['some fields', { options: { fieldsToLoad: 'name, id' } }, FILTER, {}, { loadFields: ['name', 'id'] }],
	])('%s', async (_, parameters, request, query, body) => {
		const { sent, error } = await read('record: getAll', parameters);
		expect(error).toBeUndefined();
		expect(sent.at(-1)).toMatchObject({ request, query });
		expect(sent.at(-1)!.body).toEqual(body);
	});

	const twoItems = asItems({ name: 'Ada' }, { name: 'Bob' });
	test.each<[operation: string, items: Given['items'], parameters: INodeParameters, isNoted: boolean]>([
		...['getAll', 'count', 'exportToFile'].map((operation): [string, Given['items'], INodeParameters, boolean] => [
			operation,
			twoItems,
			{},
			true,
		]),
		['getAll', asItems({}), {}, false],
		['getAll', twoItems, { options: { savedView: '={{ $json.name }}' } }, false],
	])('%s behind several items says that it ran as many times', async (operation, items, parameters, isNoted) => {
		const { hints, error } = await read(`record: ${operation}`, parameters, { items });
		expect(error).toBeUndefined();
		const message =
			"The same query ran 2 times, once for each item of the input. If once is enough, turn on 'Execute Once' in the node's settings.";
		expect(hints.filter((hint) => hint.message.includes('same query'))).toEqual(isNoted ? [expect.objectContaining({ message })] : []);
	});

	test.each<[tree: unknown, isError: boolean]>([
		['[]', true],
		['={{ [] }}', true],
		['={{ ({ filter: [] }) }}', true],
		['={{ "[]" }}', true],
		['{"filter":[],"filterOperator":"and"}', false],
	])('the filter %s: empty never means all, except as the editor shows it', async (filterTree, isError) => {
		const { error, json } = await read('record: getAll', { filterMode: 'json', filterTree: filterTree as string });
		expect(error?.message).toBe(isError ? "'Filter Tree' is empty" : undefined);
		expect(json).toHaveLength(isError ? 0 : 2);
	});

	const SORT = "Choose field and direction under 'Sort', or correct the expression in it.";
	test.each<[INodeParameters, string, string, string]>([
		[{ sort: { by: [{ field: ' ' }] } }, "A field under 'Sort' has no name", 'Sort', SORT],
		[{ sort: { by: [{ field: 'a(desc)' }] } }, "No field is called 'a(desc)'. Nothing was sent", 'Sort', SORT],
		[{ sort: { by: [{ field: 'a,b' }] } }, "No field is called 'a,b'. Nothing was sent", 'Sort', SORT],
		[
			{ sort: { by: [{ field: 'a', direction: 'up' }] } },
			`'Direction' under 'Sort' must be one of 'asc', 'desc', not "up"`,
			'Sort',
			'Choose it from the list, or correct the expression in it.',
		],
		[
			{ sort: { by: [{ field: ['a'] }] } },
			"'Field Name or ID' under 'Sort' must be text, not a list",
			'Sort',
			'Correct the expression in it.',
		],
		[
			{ options: { savedView: '={{ undefined }}' } },
			"'Saved View Name or ID' is empty: its expression returned nothing",
			'Saved View Name or ID',
			'Correct the expression, or remove it.',
		],
		[
			{ options: { fieldsToLoad: [{ a: 1 }] } },
			"'Output Field Names or IDs' must be text, not an object",
			'Output Field Names or IDs',
			'Correct the expression in it.',
		],
	])('%j is rejected', async (parameters, message, field, hint) => {
		const { error, details, requests } = await read('record: getAll', parameters);
		expect(error).toMatchObject({ message, description: hint });
		expect(details).toMatchObject({ field });
		expect(requests).toEqual([]);
	});

	const none = { filter: [], filterOperator: 'and' as const };
	const some = { ...none, filter: [{ field: 'a', operator: 'eq', value: 'b' }] };
	const isGone = 'what is named there may have been renamed or deleted.';
	const aValue = 'a value may not fit its field, or';
	test.each<[Parameters<typeof queryHint>[0], string | undefined]>([
		[{}, undefined],
		[{ filter: none, sort: '', savedView: '', fields: [] }, undefined],
		[{ filter: some }, `Check 'Filter': ${aValue} ${isGone}`],
		[{ sort: 'a' }, `Check 'Sort': ${isGone}`],
		[{ savedView: 'v' }, `Check 'Saved View Name or ID': ${isGone}`],
		[{ linkedTo: { id: 'a', tableId: 't', field: 'f' } }, `Check 'Linked To': ${isGone}`],
		[{ fields: ['a'] }, `Check 'Output Field Names or IDs': ${isGone}`],
		[{ fields: ['a'], filter: some }, `Check 'Filter', 'Output Field Names or IDs': ${aValue} ${isGone}`],
	])('if the platform rejects %j: %s', (query, hint) => {
		expect(queryHint(query)).toBe(hint);
	});

	test('the user is warned about a table that changes while it is read', async () => {
		const { run, seen } = await fakeRun({});
		warnAboutShift(run, 5);
		expect(seen.hints).toEqual([
			{
				message:
					'The table changed while it was read. All 5 records are in the output once; with a sort order, one that moved in it meanwhile may be missing.',
				type: 'warning',
				location: 'outputPane',
			},
		]);
	});
});

describe('a record in the output', () => {
	const record = storedOf({ id: 'r1', ver: 3, fields: { name: 'Ada', id: '7', field_id: '8' } });
	const TIMES = { created: '2026-01-01T00:00:00.501Z', modified: '2026-01-01T00:00:00.501Z', ver: 3 };

	test('simplified', () => {
		expect(simplifiedRecord(record)).toEqual({ ...{ id: 'r1', name: 'Ada', field_id: '7', field_field_id: '8' }, ...TIMES });
	});

	test('as the platform has it', () => {
		expect(rawRecord(record)).toEqual({ id: 'r1', fields: record.fields, ...TIMES });
	});

	test.each([simplifiedRecord, rawRecord])('has only what is known: %o', (toOutput) => {
		expect(toOutput({ id: 'r1' })).toEqual({ id: 'r1' });
		expect(Object.keys(toOutput({ id: 'r1' }))).toEqual(['id']);
	});

	test('without reserved names is not copied field by field', () => {
		expect(simplifiedRecord({ fields: { name: 'Ada', age: 1 } })).toEqual({ name: 'Ada', age: 1 });
	});

	test.each([...[...['id', 'created', 'modified', 'ver', 'error', 'event', 'outcome', 'mergedInto']], ...['before', 'after', 'uploaded']])(
		'a field called %s gets a prefix',
		(name) => {
			expect(prefixedName(name)).toBe(`field_${name}`);
			expect(prefixedName(`field_${name}`)).toBe(`field_field_${name}`);
			expect(unprefixedName(`field_${name}`)).toBe(name);
			expect(unprefixedName(name)).toBe(name);
		},
	);

	test.each(['name', 'ids', 'an_id', 'field_name', 'field_', 'xfield_id', 'Field_id'])('a field called %s does not', (name) => {
		expect(prefixedName(name)).toBe(name);
		expect(unprefixedName(name)).toBe(name);
	});

	test('simplified or not, nothing else', async () => {
		const { error } = await read('record: get', { recordId: locator('r1'), simple: '={{ 5 }}' });
		expect(error?.message).toBe("'Simplify' must be true or false, not 5");
	});
});

describe('changes', () => {
	test.each<[string, INodeParameters, string[]]>([
		['from the beginning', { startFrom: 'beginning' }, ['created r1', 'created r2']],
		['from a date before them', { startFrom: 'date', startDate: '2025-12-31T00:00:00Z' }, ['created r1', 'created r2']],
		['from a date after them', { startFrom: 'date', startDate: '2026-01-01T00:00:01Z' }, []],
		[
			'from a date in the workflow’s zone, an hour before them there',
			{ startFrom: 'date', startDate: '2026-01-01T00:30:00' },
			['created r1', 'created r2'],
		],
		['from now', { startFrom: 'now' }, []],
	])('%s', async (_, parameters, expected) => {
		const { json, hints, error } = await read('record: getChanges', parameters);
		expect(error).toBeUndefined();
		const changes = json[0]!.changes as IDataObject[];
		expect(changes.map(({ event, id }) => `${event as string} ${id as string}`)).toEqual(expected);
		expect(hints).toEqual([]);
		const { cursor } = json[0]!;
		const later = await read('record: getChanges', { ...parameters, cursor: cursor as string });
		expect(later.json[0]!.changes).toEqual([]);
		expect(later.hints).toEqual([]);
	});

	test('that come after the start are returned with its cursor', async () => {
		const { json } = await read('record: getChanges', { startFrom: 'now' });
		const changed = new StubTables(stored, definitions);
		Object.assign(changed.tables.people![1]!, { modified: '2026-06-01T00:00:00Z', ver: 1 });
		const later = await read('record: getChanges', { cursor: json[0]!.cursor as string }, { serve: (options) => changed.serve(options) });
		expect(later.json[0]!.changes).toMatchObject([{ event: 'updated', id: 'r2' }]);
	});

	test.each<[string, INodeParameters, string[]]>([
		['gives nothing', { cursor: '={{ null }}', startFrom: 'now' }, ["No 'Cursor': started from now."]],
		[
			'gives nothing, from a date',
			{ cursor: '={{ null }}', startFrom: 'date', startDate: '2026-01-01T00:00:00Z' },
			["No 'Cursor': started from 2026-01-01T00:00:00.000Z."],
		],
		['gives nothing, from the beginning', { cursor: '={{ null }}', startFrom: 'beginning' }, ["No 'Cursor': started from the beginning."]],
		['is not there', { startFrom: 'beginning' }, []],
	])('with a cursor that %s', async (_, parameters, notices) => {
		const { hints } = await read('record: getChanges', parameters);
		expect(hints.map(({ message }) => message)).toEqual(notices);
	});

	test('of other records need another cursor', async () => {
		const { json } = await read('record: getChanges', { startFrom: 'now' });
		const { error } = await read('record: getChanges', { ...isAda, cursor: json[0]!.cursor as string });
		expect(error?.message).toMatch(/^'Cursor' /);
	});

	test.each<[INodeParameters, string, string]>([
		[{ startFrom: 'date', startDate: 'soon' }, `'Date' must be a date, not "soon"`, 'Date'],
		...['2026-02-30', '2026-02-30T00:00:00Z', '11/23/2026', '-1', '2026'].map((startDate): [INodeParameters, string, string] => [
			{ startFrom: 'date', startDate },
			`'Date' must be ${startDate.startsWith('2026-02') ? 'a day that exists' : 'a date'}, not "${startDate}"`,
			'Date',
		]),
		[{ startFrom: 'date', startDate: '' }, "'Date' must be a date, it is empty", 'Date'],
		[{ startFrom: 'later' }, `'Start From' must be one of 'date', 'now', 'beginning', not "later"`, 'Start From'],
	])('%j is rejected', async (parameters, message, field) => {
		const { error, details } = await read('record: getChanges', parameters);
		expect(error?.message).toBe(message);
		expect(details).toMatchObject({ field });
		if (field === 'Date') {
			expect(error?.description).toBe("Choose a date, or write it as an expression such as {{ '2026-11-21T00:00:00Z' }}.");
		}
	});

	test('from a date in the future: the error says it in both zones, and an expression that works', async () => {
		// n8n's date picker drops the Z.
		const { error, details } = await read('record: getChanges', { startFrom: 'date', startDate: '9999-11-28T09:16:00' });
		expect(error?.message).toMatch(
			/^'Date' is in the future: 9999-11-28 09:16 in Europe\/Vienna is 9999-11-28T08:16:00Z, and it is 20\S+Z now$/,
		);
		expect(error?.description).toContain("A date without a zone is in the workflow's, Europe/Vienna.");
		expect(details).toMatchObject({ field: 'Date' });
		const expression = /\{\{.*\}\}/.exec(error!.description!)![0];
		const { json } = await read('record: getChanges', { startFrom: 'date', startDate: `=${expression}` });
		expect(json).toMatchObject([{ changes: [] }]);
		const { cursor } = (await read('record: getChanges', { startFrom: 'now' })).json[0]!;
		const kept = await read('record: getChanges', { startFrom: 'date', startDate: '9999-11-28T09:16:00', cursor: cursor as string });
		expect(kept.error).toBeUndefined();
	});

	test('show the chosen fields, or all', () => {
		const change = { kind: 'updated' as const, record: storedOf({ id: 'r1', fields: { a: 1, b: 2 } }) };
		const shape = ({ fields }: IDataObject) => ({ ...(fields as IDataObject) });
		const output = (names: string[], state = '') => changeOutput(shape, names, state)(change);
		expect(output([])).toEqual({ event: 'updated', a: 1, b: 2 });
		expect(output([], 'b')).toEqual({ event: 'updated', a: 1 });
		expect(output(['b', 'c', 'constructor'])).toEqual({ ...{ event: 'updated', b: 2, c: null }, constructor: null });
	});
});

describe('the credential', () => {
	const base = { baseUrl: 'https://platform.example.com' };
	test('is read into settings', () => {
		expect(
			clientSettings({
				...base,
				webhookOrigins: 'https://hooks.example.com',
				token: ' secret ',
				accessType: 'jwt',
				requestsPerMinute: '90',
			}),
		).toMatchObject({ ...base, webhookOrigins: 'https://hooks.example.com', tokenType: 'jwt', requestsPerMinute: 90 });
	});

	test('may leave all out', () => {
		expect(clientSettings({})).toMatchObject({ ...{ baseUrl: '', webhookOrigins: '', tokenType: 'role' }, ...{ requestsPerMinute: 0 } });
		expect(clientSettings({}).redactToken('a text')).toBe('a text');
		expect(clientSettings({ requestsPerMinute: '' }).requestsPerMinute).toBe(0);
	});

	test('tells accounts apart by the platform and the token', () => {
		const accounts = [{ ...base, token: 'a' }, { ...base, token: ' a ' }, { ...base, token: 'b' }, { token: 'a' }].map(
			(credential) => clientSettings(credential).account,
		);
		expect(accounts[1]).toBe(accounts[0]);
		expect(new Set(accounts).size).toBe(3);
	});

	test('has its token taken out of texts, without the spaces around it', () => {
		const { redactToken } = clientSettings({ token: ' a-long-secret-token ' });
		expect(redactToken('sent (a-long-secret-token) along')).not.toContain('secret');
	});

	test.each([-1, 1.5, 'many'])('%j requests per minute are none', (requestsPerMinute) => {
		expect(() => clientSettings({ requestsPerMinute })).toThrow(
			expect.objectContaining({ message: expect.stringMatching(/^'Requests per Minute' must be a whole number at least 0, /) }),
		);
	});
});

describe('the API client', () => {
	const LIMITS = { timeout: 7, maxRetryWait: 3 };
	const request = { method: 'GET', path: '/api/v2/apps', retryMode: 'read' } as const;

	test('has the limits that are given, in seconds', async () => {
		const { context, seen } = fakeExecution({ plain: {}, serve: () => httpResponse(200, { data: [] }) });
		await (await createClient(context, LIMITS)).request(request);
		expect(seen.options[0]).toMatchObject({ timeout: 7000 });
	});

	test('gives up if it would wait too long, and says what to do', async () => {
		const wait = (seconds: number) => ({
			plain: {},
			serve: () => httpResponse(429, { errors: [{ message: 'slower' }] }, { 'retry-after': String(seconds) }),
		});
		const { context, seen } = fakeExecution(wait(4));
		const client = await createClient(context, LIMITS, 'Ask for less.');
		await expect(client.request(request)).rejects.toMatchObject({ message: expect.stringContaining('slower') });
		expect(seen.requests).toHaveLength(1);
	});

	test.each([
		['that asks to wait', () => httpResponse(429, '', { 'retry-after': '1' })],
		['that fails', () => httpResponse(502, '')],
		['that hangs up', () => networkError('ECONNRESET')],
	])('without time for retries asks a platform %s only once', async (_, serve) => {
		const { context, seen } = fakeExecution({ plain: {}, serve });
		const client = await createClient(context, { timeout: 10, maxRetryWait: 0 });
		await expect(client.request(request)).rejects.toBeInstanceOf(ServiceError);
		expect(seen.options).toMatchObject([{ timeout: 10_000 }]);
	});

	test('sends files of other addresses without the token', async () => {
		const fileUrl = 'https://files.example.com/a.txt';
		const file = [{ fileId: 'f', fileName: 'a.txt', fileUrl }];
		const {
			error,
			withoutToken,
			stored: files,
		} = await runNode('attachment: download', {
			parameters: { ...TABLE, recordId: locator(ID), fileField: 'file' },
			serve: ({ url }) =>
				url === fileUrl
					? { ...httpResponse(200, ''), body: Readable.from([Buffer.from('content')]) }
					: httpResponse(200, { data: { id: ID, fields: { file } } }),
		});
		expect(error).toBeUndefined();
		expect(withoutToken).toBe(1);
		expect(files).toMatchObject([{ name: 'a.txt', text: 'content' }]);
	});
});

test('a table’s definition is read once for several items', async () => {
	keptTables.clear();
	const { requests } = await read(
		'record: count',
		{ filterMode: 'conditions', conditions: { condition: [{ field: 'name', operator: 'eq', value: 'Ada' }] } },
		{ items: asItems({}, {}) },
	);
	expect(requests.filter((request) => request === 'GET apps/sales/tables/people')).toHaveLength(1);
});

test.each(['get', 'delete'])('%s: a record that the platform says is not there costs no further request', async (operation) => {
	const missing = { errors: [{ id: 'notFoundException', message: `There is no record '${ID}'` }] };
	const serve = () => httpResponse(404, missing);
	const { error, requests } = await read(`record: ${operation}`, { recordId: locator(ID) }, { serve });
	expect(error?.message).toContain(ID);
	expect(requests).toEqual([expect.stringMatching(/ apps\/sales\/tables\/people\/data\/[\w-]{36}$/)]);
});

test.each([
	['getAll', { returnAll: true }],
	['exportToFile', {}],
])('%s: a record that moves between two pages is worth a warning, one that stays is not', async (operation, parameters) => {
	const rows = Array.from({ length: 1200 }, (_, at) => ({ id: `r${at}`, fields: {} }));
	const hintsOf = async (nextRows: typeof rows) => {
		const tables = new StubTables(stored, definitions);
		const { error, hints } = await read(`record: ${operation}`, parameters, {
			serve: (options) => {
				const { pathname, searchParams } = new URL(options.url);
				if (!pathname.endsWith('/data')) return tables.serve(options);
				return pageResponse(options, searchParams.has('skip') ? nextRows : rows);
			},
		});
		expect(error).toBeUndefined();
		return hints;
	};
	expect(await hintsOf(rows)).toEqual([]);
	expect(await hintsOf([rows[1100]!, ...rows.toSpliced(1100, 1)])).toMatchObject([{ message: expect.stringContaining('1199 records') }]);
});
