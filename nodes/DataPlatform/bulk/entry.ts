/** What an entry sends, and how. */
import type { FieldValues } from '../api/types';
import type { Entry, WriteMode } from './terms';

/** The entry without the record that it was for, to create one. What was attempted stays so. */
export const asNew = (entry: Entry): Entry => ({
	...entry,
	id: undefined,
	before: null,
	sent: undefined,
});

/** An upsert whose record was found is sent as an update of that record. */
export const modeOf = ({ id }: Pick<Entry, 'id'>, mode: WriteMode): WriteMode =>
	mode === 'upsert' && id !== undefined ? 'update' : mode;

/** The values to send. */
export const sentFields = ({ sent, fields }: Pick<Entry, 'sent' | 'fields'>): FieldValues =>
	sent ?? fields;

/** The text of an entry in a request. */
export const toJson = (entry: Entry): string =>
	JSON.stringify({ id: entry.id, fields: sentFields(entry) });

/** How many bytes an entry takes in a request's body. */
export const byteSize = (entry: Entry) => Buffer.byteLength(toJson(entry)) + 1;
