/**
 * What the nodes stored in earlier versions, one of each format: each must stay readable, or n8n would lose the changes
 * since then. Never change a line here; a new format gets a line of its own.
 */
import { unseal } from '../../../nodes/DataPlatform/api/packing.ts';
import { fromCursor } from '../../../nodes/DataPlatform/changes/cursor.ts';
import { selectChanges, LIMITS, type ChangeState } from '../../../nodes/DataPlatform/changes/tracker.ts';
import { readState as readAgreed } from '../../../nodes/DataPlatform/fields/agreedState.ts';
import { readState, unreadableState } from '../../../nodes/DataPlatform/trigger/savedState.ts';
import { fakePoll } from '../fakeTrigger.cts';

const iso = (time: number) => new Date(time).toISOString();

/** The record that each state knows, in its next version; and one that it does not know. */
const next = [
	{ id: 'r1', ver: 3, created: iso(1), modified: iso(1_763_699_995_000), fields: {} },
	{ id: 'new', ver: 0, created: iso(1_763_699_996_000), modified: iso(1_763_699_996_000), fields: {} },
];

const POLL_3 =
	'siOczh_C2ha{"identity":"shop","revision":5,"state":{"cursor":1763700000000,"cursorReadAt":1763700000100,"watermark":{"time":1763699940000,"id":""},"emitted":{"r1":[2,1763699990000]},"backlog":{"earlier":"abc123","offset":7},"digests":{"r1":"abcdefghijk"}},"deletions":{"ids":"~W10","checkedAt":1763700000100}}';
const CURSOR_1 =
	'1.i_l4hBIx.FAvtv5w_.eyJjdXJzb3IiOjE3NjM3MDAwMDAwMDAsImN1cnNvclJlYWRBdCI6MTc2MzcwMDAwMDEwMCwid2F0ZXJtYXJrIjp7InRpbWUiOjE3NjM2OTk5NDAwMDAsImlkIjoiIn0sImVtaXR0ZWQiOnsicjEiOlsyLDE3NjM2OTk5OTAwMDBdfSwiYmFja2xvZyI6eyJlYXJsaWVyIjoiYWJjMTIzIiwib2Zmc2V0Ijo3fX0.5_dzZeaiq8g';

test.each<[string, () => ChangeState]>([
	[
		'the trigger, format 3',
		() => {
			const context = fakePoll({ serve: () => new Error(), staticData: { node: { watch: POLL_3 } } });
			expect(unreadableState(context)).toBeUndefined();
			return readState(context)!.state!;
		},
	],
	['Get Changes, format 1', () => fromCursor(CURSOR_1, { table: 'crm contacts', selection: 'none' })],
])('%s: what changed since then is emitted', (_, read) => {
	const digest = (): Array<[string, string]> => [['stage', '12345678']];
	const options = { kinds: new Set(['created', 'updated'] as const), overlapMs: 60_000, maximum: 10, digest };
	const { changes } = selectChanges(read(), { records: next, isWhole: true, startedAt: 0, readAt: 0 }, options, LIMITS);
	expect(changes.map(({ kind, record, more }) => [kind, record.id, more])).toEqual([
		['updated', 'r1', undefined],
		['created', 'new', undefined],
	]);
});

test('the webhook trigger, format 2', () => {
	const stored = 'JqRfstaiFST{"source":"shop","versions":[["r1",2,1763699990000]]}';
	expect(unseal('webhook 2', stored)).toEqual({ source: 'shop', versions: [['r1', 2, 1_763_699_990_000]] });
});

test('two-way sync, format 1', () => {
	const stored =
		'{"v":1,"key":"bsuRAILtF28Y","at":"2026-11-27T10:00:00.000Z","on":["mail"],"ver":1,"wrote":["text"],"fields":{"text":{"here":"a","item":"a"}}}';
	expect(readAgreed(stored, ([on]) => `${on} of Ann`)).toMatchObject({ fields: { text: { here: 'a', item: 'a' } } });
});
