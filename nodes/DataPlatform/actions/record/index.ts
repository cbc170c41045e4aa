import type { Resource } from '../../execution/operation';
import { count } from './count';
import { create } from './create';
import { createMany } from './createMany';
import { deleteOne } from './delete';
import { deleteMany } from './deleteMany';
import { exportToFile } from './exportToFile';
import { get } from './get';
import { getChanges } from './getChanges';
import { getMany } from './getMany';
import { importFromFile } from './importFromFile';
import { summarize } from './summarize';
import { syncMany } from './syncMany';
import { update } from './update';
import { updateMany } from './updateMany';
import { upsert } from './upsert';
import { upsertMany } from './upsertMany';

// Sorted by name, because n8n's lint requires it
export const record: Resource = {
	value: 'record',
	name: 'Record',
	initial: getMany,
	operations: [
		count,
		create,
		createMany,
		upsert,
		upsertMany,
		deleteOne,
		deleteMany,
		exportToFile,
		get,
		getChanges,
		getMany,
		importFromFile,
		summarize,
		syncMany,
		update,
		updateMany,
	],
};
