/**
 * What *Import From File* says: of a file that was imported, of one that was interrupted, and how to
 * resume it.
 *
 *     'people.csv', 3 rows: 2 inserted, 1 failed (1 request). Problems: row 3: …
 *     'people.csv' is imported through row 2000 only: … To continue, set 'Start at Row' to 2001.
 */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { WriteMode } from '../../bulk/terms';
import { certainThrough, type ImportResult } from '../../import/rowImport';
import { toProblem } from '../../parameters/describeFailure';
import { startAtRow } from '../../parameters/files/rowFiles';
import type { RunContext } from '../../run/run';
import type { Problem } from '../../transport/errors';
import { omitUndefined } from '../../transport/json';
import { counted } from '../../transport/messageText';
import { countsText } from './summary';

/** The result of one file. */
export interface FileReport {
	mode: WriteMode;
	json: IDataObject;
	result: ImportResult;
	/** The file's name and the result of its rows, in one sentence. */
	summary: string;
	/** The output field for its rejected rows. */
	outputName: string;
	/** Importing the file again could write rows twice. */
	noRetry: boolean;
	/** Only all of its rows can be imported: they say which records are missing. */
	isWhole?: boolean;
	/** Why records that are missing from it could not be removed, if so. */
	notRemoved?: Problem;
}

/** The result of a file, as output and as one sentence. */
export function reportOn(
	about: Pick<FileReport, 'mode' | 'outputName' | 'isWhole' | 'notRemoved'>,
	result: ImportResult,
	{ file, ...effort }: IDataObject & { file: string; requests: number; dryRun?: boolean },
): FileReport {
	const { counts, kinds } = result;
	const reasons = kinds.text();
	const merged = Object.values(result.merged).reduce((sum, count) => sum + count, 0);
	const json = omitUndefined({
		file,
		preview: effort.dryRun && result.preview,
		errors: result.kinds.list(),
		...counts,
		merged: merged || undefined,
		confirmedThroughRow: certainThrough(result),
		...effort,
	});
	return {
		...about,
		json,
		result,
		summary: `'${file}', ${counted(counts.rows, 'row')}${effort.dryRun ? '. ' : ': '}${countsText({ ...counts, ...effort }, result.merged)}${reasons && ` Problems: ${reasons}.`}`,
		noRetry:
			(about.mode === 'create' || result.addsTwice) &&
			!effort.dryRun &&
			counts.inserted + counts.updated + counts.written + counts.unknown > 0,
	};
}

const areIs = (count: number) => (count === 1 ? 'is' : 'are');

/** How to resume an interrupted import. @param isCertain whether the outcome of any row is certain */
function resumeHints(
	{ result, noRetry, isWhole }: FileReport,
	isCertain: boolean,
	isOnlyFile: boolean,
): string[] {
	const { counts, confirmedThroughRow: through, writtenAfter, unknownAfter, isAtEnd } = result;
	const unknownBefore = counts.unknown - unknownAfter;
	const sentences = [
		isCertain &&
			!isWhole &&
			!isAtEnd &&
			`To continue, set ${startAtRow} in the options to ${through + 1}${isOnlyFile ? '' : ', for this file only'}.`,
		unknownBefore > 0 &&
			`${counted(unknownBefore, 'row')} before that may or may not have been written, and ${areIs(unknownBefore)} among the rejected rows${noRetry ? ': look for them before you import those' : ''}.`,
		unknownAfter > 0 &&
			`${counted(unknownAfter, 'row')}${isCertain ? ' after that' : ''} may or may not have been written: check before you go on.`,
		noRetry &&
			writtenAfter > 0 &&
			`${counted(writtenAfter, 'row')} after that ${areIs(writtenAfter)} already written, and would be written twice.`,
		isCertain && !noRetry && 'It is safe to import the whole file again.',
	];
	return sentences.filter((sentence) => sentence !== false);
}

/** The failure of an interrupted import: what is certain about its rows, and how to resume it. */
export function interrupted(report: FileReport, isOnlyFile: boolean): Problem {
	const { json, result, noRetry } = report;
	const { counts, confirmedThroughRow: through, writtenAfter, unknownAfter } = result;
	const failure = toProblem(result.interruption!.error);
	const isCertain = counts.rows > unknownAfter;
	const isUnknown = noRetry || counts.unknown > 0;
	const what = json.dryRun ? 'checked' : 'imported';
	const message = () => {
		const file = `'${json.file as string}'`;
		if (isCertain) return `${file} is ${what} through row ${through} only`;
		if (unknownAfter > 0) return `No row of ${file} was ${what} for certain`;
		return `No row of ${file} was ${what}`;
	};
	return {
		...failure,
		message: `${message()}: ${failure.message}`,
		hint: [failure.hint, ...resumeHints(report, isCertain, isOnlyFile)].filter(Boolean).join(' '),
		outcome: isUnknown ? 'unknown' : 'failed',
		details: omitUndefined({
			...failure.details,
			...json,
			startAtRow: through + 1,
			writtenAfter: writtenAfter || undefined,
		}),
	};
}

/** The failure of an import that reached the end and wrote no row; a dry run writes none. */
function noneWritten({ json, result, noRetry }: FileReport): Problem | undefined {
	const { rows, rejected, skipped, unknown } = result.counts;
	if (json.dryRun || rejected === 0 || rejected + skipped < rows) return undefined;
	const certainty = unknown > 0 ? ' for certain' : '';
	return {
		message: `No row of '${json.file as string}' was imported${certainty}, ${counted(rejected, 'row')} rejected: ${result.kinds.text()}`,
		hint: noRetry ? lookFirst(unknown) : 'Correct them, then import them again.',
		outcome: unknown > 0 ? 'unknown' : 'failed',
	};
}

/** Rows that are unknown may be in the table already. */
const lookFirst = (unknown: number) =>
	`${counted(unknown, 'row')} may or may not have been written: look for ${unknown === 1 ? 'its record' : 'their records'} before you import the rejected rows again.`;

/** The output of a finished file. */
export function toOutput(
	run: RunContext<never>,
	{ json, result: { rejectedFile, counts }, summary, outputName, noRetry }: FileReport,
): INodeExecutionData {
	if (!rejectedFile) {
		run.hint(summary);
		return { json };
	}
	const warning = noRetry && counts.unknown > 0 ? ` ${lookFirst(counts.unknown)}` : '';
	run.hint(`${summary} The rejected rows are in '${outputName}'.${warning}`, 'warning');
	return { json, binary: { [outputName]: rejectedFile } };
}

/**
 * The failure of an item whose file was not imported as a whole, with its rejected rows; undefined if
 * it was.
 *
 * @param isOutputLost the error leaves no output
 */
export function failureOf(
	report: FileReport,
	isOnlyFile: boolean,
	isOutputLost: boolean,
): Problem | undefined {
	const { json, result, outputName, noRetry, notRemoved } = report;
	const { interruption, rejectedFile } = result;
	const failure = interruption
		? interrupted(report, isOnlyFile)
		: (noneWritten(report) ?? notRemoved);
	if (!failure) return undefined;
	const isLost = rejectedFile && isOutputLost;
	const hints = [
		failure.hint,
		isLost && "The rejected rows are in the output only if 'On Error' is set to continue.",
	];
	return {
		details: json,
		...failure,
		hint: hints.filter(Boolean).join(' ') || undefined,
		noRetry,
		...(noRetry && { outcome: 'unknown' }),
		...(rejectedFile && { binary: { [outputName]: rejectedFile } }),
	};
}
