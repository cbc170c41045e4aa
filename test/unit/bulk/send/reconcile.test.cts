/** Looking up the items that no response confirms, on a fake platform. */
import { fieldOf, sendableOf, storedOf, tableOf } from '../../fixtures.cts';
import { isWrite, writeRecords } from '../../bulkWrites.cts';
import { httpResponse, networkError, notFound, pageResponse, type Serve } from '../../stubPlatform.cts';
import type { Entry, WriteMode } from '../../../../nodes/DataPlatform/bulk/terms.ts';

const table = tableOf(fieldOf('code', 'text', { importKey: true }), fieldOf('n', 'number'), fieldOf('file', 'file'));

/** `a #x`: an item with the key `a`, and one with the ID and the key `x`. */
const entriesOf = (text: string): Entry[] =>
	text.split(' ').map((each, index) => {
		const key = each.at(-1)!;
		return sendableOf({ index, id: each.startsWith('#') ? key : undefined, key, fields: { code: key, n: 1 } });
	});

/** `x:a1`: a record with the ID `x`, the code `a` and the number 1. */
const storedIn = (text: string) =>
	[...text.matchAll(/(\w):(\w)(\d)/g)].map(([, id, code, n]) => storedOf({ id: id!, fields: { code: code!, n: Number(n), file: ['f'] } }));

/** What a request for several records is answered with: it is lost, or counts them without listing any. */
const RESPONSES = {
	lost: () => networkError('ECONNRESET'),
	omitted: (successCount: number) => httpResponse(200, { data: [], bulk: { successCount, insertedCount: 0, updatedCount: 0 } }),
};

type Responded = keyof typeof RESPONSES;

/** Writes items. Returns their outcomes, and what was read: IDs, or the fields that a search loads. */
async function write(mode: WriteMode, items: string, responded: Responded, stored: string, error?: number) {
	const read: string[] = [];
	const planned = entriesOf(items);
	let writes = 0;
	const serve: Serve = (request) => {
		if (isWrite(request)) {
			writes += 1;
			return writes === 1
				? RESPONSES[responded](planned.length)
				: httpResponse(200, { data: [{ id: 'new', ver: 0 }], bulk: { insertedCount: 1 } });
		}
		const { pathname, searchParams } = new URL(request.url);
		const id = pathname.split('/data/')[1]!;
		const { loadFields = ['all'] } = JSON.parse(String(request.body ?? '{}')) as { loadFields?: string[] };
		if (!searchParams.has('skip')) read.push(request.method === 'GET' ? id : loadFields.join());
		if (error) return httpResponse(error, { errors: [{ message: 'no' }] });
		if (request.method !== 'GET') return pageResponse(request, storedIn(stored));
		const data = storedIn(stored).find((record) => record.id === id);
		return data ? httpResponse(200, { data }) : notFound();
	};
	const { outcomes, stopped } = await writeRecords({ planned, serve, options: { mode }, table });
	const results = outcomes.map(({ outcome, id }) => `${outcome} ${id ?? ''}`.trim());
	return { results: results.join(', '), read: read.join('; '), stop: stopped?.status };
}

test.each<[string, WriteMode, string, Responded, stored: string, results: string, read: string]>([
	['by key', 'upsert', 'a b', 'lost', 'x:a1 y:b2', 'written x, unknown', 'code,n'],
	['only keys', 'upsert', 'a b', 'omitted', 'x:a2 y:b2', 'unchanged x, unchanged y', 'code'],
	['exactly, if two have the key', 'upsert', 'a', 'lost', 'z:a2 x:a1', 'written x', 'code,n; code,n'],
	['all records with the key', 'create', 'a', 'lost', 'z:a2 x:a1', 'unknown', 'code,n'],
	['by ID', 'update', '#x', 'lost', 'x:x1', 'written x', 'x'],
	['what is gone', 'update', '#x', 'omitted', '', 'notFound x', 'x'],
	['what is gone and should not be', 'upsert', '#x', 'omitted', '', 'inserted new', 'x'],
	['by keys, then by ID', 'update', '#x #y', 'lost', 'y:y1', 'notFound x, written y', 'code,n; x'],
	['all fields', 'replace', '#x #y', 'lost', 'x:x1', 'unknown x, notFound y', 'all; y'],
])('it reads %s: %s of %s, %s, stored %s: %s', async (_, mode, items, responded, stored, results, read) => {
	expect(await write(mode, items, responded, stored)).toMatchObject({ results, read });
});

test.each([
	[403, 'has no right to read: others are written', undefined],
	[500, 'fails: nothing more is sent', 500],
])('if a look-up gets a %i, it %s', async (status, _, stop) => {
	expect(await write('upsert', 'a b', 'omitted', '', status)).toMatchObject({ results: 'written, written', stop });
});
