/**
 * From what the service responded, and from what it stores, to each item's outcome. Pure. Bulk
 * responses leave records out and count them all the same, which is the reason for most of it
 * (contract/openapi.yaml).
 */
import type {
	FieldDefinition,
	FieldValues,
	JsonValue,
	PlatformRecord,
	RecordMetadata,
} from '../api/types';
import { isWritable } from '../fields';
import { show } from '../fields/convert';
import { joinedMessages, type ErrorEntry } from '../transport/errorEntries';
import type { Hint, ServiceError } from '../transport/errors';
import { getOwn, isObject } from '../transport/json';
import { appendedFields, holdsValue } from '../fields/values';
import { contradictsItself, listsAllChanges, type BulkResponse } from './response';
import type { PreparedRecord } from './batches';
import {
	isFirstVersion,
	isSameTime,
	isSameVersion,
	wasChangedSince,
	wasCreatedSince,
	type LastChange,
} from './lastChange';
import type { ItemOutcome } from './outcome';
import type { WriteMode } from './plan';

const failure = (entry: ErrorEntry | undefined, fallback: string): ItemOutcome => ({
	outcome: 'failed',
	message: entry?.message ?? fallback,
	code: entry?.id,
});

/** The outcome of an item that the service rejected by name. */
export const rejectedItem = (entry: ErrorEntry) =>
	failure(entry, 'The platform rejected the record and gave no reason');

/** The outcome of an item in a request that was rejected as a whole, or never sent. */
export const failedItem = (error: ServiceError): ItemOutcome => ({
	outcome: 'failed',
	message: error.message,
	hint: error.hint,
	code: error.code,
	status: error.status,
});

/** The outcome of an item that was not sent because the run stopped before it. */
export const notSentItem = (cause: ServiceError): ItemOutcome => ({
	...failedItem(cause),
	message: `Not sent, the run stopped before: ${cause.message}`,
	isDerived: true,
});

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
}

/** Whether sending a record again could add something a second time. */
export const isAppending = (
	{ fields }: Pick<PreparedRecord, 'fields'>,
	{ appendable }: Pick<WriteContext, 'appendable'>,
): boolean => appendable.length > 0 && appendedFields(appendable, fields).length > 0;

type Counts = Pick<BulkResponse, 'allInserted' | 'allUpdated'>;

/** The outcome of an item whose record the response lists. */
export function confirmedItem(
	prepared: PreparedRecord,
	metadata: RecordMetadata,
	context: WriteContext,
	counts: Counts,
): ItemOutcome {
	const { id, created, modified, ver } = metadata;
	const written = { id, created, modified, ver };
	if (context.mode === 'create') return { outcome: 'inserted', ...written };
	if (context.mode !== 'upsert') return { outcome: 'updated', ...written };
	const isInserted = prepared.isInserted ?? wasInserted(prepared, metadata, context, counts);
	return { outcome: isInserted ? 'inserted' : 'updated', ...written };
}

/** Whether a response lists as many new records as it says were inserted: then it was none but these. */
export const listsAllInserts = (
	{ data, insertedCount = Infinity }: BulkResponse,
	lastChangeBefore: LastChange,
): boolean => {
	const isInsert = (record: RecordMetadata) =>
		isFirstVersion(record) === true && wasCreatedSince(record, lastChangeBefore) === true;
	return data.filter(isInsert).length >= insertedCount;
};

/** Whether it is the record that was read before, and not one that took its place. */
const isStillThere = (before: PlatformRecord, { id, created, ver = Infinity }: RecordMetadata) =>
	before.id === id &&
	!(before.created && !isSameTime(before.created, created)) &&
	(before.ver ?? 0) <= ver;

/**
 * Whether an upsert inserted the record that the response lists for it. What was read before may
 * be out of date: another writer may have inserted or deleted the record since.
 */
