import { readRecords, type ReadNotes } from '../../api/readRecords';
import type { PlatformRecord } from '../../api/types';
import { GrowingFile } from '../../input/binaryStore';
import { prefixedName, simplifiedRecord } from '../../input/recordOutput';
import { outputField } from '../../parameters/files/uploads';
import { filterParameters } from '../../parameters/select/filter';
import { linkedReader, linkedRecords, linkedTo } from '../../parameters/select/readingLinks';
import { itemOperation } from '../../parameters/defineOperation';
import {
	fieldsToLoad,
	warnAboutShift,
	recordQueryOf,
	savedView,
	sort,
} from '../../parameters/select/reading';
import { requestSettings } from '../../parameters/requests';
import {
	readCsvFormat,
	exportFile,
	exportFileName,
	exportFormat,
} from '../../parameters/files/rowFiles';
import { tableOf, tableParameters } from '../../parameters/select/table';
import { csvHeader, csvRecord, exportColumns, ndjsonLine } from '../../rows/exportRows';
import { MEDIA_TYPES } from '../../rows/readRows';

export const exportToFile = itemOperation({
	value: 'exportToFile',
	name: 'Export to File',
	action: 'Export records to file',
	description:
		'Read the records of a table into a CSV or NDJSON file, filtered and sorted; for any number of records',
	fields: [...tableParameters, ...filterParameters, sort, exportFormat, outputField],
	options: [fieldsToLoad, linkedRecords, linkedTo, savedView, ...requestSettings, exportFile],
	insteadOfFiles: "Use 'Get Many' with a filter and a limit.",
	execute: async (run, index) => {
		const handle = tableOf(run, index);
		const format = exportFormat.of(run, index);
		const outputName = outputField.of(run, index);
		const table = await handle.definition();
		const query = await recordQueryOf(run, index);
		const withLinked = await linkedReader(run, index);
		const form = readCsvFormat(run, index);
		const columns = exportColumns(
			table,
			query.fields ?? [],
			({ name, header }) => (form.hasHeaders ? header : prefixedName(name)),
			prefixedName,
		);
		const toLine = (record: PlatformRecord) =>
			format === 'csv' ? csvRecord(record, columns, form) : ndjsonLine(simplifiedRecord(record));
		const notes: ReadNotes = { hasShifted: false };
		const name = exportFileName(run, index, table, format);
		const file = new GrowingFile(run, name, MEDIA_TYPES[format]);
		let count = 0;
		const writeAll = async () => {
			// Also a file without records is one.
			await file.write(format === 'csv' ? csvHeader(columns, form) : '');
			const pages = readRecords(handle, { ...query, untilEmpty: true }, Infinity, notes);
			for await (const page of pages) {
				const whole = await withLinked(page);
				count += whole.length;
				await file.write(whole.map(toLine).join(''));
				if (file.failure) break;
				run.progress.note(() => `Export to File: ${count} records of table '${table.header}' read`);
			}
		};
		await writeAll().finally(async () => await file.end());
		const stored = (await file.end())!;
		if (notes.hasShifted) warnAboutShift(run, count);
		return {
			json: { records: count, fileName: stored.fileName ?? name },
			binary: { [outputName]: stored },
		};
	},
});
