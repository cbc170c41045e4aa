/**
 * The fields in the mapper, typed by the table's definition.
 */
import type { ResourceMapperField, ResourceMapperFields } from 'n8n-workflow';

import type { FieldDefinition } from '../api/types';
import { importKeyOf, isWritable, fieldType } from '../fields';
import { learnLinks } from '../api/learnLinks';
import { IMPORT_KEY_MARK } from '../labels';
import { editorList } from './editorContext';

function column(
	field: FieldDefinition,
	{ required, isKey, removed }: { required: boolean; isKey: boolean; removed: boolean },
): ResourceMapperField {
	const { type, choices, hint } = fieldType(field).editor;
	const options = choices?.(field);
	const mark = isKey ? IMPORT_KEY_MARK : hint;
	return {
		id: field.name,
		displayName: mark ? `${field.header} (${mark})` : field.header,
		required,
		defaultMatch: false,
		canBeUsedToMatch: false,
		display: true,
		// With both set, the editor treats the list of fields as complete and does not load it again.
		readOnly: false,
		removed,
		type: options ? 'options' : type,
		...(options && { options }),
	};
}

const READ_ONLY_NOTICE =
	'No field of this table can be written with this token. The role of the token decides that; choose another table, or have the role changed.';

/** More fields take the editor seconds to draw. The user adds the others one by one. */
const MAX_SHOWN_FIELDS = 50;

/** @param startsEmpty whether the user adds the fields one by one */
const columns = (isRequired: (field: FieldDefinition) => boolean, startsEmpty = false) =>
	editorList(async (editor): Promise<ResourceMapperFields> => {
		const table = await editor.table();
		if (!table) return { fields: [] };
		const key = importKeyOf(table);
		const isKey = (field: FieldDefinition) => field === key;
		const writable = table.fields.filter(isWritable);
		// The key comes first.
		writable.sort((a, b) => Number(isKey(b)) - Number(isKey(a)));
		if (writable.length === 0) return { fields: [], emptyFieldsNotice: READ_ONLY_NOTICE };
		await learnLinks(editor.handle, writable).catch(() => undefined);
		const isLong = writable.length > MAX_SHOWN_FIELDS;
		const fields = writable.map((field) => {
			const isNeeded = isKey(field) || field.metadata.required === true;
			const removed = startsEmpty || (isLong && !isNeeded);
			return column(field, { required: isRequired(field), isKey: isKey(field), removed });
		});
		return { fields };
	});

/** The nodes' `methods`. */
export const resourceMapping = {
	getColumnsToCreate: columns(({ metadata }) => metadata.required === true),
	// Never required: which fields are depends on how records are matched, and a mapper that depended
	// on that would lose its values on every change.
	getColumnsToUpsert: columns(() => false),
	getColumnsToUpdate: columns(() => false, true),
};
