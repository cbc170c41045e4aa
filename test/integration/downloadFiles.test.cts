/** Record: Get Many with the option Download Files. */
import type { IDataObject } from 'n8n-workflow';
import { picked, runOperation, type OperationRun } from '../support/engine/engine.cts';
import { read, useAttachmentHarness } from './attachmentFixtures.cts';
import { expectErrorItem, pairedIndexes } from './fixtures.cts';

const harness = useAttachmentHarness();

const fileOf = (name: string, content = name) => ({
	filename: name,
	mimetype: 'text/plain',
	filedata: `data:text/plain;base64,${Buffer.from(content).toString('base64')}`,
});

/** Creates documents, by number: the names of their papers and scans. */
async function fill(documents: Record<string, { papers?: string[]; scans?: string[] }>) {
	const client = harness.sandbox.client();
	for (const [number, { papers = [], scans = [] }] of Object.entries(documents)) {
		const files = { papers: papers.map((name) => fileOf(name)), scans: scans.map((name) => fileOf(name)) };
		const fields = { number, title: `Document ${number}`, ...files };
		const { status } = await client.post('/apps/shop/tables/docs/data', { fields });
		expect(status).toBe(201);
	}
	await harness.sandbox.admin.clearRequests();
}

interface Given extends Omit<OperationRun, 'parameters'> {
	/** The option; it is not used if null. */
	files?: IDataObject | null;
	options?: IDataObject;
	parameters?: IDataObject;
}

const run = async ({ files = {}, options = {}, parameters = {}, ...rest }: Given = {}) =>
	await runOperation(
		{ baseUrl: harness.sandbox.baseUrl, token: harness.sandbox.tokens.role },
		{
			...rest,
			parameters: {
				resource: 'record',
				operation: 'getAll',
				application: picked('shop'),
				table: picked('docs'),
				filterMode: 'none',
				sort: { by: [{ field: 'number' }] },
				options: { ...(files && { downloadFiles: { files: { fileFields: ['papers'], ...files } } }), ...options },
				...parameters,
			},
		},
	);

type Result = Awaited<ReturnType<typeof run>>;

/** The names of the files of each item, by output field. */
const namesIn = (result: Result) =>
	result
		.output('Data Platform')
		.map(({ binary }) => Object.fromEntries(Object.entries(binary ?? {}).map(([key, file]) => [key, file.fileName])));

const onlyNumber = (number: string) => ({
	filterMode: 'conditions',
	conditions: { condition: [{ field: 'number', operator: 'eq', value: number }] },
});

describe('the files', () => {
	test('stand beside their records, which are as without the option', async () => {
		await fill({ 2: { papers: ['a.txt', 'b.txt'], scans: ['c.txt'] }, 3: {}, 4: { scans: ['d.txt'] } });
		const result = await run({ files: { fileFields: ['papers', 'scans'] } });
		expect(result.error).toBeUndefined();
		expect(namesIn(result)).toEqual([{}, { data: 'a.txt', data_1: 'b.txt', data_2: 'c.txt' }, {}, { data: 'd.txt' }]);
		const items = result.output('Data Platform');
		expect(pairedIndexes(items)).toEqual([0, 0, 0, 0]);
		expect((await read(items[1], 'data_2')).toString()).toBe('c.txt');
		expect(items[1]!.binary!.data).toMatchObject({ mimeType: 'text/plain', bytes: 5 });
		expect(items[0]).not.toHaveProperty('binary');
		expect(result.json()).toEqual((await run({ files: null })).json());
		expect(await harness.downloads()).toHaveLength(4);
	});

	test.each<[IDataObject, boolean, string[]]>([
		[{ fieldsToLoad: ['title'] }, true, ['created', 'id', 'modified', 'title', 'ver']],
		[{ fieldsToLoad: ['title', 'papers'] }, true, ['created', 'id', 'modified', 'papers', 'title', 'ver']],
		[{ fieldsToLoad: ['title'] }, false, ['created', 'fields', 'id', 'modified', 'ver']],
	])('come along if the output shows only %j, simplified: %j', async (options, simple, keys) => {
		await fill({ 2: { papers: ['a.txt'] } });
		const result = await run({ options, parameters: { simple, ...onlyNumber('2') } });
		expect(namesIn(result)).toEqual([{ data: 'a.txt' }]);
		const [json] = result.json();
		expect(Object.keys(json!).toSorted()).toEqual(keys);
		if (!simple) expect(json!.fields).toEqual({ title: 'Document 2' });
	});

	test('of several items, each with its own field', async () => {
		await fill({ 2: { papers: ['p.txt'], scans: ['s.txt'] } });
		const result = await run({
			items: [{ field: 'papers' }, { field: 'scans' }],
			files: { fileFields: '={{ [$json.field] }}' },
			parameters: onlyNumber('2'),
		});
		expect(namesIn(result)).toEqual([{ data: 'p.txt' }, { data: 's.txt' }]);
		expect(pairedIndexes(result.output('Data Platform'))).toEqual([0, 1]);
	});
});

