/**
 * Resolves items that a response does not mention, or that got no response. It reads what is
 * stored: by ID or import key, or by the IDs in the response.
 */
import type { FieldDefinition, PlatformRecord, TableAddress } from '../api/types';
import { serviceErrorOrThrow, ServiceError } from '../transport/errors';
import type { ApiClient } from '../transport/client';
import { isPartial, sentFields, withSent, type Entry, type Resolved } from './entry';
import {
	holdsWhole,
	isAppending,
	isUnapplied,
	listsAllInserts,
	withoutAdded,
	type UnresolvedContext,
	type WriteContext,
} from './evidence';
import { unreadItem, judge } from './judge';
import { lookUp, lookUpByIds } from './lookup';
import { isSuccess, type ItemOutcome, unknownItem } from './outcome';
import { alignByContent } from './pairing';
import { contradictsItself, countsAll, type BulkResponse } from './response';
import { join, partition, sendWhole, step, type Step } from './steps';

const UNREPORTED = 'the response did not mention it';

/** The rejection of an item that was previously only asked to wait. */
const rejectedForCertain = (entry: Entry, { rejections }: UnresolvedContext) =>
	entry.wasPostponed && !entry.previousAttempt ? rejections?.get(entry) : undefined;

const reasonOf = (entry: Entry, { response, rejections }: UnresolvedContext) =>
	rejections?.get(entry)?.message ??
	(response ? undefined : entry.previousAttempt?.message) ??
	UNREPORTED;

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
	async lookUp(entries: Entry[]) {
		const { mode, isSingle } = this.context;
		// New records, and those known by their ID, may be among others with the same key.
		const areAllRead = mode === 'create' || entries.some(({ id }) => id !== undefined);
		const enough = areAllRead ? Infinity : 1;
		// All fields are needed to see what a full update clears, and for the output of a single write.
		const loads = mode === 'replace' || isSingle ? 'allFields' : 'sentFields';
		return await lookUp(this.client, this.at, this.keys, entries, loads, enough).catch(
			serviceErrorOrThrow,
		);
	}

	/**
	 * @param entries the entries to resolve
	 * @param batch all entries of the request that the response does not reject, in order
	 * @returns their outcomes, and what to send again
	 */
	async resolve(entries: Entry[], batch: Entry[], unresolved: UnresolvedContext): Promise<Step> {
		const isLookedUp = ({ id, key }: Entry) =>
			id !== undefined || (this.keys.length > 0 && key !== undefined);
		const [known, rest] = partition(entries, isLookedUp);
		const stored = await this.lookUp(known);
		const resolved =
			stored instanceof ServiceError
				? this.unread(known, unresolved, stored)
				: this.settle(known, stored, rest.length === 0 ? batch : undefined, unresolved);
		if (rest.length === 0) return resolved;
		return join(resolved, step({ outcomes: await this.withoutKey(rest, batch, unresolved) }));
	}

	/** The outcomes of entries whose look-up failed. */
	private unread(entries: Entry[], unresolved: UnresolvedContext, failure: ServiceError): Step {
		return step({
			outcomes: entries.map((entry) => [
				entry,
				rejectedForCertain(entry, unresolved) ??
					unreadItem(entry, reasonOf(entry, unresolved), failure, this.context),
			]),
			// The token may lack the right to read. Any other failure would hit the next request, too.
			stop: failure.delivery === 'rejected' ? undefined : failure,
		});
	}

	/**
	 * What follows for entries from the records that were found for them.
	 *
	 * @param batch all entries of the request, if all that the response may list were looked up
	 */
	private settle(
		entries: Entry[],
		stored: Map<Entry, PlatformRecord[]>,
		batch: Entry[] | undefined,
		unresolved: UnresolvedContext,
	): Step {
		const { response } = unresolved;
		const { context } = this;
		// Computed once: computing it for each entry would be quadratic.
		const facts: UnresolvedContext = {
			...unresolved,
			areInsertsListed: response && listsAllInserts(response, context.lastChangeBefore),
			listsUnknownRecord: batch && listsOthers(response, batch.length, [...stored.values()].flat()),
		};
		const outcomes: Resolved[] = [];
		const incomplete: Resolved[] = [];
		const alone: Entry[] = [];
		const unsent: Entry[] = [];
		for (const entry of entries) {
			const found = stored.get(entry) ?? [];
			const outcome = judge(entry, found, facts, context);
			if (this.isToSendAgain(entry, outcome, found, facts)) {
				const isSentAgain = entry.isSentAgain ?? !response;
				const anew = { ...entry, previousAttempt: undefined, isSentAgain };
				(entry.isAlone ? alone : unsent).push(anew);
				continue;
			}
			const again = this.toWriteAlone(entry, outcome, found, facts);
			if (again) alone.push(again);
			else if (this.isWhole(entry, outcome, found)) outcomes.push([entry, outcome]);
			else incomplete.push([entry, outcome]);
		}
		return join(
			step({ outcomes, work: alone.map((entry) => ({ kind: 'send', records: [entry] })), unsent }),
			sendWhole(incomplete, context),
		);
	}

	/**
	 * The entry to write by itself, because neither the response nor the stored record shows its
	 * outcome. Undefined if its outcome is known, or if writing it again could add something twice.
	 */
	private toWriteAlone(
		entry: Entry,
		{ outcome, id }: ItemOutcome,
		found: PlatformRecord[],
		{ response }: UnresolvedContext,
	): Entry | undefined {
		const before = found.find((record) => record.id === id);
		const isUnproven = outcome === 'unknown' && response && !entry.previousAttempt;
		if (!isUnproven || !before) return undefined;
		if (isAppending(entry, this.context) && !isUnapplied(entry, found, this.context))
			return undefined;
		const previousAttempt = new ServiceError(UNREPORTED, { delivery: 'ambiguous' });
		// What the record held before is not added to it once more.
		const held = withoutAdded(entry, this.context);
		const values = Object.entries(entry.fields).filter(
			([name]) => Object.hasOwn(held, name) || Object.hasOwn(sentFields(entry), name),
		);
		const sent = entry.sent && Object.fromEntries(values);
		return { ...withSent(entry, sent, before), isAlone: true, previousAttempt };
	}

	/**
	 * Whether to send an item again: a look-up proves that its request was not applied, and either
	 * another item is to blame, or it adds something, so that a lost request was not repeated.
	 */
	private isToSendAgain(
		entry: Entry,
		{ outcome }: ItemOutcome,
		found: PlatformRecord[],
		{ response, rejections }: UnresolvedContext,
	): boolean {
		const { context } = this;
		const { previousAttempt, isSentAgain } = entry;
		if (rejections?.has(entry)) return false;
		if (response) {
			// The platform may stop at the first bad record. That one is not sent again, so this ends. A
			// rejection without a name may mean this item.
			const isOther = response.failed.size > 0 && response.unattributedErrors.length === 0;
			const isUnwritten = found.length === 0 || isUnapplied(entry, found, context);
			return isOther && outcome === 'failed' && isUnwritten;
		}
		if (isSentAgain || !previousAttempt || previousAttempt.stillPending) return false;
		return isAppending(entry, context) && isUnapplied(entry, found, context);
	}

	/** Whether the record of an item that succeeded holds all of its values, not only its changes. */
	private isWhole(entry: Entry, item: ItemOutcome, found: PlatformRecord[]): boolean {
		if (!isSuccess(item) || !isPartial(entry)) return true;
		return found.some(
			(record) =>
				record.id === item.id &&
				record.ver === item.ver &&
				holdsWhole(entry, item, record, this.context),
		);
	}

	/**
	 * Resolves created records without a key: reads back the response's records and compares them.
	 */
	private async withoutKey(
		rest: Entry[],
		batch: Entry[],
		{ response }: UnresolvedContext,
	): Promise<Resolved[]> {
		const { mode } = this.context;
		const unclear = (why: string) => unknownItem(mode, why);
		if (!response) {
			return rest.map((entry) => {
				const { previousAttempt } = entry;
				const why = previousAttempt?.message ?? 'there was no response';
				return [entry, unknownItem(mode, why, previousAttempt)];
			});
		}
		// The counts may confirm what the list omits.
		const areAllInserted = countsAll(response, batch.length);
		const pairs = await this.readBack(batch, response);
		return rest.map((entry) => {
			const record = pairs?.get(entry);
			if (record) {
				const { id, created, modified, ver } = record;
				return [entry, { outcome: 'inserted', id, created, modified, ver }];
			}
			if (areAllInserted) return [entry, { outcome: 'inserted' }];
			if (!pairs || pairs.has(entry)) {
				return [
					entry,
					unclear('the response does not say which of the items its records belong to'),
				];
			}
			if (response.insertedCount === response.data.length) {
				return [entry, judge(entry, [], { response }, this.context)];
			}
			return [entry, unclear('the response counts other records than it lists')];
		});
	}

	private async readBack(batch: Entry[], response: BulkResponse) {
		const ids = response.data.map(({ id }) => id);
		if (ids.length > batch.length) return undefined;
		const read = await lookUpByIds(this.client, this.at, ids).catch(serviceErrorOrThrow);
		if (read instanceof ServiceError) return undefined;
		const records = ids.map((id) => read.get(id));
		return records.every(
			(record): record is PlatformRecord => record !== null && record !== undefined,
		)
			? alignByContent(batch, records, this.context.fields)
			: undefined;
	}
}
