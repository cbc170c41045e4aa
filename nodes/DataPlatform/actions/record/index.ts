import type { Resource } from '../../run/operation';
import { count } from './count';
import { create } from './create';
import { deleteOne } from './delete';
import { deleteMany } from './deleteMany';
import { exportToFile } from './exportToFile';
import { get } from './get';
import { getChanges } from './getChanges';
import { getMany } from './getMany';
import { importFromFile } from './importFromFile';
import { summarize } from './summarize';
import { sync } from './sync';
import { update } from './update';
import { upsert } from './upsert';

// Sorted by name, because n8n's lint requires it
export const record: Resource = {
	value: 'record',
	name: 'Record',
	initial: getMany,
	operations: [
		count,
		create,
		upsert,
		deleteOne,
		deleteMany,
		exportToFile,
		get,
		getChanges,
		getMany,
		importFromFile,
		summarize,
		sync,
		update,
	],
};
