/**
 * Sync: finds the records of a scope that are missing from the input, and removes them. The scope
 * is read before anything is written. Each record is read again right before it is removed, and
 * stays if it no longer matches or belongs to the input by then.
 *
 *     await sync.compare(records); // fails if more is missing than may be removed
 *     … write the input, and call sync.holds(id) for each record …
 *     await sync.remove(onRemoval);
 */
import { countRecords } from '../../api/aggregates';
import { isEmptyFilter, type Group } from '../../api/filters';
import { findRecord } from '../../api/records';
import { idKey } from '../../api/idSet';
import { readRecords } from '../../api/readRecords';
import type { DefinedTable, FieldDefinition, FieldValues, PlatformRecord } from '../../api/types';
import { holdsData } from '../../fields';
import { isCleared } from '../../fields/fieldType';
import { holdsValue, recordKey, type RecordKey } from '../../fields/values';
import { InputError, problemOf, ServiceError, serviceErrorOrThrow } from '../../transport/errors';
import { getOwn } from '../../transport/json';
import { counted, nameList } from '../../transport/messageText';
import { createPause } from '../../transport/pause';
import { isSameVersion } from '../resolve/compare';
import { lookUpByIds, oneOfKeys, storedRecordKey } from '../resolve/lookup';
import { afterFailure, isSuccess, OUTCOMES } from '../outcome';
import type { WritePipeline } from '../pipeline';
import { DELETED_PER_READING, namedBy, Remover, sortedNames } from './recordRemover';
import type { Entry, ItemOutcome, NamedRecord } from '../terms';
import { LABELS } from '../../labels';

const CHECK_INPUT = 'Check that the input is complete and that the filter is right.';

export interface SyncOptions {
	/** The records that the input stands for; without conditions, the whole table. */
	scope: Group;
	/** What to do with records that are missing from the input. */
	removal: 'delete' | { set: FieldValues };
	/** If more records are missing, nothing is written or removed. */
	maximum: number;
	/** The same as a share of the scope, in percent. */
	maximumShare: number;
	/** Only report what would be removed, however much it is. */
	dryRun: boolean;
	/** Remove nothing more after a record that could not be removed. */
	stopAtFailure: boolean;
}

/** Called once for each missing record. */
export type OnRemoval = (record: PlatformRecord, outcome: ItemOutcome) => void;

/** How many records get their fields set on one reading of those that still match. */
const SET_PER_READING = 250;

/** Statuses of rejections that concern a single record. */
const ABOUT_ONE_RECORD = new Set<number | undefined>([400, 404, 409, 412, 422, 423]);

/** The outcome of a record that was to be marked, from that of its update. */
function ofMarked(item: ItemOutcome): ItemOutcome {
	if (item.outcome === 'updated') return { ...item, outcome: 'marked' };
	return item.outcome === 'notFound' ? { outcome: 'skipped', id: item.id } : item;
}

/** @param message why it was not tried */
const notRemoved = ({ id }: PlatformRecord, message: string): ItemOutcome => ({
	outcome: 'failed',
	id,
	message: `The record '${id}' is missing from the input, but was not removed: ${message}`,
	notAttempted: true,
	isRetryable: true,
});

const failedRemoval = ({ id }: PlatformRecord, error: ServiceError): ItemOutcome => ({
	...problemOf(error),
	outcome: error.delivery === 'ambiguous' ? 'unknown' : 'failed',
	id,
	message: `The record '${id}' is missing from the input, but was not removed: ${error.message}`,
});

/** A stored record with its key. */
interface KeyedRecord {
	record: PlatformRecord;
	key?: RecordKey;
}

export class Sync {
	/** The keys and IDs of the records in the input. */
	private readonly inputKeys = new Set<string>();
	private readonly inputIds = new Set<string>();
	/** The records of the scope that are missing from the input. */
	readonly missing: PlatformRecord[] = [];
	/** How many records the scope has. */
	scopeSize = 0;
	/** Those that were deleted or marked; in a dry run, those that would be. */
	readonly removed: NamedRecord[] = [];
	private readonly remover: Remover;

