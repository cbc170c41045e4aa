import type { IBinaryKeyData, IDataObject, INodeExecutionData } from 'n8n-workflow';

import { GrowingFile, openFile } from '../../execution/binaryStore';
import { omitUndefined, type Failure, type ItemResults } from '../../execution/itemResults';
import type { NameOf } from '../../execution/parameter';
import { withField } from '../../execution/parameterValues';
import { ProgressLog } from '../../execution/progressLog';
import { certainThrough, importRows, type ImportResult } from '../../execution/rowImport';
import { RowReader } from '../../execution/rowValues';
import type { RunContext } from '../../execution/run';
import { toFailure } from '../../parameters/failure';
import { binaryFields, inputDataFieldName } from '../../parameters/files';
import { upsertRules } from '../../parameters/matching';
import { bulkOperation, type OptionOf } from '../../parameters/operation';
import {
	fileSettingsOf,
	importFile,
	importParameters,
	mappingMode,
	startAtRow,
	stopAfterRejected,
	textOptions,
} from '../../parameters/rowFiles';
import { tableParameters } from '../../parameters/table';
import { hintIgnored, valuePoliciesOf } from '../../parameters/values';
import {
	dryRun,
	importOptions,
	setUpWriting,
	writeSettings,
	writesMatched,
} from '../../parameters/writing';
import { openRows, portionsOf } from '../../rows/readRows';
import { RejectedLines } from '../../rows/rejectedRows';
import { decodeText } from '../../rows/text';
import { InputError } from '../../transport/errors';
import { countsText } from './writeMany';

const fields = [...tableParameters, ...importParameters];

const options = [...importOptions(textOptions), importFile];

type Run = RunContext<NameOf<typeof fields> | OptionOf<typeof options>>;

/** What became of one file. */
interface FileReport {
	json: IDataObject;
	binary: IBinaryKeyData;
	result: ImportResult;
	/** Whether doing it again could write rows twice. */
	isFinal: boolean;
}

/** What the parameters say about an import. @throws {InputError} */
function settingsOf(run: Run, index: number) {
	const { mode, ...settings } = fileSettingsOf(run, index);
	const kind = writesMatched(run, index, mode, upsertRules(run, index));
	const writing = { ...writeSettings(run, index, kind), stopAtFailure: false };
	return { ...settings, kind, policies: valuePoliciesOf(run, index), writing };
}

type Settings = ReturnType<typeof settingsOf>;

/** Imports a file of an item. @throws {InputError} if none of its rows could be written */
async function importOne(run: Run, index: number, field: string): Promise<FileReport> {
	const settings = settingsOf(run, index);
	const { form } = settings;
	const file = await openFile(run, index, field, inputDataFieldName);
	const text = decodeText(file.bytes, form.encoding);
	try {
		return await writeRows(run, index, settings, file.name, await openRows(text, form));
	} finally {
		file.close();
		await text.return(undefined);
	}
}

/** Writes the rows of a file, and reports on them. */
async function writeRows(
	run: Run,
	index: number,
	settings: Settings,
	name: string,
	{ header, format, delimiter, rows }: Awaited<ReturnType<typeof openRows>>,
): Promise<FileReport> {
	const { client, context } = run;
	const { kind, mapping, range, writing, texts, form } = settings;
	const { formulaGuard } = form;
	const rejectsDuplicates = kind.duplicates === 'error' && kind.mode !== 'create';
	const { table, links, planning, hasId, pipeline } = await setUpWriting(
		run,
		index,
		writing,
		kind,
		{
			...settings.policies,
			mode: kind.mode,
			duplicates: rejectsDuplicates ? 'keepFirst' : 'merge',
			importKey: writing.importKey,
			isFromInput: mapping === undefined,
		},
	);
	const isCsv = format === 'csv';
	const reading = { table, mapping, planning, hasId, form: texts, formulaGuard };
	const reader = withField(mappingMode, () => new RowReader(reading, isCsv ? header : undefined));
	const linksBefore = links.createdCount;
	const before = { ...client.stats };
	const base = name.replace(/(\.(csv|tsv|txt|ndjson|jsonl|json))?(\.gz)?$/i, '');
	const mimetype = isCsv ? 'text/csv' : 'application/x-ndjson';
	const result = await importRows({
		name,
		portions: portionsOf(rows, range.startAt, range.endAt),
		reader,
		pipeline,
		lines: new RejectedLines(header, delimiter, formulaGuard, (column) => reader.isField(column)),
		rejected: new GrowingFile(run, `${base}-rejected.${format}`, mimetype),
		hasHeader: isCsv,
		progress: new ProgressLog(context.logger),
		rejectsDuplicates,
		isById: hasId,
		stopAfterRejected: range.stopAfterRejected,
		limitLabel: stopAfterRejected.label,
		before: Math.max(range.startAt - 1, isCsv ? 1 : 0),
		cancellation: () => client.cancellation,
	});
	hintIgnored(run, { ignored: result.readOnly });
	return reportOn(run, settings, result, {
		file: name,
		...reader.report,
		linkedRecordsCreated: links.createdCount - linksBefore || undefined,
		requests: client.stats.requests - before.requests,
		retries: client.stats.retries - before.retries,
		waitedMs: client.stats.waitedMs - before.waitedMs,
		dryRun: writing.dryRun || undefined,
	});
}

/** What writing a file took, besides the outcomes of its rows. */
interface Effort extends IDataObject {
	file: string;
	linkedRecordsCreated?: number;
	requests: number;
	waitedMs: number;
	dryRun?: boolean;
}

