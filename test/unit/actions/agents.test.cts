/** What an agent gets from its tools: lists that it can take, however many records there are. */
import { withoutExpressions } from '../../../nodes/DataPlatform/parameters/defineOperation.ts';
import { runNode, TABLE, type Given } from '../fakeNode.cts';
import { httpResponse, pageResponse, type Serve } from '../stubPlatform.cts';

const records = (count: number) =>
	Array.from({ length: count }, (_, at) => {
		const time = new Date(Date.UTC(2026, 0, 1) + at * 1000).toISOString();
		return { id: `r${at}`, created: time, modified: time, ver: 0, fields: { name: `n${at}` } };
	});

/** A table of so many records. */
const serveTable = (count: number): Serve => {
	const all = records(count);
	return (options) => {
		const { pathname, searchParams } = new URL(options.url);
		if (!pathname.includes('/data')) return httpResponse(200, { data: { id: 't', items: [] } });
		const isNewestFirst = searchParams.get('sort')?.includes('(desc)') ?? false;
		return pageResponse(options, isNewestFirst ? [...all].reverse() : all);
	};
};

const AGENT: Given['node'] = { type: 'dataPlatformTool' };

test.each<[who: string, count: number, listed: number, hasNotice: boolean, node: Given['node']]>([
	['an agent', 201, 200, true, AGENT],
	['an agent', 200, 200, false, AGENT],
	['a workflow', 201, 201, false, undefined],
])('Get Many, Return All: %s, of %i records %i', async (_, count, listed, hasNotice, node) => {
	const { json } = await runNode('record: getAll', {
		parameters: { ...TABLE, returnAll: true },
		serve: serveTable(count),
		...(node && { node }),
	});
	expect(json.filter(({ id }) => id)).toHaveLength(listed);
	expect(json.filter(({ notice }) => notice)).toEqual(
		hasNotice ? [{ notice: 'Only the first 200 records are listed, and there are more: use a filter.' }] : [],
	);
});

test.each([200, 201, 202])('Get Many: an agent gets as many as its Limit, %i', async (limit) => {
	const { json } = await runNode('record: getAll', { ...{ parameters: { ...TABLE, limit }, serve: serveTable(300), node: AGENT } });
	expect(json.map(({ id }) => id)).toEqual(Array.from({ length: limit }, (_, at) => `r${at}`));
});

test.each<[who: string, listed: number, node: Given['node']]>([
	['an agent', 200, AGENT],
	['a workflow', 201, undefined],
])('Get Changes: %s, of 201 changes %i', async (_, listed, node) => {
	const { json } = await runNode('record: getChanges', { parameters: { ...TABLE }, serve: serveTable(201), ...(node && { node }) });
	expect(json[0]!.changes).toHaveLength(listed);
	expect(json[0]!.hasMore).toBe(listed < 201);
});

test('Delete Many: of 201 records, 200 are listed', async () => {
	const table = serveTable(201);
	const { json } = await runNode('record: deleteMany', {
		parameters: { ...TABLE, filterMode: 'none', allowAll: true, options: { dryRun: true } },
		serve: async (options, count) =>
			options.url.includes('/count') ? httpResponse(200, { data: { count: 201 } }) : await table(options, count),
		node: AGENT,
	});
	expect(json[0]).toMatchObject({ matched: 201, notListed: 1 });
	expect(json[0]!.records).toHaveLength(200);
});

test.each([
	['record: exportToFile', "Use 'Get Many' with a filter and a limit."],
	['record: importFromFile', "Use 'Create or Update'."],
	['attachment: upload', 'Put this operation into a workflow that the agent calls.'],
	['attachment: download', "Use 'Get': the record has the names of its files."],
])('%s: an agent learns that it has no files, and what to do instead', async (operation, hint) => {
	const { error, requests } = await runNode(operation, { parameters: TABLE, serve: serveTable(1), node: AGENT });
	expect(error?.message).toContain("Agents get no file contents, and can't hand over files");
	expect(error?.description).toBe(hint);
	expect(requests).toEqual([]);
});

const CONDITION = { filterMode: 'conditions', conditions: { condition: [{ field: 'name', operator: 'eq', value: '' }] } };

test.each<[operation: string, parameters: object, said: string]>([
	['record: get', { recordId: { __rl: true, mode: 'id', value: '' } }, 'Fill it in.'],
	['record: getAll', CONDITION, "Give it a value; to find empty fields use the operator 'Is Empty' (empty)."],
	['record: getAll', { limit: 'ten' }, "Correct 'Limit'."],
	['record: getAll', { limit: {} }, "Correct 'Limit'."],
	['record: getAll', { filterMode: 'some' }, 'Choose it from the list.'],
])('an agent reads what to pass, nothing about expressions: %s, %j', async (operation, parameters, said) => {
	const given = { parameters: { ...TABLE, ...parameters }, serve: serveTable(1) };
	const hintOf = async (node?: Given['node']) => (await runNode(operation, { ...given, ...(node && { node }) })).error?.description;
	expect(await hintOf(AGENT)).toBe(said);
	expect(await hintOf()).toContain('expression');
});

test.each([
	['Correct the expression, or remove it.', 'Pass another value.'],
	['Choose it from the list, or correct the expression in it.', 'Choose it from the list.'],
	['Fill it in. If it is an expression, it returned nothing for this item.', 'Fill it in.'],
	['It is safe to run it again.', 'It is safe to run it again.'],
])('of %j an agent reads %j', (hint, read) => {
	expect(withoutExpressions(hint)).toBe(read);
});
