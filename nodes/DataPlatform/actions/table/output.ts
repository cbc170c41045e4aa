import type { IDataObject } from 'n8n-workflow';

import type { TableDefinition } from '../../api/types';
import { importKeyOf } from '../../fields';

/** A table as the node gives it: what a workflow needs to write to it. */
export const tableOutput = (table: TableDefinition): IDataObject => ({
	id: table.id,
	internalName: table.internalName,
	header: table.header,
	importKey: importKeyOf(table)?.name ?? null,
	fields: table.fields.map(({ name, header, type, metadata }) => ({
		name,
		header,
		type,
		required: metadata.required ?? false,
		...(metadata.items && { choices: metadata.items.map(({ value }) => value) }),
	})),
	savedViews: table.savedViews.map(({ id, name }) => ({ id, name })),
});
