/**
 * Matching: looks up which record an item means, before anything is written. Records that are found
 * are updated by ID, missing ones are created, both by the writer that all operations share. If a
 * record that was found is deleted by then, its item says so: it is not created anew.
 */
import { countRecords } from '../../api/aggregates';
import type { FieldDefinition, PlatformRecord } from '../../api/types';
import { LABELS } from '../../labels';
import { InputError, serviceErrorOrThrow, ServiceError } from '../../transport/errors';
import {
	ALWAYS_ALLOWED,
	applyFieldRules,
	decide,
	deletedMeanwhile,
	withKept,
	withoutFieldRules,
} from './rules';
import { TwoWaySync, withTwoWay } from './twoWay';
import { keyFields } from '../../fields/keyFields';
import { lookUp } from '../resolve/lookup';
import {
	afterFailure,
	isSuccess,
	MATCHES_SHOWN,
	notSent,
	stoppedItem,
	unknownItem,
} from '../outcome';
import type { Matching } from '../writeTask';
import { writeMany, type OnOutcome, type Write } from '../send/write';
import type { Entry, ItemOutcome, Plan, WriteMode } from '../terms';

interface MatchedSink {
	/**
	 * Called with the records to write, before the first one is written. Those that it removes are
	 * problems of the plan.
	 */
	prepare?(plan: Plan): Promise<void>;
	onOutcome: OnOutcome;
}

/** Finds the record of each planned item, then updates and creates by the rules. */
export class MatchedWriter {
	private readonly keys: FieldDefinition[];
	/** Whether planned records are compared with the record that they matched. */
	private readonly isCompared: boolean;
	private readonly twoWay?: TwoWaySync;
	private readonly unit: 'item' | 'row';
	private readonly fields: ReadonlyMap<string, FieldDefinition>;
	/** Records that no ID was found for when they were updated: they are created, or skipped. */
	private readonly missing: Entry[] = [];
	private isFailed = false;
	/** Why nothing more is sent. */
	private stopped?: ServiceError;

	constructor(
		private readonly base: Write,
		private readonly matching: Matching,
		private readonly sink: MatchedSink,
	) {
		const { target, task } = base;
		const { on, fieldRules: rules, twoWay } = matching;
		this.unit = task.planning?.unit ?? 'item';
		this.fields = new Map(target.table.fields.map((field) => [field.name, field]));
		const isRead = on !== 'recordId' && (task.skipUnchanged || task.dryRun);
		this.keys = on === 'recordId' ? [] : keyFields(target.table, { matchOn: on });
		if (twoWay) this.twoWay = new TwoWaySync(twoWay, this.fields, this.keys, rules);
		const isGuarded = matching.maxNew !== undefined;
		this.isCompared = isRead || isGuarded || rules !== undefined || twoWay !== undefined;
	}

	/** @returns why it stopped early, if it did */
	async run(planned: Plan): Promise<ServiceError | undefined> {
		const { twoWay } = this;
		const { isFromInput = false } = this.base.task.planning ?? {};
		const begin = (record: Entry) => twoWay?.begin(record, isFromInput) ?? record;
		const plan = { ...planned, records: planned.records.map(begin) };
		const matches = await this.find(plan.records);
		if (matches instanceof ServiceError) {
			for (const record of plan.records) this.deliver(record, stoppedItem(matches));
			return matches;
		}
		await this.requireFewNew([...matches.values()]);
		const creates = await this.writeMatches(matches, plan);
		const missing = new Map(this.missing.splice(0).map((record) => [record, []]));
		await this.create([...creates, ...(await this.writeMatches(missing, plan))]);
		return this.stopped;
	}

	/**
	 * @param matches the records of each item, before anything is sent
	 * @throws {InputError} if unusually many records would be new, although the table has others
	 */
	private async requireFewNew(matches: PlatformRecord[][]) {
		const { target } = this.base;
		const { maxNew = 100, ifMissing } = this.matching;
		const allowed = Math.max(Math.floor((matches.length * maxNew) / 100), ALWAYS_ALLOWED);
		const newCount = matches.filter((found) => found.length === 0).length;
		if (ifMissing !== 'create' || newCount <= allowed) return;
		if (newCount === matches.length && (await countRecords(target)) === 0) return;
		throw new InputError(
			`Nothing was sent to '${target.table.header}': ${newCount} records would be new, more than ${allowed}`,
			{
				hint: `Does the token see all records of the table? Do the keys have the same form as there? If this is intended, raise '${LABELS.maxNewShare}'.`,
			},
		);
	}

