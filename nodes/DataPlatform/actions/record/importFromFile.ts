import { fileNameOf, GrowingFile, openFile } from '../../input/binaryStore';
import type { PlanOptions } from '../../bulk/terms';
import type { NameOf } from '../../parameterKinds/parameter';
import { withField } from '../../parameterKinds/requireValue';
import { RowImport } from '../../import/rowImport';
import { RowReader } from '../../import/rowValues';
import type { RunContext } from '../../run/run';
import { ProblemError } from '../../parameters/describeFailure';
import { binaryFields, inputDataFieldName } from '../../parameters/files/uploads';
import { upsertRules } from '../../parameters/write/matchRules';
import { itemOperation, type OptionOf } from '../../parameters/defineOperation';
import {
	fileSettingsOf,
	importParameters,
	mappingMode,
	startAtRow,
} from '../../parameters/files/rowFiles';
import { tableOf, tableParameters } from '../../parameters/select/table';
import { hintIgnored, valuePoliciesOf } from '../../parameters/write/columns';
import { fileSyncParameters } from '../../parameters/write/syncParameters';
import {
	importOptions,
	setUpWriting,
	writeSettings,
	writesMatched,
} from '../../parameters/write/writing';
import { MEDIA_TYPES, portionsOf, withRows, type RowFile } from '../../rows/readRows';
import { RejectedLines } from '../../rows/rejectedRows';
import { nameList } from '../../transport/messageText';
import { failureOf, reportOn, toOutput, type FileReport } from './importReport';
import { compareWithFile, removeMissing, requireWholeInput } from './missingFromFile';

const fields = [...tableParameters, ...importParameters, ...fileSyncParameters];

/** How many rows a dry run shows. */
const PREVIEW_ROWS = 5;

type Run = RunContext<NameOf<typeof fields> | OptionOf<typeof importOptions>>;

/** The field with the item's file. @throws {InputError} if it has none, or several */
function fieldOf(run: Run, index: number): string {
	const [field, ...others] = binaryFields(run, index);
	if (others.length === 0) return field!;
	throw inputDataFieldName.error(
		`The item has several files, in ${nameList([field!, ...others])}`,
		`Enter one of them in ${inputDataFieldName}. To import all, leave it empty and put a 'Split Out' node with the field $binary before this one: it makes an item of each.`,
	);
}

/** The settings of an import. @throws {InputError} */
function settingsOf(run: Run, index: number) {
	const { mode, ...settings } = fileSettingsOf(run, index);
	const removesMissing = requireWholeInput({ mode, ...settings }, run, index);
	const kind = writesMatched(run, index, mode, upsertRules(run, index));
	const writing = { ...writeSettings(run, index, kind), stopAtFailure: false, withoutIds: true };
	return { ...settings, kind, policies: valuePoliciesOf(run, index), writing, removesMissing };
}

type Settings = ReturnType<typeof settingsOf>;

/** Reads a file from its beginning. */
type OpenRows = <T>(use: (rows: RowFile) => Promise<T>) => Promise<T>;

