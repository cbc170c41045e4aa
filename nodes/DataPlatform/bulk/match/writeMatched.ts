/**
 * Matching: looks up which record an item means, before anything is written. Records that are found
 * are updated by ID, missing ones are created, both by the writer that all operations share. If a
 * record that was found is deleted by then, its item says so: it is not created anew.
 */
import { countRecords } from '../../api/aggregates';
import type { FieldDefinition, PlatformRecord } from '../../api/types';
import { LABELS } from '../../labels';
import { InputError, serviceErrorOrThrow, ServiceError } from '../../transport/errors';
import { ALWAYS_ALLOWED, applyFieldRules, decide, deletedMeanwhile } from './rules';
import { TwoWaySync } from './twoWay';
import { keyFields } from '../../fields/keyFields';
import { lookUp } from '../resolve/lookup';
import { asNew } from '../entry';
import { MATCHES_SHOWN, stoppedItem } from '../outcome';
import { writeMany, type OnOutcome, type Write } from '../send/write';
import type { Entry, ItemOutcome, Matching, WriteMode } from '../terms';

/** Finds the record of each planned item, then updates and creates by the rules. */
export class MatchedWriter {
	private readonly keys: FieldDefinition[];
	/** Whether records are read before they are updated. */
	private readonly isCompared: boolean;
	private readonly twoWay?: TwoWaySync;
	private readonly fields: ReadonlyMap<string, FieldDefinition>;
	/** Records that no ID was found for when they were updated: they are created. */
	private readonly missing: Entry[] = [];

	/**
	 * @param prepare called with the records to write, before the first one is written; returns those
	 *   that can be, and reports the others
	 */
	constructor(
		private readonly base: Write,
		private readonly matching: Matching,
		private readonly prepare: (records: Entry[]) => Promise<Entry[]>,
		private readonly onOutcome: OnOutcome,
	) {
		const { target, task } = base;
		const { on, fieldRules: rules, twoWay } = matching;
		this.fields = new Map(target.table.fields.map((field) => [field.name, field]));
		const isRead = on !== 'recordId' && (task.skipUnchanged || task.dryRun);
		this.keys = on === 'recordId' ? [] : keyFields(target.table, { matchOn: on });
		if (twoWay) this.twoWay = new TwoWaySync(twoWay, this.fields, this.keys, rules);
		const isGuarded = matching.maxNew !== undefined;
		this.isCompared = isRead || isGuarded || rules !== undefined || twoWay !== undefined;
	}

	async run(planned: Entry[]): Promise<void> {
		const { session } = this.base;
		const records = planned.map((record) => this.twoWay?.begin(record) ?? record);
		const matches = await this.find(records);
		if (matches instanceof ServiceError) {
			session.stopped = matches;
			for (const record of records) this.deliver(record, stoppedItem(matches));
			return;
		}
		await this.requireFewNew([...matches.values()]);
		const { outcomes, ...decided } = decide(matches, this.matching, this.isCompared);
		const updates = decided.updates.map((record) => this.withRules(record));
		const creates = decided.creates.map((record) => this.twoWay?.apply(record, null) ?? record);
		this.twoWay?.requireFewChanges(updates);
		for (const [record, outcome] of outcomes) this.deliver(record, outcome);
		const writing = [...updates, ...creates];
		const ready = new Set(session.stopped ? writing : await this.prepare(writing));
		await this.update(updates.filter((record) => ready.has(record)));
		await this.create([...creates.filter((record) => ready.has(record)), ...this.missing]);
	}

	/** What to write to a record that was found. */
	private withRules(record: Entry): Entry {
		const { fields, twoWay } = this;
		const { fieldRules: rules } = this.matching;
		const written = rules ? applyFieldRules(record, record.before!, rules, fields) : record;
		return twoWay ? twoWay.apply(written, record.before!) : written;
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
		const { base, matching } = this;
		const isRuled = matching.fieldRules !== undefined || matching.twoWay !== undefined;
		const isCompared = base.task.skipUnchanged || isRuled;
		const task = { ...base.task, mode, skipUnchanged: isCompared && !isNew };
		await writeMany({ ...base, task }, records, onOutcome);
	}

	private async update(records: Entry[]) {
		const mode = this.base.task.mode === 'replace' ? 'replace' : 'update';
		await this.write(records, mode, (record, outcome) => {
			const { on, ifMissing } = this.matching;
			const isMissing = outcome.outcome === 'notFound';
			const isKnown = on !== 'recordId' || this.isCompared;
			if (isMissing && isKnown) this.deliver(record, deletedMeanwhile(record, ifMissing));
			else if (isMissing && ifMissing === 'create') this.missing.push(asNew(record));
			else if (isMissing && ifMissing === 'skip') {
				this.deliver(record, { outcome: 'skipped', id: record.id });
			} else this.deliver(record, { ...outcome, kept: record.kept });
		});
	}

	private async create(records: Entry[]) {
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
		await this.write(records, mode, onOutcome, true);
	}

	/** Adds what must go back, and what a person must decide. */
	private deliver(record: Entry, outcome: ItemOutcome) {
		const { sendBack = {}, conflicts = [] } = record.twoWay ?? {};
		this.onOutcome(record, {
			...outcome,
			...(Object.keys(sendBack).length > 0 && { sendBack }),
			...(conflicts.length > 0 && { conflicts }),
		});
	}
}
