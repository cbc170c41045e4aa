/**
 * Looks records up: what a response does not mention is read, never assumed.
 */
import { idKey } from '../../api/idSet';
import type { FieldDefinition, PlatformRecord, TableAddress } from '../../api/types';
import { fieldType } from '../../fields';
import { isGroup, oneOf, oneOfCombinations, valuesOf, type Group } from '../../api/filters';
import { findRecord } from '../../api/records';
import { readRecords } from '../../api/readRecords';
import type { ApiClient } from '../../transport/client';
import { forEachConcurrent } from '../../transport/concurrency';
import { recordKey, storedRecordKey, type RecordKey } from '../plan/identity';
import type { Entry } from '../terms';

/** How many single records to read at a time. */
const PARALLEL_READS = 4;

/** Filters that together match the records with one of the keys, by the platform's own comparison. */
export const oneOfKeys = (fields: FieldDefinition[], keys: RecordKey[]): Group[] => {
	const rows = keys.map(({ parts }) => parts);
	const names = fields.map(({ name }) => name);
	return names.length === 1 ? oneOf(names[0]!, rows.flat()) : oneOfCombinations(names, rows);
};

/** The import key: the platform lets no two records share one. Fields to match on may be shared. */
const isUnique = (keys: FieldDefinition[]) =>
	keys.length === 1 && keys[0]!.metadata.importKey === true;

/** A key to look up, and how many of its records matter. */
interface SoughtKey extends RecordKey {
	enough: number;
}

/** Reads the records with certain keys, as many of each as matter. */
class KeyReader {
	/** By the key's text, then by ID: several filters may match one combination of values. */
	private readonly found = new Map<string, Map<string, PlatformRecord>>();

	constructor(
		private readonly client: ApiClient,
		private readonly at: TableAddress,
		private readonly fields: FieldDefinition[],
		private readonly names: string[] | undefined,
		private readonly keys: ReadonlyMap<string, SoughtKey>,
	) {}

	/** The records with a key, the oldest first. */
	recordsOf(text: string): PlatformRecord[] {
		return [...(this.found.get(text)?.values() ?? [])];
	}

	async read(keys = this.keys): Promise<void> {
		for (const text of keys.keys()) if (!this.found.has(text)) this.found.set(text, new Map());
		const filters = oneOfKeys(this.fields, [...keys.values()]);
		await forEachConcurrent(filters, PARALLEL_READS, async (filter) => {
			const texts = filters.length === 1 ? [...keys.keys()] : this.textsIn(filter);
			const open = await this.readPages(filter, texts);
			if (open) await this.read(new Map(open.map((text) => [text, keys.get(text)!])));
		});
	}

	/** The keys that a filter matches; undefined if unknown. */
	private textsIn({ filter: [entry] }: Group): string[] | undefined {
		return this.fields.length === 1 && entry && !isGroup(entry) ? valuesOf(entry) : undefined;
	}

	/**
	 * @returns the keys that still lack records, to be read by themselves, because a page has none of
	 *   theirs
	 */
	private async readPages(filter: Group, texts?: string[]): Promise<string[] | undefined> {
		const { client, at, names } = this;
		for await (const page of readRecords(client, at, { filter, fields: names }, Infinity)) {
			const isNews = this.take(page);
			const open = texts?.filter((text) => !this.hasEnough(text));
			if (open?.length === 0) return undefined;
			if (open && !isNews && page.length > 0 && open.length < texts!.length) return open;
		}
		return undefined;
	}

	private hasEnough(text: string): boolean {
		return this.found.get(text)!.size >= this.keys.get(text)!.enough;
	}

	/** Returns whether any record of a page matters. */
	private take(page: PlatformRecord[]): boolean {
		let isNews = false;
		for (const record of page) {
			const key = storedRecordKey(this.fields, record);
			const same = this.found.get(key.text);
			if (!same || this.hasEnough(key.text) || same.has(record.id)) continue;
			same.set(record.id, record);
			isNews = true;
		}
		return isNews;
	}
}

/**
 * Finds the records with certain keys, by the key's text. Several records may share a key. Of those
 * that are also known by ID, each matters once.
 *
 * @param keys the key fields
 * @param names further fields to load; all if undefined
 * @param enough how many records of each other key matter; later ones may be omitted
 */
async function lookUpByKeys(
	client: ApiClient,
	at: TableAddress,
	keys: FieldDefinition[],
	records: Entry[],
	names: Iterable<string> | undefined,
	enough: number,
): Promise<KeyReader> {
	const fields = names && [...new Set([...keys.map(({ name }) => name), ...names])];
	const sought = new Map<string, SoughtKey>();
	for (const record of records) {
		const key = recordKey(keys, record.fields);
		if (!key) continue;
		const known = sought.get(key.text) ?? { ...key, enough: 0 };
		known.enough = isUnique(keys) ? 1 : known.enough + (record.id === undefined ? enough : 1);
		sought.set(key.text, known);
	}
	const reader = new KeyReader(client, at, keys, fields, sought);
	await reader.read();
	return reader;
}

/**
 * Reads records by ID, one request each, a few at a time; null if there is none.
 *
 * @throws {ServiceError} after all requests have ended
 */