function wasInserted(
	{ before, previousAttempt }: PreparedRecord,
	record: RecordMetadata,
	{ lastChangeBefore }: WriteContext,
	{ allInserted, allUpdated }: Counts,
): boolean {
	// The counts are about the last attempt; an earlier one may have inserted the record.
	if (previousAttempt === undefined && allInserted) return true;
	if (previousAttempt === undefined && allUpdated) return false;
	if (before && isStillThere(before, record)) return false;
	const isRecent = wasCreatedSince(record, lastChangeBefore);
	const isFirst = isFirstVersion(record);
	if (isFirst === undefined) {
		return isRecent ?? (before !== undefined ? before === null : record.ver === 0);
	}
	if (isFirst) return isRecent ?? true;
	// Modified after it was created: by this attempt, unless an earlier one created it.
	return previousAttempt !== undefined && (isRecent ?? before === null);
}

/**
 * What a single upsert did to the record that it returned; undefined where that can't be known.
 *
 * @param earlier the record as this run last wrote it, where it did
 */
export function upsertOutcome(
	record: RecordMetadata,
	lastChangeBefore: LastChange,
	earlier: RecordMetadata | undefined,
): 'inserted' | 'updated' | 'unchanged' | undefined {
	if (earlier) {
		const isSame = isSameVersion(record, earlier);
		return isSame === undefined ? undefined : isSame ? 'unchanged' : 'updated';
	}
	const isChanged = wasChangedSince(record, lastChangeBefore);
	if (isChanged === false) return 'unchanged';
	const isNew = wasCreatedSince(record, lastChangeBefore);
	if (isChanged === undefined || isNew === undefined) return undefined;
	return isNew && isFirstVersion(record) ? 'inserted' : 'updated';
}

/**
 * Pairs `data` with the records by position: sure only where every record that did not fail has
 * its entry. Undefined where the response left something out or added something.
 *
 * @param mayShareRecords whether two items may mean one record: only with keys of which the platform
 *   alone knows whether they are the same
 */
