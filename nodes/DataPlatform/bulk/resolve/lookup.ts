/**
 * Looks records up: what a response does not mention is read, never assumed.
 */
import { idKey } from '../../api/idSet';
import type { FieldDefinition, JsonValue, PlatformRecord, TableAt } from '../../api/types';
import { fieldType } from '../../fields';
import { isGroup, oneOfCombinations, valuesOf, type Group } from '../../api/filters';
import { findRecord } from '../../api/records';
import { readRecords } from '../../api/readRecords';
import { forEachConcurrent } from '../../transport/concurrency';
import { MAX_PAGE_SIZE } from '../../api/endpoints';
import { showValue } from '../../fields/convert';
import { keyText, recordKey, type RecordKey } from '../../fields/values';
import { ServiceError } from '../../transport/errors';
import { getOwn } from '../../transport/json';
import type { Entry } from '../terms';

/** How many requests look up records at a time. */
export const PARALLEL_LOOKUPS = 4;

/** Filters that together match the records with one of the keys, by the platform's own comparison. */
export const oneOfKeys = (fields: FieldDefinition[], keys: RecordKey[]): Group[] =>
	oneOfCombinations(
		fields.map(({ name }) => name),
		keys.map(({ parts }) => parts),
	);

/**
 * The key of a record that was found by its key.
 *
 * @throws {ServiceError} if it can't be compared: it could be any of those that were sought
 */
export function storedRecordKey(
	fields: FieldDefinition[],
	{ id, fields: values }: PlatformRecord,
): RecordKey {
	const key = recordKey(fields, values);
	if (key) return key;
	const valueOf = ({ name }: FieldDefinition) => getOwn<JsonValue>(values, name) ?? null;
	const field = fields.find((each) => keyText(each, valueOf(each)) === undefined)!;
	throw new ServiceError(
		`The platform returned ${showValue(valueOf(field))} in '${field.name}' of the record '${id}', which can't be compared with other values`,
		{ delivery: 'notApplied', hint: 'Find records by another field, or by their IDs.' },
	);
}

/** The import key: hardly ever do two records share one. Fields to match on may be shared. */
const isImportKey = (keys: FieldDefinition[]) =>
	keys.length === 1 && keys[0]!.metadata.importKey === true;

/** A key to look up, and how many of its records matter. */
interface SoughtKey extends RecordKey {
	enough: number;
}

/** Keys to look up. */
interface KeySearch {
	source: TableAt;
	/** The key fields. */
	fields: FieldDefinition[];
	/** The fields to load; all if undefined. */
	names: string[] | undefined;
	/** By the key's text. */
	keys: ReadonlyMap<string, SoughtKey>;
	/** Called with each key that a record has. */
	onKey?(text: string): void;
}

/**
 * Reads at most `enough` records per key. If one key fills the page, the others are read again:
 * without it, then in halves, then by exact comparison.
 */
class KeyReader {
	/** By the key's text, then by ID: several filters may match one combination of values. */
	private readonly found = new Map<string, Map<string, PlatformRecord>>();

	constructor(private readonly search: KeySearch) {
		for (const text of search.keys.keys()) this.found.set(text, new Map());
	}

	/** Whether several records have one of the keys. */
	get hasShared(): boolean {
		return [...this.found.values()].some(({ size }) => size > 1);
	}

	/** The records with a key, the oldest first. */
	recordsOf(text: string): PlatformRecord[] {
		return [...(this.found.get(text)?.values() ?? [])];
	}

	async read(texts = [...this.search.keys.keys()]): Promise<void> {
		const { fields, keys } = this.search;
		const filters = oneOfKeys(
			fields,
			texts.map((text) => keys.get(text)!),
		);
		await forEachConcurrent(filters, PARALLEL_LOOKUPS, async (filter) => {
			const matched = filters.length === 1 ? texts : this.textsIn(filter);
			const most = matched?.reduce((sum, text) => sum + keys.get(text)!.enough, 0);
			const open = await this.readPages(filter, matched, most);
			const half = Math.ceil(open.length / 2);
			if (open.length === 0) return;
			if (matched!.length === 1) await this.readPages(this.exactly(filter, matched![0]!), matched);
			else if (open.length < matched!.length) await this.read(open);
			else for (const part of [open.slice(0, half), open.slice(half)]) await this.read(part);
		});
	}

	/** The keys that a filter matches; undefined if unknown. */
	private textsIn({ filter: [entry] }: Group): string[] | undefined {
		return this.search.fields.length === 1 && entry && !isGroup(entry)
			? valuesOf(entry)
			: undefined;
	}

	/** A filter for one key, by exact comparison if there is one. */
	private exactly(filter: Group, value: string): Group {
		const [field, ...others] = this.search.fields;
		if (others.length > 0 || fieldType(field!).comparison !== 'text') return filter;
		return { filter: [{ field: field!.name, operator: '===', value }], filterOperator: 'and' };
	}

	/** @returns the keys that may have more records, because only `most` were read */
	private async readPages(filter: Group, texts?: string[], most = Infinity): Promise<string[]> {
		const { source, fields, names } = this.search;
		const open = () => texts?.filter((text) => !this.hasEnough(text)) ?? [];
		let count = 0;
		// One more in the same page shows if two records share an import key.
		const limit = isImportKey(fields) && most < MAX_PAGE_SIZE ? most + 1 : most;
		for await (const page of readRecords(source, { filter, fields: names }, limit)) {
			count += page.length;
			for (const record of page) this.take(record);
			if (texts && open().length === 0) break;
		}
		return count < most ? [] : open();
	}

