/**
 * Sync: finds the records of a scope that are missing from the input, and removes them. The scope
 * is read before anything is written. Each record is read again right before it is removed, and
 * stays if it no longer matches or belongs to the input by then.
 */
import { countRecords } from '../api/aggregates';
import type { Group } from '../api/filters';
import { findRecord } from '../api/records';
import { readRecords } from '../api/readRecords';
import type { FieldDefinition, FieldValues, PlatformRecord } from '../api/types';
import { holdsData } from '../fields';
import { holdsValue } from '../fields/values';
import { serviceErrorOrThrow, InputError, ServiceError } from '../transport/errors';
import { getOwn } from '../transport/json';
import { createPause } from '../transport/turns';
import { InputRecords, type KeyedRecord } from './inputRecords';
import { recordKey } from './key';
import { isSameVersion } from './lastChange';
import { lookUp, lookUpByIds, oneOfKeys } from './lookup';
import { isSuccess, type ItemOutcome } from './outcome';
import type { WritePipeline } from './pipeline';
import type { Entry } from './entry';
import { failedRemoval, notListed, notRemoved, Remover } from './remove';
import type { WriteTarget } from './task';
import { afterFailure } from './write';

/**
 * What to do with records that are missing from the input: delete them, or set some of their
 * fields.
 */
export type Removal = 'delete' | { set: FieldValues };

export interface SyncOptions {
	/** The records that the input stands for; without conditions, the whole table. */
	scope: Group;
	removal: Removal;
	/** If more records are missing, nothing is written or removed. */
	maximum: number;
	/** The same as a share of the scope, in percent. */
	maximumShare: number;
	/** Only report what would be removed. */
	dryRun: boolean;
	/** Remove nothing more after a record that could not be removed. */
	stopAtFailure: boolean;
}

/** Records as they are right before their removal. */
interface Recheck {
	/** Those that still match. */
	current: Map<string, PlatformRecord>;
	/** Those that were read by their IDs. */
	read: Map<string, PlatformRecord | null>;
}

/** Called once for each missing record. */
export type OnRemoval = (record: PlatformRecord, outcome: ItemOutcome) => void;

/** How many records to set fields in before reading again which ones still match. */
const RECHECK_EVERY = 250;

/** Statuses of rejections that concern a single record. */
const ABOUT_ONE_RECORD = new Set<number | undefined>([400, 404, 409, 412, 422, 423]);

const records = (count: number) => (count === 1 ? '1 record' : `${count} records`);

export class Sync {
	private readonly input: InputRecords;
	/** The records of the scope that are missing from the input. */
	private missing: PlatformRecord[] = [];
	/** How many records the scope has. */
	scopeSize = 0;
	private readonly remover: Remover;

	/** @param keys the fields that identify a record; none if items name their records by ID */
	constructor(
		private readonly target: WriteTarget,
		private readonly keys: FieldDefinition[],
		private readonly pipeline: WritePipeline,
		private readonly options: SyncOptions,
	) {
		this.input = new InputRecords(keys);
		this.remover = new Remover(target.client, target.at, pipeline.requests);
	}

	get missingCount(): number {
		return this.missing.length;
	}

	/**
	 * Finds what is missing from the input, before anything is written.
	 *
	 * @param planned all records of the input
	 * @param writing those to write: each that is in the scope gets its stored record, so that it
	 *   need not be looked up
	 * @throws {InputError} if more is missing than may be removed
	 * @throws {ServiceError} if the whole scope can't be read
	 */
	async compare(planned: Entry[], writing: Entry[] = []): Promise<void> {
		const pause = createPause();
		for (const record of planned) {
			await pause();
			this.input.add(record);
		}
		const scope = await this.readScope(writing);
		await this.identify(planned, scope);
		this.match(writing, scope);
		this.scopeSize = scope.length;
		for (const { record, key } of scope) {
			await pause();
			const isMissing = !this.input.has(record, key) && !this.isAlreadyRemoved(record);
			if (isMissing) this.missing.push(record);
		}
		this.requireWithinLimits();
	}

	/** Notes the record that an item turned out to mean. */
	holds(id: string | undefined) {
		this.input.addId(id);
	}

