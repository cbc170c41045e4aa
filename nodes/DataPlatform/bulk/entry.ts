/** One record on its way through a run, from its item to its outcome. Steps return changed copies. */
import type { FieldValues, PlatformRecord } from '../api/types';
import type { ServiceError } from '../transport/errors';
import type { ItemOutcome } from './outcome';

export interface Entry {
	/** The item it comes from. */
	index: number;
	id?: string;
	/**
	 * The value of its import key, or the values to match on, as the platform stores them; undefined
	 * if they can't identify the record.
	 */
	key?: string;
	/** The key is as given. Only the platform knows how it stores it. */
	hasUncertainKey?: boolean;
	/** The key fields of the record that the platform found by an uncertain key, as it stores them. */
	foundBy?: FieldValues;
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
		/** The fields that were empty. They are not written a second time. */
		filled: string[];
	};
	/** The items that were merged into this record, in their order. */
	parts?: Entry[];

	/** The record before the write: null if there was none, undefined if it was not looked up. */
	before?: PlatformRecord | null;
	/** The values to send, if some of `fields` are stored already. */
	sent?: FieldValues;
	/** Its text in the request's `bulk` array, once it is needed. */
	json?: string;
	/** The previous attempt that may have written it, or may still do so. */
	previousAttempt?: ServiceError;
	/** Whether the service asked to wait. A gateway may ask although the record was written. */
	wasPostponed?: boolean;
	/** Whether it is sent again because a look-up showed that it was not written. */
	isSentAgain?: boolean;
	/** Whether it has a request of its own. The response then contains it, changed or not. */
	isAlone?: boolean;
	/** Whether a previous request of this run inserted it with only some of its fields. */
	isInserted?: boolean;
}

export type Resolved = [Entry, ItemOutcome];

/** The entry as it was planned, to look it up and write it anew. */
export const asPlanned = ({
	index,
	id,
	key,
	hasUncertainKey,
	foundBy,
	sharedKey,
	fields,
	ruled,
	parts,
}: Entry): Entry => ({ index, id, key, hasUncertainKey, foundBy, sharedKey, fields, ruled, parts });

/** An entry of which only these values are sent, with the record that is stored. */
export const withSent = (
	entry: Entry,
	sent: FieldValues | undefined,
	before?: PlatformRecord | null,
): Entry => ({ ...asPlanned(entry), before, sent });

/** The values to send. */
export const sentFields = ({ sent, fields }: Pick<Entry, 'sent' | 'fields'>): FieldValues =>
	sent ?? fields;

/** Whether only the fields that differ from the stored record are sent. */
export const isPartial = ({ before, sent }: Entry) => !!before && sent !== undefined;

/** The text of an entry in a request. It is computed once, because large batches need it twice. */
export const toJson = (entry: Entry): string =>
	(entry.json ??= JSON.stringify({ id: entry.id, fields: sentFields(entry) }));

/** How many bytes an entry takes in a request's body. */
export const byteSize = (entry: Entry) => Buffer.byteLength(toJson(entry)) + 1;
