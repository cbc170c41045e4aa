/** One record on its way through a run, from its item to its outcome. Steps return changed copies. */
import type { FieldValues, PlatformRecord } from '../api/types';
import type { ServiceError } from '../transport/errors';
import type { ItemOutcome } from './outcome';
import type { WriteMode } from './plan/plan';

export interface Entry {
	/** The item it comes from. */
	index: number;
	id?: string;
	/**
	 * The value of its import key, or the values to match on, as the platform stores them; undefined
	 * if they can't identify the record.
	 */
	key?: string;
	/** The import key of a record to create, if other items have the same one. */
	sharedKey?: { text: string; isFirst: boolean };
	/** All values to write. */
	fields: FieldValues;
	/** The effect of field rules. `fields` then has only the fields to write. */
	ruled?: {
		/** The fields that are not written. */
		held: FieldValues;
		/** Those among them whose stored value differs. */
		kept: string[];
	};

	/** The record before the write: null if there was none, undefined if it was not looked up. */
	before?: PlatformRecord | null;
	/** The values to send, if some of `fields` are stored already. */
	sent?: FieldValues;
	/** Its text in the request's `bulk` array, serialized when it is first needed. */
	json?: string;
	/** The attempts of unknown result: each may have written it, or may still do so. */
	attempts?: ServiceError[];
}

export type Resolved = [Entry, ItemOutcome];

/** The entry as it was planned, to look it up and write it anew. */
export const asPlanned = ({ index, id, key, sharedKey, fields, ruled }: Entry): Entry => ({
	index,
	id,
	key,
	sharedKey,
	fields,
	ruled,
});

/** An upsert whose record was found is sent as an update of that record. */
export const modeOf = ({ id }: Pick<Entry, 'id'>, mode: WriteMode): WriteMode =>
	mode === 'upsert' && id !== undefined ? 'update' : mode;

/** The values to send. */
export const sentFields = ({ sent, fields }: Pick<Entry, 'sent' | 'fields'>): FieldValues =>
	sent ?? fields;

/** The text of an entry in a request. It is computed once, because large batches need it twice. */
export const toJson = (entry: Entry): string =>
	(entry.json ??= JSON.stringify({ id: entry.id, fields: sentFields(entry) }));

/** How many bytes an entry takes in a request's body. */
export const byteSize = (entry: Entry) => Buffer.byteLength(toJson(entry)) + 1;
