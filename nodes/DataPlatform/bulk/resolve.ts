/**
 * From what the service answered, and from what it stores, to each item's outcome. Pure.
 * Follows contract.md "Bulk answers", whose traps are the reason for most of it.
 */
import type { FieldDefinition, FieldValues, PlatformRecord, RecordMetadata } from '../api/types';
import { isWritable } from '../fields';
import { show } from '../fields/convert';
import type { ErrorEntry } from '../transport/errorEntries';
import type { ServiceError } from '../transport/errors';
import { getOwn } from '../transport/json';
import { holdsValue } from '../fields/values';
import { contradictsItself, type BulkResponse } from './response';
import type { PreparedRecord } from './batches';
import type { ItemOutcome } from './outcome';
import type { WriteMode } from './plan';

/**
 * The newest change in the table before this execution wrote anything, in the platform's time:
 * what is newer was done by it. `none` for an empty table, undefined where it could not be read.
 */
export type Watermark = string | 'none' | undefined;

function isAfter(time: string | undefined, watermark: Watermark): boolean | undefined {
	if (watermark === 'none') return true;
	if (watermark === undefined || time === undefined) return undefined;
	return Date.parse(time) > Date.parse(watermark);
}

const failure = (entry: ErrorEntry | undefined, fallback: string): ItemOutcome => ({
	outcome: 'failed',
	message: entry?.message ?? fallback,
	code: entry?.id,
});

/** The outcome of an item that the service refused by name. */
export const refusedItem = (entry: ErrorEntry) =>
	failure(entry, 'The platform refused the record and gave no reason');

/** The items of a request that the service refused by name. */
export const refusedItems = (batch: PreparedRecord[], { failed }: BulkResponse) =>
	[...failed].map(([index, entry]): [PreparedRecord, ItemOutcome] => [
		batch[index]!,
		refusedItem(entry),
	]);

/** The outcome of an item in a request that was refused as a whole, or never sent. */
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
	watermark: Watermark;
	fields: ReadonlyMap<string, FieldDefinition>;
}

/** The outcome of an item that the answer confirms with its record. */
export function confirmedItem(
	sendable: PreparedRecord,
	{ id, created, modified, ver }: RecordMetadata,
	{ mode, watermark }: WriteContext,
	answer: Pick<BulkResponse, 'allInserted' | 'allUpdated'> & { repeated: boolean },
): ItemOutcome {
	const written = { id, created, modified, ver };
	if (mode === 'create') return { outcome: 'inserted', ...written };
	if (mode !== 'upsert') return { outcome: 'updated', ...written };
	if (sendable.before !== undefined) {
		return { outcome: sendable.before ? 'updated' : 'inserted', ...written };
	}
	// The counts speak of the last try alone; an earlier one may have inserted the record.
	if (!answer.repeated && answer.allInserted) return { outcome: 'inserted', ...written };
	if (!answer.repeated && answer.allUpdated) return { outcome: 'updated', ...written };
	const isNew = isAfter(created, watermark) ?? created === modified;
	return { outcome: isNew ? 'inserted' : 'updated', ...written };
}

/**
 * Pairs `data` with the records by position: sure only where every record that did not fail has
 * its entry. Undefined where the answer left something out or added something.
 */