	private hasEnough(text: string): boolean {
		return this.found.get(text)!.size >= this.search.keys.get(text)!.enough;
	}

	private take(record: PlatformRecord) {
		const { text } = storedRecordKey(this.search.fields, record);
		this.search.onKey?.(text);
		if (!this.found.has(text) || (this.hasEnough(text) && !isImportKey(this.search.fields))) return;
		this.found.get(text)!.set(record.id, record);
	}
}

/** Reads records by keys. If two share an import key, all that have one of the keys are read. */
async function readKeys(search: KeySearch): Promise<KeyReader> {
	const { fields, keys } = search;
	const reader = new KeyReader(search);
	await reader.read();
	const isOneEnough = isImportKey(fields) && [...keys.values()].every(({ enough }) => enough === 1);
	if (!isOneEnough || !reader.hasShared) return reader;
	for (const key of keys.values()) key.enough = Infinity;
	await reader.read();
	return reader;
}

/** How many records of each key matter. Of those that are also known by ID, each matters once. */
function soughtKeys(fields: FieldDefinition[], records: Entry[], enough: number) {
	const sought = new Map<string, SoughtKey>();
	for (const record of records) {
		const key = recordKey(fields, record.fields);
		if (!key) continue;
		const same = sought.get(key.text) ?? { ...key, enough: 0 };
		same.enough += record.id === undefined ? enough : 1;
		sought.set(key.text, same);
	}
	return sought;
}

/**
 * Reads records by ID, one request each, a few at a time; null if there is none.
 *
 * @throws {ServiceError} after all requests have ended
 */
export async function lookUpByIds(
	source: TableAt,
	ids: string[],
): Promise<Map<string, PlatformRecord | null>> {
	const found = new Map<string, PlatformRecord | null>();
	await forEachConcurrent(ids, PARALLEL_LOOKUPS, async (id) => {
		found.set(id, await findRecord(source, id));
	});
	return found;
}

interface Reading {
	loads?: 'sentFields' | 'allFields' | 'keys';
	/** How many records of each key matter; later ones may be omitted. */
	enough?: number;
}

/**
 * Finds the stored records of planned ones: by key if they have one, many per request; otherwise by
 * ID, as one that is alone. Several records may share a key. If nothing was found, the list is
 * empty.
 *
 * @param keys the fields that identify a record: the import key, or those to match on
 * @throws {ServiceError}
 */
export async function lookUp(
	source: TableAt,
	keys: FieldDefinition[],
	records: Entry[],
	{ loads = 'sentFields', enough = Infinity }: Reading = {},
): Promise<Map<Entry, PlatformRecord[]>> {
	const sent = new Set(records.flatMap((record) => Object.keys(record.fields)));
	const keyNames = keys.map(({ name }) => name);
	const all = { allFields: undefined, keys: keyNames, sentFields: [...keyNames, ...sent] }[loads];
	const isAlone = records.length === 1 && records[0]!.id !== undefined;
	const sought = soughtKeys(keys, isAlone ? [] : records, enough);
	const names = all && [...new Set(all)];
	const byKey = await readKeys({ source, fields: keys, names, keys: sought });
	const result = new Map<Entry, PlatformRecord[]>();
	const open: Entry[] = [];
	for (const record of records) {
		const key = recordKey(keys, record.fields);
		const found = key ? byKey.recordsOf(key.text) : [];
		if (record.id === undefined) {
			result.set(record, found);
			continue;
		}
		const identity = idKey(record.id);
		const withId = found.filter(({ id }) => idKey(id) === identity);
		if (withId.length > 0) result.set(record, withId);
		else open.push(record);
	}
	const byId = await lookUpByIds(
		source,
		open.map((record) => record.id!),
	);
	for (const record of open) {
		const found = byId.get(record.id!);
		result.set(record, found ? [found] : []);
	}
	return result;
}

/** The IDs of records that have a value in a field: at most two. */
export interface ValueMatch {
	ids: string[];
	/** A stored value that differs only in case or spaces, if no record has the value itself. */
	similar?: string;
}

/** A text normalized for case and whitespace. */
export const similarText = (text: string) => tidied(text).toLowerCase();

const tidied = (text: string) => text.trim().replace(/\s+/g, ' ');

/**
 * Finds the records that have certain values in a field, many values per request. Values are
 * compared as the platform stores them.
 *
 * @throws {ServiceError}
 */
export async function lookUpValues(
	source: TableAt,
	field: FieldDefinition,
	values: string[],
): Promise<Map<string, ValueMatch>> {
	const enough = isImportKey([field]) ? 1 : 2;
	// Also finds values that are stored without extra spaces, so that the error can name them.
	const listed = [...values, ...values.map(tidied)];
	const sought = new Map(listed.map((text) => [text, { text, parts: [text], enough }]));
	const similar = new Map<string, string>();
	const onKey = (text: string) => {
		if (!similar.has(similarText(text))) similar.set(similarText(text), text);
	};
	const reader = await readKeys({
		...{ source, fields: [field], names: [field.name], keys: sought },
		onKey,
	});
	return new Map(
		values.map((text) => {
			const ids = reader
				.recordsOf(text)
				.slice(0, 2)
				.map(({ id }) => id);
			return [text, ids.length > 0 ? { ids } : { ids, similar: similar.get(similarText(text)) }];
		}),
	);
}