	/** @param keys the fields that identify a record; none if items name their records by ID */
	constructor(
		private readonly target: DefinedTable,
		private readonly keys: FieldDefinition[],
		private readonly pipeline: WritePipeline,
		private readonly options: SyncOptions,
	) {
		this.remover = new Remover(target);
	}

	/**
	 * Finds what is missing from the input, before anything is written.
	 *
	 * @param planned all records of the input
	 * @param writing those to write: each that is in the scope gets its stored record, so that it
	 *   need not be looked up
	 * @returns in a dry run, why a run would fail
	 * @throws {InputError} if more is missing than may be removed
	 * @throws {ServiceError} if the whole scope can't be read
	 */
	async compare(planned: Entry[], writing: Entry[] = []): Promise<string | undefined> {
		const pause = createPause();
		for (const record of planned) {
			await pause();
			this.add(record);
		}
		const scope = await this.readScope(writing);
		this.match(writing, scope);
		this.scopeSize = scope.length;
		for (const stored of scope) {
			await pause();
			const isMissing = !this.isInInput(stored) && !this.isAlreadyRemoved(stored.record);
			if (isMissing) this.missing.push(stored.record);
		}
		return this.checkLimits();
	}

	/** Notes a record of the input. */
	add({ id, fields }: Entry) {
		const key = recordKey(this.keys, fields);
		if (key) this.inputKeys.add(key.text);
		this.holds(id);
	}

	/** Notes the record that an item turned out to mean. */
	holds(id: string | undefined) {
		if (id !== undefined) this.inputIds.add(idKey(id));
	}

	private isInInput({ record, key }: KeyedRecord): boolean {
		if (this.inputIds.has(idKey(record.id))) return true;
		return key !== undefined && this.inputKeys.has(key.text);
	}

	private checkLimits(): string | undefined {
		const { maximum, maximumShare, dryRun } = this.options;
		const { scopeSize, missing } = this;
		const share = (missing.length * 100) / scopeSize;
		const exceeded: Array<[limit: string, label: string]> = [];
		if (missing.length > maximum) {
			exceeded.push([`the maximum of ${maximum}`, LABELS.maxRecordsToRemove]);
		}
		if (share > maximumShare) exceeded.push([`${maximumShare} %`, LABELS.maxShareToRemove]);
		if (exceeded.length === 0) return undefined;
		const limits = exceeded.map(([limit]) => limit).join(' and ');
		const found = `${missing.length} of ${counted(scopeSize, 'record')} (${Number(share.toFixed(2))} %) are missing from the input, more than ${limits}`;
		const raise = `If this is intended, raise ${exceeded.map(([, label]) => `'${label}'`).join(' and ')}.`;
		if (dryRun)
			return `Without '${LABELS.dryRun}', nothing would be written or removed: ${found}. ${raise}`;
		const names = nameList(sortedNames(missing.map((record) => namedBy(this.keys, record))));
		throw new InputError(`Nothing was written or removed: ${found}`, {
			hint: `Missing: ${names}. ${CHECK_INPUT} To see all of them, turn on '${LABELS.dryRun}'. ${raise}`,
		});
	}

	/**
	 * All records of the scope, with the fields that are compared.
	 *
	 * @param writing the records that are compared, with all of their fields
	 * @throws {ServiceError} if the platform lists fewer than it counts
	 */
	private async readScope(writing: Entry[]): Promise<KeyedRecord[]> {
		const { options, target } = this;
		const set = options.removal === 'delete' ? {} : options.removal.set;
		const names = new Set([...this.keys.map(({ name }) => name), ...Object.keys(set)]);
		const compared = this.keys.length > 0 ? writing : [];
		for (const { fields } of compared) for (const name of Object.keys(fields)) names.add(name);
		const any = target.table.fields.find(holdsData);
		// If no field were named, all would be loaded.
		if (names.size === 0 && any) names.add(any.name);
		const query = { filter: options.scope, fields: [...names] };
		const pause = createPause();
		for (let attempt = 1; ; attempt += 1) {
			const counting = countRecords(target, options.scope);
			const found: KeyedRecord[] = [];
			for await (const page of readRecords(target, query, counting)) {
				await pause();
				for (const record of page) found.push(this.keyed(record));
			}
			if (found.length >= (await counting)) return found;
			const left = await countRecords(target, options.scope);
			if (found.length >= left) return found;
			// The first record of a scope may have been added after the list was read.
			if (attempt === 2) throw incompleteList(left, found.length);
		}
	}

