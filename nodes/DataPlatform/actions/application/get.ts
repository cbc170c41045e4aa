import type { IDataObject } from 'n8n-workflow';

import { readApplication, readTables } from '../../api/tables';
import { itemOperation } from '../../parameters/operation';
import { application } from '../../parameters/table';

const chosen = application.with({ required: true, description: 'The application to retrieve' });

export const get = itemOperation({
	concurrency: 4,
	value: 'get',
	name: 'Get',
	action: 'Get application',
	description: 'Retrieve one application with its modules and the names of its tables',
	fields: [chosen],
	execute: async (run, index) => {
		const name = chosen.of(run, index);
		const { id, name: title, internalName, modules } = await readApplication(run.client, name);
		const tables = await readTables(run.client, id);
		return {
			id,
			name: title,
			internalName,
			...(modules && { modules: modules as unknown as IDataObject[] }),
			tables: tables.map((table) => ({
				id: table.id,
				internalName: table.internalName,
				header: table.header,
			})),
		};
	},
});
