import { readRecord } from '../../api/records';
import { linkedReader, linkedRecords } from '../../parameters/select/readingLinks';
import { itemOperation } from '../../parameters/defineOperation';
import { outputOf, simple } from '../../parameters/select/reading';
import { requestSettings } from '../../parameters/requests';
import { recordIdOf } from '../../parameters/select/records';
import { recordId, tableOf, tableParameters } from '../../parameters/select/table';

export const get = itemOperation({
	value: 'get',
	name: 'Get',
	action: 'Get record',
	description: 'Retrieve one record by its ID or import key',
	fields: [...tableParameters, recordId, simple],
	options: [linkedRecords, ...requestSettings],
	concurrency: 4,
	execute: async (run, index) => {
		const id = await recordIdOf(run, index);
		const withLinked = await linkedReader(run, index);
		const record = await readRecord(tableOf(run, index), id);
		const [whole = record] = await withLinked([record]);
		return { json: outputOf(run, index)(whole) };
	},
});