export function pairByPosition(
	batch: PreparedRecord[],
	response: BulkResponse,
	mayShareRecords: boolean,
) {
	const rest = batch.filter((_, index) => !response.failed.has(index));
	if (response.unattributedErrors.length > 0 || response.data.length !== rest.length) {
		return undefined;
	}
	const byId = new Map<string, PreparedRecord>();
	for (const [index, { id }] of response.data.entries()) {
		const same = byId.get(id);
		const isUncertain = same?.record.hasUncertainKey || rest[index]!.record.hasUncertainKey;
		if (same && !(mayShareRecords && isUncertain)) return undefined;
		byId.set(id, rest[index]!);
	}
	if (contradictsItself(response, rest.length)) return undefined;
	return rest.map((prepared, index) => [prepared, response.data[index]!] as const);
}

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
function differences(
	prepared: { fields: FieldValues; before?: PlatformRecord | null },
	stored: PlatformRecord,
	context: Pick<WriteContext, 'mode' | 'key' | 'fields' | 'appendable'>,
	overwritten?: ReadonlySet<string>,
) {
	const { mode, key, fields } = context;
	const held = asAdded(prepared, stored, context);
	const cleared = mode === 'replace' ? omittedFields(prepared, stored, fields) : {};
	const written = Object.entries({ ...cleared, ...prepared.fields }).filter(
		([name]) => !overwritten?.has(name),
	);
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
 * What an item gives besides the values that were added to its record already: these must not be
 * sent again.
 */
export function withoutAdded(
	{ record, fields }: Pick<PreparedRecord, 'record' | 'fields'>,
	{ appendable }: Pick<WriteContext, 'appendable'>,
): FieldValues {
	const added = new Set(appendedFields(appendable, fields));
	if (added.size === 0) return record.fields;
	return Object.fromEntries(Object.entries(record.fields).filter(([name]) => !added.has(name)));
}

/** Whether a stored record holds all that an item holds, whatever was sent of it. */
export const holdsWhole = (
	prepared: Pick<PreparedRecord, 'record' | 'fields'>,
	stored: PlatformRecord,
	context: WriteContext,
	overwritten?: ReadonlySet<string>,
): boolean => {
	const whole = { fields: withoutAdded(prepared, context) };
	const { different, unproven } = differences(whole, stored, context, overwritten);
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

/** Whether a look-up proves that no attempt to write an item was applied. */
export const isUnapplied = (
	prepared: PreparedRecord,
	found: PlatformRecord[],
	context: WriteContext,
): boolean => found.every((stored) => wasChanged(prepared, stored, context) === false);

/** What is known about items that no response confirms. */
export interface UnresolvedContext {
	/** The response that does not mention them; none where it was lost. */
	response?: BulkResponse;
	/** The outcomes of items that were rejected, though an earlier attempt may have written them. */
	rejections?: ReadonlyMap<PreparedRecord, ItemOutcome>;
	/** Items that turned out to mean the same record as others of the request, with another form of its key. */
	sharing?: Sharing;
	/** Whether the response lists a record that the look-up found for none of the items. */
	listsUnknownRecord?: boolean;
	/** Whether the response lists all that it says were inserted; found out here if not given. */
	areInsertsListed?: boolean;
}

/** Items that share a record, and the fields of it that later ones among them write too. */
export type Sharing = ReadonlyMap<PreparedRecord, ReadonlySet<string>>;

const HINT_IF_UNKNOWN: Record<WriteMode, Hint> = {
	create: { code: 'lookBeforeCreatingManyAgain' },
	upsert: 'It is safe to run it again: with the same import key nothing is doubled.',
	update: 'It is safe to run it again.',
	replace: 'It is safe to run it again.',
};

/** The outcome of an item of which it could not be found out whether it was written. */
export const unknownItem = (mode: WriteMode, why: string): ItemOutcome => ({
	outcome: 'unknown',
	message: `Unknown whether this record was written: ${why}`,
	hint: HINT_IF_UNKNOWN[mode],
});

/** The outcome of an item that could not be looked up. @param why it had to be */
export const unreadItem = (
	prepared: PreparedRecord,
	why: string,
	{ message }: ServiceError,
	context: WriteContext,
): ItemOutcome =>
	asFinal(unknownItem(context.mode, `${why}; looking it up failed: ${message}`), prepared, context);

/**
 * The outcome of an item that the response does not mention, or that got none, from the records
 * that a look-up found under its id or import key.
 */
export function resolveUnreported(
	prepared: PreparedRecord,
	found: PlatformRecord[],
	unresolved: UnresolvedContext,
	context: WriteContext,
): ItemOutcome {
	const resolved = resolveFromStored(prepared, found, unresolved, context);
	const { previousAttempt } = prepared;
	if (resolved.outcome !== 'failed' || !previousAttempt?.mayStillApply) {
		return asFinal(resolved, prepared, context);
	}
	// A later attempt was rejected, but the service may still apply the earlier one.
	const why = `${resolved.message}; an earlier attempt may still be applied: ${previousAttempt.message}`;
	return asFinal({ ...resolved, ...unknownItem(context.mode, why) }, prepared, context);
}

/** An item of unknown outcome whose values would be added a second time says so. */
export const asFinal = (
	item: ItemOutcome,
	prepared: PreparedRecord,
	context: WriteContext,
): ItemOutcome =>
	item.outcome === 'unknown' && context.mode !== 'create' && isAppending(prepared, context)
		? { ...item, isFinal: true, hint: { code: 'lookBeforeAddingAgain' } }
		: item;

function resolveFromStored(
	prepared: PreparedRecord,
	found: PlatformRecord[],
	unresolved: UnresolvedContext,
	context: WriteContext,
): ItemOutcome {
	const { mode, lastChangeBefore } = context;
	const { previousAttempt } = prepared;
	const rejection = unresolved.rejections?.get(prepared);
	const response = rejection ? undefined : unresolved.response;
	const cause = rejection || response ? undefined : previousAttempt;
	const confirmed = response?.byId;
	const isNew = (record: PlatformRecord) =>
		prepared.before === null || (wasCreatedSince(record, lastChangeBefore) ?? false);
	const candidates = mode === 'create' ? found.filter(isNew) : found;
	const stored =
		candidates.find(({ id }) => confirmed?.has(id)) ?? candidates.find(isNew) ?? candidates[0];
	if (!stored) {
		const isUpsert = mode === 'upsert' || mode === 'create';
		return rejection && isUpsert
			? rejection
			: resolveNotFound(prepared, found, { ...unresolved, cause, response }, context);
	}

	const { id, created, modified, ver } = stored;
	const written = { id, created, modified, ver };
	// Its items change it one after the other: which of them inserted it is for the run to say.
	const overwritten = unresolved.sharing?.get(prepared);
	const isShared = overwritten !== undefined;
	const listed = confirmed?.get(id);
	if (response && listed) {
		// What is stored now may have been changed by somebody else since.
		const item = confirmedItem(prepared, listed.modified ? listed : stored, context, response);
		const isFirst = isShared && isNew(stored) && response.insertedCount !== 0;
		return isFirst && prepared.isInserted === undefined ? { ...item, outcome: 'inserted' } : item;
	}
	// What the only attempt wrote is in its response, if that lists as many records as it counts.
	const only = previousAttempt === undefined ? response : undefined;
	const areInsertsListed =
		only !== undefined && (unresolved.areInsertsListed ?? listsAllInserts(only, lastChangeBefore));
	const isAsInserted = isFirstVersion(stored);
	const isUntouched =
		only !== undefined &&
		(listsAllChanges(only) || (areInsertsListed && isNew(stored) && isAsInserted === true));
	// A new record that the only attempt did not insert, or changed later, is another writer's.
	const isOthers =
		only !== undefined && (areInsertsListed || (!isShared && isAsInserted === false));
	const isInserted =
		prepared.isInserted ?? (mode === 'upsert' && isNew(stored) && !isUntouched && !isOthers);
	const { different, unproven } = differences(prepared, stored, context, overwritten);
	// Later items write all that it does: what is stored says nothing of it.
	const isHidden =
		isShared &&
		Object.keys(prepared.fields).every((name) => name === context.key || overwritten.has(name));
	const changed = wasChanged(prepared, stored, context);
	const isChanged = !isUntouched && changed === true;
	const name = different[0];
	if (name !== undefined) {
		const still = `the record holds ${show(getOwn(stored.fields, name) ?? null)} in '${name}'`;
		if (mode === 'create') {
			// Without its id: another writer may have inserted it, or changed it since.
			if (rejection) return rejection;
			if (response?.unattributedErrors.length) {
				return resolveNotFound(prepared, found, { ...unresolved, response }, context);
			}
			const why = cause?.message ?? 'the response did not mention it';
			return unknownItem(mode, `${why}; ${still}`);
		}
		if (rejection) {
			if (changed === false) return { ...rejection, id };
			// An earlier attempt may have written it, and another writer since.
			const applied = previousAttempt?.mayStillApply ? 'still be applied' : 'have been applied';
			const earlier = `an earlier attempt may ${applied}: ${previousAttempt?.message}`;
			return { ...unknownItem(mode, `${rejection.message}; ${earlier}; ${still}`), id };
		}
		if (cause) return { ...unknownItem(mode, `${cause.message}; ${still}`), id };
		// Another writer may have changed what this one wrote, or what it left as it was.
		const mayBeChanged = changed ?? lastChangeBefore !== undefined;
		if (!response?.unattributedErrors.length && mayBeChanged) {
			const why = 'the response did not mention it, and the record was changed during the run';
			return { ...unknownItem(mode, `${why}; ${still}`), id, field: name };
		}
		const entry =
			response?.unattributedErrors.length === 1 ? response.unattributedErrors[0] : undefined;
		return {
			...failure(entry, `The response did not mention this item, and ${still}`),
			id,
			field: name,
		};
	}
	if (mode === 'create') return { outcome: 'inserted', ...written };
	if (isHidden && !isChanged && (rejection ?? cause)) {
		const why = cause && `${cause.message}; another item writes the same fields`;
		return why === undefined ? { ...rejection!, id } : { ...unknownItem(mode, why), id };
	}
	if (unproven.length > 0 && !isChanged) {
		const why = cause?.message ?? 'the response did not mention it';
		const name = unproven[0]!;
		const open = `whether '${name}' holds what was sent can't be seen from the record`;
		return { ...unknownItem(mode, `${why}; ${open}`), id, ver, field: name };
	}
	if (isInserted) return { outcome: 'inserted', ...written };
	return { outcome: isChanged ? 'updated' : 'unchanged', ...written };
}

function resolveNotFound(
	{ record }: PreparedRecord,
	found: PlatformRecord[],
	{ cause, response, listsUnknownRecord }: UnresolvedContext & { cause?: ServiceError },
	{ mode, isMatched }: WriteContext,
): ItemOutcome {
	if (mode === 'update' || mode === 'replace') {
		return {
			outcome: 'notFound',
			id: record.id,
			message: `The table has no record with the ID '${record.id}'`,
			hint: 'Check the ID; the record may have been deleted.',
		};
	}
	if (cause) {
		const what = isMatched ? 'match values' : 'import key';
		const state = found.length
			? `only an older record has the ${what} '${record.key}'`
			: `a look-up did not find the ${what} '${record.key}'`;
		return unknownItem(mode, `${cause.message}; ${state} yet`);
	}
	if (listsUnknownRecord) {
		const what = 'the response lists a record that is gone, without saying whose it was';
		return unknownItem(mode, what);
	}
	const entry =
		response?.unattributedErrors.length === 1 ? response.unattributedErrors[0] : undefined;
	const reasons = joinedMessages(response?.unattributedErrors ?? []);
	return failure(
		entry,
		reasons
			? `The platform did not write this record; its reasons, without saying for which item: ${reasons}`
			: 'The response did not mention this item, and the table has no such record',
	);
}

/**
 * Finds out which created records belong to which items when the response leaves some out, by
 * comparing values: `data` keeps the order of the request.
 *
 * @param created the records of the response's `data`, read back, in its order
 * @returns for an item its record, or undefined where several items fit; items that were not
 *   created are left out. Undefined in whole where the records can't all belong to items.
 */
export function alignByContent(
	rest: PreparedRecord[],
	created: PlatformRecord[],
	fields: WriteContext['fields'],
): Map<PreparedRecord, PlatformRecord | undefined> | undefined {
	const fits = (prepared: PreparedRecord, record: PlatformRecord) =>
		differences(prepared, record, { mode: 'create', fields, appendable: [] }).different.length ===
		0;
	const first: number[] = [];
	for (const record of created) {
		let at = (first.at(-1) ?? -1) + 1;
		while (at < rest.length && !fits(rest[at]!, record)) at += 1;
		if (at === rest.length) return undefined;
		first.push(at);
	}
	const pairs = new Map<PreparedRecord, PlatformRecord | undefined>();
	const candidates: PreparedRecord[] = [];
	/** The values of items of which it is open whether a record is theirs. */
	const open = new Set<string>();
	let end = rest.length;
	for (let index = created.length - 1; index >= 0; index -= 1) {
		const record = created[index]!;
		const start = first[index]!;
		const range = rest.slice(start, end);
		const fitting = range.filter((prepared) => fits(prepared, record));
		// Between items with the same values it makes no difference.
		const isCertain = fitting.every(({ json }) => json === fitting[0]!.json);
		if (isCertain) pairs.set(rest[start]!, record);
		else for (const { json } of fitting) open.add(json);
		for (const one of fitting) candidates.push(one);
		end = start + range.lastIndexOf(fitting.at(-1)!);
	}
	// One of the same values may have what another one did not get.
	for (const one of candidates) {
		if (open.has(one.json) && !pairs.has(one)) pairs.set(one, undefined);
	}
	return pairs;
}