	private requireWithinLimits() {
		const { maximum, maximumShare } = this.options;
		const { scopeSize, missing } = this;
		const found = `Nothing was written or removed: ${missing.length} of ${records(scopeSize)} are missing from the input`;
		if (missing.length > maximum) {
			throw new InputError(`${found}, more than the maximum of ${maximum}`, {
				hint: { code: 'completeInputOrRaiseMaximum' },
			});
		}
		if (missing.length * 100 > scopeSize * maximumShare) {
			throw new InputError(`${found}, more than ${maximumShare} %`, {
				hint: { code: 'completeInputOrRaiseShare' },
			});
		}
	}

	/**
	 * All records of the scope, with the fields that are compared.
	 *
	 * @param writing the records that are compared, with all of their fields
	 * @throws {ServiceError} if the platform lists fewer than it counts
	 */
	private async readScope(writing: Entry[]): Promise<KeyedRecord[]> {
		const { client, at } = this.target;
		const { options } = this;
		const set = options.removal === 'delete' ? {} : options.removal.set;
		const names = new Set([...this.keys.map(({ name }) => name), ...Object.keys(set)]);
		for (const { fields } of writing) for (const name of Object.keys(fields)) names.add(name);
		const any = this.target.table.fields.find(holdsData);
		// If no field were named, all would be loaded.
		if (names.size === 0 && any) names.add(any.name);
		const query = { filter: options.scope, fields: [...names] };
		const pause = createPause();
		for (let attempt = 1; ; attempt += 1) {
			const counting = countRecords(client, at, options.scope);
			const found: KeyedRecord[] = [];
			for await (const page of readRecords(client, at, query, counting)) {
				await pause();
				for (const record of page) {
					found.push({ record, key: recordKey(this.keys, record.fields) });
				}
			}
			if (found.length >= (await counting)) return found;
			const left = await countRecords(client, at, options.scope);
			if (found.length >= left) return found;
			// The first record of a scope may have been added after the list was read.
			if (attempt === 2) throw incompleteList(left, found.length);
		}
	}

	/** Looks up the records of items whose key can't be compared as it is. */
	private async identify(planned: Entry[], scope: KeyedRecord[]) {
		if (this.keys.length === 0) return;
		const texts = new Set(scope.map(({ key }) => key?.text));
		const areComparable = scope.every(({ key }) => key?.isCertain !== false);
		const open = planned.filter(
			({ key, hasUncertainKey }) =>
				(hasUncertainKey || !areComparable) && !(texts.has(key) && !hasUncertainKey),
		);
		const { client, at } = this.target;
		const found = await lookUp(client, at, this.keys, open, 'keys');
		for (const { id } of [...found.values()].flat()) this.input.addId(id);
	}

	/** Gives records to write the only stored record that has their key. */
	private match(writing: Entry[], scope: KeyedRecord[]) {
		const stored = new Map<string, PlatformRecord | undefined>();
		for (const { record, key } of writing.length > 0 ? scope : []) {
			if (key?.isCertain) stored.set(key.text, stored.has(key.text) ? undefined : record);
		}
		for (const record of writing) {
			const { key, hasUncertainKey } = record;
			if (key !== undefined && !hasUncertainKey) record.before = stored.get(key);
		}
	}

	/** Whether a record already has the values that are set in missing records. */
	private isAlreadyRemoved({ fields }: PlatformRecord): boolean {
		const { removal } = this.options;
		if (removal === 'delete') return false;
		return Object.entries(removal.set).every(([name, value]) => {
			const field = this.target.table.fields.find((known) => known.name === name);
			return holdsValue(field, getOwn(fields, name), value) === true;
		});
	}

	/** Keeps the records that are missing from the input, and reports each with the reason. */
	leave(message: string, onRemoval: OnRemoval) {
		for (const record of this.missing) onRemoval(record, notRemoved(record, message));
	}