export async function lookUpByIds(
	client: ApiClient,
	at: TableAddress,
	ids: string[],
): Promise<Map<string, PlatformRecord | null>> {
	const found = new Map<string, PlatformRecord | null>();
	await forEachConcurrent(ids, PARALLEL_READS, async (id) => {
		found.set(id, await findRecord(client, at, id));
	});
	return found;
}

/**
 * Finds the stored records of planned ones: by key if they have one, many per request; otherwise by
 * ID, as one that is alone. Several records may share a key. If nothing was found, the list is
 * empty.
 *
 * @param keys the fields that identify a record: the import key, or those to match on
 * @param enough how many records of each key matter; later ones may be omitted
 * @throws {ServiceError}
 */
export async function lookUp(
	client: ApiClient,
	at: TableAddress,
	keys: FieldDefinition[],
	records: Entry[],
	loads: 'sentFields' | 'allFields' | 'keys' = 'sentFields',
	enough = Infinity,
): Promise<Map<Entry, PlatformRecord[]>> {
	const sent = new Set(records.flatMap((record) => Object.keys(record.fields)));
	const names = { allFields: undefined, keys: [], sentFields: sent }[loads];
	const isAlone = records.length === 1 && records[0]!.id !== undefined;
	const keyed = isAlone ? [] : records;
	const byKey = await lookUpByKeys(client, at, keys, keyed, names, enough);
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
		const own = found.filter(({ id }) => idKey(id) === identity);
		if (own.length > 0) result.set(record, own);
		else open.push(record);
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

/** The IDs of records that have a value in a field: at most two. */
export interface ValueMatch {
	ids: string[];
	/** A stored value that differs only in case or spaces, if no record has the value itself. */
	similar?: string;
}

/** A text without regard to case and spaces. */
export const similarText = (text: string) => tidied(text).toLowerCase();

const tidied = (text: string) => text.trim().replace(/\s+/g, ' ');

/** How many values a request looks up: one less than a page, so that one page holds all records. */
const VALUES_PER_LOOKUP = 999;

/** How many requests look up values at a time. */
export const PARALLEL_LOOKUPS = 4;

/** Looks up values of one field. Reads just enough to see whether each value is unique. */
class ValueLookup {
	private readonly found = new Map<string, string[]>();
	private readonly similar = new Map<string, string>();

	constructor(
		private readonly client: ApiClient,
		private readonly at: TableAddress,
		private readonly field: FieldDefinition,
	) {}

	/** What was found for a value. */
	match(text: string): ValueMatch {
		const ids = this.found.get(text) ?? [];
		return ids.length > 0 ? { ids } : { ids, similar: this.similar.get(similarText(text)) };
	}

	/**
	 * @param values the values that the filter matches
	 * @returns how many records were read
	 */
	private async read(filter: Group, limit: number, values: string[]): Promise<number> {
		const { client, at, field } = this;
		const isEnough = () => isUnique([field]) && values.every((text) => this.found.has(text));
		let count = 0;
		for await (const page of readRecords(client, at, { filter, fields: [field.name] }, limit)) {
			count += page.length;
			for (const record of page) this.note(record);
			if (isEnough()) break;
		}
		return count;
	}

	private note(record: PlatformRecord) {
		const { text } = storedRecordKey([this.field], record);
		const { id } = record;
		const ids = this.found.get(text) ?? [];
		if (ids.length < 2 && !ids.includes(id)) this.found.set(text, [...ids, id]);
		if (!this.similar.has(similarText(text))) this.similar.set(similarText(text), text);
	}

	async search(values: string[]): Promise<void> {
		for (const filter of oneOf(this.field.name, values)) {
			const { value } = filter.filter[0] as { value: string[] };
			// If fewer records came, all were read and none is missed.
			const limit = 2 * value.length;
			if ((await this.read(filter, limit, value)) < limit) continue;
			const open = value.filter((text) => (this.found.get(text)?.length ?? 0) < 2);
			const half = Math.ceil(open.length / 2);
			if (value.length === 1) await this.searchExactly(open);
			else for (const part of [open.slice(0, half), open.slice(half)]) await this.search(part);
		}
	}

	/** Looks up values that many records have in another spelling. */
	private async searchExactly(values: string[]) {
		const { name: field } = this.field;
		const operator = fieldType(this.field).comparison === 'text' ? '===' : 'eq';
		for (const value of values) {
			await this.read({ filter: [{ field, operator, value }], filterOperator: 'and' }, 2, [value]);
		}
	}
}

/**
 * Finds the records that have certain values in a field, many values per request. Values are
 * compared as the platform stores them.
 *
 * @throws {ServiceError}
 */
export async function lookUpValues(
	client: ApiClient,
	at: TableAddress,
	field: FieldDefinition,
	values: string[],
): Promise<Map<string, ValueMatch>> {
	const lookup = new ValueLookup(client, at, field);
	// Also finds values that are stored without extra spaces, so that the error can name them.
	const listed = [...new Set([...values, ...values.map(tidied)])];
	const starts = Array.from(
		{ length: Math.ceil(listed.length / VALUES_PER_LOOKUP) },
		(_, index) => index * VALUES_PER_LOOKUP,
	);
	await forEachConcurrent(starts, PARALLEL_LOOKUPS, async (start) => {
		await lookup.search(listed.slice(start, start + VALUES_PER_LOOKUP));
	});
	return new Map(values.map((text) => [text, lookup.match(text)]));
}
