/**
 * What is known of an item that no response confirms: what came back, what is stored, and what
 * follows from both. Pure. judge.ts decides by it.
 */
import type {
	FieldDefinition,
	FieldValues,
	JsonValue,
	PlatformRecord,
	RecordMetadata,
} from '../api/types';
import { isWritable } from '../fields';
import { appendedFields, holdsValue } from '../fields/values';
import type { ServiceError } from '../transport/errors';
import { getOwn, isObject } from '../transport/json';
import type { PreparedRecord } from './batches';
import { isFirstVersion, wasChangedSince, wasCreatedSince, type LastChange } from './lastChange';
import type { ItemOutcome } from './outcome';
import type { WriteMode } from './plan';
import { listsAllChanges, type BulkResponse } from './response';

export interface WriteContext {
	mode: WriteMode;
	/** The import key's name. */
	key?: string;
	/** Records are known by the fields to match on instead of the import key. */
	isMatched?: boolean;
	lastChangeBefore: LastChange;
	fields: ReadonlyMap<string, FieldDefinition>;
	/** The fields whose values may be added to what is stored. */
	appendable: FieldDefinition[];
	/** It is written by itself: its record is the result, whoever wrote what it holds. */
	isSingle?: boolean;
}

/** Whether sending a record again could add something a second time. */
export const isAppending = (
	{ fields }: Pick<PreparedRecord, 'fields'>,
	{ appendable }: Pick<WriteContext, 'appendable'>,
): boolean => appendable.length > 0 && appendedFields(appendable, fields).length > 0;

/** Whether a response lists as many new records as it says were inserted: then it was none but these. */
export const listsAllInserts = (
	{ data, insertedCount = Infinity }: BulkResponse,
	lastChangeBefore: LastChange,
): boolean => {
	const isInsert = (record: RecordMetadata) =>
		isFirstVersion(record) === true && wasCreatedSince(record, lastChangeBefore) === true;
	return data.filter(isInsert).length >= insertedCount;
};

/** The fields that a full update clears because it leaves them out, with nothing as their value. */
export function omittedFields(
	sent: { fields: FieldValues },
	stored: PlatformRecord,
	fields: WriteContext['fields'],
): FieldValues {
	const names = Object.keys(stored.fields).filter((name) => {
		const field = fields.get(name);
		return field !== undefined && isWritable(field) && !Object.hasOwn(sent.fields, name);
	});
	return Object.fromEntries(names.map((name) => [name, null]));
}

/** Without the files that a field had before. */
function newFiles(stored: JsonValue | undefined, before: JsonValue | undefined) {
	if (!Array.isArray(stored) || !Array.isArray(before)) return stored;
	const known = new Set(before.map((file) => isObject(file) && file.fileId));
	return stored.filter((file) => !isObject(file) || !known.has(file.fileId));
}

/** A record as far as it can prove that a value was added: of what was there before, nothing can. */
function asAdded(
	{ before, fields }: { before?: PlatformRecord | null; fields: FieldValues },
	stored: PlatformRecord,
	{ appendable }: Pick<WriteContext, 'appendable'>,
): FieldValues {
	const names = before && before.id === stored.id ? appendedFields(appendable, fields) : [];
	if (names.length === 0) return stored.fields;
	const added = names.map((name) => [
		name,
		newFiles(getOwn(stored.fields, name), getOwn(before!.fields, name)),
	]);
	return { ...stored.fields, ...Object.fromEntries(added) };
}

/** The fields of which the stored record certainly holds something else than was sent. */
export function differences(
	prepared: { fields: FieldValues; before?: PlatformRecord | null },
	stored: PlatformRecord,
	context: Pick<WriteContext, 'mode' | 'key' | 'fields' | 'appendable'>,
) {
	const { mode, key, fields } = context;
	const held = asAdded(prepared, stored, context);
	const cleared = mode === 'replace' ? omittedFields(prepared, stored, fields) : {};
	const written = Object.entries({ ...cleared, ...prepared.fields });
	const states = written.map(([name, sent]) => ({
		name,
		// The key that a record was found by, it holds.
		holds:
			(mode === 'upsert' && name === key) || holdsValue(fields.get(name), getOwn(held, name), sent),
	}));
	const named = (state: boolean | undefined) =>
		states.filter(({ holds }) => holds === state).map(({ name }) => name);
	return { different: named(false), unproven: named(undefined) };
}