	/** @throws {ServiceError} if its key can't be compared: it could be an item's */
	private keyed(record: PlatformRecord): KeyedRecord {
		const { keys } = this;
		const isWithout = ({ name }: FieldDefinition) => isCleared(getOwn(record.fields, name));
		const hasKey = keys.length > 0 && !keys.some(isWithout);
		return { record, key: hasKey ? storedRecordKey(keys, record) : undefined };
	}

	/**
	 * Gives records to write the only stored record that has their key; if the scope is the whole table,
	 * also the fact that there is none. Those that name theirs by ID get the ID as the platform writes
	 * it.
	 */
	private match(writing: Entry[], scope: KeyedRecord[]) {
		const isById = this.keys.length === 0;
		const isWholeTable = isEmptyFilter(this.options.scope);
		const stored = new Map<string, PlatformRecord | undefined>();
		for (const { record, key } of writing.length > 0 ? scope : []) {
			const identity = isById ? idKey(record.id) : key?.text;
			if (identity !== undefined) stored.set(identity, stored.has(identity) ? undefined : record);
		}
		for (const record of writing) {
			if (isById) record.id = stored.get(idKey(record.id!))?.id ?? record.id;
			else if (record.key !== undefined) {
				const isMissing = isWholeTable && !stored.has(record.key);
				record.before = isMissing ? null : stored.get(record.key);
			}
		}
	}

	/** Whether a record already has the values that are set in missing records. */
	private isAlreadyRemoved({ fields }: PlatformRecord): boolean {
		const { removal } = this.options;
		if (removal === 'delete') return false;
		return Object.entries(removal.set).every(([name, value]) => {
			const field = this.target.table.fields.find((each) => each.name === name);
			return holdsValue(field, getOwn(fields, name), value) === true;
		});
	}

	/** Keeps the records that are missing from the input, and reports each with the reason. */
	leave(message: string, onRemoval: OnRemoval) {
		for (const record of this.missing) onRemoval(record, notRemoved(record, message));
	}

	/** Removes the records that are missing from the input, and reports each. */
	async remove(onRemoval: OnRemoval): Promise<ServiceError | undefined> {
		const isDelete = this.options.removal === 'delete' && !this.options.dryRun;
		const size = isDelete ? DELETED_PER_READING : SET_PER_READING;
		let stopped: ServiceError | undefined;
		for (let start = 0; start < this.missing.length; start += size) {
			const chunk = this.missing.slice(start, start + size);
			const removed = new Map<string, Parameters<OnRemoval>>();
			stopped ??= await this.removeChunk(chunk, (record, outcome) => {
				removed.set(record.id, [record, outcome]);
			});
			for (const before of chunk) {
				const [record, outcome] = removed.get(before.id) ?? [
					before,
					notRemoved(before, `the run stopped before: ${stopped!.message}`),
				];
				if (OUTCOMES[outcome.outcome] === 'removal') {
					this.removed.push(namedBy(this.keys, record));
				}
				onRemoval(record, outcome);
			}
		}
		return stopped;
	}

	/** @returns why nothing more is removed, if so */
	private async removeChunk(
		chunk: PlatformRecord[],
		onRemoval: OnRemoval,
	): Promise<ServiceError | undefined> {
		const now = await this.recheck(chunk).catch(serviceErrorOrThrow);
		if (now instanceof ServiceError) {
			for (const record of chunk) onRemoval(record, failedRemoval(record, now));
			return now;
		}
		const removable: PlatformRecord[] = [];
		for (const record of chunk) {
			const stored = now.get(record.id);
			const isOpen = stored && isSameVersion(record, stored.record) !== false;
			if (isOpen && !this.isInInput(stored) && !this.isAlreadyRemoved(stored.record)) {
				removable.push(stored.record);
			} else onRemoval(stored?.record ?? record, { outcome: 'skipped', id: record.id });
		}
		if (this.options.dryRun) {
			for (const record of removable) onRemoval(record, this.wouldRemove(record));
			return undefined;
		}
		const { removal } = this.options;
		return removal === 'delete'
			? await this.deleteRecords(removable, onRemoval)
			: await this.setFields(removable, removal.set, onRemoval);
	}

