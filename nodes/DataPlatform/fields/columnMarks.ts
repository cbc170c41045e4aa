/**
 * What the mapper puts in brackets after a field's header. A column may be called like that, too.
 */
import type { FieldDefinition } from '../api/types';
import { fieldType } from './index';

export const IMPORT_KEY_MARK = 'import key';

/**
 * What a link field takes, if the option Link Values says that it is not a record ID. Short,
 * because the editor cuts long labels.
 */
export function linkMark({ metadata }: FieldDefinition, linkedField?: string): string {
	const linked = linkedField && `linked '${linkedField}'`;
	if (!metadata.multiple) return linked || 'linked import key';
	return `${linked || 'linked import keys'} to add`;
}

const LINK_MARK = /^linked (?:import keys?|'.*')(?: to add)?$/;

/** What the mapper may put behind the field's header: *import key*, or *Linked import key*. */
export function isMark(field: FieldDefinition, text: string): boolean {
	const mark = text.toLowerCase();
	if (mark === IMPORT_KEY_MARK || mark === fieldType(field).editor.hint?.toLowerCase()) return true;
	return field.type === 'schema_link' && LINK_MARK.test(mark);
}
