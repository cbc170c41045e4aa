/**
 * The fields in the mapper, typed by the table's definition.
 */
import type { ResourceMapperField, ResourceMapperFields } from 'n8n-workflow';

import type { FieldDefinition, JsonValue, PlatformRecord, TableDefinition } from '../api/types';
import { importKeyOf, isWritable, fieldType } from '../fields';
import { learnLinks } from '../api/learnLinks';
import { readRecords } from '../api/readRecords';
import type { EditorChoice } from '../fields/fieldType';
import { IMPORT_KEY_MARK, linkMark } from '../fields/columnMarks';
import { getOwn } from '../transport/json';
import { isLink, linkRules } from '../parameters/write/writingLinks';
import { editorList, type Editor } from './editorContext';
import { titleOf } from './listSearch';
import type { LinkRule, LinkRules } from '../bulk/writeTask';

/**
 * What the mapper puts in brackets after a field's header.
 *
 * @param isChosen whether the user chooses its value from a list of linked records, by their names
 */
function markOf(
	field: FieldDefinition,
	{ isKey, isChosen }: { isKey: boolean; isChosen: boolean },
	rule?: LinkRule,
): string | undefined {
	if (isKey) return IMPORT_KEY_MARK;
	if (rule) return linkMark(field, rule.linkedField);
	if (isChosen) return undefined;
	return fieldType(field).editor.hint;
}

function column(
	field: FieldDefinition,
	{ required, isKey, removed }: { required: boolean; isKey: boolean; removed: boolean },
	rule?: LinkRule,
	linked?: EditorChoice[],
): ResourceMapperField {
	const { type, choices } = fieldType(field).editor;
	const options = linked ?? choices?.(field);
	const mark = markOf(field, { isKey, isChosen: linked !== undefined }, rule);
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

/** No rules if the option contains an expression or an incomplete entry. */
function chosenLinkRules({ panel }: Editor, table: TableDefinition): LinkRules {
	try {
		return linkRules(panel, 0, table);
	} catch {
		return new Map();
	}
}

/** How many link fields get a list of their linked records: each takes two requests. */
const MAX_LISTED_LINKS = 5;

/** Linked tables with more records get no list. */
const MAX_LISTED_RECORDS = 100;

/**
 * The records that a link to one can point to; undefined if there are too many, or they can't be
 * read.
 */
async function choicesOf(
	editor: Editor,
	field: FieldDefinition,
	rule?: LinkRule,
): Promise<EditorChoice[] | undefined> {
	const target = await editor.linked(field);
	const { table } = target;
	const records: PlatformRecord[] = [];
	for await (const page of readRecords(target, {}, MAX_LISTED_RECORDS + 1)) {
		records.push(...page);
	}
	if (records.length === 0 || records.length > MAX_LISTED_RECORDS) return undefined;
	const key = importKeyOf(table);
	const valueField = rule?.linkedField ?? key?.name ?? '';
	const choices = records.flatMap((record) => {
		const value = rule ? getOwn<JsonValue>(record.fields, valueField) : record.id;
		if (value === undefined || value === null || typeof value === 'object') return [];
		return [{ name: titleOf(record, table, key), value: String(value) }];
	});
	return choices.sort((a, b) => a.name.localeCompare(b.name));
}

/** The lists of linked records, by link field. A list that can't be read is left out. */
async function linkedChoices(
	editor: Editor,
	fields: FieldDefinition[],
	rules: LinkRules,
): Promise<Map<string, EditorChoice[]>> {
	await learnLinks(editor.handle, fields).catch(() => undefined);
	const links = fields.filter((field) => isLink(field) && field.metadata.multiple === false);
	const lists = await Promise.all(
		links.slice(0, MAX_LISTED_LINKS).map(async (field) => {
			const choices = choicesOf(editor, field, rules.get(field.name));
			return [field.name, (await choices.catch(() => undefined)) ?? []] as const;
		}),
	);
	return new Map(lists.filter(([, choices]) => choices.length > 0));
}

const READ_ONLY_NOTICE =
	'No field of this table can be written with this token. The role of the token decides that; choose another table, or have the role changed.';

/** More fields take the editor seconds to draw. The user adds the others one by one. */
const MAX_SHOWN_FIELDS = 50;

const keyFirst = (fields: FieldDefinition[], key: FieldDefinition | undefined) => [
	...fields.filter((field) => field === key),
	...fields.filter((field) => field !== key),
];

/** @param startsEmpty whether the user adds the fields one by one */
const columns = (isRequired: (field: FieldDefinition) => boolean, startsEmpty = false) =>
	editorList(async (editor): Promise<ResourceMapperFields> => {
		const table = await editor.table();
		if (!table) return { fields: [] };
		const key = importKeyOf(table);
		const rules = chosenLinkRules(editor, table);
		const writable = keyFirst(table.fields.filter(isWritable), key);
		if (writable.length === 0) return { fields: [], emptyFieldsNotice: READ_ONLY_NOTICE };
		const linked = await linkedChoices(editor, writable, rules);
		const isLong = writable.length > MAX_SHOWN_FIELDS;
		const fields = writable.map((field) => {
			const [required, isKey] = [isRequired(field), field === key];
			const isNeeded = isKey || field.metadata.required === true;
			return column(
				field,
				{ required, isKey, removed: startsEmpty || (isLong && !isNeeded) },
				rules.get(field.name),
				linked.get(field.name),
			);
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
