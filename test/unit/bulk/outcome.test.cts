/** The outcomes of items, and those that need no look-up. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
	failedItem,
	isSuccess,
	noCounts,
	notSent,
	notSentItem,
	OUTCOME_NAMES,
	OUTCOMES,
	outcomeText,
	rejectedItem,
	unknownItem,
} from '../../../nodes/DataPlatform/bulk/outcome.ts';
import { failure } from '../outcomeFixtures.cts';
import type { Outcome, WriteMode } from '../../../nodes/DataPlatform/bulk/terms.ts';

/** The compiler asks for each. */
const EXPECTED: Record<Outcome, [text: string, isSuccess: boolean, isRemoval?: true]> = {
	inserted: ['inserted', true],
	updated: ['updated', true],
	unchanged: ['unchanged', true],
	written: ['written', true],
	found: ['found', true],
	skipped: ['skipped', true],
	deleted: ['deleted', true, true],
	marked: ['marked', true, true],
	notFound: ['not found', false],
	failed: ['failed', false],
	unknown: ['unknown', false],
};

test("the report of an import counts each outcome that its rows can have, in n8n's description and in docs/operations.md", () => {
	const root = join(__dirname, '../../..');
	const readJson = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8')) as Record<string, object>;
	const { properties } = readJson('nodes/DataPlatform/__schema__/v1.0.0/record/importFromFile.json');
	const example = readJson('scripts/exampleOutputs.json')['record.importFromFile'];
	const counts = Object.keys(noCounts(false));
	expect(Object.keys(properties!)).toEqual(expect.arrayContaining(counts));
	expect(Object.keys(example!)).toEqual(expect.arrayContaining(counts));
});

test('docs/writing-records.md says what each outcome means', () => {
	const page = readFileSync(join(__dirname, '../../../docs/writing-records.md'), 'utf8');
	const rows = page.split('\n').filter((line) => line.startsWith('| `'));
	expect(OUTCOME_NAMES.filter((name) => !rows.some((row) => row.includes(`\`${name}\``)))).toEqual([]);
});

test('outcomes are in the order of summaries', () => {
	expect(OUTCOME_NAMES).toEqual(Object.keys(EXPECTED));
});

test.each(OUTCOME_NAMES)('%s: its text, and whether it is a success or a removal', (outcome) => {
	const [text, success, removal] = EXPECTED[outcome];
	expect([outcomeText(outcome), isSuccess({ outcome })]).toEqual([text, success]);
	expect(OUTCOMES[outcome] === 'removal').toBe(removal ?? false);
});

test('removals are counted only if records are removed', () => {
	const names = Object.keys(noCounts(false));
	expect(Object.entries(noCounts(true))).toEqual(OUTCOME_NAMES.map((name) => [name, 0]));
	expect(names).toEqual(OUTCOME_NAMES.filter((name) => name !== 'deleted' && name !== 'marked'));
});

test.each<[WriteMode, isRetryable: boolean, hint: unknown]>([
	[
		'create',
		false,
		"Look for the record in the platform before you send it again. By import key, 'Create or Update' can be repeated without creating duplicates.",
	],
	['upsert', true, 'It is safe to run it again: with the same import key nothing is doubled.'],
	['update', true, 'It is safe to run it again.'],
	['replace', true, 'It is safe to run it again.'],
])('an unknown %s: whether it can be run again', (mode, isRetryable, hint) => {
	const message = 'Unknown whether this record was written: why';
	const item = unknownItem(mode, 'why');
	expect(item).toEqual({ outcome: 'unknown', message, hint, isRetryable });
});

const details = { code: 'c', hint: 'do', retryAfterMs: 7 };
test.each([
	['rejected', false],
	['notApplied', true],
	['canceled', true],
] as const)('an item whose request was %s: it may succeed later: %s', (delivery, isRetryable) => {
	const cause = failure(delivery, 400, details);
	const item = { outcome: 'failed', status: 400, isRetryable, ...details };
	expect(failedItem(cause)).toEqual({ ...item, message: `${delivery} 400` });
	expect(notSentItem(cause)).toEqual({
		...{ ...item, notAttempted: true, stopsRun: true },
		message: `Not sent, the run stopped before: ${delivery} 400`,
	});
});

test('a rejected item has the reason, if there is one', () => {
	const none = 'The platform rejected the record and gave no reason';
	expect(rejectedItem({ id: 'c', message: 'bad' })).toMatchObject({ message: 'bad', code: 'c' });
	expect(rejectedItem({})).toMatchObject({ outcome: 'failed', message: none });
});

test.each([
	['item', 'Item 3 was not sent: why'],
	[undefined, 'Item 3 was not sent: why'],
	['row', 'why'],
] as const)('why it was not sent, if it is called %s', (unit, message) => {
	expect(notSent(3, 'why', unit)).toBe(message);
});