export function pairByPosition(batch: PreparedRecord[], answer: BulkResponse) {
	const rest = batch.filter((_, index) => !answer.failed.has(index));
	const isDistinct = new Set(answer.data.map(({ id }) => id)).size === answer.data.length;
	if (answer.unattributedErrors.length > 0 || answer.data.length !== rest.length || !isDistinct)
		return undefined;
	if (contradictsItself(answer)) return undefined;
	return rest.map((sendable, index) => ({ sendable, metadata: answer.data[index]! }));
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

/** The fields of which the stored record certainly holds something else than was sent. */
function differences(
	sendable: PreparedRecord,
	stored: PlatformRecord,
	{ mode, fields }: Pick<WriteContext, 'mode' | 'fields'>,
) {
	const cleared = mode === 'replace' ? omittedFields(sendable, stored, fields) : {};
	const states = Object.entries({ ...cleared, ...sendable.fields }).map(([name, sent]) => ({
		name,
		holds: holdsValue(fields.get(name), getOwn(stored.fields, name), sent),
	}));
	return {
		different: states.filter(({ holds }) => holds === false).map(({ name }) => name),
		isSure: states.every(({ holds }) => holds !== undefined),
	};
}

export interface UnresolvedContext {
	/** Why the answer is missing, where there is none. */
	cause?: ServiceError;
	/** The answer, where there is one. */
	answer?: BulkResponse;
	/** Why an earlier request may have written the items as well. */
	priorFailure?: ServiceError;
	/** What the items came to by a refusal, where an earlier try may have written them all the same. */
	refused?: ReadonlyMap<PreparedRecord, ItemOutcome>;
}

const WATCH_OUT: Record<WriteMode, string> = {
	create:
		"Look for the record in the platform before you send it again. With an import key field in the table, 'Create or Update Many' can be repeated without doubling anything.",
	upsert: 'Run it again: with the same import key nothing is doubled.',
	update: 'Run it again: the same update twice does no harm.',
	replace: 'Run it again: the same update twice does no harm.',
};

/** The outcome of an item of which nobody could find out what became of it. */
export const unknownItem = (mode: WriteMode, why: string): ItemOutcome => ({
	outcome: 'unknown',
	message: `It is not known whether this record was written: ${why}`,
	hint: WATCH_OUT[mode],
});

/**
 * The outcome of an item that the answer says nothing about, from the records that a look-up
 * found under its id or import key.
 */
export function resolveUnreported(
	sendable: PreparedRecord,
	found: PlatformRecord[],
	unresolved: UnresolvedContext,
	context: WriteContext,
): ItemOutcome {
	const resolved = resolveFromStored(sendable, found, unresolved, context);
	const { priorFailure } = unresolved;
	if (resolved.outcome !== 'failed' || !priorFailure?.mayStillApply) return resolved;
	// What a later try was refused, the earlier one may do yet: the table changes meanwhile.
	const why = `${resolved.message}; an earlier try may still be done: ${priorFailure.message}`;
	return { ...resolved, ...unknownItem(context.mode, why) };
}

function resolveFromStored(
	sendable: PreparedRecord,
	found: PlatformRecord[],
	{ cause, answer, refused }: UnresolvedContext,
	context: WriteContext,
): ItemOutcome {
	const { mode, watermark } = context;
	const refusal = refused?.get(sendable);
	const confirmedIds = new Set(answer?.data.map(({ id }) => id));
	const isNew = (record: PlatformRecord) =>
		sendable.before === null || (isAfter(record.created, watermark) ?? false);
	const candidates = mode === 'create' ? found.filter(isNew) : found;
	const stored =
		candidates.find(({ id }) => confirmedIds.has(id)) ?? candidates.find(isNew) ?? candidates[0];
	if (!stored) {
		const isUpsert = mode === 'upsert' || mode === 'create';
		return refusal && isUpsert
			? refusal
			: resolveNotFound(sendable, found, { cause, answer }, mode);
	}

	const { id, created, modified, ver } = stored;
	const written = { id, created, modified, ver };
	if (mode === 'create') return { outcome: 'inserted', ...written };
	const wasInserted = mode === 'upsert' && isNew(stored);
	if (confirmedIds.has(id)) return { outcome: wasInserted ? 'inserted' : 'updated', ...written };
	const { different, isSure } = differences(sendable, stored, context);
	const wasChanged = isAfter(modified, watermark) ?? false;
	const name = different[0];
	if (name !== undefined) {
		if (refusal) return { ...refusal, id };
		const still = `the record holds ${show(getOwn(stored.fields, name) ?? null)} in '${name}'`;
		if (cause) return { ...unknownItem(mode, `${cause.message}; ${still}`), id };
		const entry =
			answer?.unattributedErrors.length === 1 ? answer.unattributedErrors[0] : undefined;
		return {
			...failure(entry, `The platform left this item out without a word, and ${still}`),
			id,
			field: name,
		};
	}
	if (!isSure && !wasChanged && !answer?.countsAsSuccess) {
		return { ...unknownItem(mode, cause?.message ?? 'the answer left it out'), id };
	}
	if (wasInserted) return { outcome: 'inserted', ...written };
	return { outcome: wasChanged ? 'updated' : 'unchanged', ...written };
}

function resolveNotFound(
	{ record }: PreparedRecord,
	found: PlatformRecord[],
	{ cause, answer }: UnresolvedContext,
	mode: WriteMode,
): ItemOutcome {
	if (mode === 'update' || mode === 'replace') {
		return {
			outcome: 'notFound',
			id: record.id,
			message: `The table has no record with the id '${record.id}'`,
			hint: 'Check the id; the record may have been deleted.',
		};
	}
	if (cause) {
		const state = found.length
			? `only an older record has the import key '${record.key}'`
			: `a look-up did not find the import key '${record.key}'`;
		return unknownItem(mode, `${cause.message}; ${state} yet`);
	}
	const entry = answer?.unattributedErrors.length === 1 ? answer.unattributedErrors[0] : undefined;
	const reasons = answer?.unattributedErrors.map(({ message }) => message).join('; ');
	return failure(
		entry,
		reasons
			? `The platform did not write this record; its reasons, without saying for which item: ${reasons}`
			: 'The platform left this item out without a word, and the table has no such record',
	);
}

/**
 * Finds out which created records belong to which items when the answer leaves some out, by
 * comparing values: `data` keeps the order of the request.
 *
 * @param created the records of the answer's `data`, read back, in its order
 * @returns for an item its record, or undefined where several items fit; items that were not
 *   created are left out. Undefined in whole where the records can't all belong to items.
 */
export function alignByContent(
	rest: PreparedRecord[],
	created: PlatformRecord[],
	fields: WriteContext['fields'],
): Map<PreparedRecord, PlatformRecord | undefined> | undefined {
	const fits = (sendable: PreparedRecord, record: PlatformRecord) =>
		differences(sendable, record, { mode: 'create', fields }).different.length === 0;
	const first: number[] = [];
	for (const record of created) {
		const from = (first.at(-1) ?? -1) + 1;
		const at = rest.findIndex((sendable, index) => index >= from && fits(sendable, record));
		if (at < 0) return undefined;
		first.push(at);
	}
	const pairs = new Map<PreparedRecord, PlatformRecord | undefined>();
	let end = rest.length;
	for (let index = created.length - 1; index >= 0; index -= 1) {
		const record = created[index]!;
		const start = first[index]!;
		const range = rest.slice(start, end);
		const candidates = range.filter((sendable) => fits(sendable, record));
		// Between items with the same values it makes no difference.
		const isCertain = candidates.every(({ json }) => json === candidates[0]!.json);
		if (isCertain) pairs.set(rest[start]!, record);
		else for (const one of candidates) if (!pairs.has(one)) pairs.set(one, undefined);
		end = start + range.lastIndexOf(candidates.at(-1)!);
	}
	return new Map([...pairs].reverse());
}
