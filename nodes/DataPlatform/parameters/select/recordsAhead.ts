/** The records of a run's items before it changes them, many in one request. */
import { idKey } from '../../api/idSet';
import { and } from '../../api/filters';
import { readPage } from '../../api/pages';
import { readRecord } from '../../api/records';
import type { Table } from '../../api/table';
import type { PlatformRecord } from '../../api/types';
import type { RunContext } from '../../run/run';
import { serviceErrorOrThrow, ServiceError, undefinedIf403 } from '../../transport/errors';
import { recordId, tableOf, type TableParameter } from './table';

/** The records of so many items are read in one request. */
const READ_AHEAD = 100;

/** What was read before that is read again: others may have changed it. */
const MAX_AGE_MS = 60_000;

class RecordsAhead {
	private readonly records = new Map<string, PlatformRecord>();
	/** The run may have changed them since. */
	private readonly taken = new Set<string>();
	private reading?: Promise<void>;
	/** Of the last request, and the first item after those that it was for. */
	private readAt = 0;
	private end = 0;
	private isForbidden = false;
	/** Whether the last item had nothing to change. */
	wasUnchanged = false;

	constructor(
		private readonly run: RunContext<TableParameter | 'recordId'>,
		private readonly table: Table,
	) {}

	/**
	 * The record of an item, as it was at most a minute ago. Undefined if it must be read by itself:
	 * the run may have changed it, or it was not found.
	 *
	 * @param readsAhead whether to read it with those of the next items
	 */
	async take(index: number, id: string, readsAhead: boolean): Promise<PlatformRecord | undefined> {
		const isOld = Date.now() - this.readAt > MAX_AGE_MS;
		if (readsAhead && (isOld || index >= this.end)) this.reading = this.readFrom(index, isOld);
		if (readsAhead) await this.reading;
		const key = idKey(id);
		this.taken.add(key);
		const record = this.records.get(key);
		this.records.delete(key);
		return readsAhead ? record : undefined;
	}

	/** Undefined if the token may not read records: the run asks once. */
	async readNow(id: string): Promise<PlatformRecord | undefined> {
		if (this.isForbidden) return undefined;
		const record = await undefinedIf403(readRecord(this.table, id));
		this.isForbidden = record === undefined;
		return record;
	}

	private async readFrom(index: number, isOld: boolean) {
		this.readAt = Date.now();
		// Items that run at the same time come here in any order.
		const start = index - (index % READ_AHEAD);
		this.end = start + READ_AHEAD;
		if (isOld) this.records.clear();
		const ids = new Set<string>();
		for (let at = start; at < Math.min(this.end, this.run.items.length); at += 1) {
			const id = this.idOf(at);
			if (id !== undefined && !this.taken.has(id)) ids.add(id);
		}
		if (ids.size < 2) return;
		const filter = and({ field: 'id', operator: 'in', value: [...ids] });
		const part = { limit: ids.size, skip: 0 };
		const page = await readPage(this.table, { filter }, part).catch(serviceErrorOrThrow);
		if (page instanceof ServiceError) return;
		for (const record of page) {
			const key = idKey(record.id);
			if (ids.has(key) && !this.taken.has(key)) this.records.set(key, record);
		}
	}

	/** Undefined if the item is wrong, which its own turn will say, or of another table. */
	private idOf(index: number): string | undefined {
		try {
			if (tableOf(this.run, index) !== this.table) return undefined;
			return idKey(recordId.of(this.run, index));
		} catch {
			return undefined;
		}
	}
}

export const recordsAhead = (run: RunContext<TableParameter | 'recordId'>, table: Table) =>
	run.once(`records ahead of ${table.key}`, () => new RecordsAhead(run, table));
