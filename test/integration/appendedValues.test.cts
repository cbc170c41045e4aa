/**
 * Values that the platform appends to the stored ones: files, and perhaps messages. Sent twice,
 * they are stored twice, so such a write is repeated only if a look-up proves that it was not
 * applied.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject } from 'n8n-workflow';
import type { FaultRule } from '../../harness/sandboxAdmin.mts';
import { stored as storedFile } from './attachmentFixtures.cts';
import { APP, outcomes, useHarness, type Run } from './fixtures.cts';
import { useOtherWriter } from './otherWriter.cts';

const harness = useHarness();
const writer = useOtherWriter(harness);

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

const fill = async (...records: IDataObject[]) => {
	const { admin } = harness.sandbox;
	await admin.createTable({
		app: APP,
		table: docs,
		records: records.map((fields) => ({ fields })),
	});
	await admin.clearRequests();
	// Writes from now on have a later time.
	await sleep(2);
	return await harness.records('docs');
};

const file = (filename: string) => ({
	filename,
	mimetype: 'text/plain',
	filedata: `data:text/plain;base64,${Buffer.from(filename).toString('base64')}`,
});
const adding = (...names: string[]) => ({ files: { add: names.map(file) } });

/** The names of each record's files. */
const files = async () =>
	(await harness.records('docs')).map(({ fields }) =>
		((fields.files ?? []) as IDataObject[]).map(({ fileName }) => fileName),
	);

const run = (operation: string, { parameters, ...more }: Run) =>
	harness.run(operation, { table: 'docs', ...more, ...(parameters && { parameters }) });

const byId = { recordId: '={{ $json.id }}' };
const byName = { matchOn: 'fields', matchFields: ['name'] };

/** Each way of writing a file to the existing record `a`. */
const ways: Array<[name: string, operation: string, path: string, run: Run]> = [
	['Update', 'update', '/data/[^/]+$', { parameters: byId }],
	['Create or Update', 'upsert', '/data$', {}],
	['Create or Update, matched', 'upsert', '/data/[^/]+$', { parameters: byName }],
	['Update Many', 'updateMany', '/data/bulk$', { parameters: byId }],
	[
		'Update Many, skipping',
		'updateMany',
		'/data/bulk$',
		{ parameters: byId, options: { skipUnchanged: true } },
	],
	['Create or Update Many', 'upsertMany', '/data/bulk$', {}],
	['Create or Update Many, matched', 'upsertMany', '/data/bulk$', { parameters: byName }],
	[
		'Create or Update Many, skipping',
		'upsertMany',
		'/data/bulk$',
		{ options: { skipUnchanged: true } },
	],
	['Sync Many', 'syncMany', '/data/bulk$', {}],
];

const writes = (path: string): FaultRule['match'] => ({ path: `${path.replace('$', '')}$` });
const itemOf = (id: string, { parameters }: Run): IDataObject => ({
	...(parameters !== byName && { code: 'a' }),
	...(parameters === byId && { id }),
	name: 'old',
	...adding('a.txt'),
});

const method = (operation: string, way: Run) =>
	operation === 'update' || way.parameters ? 'PATCH' : 'POST';

