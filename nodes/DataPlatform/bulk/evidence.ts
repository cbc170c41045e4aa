/**
 * The facts about an item that no response confirms: what came back, what is stored, and what
 * follows from both. judge.ts decides by them. Pure.
 */
import type { IdSet } from '../api/idSet';
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
import { sentFields, type Entry } from './entry';
import { isFirstVersion, wasChangedSince, wasCreatedSince, type LastChange } from './lastChange';
import type { ItemOutcome } from './outcome';
import type { WriteMode } from './plan';
import { listsAllChanges, type BulkResponse } from './response';

export interface WriteContext {
	mode: WriteMode;
	/** The import key's name. */
	key?: string;
	/** Records are identified by the fields to match on, not by the import key. */
	isMatched?: boolean;
	lastChangeBefore: LastChange;
	fields: ReadonlyMap<string, FieldDefinition>;
	/** The fields whose values may be added to the stored ones. */
	appendable: FieldDefinition[];
	/** The item is written by itself. Its record is the result, whoever wrote its values. */
	isSingle?: boolean;
	/** The records that items of this run inserted: another item did not insert them. */
	inserted?: Pick<IdSet, 'has'>;
}

/** Whether sending a record again could add something twice. */
export const isAppending = (
	entry: Pick<Entry, 'fields' | 'sent'>,
	{ appendable }: Pick<WriteContext, 'appendable'>,
): boolean => appendable.length > 0 && appendedFields(appendable, sentFields(entry)).length > 0;

/**
 * Whether a response lists as many new records as it says were inserted: then there are no others.
 */
export const listsAllInserts = (
	{ data, insertedCount = Infinity }: BulkResponse,
	lastChangeBefore: LastChange,
): boolean => {
	const isInsert = (record: RecordMetadata) =>
		isFirstVersion(record) === true && wasCreatedSince(record, lastChangeBefore) === true;
	return data.filter(isInsert).length >= insertedCount;
};

/** The fields that a full update clears because it omits them, each with the value null. */
function omittedFields(
	sent: FieldValues,
	stored: PlatformRecord,
	fields: WriteContext['fields'],
): FieldValues {
	const names = Object.keys(stored.fields).filter((name) => {
		const field = fields.get(name);
		return field !== undefined && isWritable(field) && !Object.hasOwn(sent, name);
	});
	return Object.fromEntries(names.map((name) => [name, null]));
}

/** The stored files of a field, without those that it had before. */
function newFiles(stored: JsonValue | undefined, before: JsonValue | undefined) {
	if (!Array.isArray(stored) || !Array.isArray(before)) return stored;
	const known = new Set(before.map((file) => isObject(file) && file.fileId));
	return stored.filter((file) => !isObject(file) || !known.has(file.fileId));
}

/** The values of a record that can prove an addition. Those that were there before can't. */
function asAdded(
	sent: FieldValues,
	before: Entry['before'],
	stored: PlatformRecord,
	{ appendable }: Pick<WriteContext, 'appendable'>,
): FieldValues {
	const names = before && before.id === stored.id ? appendedFields(appendable, sent) : [];
	if (names.length === 0) return stored.fields;
	const added = names.map((name) => [
		name,
		newFiles(getOwn(stored.fields, name), getOwn(before!.fields, name)),
	]);
	return { ...stored.fields, ...Object.fromEntries(added) };
}

/**
 * The fields that are written, each with its value, and whether the stored record holds it;
 * undefined if that can't be seen.
 */
export function compareFields(
	sent: FieldValues,
	{ before, foundBy = {} }: Pick<Entry, 'before' | 'foundBy'>,
	stored: PlatformRecord,
	context: Pick<WriteContext, 'mode' | 'key' | 'fields' | 'appendable'>,
) {
	const { mode, key, fields } = context;
	// A record holds the key that it was found by.
	const isKey = (name: string) =>
		(mode === 'upsert' && name === key) ||
		(Object.hasOwn(foundBy, name) && foundBy[name] === getOwn(stored.fields, name));
	const held = asAdded(sent, before, stored, context);
	const cleared = mode === 'replace' ? omittedFields(sent, stored, fields) : {};
	return Object.entries({ ...cleared, ...sent }).map(([name, value]) => ({
		name,
		value,
		isHeld: isKey(name) || holdsValue(fields.get(name), getOwn(held, name), value),
	}));
}

/**
 * An item's values, except those that must not be sent again: its record held them already, or got
 * them, and they would be added once more. Nor do field rules fill a field twice.
 *
 * @param isInserted whether the record is new, so that it only has what was sent
 */