/**
 * What an item gives besides the values that were added to its record already, and those that filled
 * an empty field: these must not be sent again.
 */
export function withoutAdded(
	{ record, fields }: Pick<PreparedRecord, 'record' | 'fields'>,
	{ appendable }: Pick<WriteContext, 'appendable'>,
): FieldValues {
	const done = new Set([...appendedFields(appendable, fields), ...(record.ruled?.filled ?? [])]);
	if (done.size === 0) return record.fields;
	return Object.fromEntries(Object.entries(record.fields).filter(([name]) => !done.has(name)));
}

/** Whether a stored record holds all that an item holds, whatever was sent of it. */
export const holdsWhole = (
	prepared: Pick<PreparedRecord, 'record' | 'fields'>,
	stored: PlatformRecord,
	context: WriteContext,
): boolean => {
	const whole = { fields: withoutAdded(prepared, context) };
	const { different, unproven } = differences(whole, stored, context);
	return different.length + unproven.length === 0;
};

/** Whether a record was changed after the item was compared or the run began; undefined if nobody knows. */
function wasChanged(
	{ before }: PreparedRecord,
	stored: PlatformRecord,
	{ lastChangeBefore }: WriteContext,
): boolean | undefined {
	const isVersionKnown = before?.id === stored.id && before.ver !== undefined;
	return isVersionKnown && stored.ver !== undefined
		? stored.ver !== before.ver
		: wasChangedSince(stored, lastChangeBefore);
}

/**
 * Whether a look-up proves that no attempt to write an item was applied. That a record to be updated is
 * missing proves nothing of it.
 */
export const isUnapplied = (
	prepared: PreparedRecord,
	found: PlatformRecord[],
	context: WriteContext,
): boolean =>
	(found.length > 0 || context.mode === 'upsert' || context.mode === 'create') &&
	found.every((stored) => wasChanged(prepared, stored, context) === false);

/** What is known about items that no response confirms. */
export interface UnresolvedContext {
	/** The response that does not mention them; none where it was lost. */
	response?: BulkResponse;
	/** The outcomes of items that were rejected, though an earlier attempt may have written them. */
	rejections?: ReadonlyMap<PreparedRecord, ItemOutcome>;
	/** Whether the response lists a record that the look-up found for none of the items. */
	listsUnknownRecord?: boolean;
	/** Whether the response lists all that it says were inserted; found out here if not given. */
	areInsertsListed?: boolean;
}

/** The facts that decide an item's outcome, each one of a few values. */
export interface Situation {
	/**
	 * What became of the request: the response does not mention the item, or does so without its
	 * record; it has reasons without saying for which item; it was lost; the item was rejected, though
	 * an earlier attempt may have written it. `none`: nothing was sent.
	 */
	answer: 'silent' | 'reasons' | 'lost' | 'rejected' | 'none';
	/**
	 * What the item's record is: not there; listed by the response; it holds something else; it can't be seen whether it holds what was sent; it holds it.
	 */
	record: 'missing' | 'listed' | 'different' | 'unproven' | 'same';
	/** Whether it was changed since, and this run may have done it. */
	isWritten: boolean;
	/** Whether nobody knows if an attempt of this run changed it, where that makes a difference. */
	mayBeWritten: boolean;
	/** Whether anybody may have changed it since. */
	mayBeChanged: boolean;
	/** Whether nobody did for certain. */
	isUntouched: boolean;
	/** Whether an earlier attempt was lost, not only asked to wait. */
	wasLost: boolean;
	/** Whether this run inserted it. */
	isInserted: boolean;
	/** Whether the response lists a record that is gone. */
	listsGoneRecord: boolean;
}

/** All that is known of an item. */
export interface Evidence extends Situation {
	prepared: PreparedRecord;
	context: WriteContext;
	/** The records under its id or key. */
	found: PlatformRecord[];
	/** The one of them that is the item's. */
	stored?: PlatformRecord;
	/** The same, as the response lists it. */
	listed?: RecordMetadata;
	/** Whether it is new since the run began. */
	isNew: boolean;
	/** The first field that holds something else, or of which that can't be seen. */
	field?: string;
	rejection?: ItemOutcome;
	response?: BulkResponse;
	lostAttempt?: ServiceError;
}

/** Whether a record is new since the run began. */
const isNewRecord = (
	{ before }: PreparedRecord,
	record: PlatformRecord,
	{ lastChangeBefore }: WriteContext,
) => before === null || (wasCreatedSince(record, lastChangeBefore) ?? false);

