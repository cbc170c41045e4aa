import type { IDataObject } from 'n8n-workflow';

import type { FieldDefinition, TableDefinition } from '../../api/types';
import { importKeyOf, isWritable } from '../../fields';
import { itemOperation } from '../../parameters/defineOperation';
import { tableOf, tableParameters } from '../../parameters/select/table';
import { isLink } from '../../parameters/write/writingLinks';
import { omitUndefined } from '../../transport/json';

/** A field with the limits that the platform reports for it. */
function fieldOutput(field: FieldDefinition): IDataObject {
	const { name, header, type, metadata } = field;
	const { description, required = false, min, max, maxLength, items } = metadata;
	const { multiple, linkTableId, filterableFields } = metadata;
	return omitUndefined({
		name,
		header,
		type,
		description,
		required,
		readOnly: isWritable(field) ? undefined : true,
		min,
		max,
		maxLength,
		choices: items?.map(({ value }) => value),
		...(isLink(field) && { multiple, linkTableId, filterableFields }),
	});
}

/** A table as the node returns it: what a workflow needs to know to read and write its records. */
export const tableOutput = (table: TableDefinition): IDataObject => ({
	id: table.id,
	internalName: table.internalName,
	header: table.header,
	importKey: importKeyOf(table)?.name ?? null,
	fields: table.fields.map(fieldOutput),
	savedViews: table.savedViews.map(({ id, name, description, visibility }) =>
		omitUndefined({ id, name, description, visibility }),
	),
});

export const get = itemOperation({
	concurrency: 4,
	value: 'get',
	name: 'Get',
	action: 'Get table',
	description:
		'Retrieve one table with its fields, their types, limits, choices and links, and its saved views',
	fields: tableParameters,
	execute: async (run, index) => ({
		json: tableOutput(await tableOf(run, index).definition()),
	}),
});
