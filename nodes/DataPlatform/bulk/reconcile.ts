/**
 * Resolves items that a response does not mention, or that got none: reads what is stored, by id
 * or import key, or by the ids in the response.
 */
import type { FieldDefinition, FieldValues, PlatformRecord, TableAddress } from '../api/types';
import { failureAsValue, ServiceError } from '../transport/errors';
import type { WriteOptions } from '../api/records';
import type { ApiClient } from '../transport/client';
import { forEachConcurrent } from '../transport/concurrency';
import { contradictsItself, countsAll, type BulkResponse } from './response';
import { isPartial, type PreparedRecord } from './batches';
import { lookUp, lookUpByIds } from './lookup';
import { isSuccess, type ItemOutcome, failedItem, unknownItem } from './outcome';
import type { PlannedRecord, WriteMode } from './plan';
import {
	holdsWhole,
	isAppending,
	isUnapplied,
	listsAllInserts,
	type Sharing,
	type UnresolvedContext,
	type WriteContext,
} from './evidence';
import { unreadItem, judge } from './judge';
import { alignByContent } from './pairing';
import { updateOne } from './single';
import type { Resolution, ResolvedItem } from './steps';

/** How many records are written by themselves at a time. */
const PARALLEL_WRITES = 4;

/** The rejection of an item that was only asked to wait before. */
const rejectedForCertain = (prepared: PreparedRecord, { rejections }: UnresolvedContext) =>
	prepared.wasPostponed && !prepared.previousAttempt ? rejections?.get(prepared) : undefined;

const reasonOf = (prepared: PreparedRecord, { response, rejections }: UnresolvedContext) =>
	rejections?.get(prepared)?.message ??
	(response ? undefined : prepared.previousAttempt?.message) ??
	'the response did not mention it';

type Stored = Map<PlannedRecord, PlatformRecord[]>;

/** The items among those of an upsert that mean one record, as the look-up found out. */
function findSharing(items: PreparedRecord[], stored: Stored): Map<string, PreparedRecord[]> {
	const byId = new Map<string, PreparedRecord[]>();
	for (const prepared of items) {
		const found = stored.get(prepared.record) ?? [];
		if (found.length !== 1) continue;
		const same = byId.get(found[0]!.id);
		if (same) same.push(prepared);
		else byId.set(found[0]!.id, [prepared]);
	}
	return new Map([...byId].filter(([, group]) => group.length > 1));
}

function overwrittenFields(groups: Iterable<PreparedRecord[]>): Sharing {
	const overwritten = new Map<PreparedRecord, ReadonlySet<string>>();
	for (const group of groups) {
		const later = new Set<string>();
		for (const prepared of [...group].reverse()) {
			overwritten.set(prepared, new Set(later));
			for (const name of Object.keys(prepared.record.fields)) later.add(name);
		}
	}
	return overwritten;
}

/** The items of a look-up that failed. */
const unreadItems = (
	items: PreparedRecord[],
	unresolved: UnresolvedContext,
	failure: ServiceError,
	context: WriteContext,
): Resolution => ({
	outcomes: items.map((prepared) => [
		prepared,
		rejectedForCertain(prepared, unresolved) ??
			unreadItem(prepared, reasonOf(prepared, unresolved), failure, context),
	]),
	incomplete: [],
	unapplied: [],
	failure,
});

/** Whether a response lists a record that is not among those: another writer may have deleted it. */
const listsOthers = (
	response: BulkResponse | undefined,
	size: number,
	found: PlatformRecord[],
): boolean => {
	if (!response || contradictsItself(response, size)) return false;
	const ids = new Set(found.map(({ id }) => id));
	return response.data.some(({ id }) => !ids.has(id));
};

export class OutcomeResolver {
	constructor(
		private readonly client: ApiClient,
		private readonly at: TableAddress,
		private readonly mode: WriteMode,
		private readonly keys: FieldDefinition[],
		private readonly options: WriteOptions,
	) {}

	/** What is stored of the records now, or why that can't be read. */
	async lookUp(records: PlannedRecord[]) {
		// Records that are known by their ID, and new ones, are found among others with their key.
		const areAllRead = this.mode === 'create' || records.some(({ id }) => id !== undefined);
		const enough = areAllRead ? Infinity : 1;
		// What a full update clears must be seen too.
		const loads = this.mode === 'replace' ? 'allFields' : 'sentFields';
		return await lookUp(this.client, this.at, this.keys, records, loads, enough).catch(
			failureAsValue,
		);
	}

