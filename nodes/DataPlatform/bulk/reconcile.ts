/**
 * Resolves items that a response does not mention, or that got no response. It reads what is
 * stored: by ID or import key, or by the IDs in the response.
 */
import type { FieldDefinition, PlatformRecord, TableAddress } from '../api/types';
import { failureAsValue, ServiceError } from '../transport/errors';
import type { ApiClient } from '../transport/client';
import { contradictsItself, countsAll, type BulkResponse } from './response';
import { isPartial, prepareRecord, type PreparedRecord } from './batches';
import { lookUp, lookUpByIds } from './lookup';
import { isSuccess, type ItemOutcome, unknownItem } from './outcome';
import type { PlannedRecord } from './plan';
import {
	holdsWhole,
	isAppending,
	isUnapplied,
	listsAllInserts,
	type UnresolvedContext,
	type WriteContext,
} from './evidence';
import { unreadItem, judge } from './judge';
import { alignByContent } from './pairing';
import type { Resolution, ResolvedItem } from './steps';

const UNREPORTED = 'the response did not mention it';

/** The rejection of an item that was previously only asked to wait. */
const rejectedForCertain = (prepared: PreparedRecord, { rejections }: UnresolvedContext) =>
	prepared.wasPostponed && !prepared.previousAttempt ? rejections?.get(prepared) : undefined;

const reasonOf = (prepared: PreparedRecord, { response, rejections }: UnresolvedContext) =>
	rejections?.get(prepared)?.message ??
	(response ? undefined : prepared.previousAttempt?.message) ??
	UNREPORTED;

type Stored = Map<PlannedRecord, PlatformRecord[]>;

/** The outcomes of items whose look-up failed. */
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
	unproven: [],
	failure,
});

