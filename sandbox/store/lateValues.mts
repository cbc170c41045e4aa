import type { JsonObject, StoredRecord, Table } from '../state/model.mts';

/** Values of one version of a record that are stored later. */
interface Pending {
	/** All fields, once they are stored. */
	fields: JsonObject;
	/** The fields that calculated ones still show; undefined if the record is new. */
	calculatedFrom: JsonObject | undefined;
	modified: number;
	timer: NodeJS.Timeout;
	store: () => void;
}

const keyOf = (table: Table, { id, ver }: StoredRecord) => `${table.number} ${id} ${ver}`;

/** Links, number series and calculated fields that are stored some time after their record. */
export class LateValues {
	/** By version: that of a transaction that is rolled back never exists, or is another one. */
	readonly #pending = new Map<string, Pending>();
	/** The last number of each series, by field. */
	readonly #numbers = new WeakMap<Table, Map<string, number>>();

	/** What this version still lacks; undefined if it has everything. */
	of(table: Table, record: StoredRecord): Pending | undefined {
		const pending = this.#pending.get(keyOf(table, record));
		return pending?.modified === record.modified ? pending : undefined;
	}

	/** Calls `store` after a time, or before if `storeAll` is called. */
	add(
		table: Table,
		record: StoredRecord,
		values: Pick<Pending, 'fields' | 'calculatedFrom'>,
		ms: number,
		store: () => void,
	): void {
		const key = keyOf(table, record);
		clearTimeout(this.#pending.get(key)?.timer);
		const timer = setTimeout(() => this.#store(key), ms);
		this.#pending.set(key, { ...values, modified: record.modified, timer, store });
	}

	/** Stores everything now, for tests that don't wait. */
	storeAll(): void {
		for (const key of [...this.#pending.keys()]) this.#store(key);
	}

	#store(key: string): void {
		const pending = this.#pending.get(key);
		clearTimeout(pending?.timer);
		this.#pending.delete(key);
		pending?.store();
	}

	/** The next number of a series. @param highest finds the highest one that is stored */
	nextNumber(table: Table, field: string, highest: () => number): number {
		const numbers = this.#numbers.get(table) ?? new Map<string, number>();
		const next = (numbers.get(field) ?? highest()) + 1;
		this.#numbers.set(table, numbers.set(field, next));
		return next;
	}

	clear(): void {
		for (const { timer } of this.#pending.values()) clearTimeout(timer);
		this.#pending.clear();
	}
}