	/**
	 * @param items those to resolve
	 * @param batch all items of the request that the response does not reject, in its order
	 */
	async resolve(
		items: PreparedRecord[],
		batch: PreparedRecord[],
		unresolved: UnresolvedContext,
		context: WriteContext,
	): Promise<Resolution> {
		const isLookedUp = ({ record }: PreparedRecord) =>
			record.id !== undefined || (this.keys.length > 0 && record.key !== undefined);
		const known = items.filter(isLookedUp);
		const rest = items.filter((prepared) => !isLookedUp(prepared));
		const read = await this.lookUp(known.map(({ record }) => record));
		let resolution: Resolution;
		if (read instanceof ServiceError) resolution = unreadItems(known, unresolved, read, context);
		else {
			const all = [...read.values()].flat();
			const listsUnknownRecord =
				rest.length === 0 && listsOthers(unresolved.response, batch.length, all);
			const facts = { ...unresolved, listsUnknownRecord };
			resolution = await this.settle(known, read, facts, context);
		}
		if (rest.length === 0) return resolution;
		const others = await this.withoutKey(rest, batch, unresolved, context);
		return { ...resolution, outcomes: [...resolution.outcomes, ...others] };
	}

	/** What became of items, from the records that were found for them. */
	private async settle(
		items: PreparedRecord[],
		stored: Stored,
		unresolved: UnresolvedContext,
		context: WriteContext,
	): Promise<Resolution> {
		const groups = this.mode === 'upsert' ? findSharing(items, stored) : new Map();
		const sharing = overwrittenFields(groups.values());
		const { response } = unresolved;
		const facts = {
			...unresolved,
			sharing,
			// For each item anew the work would grow by the square.
			areInsertsListed: response && listsAllInserts(response, context.lastChangeBefore),
		};
		const found = (prepared: PreparedRecord) => stored.get(prepared.record) ?? [];
		const isAgain = (one: PreparedRecord) => this.isToSendAgain(one, found(one), facts, context);
		const unapplied = new Set(items.filter(isAgain));
		const resolved = items
			.filter((prepared) => !unapplied.has(prepared))
			.map(
				(prepared): ResolvedItem => [prepared, judge(prepared, found(prepared), facts, context)],
			);
		const proven = await this.writeUnproven(resolved, stored, facts, context);
		const parts = this.divide(resolved, proven, stored, sharing, context);
		return { ...parts, unapplied: [...unapplied] };
	}

	/**
	 * Writes items by themselves of which neither the response nor what is stored says anything, and
	 * notes their outcomes.
	 *
	 * @returns those that succeeded
	 */
	private async writeUnproven(
		resolved: ResolvedItem[],
		stored: Stored,
		{ response, sharing }: UnresolvedContext,
		context: WriteContext,
	): Promise<Set<PreparedRecord>> {
		const proven = new Set<PreparedRecord>();
		await forEachConcurrent(resolved, PARALLEL_WRITES, async (entry) => {
			const [prepared, { outcome, id }] = entry;
			const found = stored.get(prepared.record) ?? [];
			const before = found.find((record) => record.id === id);
			const isUnproven = outcome === 'unknown' && before && response;
			if (!isUnproven || prepared.previousAttempt) return;
			if (isAppending(prepared, context) && !isUnapplied(prepared, found, context)) return;
			const overwritten = sharing?.get(prepared);
			const fields = Object.entries(prepared.record.fields).filter(
				([name]) => !overwritten?.has(name),
			);
			const written = await this.writeAlone(Object.fromEntries(fields), before, context);
			entry[1] = written ?? entry[1];
			if (written && isSuccess(written)) proven.add(prepared);
		});
		return proven;
	}

	/** Which items are done, and which have to be written again with all that they hold. */
	private divide(
		resolved: ResolvedItem[],
		proven: ReadonlySet<PreparedRecord>,
		stored: Stored,
		sharing: Sharing,
		context: WriteContext,
	): Pick<Resolution, 'outcomes' | 'incomplete'> {
		const outcomes: ResolvedItem[] = [];
		const incomplete: ResolvedItem[] = [];
		/** Records of which an item is written again: what comes after it must be, too. */
		const rewritten = new Set<string>();
		for (const item of resolved) {
			const [prepared, { id }] = item;
			const isAgain = id !== undefined && sharing.has(prepared) && rewritten.has(id);
			const isWhole =
				proven.has(prepared) || this.isWhole(item, stored, sharing.get(prepared), context);
			const isLeft = !isSuccess(item[1]) && isAppending(prepared, context);
			if ((isWhole && !isAgain) || isLeft) {
				outcomes.push(item);
				continue;
			}
			incomplete.push(item);
			if (id !== undefined) rewritten.add(id);
		}
		return { outcomes, incomplete };
	}

