/**
 * Looking records up: what an answer left unsaid is read, never assumed.
 */
import type { PlatformRecord, TableAddress } from '../api/types';
import { ServiceError } from '../transport/errors';
import { getOwn } from '../transport/json';
import { oneOf } from '../api/filters';
import { readRecord, readRecords } from '../api/records';
import type { ApiClient } from '../transport/client';
import type { PlannedRecord } from './plan';

/** How many single records are read at a time. */
const PARALLEL_READS = 4;

/** Records by import key; a key may fit several. Loads only the fields named, all where none is. */
async function lookUpByKey(
	client: ApiClient,
	at: TableAddress,
	key: string,
	values: string[],
	fields?: Iterable<string>,
): Promise<Map<string, PlatformRecord[]>> {
	const found = new Map<string, PlatformRecord[]>();
	const named = fields && [...new Set([key, ...fields])];
	for (const filter of oneOf(key, values)) {
		for await (const page of readRecords(client, at, { filter, fields: named }, Infinity)) {
			for (const record of page) {
				const value = String(getOwn(record.fields, key));
				const same = found.get(value);
				if (same) same.push(record);
				else found.set(value, [record]);
			}
		}
	}
	return found;
}

/**
 * Records by id, one request each, a few at a time; null where there is none.
 *
 * @throws {ServiceError} once no request is under way any more
 */
export async function lookUpByIds(
	client: ApiClient,
	at: TableAddress,
	ids: string[],
): Promise<Map<string, PlatformRecord | null>> {
	const found = new Map<string, PlatformRecord | null>();
	const queue = ids.values();
	let failure: unknown;
	const work = async () => {
		for (const id of queue) {
			if (failure !== undefined) return;
			try {
				found.set(id, await readRecord(client, at, id));
			} catch (error) {
				if (error instanceof ServiceError && error.status === 404) found.set(id, null);
				else failure ??= error;
			}
		}
	};
	await Promise.all(Array.from({ length: PARALLEL_READS }, work));
	if (failure !== undefined) throw failure;
	return found;
}

/**
 * The stored state of planned records: by import key in one request where they have one, by id
 * otherwise. Several records may have one key; none, where nothing was found.
 *
 * @throws {ServiceError}
 */
export async function lookUp(
	client: ApiClient,
	at: TableAddress,
	key: string | undefined,
	records: PlannedRecord[],
	loads: 'sentFields' | 'allFields' = 'sentFields',
): Promise<Map<PlannedRecord, PlatformRecord[]>> {
	const keyed = key === undefined ? [] : records.filter((record) => record.key !== undefined);
	const fields = new Set(keyed.flatMap((record) => Object.keys(record.fields)));
	const byKey = await lookUpByKey(
		client,
		at,
		key ?? '',
		keyed.map((record) => record.key!),
		loads === 'sentFields' ? fields : undefined,
	);
	const result = new Map<PlannedRecord, PlatformRecord[]>();
	const open: PlannedRecord[] = [];
	for (const record of records) {
		const found = (record.key === undefined ? undefined : byKey.get(record.key)) ?? [];
		if (record.id === undefined) result.set(record, found);
		else if (found.some(({ id }) => id === record.id)) {
			result.set(
				record,
				found.filter(({ id }) => id === record.id),
			);
		} else open.push(record);
	}
	const byId = await lookUpByIds(
		client,
		at,
		open.map((record) => record.id!),
	);
	for (const record of open) {
		const found = byId.get(record.id!);
		result.set(record, found ? [found] : []);
	}
	return result;
}