/** The item's record among those found: the one that the response lists, or a new one. */
function findOwn(
	prepared: PreparedRecord,
	found: PlatformRecord[],
	response: BulkResponse | undefined,
	context: WriteContext,
): PlatformRecord | undefined {
	const isNew = (record: PlatformRecord) => isNewRecord(prepared, record, context);
	// An older record is not the one that was to be created.
	const candidates = context.mode === 'create' ? found.filter(isNew) : found;
	const isListed = ({ id }: PlatformRecord) => response?.byId.has(id);
	return candidates.find(isListed) ?? candidates.find(isNew) ?? candidates[0];
}

/** What the response to the only attempt proves of a record that it does not list. */
function provenByResponse(
	{ previousAttempt }: PreparedRecord,
	stored: PlatformRecord,
	{ response, isNew, context }: Pick<Evidence, 'response' | 'isNew' | 'context'>,
	areInsertsListed: boolean | undefined,
) {
	if (!response || previousAttempt) return { isNotWritten: false, isInsertedByOther: false };
	const isFirst = isFirstVersion(stored);
	const areListed = areInsertsListed ?? listsAllInserts(response, context.lastChangeBefore);
	return {
		isNotWritten: listsAllChanges(response) || (areListed && isNew && isFirst === true),
		// A new record that it did not insert, or that was changed later, is another writer's.
		isInsertedByOther: areListed || isFirst === false,
	};
}

/** What a record holds of what was sent, and the first field that decides it. */
function compare(
	prepared: PreparedRecord,
	stored: PlatformRecord,
	context: WriteContext,
): Pick<Evidence, 'record' | 'field'> {
	const { different, unproven } = differences(prepared, stored, context);
	if (different.length > 0) return { record: 'different', field: different[0] };
	return unproven.length > 0 ? { record: 'unproven', field: unproven[0] } : { record: 'same' };
}

const toAnswer = ({ rejection, response, lostAttempt }: Partial<Evidence>) => {
	if (rejection) return 'rejected';
	if (response) return response.unattributedErrors.length > 0 ? 'reasons' : 'silent';
	return lostAttempt ? 'lost' : 'none';
};

/**
 * @param found the records that a look-up found under the item's id or key
 * @returns what is known of an item that the response does not mention, or that got none
 */
export function gatherEvidence(
	prepared: PreparedRecord,
	found: PlatformRecord[],
	unresolved: UnresolvedContext,
	context: WriteContext,
): Evidence {
	const rejection = unresolved.rejections?.get(prepared);
	const response = rejection ? undefined : unresolved.response;
	const lostAttempt = rejection || response ? undefined : prepared.previousAttempt;
	const stored = findOwn(prepared, found, response, context);
	const evidence: Evidence = {
		...{ prepared, context, found, stored, rejection, response, lostAttempt },
		answer: toAnswer({ rejection, response, lostAttempt }),
		record: 'missing',
		isNew: stored !== undefined && isNewRecord(prepared, stored, context),
		isWritten: false,
		mayBeWritten: false,
		mayBeChanged: false,
		isUntouched: false,
		wasLost: prepared.previousAttempt !== undefined,
		isInserted: false,
		listsGoneRecord: unresolved.listsUnknownRecord === true,
	};
	if (!stored) return evidence;
	const listed = response?.byId.get(stored.id);
	return listed
		? { ...evidence, record: 'listed', listed }
		: { ...evidence, ...compareStored(evidence, stored, unresolved) };
}

/** What a record that the response does not list says of the item. */
function compareStored(
	evidence: Evidence,
	stored: PlatformRecord,
	{ areInsertsListed }: UnresolvedContext,
): Partial<Evidence> {
	const { prepared, context } = evidence;
	const isChanged = wasChanged(prepared, stored, context);
	const proven = provenByResponse(prepared, stored, evidence, areInsertsListed);
	const mayBeNew = context.mode === 'upsert' && evidence.isNew;
	return {
		...compare(prepared, stored, context),
		isWritten: isChanged === true && !proven.isNotWritten,
		mayBeWritten:
			isChanged === undefined && prepared.previousAttempt !== undefined && !context.isSingle,
		mayBeChanged: isChanged ?? context.lastChangeBefore !== undefined,
		isUntouched: isChanged === false,
		isInserted:
			prepared.isInserted ?? (mayBeNew && !proven.isNotWritten && !proven.isInsertedByOther),
	};
}
