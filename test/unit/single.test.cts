/** Writing one record: the requests, and the outcome after an ambiguous failure. */
import type { IHttpRequestOptions } from 'n8n-workflow';
import type { FieldValues } from '../../nodes/DataPlatform/api/types.ts';
import {
	createMissing,
	readBeforeAdding,
	singleContext,
	updateOne,
	upsertOne,
} from '../../nodes/DataPlatform/bulk/single.ts';
import { failureAsValue, ServiceError } from '../../nodes/DataPlatform/transport/errors.ts';
import { fieldOf, storedOf, tableOf } from './fixtures.cts';
import { LAST, SINCE } from './outcomeFixtures.cts';
import { fakePlatform, httpResponse, networkError, notFound, type Serve } from './stubPlatform.cts';

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

async function call<T>(run: (target: object) => Promise<T>, replies: Reply[]) {
	// No wait between attempts.
	jest.spyOn(Math, 'random').mockReturnValue(-1);
	const { connection: client, sent } = fakePlatform((_, count) => replies[count - 1] ?? no(418));
	const result = await run({ client, at }).catch(failureAsValue);
	jest.restoreAllMocks();
	const requests = sent.map(
		({ method, url }: IHttpRequestOptions) =>
			`${method} ${new URL(url).pathname.split('/people')[1]}`,
	);
	const { id, ver } = result as { id?: string; ver?: number };
	return {
		requests,
		result: result instanceof ServiceError ? result : { id, ver },
	};
}

const update = (fields: FieldValues, replies: Reply[], before?: ReturnType<typeof stored>) =>
	call(
		async (target) =>
			await updateOne(target as never, 'x', fields, before, singleContext(table, 'update'), {}),
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
		expect(result).toMatchObject({ ...unknown, isFinal: undefined });
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
			{ ...unknown, isFinal: true, hint: { code: 'lookBeforeAddingAgain' } },
			[PATCH, GET, GET],
		],
		[
			'is lost, and it can’t be read',
			[lost(), no(403), no(403)],
			{ ...unknown, isFinal: true, hint: { code: 'lookBeforeAddingAgain' } },
			[PATCH, GET, GET],
		],
		['may still be applied', [late(), ok(old)], { ...unknown, isFinal: true }, [PATCH, GET]],
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
			async (target) =>
				(await readBeforeAdding(target as never, 'x', fields, singleContext(table, 'update'))) ??
				{},
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
				await upsertOne(
					target as never,
					table,
					{ index: 0, key: 'k', fields: { code: 'k', ...fields } },
					LAST,
					{},
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

describe('creating what nothing matched', () => {
	const create = (
		replies: Reply[],
		keys = [table.fields[1]!],
		fields: FieldValues = { name: 'a' },
	) =>
		call(
			async (target) =>
				await createMissing(
					target as never,
					{ index: 0, key: 'a', fields },
					keys,
					singleContext(table, 'update'),
					{},
				),
			replies,
		);

	test.each<[string, Reply[], object, number]>([
		['is confirmed', [ok(stored({ name: 'a' }))], { id: 'x' }, 1],
		['is refused', [no(400)], { message: 'no 400' }, 1],
		// A last request shows that there is no other record.
		['is lost, and found', [lost(), ok([]), ok([stored({ name: 'a' })]), ok([])], { id: 'x' }, 4],
		[
			'is lost, and not found',
			[lost(), ok([]), ok([])],
			{
				...unknown,
				isFinal: true,
				message: expect.stringContaining("the table has no record with 'a' in 'name' yet"),
			},
			3,
		],
		[
			'is lost, and another one is found',
			[lost(), ok([]), ok([stored({ name: 'b' })]), ok([])],
			unknown,
			4,
		],
		['is lost, and can’t be looked up', [lost(), no(403), no(403)], unknown, 3],
	])('%s', async (_, replies, expected, count) => {
		const { result, requests } = await create(replies);
		expect(result).toMatchObject(expected);
		expect(requests).toHaveLength(count);
	});

	test.each([
		['a', { id: 'x' }],
		['b', unknown],
	])('with a file, and one that has the file %s is found', async (fileName, expected) => {
		const fields = { name: 'a', files: [{ fileId: 'f', fileName }] };
		const replies = [lost(), ok([]), ok([stored(fields)]), ok([])];
		const sent = { name: 'a', files: added };
		expect((await create(replies, undefined, sent)).result).toMatchObject(expected);
	});

	test('without fields to look for it by it stays unknown', async () => {
		const { result, requests } = await create([lost()], []);
		expect(result).toMatchObject(unknown);
		expect(requests).toHaveLength(1);
	});
});
