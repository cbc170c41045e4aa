/** Looking up the items that no response confirms, on a fake platform. */
import { OutcomeResolver } from '../../../../nodes/DataPlatform/bulk/send/reconcile.ts';
import { fieldOf, sendableOf, storedOf } from '../../fixtures.cts';
import { context } from '../../outcomeFixtures.cts';
import { fakePlatform, httpResponse, notFound, pageResponse } from '../../stubPlatform.cts';
import type { Report, Reported, WriteMode } from '../../../../nodes/DataPlatform/bulk/terms.ts';

const REPORTS: Record<string, Reported> = { lost: { as: 'lost' }, omitted: { as: 'omitted', listed: new Map() } };

/** `a lost, #x omitted`: an item with the key `a`, and one with the ID and the key `x`. */
const reportsOf = (text: string): Report[] =>
	text.split(', ').map((each) => {
		const [, isById, key, report] = /(#?)(\w) (\w+)/.exec(each)!;
		const id = isById ? key : undefined;
		return [sendableOf({ id, key, fields: { code: key!, n: 1 } }), REPORTS[report!]!];
	});

/** `x:a1`: a record with the ID `x`, the code `a` and the number 1. */
const storedIn = (text: string) =>
	[...text.matchAll(/(\w):(\w)(\d)/g)].map(([, id, code, n]) => storedOf({ id: id!, fields: { code: code!, n: Number(n), file: ['f'] } }));

/** Resolves items. Returns what follows, and what was read: IDs, or the fields that a search loads. */
async function resolve(mode: WriteMode, reports: string, stored: string, error?: number) {
	const read: string[] = [];
	const { connection } = fakePlatform(
		(request) => {
			const { pathname, searchParams } = new URL(request.url);
			const id = pathname.split('/data/')[1]!;
			const { loadFields = ['all'] } = JSON.parse(String(request.body ?? '{}')) as { loadFields?: string[] };
			if (!searchParams.has('skip')) read.push(request.method === 'GET' ? id : loadFields.join());
			if (error) return httpResponse(error, { errors: [{ message: 'no' }] });
			if (request.method !== 'GET') return pageResponse(request, storedIn(stored));
			const data = storedIn(stored).find((record) => record.id === id);
			return data ? httpResponse(200, { data }) : notFound();
		},
		{ retryBudgetMs: 0 },
	);
	const keys = [fieldOf('code')];
	const resolver = new OutcomeResolver({ client: connection, at: { table: 'people' } }, keys, context(mode));
	const { outcomes, unsent, stop } = await resolver.resolve({ kind: 'reconcile', reports: reportsOf(reports), unread: 0 });
	const texts = outcomes.map(([, { outcome, id }]) => `${outcome} ${id ?? ''}`.trim());
	const again = unsent.map(({ key }) => `${key} again`);
	return { follows: [...texts, ...again].join(', '), read: read.join('; '), stop: stop?.status };
}

test.each<[string, WriteMode, string, stored: string, follows: string, read: string]>([
	['by key', 'upsert', 'a lost, b lost', 'x:a1 y:b2', 'written x, unknown', 'code,n'],
	['only keys', 'upsert', 'a omitted, b omitted', 'x:a2 y:b2', 'unchanged x, unchanged y', 'code'],
	['values, too', 'upsert', 'a omitted, b lost', 'x:a2 y:b2', 'unchanged x, unknown', 'code,n'],
	['the first', 'upsert', 'a lost', 'z:a2 x:a1', 'unknown', 'code,n'],
	['all records with the key', 'create', 'a lost', 'z:a2 x:a1', 'unknown', 'code,n'],
	['by ID', 'update', '#x lost', 'x:x1', 'written x', 'x'],
	['what is gone', 'update', '#x omitted', '', 'notFound x', 'x'],
	['what is gone and should not be', 'upsert', '#x omitted', '', 'x again', 'x'],
	['by keys, then by ID', 'update', '#x lost, #y omitted', 'y:y2', 'notFound x, unchanged y', 'code,n; x'],
	['several with a key', 'upsert', '#x lost, a lost', 'x:x1 z:a2 y:a1', 'written x, written y', 'code,n'],
	['all fields', 'replace', '#x lost, #y lost', 'x:x1', 'unknown x, notFound y', 'all; y'],
])('it reads %s: %s, %s, stored %s: %s', async (_, mode, reports, stored, follows, read) => {
	expect(await resolve(mode, reports, stored)).toEqual({ follows, read, stop: undefined });
});

test.each([
	[403, 'has no right to read: others are written', undefined],
	[500, 'fails: nothing more is sent', 500],
])('if a look-up gets a %i, it %s', async (status, _, stop) => {
	const result = await resolve('upsert', 'a lost, b omitted', '', status);
	expect(result).toMatchObject({ follows: 'unknown, written', stop });
});
