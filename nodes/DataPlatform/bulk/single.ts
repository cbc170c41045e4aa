/**
 * Writing one record. What a failure leaves open is judged by what is stored, as for an item of many.
 */
import {
	createRecord,
	findRecord,
	readRecord,
	tryUpdateRecord,
	tryUpsertRecord,
	type WriteOptions,
} from '../api/records';
import type {
	FieldDefinition,
	FieldValues,
	PlatformRecord,
	TableAddress,
	TableDefinition,
} from '../api/types';
import { appendableFields } from '../fields/values';
import type { ApiClient } from '../transport/client';
import { failureAsValue, ServiceError } from '../transport/errors';
import { prepareRecord, type PreparedRecord } from './batches';
import type { LastChange } from './lastChange';
import { lookUp } from './lookup';
import { isSuccess, type ItemOutcome, failedItem } from './outcome';
import { keyFields, type PlannedRecord } from './plan';
import { isAppending, isUnapplied, type WriteContext } from './evidence';
import { judge, unreadItem } from './judge';
import { errorWithNextStep } from './nextStep';

interface Target {
	client: ApiClient;
	at: TableAddress;
}

/** What holds for the records of a table that are written one by one. */
export const singleContext = (
	{ fields }: TableDefinition,
	mode: WriteContext['mode'],
	rest: Partial<WriteContext> = {},
): WriteContext => ({
	mode,
	fields: new Map(fields.map((field) => [field.name, field])),
	appendable: appendableFields(fields),
	lastChangeBefore: undefined,
	isSingle: true,
	...rest,
});

/** Reads the stored records that a write may have changed. */
type Reader = () => Promise<PlatformRecord[]>;

/** Tells whether an attempt without a response was applied, if it must not be repeated blindly. */
const repeatCheck = (prepared: PreparedRecord, read: Reader, context: WriteContext) =>
	isAppending(prepared, context)
		? async () => {
				const found = await read().catch(failureAsValue);
				return !(found instanceof ServiceError) && isUnapplied(prepared, found, context);
			}
		: undefined;

const unknownWrite = ({ message = '', hint, isFinal }: ItemOutcome, { status }: ServiceError) =>
	new ServiceError(message, { delivery: 'ambiguous', status, hint, isFinal });

/** The record that a write led to. @throws {ServiceError} */
async function settle(
	result: PlatformRecord | ServiceError,
	prepared: PreparedRecord,
	read: Reader,
	context: WriteContext,
): Promise<PlatformRecord> {
	if (!(result instanceof ServiceError)) return result;
	const isOpen = result.delivery === 'ambiguous';
	const previousAttempt = isOpen ? result : result.previousAttempt;
	if (!previousAttempt) throw errorWithNextStep(result, prepared.fields, context);
	const attempted = { ...prepared, previousAttempt };
	const found = await read().catch(failureAsValue);
	if (found instanceof ServiceError) {
		throw unknownWrite(unreadItem(attempted, result.message, found, context), result);
	}
	const rejections = isOpen ? undefined : new Map([[attempted, failedItem(result)]]);
	const item = judge(attempted, found, { rejections }, context);
	const record = found.find(({ id }) => id === item.id);
	if (isSuccess(item) && record) return record;
	if (item.outcome === 'unknown') throw unknownWrite(item, result);
	if (item.outcome !== 'notFound') throw errorWithNextStep(result, prepared.fields, context);
	const { message = '', hint } = item;
	throw new ServiceError(message, { delivery: 'rejected', status: 404, hint });
}

/**
 * Updates a record by its ID.
 *
 * @param before as it is stored, where it was read; values that add something need it to be repeated
 * @throws {ServiceError}
 */
export async function updateOne(
	{ client, at }: Target,
	id: string,
	fields: FieldValues,
	before: PlatformRecord | undefined,
	context: WriteContext,
	options: WriteOptions,
): Promise<PlatformRecord> {
	const record = { index: 0, id, fields };
	const prepared = prepareRecord(record, fields, before);
	const read = async () => {
		const found = await findRecord(client, at, id);
		return found ? [found] : [];
	};
	const updateMode = context.mode === 'replace' ? 'replace' : 'partial';
	const isUnapplied = repeatCheck(prepared, read, context);
	const result = await tryUpdateRecord(
		client,
		at,
		{ id, fields, updateMode },
		options,
		isUnapplied,
	);
	return await settle(result, prepared, read, context);
}

/** The record before values are added to it; undefined if none are, or the token may not read. */
export async function readBeforeAdding(
	{ client, at }: Target,
	id: string,
	fields: FieldValues,
	context: WriteContext,
): Promise<PlatformRecord | undefined> {
	if (!isAppending({ fields }, context)) return undefined;
	return await readRecord(client, at, id).catch((error: unknown) => {
		if (failureAsValue(error).status === 403) return undefined;
		throw error;
	});
}

/** Creates or updates the record that has the same import key. @throws {ServiceError} */
export async function upsertOne(
	{ client, at }: Target,
	table: TableDefinition,
	record: PlannedRecord,
	lastChangeBefore: LastChange,
	options: WriteOptions,
): Promise<PlatformRecord> {
	const keys = keyFields(table, {});
	const context = singleContext(table, 'upsert', { key: keys[0]?.name, lastChangeBefore });
	const prepared = prepareRecord(record);
	const read = async () => {
		const found = await lookUp(client, at, keys, [record], 'allFields', 1);
		return found.get(record) ?? [];
	};
	const isUnapplied = repeatCheck(prepared, read, context);
	const result = await tryUpsertRecord(client, at, record.fields, options, isUnapplied);
	return await settle(result, prepared, read, context);
}

/**
 * Creates a record that nothing matched. If the response is lost, it is looked up: one that is there
 * by then and holds what was sent is this one.
 *
 * @param keys the fields that it was looked for by
 * @throws {ServiceError}
 */
export async function createMissing(
	{ client, at }: Target,
	record: PlannedRecord,
	keys: FieldDefinition[],
	context: WriteContext,
	options: WriteOptions,
): Promise<PlatformRecord> {
	const field = keys.length === 1 ? keys[0]!.name : undefined;
	const key = field && record.key !== undefined ? { field, value: record.key } : undefined;
	const created = await createRecord(client, at, record.fields, options, key).catch(failureAsValue);
	if (!(created instanceof ServiceError)) return created;
	if (created.delivery !== 'ambiguous') {
		throw errorWithNextStep(created, record.fields, { ...context, mode: 'create' });
	}
	const stored = await lookUp(client, at, keys, [record], 'allFields').catch(failureAsValue);
	const found = stored instanceof ServiceError ? [] : (stored.get(record) ?? []);
	const prepared = { ...prepareRecord(record, record.fields, null), previousAttempt: created };
	// There was none before: one that holds what was sent, as far as that can be read, is this one.
	const item = judge(prepared, found, {}, { ...context, mode: 'create' });
	const its = found.find(({ id }) => id === item.id);
	if (isSuccess(item) && its) return its;
	throw created;
}

/**
 * Creates a record.
 *
 * @throws {ServiceError}
 */
export async function createOne(
	{ client, at }: Target,
	table: TableDefinition,
	{ fields, key }: PlannedRecord,
	options: WriteOptions,
): Promise<PlatformRecord> {
	const [field] = keyFields(table, {});
	const recordKey = field && key ? { field: field.name, value: key } : undefined;
	return await createRecord(client, at, fields, options, recordKey).catch((error: unknown) => {
		throw errorWithNextStep(failureAsValue(error), fields, singleContext(table, 'create'));
	});
}
