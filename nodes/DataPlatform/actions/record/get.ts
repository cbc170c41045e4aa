import { readRecord } from '../../api/records';
import {
	inclusionsOf,
	linkedRecords,
	linkedRecordsReader,
	noticeOmissions,
} from '../../parameters/linkedRecords';
import { itemOperation } from '../../parameters/operation';
import { outputOf, simple } from '../../parameters/reading';
import { requestSettings } from '../../parameters/requests';
import { recordId, tableOf, tableParameters } from '../../parameters/table';

export const get = itemOperation({
	value: 'get',
	name: 'Get',
	action: 'Get record',
	description: 'Retrieve one record by its ID',
	fields: [...tableParameters, recordId, simple],
	options: [linkedRecords, ...requestSettings],
	concurrency: 4,
	execute: async (run, index) => {
		const id = recordId.of(run, index);
		const inclusions = await inclusionsOf(run, index);
		const record = await readRecord(run.client, tableOf(run, index), id);
		if (inclusions.length === 0) return outputOf(run, index)(record);
		const linked = linkedRecordsReader(run);
		const [whole = record] = await linked.include([record], inclusions);
		noticeOmissions(run, linked);
		return outputOf(run, index)(whole);
	},
});
