/**
 * Which of the records that a response lists is whose. That the list is in the order of the request
 * is documented by example only: until a base URL has shown it, the listed records are read and
 * compared with what was sent. Afterwards, no request is spent on it.
 */
import { readByIds } from '../../api/readRecords';
import type {
	DefinedTable,
	FieldDefinition,
	FieldValues,
	PlatformRecord,
	RecordMetadata,
} from '../../api/types';
import { importKeyOf } from '../../fields';
import { canBeKey, keyText } from '../../fields/values';
import type { ServiceError } from '../../transport/errors';
import { getOwn } from '../../transport/json';
import type { ApiResponse } from '../../transport/client';
import { entriesToPair } from './reports';
import { responseIn, type Places } from './transitions';
import type { Entry, WriteMode } from '../terms';

/** By base URL: how many records were listed in their places, after the first of their response. */
export const recordsInPlace = new Map<string, number>();

/** Six records have 720 orders. Those of several small responses add up. */
export const ENOUGH_IN_PLACE = 5;

const checks = new Map<string, Promise<unknown>>();

const isOrderShown = (origin: string) => (recordsInPlace.get(origin) ?? 0) >= ENOUGH_IN_PLACE;

/**
 * The listed records, each in the place of its entry, if the list may have another order, or leaves
 * some out without saying which. Other batches wait for the first one, which may show enough.
 */
export async function placesIn(
	target: DefinedTable,
	records: Entry[],
	result: ApiResponse | ServiceError,
	mode: WriteMode,
): Promise<Places | undefined> {
	const { origin } = target.client;
	if (isOrderShown(origin) && mode !== 'create') return undefined;
	const response = responseIn(result, records.length);
	const entries = entriesToPair(records, response, mode);
	if (entries.length > 0) await checks.get(origin);
	// If some were rejected, no order tells which.
	const isOpen = entries.length > response.data.length;
	if (entries.length === 0 || (isOrderShown(origin) && !isOpen)) return undefined;
	const check = pair(target, entries, response.data, mode);
	checks.set(origin, check);
	return await check;
}

async function pair(
	target: DefinedTable,
	entries: Entry[],
	data: RecordMetadata[],
	mode: WriteMode,
) {
	const { client, table } = target;
	// An upsert finds a record by its key, whatever it holds besides.
	const key = mode === 'upsert' && importKeyOf(table);
	const isSent = ({ name }: FieldDefinition) =>
		entries.some(({ fields }) => Object.hasOwn(fields, name));
	const fields = key ? [key] : table.fields.filter((field) => canBeKey(field) && isSent(field));
	const names = fields.map(({ name }) => name);
	const ids = data.map(({ id }) => id);
	const read = names.length > 0 ? await readByIds(target, ids, names) : [];
	const places = placesOf(entries, read, fields);
	if (entries.length === data.length) {
		const inPlace = data.filter(({ id }, index) => places.get(id) === index).length;
		const shown = inPlace === places.size ? Math.max(0, inPlace - 1) : -Infinity;
		recordsInPlace.set(client.origin, (recordsInPlace.get(client.origin) ?? 0) + shown);
		if (isOrderShown(client.origin)) return data;
	}
	const byPlace = new Map(data.map((record) => [places.get(record.id), record]));
	return entries.map((_, index) => byPlace.get(index));
}

const textOf = (fields: FieldDefinition[], values: FieldValues) =>
	JSON.stringify(fields.map((field) => keyText(field, getOwn(values, field.name) ?? null) ?? null));

/**
 * The place of each record's entry, by the record's ID: the only entry with its value in a field, or
 * with its values in all of them. The platform may store a value in another form than it was sent, so
 * no field must agree; but none may point to another entry.
 */
function placesOf(entries: Entry[], records: PlatformRecord[], fields: FieldDefinition[]) {
	const pairs = new Map<string, [id: string, place: number]>();
	for (const compared of [...fields.map((field) => [field]), fields]) {
		const places = new Map<string, number | undefined>();
		for (const [index, entry] of entries.entries()) {
			const text = textOf(compared, entry.fields);
			places.set(text, places.has(text) ? undefined : index);
		}
		for (const record of records) {
			const place = places.get(textOf(compared, record.fields));
			if (place !== undefined) pairs.set(`${record.id} ${place}`, [record.id, place]);
		}
	}
	const all = [...pairs.values()];
	const times = new Map<string | number, number>();
	for (const each of all.flat()) times.set(each, (times.get(each) ?? 0) + 1);
	return new Map(all.filter((pair) => pair.every((each) => times.get(each) === 1)));
}
