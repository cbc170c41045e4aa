import type { IBinaryData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import { automatic, defined, loadOptions, picked } from '../support/engine/engine.cts';
import { itemWithFile, read, stored, useAttachmentHarness } from './attachmentFixtures.cts';
import type { FaultRule } from '../../harness/sandboxAdmin.mts';
import { expectFailed, located, runRecord, UNKNOWN_ID, type OnError, type Run } from './fixtures.cts';

const harness = useAttachmentHarness();

const upload = async (...files: IBinaryData[]) => await harness.upload(files);

describe('an upload of files of the item', () => {
	const item = async (): Promise<INodeExecutionData> => ({
		json: {},
		binary: { one: await stored('1.txt', '1'), two: await stored('2.txt', '2'), three: await stored('3.txt', '3') },
	});

	test.each([
		['one', ['1.txt']],
		[' three , one ', ['3.txt', '1.txt']],
		['one,one', ['1.txt']],
		['', ['1.txt', '2.txt', '3.txt']],
	])('from the fields %j uploads %j', async (inputDataFieldName, names) => {
		const { json } = await harness.run('upload', { input: [await item()], parameters: { inputDataFieldName } });
		expect(json()[0]!.uploaded).toEqual(names);
		expect(await harness.names()).toEqual(names);
	});

	test('with a missing file writes nothing, and the error lists the files that there are', async () => {
		const { error } = await harness.run('upload', { input: [await item()], parameters: { inputDataFieldName: 'one,four' } });
		expect(error!.message).toContain("'four'");
		expect(error!.description).toContain('one, two, three');
		expect(await harness.writes()).toEqual([]);
	});

	test('names a file without a name after its field', async () => {
		const file = { ...(await stored(undefined, '1')), fileExtension: 'csv' };
		await harness.run('upload', { input: [{ json: {}, binary: { report: file } }], parameters: { inputDataFieldName: 'report' } });
		expect(await harness.names()).toEqual(['report.csv']);
	});

	test('of several items puts each file into the record and the field that its item names', async () => {
		const ids = [harness.id, await harness.insert({ title: 'Second' })];
		const input = await Promise.all(
			[0, 1, 0, 1].map(async (record, index) => ({
				json: { id: ids[record], field: index < 2 ? 'papers' : 'scans' },
				binary: { data: await stored(`${index}.txt`, String(index)) },
			})),
		);
		const result = await harness.run('upload', {
			input,
			parameters: { recordId: picked('={{ $json.id }}'), fileField: '={{ $json.field }}', inputDataFieldName: 'data' },
		});
		expect(result.error).toBeUndefined();
		expect(result.output('Data Platform').map((entry) => entry.pairedItem)).toEqual(input.map((_, index) => ({ item: index })));
		expect([await harness.names('papers'), await harness.names('scans')]).toEqual([['0.txt'], ['2.txt']]);
		expect([await harness.names('papers', ids[1]), await harness.names('scans', ids[1])]).toEqual([['1.txt'], ['3.txt']]);
	});
});

describe('existing files', () => {
	beforeEach(async () => {
		await upload(await stored('a', 'a'), await stored('b', 'b'));
	});

	test('are kept by an upload, even one of the same name', async () => {
		const { json } = await upload(await stored('a', 'new'));
		expect(await harness.names()).toEqual(['a', 'b', 'a']);
		expect(json()[0]).toMatchObject({ id: harness.id, uploaded: ['a'] });
		expect(json()[0]!.papers).toHaveLength(3);
	});

	test('are replaced if the parameter says so', async () => {
		await harness.upload([await stored('c', 'c')], { parameters: { existingFiles: 'replace' } });
		expect(await harness.names()).toEqual(['c']);
	});

	test('are not uploaded again by Skip Existing if name and size are the same', async () => {
		const files = [await stored('a', 'x'), await stored('b', 'longer'), await stored('c', 'c')];
		const { json } = await harness.upload(files, { options: { skipExisting: true } });
		expect(json()[0]!.uploaded).toEqual(['b', 'c']);
		expect(await harness.names()).toEqual(['a', 'b', 'b', 'c']);
		await harness.clearRequests();
		const again = await harness.upload(files, { options: { skipExisting: true } });
		expect(again.json()[0]).toMatchObject({ id: harness.id, uploaded: [] });
		expect(await harness.writes()).toEqual([]);
	});

	test('are replaced, except those that Skip Existing finds to be the same', async () => {
		const [kept] = await harness.files();
		const run = { parameters: { existingFiles: 'replace' }, options: { skipExisting: true } };
		await harness.upload([await stored('a', 'a'), await stored('c', 'c')], run);
		const files = new Map((await harness.files()).map(({ fileName, fileId }) => [fileName, fileId]));
		expect([...files.keys()].sort()).toEqual(['a', 'c']);
		expect(files.get('a')).toBe(kept!.fileId);
		await harness.upload([await stored('a', 'a')], run);
		expect(await harness.names()).toEqual(['a']);
	});

	test('are removed by ID or all; an unknown ID is an error, but removing all from an empty field is not', async () => {
		await upload(await stored('a', 'other'), await stored('c', 'c'));
		const remove = (parameters: object) => harness.run('remove', { parameters });
		const [first] = await harness.files();
		const one = await remove({ removeMode: 'id', fileId: first!.fileId });
		expect(one.json()[0]).toEqual({ id: harness.id, removed: [{ fileId: first!.fileId, fileName: 'a' }], remaining: 3 });
		const again = await remove({ removeMode: 'id', fileId: first!.fileId });
		expect(again.error!.message).toContain(first!.fileId);
		expect(again.error!.description).toContain('b (');
		const all = await remove({ removeMode: 'all' });
		expect(all.json()[0]).toMatchObject({ remaining: 0 });
		expect((await remove({ removeMode: 'all' })).json()[0]).toMatchObject({ removed: [] });
		expect(await harness.names()).toEqual([]);
	});
});

describe('an upload to many records', () => {
	const COUNT = 7;
	let ids: string[];

	beforeEach(async () => {
		const others = Array.from({ length: COUNT - 1 }, async (_, index) => await harness.insert({ title: String(index) }));
		ids = [harness.id, ...(await Promise.all(others))];
	});

	const uploadTo = async (records: string[], run: Run = {}) => {
		await harness.clearRequests();
		const input = await Promise.all(records.map(async (id) => ({ json: { id }, binary: { data: await stored('a', 'a') } })));
		const parameters = { recordId: picked('={{ $json.id }}'), inputDataFieldName: 'data' };
		return await harness.run('upload', { input, parameters, ...run });
	};

	/** How many requests there were of each kind. */
	const counts = async () => {
		const kinds = (await harness.requests()).map(
			({ method, path }) => `${method} ${path.replace(/^.*docs(?!$)|^.*tables|[\w-]{36}$/g, '')}`,
		);
		return Object.fromEntries([...new Set(kinds)].map((kind) => [kind, kinds.filter((other) => other === kind).length]));
	};

	const skipping = { options: { skipExisting: true } };
	const definition = { 'GET /docs': 1 };
	const written = { ...definition, 'POST /data/filter': 1, 'PATCH /data/': COUNT };
	const rejected = {
		match: { path: 'filter$' },
		fault: { kind: 'status', status: 400, body: { errors: [{ type: 'warning', message: 'No field id' }] } },
	};
	const waiting = { match: { method: 'PATCH' }, when: { nth: [1] }, fault: { kind: 'status', status: 429, retryAfterSeconds: 61 } };

	test.each<[string, Run, FaultRule[], Record<string, number>]>([
		['reads them in one request', {}, [], written],
		['reads each that is to be compared', skipping, [], { ...definition, 'GET /data/': COUNT, 'PATCH /data/': COUNT }],
		['reads each if the platform has no filter by ID', {}, [rejected], { ...written, 'GET /data/': COUNT }],
	])('%s', async (_, run, faults, expected) => {
		await harness.faults(...faults);
		const { error } = await uploadTo(ids, run);
		expect(error).toBeUndefined();
		expect(await counts()).toEqual(expected);
		for (const id of ids) expect(await harness.names('papers', id)).toEqual(['a']);
	});

	test('reads again what was read more than a minute ago', async () => {
		await harness.faults(waiting);
		const { error } = await uploadTo(
			[0, 0, 0, 0, 1, 2].map((at) => ids[at]!),
			{ options: { maxRetryWait: 600 } },
		);
		expect(error).toBeUndefined();
		expect(await counts()).toEqual({ ...definition, 'POST /data/filter': 2, 'GET /data/': 3, 'PATCH /data/': 7 });
	});

	test('tries once with a token that may not read', async () => {
		const { error } = await uploadTo(ids, { credential: { token: harness.sandbox.tokens.short, accessType: 'short' } });
		expect(error).toBeUndefined();
		expect((await harness.requests()).length).toBeLessThan(COUNT + 7);
	});

	test('that have the files reads the first ones alone, the others at once', async () => {
		await uploadTo(ids);
		const { json } = await uploadTo(ids, skipping);
		expect(json()).toEqual(ids.map((id) => expect.objectContaining({ id, uploaded: [] })));
		expect(await counts()).toEqual({ ...definition, 'GET /data/': 4, 'POST /data/filter': 1 });
	});

	test('reports a record that is gone before its file is sent', async () => {
		const result = await uploadTo([...ids, UNKNOWN_ID], { onError: 'continueRegularOutput' });
		expectFailed(result, COUNT, `no record '${UNKNOWN_ID}'`, { outcome: 'notFound' });
		expect(await harness.writes()).toHaveLength(COUNT);
	});

	test.each([
		[[0, 1, 0], 'resetBefore', 'unknown', 1],
		[[0, 1, 0], 'resetAfter', undefined, 2],
	])('does not take the file of another item for that of a lost request: %j, %s', async (records, kind, outcome, count) => {
		await harness.faults({ match: { method: 'PATCH', path: ids[0] }, when: { nth: [2] }, fault: { kind } });
		const result = await uploadTo(
			records.map((at) => ids[at]!),
			{ onError: 'continueRegularOutput' },
		);
		expect(result.json().map(({ details }) => (details as IDataObject | undefined)?.outcome)).toEqual([undefined, undefined, outcome]);
		expect(await harness.names()).toHaveLength(count);
	});
});

describe('a record named by its import key', () => {
	let second: string;

	beforeEach(async () => {
		second = await harness.insert({ number: '2', title: 'Second' });
		await harness.insert({ number: '3', title: 'Third' });
		await harness.insert({ number: '3', title: 'Another' });
		await harness.clearRequests();
	});

	const byNumber = { recordId: located('={{ $json.number }}') };
	const items = async (numbers: string[]) =>
		await Promise.all(numbers.map(async (number) => ({ json: { number }, binary: { data: await stored('a', 'a') } })));
	const uploadTo = async (...numbers: string[]) =>
		await harness.run('upload', {
			input: await items(numbers),
			parameters: { ...byNumber, inputDataFieldName: 'data' },
			onError: 'continueRegularOutput',
		});

	test('is found, those of all items in one request', async () => {
		const result = await uploadTo('1', '2', '1');
		expect(result.json().map(({ id }) => id)).toEqual([harness.id, second, harness.id]);
		expect(await harness.names('papers', second)).toEqual(['a']);
		const paths = (await harness.requests()).map(({ method, path }) => `${method} ${path.replace(/^.*docs/, '')}`);
		expect(paths.slice(0, 3)).toEqual(['GET ', 'POST /data/filter', 'POST /data/filter']);
		// The second upload to a record reads it once more.
		expect(paths).toHaveLength(7);
	});

	test.each([
		['4', `'Record' names no record: no record of 'Documents' has "4" in 'number'`, 'notFound'],
		['3', `'Record' names no record: several records of 'Documents' have "3" in 'number'`, undefined],
	])('%s is an error of its item: %s', async (number, message, outcome) => {
		const result = await uploadTo(number, '2');
		expectFailed(result, 0, message, { field: 'Record', ...(outcome && { outcome }) });
		expect(await harness.writes()).toHaveLength(1);
		expect(await harness.names('papers', second)).toEqual(['a']);
	});

	test('is the same as that of its ID: the file of one item is not taken for that of another', async () => {
		await harness.faults({ match: { method: 'PATCH', path: second }, when: { nth: [2] }, fault: { kind: 'resetBefore' } });
		const result = await uploadTo('2', '1', second);
		expect(result.json().filter(({ error }) => String(error).startsWith('Unknown whether the files were stored'))).toHaveLength(1);
		expect(await harness.names('papers', second)).toEqual(['a']);
	});

	test.each(['download', 'remove', 'get', 'delete'])('is found by %s', async (operation) => {
		await uploadTo('2');
		const parameters = { recordId: located('2'), ...(operation === 'remove' && { removeMode: 'all' }) };
		const isRecord = operation === 'get' || operation === 'delete';
		const { error, output } = isRecord
			? await runRecord(harness.credential, operation, { table: 'docs', parameters })
			: await harness.run(operation, { parameters });
		expect(error).toBeUndefined();
		const { json, binary } = output('Data Platform')[0]!;
		if (operation === 'download') expect(binary).toHaveProperty('data');
		else expect(json.id).toBe(second);
		expect(await harness.records()).toHaveLength(operation === 'delete' ? 3 : 4);
	});

	test('is taken for an ID if the table does not say which field is its import key', async () => {
		await harness.settings({ definition: 'documented' });
		const result = await uploadTo('2');
		expectFailed(result, 0, "no record '2'", { outcome: 'notFound' });
		expect(await harness.writes()).toEqual([]);
	});
});

describe('what a field takes is the platform’s to say', () => {
	const photo = { parameters: { fileField: 'photo' } };
	const pictures = async () =>
		await Promise.all(['a.png', 'b.gif'].map(async (name) => await stored(name, name, `image/${name.slice(2)}`)));

	test.each([
		['documented', 'accepts pictures', []],
		['none', undefined, ['a.png', 'b.gif']],
	])('two pictures, one of another format, in one field: %s', async (attachmentRules, message, names) => {
		await harness.settings({ attachmentRules });
		const { error } = await harness.upload(await pictures(), photo);
		expect(error?.message).toEqual(message && expect.stringContaining(message));
		expect(error?.description).toEqual(message && expect.stringContaining('a picture field holds one picture'));
		expect(await harness.names('photo')).toEqual(names);
	});

	test.each([
		['documented', 'accepts files up to 50 MB'],
		['none', undefined],
	])('51 MB: %s', async (attachmentRules, message) => {
		await harness.settings({ attachmentRules });
		const { error } = await upload(await stored('large.bin', Buffer.alloc(51_000_000)));
		expect(error?.message).toEqual(message && expect.stringContaining(message));
		expect(await harness.names()).toEqual(message ? [] : ['large.bin']);
	});

	test('a media type has its registered name', async () => {
		await harness.upload([await stored('a.jpg', 'a', 'image/jpg')], photo);
		expect(await harness.files('photo')).toMatchObject([{ mimetype: 'image/jpeg' }]);
	});
});

test.each([
	['text', ['b'], 0],
	['absent', [], 1],
])('Skip Existing with sizes that are %s', async (fileSize, uploaded, hints) => {
	await harness.settings({ fileSize });
	await upload(await stored('a', 'a'), await stored('b', 'b'));
	const files = [await stored('a', 'a'), await stored('b', 'longer')];
	const result = await harness.upload(files, { options: { skipExisting: true } });
	expect(result.json()[0]!.uploaded).toEqual(uploaded);
	expect(result.hints.filter((hint) => hint.includes('compared names only'))).toHaveLength(hints);
	const again = await harness.upload(files, { options: { skipExisting: true } });
	expect(again.json()[0]!.uploaded).toEqual([]);
});

test('no output has the token in the address of a file, and a download works', async () => {
	await harness.settings({ fileAddresses: 'withToken' });
	const { short } = harness.sandbox.tokens;
	const uploaded = await upload(await stored('a.txt', 'content'));
	const [address] = uploaded.json().map(({ papers }) => (papers as Array<{ fileUrl: string }>)[0]!.fileUrl);
	expect(address).toMatch(/\/files\/[\w-]+$/);
	const readWith = async (operation: string, parameters = {}) =>
		(await runRecord(harness.credential, operation, { table: 'docs', parameters })).json();
	const json = [
		uploaded.json(),
		await readWith('get', { recordId: picked(harness.id) }),
		await readWith('getAll'),
		await readWith('getChanges'),
	];
	for (const items of json) {
		const text = JSON.stringify(items);
		expect(text).toContain('fileUrl');
		expect(text).not.toContain(short);
	}
	await harness.clearRequests();
	const downloaded = await harness.run('download');
	expect((await read(downloaded.output('Data Platform')[0])).toString()).toBe('content');
	expect((await harness.downloads()).map(({ query }) => query)).toEqual(['']);
});

test.each<[string, string, IDataObject, string | undefined]>([
	['remove', 'papers', { removeMode: 'all' }, undefined],
	['remove', 'papers', { removeMode: 'id', fileId: 'a' }, "has no file 'a' in the field 'papers'"],
	['download', 'papers', {}, "has no files in the field 'papers'"],
	['remove', 'paper', { removeMode: 'all' }, "Table 'Documents' has no field 'paper'"],
	['download', 'title', {}, "The field 'title' holds no files"],
])('%s: a field without files may be left out of the record: %s %j', async (operation, fileField, parameters, message) => {
	await harness.settings({ emptyFields: 'absent' });
	const { error, json } = await harness.run(operation, { parameters: { fileField, ...parameters } });
	if (message === undefined) expect(json()).toEqual([{ id: harness.id, removed: [], remaining: 0 }]);
	else expect(error!.message).toContain(message);
});

describe('an upload with fields of the record', () => {
	const withFields = (values: IDataObject) => ({ updateOtherFields: true, columns: defined(values) });

	test('writes files and fields in one change of the record', async () => {
		await harness.upload([await stored('a', 'a')], {
			input: [{ json: { title: 'Changed', papers: 'ignored' }, binary: { a: await stored('a', 'a') } }],
			parameters: { updateOtherFields: true, columns: automatic },
		});
		const [record] = await harness.records();
		expect(record).toMatchObject({ ver: 1, fields: { title: 'Changed' } });
		expect(await harness.names()).toEqual(['a']);
	});

	test('writes nothing if a field is unknown', async () => {
		const { error } = await harness.upload([await stored('a', 'a')], { parameters: withFields({ titel: 'x' }) });
		expect(error!.message).toContain("'titel'");
		expect(await harness.writes()).toEqual([]);
	});

	test('writes the fields even if all files exist already', async () => {
		await upload(await stored('a', 'a'));
		const options = { skipExisting: true };
		const { json } = await harness.upload([await stored('a', 'a')], { parameters: withFields({ title: 'New' }), options });
		expect(json()[0]).toMatchObject({ uploaded: [], title: 'New' });
		expect(await harness.names()).toEqual(['a']);
	});

	test('creates a new record with its files', async () => {
		const parameters = { target: 'new', columns: defined({ number: '2', title: 'New' }) };
		const { json, error } = await harness.upload([await stored('a', 'a'), await stored('b', 'b')], { parameters });
		expect(error).toBeUndefined();
		expect(await harness.records()).toHaveLength(2);
		expect(await harness.names('papers', String(json()[0]!.id))).toEqual(['a', 'b']);
	});

	test('creates a record in a table whose file field is required', async () => {
		const parameters = { target: 'new', fileField: 'image', columns: defined({ shop: 'Corner' }) };
		const { error } = await harness.upload([await stored('a', 'a')], { table: 'receipts', parameters });
		expect(error).toBeUndefined();
		expect(await harness.records('receipts')).toHaveLength(1);
	});
});

describe('if the second of three items has no file, an upload', () => {
	const run = async (onError?: OnError) => {
		const input = [...(await itemWithFile('a', 'a')), { json: {}, binary: {} }, ...(await itemWithFile('c', 'c'))];
		return await harness.run('upload', { input, onError, parameters: { inputDataFieldName: 'data' } });
	};

	test('stops there, and the error says how many items are done', async () => {
		const { error } = await run();
		expect(error!.message).toContain("no file in 'data'");
		expect(error!.description).toContain('1 of 3 items are done');
		expect(error!.description).toContain("Running it again adds the files of those items again, unless 'Skip Existing' is on.");
		expect(error!.context).toMatchObject({ itemIndex: 1 });
		expect(await harness.names()).toEqual(['a']);
	});

	test.each([
		['continueErrorOutput', 1],
		['continueRegularOutput', 0],
	] as const)('with %s uploads the others, and output %d has the error', async (onError, output) => {
		const result = await run(onError);
		expect(await harness.names()).toEqual(['a', 'c']);
		const failed = result.output('Data Platform', output).find(({ json }) => json.error);
		expect(failed).toMatchObject({ pairedItem: { item: 1 }, json: { details: { item: 1 } } });
	});
});

test('the lists of file fields have only fields for files and pictures, and the list for one field begins with an empty value', async () => {
	const parameters = { application: picked('shop'), table: picked('docs') };
	const values = async (list: string) => (await loadOptions(harness.credential, list, parameters)).map(({ value }) => value);
	expect(await values('getFileField')).toEqual(['', 'papers', 'scans', 'photo']);
});

describe('a download', () => {
	test("keeps the item's other files unless they have the name of the first download", async () => {
		await upload(await stored('1.txt', '1'), await stored('2.txt', '2'), await stored('3.txt', '3'));
		const binary = { data: await stored('old.txt', 'old'), data_1: await stored('kept.txt', 'k') };
		const result = await harness.run('download', { input: [{ json: {}, binary }] });
		const files = result.output('Data Platform')[0]!.binary!;
		expect(Object.entries(files).map(([name, { fileName }]) => [name, fileName])).toEqual([
			['data', '1.txt'],
			['data_1', 'kept.txt'],
			['data_2', '2.txt'],
			['data_3', '3.txt'],
		]);
	});

	test('does not send an item with a field called error to the error output, and renames the field if the item looks like an error to n8n', async () => {
		await upload(await stored('1.txt', '1'));
		const input = [{ json: { error: 'from before', message: 'x' } }];
		const result = await harness.run('download', { input, onError: 'continueErrorOutput' });
		expect(result.output('Data Platform', 1)).toEqual([]);
		expect(result.json()).toEqual([{ field_error: 'from before', message: 'x' }]);
		const more = { json: { error: 'from before', id: 1 } };
		const kept = await harness.run('download', { input: [more], onError: 'continueErrorOutput' });
		expect(kept.json()).toEqual([more.json]);
	});
});
