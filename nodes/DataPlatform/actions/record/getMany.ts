import type { INodeExecutionData } from 'n8n-workflow';

import { readRecords } from '../../api/readRecords';
import { flag, wholeNumber } from '../../parameterKinds/kinds';
import { MAX_AGENT_RECORDS } from '../../input/recordOutput';
import { filterParameters } from '../../parameters/select/filter';
import {
	limitWith,
	linkedReader,
	linkedRecords,
	linkedTo,
} from '../../parameters/select/readingLinks';
import { itemOperation } from '../../parameters/defineOperation';
import {
	fieldsToLoad,
	warnAboutShift,
	outputOf,
	recordQueryOf,
	savedView,
	simple,
	sort,
} from '../../parameters/select/reading';
import { requestSettings } from '../../parameters/requests';
import { tableOf, tableParameters } from '../../parameters/select/table';

const returnAll = flag('returnAll', {
	label: 'Return All',
	preset: false,
	description: 'Whether to return all results or only up to a given limit',
});

const limit = limitWith({ show: { returnAll: [false] } });

const offset = wholeNumber('offset', {
	label: 'Offset',
	min: 0,
	preset: 0,
	description:
		'How many records to skip before the first one that is returned, to read a table in portions',
});

const MORE_RECORDS = `Only the first ${MAX_AGENT_RECORDS} records are listed, and there are more: use a filter.`;

export const getMany = itemOperation({
	value: 'getAll',
	name: 'Get Many',
	action: 'Get many records',
	description: 'Retrieve a list of records from a table, filtered and sorted',
	fields: [...tableParameters, ...filterParameters, sort, returnAll, limit, simple],
	options: [fieldsToLoad, linkedRecords, linkedTo, offset, savedView, ...requestSettings],
	execute: async (run, index) => {
		const isAll = returnAll.of(run, index);
		const all = run.isTool ? MAX_AGENT_RECORDS + 1 : Infinity;
		const maximum = isAll ? all : limit.of(run, index);
		const query = await recordQueryOf(run, index);
		const withLinked = await linkedReader(run, index);
		const notes = { hasShifted: false };
		const records: INodeExecutionData[] = [];
		const toOutput = outputOf(run, index);
		const reading = { ...query, offset: offset.of(run, index) };
		const pages = readRecords(tableOf(run, index), reading, maximum, notes);
		for await (const page of pages) {
			for (const record of await withLinked(page)) {
				records.push({ json: toOutput(record) });
			}
			run.progress.note(() => `Get Many: ${records.length} records are read`);
		}
		if (notes.hasShifted) warnAboutShift(run, records.length);
		if (!isAll || records.length < all) return records;
		return [...records.slice(0, MAX_AGENT_RECORDS), { json: { notice: MORE_RECORDS } }];
	},
});