/** Writes the rows of a file, and reports on them. @throws {InputError} if none could be written */
async function writeRows(
	run: Run,
	index: number,
	settings: Settings,
	name: string,
	open: OpenRows,
	{ header, format, delimiter, rows }: RowFile,
): Promise<FileReport> {
	const { client } = run;
	const before = { ...client.stats };
	const { kind, mapping, range, writing, texts, form } = settings;
	const { formulaGuard } = form;
	const isCsv = format === 'csv';
	const rejectsDuplicates = kind.duplicates === 'error' && kind.mode !== 'create';
	const table = await tableOf(run, index).definition();
	const unmatched: PlanOptions = {
		...settings.policies,
		mode: kind.mode,
		duplicates: rejectsDuplicates ? 'keepFirst' : 'merge',
		unit: 'row',
		isFromInput: mapping === undefined,
		// No option says how NDJSON writes values.
		...(!isCsv && { sourceOf: () => '' }),
	};
	const setup = setUpWriting(run, index, table, { settings: writing, kind, unmatched });
	const { links, planning, hasId, pipeline } = setup;
	// Before cells are read: a link to many takes a list.
	await links.learn(table.fields);
	const reading = { table, mapping, planning, hasId, form: texts, formulaGuard };
	const readerOf = () =>
		withField(mappingMode, () => new RowReader(reading, isCsv ? header : undefined));
	const reader = readerOf();
	const linksBefore = links.createdCount;
	const compare = async (file: RowFile) =>
		await compareWithFile(run, index, setup, writing, readerOf(), portionsOf(file.rows, 1));
	const sync = settings.removesMissing ? await open(compare) : undefined;
	const base = name.replace(/(\.(csv|tsv|txt|ndjson|jsonl|json))?(\.gz)?$/i, '');
	const result = await new RowImport({
		name,
		portions: portionsOf(rows, range.startAt, range.endAt),
		reader,
		pipeline,
		lines: new RejectedLines(header, delimiter, form, (column) => reader.isField(column)),
		rejected: new GrowingFile(run, `${base}-rejected.${format}`, MEDIA_TYPES[format]),
		progress: run.progress,
		identityOf: rejectsDuplicates ? ({ id, key }) => (hasId ? id : key) : undefined,
		previewRows: writing.dryRun ? PREVIEW_ROWS : 0,
		stopAfterRejected: range.stopAfterRejected,
		before: Math.max(range.startAt - 1, isCsv ? (form.headerRow ?? 1) : 0),
		cancellation: () => client.cancellation,
	}).run();
	const about = {
		mode: kind.mode,
		outputName: settings.outputName,
		isWhole: settings.removesMissing,
		notRemoved: sync && (await removeMissing(run, index, sync, result)),
	};
	hintIgnored(run, { ignored: result.readOnly });
	for (const notice of result.notices) run.hintOnce(notice, 'warning');
	return reportOn(about, result, {
		file: name,
		scopeRecords: sync?.scopeSize,
		missingRecords: sync?.missing.length,
		removedRecords: sync?.removed,
		// Rows of NDJSON name their own fields.
		...(isCsv && reader.report),
		linkedRecordsCreated: links.createdCount - linksBefore || undefined,
		requests: client.stats.requests - before.requests,
		retries: client.stats.retries - before.retries,
		waitedMs: client.stats.waitedMs - before.waitedMs,
		dryRun: writing.dryRun || undefined,
	});
}

export const importFromFile = itemOperation({
	value: 'importFromFile',
	name: 'Import From File',
	action: 'Import records from file',
	description:
		'Write the rows of a CSV or NDJSON file to a table; for any number of rows, with a file of those that were rejected',
	fields,
	options: importOptions,
	notIdempotent: true,
	retriesUnknown: true,
	insteadOfFiles: "Use 'Create or Update'.",
	execute: async (run, index) => {
		const field = fieldOf(run, index);
		const settings = settingsOf(run, index);
		const name = fileNameOf(run, index, field);
		const open: OpenRows = async (use) =>
			await withRows(openFile(run, index, field, inputDataFieldName), settings.form, use);
		const report = await open(
			async (rows) => await writeRows(run, index, settings, name, open, rows),
		);
		const { counts, interruption } = report.result;
		const { startAt } = settings.range;
		if (counts.rows === 0 && !interruption && startAt > 1) {
			throw startAtRow.error(
				`'${name}' has no row ${startAt}`,
				`For a file of corrected rows, set ${startAtRow} to 1.`,
			);
		}
		// A canceled execution has neither output nor error.
		const isOutputLost = !run.context.continueOnFail() && !run.client.cancellation;
		const failure = failureOf(report, run.items.length === 1, isOutputLost);
		if (!failure) return toOutput(run, report);
		const { message, hint } = failure;
		run.client.logger.warn(`Import From File: ${[message, hint].filter(Boolean).join('. ')}`);
		throw new ProblemError(failure);
	},
});
