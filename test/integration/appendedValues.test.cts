/**
 * Values that the platform appends to the stored ones: files, and perhaps messages. Sent twice,
 * they are stored twice, so such a write is repeated only if it was certainly not applied.
 */
import type { IDataObject } from 'n8n-workflow';
import type { FaultRule } from '../../harness/sandboxAdmin.mts';
import { defined, picked } from '../support/engine/engine.cts';
import { itemWithFile } from './attachmentFixtures.cts';
import { byFields, byId, fileValue, goingOn, outcomes, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

const docs = {
	internalName: 'docs',
	header: 'Documents',
	fields: [
		{ name: 'code', type: 'text', metadata: { importKey: true } },
		{ name: 'name', type: 'text' },
		{ name: 'files', type: 'file' },
		{ name: 'talk', type: 'chat' },
	],
};

const fill = async (...records: IDataObject[]) => await harness.createTable(docs, records);

const adding = (name: string) => ({ files: { add: [fileValue(name)] } });

/** The names of each record's files. */
const files = async () =>
	(await harness.records('docs')).map(({ fields }) => ((fields.files ?? []) as IDataObject[]).map(({ fileName }) => fileName));

const run = (operation: string, more: Run) => harness.run(operation, { table: 'docs', ...more });

const byName = byFields('name');

/** Each way of writing a file to the existing record `a`. */
const ways: Array<[name: string, operation: string, run: Run]> = [
	['Update', 'update', { parameters: byId }],
	['Update, skipping', 'update', { parameters: byId, options: { skipUnchanged: true } }],
	['Create or Update', 'upsert', {}],
	['Create or Update, matched', 'upsert', { parameters: byName }],
	['Create or Update, skipping', 'upsert', { options: { skipUnchanged: true } }],
	['Sync', 'sync', {}],
];

const itemOf = (id: string, { parameters }: Run): IDataObject => ({
	...(parameters !== byName && { code: 'a' }),
	...(parameters === byId && { id }),
	name: 'old',
	...adding('a.txt'),
});

const onBulk = (fault: FaultRule['fault'], nth = [1]): FaultRule => ({ match: { path: '/data/bulk$' }, when: { nth }, fault });

describe.each(ways)('%s', (_, operation, way) => {
	test.each<[how: string, fault: FaultRule['fault'], isAdded: boolean]>([
		['a reset before the write', { kind: 'resetBefore' }, false],
		['a reset after the write', { kind: 'resetAfter' }, true],
		['a timeout after the write', { kind: 'hang', afterWrite: true }, true],
		['a response cut short', { kind: 'truncate' }, true],
	])('after %s, the file is not sent again', async (_how, fault, isAdded) => {
		const [record] = await fill({ code: 'a', name: 'old' }, { code: 'b' });
		await harness.faults(onBulk(fault));
		const result = await run(operation, {
			...way,
			items: [itemOf(record!.id, way)],
			options: { ...way.options, ...(fault.kind === 'hang' && { timeout: 0.5 }) },
			...goingOn,
			retry: { maxTries: 2 },
		});
		expect(outcomes(result)).toEqual(['unknown']);
		expect(result.json()[0]!.message).toMatch(/^Look at the record/);
		expect(await files()).toEqual([isAdded ? ['a.txt'] : [], []]);
		expect(await harness.writes()).toHaveLength(1);
	});
});

test.each([400, 413, 429])('after a stated %i, files are sent again', async (status) => {
	const records = await fill({ code: 'a' }, { code: 'b' });
	await harness.faults(onBulk({ kind: 'status', status, retryAfterSeconds: 0 }));
	const result = await run('update', { items: records.map(({ id }) => ({ id, ...adding('a.txt') })), parameters: byId });
	expect(outcomes(result)).toEqual(['updated', 'updated']);
	expect(await files()).toEqual([['a.txt'], ['a.txt']]);
});

test('items without such values are sent again, in batches of their own', async () => {
	await fill();
	await harness.faults(onBulk({ kind: 'resetAfter' }, [1, 2, 4]));
	const items = ['a', 'b', 'c', 'd'].map((code, index) => ({ code, ...(index % 2 === 0 && adding(`${code}.txt`)) }));
	const result = await run('upsert', { items, options: { parallelRequests: 1 }, ...goingOn });
	expect(outcomes(result)).toEqual(['unknown', 'written', 'unknown', 'written']);
	expect((await files()).flat().sort()).toEqual(['a.txt', 'c.txt']);
	const writes = (await harness.writes()).filter(({ path }) => path.endsWith('/bulk'));
	expect(writes.map(({ records, outcome }) => [records, outcome])).toEqual([
		[2, 'reset'],
		[2, 'reset'],
		[2, 'completed'],
		[2, 'reset'],
	]);
});

describe('Retry On Fail', () => {
	test.each(['update', 'upsert'])('of %s does not add again what the first try added', async (operation) => {
		const records = await fill({ code: 'a' }, { code: 'b' });
		const items = records.map(({ id, fields }) => ({ id, code: String(fields.code), ...adding('a.txt') }));
		// Rejected in the first attempt.
		await harness.faults({
			match: { bodyContains: '"code":"b"' },
			when: { first: 1 },
			fault: { kind: 'failRecords', field: 'code', values: ['b'] },
		});
		const result = await run(operation, { items, ...(operation !== 'upsert' && { parameters: byId }), retry: { maxTries: 3 } });
		expect(result.error).toBeUndefined();
		expect(await files()).toEqual([['a.txt'], ['a.txt']]);
	});
});

test('messages of a chat, which may be added or replaced, are sent once', async () => {
	const talk = (text: string) => ({ talk: { messages: [{ text }] } });
	await fill({ code: 'a', ...talk('first') });
	await harness.faults(onBulk({ kind: 'resetAfter' }));
	const result = await run('upsert', { items: [{ code: 'a', ...talk('second') }], ...goingOn });
	expect(outcomes(result)).toEqual(['unknown']);
	expect(await harness.writes()).toHaveLength(1);
});

test('a file by its web address, which may be added or replace others, is sent once', async () => {
	await fill({ code: 'a' });
	await harness.faults(onBulk({ kind: 'resetAfter' }));
	const result = await run('upsert', { items: [{ code: 'a', files: 'https://files.example.com/a.txt' }], ...goingOn });
	expect(outcomes(result)).toEqual(['unknown']);
	expect(await harness.writes()).toHaveLength(1);
});

describe('Upload, replacing files', () => {
	const replace = async (values: IDataObject) => {
		const [record] = await fill({ code: 'a' });
		await harness.faults({ match: { method: 'PATCH' }, when: { first: 1 }, fault: { kind: 'resetAfter' } });
		const place = { resource: 'attachment', recordId: picked(record!.id), fileField: 'files' };
		return await run('upload', {
			input: await itemWithFile('a.txt', 'a', 'text/plain'),
			parameters: { ...place, existingFiles: 'replace', updateOtherFields: true, columns: defined(values) },
		});
	};

	test('is sent again', async () => {
		const result = await replace({ name: 'new' });
		expect(result.error).toBeUndefined();
		expect(await harness.writes()).toHaveLength(2);
		expect(await files()).toEqual([['a.txt']]);
	});

	test('is sent once with messages of a chat, which would be there twice', async () => {
		await replace({ talk: { messages: [{ text: 'hello' }] } });
		expect(await harness.writes()).toHaveLength(1);
		const [talk] = await harness.values('talk', 'docs');
		expect((talk as { messages: unknown[] }).messages).toHaveLength(1);
	});
});

describe('Import From File', () => {
	const imported = async (more: Run = {}) => {
		const csv = `code,files\na,"${JSON.stringify(adding('a.txt').files).replaceAll('"', '""')}"\nb,\n`;
		return await run('importFromFile', { input: await itemWithFile('rows.csv', csv), ...more });
	};

	test('adds a file once', async () => {
		await fill({ code: 'a' });
		await harness.faults({ match: { path: 'bulk$' }, when: { first: 2 }, fault: { kind: 'resetAfter' } });
		const result = await imported();
		expect(result.error).toBeUndefined();
		expect((await files()).flat()).toEqual(['a.txt']);
	});

	test('does not claim to be safe to repeat if it was interrupted, and Retry On Fail does not repeat it', async () => {
		await fill({ code: 'a' });
		await harness.faults({ match: { path: 'bulk$', bodyContains: '"b"' }, fault: { kind: 'status', status: 401 } });
		const result = await imported({ options: { batchSize: 1 }, retry: { maxTries: 2 } });
		expect(result.error?.description).not.toContain('safe');
		expect((await files()).flat().length).toBeLessThan(2);
	});
});