	private wouldRemove({ id, fields }: PlatformRecord): ItemOutcome {
		const { removal } = this.options;
		if (removal === 'delete') return { outcome: 'deleted', id };
		const before = Object.fromEntries(
			Object.keys(removal.set).map((name) => [name, getOwn(fields, name) ?? null]),
		);
		return { outcome: 'marked', id, before, after: removal.set };
	}

	/** The records that still match, as they are now. */
	private async recheck(chunk: PlatformRecord[]): Promise<Map<string, KeyedRecord>> {
		const { keys, target } = this;
		const { scope } = this.options;
		const current = new Map<string, KeyedRecord>();
		const chunkKeys = chunk.flatMap(({ fields }) => recordKey(keys, fields) ?? []);
		for (const filter of oneOfKeys(keys, chunkKeys)) {
			const scopes = isEmptyFilter(scope) ? [] : [scope];
			const both: Group = { filter: [...scopes, filter], filterOperator: 'and' };
			for await (const page of readRecords(target, { filter: both, untilEmpty: true }, Infinity)) {
				for (const record of page) current.set(record.id, this.keyed(record));
				if (chunk.every(({ id }) => current.has(id))) break;
			}
		}
		// A record without a key to filter by still matches if nobody changed it.
		const others = chunk.filter(({ fields }) => !recordKey(keys, fields));
		const read = await lookUpByIds(
			target,
			others.map(({ id }) => id),
		);
		for (const record of others) {
			const now = read.get(record.id);
			if (now && isSameVersion(record, now)) current.set(record.id, this.keyed(now));
		}
		return current;
	}

	private async deleteRecords(
		removable: PlatformRecord[],
		onRemoval: OnRemoval,
	): Promise<ServiceError | undefined> {
		let stop: ServiceError | undefined;
		await this.remover.removeEach(
			removable,
			() => stop !== undefined,
			async (record, failure) => {
				if (!failure) onRemoval(record, { outcome: 'deleted', id: record.id });
				else if (await this.isGone(record, failure)) {
					onRemoval(record, { outcome: 'skipped', id: record.id });
				} else {
					if (!ABOUT_ONE_RECORD.has(failure.status)) stop ??= failure;
					else if (this.options.stopAtFailure) stop ??= afterFailure();
					onRemoval(record, failedRemoval(record, failure));
				}
			},
		);
		return stop;
	}

	/** Whether another writer had already deleted a record. */
	private async isGone({ id }: PlatformRecord, { status }: ServiceError): Promise<boolean> {
		if (status !== 404) return false;
		return (await findRecord(this.target, id).catch(serviceErrorOrThrow)) === null;
	}

	private async setFields(
		removable: PlatformRecord[],
		fields: FieldValues,
		onRemoval: OnRemoval,
	): Promise<ServiceError | undefined> {
		const planned = removable.map((before, index): Entry => {
			return { index, id: before.id, before, fields: { ...fields } };
		});
		return await this.pipeline.update(planned, ({ index }, item) => {
			const outcome = ofMarked(item);
			const record = removable[index]!;
			onRemoval(
				{ ...record, fields: { ...record.fields, ...(isSuccess(outcome) && fields) } },
				outcome,
			);
			return outcome;
		});
	}
}

const incompleteList = (expected: number, found: number) =>
	new ServiceError(
		`The platform counts ${counted(expected, 'record')}, but lists ${found}: it is unknown which ones are missing from the input`,
		{
			delivery: 'notApplied',
			hint: 'Nothing was written or removed. Run it again while nobody changes many records of the table.',
		},
	);
