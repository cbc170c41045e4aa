import { readRecord } from '../../api/records';
import { recordId } from '../../descriptions/locators';
import { linkedRecords } from '../../descriptions/linkOptions';
import { inclusionsOf, linkedRecordsReader, noticeOmissions } from '../../execution/linkInput';
import { outputOf } from '../../execution/recordOutput';
import { requestSettings, simple, tableParameters } from '../../descriptions/common';
import { itemOperation } from '../../descriptions/operation';

export const get = itemOperation({
	value: 'get',
	name: 'Get',
	action: 'Get record',
	description: 'Retrieve one record by its ID',
	fields: [...tableParameters, recordId, simple],
	options: [linkedRecords, ...requestSettings],
	concurrency: 4,
	execute: async (run, index) => {
		const id = run.text('recordId', 'Record', index);
		const inclusions = await inclusionsOf(run, index);
		const record = await readRecord(run.client, run.table(index), id);
		if (inclusions.length === 0) return outputOf(run, index)(record);
		const linked = linkedRecordsReader(run);
		const [whole = record] = await linked.include([record], inclusions);
		noticeOmissions(run, linked);
		return outputOf(run, index)(whole);
	},
});