describe.each(ways)('%s', (_, operation, path, way) => {
	const rule = (fault: FaultRule['fault'], nth = 1): FaultRule => ({
		match: { ...writes(path), method: method(operation, way) },
		when: { nth: [nth] },
		fault,
	});
	const write = async (more: Partial<Run> = {}) => {
		const [record] = await harness.records('docs');
		return await run(operation, {
			...way,
			...more,
			items: [itemOf(record!.id, way)],
			options: { ...way.options, ...more.options },
		});
	};

	/** Whether a request has met the fault. */
	const isMet = async () => (await harness.requests()).some(({ faults }) => faults.length > 0);

	beforeEach(async () => void (await fill({ code: 'a', name: 'old' }, { code: 'b' })));

	test.each<[string, FaultRule['fault']]>([
		['a reset after the write', { kind: 'resetAfter' }],
		['a reset before the write', { kind: 'resetBefore' }],
		['a 502 after the write', { kind: 'html', afterWrite: true }],
		['a 502 before the write', { kind: 'html' }],
		['an empty 200 after the write', { kind: 'empty', afterWrite: true }],
		['a response cut short', { kind: 'truncate' }],
	])('%s: the file is there once', async (_, fault) => {
		await harness.faults(rule(fault));
		const result = await write();
		expect(result.error).toBeUndefined();
		expect((await files())[0]).toEqual(['a.txt']);
		expect(await isMet()).toBe(true);
	});

	test.each([400, 401, 403, 413])('a reset after the write, then a %i', async (status) => {
		await harness.faults(rule({ kind: 'resetAfter' }), rule({ kind: 'status', status }, 2));
		const result = await write();
		expect(result.error).toBeUndefined();
		expect((await files())[0]).toEqual(['a.txt']);
		expect(await isMet()).toBe(true);
	});

	test('a timeout after the write, which looks the same as one before it', async () => {
		await harness.faults(rule({ kind: 'hang', afterWrite: true }));
		const result = await write({ options: { timeout: 0.25 } });
		expect(result.error).toBeUndefined();
		expect((await files())[0]).toEqual(['a.txt']);
		expect(await isMet()).toBe(true);
	});

	test('a timeout before the write: unknown, and not safe to run again', async () => {
		await harness.faults(rule({ kind: 'hang' }));
		const result = await write({
			options: { timeout: 0.25 },
			onError: 'continueRegularOutput',
			retry: { maxTries: 2 },
		});
		expect(outcomes(result)).toEqual(['unknown']);
		expect(result.json()[0]!.message).toMatch(/^Look at the record/);
		expect((await files())[0]).toEqual([]);
	});
});

describe('beside another writer', () => {
	test.each(['updateMany', 'upsertMany'])(
		'%s with Skip Unchanged adds the file once, and writes the rest again',
		async (operation) => {
			const [record] = await fill({ code: 'a', name: 'old' });
			let isDone = false;
			writer.before((target) => {
				if (isDone || !/^(PATCH|POST) \/data\/bulk/.test(target)) return undefined;
				isDone = true;
				return harness.sandbox.client().patch(`/apps/${APP}/tables/docs/data/${record!.id}`, {
					fields: { name: 'theirs' },
				});
			});
			const result = await run(operation, {
				items: [{ id: record!.id, code: 'a', name: 'old', ...adding('a.txt') }],
				...(operation === 'updateMany' && { parameters: byId }),
				options: { skipUnchanged: true },
				credential: writer.credential(),
			});
			expect(outcomes(result)).toEqual(['updated']);
			expect(await files()).toEqual([['a.txt']]);
			expect(await harness.values('name', 'docs')).toEqual(['old']);
		},
	);

	test('an item of an unanswered batch whose record was changed meanwhile is unknown, the others are sent', async () => {
		const records = await fill({ code: 'a' }, { code: 'b' }, { code: 'c' });
		await harness.faults({
			match: { path: 'bulk$' },
			when: { nth: [1] },
			fault: { kind: 'resetBefore' },
		});
		let isDone = false;
		writer.before((target) => {
			if (isDone || !target.startsWith('PATCH /data/bulk')) return undefined;
			isDone = true;
			return harness.sandbox.client().patch(`/apps/${APP}/tables/docs/data/${records[1]!.id}`, {
				fields: { name: 'theirs' },
			});
		});
		const result = await run('updateMany', {
			items: records.map(({ id }) => ({ id, ...adding('a.txt') })),
			parameters: byId,
			credential: writer.credential(),
			onError: 'continueRegularOutput',
		});
		expect(outcomes(result)).toEqual(['updated', 'unknown', 'updated']);
		expect(await files()).toEqual([['a.txt'], [], ['a.txt']]);
	});
});

test('items without such values are retried as usual, in separate batches', async () => {
	await harness.faults({
		match: { path: 'bulk$' },
		when: { nth: [1, 2, 4] },
		fault: { kind: 'resetAfter' },
	});
	const items = ['a', 'b', 'c', 'd'].map((code, index) => ({
		code,
		...(index % 2 === 0 && adding(`${code}.txt`)),
	}));
	await fill();
	const result = await run('upsertMany', { items, options: { parallelRequests: 1 } });
	expect(outcomes(result)).toEqual(['inserted', 'inserted', 'inserted', 'inserted']);
	const stored = await harness.records('docs');
	expect(stored.map(({ fields }) => fields.code).sort()).toEqual(['a', 'b', 'c', 'd']);
	expect((await files()).flat().sort()).toEqual(['a.txt', 'c.txt']);
	const writes = (await harness.writes()).filter(({ path }) => path.endsWith('/bulk'));
	// The batch without files is sent again, the one with files is not: a look-up shows that it was
	// written.
	expect(writes.map(({ records, outcome }) => [records, outcome])).toEqual([
		[2, 'reset'],
		[2, 'reset'],
		[2, 'completed'],
		[2, 'reset'],
	]);
});

