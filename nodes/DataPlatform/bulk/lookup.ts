/**
 * Looking records up: what a response does not mention is read, never assumed.
 */
import type { FieldDefinition, JsonValue, PlatformRecord, TableAddress } from '../api/types';
import { keyForm } from '../fields/values';
import { ServiceError } from '../transport/errors';
import { getOwn } from '../transport/json';
import { oneOf, type Group } from '../api/filters';
import { readRecord, readRecords } from '../api/records';
import type { ApiClient } from '../transport/client';
import { forEachConcurrent } from '../transport/concurrency';
import type { PlannedRecord } from './plan';

/** How many single records are read at a time. */
const PARALLEL_READS = 4;

const keyText = ({ key, sharedKey }: PlannedRecord) => key ?? sharedKey?.text;

/** What the platform itself takes as equal: it knows how it stores the value. */
const equalTo = (field: string, value: string): Group => ({
	filter: [{ field, operator: 'eq', value }],
	filterOperator: 'and',
});

/** The records whose import key is one of some values, by the platform's own comparison. */
async function readByKey(
	client: ApiClient,
	at: TableAddress,
	key: FieldDefinition,
	value: string | string[],
	fields: string[] | undefined,
): Promise<PlatformRecord[]> {
	const found: PlatformRecord[] = [];
	for (const filter of Array.isArray(value) ? oneOf(key.name, value) : [equalTo(key.name, value)]) {
		for await (const page of readRecords(client, at, { filter, fields }, Infinity)) {
			found.push(...page);
		}
	}
	return found;
}

/**
 * Records by import key; a key may fit several. Keys are compared as the platform stores them. A
 * key whose stored form only the platform knows is looked up alone: what it finds is what it means.
 *
 * @param names the fields to load, all where none are named
 */
async function lookUpByKey(
	client: ApiClient,
	at: TableAddress,
	key: FieldDefinition,
	records: PlannedRecord[],
	names?: Iterable<string>,
): Promise<Map<string, PlatformRecord[]>> {
	const fields = names && [...new Set([key.name, ...names])];
	const certain = new Set<string>();
	const uncertain = new Set<string>();
	for (const record of records) {
		(record.hasUncertainKey ? uncertain : certain).add(keyText(record)!);
	}
	const found = new Map<string, PlatformRecord[]>();
	if (certain.size > 0) {
		let isComparable = true;
		for (const record of await readByKey(client, at, key, [...certain], fields)) {
			const form = keyForm(key, getOwn<JsonValue>(record.fields, key.name) ?? null);
			if (!form?.isCertain) isComparable = false;
			const same = form && found.get(form.text);
			if (same) same.push(record);
			else if (form) found.set(form.text, [record]);
		}
		if (!isComparable) for (const text of certain) if (!found.has(text)) uncertain.add(text);
	}
	await forEachConcurrent(uncertain, PARALLEL_READS, async (text) => {
		found.set(text, await readByKey(client, at, key, text, fields));
	});
	return found;
}

const nullIf404 = async (error: unknown) =>
	error instanceof ServiceError && error.status === 404 ? null : await Promise.reject(error);

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
	await forEachConcurrent(ids, PARALLEL_READS, async (id) => {
		found.set(id, await readRecord(client, at, id).catch(nullIf404));
	});
	return found;
}

/**
 * The stored state of planned records: by import key where they have one, many in one request, by id
 * otherwise. Several records may have one key; none, where nothing was found.
 *
 * @throws {ServiceError}
 */
export async function lookUp(
	client: ApiClient,
	at: TableAddress,
	key: FieldDefinition | undefined,
	records: PlannedRecord[],
	loads: 'sentFields' | 'allFields' = 'sentFields',
): Promise<Map<PlannedRecord, PlatformRecord[]>> {
	const keyed = records.filter((record) => keyText(record) !== undefined);
	const fields = new Set(keyed.flatMap((record) => Object.keys(record.fields)));
	const names = loads === 'sentFields' ? fields : undefined;
	const byKey = key && (await lookUpByKey(client, at, key, keyed, names));
	const result = new Map<PlannedRecord, PlatformRecord[]>();
	const open: PlannedRecord[] = [];
	for (const record of records) {
		const text = keyText(record);
		const found = (text === undefined ? undefined : byKey?.get(text)) ?? [];
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