	/** Updates what items match. @returns the records to create */
	private async writeMatches(matches: Map<Entry, PlatformRecord[]>, plan: Plan) {
		const { stopAtFailure } = this.base.task;
		const { updates, creates: missing, outcomes } = decide(matches, this.matching, this.isCompared);
		const { fields, twoWay } = this;
		const { fieldRules: rules } = this.matching;
		const ruled = updates.map((record) => {
			const written = rules ? applyFieldRules(record, record.before!, rules, fields) : record;
			return twoWay ? twoWay.apply(written, record.before!) : written;
		});
		const creates = twoWay ? missing.map((record) => twoWay.apply(record, null)) : missing;
		twoWay?.requireFewChanges(ruled);
		const writing = [...ruled, ...creates];
		for (const [record, outcome] of outcomes) this.deliver(record, outcome);
		const isStopping = this.stopped !== undefined || (this.isFailed && stopAtFailure);
		const prepares = writing.length > 0 && !isStopping;
		const prepared = prepares ? await this.prepared(plan, writing) : new Set(writing);
		const ready = ruled.filter((record) => prepared.has(record));
		if (this.isFailed && stopAtFailure) this.stopped ??= afterFailure();
		await this.update(ready);
		return creates.filter((record) => prepared.has(record));
	}

	/** The records that can be written. The items of the others fail. */
	private async prepared(plan: Plan, records: Entry[]): Promise<Set<Entry>> {
		const writing: Plan = { ...plan, records, problems: [] };
		await this.sink.prepare?.(writing);
		const byIndex = new Map(records.map((record) => [record.index, record]));
		for (const { index, message, field } of writing.problems) {
			const record = byIndex.get(index);
			if (!record) continue;
			// Once per record, however many problems it has.
			byIndex.delete(index);
			const text = notSent(index, message, this.unit);
			const [lost] = record.attempts ?? [];
			const item = { outcome: 'failed', message: text, field } as const;
			const { mode } = this.base.task;
			this.deliver(record, lost ? unknownItem(mode, `${lost.message}; ${message}`) : item);
		}
		return new Set(writing.records);
	}

	/**
	 * The records that items match, the oldest first. Also reads the fields that are compared later,
	 * which saves a second look-up.
	 */
	private async find(records: Entry[]) {
		const { target, task } = this.base;
		const { on, ifFound, multipleMatches } = this.matching;
		// An update by ID needs no look-up.
		if (on === 'recordId' && ifFound === 'update' && !this.isCompared) {
			return new Map(records.map((record) => [record, [{ id: record.id!, fields: {} }]]));
		}
		// All fields are needed for the output, and to see what a full update clears.
		const areAllNeeded = ifFound === 'skip' || (this.isCompared && task.mode === 'replace');
		const needed = this.isCompared ? 'sentFields' : 'keys';
		const loads = areAllNeeded ? 'allFields' : needed;
		const enough = multipleMatches === 'first' ? 1 : MATCHES_SHOWN + 1;
		return await lookUp(target, this.keys, records, { loads, enough }).catch(serviceErrorOrThrow);
	}

	private async write(records: Entry[], mode: WriteMode, onOutcome: OnOutcome, isNew = false) {
		// Records to create were already looked up.
		const { base, matching, stopped } = this;
		const isRuled = matching.fieldRules !== undefined || matching.twoWay !== undefined;
		const isCompared = base.task.skipUnchanged || isRuled;
		const task = { ...base.task, mode, skipUnchanged: isCompared && !isNew };
		return await writeMany({ ...base, task, stopped }, records, onOutcome);
	}

	private async update(records: Entry[]) {
		const mode = this.base.task.mode === 'replace' ? 'replace' : 'update';
		const stop = await this.write(records, mode, (record, outcome) =>
			this.resolved(record, withKept(outcome, record)),
		);
		this.stopped ??= stop;
	}

	private async create(records: Entry[]): Promise<void> {
		const [key] = this.keys;
		// One that the user named is not proven here: the platform may match by another field.
		const isMarked = key?.metadata.importKey === true && this.base.task.importKey === undefined;
		const isByImportKey = this.keys.length === 1 && isMarked;
		// By import key, the platform itself prevents a second record, also of a lost request.
		const isGuarded = this.twoWay !== undefined || this.matching.maxNew !== undefined;
		const mode = isGuarded && isByImportKey ? 'upsert' : 'create';
		const onOutcome: OnOutcome = (record, outcome) => {
			const isDoubtful = mode === 'create' && outcome.outcome === 'unknown';
			this.deliver(record, isDoubtful ? { ...outcome, noRetry: true } : outcome);
		};
		const stop = await this.write(records, mode, onOutcome, true);
		this.stopped ??= stop;
	}

	/** What became of an update. If the record is gone, its item may create another one. */
	private resolved(record: Entry, outcome: ItemOutcome) {
		const { on, ifMissing } = this.matching;
		if (outcome.outcome !== 'notFound') this.deliver(record, outcome);
		else if (on !== 'recordId') this.deliver(record, deletedMeanwhile(record, ifMissing));
		else if (ifMissing === 'error') this.deliver(record, outcome);
		else this.missing.push(withoutFieldRules(record));
	}

	private deliver(record: Entry, outcome: ItemOutcome) {
		if (!isSuccess(outcome)) this.isFailed = true;
		this.sink.onOutcome(record, withTwoWay(outcome, record));
	}
}