describe('the maximum', () => {
	test('of files: exactly as many are downloaded, one more none', async () => {
		await fill({ 2: { papers: ['a', 'b'] }, 3: { papers: ['c'] } });
		const result = await run({ files: { maxFiles: 2 } });
		expect(result.error?.message).toBe(
			"This run would download 3 files, more than the 2 of 'Max Files'. Nothing was downloaded for this item",
		);
		expect(result.error?.description).toContain("'Download Files'");
		expect(await harness.downloads()).toEqual([]);
		expect(namesIn(await run({ files: { maxFiles: 3 } }))).toEqual([{}, { data: 'a', data_1: 'b' }, { data: 'c' }]);
	});

	test('is of all items together; those within it succeed', async () => {
		await fill({ 2: { papers: ['a', 'b'] }, 3: { papers: ['c', 'd'] }, 4: { papers: ['e'] } });
		const result = await run({
			items: [{ number: '2' }, { number: '3' }, { number: '4' }],
			files: { maxFiles: 3 },
			parameters: onlyNumber('={{ $json.number }}'),
			onError: 'continueRegularOutput',
		});
		const [first, second, third] = result.output('Data Platform');
		expect(namesIn(result)).toEqual([{ data: 'a', data_1: 'b' }, {}, { data: 'e' }]);
		expect(first!.json.number).toBe('2');
		expectErrorItem(second!, 1, "4 files, more than the 3 of 'Max Files'", { outcome: 'failed' });
		expect(third!.pairedItem).toEqual({ item: 2 });
	});
});

describe('a file that can not be downloaded', () => {
	const lost = async () => {
		await fill({ 2: { papers: ['a'] }, 3: { papers: ['b', 'gone'] }, 4: { papers: ['c'] } });
		const [, , record] = (await harness.records()) as Array<{ id: string; fields: IDataObject }>;
		const [, { fileId }] = record!.fields.papers as Array<{ fileId: string }> as [unknown, { fileId: string }];
		await harness.sandbox.admin.faults([{ match: { path: `/files/${fileId}` }, fault: { kind: 'status', status: 404 } }]);
		return record!.id;
	};

	test('stops the node', async () => {
		const id = await lost();
		const { error } = await run();
		expect(error?.message).toMatch(`Record '${id}': 'gone' could not be downloaded: `);
		expect(error?.description).toContain('removed since');
		expect(error?.context).toMatchObject({ itemIndex: 0 });
	});

	test.each(['continueRegularOutput', 'continueErrorOutput'] as const)('is the trouble of its record: %s', async (onError) => {
		const id = await lost();
		const result = await run({ onError, items: [{ from: 'before' }, {}] });
		const isRouted = onError === 'continueErrorOutput';
		const good = result.output('Data Platform').filter(({ json }) => !json.error);
		expect(good.map(({ json }) => json.number)).toEqual(['1', '2', '4', '1', '2', '4']);
		expect(pairedIndexes(good)).toEqual([0, 0, 0, 1, 1, 1]);
		const all = result.output('Data Platform', isRouted ? 1 : 0);
		const failed = all.filter(({ json }) => json.error);
		expect(failed).toHaveLength(2);
		if (!isRouted) expect(all.indexOf(failed[0]!)).toBe(2);
		for (const [item, entry] of failed.entries()) {
			expect(entry.pairedItem).toEqual({ item });
			expect(entry.json.error).toContain(`Record '${id}': 'gone' could not be downloaded`);
			const details = { item, id, outcome: 'failed', status: 404, retryable: false };
			expect(entry.json.details).toEqual(expect.objectContaining(details));
		}
	});
});

test('four records at a time', async () => {
	const documents = Array.from({ length: 9 }, (_, at) => [at + 2, { papers: ['a', 'b'] }]);
	await fill(Object.fromEntries(documents) as Parameters<typeof fill>[0]);
	await harness.sandbox.admin.faults([{ match: { path: '/files/' }, fault: { kind: 'slowBefore', ms: 60 } }]);
	expect((await run()).error).toBeUndefined();
	const spans = (await harness.downloads()).map(({ startedAt, milliseconds }) => {
		const start = new Date(startedAt).getTime();
		return { start, end: start + milliseconds! - 1 };
	});
	expect(spans).toHaveLength(18);
	const atOnce = spans.map(({ start }) => spans.filter((other) => other.start <= start && start < other.end).length);
	expect(Math.max(...atOnce)).toBeGreaterThan(1);
	expect(Math.max(...atOnce)).toBeLessThanOrEqual(4);
});

test('cancelling stops the downloads, also if the node continues on errors', async () => {
	const documents = Array.from({ length: 9 }, (_, at) => [at + 2, { papers: ['a', 'b'] }]);
	await fill(Object.fromEntries(documents) as Parameters<typeof fill>[0]);
	await harness.sandbox.admin.faults([{ match: { path: '/files/' }, fault: { kind: 'hang' } }]);
	const result = await run({
		onError: 'continueRegularOutput',
		onStart: (cancel) => {
			const watch = setInterval(async () => {
				if ((await harness.downloads()).length < 4) return;
				clearInterval(watch);
				cancel();
			}, 50);
		},
	});
	expect(result.run.status).toBe('canceled');
	await new Promise((resolve) => setTimeout(resolve, 300));
	expect(await harness.downloads()).toHaveLength(4);
});

test.each<[unknown, string, string]>([
	['={{ ["title"] }}', "The field 'title' holds no files: its type is text", 'papers'],
	['={{ "paper" }}', "Table 'Documents' has no field 'paper'", 'papers'],
	[[], "'File Field Names or IDs' under 'Download Files' is empty", ''],
	['={{ null }}', "'File Field Names or IDs' under 'Download Files' is empty", ''],
])('the fields %j', async (fileFields, message, hint) => {
	await fill({ 2: { papers: ['a'] } });
	const { error } = await run({ files: { fileFields } as IDataObject });
	expect(error?.message).toContain(message);
	expect(error?.description).toContain(hint);
	expect((await harness.sandbox.admin.requests()).some(({ path }) => /data/.test(path))).toBe(false);
});

test.each([{}, { files: {} }, { files: null }])('no field is chosen: %j', async (downloadFiles) => {
	const { error } = await run({ files: null, options: { downloadFiles } as IDataObject });
	expect(error?.message).toBe("'File Field Names or IDs' under 'Download Files' is empty");
	expect(await harness.sandbox.admin.requests()).toEqual([]);
});
