/** Record: Get Many with the option Download Files. */
import type { IDataObject } from 'n8n-workflow';
import type { RunResult } from '../support/engine/engine.cts';
import { read, useAttachmentHarness } from './attachmentFixtures.cts';
import { cancelWhen, expectErrorItem, fileValue, goingOn, mostAtOnce, pairedIndexes, runRecord, where, type Run } from './fixtures.cts';

const harness = useAttachmentHarness();

/** Creates documents, by number: the names of their papers and scans. */
async function fill(documents: Record<string, { papers?: string[]; scans?: string[] }>) {
	for (const [number, { papers = [], scans = [] }] of Object.entries(documents)) {
		const files = { papers: papers.map((name) => fileValue(name)), scans: scans.map((name) => fileValue(name)) };
		await harness.insert({ number, title: `Document ${number}`, ...files });
	}
	await harness.clearRequests();
}

/** Nine documents with two papers each. */
const fillNine = async () => await fill(Object.fromEntries(Array.from({ length: 9 }, (_, at) => [at + 2, { papers: ['a', 'b'] }])));

/** Reads the documents, with the option if `files` is not null. */
const run = async ({ files = {}, options = {}, parameters = {}, ...rest }: Run & { files?: IDataObject | null } = {}) =>
	await runRecord(harness.credential, 'getAll', {
		...rest,
		table: 'docs',
		parameters: { filterMode: 'none', sort: { by: [{ field: 'number' }] }, ...parameters },
		options: { ...(files && { downloadFiles: { files: { fileFields: ['papers'], ...files } } }), ...options },
	});

/** The names of the files of each item, by output field. */
const namesIn = (result: RunResult) =>
	result
		.output('Data Platform')
		.map(({ binary }) => Object.fromEntries(Object.entries(binary ?? {}).map(([key, file]) => [key, file.fileName])));

const onlyNumber = (value: string) => where({ field: 'number', operator: 'eq', value });

