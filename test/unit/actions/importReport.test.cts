/** What an import that stopped early says: which rows are certain, and how to resume it. */
import { interrupted, reportOn } from '../../../nodes/DataPlatform/actions/record/importReport.ts';
import { noCounts } from '../../../nodes/DataPlatform/bulk/outcome.ts';
import type { WriteMode } from '../../../nodes/DataPlatform/bulk/terms.ts';
import type { ImportResult } from '../../../nodes/DataPlatform/import/rowImport.ts';
import { FailureKinds } from '../../../nodes/DataPlatform/run/failureKinds.ts';
import { InputError } from '../../../nodes/DataPlatform/transport/errors.ts';

type Counts = Partial<ImportResult['counts']>;

const failureOf = (mode: WriteMode, counts: Counts, more: Partial<ImportResult>, isOnlyFile = true) => {
	const result: ImportResult = {
		...{ merged: {}, notices: [], kinds: new FailureKinds('row'), preview: [], readOnly: new Set() },
		...{ confirmedThroughRow: 1, writtenAfter: 0, unknownAfter: 0, addsTwice: false },
		interruption: { error: new InputError('down', { hint: 'Wait.' }) },
		...more,
		counts: { ...noCounts(false), rows: 0, rejected: 0, ...counts },
	};
	const report = reportOn({ mode, outputName: 'rejected' }, result, { file: 'a.csv', requests: 1, waitedMs: 0 });
	return interrupted(report, isOnlyFile);
};

const rejectedFile = { data: '', mimeType: 'text/csv' };
const someUnknown: Counts = { rows: 20, inserted: 10, unknown: 10, rejected: 10 };
const through21 = { confirmedThroughRow: 21, firstUnknownRow: 12, rejectedFile };
const oneAfter = { confirmedThroughRow: 3, writtenAfter: 1, unknownAfter: 1 };
const mayBeWritten = '10 rows before that may or may not have been written, and are among the rejected rows';

test.each<[mode: WriteMode, counts: Counts, more: Partial<ImportResult>, message: string, hints: string[]]>([
	['create', {}, {}, "No row of 'a.csv' was imported", []],
	[
		'create',
		someUnknown,
		through21,
		"'a.csv' is imported through row 21 only",
		[`${mayBeWritten}: look for them before you import those.`],
	],
	[
		'upsert',
		someUnknown,
		through21,
		"'a.csv' is imported through row 21 only",
		[`${mayBeWritten}.`, 'It is safe to import the whole file again.'],
	],
	[
		'create',
		{ rows: 30, unknown: 30 },
		{ unknownAfter: 30 },
		"No row of 'a.csv' was imported for certain",
		['30 rows may or may not have been written: check before you go on.'],
	],
	[
		'create',
		{ rows: 4, inserted: 3, unknown: 1 },
		oneAfter,
		"'a.csv' is imported through row 3 only",
		[
			'1 row after that may or may not have been written: check before you go on.',
			'1 row after that is already written, and would be written twice.',
		],
	],
])('%s, of %j with %j: %s', (mode, counts, more, message, hints) => {
	const failure = failureOf(mode, counts, more);
	expect(failure.message).toBe(`${message}: down`);
	const next = `To continue, set 'Start at Row' in the options to ${(more.confirmedThroughRow ?? 1) + 1}.`;
	expect(failure.hint).toBe(['Wait.', ...(message.endsWith('only') ? [next] : []), ...hints].join(' '));
});

test('the details say where to start, and what is certain before', () => {
	expect(failureOf('upsert', someUnknown, through21)).toMatchObject({
		outcome: 'unknown',
		details: { startAtRow: 22, confirmedThroughRow: 11, inserted: 10, unknown: 10, rejected: 10 },
	});
	expect(failureOf('upsert', { rows: 1, updated: 1 }, { confirmedThroughRow: 2 })).toMatchObject({ outcome: 'failed' });
	expect(failureOf('create', { rows: 1, inserted: 1 }, { confirmedThroughRow: 2 })).toMatchObject({ outcome: 'unknown' });
});

test('with other files, the row is of this file only', () => {
	const { hint } = failureOf('upsert', { rows: 1, updated: 1 }, { confirmedThroughRow: 2 }, false);
	expect(hint).toContain("'Start at Row' in the options to 3, for this file only.");
});