describe('Retry On Fail', () => {
	test.each(['update', 'updateMany', 'upsert'])(
		'of %s does not add again what the first try added',
		async (operation) => {
			const records = await fill({ code: 'a' }, { code: 'b' });
			const items = records.map(({ id, fields }) => ({
				id,
				code: String(fields.code),
				...adding('a.txt'),
			}));
			// Rejected in the first attempt.
			await harness.faults({
				match: { bodyContains: '"code":"b"' },
				when: { first: 1 },
				fault:
					operation === 'updateMany'
						? { kind: 'failRecords', field: 'code', values: ['b'] }
						: { kind: 'status', status: 400 },
			});
			const result = await run(operation, {
				items,
				...(operation !== 'upsert' && { parameters: byId }),
				retry: { maxTries: 3 },
			});
			expect(result.error).toBeUndefined();
			expect(await files()).toEqual([['a.txt'], ['a.txt']]);
		},
	);

	test.each(['upsert', 'upsertMany', 'updateMany'])(
		'of %s does not add it again to one of several records',
		async (operation) => {
			await fill({ code: 'a', name: 'old' }, { code: 'b', name: 'old' });
			await harness.faults({
				match: { method: 'PATCH' },
				when: { nth: [2] },
				fault: { kind: 'status', status: 403 },
			});
			const result = await run(operation, {
				items: [{ name: 'old', ...adding('a.txt') }],
				parameters: byName,
				options: {
					multipleMatches: 'all',
					...(operation !== 'upsert' && { batchSize: 1, parallelRequests: 1 }),
				},
				retry: { maxTries: 3 },
			});
			expect(result.error?.message).toContain('1 of 2 matching records were written');
			expect(result.error?.description).toContain('Look at the record');
			expect((await files()).flat()).toEqual(['a.txt']);
		},
	);
});

describe('messages of a chat, which may be added or replaced', () => {
	const talk = (text: string) => ({ talk: { messages: [{ text }] } });

	test.each([
		['update', { parameters: byId }],
		['updateMany', { parameters: byId }],
		['upsertMany', {}],
	])('%s sends them once if they may have arrived', async (operation, way) => {
		const [record] = await fill({ code: 'a', ...talk('first') });
		await harness.faults({
			match: {
				method: operation === 'upsertMany' ? 'POST' : 'PATCH',
				path: 'bulk$|/data/[^/]{20,}$',
			},
			when: { nth: [1] },
			fault: { kind: 'resetAfter' },
		});
		const result = await run(operation, {
			...way,
			items: [{ id: record!.id, code: 'a', ...talk('second') }],
		});
		expect(result.error).toBeUndefined();
		const isWrite = ({ path, method }: { path: string; method: string }) =>
			method === 'PATCH' || path.endsWith('/bulk');
		expect((await harness.requests()).filter(isWrite)).toHaveLength(1);
	});
});

describe('Import From File', () => {
	const imported = async (more: Partial<Run> = {}) => {
		const csv = `code,files\na,"${JSON.stringify(adding('a.txt').files).replaceAll('"', '""')}"\nb,\n`;
		const data = await storedFile('rows.csv', csv, 'text/csv');
		return await run('importFromFile', { input: [{ json: {}, binary: { data } }], ...more });
	};

	test('adds a file once', async () => {
		await fill({ code: 'a' });
		await harness.faults({
			match: { path: 'bulk$' },
			when: { first: 2 },
			fault: { kind: 'resetAfter' },
		});
		const result = await imported();
		expect(result.error).toBeUndefined();
		expect((await files()).flat()).toEqual(['a.txt']);
	});

	test('that broke off does not claim to be safe to repeat, and Retry On Fail leaves it alone', async () => {
		await fill({ code: 'a' });
		await harness.faults({
			match: { path: 'bulk$', bodyContains: '"b"' },
			fault: { kind: 'status', status: 401 },
		});
		const result = await imported({ options: { batchSize: 1 }, retry: { maxTries: 2 } });
		expect(result.error?.description).not.toContain('safe');
		expect((await files()).flat().length).toBeLessThan(2);
	});
});