describe('the files', () => {
	test('are added to their records, which are otherwise as without the option', async () => {
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

	test.each([
		[{ fieldsToLoad: ['title'] }, true, { title: 'Document 2' }],
		[{ fieldsToLoad: ['title', 'papers'] }, true, { title: 'Document 2', papers: [expect.objectContaining({ fileName: 'a.txt' })] }],
		[{ fieldsToLoad: ['title'] }, false, { fields: { title: 'Document 2' } }],
	])('are downloaded if the output shows only %j, simplified: %j', async (options, simple, expected) => {
		await fill({ 2: { papers: ['a.txt'] } });
		const result = await run({ options, parameters: { simple, ...onlyNumber('2') } });
		expect(namesIn(result)).toEqual([{ data: 'a.txt' }]);
		const text = expect.any(String);
		expect(result.json()).toEqual([{ id: text, created: text, modified: text, ver: expect.any(Number), ...expected }]);
	});

	test('of several items are from the field that each item names', async () => {
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
	test('of files may be reached; with one more, none is downloaded', async () => {
		await fill({ 2: { papers: ['a', 'b'] }, 3: { papers: ['c'] } });
		const result = await run({ files: { maxFiles: 2 } });
		expect(result.error?.message).toBe(
			"This run would download 3 files, more than the 2 of 'Max Files'. Nothing was downloaded for this item",
		);
		expect(result.error?.description).toContain("'Download Files'");
		expect(await harness.downloads()).toEqual([]);
		expect(namesIn(await run({ files: { maxFiles: 3 } }))).toEqual([{}, { data: 'a', data_1: 'b' }, { data: 'c' }]);
	});

	test('is for all items together; those within it succeed', async () => {
		await fill({ 2: { papers: ['a', 'b'] }, 3: { papers: ['c', 'd'] }, 4: { papers: ['e'] } });
		const result = await run({
			items: [{ number: '2' }, { number: '3' }, { number: '4' }],
			files: { maxFiles: 3 },
			parameters: onlyNumber('={{ $json.number }}'),
			...goingOn,
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
		const id = await harness.idOf('3');
		const [, gone] = await harness.files('papers', id);
		await harness.faults({ match: { path: `/files/${gone!.fileId}` }, fault: { kind: 'status', status: 404 } });
		return id;
	};

	test('stops the node, and the error names the record and the file', async () => {
		const id = await lost();
		const { error } = await run();
		expect(error?.message).toMatch(`Record '${id}': 'gone' could not be downloaded: `);
		expect(error?.description).toContain('removed since');
		expect(error?.context).toMatchObject({ itemIndex: 0 });
	});

	test.each([
		['continueRegularOutput', 0, 2],
		['continueErrorOutput', 1, 0],
	] as const)('is an error of its record only, with %s on output %d', async (onError, output, at) => {
		const id = await lost();
		const result = await run({ onError, items: [{ from: 'before' }, {}] });
		const good = result.output('Data Platform').filter(({ json }) => !json.error);
		expect(good.map(({ json }) => json.number)).toEqual(['1', '2', '4', '1', '2', '4']);
		expect(pairedIndexes(good)).toEqual([0, 0, 0, 1, 1, 1]);
		const all = result.output('Data Platform', output);
		const failed = all.filter(({ json }) => json.error);
		expect(all.indexOf(failed[0]!)).toBe(at);
		const error = expect.stringContaining(`Record '${id}': 'gone' could not be downloaded`);
		const details = { id, outcome: 'failed', status: 404, retryable: false };
		expect(failed).toMatchObject([
			{ pairedItem: { item: 0 }, json: { error, details: { item: 0, ...details } } },
			{ pairedItem: { item: 1 }, json: { error, details: { item: 1, ...details } } },
		]);
	});
});

test('files of four records are downloaded at a time', async () => {
	await fillNine();
	await harness.faults({ match: { path: '/files/' }, fault: { kind: 'slowBefore', ms: 60 } });
	expect((await run()).error).toBeUndefined();
	const downloads = await harness.downloads();
	expect(downloads).toHaveLength(18);
	expect(mostAtOnce(downloads)).toBeGreaterThan(1);
	expect(mostAtOnce(downloads)).toBeLessThanOrEqual(4);
});

test('canceling stops the downloads, also if the node continues on errors', async () => {
	await fillNine();
	await harness.faults({ match: { path: '/files/' }, fault: { kind: 'hang' } });
	const onStart = cancelWhen(async () => (await harness.downloads()).length >= 4);
	const result = await run({ ...goingOn, onStart });
	expect(result.run.status).toBe('canceled');
	await new Promise((resolve) => setTimeout(resolve, 300));
	expect(await harness.downloads()).toHaveLength(4);
});

test.each<[unknown, string, string]>([
	['={{ ["title"] }}', "The field 'title' holds no files: its type is text", 'papers'],
	['={{ "paper" }}', "Table 'Documents' has no field 'paper'", 'papers'],
	[[], "'File Field Names or IDs' under 'Download Files' is empty", ''],
	['={{ null }}', "'File Field Names or IDs' under 'Download Files' is empty", ''],
])('the fields %j are rejected before records are read: %s', async (fileFields, message, hint) => {
	await fill({ 2: { papers: ['a'] } });
	const { error } = await run({ files: { fileFields } as IDataObject });
	expect(error?.message).toContain(message);
	expect(error?.description).toContain(hint);
	expect((await harness.requests()).filter(({ path }) => path.includes('data'))).toEqual([]);
});

test.each([{}, { files: {} }, { files: null }])('the option %j is rejected, because no field is chosen', async (downloadFiles) => {
	const { error } = await run({ files: null, options: { downloadFiles } as IDataObject });
	expect(error?.message).toBe("'File Field Names or IDs' under 'Download Files' is empty");
	expect(await harness.requests()).toEqual([]);
});