	/** Removes the records that are missing from the input, and reports each. */
	async remove(onRemoval: OnRemoval): Promise<ServiceError | undefined> {
		const isDelete = this.options.removal === 'delete';
		let stopped: ServiceError | undefined;
		for (let start = 0, end = 0; start < this.missing.length; start = end) {
			end = start + (isDelete ? this.remover.recheckEvery : RECHECK_EVERY);
			const chunk = this.missing.slice(start, end);
			const removed = new Map<string, Parameters<OnRemoval>>();
			stopped = await this.removeChunk(chunk, (record, outcome) => {
				removed.set(record.id, [record, outcome]);
			});
			for (const { id } of chunk) onRemoval(...removed.get(id)!);
			if (!stopped) continue;
			const message = `the run stopped before: ${stopped.message}`;
			for (const record of this.missing.slice(end)) {
				onRemoval(record, notRemoved(record, message));
			}
			break;
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
		const omitted = await this.omittedOf(chunk, now).catch(serviceErrorOrThrow);
		const removable: PlatformRecord[] = [];
		for (const record of chunk) {
			const stored = now.current.get(record.id);
			if (stored && !this.input.has(stored) && !this.isAlreadyRemoved(stored))
				removable.push(stored);
			else if (stored) onRemoval(stored, { outcome: 'skipped', id: record.id });
			else if (omitted instanceof ServiceError) onRemoval(record, failedRemoval(record, omitted));
			else if (omitted.has(record.id)) onRemoval(record, notListed(record));
			else onRemoval(record, { outcome: 'skipped', id: record.id });
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
	private async recheck(chunk: PlatformRecord[]): Promise<Recheck> {
		const { client, at } = this.target;
		const { keys } = this;
		const { scope } = this.options;
		const current = new Map<string, PlatformRecord>();
		const certain = chunk.flatMap(({ fields }) => {
			const key = recordKey(keys, fields);
			return key?.isCertain ? [key] : [];
		});
		for (const filter of oneOfKeys(keys, certain)) {
			const both: Group = { filter: [...scoped(scope), filter], filterOperator: 'and' };
			for await (const page of readRecords(client, at, { filter: both }, Infinity)) {
				for (const record of page) current.set(record.id, record);
				if (chunk.every(({ id }) => current.has(id))) break;
			}
		}
		// A record without a key to filter by still matches if nobody changed it.
		const others = chunk.filter(({ fields }) => recordKey(keys, fields)?.isCertain !== true);
		const read = await lookUpByIds(
			client,
			at,
			others.map(({ id }) => id),
		);
		for (const record of others) {
			const now = read.get(record.id);
			if (now && isSameVersion(record, now)) current.set(record.id, now);
		}
		return { current, read };
	}

	/** The records that the list of matches lacks although nobody is known to have changed them. */
	private async omittedOf(
		chunk: PlatformRecord[],
		{ current, read }: Recheck,
	): Promise<Set<string>> {
		const lacking = chunk.filter(({ id }) => !current.has(id));
		const unread = lacking.map(({ id }) => id).filter((id) => !read.has(id));
		const { client, at } = this.target;
		const now = new Map([...read, ...(await lookUpByIds(client, at, unread))]);
		const omitted = lacking.filter((record) => {
			const stored = now.get(record.id);
			return stored != null && isSameVersion(record, stored) !== false;
		});
		return new Set(omitted.map(({ id }) => id));
	}

	private async deleteRecords(
		removable: PlatformRecord[],
		onRemoval: OnRemoval,
	): Promise<ServiceError | undefined> {
		let stop: ServiceError | undefined;
		const rest = new Set(removable);
		await this.remover.removeEach(
			removable,
			() => stop !== undefined,
			async (record, failure) => {
				rest.delete(record);
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
		for (const record of rest) {
			onRemoval(record, notRemoved(record, `the run stopped before: ${stop!.message}`));
		}
		return stop;
	}

	/** Whether another writer had already deleted a record. */
	private async isGone({ id }: PlatformRecord, { status }: ServiceError): Promise<boolean> {
		const { client, at } = this.target;
		return status === 404 && (await findRecord(client, at, id).catch(serviceErrorOrThrow)) === null;
	}

	private async setFields(
		removable: PlatformRecord[],
		fields: FieldValues,
		onRemoval: OnRemoval,
	): Promise<ServiceError | undefined> {
		const planned = removable.map(({ id }, index) => ({ index, id, fields: { ...fields } }));
		return await this.pipeline.update(planned, ({ index }, item) => {
			const outcome: ItemOutcome =
				item.outcome === 'updated'
					? { ...item, outcome: 'marked' }
					: item.outcome === 'notFound'
						? { outcome: 'skipped', id: item.id }
						: item;
			const record = removable[index]!;
			onRemoval(
				{ ...record, fields: { ...record.fields, ...(isSuccess(outcome) && fields) } },
				outcome,
			);
		});
	}
}

const incompleteList = (counted: number, found: number) =>
	new ServiceError(
		`The platform counts ${records(counted)}, but lists ${found}: it is unknown which ones are missing from the input`,
		{
			delivery: 'notApplied',
			hint: 'Nothing was written or removed. Run it again while nobody changes many records of the table.',
		},
	);

const scoped = (scope: Group) => (scope.filter.length > 0 ? [scope] : []);
