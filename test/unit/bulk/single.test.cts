/** Writing one record: the requests, and the outcome after an ambiguous failure. */
import type { IHttpRequestOptions } from 'n8n-workflow';
import type { FieldValues } from '../../../nodes/DataPlatform/api/types.ts';
import {
	readBeforeAdding,
	writeOne,
	writeOneMatched,
} from '../../../nodes/DataPlatform/bulk/single.ts';
import type { Matching, WriteTarget } from '../../../nodes/DataPlatform/bulk/task.ts';
import { writeMany } from '../../../nodes/DataPlatform/bulk/write.ts';
import { serviceErrorOrThrow, ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { fieldOf, storedOf, tableOf } from '../fixtures.cts';
import { LAST, SINCE } from '../outcomeFixtures.cts';
import {
	fakePlatform,
	httpResponse,
	networkError,
	notFound,
	type Serve,
} from '../stubPlatform.cts';

const table = tableOf(
	fieldOf('code', 'text', { importKey: true }),
	fieldOf('name'),
	fieldOf('tags', 'chips'),
	fieldOf('files', 'file'),
);
const at = { table: 'people' };

type Reply = ReturnType<Serve>;

const ok = (data: unknown) => httpResponse(200, { data });
const no = (status: number) => httpResponse(status, { errors: [{ message: `no ${status}` }] });
const lost = () => networkError('ECONNRESET');
const late = () => no(504);

const stored = (fields: FieldValues, more = {}) => storedOf({ id: 'x', ver: 1, fields, ...more });
const added = { add: [{ filename: 'a', mimetype: 'text/plain', filedata: 'data:,' }] };
const withFile = { files: [{ fileId: 'f', fileName: 'a' }] };

async function call<T>(run: (target: WriteTarget) => Promise<T>, replies: Reply[]) {
	// No wait between attempts.
	jest.spyOn(Math, 'random').mockReturnValue(-1);
	const { connection: client, sent } = fakePlatform((_, count) => replies[count - 1] ?? no(418));
	const result = await run({ client, at, table }).catch(serviceErrorOrThrow);
	jest.restoreAllMocks();
	const requests = sent.map(
		({ method, url }: IHttpRequestOptions) =>
			`${method} ${new URL(url).pathname.split('/people')[1]}`,
	);
	const { id, ver } = (result ?? {}) as { id?: string; ver?: number };
	return {
		requests,
		result: result instanceof ServiceError ? result : { id, ver },
	};
}

const update = (fields: FieldValues, replies: Reply[], before?: ReturnType<typeof stored>) =>
	call(
		async (target) => await writeOne(target, { index: 0, id: 'x', fields, before }, 'update', {}),
		replies,
	);

const [PATCH, GET] = ['PATCH /data/x', 'GET /data/x'];
const unknown = { delivery: 'ambiguous' };
const old = stored({ name: 'old' });
const changed = stored({ name: 'new' }, { ver: 2 });

describe('an update', () => {
	const name = { name: 'new' };
	test.each<[string, Reply[], object, string[]]>([
		['is confirmed', [ok(changed)], { id: 'x', ver: 2 }, [PATCH]],
		['is refused', [no(400)], { message: 'no 400', status: 400 }, [PATCH]],
		['is lost, then confirmed', [lost(), ok(changed)], { id: 'x' }, [PATCH, PATCH]],
		[
			'is lost, then refused; the record holds it',
			[lost(), no(400), ok(changed)],
			{ id: 'x', ver: 2 },
			[PATCH, PATCH, GET],
		],
		[
			'is lost, then refused; the record holds something else',
			[lost(), no(400), ok(old)],
			// It may have been written, and then changed by another writer.
			{ ...unknown, message: expect.stringContaining('may have been applied') },
			[PATCH, PATCH, GET],
		],
		[
			'may still be applied, then refused',
			[late(), no(400), ok(old)],
			{ ...unknown, message: expect.stringContaining('may still be applied') },
			[PATCH, PATCH, GET],
		],
		[
			'is lost, then refused; there is no such record',
			[lost(), no(400), notFound()],
			{ delivery: 'rejected', status: 404, message: "The table has no record with the ID 'x'" },
			[PATCH, PATCH, GET],
		],
		[
			'is lost, then refused; it can’t be read',
			[lost(), no(400), no(403)],
			{
				...unknown,
				message: expect.stringMatching(/: no 400; looking it up failed: .*no 403$/),
				hint: 'It is safe to run it again.',
			},
			[PATCH, PATCH, GET],
		],
		[
			'is never answered; the record holds it',
			[...Array.from({ length: 6 }, lost), ok(changed)],
			{ id: 'x', ver: 2 },
			[...Array.from({ length: 6 }, () => PATCH), GET],
		],
	])('%s', async (_, replies, expected, requests) => {
		const { result, requests: sent } = await update(name, replies);
		expect(result).toMatchObject(expected);
		expect(sent).toEqual(requests);
	});

	test('of which the record does not show whether it was applied', async () => {
		const { result } = await update({ tags: ['b', 'a'] }, [
			lost(),
			no(400),
			ok(stored({ tags: ['a', 'b'] })),
		]);
		expect(result).toMatchObject({ ...unknown, noRetry: undefined });
	});
});

describe('an update that adds a file', () => {
	test.each<[string, Reply[], object, string[]]>([
		['is refused', [no(400)], { message: 'no 400' }, [PATCH]],
		[
			'is lost, and the record is as it was: again',
			[lost(), ok(old), ok(changed)],
			{ id: 'x', ver: 2 },
			[PATCH, GET, PATCH],
		],
		[
			'is lost, and the record has it',
			[lost(), ok(stored(withFile, { ver: 2 })), ok(stored(withFile, { ver: 2 }))],
			{ id: 'x', ver: 2 },
			[PATCH, GET, GET],
		],
		[
			'is lost, and the record is another version without it',
			[lost(), ok(changed), ok(changed)],
			{ ...unknown, noRetry: true, hint: { code: 'lookBeforeAddingAgain' } },
			[PATCH, GET, GET],
		],
		[
			'is lost, and it can’t be read',
			[lost(), no(403), no(403)],
			{ ...unknown, noRetry: true, hint: { code: 'lookBeforeAddingAgain' } },
			[PATCH, GET, GET],
		],
		['may still be applied', [late(), ok(old)], { ...unknown, noRetry: true }, [PATCH, GET]],
		[
			'is lost, not applied, then refused',
			[lost(), ok(old), no(400)],
			{ message: 'no 400', delivery: 'rejected' },
			[PATCH, GET, PATCH],
		],
	])('%s', async (_, replies, expected, requests) => {
		const { result, requests: sent } = await update({ files: added }, replies, old);
		expect(result).toMatchObject(expected);
		expect(sent).toEqual(requests);
	});

	test('that had one of the name before: the new one counts', async () => {
		const before = stored(withFile);
		const after = stored(withFile, { ver: 2 });
		const { result } = await update({ files: added }, [lost(), ok(after), ok(after)], before);
		expect(result).toMatchObject(unknown);
	});

	test.each<[string, FieldValues, Reply[], object | undefined, number]>([
		['is read before', { files: added }, [ok(old)], { id: 'x', ver: 1 }, 1],
		['may not be read', { files: added }, [no(403)], { id: undefined, ver: undefined }, 1],
		['is not there', { files: added }, [notFound()], { status: 404 }, 1],
		['adds nothing: not read', { name: 'a' }, [], {}, 0],
		['adds an empty list: not read', { files: { add: [] } }, [], {}, 0],
		['replaces: not read', { files: [] }, [], {}, 0],
	])('the record %s', async (_, fields, replies, expected, count) => {
		const { result, requests } = await call(
			async (target) => (await readBeforeAdding(target, { index: 0, id: 'x', fields })) ?? {},
			replies,
		);
		expect(result).toMatchObject(expected!);
		expect(result instanceof ServiceError).toBe('status' in expected!);
		expect(requests).toHaveLength(count);
	});
});

describe('an upsert', () => {
	const [POST, FIND] = ['POST /data', 'POST /data/filter'];
	const upsert = (fields: FieldValues, replies: Reply[]) =>
		call(
			async (target) =>
				await writeOne(
					target,
					{ index: 0, key: 'k', fields: { code: 'k', ...fields } },
					'upsert',
					{},
					LAST,
				),
			replies,
		);
	const its = (fields: FieldValues, more = {}) => stored({ code: 'k', ...fields }, more);

	test.each<[string, FieldValues, Reply[], object, string[]]>([
		['is confirmed', { name: 'a' }, [ok(its({ name: 'a' }))], { id: 'x' }, [POST]],
		[
			'is lost, then refused; the record holds it',
			{ name: 'a' },
			[lost(), no(403), ok([its({ name: 'a' })])],
			{ id: 'x' },
			[POST, POST, FIND],
		],
		[
			'is lost, then refused; there is none',
			{ name: 'a' },
			[lost(), no(403), ok([])],
			{ delivery: 'rejected', status: 403 },
			[POST, POST, FIND],
		],
		[
			'is never answered; there is none',
			{ name: 'a' },
			[...Array.from({ length: 6 }, lost), ok([])],
			{
				...unknown,
				hint: 'It is safe to run it again: with the same import key nothing is doubled.',
			},
			[...Array.from({ length: 6 }, () => POST), FIND],
		],
		[
			'adds a file, is lost; there is none: again',
			{ files: added },
			[lost(), ok([]), ok(its(withFile))],
			{ id: 'x' },
			[POST, FIND, POST],
		],
		[
			'adds a file, is lost; the record is older than the run: again',
			{ files: added },
			[lost(), ok([its({})]), ok(its(withFile))],
			{ id: 'x' },
			[POST, FIND, POST],
		],
		[
			'adds a file, is lost; the record was changed since and has it',
			{ files: added },
			[lost(), ok([its(withFile, { modified: SINCE })]), ok([its(withFile, { modified: SINCE })])],
			{ id: 'x' },
			[POST, FIND, FIND],
		],
	])('%s', async (_, fields, replies, expected, requests) => {
		const { result, requests: sent } = await upsert(fields, replies);
		expect(result).toMatchObject(expected);
		expect(sent).toEqual(requests);
	});
});

describe('a creation', () => {
	const create = (fields: FieldValues, replies: Reply[], key?: string) =>
		call(
			async (target) => await writeOne(target, { index: 0, key, fields }, 'create', {}),
			replies,
		);

	test.each<[string, Reply[], object, number]>([
		['is confirmed', [ok(stored({ name: 'a' }))], { id: 'x' }, 1],
		['is refused', [no(400)], { message: 'no 400', status: 400 }, 1],
		['is lost', [lost()], { ...unknown, hint: { code: 'lookBeforeCreatingAgain' } }, 1],
	])('without a key %s', async (_, replies, expected, count) => {
		const { result, requests } = await create({ name: 'a' }, replies);
		expect(result).toMatchObject(expected);
		expect(requests).toHaveLength(count);
	});

	test.each<[string, Reply[], string]>([
		['found', [ok([stored({ code: 'k' })]), ok([])], "the record 'x' has the import key 'k'"],
		['not found', [ok([])], "a look-up did not find the import key 'k' yet"],
	])('that is lost is looked up by its key: %s', async (_, replies, message) => {
		const { result } = await create({ code: 'k' }, [lost(), ...replies], 'k');
		expect(result).toMatchObject({ ...unknown, message: expect.stringContaining(message) });
	});
});

describe('what is matched', () => {
	const write = (replies: Reply[], fields: FieldValues = { name: 'a' }, rules = {}) => {
		const matching: Matching = {
			...{ on: ['name'], ifFound: 'update', ifMissing: 'create', multipleMatches: 'error' },
			...rules,
		};
		const record = { index: 0, key: 'a', fields };
		const prepare = jest.fn();
		const run = async (target: WriteTarget) =>
			(await writeOneMatched(target, record, matching, {}, prepare))[0];
		return call(run, replies);
	};
	const none = ok([]);
	const found = [ok([stored({ name: 'a' })]), none];

	test.each<[string, Reply[], object, number]>([
		['and missing is created', [none, ok(stored({ name: 'a' }))], { id: 'x' }, 2],
		['and missing is refused', [none, no(400), none], { message: 'no 400' }, 3],
		// A last request shows that there is no other record.
		['and created is lost, and found', [none, lost(), ...found], { id: 'x' }, 4],
		[
			'and created is lost, and not found',
			[none, lost(), none],
			{ ...unknown, noRetry: true, message: expect.stringContaining('did not find') },
			3,
		],
		['and created is lost, and can’t be looked up', [none, lost(), no(403)], unknown, 3],
		['and found is updated', [...found, ok(changed)], { id: 'x', ver: 2 }, 3],
		['and found is gone: created', [...found, notFound(), none, ok(old)], { id: 'x', ver: 1 }, 5],
		['and found is refused', [...found, no(400)], { message: 'no 400' }, 3],
		[
			'and missing is taken by then: updated',
			[none, no(400), ...found, ok(changed)],
			{ id: 'x', ver: 2 },
			5,
		],
	])('%s', async (_, replies, expected, count) => {
		const { result, requests } = await write(replies);
		expect(result).toMatchObject(expected);
		expect(requests).toHaveLength(count);
	});

	test.each([
		['a', { id: 'x' }],
		['b', unknown],
	])(
		'is created with a file, and one that has the file %s is found',
		async (fileName, expected) => {
			const fields = { name: 'a', files: [{ fileId: 'f', fileName }] };
			const replies = [none, lost(), ok([stored(fields)]), none];
			expect((await write(replies, { name: 'a', files: added })).result).toMatchObject(expected);
		},
	);
});

describe('one of many of which neither the response nor what is stored says anything', () => {
	const files = [{ filename: 'a' }];
	const silent = httpResponse(200, { bulk: { successCount: 1 }, data: [] });
	const there = ok(stored({ files: [{ fileId: 'f' }] }, { ver: 4 }));
	const [BULK, LOOK] = ['PATCH /data/bulk', 'GET /data/x'];
	const options = {
		mode: 'update',
		...{ batchSize: 0, batchBytes: 1e6, parallelRequests: 0 },
		...{ skipUnchanged: false, dryRun: false, stopAtFailure: false },
	} as const;

	test.each<[string, Reply[], object, string[]]>([
		['has a new version', [ok(stored({}, { ver: 5 }))], { outcome: 'updated', ver: 5 }, [PATCH]],
		['has the same version', [ok(stored({}, { ver: 4 }))], { outcome: 'unchanged' }, [PATCH]],
		['has no version', [ok(stored({}, { ver: undefined }))], { outcome: 'updated' }, [PATCH]],
		['rejects it', [no(400), there], { outcome: 'unknown' }, [PATCH, LOOK]],
		['says that it is gone', [notFound(), notFound()], { outcome: 'notFound' }, [PATCH, LOOK]],
		['has no right', [no(403), there], { outcome: 'unknown' }, [PATCH, LOOK]],
	])('is written alone, and the response %s', async (_, replies, expected, requests) => {
		let outcome: object | undefined;
		const record = { index: 0, id: 'x', fields: { files } };
		const { requests: sent } = await call(
			async (target) => {
				await writeMany(target, [record], options, LAST, (_, item) => {
					outcome = item;
				});
			},
			[silent, there, ...replies],
		);
		expect(outcome).toMatchObject(expected);
		expect(outcome).not.toHaveProperty('fields');
		expect(sent).toEqual([BULK, LOOK, ...requests]);
	});
});