export function withoutAdded(
	entry: Entry,
	{ appendable }: Pick<WriteContext, 'appendable'>,
	isInserted = false,
): FieldValues {
	const { fields, ruled } = entry;
	const held = isInserted ? sentFields(entry) : fields;
	const done = new Set([...appendedFields(appendable, held), ...(ruled?.filled ?? [])]);
	if (done.size === 0) return fields;
	return Object.fromEntries(Object.entries(fields).filter(([name]) => !done.has(name)));
}

/**
 * Whether a stored record holds all values of an item, whichever were sent; undefined if unknown.
 *
 * @param known values that need no comparison
 */
export function holdsWhole(
	entry: Entry,
	{ outcome }: ItemOutcome,
	stored: PlatformRecord,
	context: WriteContext,
	known: FieldValues = {},
): boolean | undefined {
	const { foundBy } = entry;
	const values = withoutAdded(entry, context, outcome === 'inserted');
	const compared = compareFields(values, { foundBy }, stored, context).filter(
		({ name }) => !Object.hasOwn(known, name),
	);
	const held = compared.map(({ isHeld }) => isHeld);
	return held.includes(false) ? false : held.includes(undefined) ? undefined : true;
}

/**
 * Whether a record was changed after the item was compared or the run began; undefined if unknown.
 */
function wasChanged(
	{ before }: Entry,
	stored: PlatformRecord,
	{ lastChangeBefore }: WriteContext,
): boolean | undefined {
	const isVersionKnown = before?.id === stored.id && before.ver !== undefined;
	return isVersionKnown && stored.ver !== undefined
		? stored.ver !== before.ver
		: wasChangedSince(stored, lastChangeBefore);
}

/**
 * Whether a look-up proves that no attempt to write an item was applied. If the record to update is
 * missing, that proves nothing. Nor if one to create is missing: it may still be created.
 */
export const isUnapplied = (
	entry: Entry,
	found: PlatformRecord[],
	context: WriteContext,
): boolean =>
	(found.length > 0 || context.mode === 'upsert') &&
	found.every((stored) => wasChanged(entry, stored, context) === false);

/** What is known about items that no response confirms. */
export interface UnresolvedContext {
	/** The response that does not mention them; undefined if it was lost. */
	response?: BulkResponse;
	/** The outcomes of items that were rejected although a previous attempt may have written them. */
	rejections?: ReadonlyMap<Entry, ItemOutcome>;
	/** Whether the response lists a record that the look-up found for no item. */
	listsUnknownRecord?: boolean;
	/** Whether the response lists all records that it says were inserted; computed if not set. */
	areInsertsListed?: boolean;
}

/** The facts that decide an item's outcome. Each has only a few possible values. */
export interface Situation {
	/**
	 * What happened to the request.
	 * - `silent`: the response does not mention the item, or not its record,
	 * - `reasons`: the response has reasons, but does not say for which item,
	 * - `lost`: there was no response,
	 * - `rejected`: the item was rejected, but a previous attempt may have written it.
	 */
	answer: 'silent' | 'reasons' | 'lost' | 'rejected';
	/**
	 * What is stored.
	 * - `missing`: the item has no record,
	 * - `listed`: the response lists its record,
	 * - `different`: the record holds something else,
	 * - `unproven`: the record does not show whether it holds what was sent,
	 * - `same`: the record holds what was sent.
	 */
	record: 'missing' | 'listed' | 'different' | 'unproven' | 'same';
	/** Whether the record was changed meanwhile, possibly by this run. */
	isWritten: boolean;
	/** Whether an attempt of this run may have changed it, if that is unknown and matters. */
	mayBeWritten: boolean;
	/** Whether anybody may have changed it meanwhile. */
	mayBeChanged: boolean;
	/** Whether it is certain that nobody changed it meanwhile. */
	isUntouched: boolean;
	/** Whether a previous attempt was lost, not only asked to wait. */
	wasLost: boolean;
	/** Whether this run inserted it. */
	isInserted: boolean;
	/** Whether the response lists a record that is gone. */
	listsGoneRecord: boolean;
}

/** All facts about an item. */
export interface Evidence extends Situation {
	entry: Entry;
	context: WriteContext;
	/** The records with its ID or key. */
	found: PlatformRecord[];
	/** The item's record among them. */
	stored?: PlatformRecord;
	/** That record as the response lists it. */
	listed?: RecordMetadata;
	/** Whether that record was created since the run began. */
	isNew: boolean;
	/** The first field that holds something else, or may do so. */
	field?: string;
	rejection?: ItemOutcome;
	response?: BulkResponse;
	lostAttempt?: ServiceError;
}

