import type { IDataObject } from 'n8n-workflow';

import { readApplication, readTables } from '../../api/tables';
import { applicationLocator } from '../../descriptions/locators';
import { itemOperation } from '../../descriptions/operation';

export const get = itemOperation({
	concurrency: 4,
	value: 'get',
	name: 'Get',
	action: 'Get application',
	description: 'Retrieve one application with its modules and the names of its tables',
	fields: [{ ...applicationLocator, required: true, description: 'The application to retrieve' }],
	execute: async (run, index) => {
		const name = run.text('application', 'Application', index);
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
