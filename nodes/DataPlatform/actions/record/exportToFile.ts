import { readRecords, type ReadNotes } from '../../api/records';
import type { PlatformRecord } from '../../api/types';
import { requestSettings, tableParameters } from '../../descriptions/common';
import { filterParameters } from '../../descriptions/filter';
import { linkedRecords, linkedTo } from '../../descriptions/linkOptions';
import { itemOperation } from '../../descriptions/operation';
import { fieldsToLoad, savedView, sort } from '../../descriptions/readOptions';
import { exportFile, exportFormat } from '../../descriptions/rowFiles';
import { storeFile } from '../../execution/binaryStore';
import { inclusionsOf, linkedRecordsReader, noticeOmissions } from '../../execution/linkInput';
import { withFiles, type Parameter } from '../../execution/operation';
import { ProgressLog } from '../../execution/progressLog';
import { prefixedName, recordOutput } from '../../execution/recordOutput';
import { noticeShift, recordQueryOf } from '../../execution/recordQuery';
import { csvFormOf, exportFileName, formatOf } from '../../execution/rowFiles';
import { csvHeader, csvRecord, exportColumns } from '../../rows/exportRows';
import { ndjsonLine } from '../../rows/ndjson';
import { InputError } from '../../transport/errors';

const outputField: Parameter<'outputField'> = {
	displayName: 'Put Output File in Field',
	name: 'outputField',
	type: 'string',
	required: true,
	default: 'data',
	description: 'The name of the output field for the file',
};

const MIMETYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' };

export const exportToFile = itemOperation({
	value: 'exportToFile',
	name: 'Export to File',
	action: 'Export records to file',
	description:
		'Write the records of a table to a CSV or NDJSON file, filtered and sorted; for any number of records',
	fields: [...tableParameters, ...filterParameters, sort, exportFormat, outputField],
	options: [fieldsToLoad, linkedRecords, linkedTo, savedView, ...requestSettings],
	optionGroups: [exportFile],
	execute: async (run, index) => {
		// n8n gives an agent no files, and does not say so.
		if (run.isTool) {
			throw new InputError('Agents get no file contents', {
				hint: "Use 'Get Many' with a filter and a limit.",
			});
		}
		const at = run.table(index);
		const format = formatOf(run, index, ['csv', 'ndjson']);
		const outputName = run.text('outputField', 'Put Output File in Field', index);
		const query = await recordQueryOf(run, index);
		const inclusions = await inclusionsOf(run, index);
		const linked = linkedRecordsReader(run);
		const form = csvFormOf(run, index);
		const table = await run.definition(at);
		const columns = exportColumns(
			table,
			query.fields ?? [],
			({ name, header }) => (form.hasHeaders ? header : prefixedName(name)),
			prefixedName,
		);
		const toValues = recordOutput(true);
		const toLine = (record: PlatformRecord) =>
			format === 'csv' ? csvRecord(record, columns, form) : ndjsonLine(toValues(record));
		const notes: ReadNotes = { hasShifted: false };
		const progress = new ProgressLog(run.context.logger);
		let count = 0;
		async function* pieces() {
			if (format === 'csv') yield Buffer.from(csvHeader(columns, form));
			for await (const page of readRecords(run.client, at, query, Infinity, notes)) {
				const whole = inclusions.length > 0 ? await linked.include(page, inclusions) : page;
				count += whole.length;
				yield Buffer.from(whole.map(toLine).join(''));
				progress.note(() => `Export to File: ${count} records of table '${table.header}' read`);
			}
		}
		const name = exportFileName(run, index, table, format);
		const file = await storeFile(run, pieces(), name, MIMETYPES[format]);
		noticeOmissions(run, linked);
		if (notes.hasShifted) noticeShift(run, count);
		return withFiles({ records: count, fileName: file.fileName ?? name }, { [outputName]: file });
	},
});