/** Whether a response lists a record that was not found: another writer may have deleted it. */
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
		private readonly keys: FieldDefinition[],
		private readonly context: WriteContext,
	) {}

	/** The records as they are stored now, or why they can't be read. */
	async lookUp(records: PlannedRecord[]) {
		const { mode, isSingle } = this.context;
		// New records, and those known by their ID, may be among others with the same key.
		const areAllRead = mode === 'create' || records.some(({ id }) => id !== undefined);
		const enough = areAllRead ? Infinity : 1;
		// All fields are needed to see what a full update clears, and for the output of a single write.
		const loads = mode === 'replace' || isSingle ? 'allFields' : 'sentFields';
		return await lookUp(this.client, this.at, this.keys, records, loads, enough).catch(
			failureAsValue,
		);
	}

	/**
	 * @param items the items to resolve
	 * @param batch all items of the request that the response does not reject, in order
	 */
	async resolve(
		items: PreparedRecord[],
		batch: PreparedRecord[],
		unresolved: UnresolvedContext,
	): Promise<Resolution> {
		const isLookedUp = ({ record }: PreparedRecord) =>
			record.id !== undefined || (this.keys.length > 0 && record.key !== undefined);
		const known = items.filter(isLookedUp);
		const rest = items.filter((prepared) => !isLookedUp(prepared));
		const read = await this.lookUp(known.map(({ record }) => record));
		let resolution: Resolution;
		if (read instanceof ServiceError)
			resolution = unreadItems(known, unresolved, read, this.context);
		else {
			const all = [...read.values()].flat();
			const listsUnknownRecord =
				rest.length === 0 && listsOthers(unresolved.response, batch.length, all);
			const facts = { ...unresolved, listsUnknownRecord };
			resolution = this.settle(known, read, facts);
		}
		if (rest.length === 0) return resolution;
		const others = await this.withoutKey(rest, batch, unresolved);
		return { ...resolution, outcomes: [...resolution.outcomes, ...others] };
	}

	/** The outcomes of items, from the records that were found for them. */
	private settle(
		items: PreparedRecord[],
		stored: Stored,
		unresolved: UnresolvedContext,
	): Resolution {
		const { response } = unresolved;
		const facts = {
			...unresolved,
			// Computed once: computing it for each item would be quadratic.
			areInsertsListed: response && listsAllInserts(response, this.context.lastChangeBefore),
		};
		const found = (prepared: PreparedRecord) => stored.get(prepared.record) ?? [];
		const isAgain = (one: PreparedRecord) => this.isToSendAgain(one, found(one), facts);
		const unapplied = new Set(items.filter(isAgain));
		const resolved = items
			.filter((prepared) => !unapplied.has(prepared))
			.map(
				(prepared): ResolvedItem => [
					prepared,
					judge(prepared, found(prepared), facts, this.context),
				],
			);
		const alone = new Map(
			resolved.flatMap((item) => {
				const again = this.toWriteAlone(item, found(item[0]), facts);
				return again ? [[item, again]] : [];
			}),
		);
		const rest = resolved.filter((item) => !alone.has(item));
		const incomplete = rest.filter((item) => !this.isWhole(item, found(item[0])));
		return {
			outcomes: rest.filter((item) => !incomplete.includes(item)),
			incomplete,
			unapplied: [...unapplied],
			unproven: [...alone.values()],
		};
	}

	/**
	 * An item to write by itself, because neither the response nor the stored record shows its
	 * outcome. Undefined if its outcome is known, or if writing it again could add something twice.
	 */
	private toWriteAlone(
		[prepared, { outcome, id }]: ResolvedItem,
		found: PlatformRecord[],
		{ response }: UnresolvedContext,
	): PreparedRecord | undefined {
		const before = found.find((record) => record.id === id);
		const isUnproven = outcome === 'unknown' && response && !prepared.previousAttempt;
		if (!isUnproven || !before) return undefined;
		if (isAppending(prepared, this.context) && !isUnapplied(prepared, found, this.context))
			return undefined;
		const { record } = prepared;
		const previousAttempt = new ServiceError(UNREPORTED, { delivery: 'ambiguous' });
		const whole = prepareRecord(record, record.fields, before);
		return { ...whole, isAlone: true, previousAttempt };
	}

	/**
	 * Whether to send an item again. It adds something, so its request was not retried blindly. That
	 * request got no response, and a look-up proves that it was not applied.
	 */
	private isToSendAgain(
		prepared: PreparedRecord,
		found: PlatformRecord[],
		{ response, rejections }: UnresolvedContext,
	): boolean {
		const { previousAttempt, isSentAgain } = prepared;
		if (response || rejections?.has(prepared) || isSentAgain) return false;
		if (!previousAttempt || previousAttempt.mayStillApply) return false;
		return isAppending(prepared, this.context) && isUnapplied(prepared, found, this.context);
	}

	/** Whether the record of an item that succeeded holds all of its values, not only its changes. */
	private isWhole([prepared, item]: ResolvedItem, found: PlatformRecord[]): boolean {
		if (!isSuccess(item) || !isPartial(prepared)) return true;
		return found.some(
			(record) =>
				record.id === item.id &&
				record.ver === item.ver &&
				holdsWhole(prepared, record, this.context),
		);
	}

	/**
	 * Resolves created records without a key: reads back the response's records and compares them.
	 */
	private async withoutKey(
		rest: PreparedRecord[],
		batch: PreparedRecord[],
		{ response }: UnresolvedContext,
	): Promise<Array<[PreparedRecord, ItemOutcome]>> {
		const unclear = (why: string) => unknownItem(this.context.mode, why);
		if (!response) {
			return rest.map((prepared) => [
				prepared,
				unclear(prepared.previousAttempt?.message ?? 'there was no response'),
			]);
		}
		// The counts may confirm what the list omits.
		const areAllInserted = countsAll(response, batch.length);
		const pairs = await this.readBack(batch, response);
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
				return [prepared, judge(prepared, [], { response }, this.context)];
			}
			return [prepared, unclear('the response counts other records than it lists')];
		});
	}

	private async readBack(batch: PreparedRecord[], response: BulkResponse) {
		const ids = response.data.map(({ id }) => id);
		if (ids.length > batch.length) return undefined;
		const read = await lookUpByIds(this.client, this.at, ids).catch(failureAsValue);
		if (read instanceof ServiceError) return undefined;
		const records = ids.map((id) => read.get(id));
		return records.every(
			(record): record is PlatformRecord => record !== null && record !== undefined,
		)
			? alignByContent(batch, records, this.context.fields)
			: undefined;
	}
}
