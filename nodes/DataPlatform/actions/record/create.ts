import { bulkOperation } from '../../parameters/defineOperation';
import { tableParameters } from '../../parameters/select/table';
import { columnsToCreate } from '../../parameters/write/columns';
import { createOptions } from '../../parameters/write/writing';
import { writeItems } from './writeItems';

export const create = bulkOperation({
	value: 'create',
	name: 'Create',
	action: 'Create records (bulk insert)',
	description: 'Create a record for each item, many in one request (bulk, batch)',
	fields: [...tableParameters, columnsToCreate],
	options: createOptions,
	notIdempotent: true,
	execute: async (run, ledger) =>
		await writeItems(run, ledger, () => ({
			mode: 'create',
			duplicates: 'merge',
			skipUnchanged: false,
		})),
});