/** What became of a file, for the output and in one sentence. */
function reportOn(
	run: Run,
	{ kind: { mode }, outputName }: Settings,
	result: ImportResult,
	{ file, ...effort }: Effort,
): FileReport {
	const { counts, rejectedFile } = result;
	const json = omitUndefined({
		file,
		...counts,
		confirmedThroughRow: certainThrough(result),
		errors: result.errors,
		...effort,
	});
	const rejected = counts.rejected > 0 ? ` The rejected rows are in '${outputName}'.` : '';
	run.context.addExecutionHints({
		message: `'${file}', ${counts.rows} rows: ${countsText({ ...counts, ...effort })}${rejected}`,
		type: counts.rejected > 0 ? 'warning' : 'info',
		location: 'outputPane',
	});
	return {
		json,
		binary: rejectedFile ? { [outputName]: rejectedFile } : {},
		result,
		isFinal: mode === 'create' && !effort.dryRun && counts.inserted + counts.unknown > 0,
	};
}

const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`;

const areIs = (count: number) => (count === 1 ? 'is' : 'are');

/** A file that broke off: what is certain about its rows, and how to go on. */
function brokenOff({ json, binary, result, isFinal }: FileReport): Failure {
	const { counts, confirmedThroughRow: through, writtenAfter, unknownAfter } = result;
	const why = result.brokenOff!;
	const failure = why.error === undefined ? undefined : toFailure(why.error);
	const isAnyCertain = counts.rows > unknownAfter;
	const unknownBefore = counts.unknown - unknownAfter;
	const goOn = [
		isAnyCertain && `To go on, set ${startAtRow} in the options to ${through + 1}.`,
		unknownBefore > 0 &&
			`${plural(unknownBefore, 'row')} before that may have been written or not, and ${areIs(unknownBefore)} among the rejected rows${isFinal ? ': look for them before you import those' : ''}.`,
		unknownAfter > 0 &&
			`${plural(unknownAfter, 'row')}${isAnyCertain ? ' after that' : ''} may have been written or not: look before you go on.`,
		isFinal &&
			writtenAfter > 0 &&
			`${plural(writtenAfter, 'row')} after that ${areIs(writtenAfter)} written already, and would come twice.`,
		isAnyCertain && !isFinal && 'It is safe to import the whole file again.',
	].filter((sentence) => sentence !== false);
	const isUnknown = isFinal || counts.unknown > 0;
	return {
		...failure,
		message: isAnyCertain
			? `'${json.file as string}' is imported through row ${through} only: ${why.message}`
			: `No row of '${json.file as string}' was imported${unknownAfter > 0 ? ' for certain' : ''}: ${why.message}`,
		hint: [failure?.hint, ...goOn].filter(Boolean).join(' '),
		isFinal,
		details: omitUndefined({
			...failure?.details,
			...json,
			outcome: isUnknown ? 'unknown' : 'failed',
			startAtRow: through + 1,
			writtenAfter: writtenAfter || undefined,
		}),
		binary,
	};
}

/** Imports the files of one item; whether all of them succeeded. */
async function importItem(run: Run, report: ItemResults, index: number): Promise<boolean> {
	const output: INodeExecutionData[] = [];
	let isFinal = false;
	/** Which of several files is being imported. */
	let current = '';
	try {
		const names = binaryFields(run, index);
		for (const name of names) {
			if (names.length > 1) current = `File in '${name}': `;
			const done = await importOne(run, index, name);
			isFinal ||= done.isFinal;
			if (done.result.brokenOff) {
				const failure = withOthers({ ...brokenOff(done), isFinal }, output);
				// Of a canceled execution n8n keeps no output and no error: only its log says this then.
				const said = [failure.message, failure.hint].filter(Boolean).join('. ');
				run.context.logger.warn(`Import From File: ${said}`);
				report.failed(index, failure);
				return false;
			}
			const { json, binary } = done;
			output.push({ json, ...(Object.keys(binary).length > 0 && { binary }) });
		}
	} catch (error) {
		const failure = toFailure(error);
		const message = `${current}${failure.message}`;
		const details = isFinal ? { ...failure.details, outcome: 'unknown' } : failure.details;
		report.failed(index, withOthers({ ...failure, message, details, isFinal }, output));
		return false;
	}
	report.done(index, output);
	return true;
}

/** Names the files of the item that are done. */
function withOthers(failure: Failure, done: INodeExecutionData[]): Failure {
	if (done.length === 0) return failure;
	const files = done.map(({ json }) => `'${json.file as string}'`).join(', ');
	return {
		...failure,
		hint: `${failure.hint ?? ''} Imported before: ${files}.`.trim(),
		details: { ...failure.details, filesDone: done.map(({ json }) => json) },
	};
}

export const importFromFile = bulkOperation({
	value: 'importFromFile',
	name: 'Import From File',
	action: 'Import records from file',
	description:
		'Write the rows of a CSV or NDJSON file to a table; for any number of rows, with a file of those that were rejected',
	fields,
	options,
	notIdempotent: true,
	retriesUnknown: true,
	execute: async (run, report) => {
		// n8n gives an agent no files, and takes none from it.
		if (run.isTool) {
			throw new InputError("Agents can't hand over files", {
				hint: "Use 'Create or Update Many'.",
			});
		}
		if ([...run.items.keys()].some((index) => isDryRun(run, index))) report.markDryRun();
		for (const index of run.items.keys()) {
			if (report.hasResult(index)) continue;
			const isDone = await importItem(run, report, index);
			if (!isDone && !run.context.continueOnFail()) return;
		}
	},
});

/** One that can't be read is said when its item's turn comes. */
function isDryRun(run: RunContext<NameOf<typeof dryRun>>, index: number): boolean {
	try {
		return dryRun.of(run, index);
	} catch {
		return false;
	}
}
