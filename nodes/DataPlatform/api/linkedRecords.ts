/**
 * Reads the records that other records link to, in as few requests as the platform allows:
 *
 * | Link | How its records are read |
 * |---|---|
 * | to one | together, by their IDs; one that is not found that way, by itself |
 * | to many | with one request for each record that links |
 */
import { findRecord } from './records';
import { readByIds, readRecords } from './readRecords';
import type {
	DefinedTable,
	FieldDefinition,
	FieldValues,
	JsonValue,
	PlatformRecord,
	TableAt,
} from './types';
import { forEachConcurrent } from '../transport/concurrency';
import { getOwn, isObject } from '../transport/json';

/** What to read of a link. */
export interface Inclusion {
	field: FieldDefinition;
	/** The ID of the table that has the field. */
	tableId: string;
	/** The table that the link points to. */
	target: DefinedTable;
	/** Fields of the linked records; only their IDs if not set. */
	names?: string[];
	/** How many linked records to read for each link. */
	limit: number;
}

/** How many requests a run may spend on linked records. */
export const MAX_LINK_REQUESTS = 1000;

const PARALLEL_READS = 4;

const idOf = (value: JsonValue | undefined): string | undefined => {
	const id = isObject(value) ? value.id : value;
	return typeof id === 'string' && id !== '' ? id : undefined;
};

/** The fields that a link shows of its record: in `fields`, or beside its ID. */
function shownFields(link: JsonValue | undefined): FieldValues {
	if (!isObject(link)) return {};
	return (isObject(link.fields) ? link.fields : link) as FieldValues;
}

const pick = (id: string, fields: FieldValues, names: string[]): JsonValue => ({
	id,
	...Object.fromEntries(names.map((name) => [name, getOwn<JsonValue>(fields, name) ?? null])),
});

export class LinkedRecords {
	/** Linked records by link, then by ID; only the ID if a record does not exist. */
	private readonly known = new Map<string, Map<string, JsonValue>>();
	private requestsLeft = MAX_LINK_REQUESTS;
	/** Whether a link has more records than were read. */
	isCut = false;
	/** Whether a link was not read at all, because it would have taken too many requests. */
	isUnread = false;

	/**
	 * Returns the records with linked records in place of links. Links that were not read stay as
	 * they are.
	 *
	 * @throws {ServiceError}
	 */
	async include(records: PlatformRecord[], inclusions: Inclusion[]): Promise<PlatformRecord[]> {
		const included = records.map((record) => ({ ...record, fields: { ...record.fields } }));
		for (const inclusion of inclusions) {
			const { name, metadata } = inclusion.field;
			const linking = included.filter(({ fields }) => Object.hasOwn(fields, name));
			if (metadata.multiple) await this.includeMany(linking, inclusion);
			else await this.includeOne(linking, inclusion);
		}
		return included;
	}

	private async includeOne(records: PlatformRecord[], inclusion: Inclusion) {
		const { field, names } = inclusion;
		const links = records.flatMap(({ fields }) => {
			const id = idOf(fields[field.name]);
			return id === undefined ? [] : [{ fields, id, value: fields[field.name] }];
		});
		if (!names) {
			for (const { fields, id } of links) fields[field.name] = id;
			return;
		}
		const known = this.knownOf(inclusion);
		// Not kept for the next page: its links show the same fields again.
		const shown = new Map<string, JsonValue>();
		const missing = new Set<string>();
		for (const { id, value } of links) {
			if (known.has(id) || shown.has(id)) continue;
			// A link already shows some fields of its record: no request if they are all that is needed.
			const fields = shownFields(value);
			if (names.every((name) => Object.hasOwn(fields, name))) {
				shown.set(id, pick(id, fields, names));
			} else missing.add(id);
		}
		await this.readByIds([...missing], inclusion.target, names, known);
		for (const { fields, id } of links) {
			const linked = shown.get(id) ?? known.get(id);
			if (linked !== undefined) fields[field.name] = linked;
			else this.isUnread = true;
		}
	}

	private knownOf({ target, names }: Inclusion) {
		const name = JSON.stringify([target.at, names]);
		const known = this.known.get(name) ?? new Map<string, JsonValue>();
		this.known.set(name, known);
		return known;
	}

	private async readByIds(
		ids: string[],
		table: TableAt,
		names: string[],
		known: Map<string, JsonValue>,
	) {
		// A second request shows that no more follow.
		const read = ids.length > 1 && this.take(2) ? await readByIds(table, ids, names) : [];
		for (const { id, fields } of read) known.set(id, pick(id, fields, names));
		const rest = ids.filter((id) => !known.has(id));
		await forEachConcurrent(rest, PARALLEL_READS, async (id) => {
			if (!this.take()) return;
			const record = await findRecord(table, id);
			known.set(id, record ? pick(id, record.fields, names) : { id });
		});
	}

	private async includeMany(records: PlatformRecord[], inclusion: Inclusion) {
		const { field, tableId, target, names, limit } = inclusion;
		await forEachConcurrent(records, PARALLEL_READS, async ({ id, fields }) => {
			const value = fields[field.name];
			const count = isObject(value) ? value.count : undefined;
			if (value === null || count === 0) {
				fields[field.name] = [];
				return;
			}
			if (!this.take()) {
				this.isUnread = true;
				return;
			}
			const linkedTo = { id, tableId, field: field.name };
			const linked: PlatformRecord[] = [];
			// Reads one more to learn whether there are more: the count may be older than the list.
			for await (const page of readRecords(target, { linkedTo }, limit + 1)) {
				if (linked.length > 0 && !this.take()) {
					this.isUnread = true;
					return;
				}
				linked.push(...page);
				if (typeof count === 'number' && linked.length >= count) break;
			}
			fields[field.name] = linked
				.slice(0, limit)
				.map((record) => (names ? pick(record.id, record.fields, names) : record.id));
			if (linked.length > limit) this.isCut = true;
		});
	}

	/** Uses up that many requests; false if fewer are left. */
	private take(count = 1): boolean {
		if (this.requestsLeft < count) return false;
		this.requestsLeft -= count;
		return true;
	}
}