/** Whether a record was created since the run began, and not by another of its items. */
const isNewRecord = (
	{ before }: Entry,
	record: PlatformRecord,
	{ lastChangeBefore, inserted }: WriteContext,
) =>
	!inserted?.has(record.id) &&
	(before === null || (wasCreatedSince(record, lastChangeBefore) ?? false));

/** The item's record among those found: the listed one, else a new one, else the first. */
function findOwn(
	entry: Entry,
	found: PlatformRecord[],
	response: BulkResponse | undefined,
	context: WriteContext,
): PlatformRecord | undefined {
	const isNew = (record: PlatformRecord) => isNewRecord(entry, record, context);
	// An older record can't be the one that the item creates.
	const candidates = context.mode === 'create' ? found.filter(isNew) : found;
	const isListed = ({ id }: PlatformRecord) => response?.byId.has(id);
	return candidates.find(isListed) ?? candidates.find(isNew) ?? candidates[0];
}

/** What the response to the only attempt proves about a record that it does not list. */
function provenByResponse(
	{ previousAttempt }: Entry,
	stored: PlatformRecord,
	{ response, isNew, context }: Pick<Evidence, 'response' | 'isNew' | 'context'>,
	areInsertsListed: boolean | undefined,
) {
	if (!response || previousAttempt) return { isNotWritten: false, isInsertedByOther: false };
	const isFirst = isFirstVersion(stored);
	const isOwn = context.inserted?.has(stored.id) === true;
	const areListed = areInsertsListed ?? listsAllInserts(response, context.lastChangeBefore);
	return {
		isNotWritten:
			listsAllChanges(response) || (isFirst === true && (isOwn || (areListed && isNew))),
		// Another writer inserted a new record if this request did not, or if it was changed later.
		isInsertedByOther: areListed || isFirst === false,
	};
}

/** How a record compares with what was sent, and the first field that decides it. */
function compare(
	entry: Entry,
	stored: PlatformRecord,
	context: WriteContext,
): Pick<Evidence, 'record' | 'field'> {
	const fields = compareFields(sentFields(entry), entry, stored, context);
	const different = fields.find(({ isHeld }) => isHeld === false);
	if (different) return { record: 'different', field: different.name };
	const unproven = fields.find(({ isHeld }) => isHeld === undefined);
	return unproven ? { record: 'unproven', field: unproven.name } : { record: 'same' };
}

const toAnswer = ({ rejection, response }: Partial<Evidence>) => {
	if (rejection) return 'rejected';
	if (response) return response.unattributedErrors.length > 0 ? 'reasons' : 'silent';
	return 'lost';
};

/**
 * @param found the records that a look-up found by the item's ID or key
 * @returns the facts about an item that the response does not mention, or that got no response
 */
export function gatherEvidence(
	entry: Entry,
	found: PlatformRecord[],
	unresolved: UnresolvedContext,
	context: WriteContext,
): Evidence {
	const rejection = unresolved.rejections?.get(entry);
	const response = rejection ? undefined : unresolved.response;
	const lostAttempt = rejection || response ? undefined : entry.previousAttempt;
	const stored = findOwn(entry, found, response, context);
	const evidence: Evidence = {
		...{ entry, context, found, stored, rejection, response, lostAttempt },
		answer: toAnswer({ rejection, response }),
		record: 'missing',
		isNew: stored !== undefined && isNewRecord(entry, stored, context),
		isWritten: false,
		mayBeWritten: false,
		mayBeChanged: false,
		isUntouched: false,
		wasLost: entry.previousAttempt !== undefined,
		isInserted: false,
		listsGoneRecord: unresolved.listsUnknownRecord === true,
	};
	if (!stored) return evidence;
	const listed = response?.byId.get(stored.id);
	return listed
		? { ...evidence, record: 'listed', listed }
		: { ...evidence, ...compareStored(evidence, stored, unresolved) };
}

/** What a record that the response does not list says about the item. */
function compareStored(
	evidence: Evidence,
	stored: PlatformRecord,
	{ areInsertsListed }: UnresolvedContext,
): Partial<Evidence> {
	const { entry, context } = evidence;
	const isChanged = wasChanged(entry, stored, context);
	const proven = provenByResponse(entry, stored, evidence, areInsertsListed);
	const mayBeNew = context.mode === 'upsert' && evidence.isNew;
	return {
		...compare(entry, stored, context),
		isWritten: isChanged === true && !proven.isNotWritten,
		mayBeWritten:
			isChanged === undefined && entry.previousAttempt !== undefined && !context.isSingle,
		mayBeChanged: isChanged ?? context.lastChangeBefore !== undefined,
		isUntouched: isChanged === false,
		isInserted: entry.isInserted ?? (mayBeNew && !proven.isNotWritten && !proven.isInsertedByOther),
	};
}