	/**
	 * Whether an item is to be sent once more: nothing of a request without a response was applied to
	 * it, and it was in no batch that was repeated because of that.
	 */
	private isToSendAgain(
		prepared: PreparedRecord,
		found: PlatformRecord[],
		{ response, rejections }: UnresolvedContext,
		context: WriteContext,
	): boolean {
		const { previousAttempt, isSentAgain } = prepared;
		if (response || rejections?.has(prepared) || isSentAgain) return false;
		if (!previousAttempt || previousAttempt.mayStillApply) return false;
		return isAppending(prepared, context) && isUnapplied(prepared, found, context);
	}

	/** Whether an item that succeeded left its record with all that it holds, not with its changes only. */
	private isWhole(
		[prepared, item]: ResolvedItem,
		stored: Stored,
		overwritten: ReadonlySet<string> | undefined,
		context: WriteContext,
	): boolean {
		if (!isSuccess(item) || !isPartial(prepared)) return true;
		const found = stored.get(prepared.record) ?? [];
		return found.some(
			(record) =>
				record.id === item.id &&
				record.ver === item.ver &&
				holdsWhole(prepared, record, context, overwritten),
		);
	}

	/**
	 * Writes one record again, by itself: unlike that of a batch, the response holds the record, whether
	 * or not it changed.
	 *
	 * @returns undefined where that is still unknown
	 */
	private async writeAlone(
		fields: FieldValues,
		stored: PlatformRecord,
		context: WriteContext,
	): Promise<ItemOutcome | undefined> {
		const mode = this.mode === 'replace' ? 'replace' : 'update';
		const single = { ...context, mode } as const;
		const { client, at, options } = this;
		const written = await updateOne(
			{ client, at },
			stored.id,
			fields,
			stored,
			single,
			options,
		).catch(failureAsValue);
		if (written instanceof ServiceError) {
			return written.delivery === 'rejected' ? failedItem(written) : undefined;
		}
		const { id, created, modified, ver } = written;
		const isSame = ver !== undefined && ver === stored.ver;
		return { outcome: isSame ? 'unchanged' : 'updated', id, created, modified, ver };
	}

	/** Created records without a key: the response's records are read back and compared. */
	private async withoutKey(
		rest: PreparedRecord[],
		batch: PreparedRecord[],
		{ response }: UnresolvedContext,
		context: WriteContext,
	): Promise<Array<[PreparedRecord, ItemOutcome]>> {
		const unclear = (why: string) => unknownItem(this.mode, why);
		if (!response) {
			return rest.map((prepared) => [
				prepared,
				unclear(prepared.previousAttempt?.message ?? 'there was no response'),
			]);
		}
		// The counts may confirm what the list leaves out.
		const areAllInserted = countsAll(response, batch.length);
		const pairs = await this.readBack(batch, response, context);
		return rest.map((prepared) => {
			const record = pairs?.get(prepared);
			if (record) {
				const { id, created, modified, ver } = record;
				return [prepared, { outcome: 'inserted', id, created, modified, ver }];
			}
			if (areAllInserted) return [prepared, { outcome: 'inserted' }];
			if (!pairs || pairs.has(prepared)) {
				return [
					prepared,
					unclear('the response does not say which of the items its records belong to'),
				];
			}
			if (response.insertedCount === response.data.length) {
				return [prepared, judge(prepared, [], { response }, context)];
			}
			return [prepared, unclear('the response counts other records than it lists')];
		});
	}

	private async readBack(
		batch: PreparedRecord[],
		response: BulkResponse,
		{ fields }: WriteContext,
	) {
		const ids = response.data.map(({ id }) => id);
		if (ids.length > batch.length) return undefined;
		const read = await lookUpByIds(this.client, this.at, ids).catch(failureAsValue);
		if (read instanceof ServiceError) return undefined;
		const records = ids.map((id) => read.get(id));
		return records.every(
			(record): record is PlatformRecord => record !== null && record !== undefined,
		)
			? alignByContent(batch, records, fields)
			: undefined;
	}
}
