/** The records that items name, looked up and read for many items at once. */
import { idKey, UUID } from '../../api/idSet';
import { readByIds } from '../../api/readRecords';
import { readRecord } from '../../api/records';
import type { Table } from '../../api/table';
import type { PlatformRecord } from '../../api/types';
import { idsByKey } from '../../bulk/links/linkResolver';
import { importKeyOf } from '../../fields';
import type { RunContext } from '../../run/run';
import { InputError, undefinedIf403 } from '../../transport/errors';
import { addressOf, recordId, tableOf, type TableParameter } from './table';

type Run = RunContext<TableParameter | 'recordId'>;

/** So many items are looked up, or read, together. */
const ITEMS_TOGETHER = 100;

/** The first of the items that are looked up together with one. */
const firstOf = (index: number) => index - (index % ITEMS_TOGETHER);

/** What items name, from one on. One that can't be read says so in its turn. */
async function namedFrom(
	run: Run,
	table: Table,
	first: number,
	nameOf: (index: number) => string | Promise<string>,
): Promise<string[]> {
	const length = Math.min(ITEMS_TOGETHER, run.items.length - first);
	const names = Array.from({ length }, async (_, at) =>
		tableOf(run, first + at) === table ? [await nameOf(first + at)] : [],
	);
	const settled = await Promise.allSettled(names);
	return settled.flatMap((name) => (name.status === 'fulfilled' ? name.value : []));
}

/** Looks up those that are no IDs. Undefined if no field is known by which to do it. */
async function lookUpKeys(run: Run, table: Table, first: number) {
	const definition = await undefinedIf403(table.definition());
	if (!definition || !importKeyOf(definition)) return undefined;
	const named = await namedFrom(run, table, first, (index) => recordId.of(run, index));
	const keys = named.filter((name) => !UUID.test(name.trim()));
	return await idsByKey(table.with(definition), keys);
}

/**
 * The ID of an item's record. What is no UUID is the value of the import key, if one is known.
 *
 * @throws {InputError} if no record has it, or several have
 * @throws {ServiceError}
 */
export async function recordIdOf(run: Run, index: number): Promise<string> {
	const named = recordId.of(run, index);
	const id = named.trim();
	if (UUID.test(id)) return id;
	const table = tableOf(run, index);
	const first = firstOf(index);
	const looking = async () => await lookUpKeys(run, table, first);
	const idOf = await run.once(`records by key from ${first} of ${table.key}`, looking);
	const found = idOf ? idOf(named) : { id };
	if ('id' in found) return found.id;
	throw new InputError(`${recordId} names no record: ${found.problem}`, {
		field: recordId.label,
		hint: 'Enter the ID of a record, or the value of its import key as it is stored.',
		outcome: found.isMissing ? 'notFound' : undefined,
	});
}

/** Identifies the record of an item among all records. */
export async function recordKeyOf(run: Run, index: number): Promise<string> {
	const { application, table } = addressOf(run, index);
	return JSON.stringify([application, table, idKey(await recordIdOf(run, index))]);
}

/** What was read before that is read again: others may have changed it. */
const MAX_AGE_MS = 60_000;

/** The records of a run's items before it changes them, many in one request. */
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
		private readonly run: Run,
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
		if (readsAhead && (isOld || index >= this.end)) this.reading = this.readWith(index, isOld);
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

	private async readWith(index: number, isOld: boolean) {
		this.readAt = Date.now();
		// Items that run at the same time come here in any order.
		const first = firstOf(index);
		this.end = first + ITEMS_TOGETHER;
		if (isOld) this.records.clear();
		const idOf = async (at: number) => idKey(await recordIdOf(this.run, at));
		const named = await namedFrom(this.run, this.table, first, idOf);
		const ids = new Set(named.filter((id) => !this.taken.has(id)));
		const read = ids.size > 1 ? await readByIds(this.table, [...ids]) : [];
		for (const record of read) {
			const key = idKey(record.id);
			if (!this.taken.has(key)) this.records.set(key, record);
		}
	}
}

export const recordsAhead = (run: Run, table: Table) =>
	run.once(`records ahead of ${table.key}`, () => new RecordsAhead(run, table));
