/**
 * Matching: looks up which record an item means, before anything is written. Records that are found
 * are updated by ID, missing ones are created, both by the writer that all operations share. The
 * table may change in between: a record that is gone by then counts as missing, one that has
 * appeared as found.
 */
import type { FieldDefinition, PlatformRecord, TableAddress } from '../api/types';
import { failureAsValue, ServiceError } from '../transport/errors';
import type { ApiClient } from '../transport/client';
import { appendableFields } from '../fields/values';
import { asPlanned, type Entry, type Resolved } from './entry';
import { isAppending } from './evidence';
import { applyFieldRules, withKept, withoutFieldRules, type FieldRules } from './fieldRules';
import { recordKey, keyFields } from './key';
import { lookUp } from './lookup';
import { asAppended, failedItem, isSuccess, type ItemOutcome } from './outcome';
import { resolveDuplicates } from './duplicates';
import type { Plan, WriteMode } from './plan';
import type { LastChange } from './lastChange';
import type { Matching, MatchRules, Task, WriteTarget } from './task';
import { afterFailure, writeMany, WriteSession } from './write';

/** What to do with items, by the rules. */
interface Decision {
	/** Records to update, with their IDs; several for an item that matches several. */
	updates: Entry[];
	/** Items without a record, to create. */
	creates: Entry[];
	outcomes: Resolved[];
}

/** How many matching records an error names. */
const MATCHES_SHOWN = 5;

/** How many matching records of an item matter, by *Multiple Matches*. */
const MATCHES_NEEDED = { error: MATCHES_SHOWN + 1, first: 1, all: Infinity } as const;

const several = ({ key }: Entry, found: PlatformRecord[]): ItemOutcome => {
	const ids = found.slice(0, MATCHES_SHOWN).map(({ id }) => `'${id}'`);
	// If there are many records, not all were read.
	const isCut = found.length > MATCHES_SHOWN;
	const count = isCut ? `More than ${MATCHES_SHOWN}` : String(found.length);
	return {
		outcome: 'failed',
		message: `${count} records match ${quoted(key!)}: ${ids.join(', ')}${isCut ? ' and more' : ''}`,
		hint: { code: 'chooseAmongMatches' },
	};
};

/** A key in quotation marks. A key of several fields has them already. */
const quoted = (key: string) => (key.startsWith('"') ? key : `'${key}'`);

const NOT_FOUND = { outcome: 'notFound', hint: { code: 'createIfMissing' } } as const;

const nothingMatches = ({ id, key }: Entry): ItemOutcome => ({
	...NOT_FOUND,
	id,
	message:
		id === undefined
			? `No record matches ${quoted(key!)}`
			: `The table has no record with the ID '${id}'`,
});

/** The outcome of an item whose record was deleted after it was matched. */
const deletedMeanwhile = ({ id, key }: Entry): ItemOutcome => ({
	...NOT_FOUND,
	id,
	message: `The record '${id}', which matched ${quoted(key!)}, was deleted meanwhile`,
});

const foundItem = ({ id, created, modified, ver, fields }: PlatformRecord): ItemOutcome => ({
	outcome: 'found',
	id,
	created,
	modified,
	ver,
	fields,
});

/** Applies the rules to items without a record. Pure. */
function decideMissing(
	records: Entry[],
	{ ifMissing }: MatchRules,
	keepsMatches: boolean,
): Decision {
	if (ifMissing === 'create') {
		const creates = records.map((record) => ({
			...asPlanned(record),
			id: undefined,
			before: keepsMatches ? null : undefined,
		}));
		return { updates: [], creates, outcomes: [] };
	}
	const outcomes = records.map(
		(record): Resolved => [
			record,
			ifMissing === 'skip' ? { outcome: 'skipped', id: record.id } : nothingMatches(record),
		],
	);
	return { updates: [], creates: [], outcomes };
}

/**
 * Applies the rules to items, given the records that each matches. Pure.
 *
 * @param keepsMatches whether planned records keep the record that they matched
 */
export function decide(
	matches: Map<Entry, PlatformRecord[]>,
	rules: MatchRules,
	keepsMatches = false,
): Decision {
	const missing = [...matches].filter(([, found]) => found.length === 0).map(([record]) => record);
	const decision = decideMissing(missing, rules, keepsMatches);
	for (const [record, found] of matches) {
		if (found.length > 1 && rules.multipleMatches === 'error') {
			decision.outcomes.push([record, several(record, found)]);
			continue;
		}
		for (const match of rules.multipleMatches === 'all' ? found : found.slice(0, 1)) {
			if (rules.ifFound === 'skip') decision.outcomes.push([record, foundItem(match)]);
			else
				decision.updates.push({
					...asPlanned(record),
					id: match.id,
					...(keepsMatches && { before: match }),
				});
		}
	}
	return decision;
}

/**
 * The records that each item matches, in the order of the table: the oldest first.
 *
 * @param keys the fields to match on; none if items name their records by ID
 * @throws {ServiceError}
 */
async function findMatches(
	client: ApiClient,
	at: TableAddress,
	keys: FieldDefinition[],
	records: Entry[],
	{ ifFound, multipleMatches }: MatchRules,
	loads: 'sentFields' | 'allFields' | 'keys' = 'keys',
): Promise<Map<Entry, PlatformRecord[]>> {
	const names = ifFound === 'skip' ? 'allFields' : loads;
	return await lookUp(client, at, keys, records, names, MATCHES_NEEDED[multipleMatches]);
}

/** Called once for each item, with several outcomes if it has several records. */
type OnItemOutcomes = (record: Entry, outcomes: ItemOutcome[]) => void;

/** Passes outcomes on. Those of an item with several records go together. */
class ItemOutcomes {
	private readonly open = new Map<number, { left: number; outcomes: ItemOutcome[] }>();

	constructor(
		/** Whether an item adds something to stored values. */
		private readonly addsTo: (record: Entry) => boolean,
		private readonly onOutcomes: OnItemOutcomes,
		/** Called for an item whose records are all gone. */
		private readonly onGone: (record: Entry, outcome: ItemOutcome) => void,
	) {}

	/** Registers the records of each item, before their outcomes are known. */
	expect(records: Entry[]) {
		for (const { index } of records) {
			const left = (this.open.get(index)?.left ?? 0) + 1;
			this.open.set(index, { left, outcomes: [] });
		}
	}

	add(record: Entry, outcome: ItemOutcome) {
		const item = this.open.get(record.index)!;
		item.left -= 1;
		item.outcomes.push(outcome);
		if (item.left > 0) return;
		this.open.delete(record.index);
		this.finish(record, item.outcomes);
	}

	private finish(record: Entry, all: ItemOutcome[]) {
		const outcomes = all.filter(({ outcome }) => outcome !== 'notFound');
		if (outcomes.length === 0) {
			this.onGone(record, all[0]!);
			return;
		}
		const bad =
			outcomes.find(({ outcome }) => outcome === 'unknown') ??
			outcomes.find((outcome) => !isSuccess(outcome));
		if (!bad || outcomes.length === 1) {
			this.onOutcomes(record, outcomes);
			return;
		}
		const done = outcomes.filter(isSuccess).length;
		const message = `${bad.message!}; ${done} of ${outcomes.length} matching records were written`;
		// Another attempt would add it again to the records that were written.
		const final = done > 0 && this.addsTo(record) ? asAppended(bad) : bad;
		this.onOutcomes(record, [{ ...final, message }]);
	}
}

/** Two items may happen to have the same key. It then can't show which created record is whose. */
function withoutSharedKeys(records: Entry[]): Entry[] {
	const counts = new Map<string | undefined, number>();
	for (const { key } of records) counts.set(key, (counts.get(key) ?? 0) + 1);
	return records.map((record) =>
		counts.get(record.key)! > 1 ? { ...record, key: undefined } : record,
	);
}

/**
 * Groups of records that may have the same key, because only the platform knows how it stores some
 * parts of their keys.
 */
function possiblySame(keys: FieldDefinition[], records: Entry[]): Entry[][] {
	if (keys.length === 0 || !records.some(({ hasUncertainKey }) => hasUncertainKey)) return [];
	const keyed = records.map((record) => ({ record, parts: recordKey(keys, record.fields)!.parts }));
	const comparable = keys.flatMap((_, index) =>
		keyed.every(({ parts }) => parts[index]!.isCertain) ? [index] : [],
	);
	const groups = new Map<string, Entry[]>();
	for (const { record, parts } of keyed) {
		const text = JSON.stringify(comparable.map((index) => parts[index]!.text));
		const group = groups.get(text);
		if (group) group.push(record);
		else groups.set(text, [record]);
	}
	return [...groups.values()].filter(
		(group) => group.length > 1 && group.some(({ hasUncertainKey }) => hasUncertainKey),
	);
}

type MatchedTask = Task & { matching: Matching };

/** Receives the results of matching. */
interface MatchedSink {
	onOutcomes: OnItemOutcomes;
	/**
	 * Called with the records to write, before the first one is written. Those that it removes are
	 * problems of the plan.
	 */
	prepare?(plan: Plan): Promise<void>;
}

class MatchedWriter {
	private readonly keys: FieldDefinition[];
	private readonly results: ItemOutcomes;
	/** Whether planned records keep the record that they matched, and whether it is compared. */
	private readonly keepsMatches: boolean;
	private readonly isCompared: boolean;
	private readonly rules?: FieldRules;
	private readonly fields: ReadonlyMap<string, FieldDefinition>;
	private gone: Entry[] = [];
	/** Which item created a record, by the record's ID. */
	private readonly created = new Map<string | undefined, number>();
	/** The items that may or may not have been written. */
	private readonly unknown = new Set<number>();
	private isFailed = false;
	/** Why nothing more is sent. */
	private stopped?: ServiceError;

	constructor(
		private readonly target: WriteTarget,
		private readonly options: MatchedTask,
		private readonly lastChangeBefore: LastChange | ServiceError,
		private readonly sink: MatchedSink,
		private readonly session: WriteSession,
	) {
		const { matching } = options;
		const { on } = matching;
		this.rules = matching.fieldRules;
		this.fields = new Map(target.table.fields.map((field) => [field.name, field]));
		const isRead = on !== 'recordId' && (options.skipUnchanged || options.dryRun);
		const isCompared = isRead || this.rules !== undefined;
		this.keepsMatches = isCompared || options.isSingle === true;
		this.isCompared = isCompared;
		this.keys = on === 'recordId' ? [] : keyFields(target.table, { matchOn: on });
		const appendable = appendableFields(target.table.fields);
		this.results = new ItemOutcomes(
			({ fields }) => isAppending({ fields }, { appendable }),
			(record, outcomes) => this.deliver(record, outcomes),
			(record, outcome) => {
				if (matching.ifMissing !== 'error') this.gone.push(withoutFieldRules(record));
				else this.deliver(record, [on === 'recordId' ? outcome : deletedMeanwhile(record)]);
			},
		);
	}

	async run(plan: Plan): Promise<ServiceError | undefined> {
		const matches = await this.find(plan.records);
		if (matches instanceof ServiceError) {
			for (const record of plan.records) this.deliver(record, [failedItem(matches)]);
			return matches;
		}
		const { updates, creates: missing, outcomes } = this.decide(matches);
		const merged = this.mergeUpdates(plan, updates);
		const { creates, inTurn } = this.apart(plan, missing);
		const isBad = this.isFailed || !outcomes.every(([, outcome]) => isSuccess(outcome));
		const writing = [...merged, ...creates, ...inTurn.flat()];
		const isStopping = isBad && this.options.stopAtFailure;
		const prepared = isStopping ? new Set(writing) : await this.prepared(plan, writing);
		const distinct = merged.filter((record) => prepared.has(record));
		this.begin(distinct, outcomes);
		if (this.isFailed && this.options.stopAtFailure) this.stopped = afterFailure();
		await this.update(distinct);
		const isPrepared = (record: Entry) => prepared.has(record);
		await this.create([...creates.filter(isPrepared), ...(await this.resolveGone(plan))]);
		for (const group of inTurn) await this.writeInTurn(group.filter(isPrepared));
		return this.stopped;
	}

	/**
	 * Separates the records that may be the same one, which only the platform knows, from the others
	 * to create. Items that were merged by an equal key are split again, because each item of such a
	 * group is written in its turn.
	 */
	private apart(plan: Plan, missing: Entry[]) {
		const groups = this.options.dryRun ? [] : possiblySame(this.keys, missing);
		const isApart = new Set(groups.flat());
		const inTurn = groups.map((group) =>
			group
				.flatMap(({ parts, ...record }) => parts ?? [record])
				.sort((one, other) => one.index - other.index),
		);
		for (const { index } of inTurn.flat()) plan.merged.delete(index);
		return { creates: missing.filter((record) => !isApart.has(record)), inTurn };
	}

	/**
	 * Writes records that may be the same one. Each is looked up again after those before it were
	 * written.
	 */
	private async writeInTurn(group: Entry[]) {
		for (const record of group) {
			const matches = this.stopped ? undefined : await this.lookUp([record]);
			if (matches instanceof ServiceError) {
				this.deliver(record, [failedItem(matches)]);
				this.stopped ??= matches;
				continue;
			}
			const [found] = matches?.get(record) ?? [];
			const isMerged = this.duplicates === 'merge';
			const first = isMerged ? undefined : this.created.get(found?.id);
			const open = group.find(({ index }) => this.unknown.has(index));
			if (first !== undefined) {
				this.refuse(record, `it has the same match values as item ${first}`);
			} else if (found) {
				await this.writeFound(matches!);
			} else if (open) {
				const why = `its match values may be those of item ${open.index}, and it is unknown whether that one was written`;
				this.refuse(record, why, undefined, true);
			} else await this.create([record]);
		}
	}

	/**
	 * Writes records that were matched again. If one is gone once more, it is not created, as that
	 * could double it: the platform showed it twice, and then did not know it.
	 *
	 * @returns the records to create
	 */
	private async writeFound(matches: Map<Entry, PlatformRecord[]>, plan?: Plan) {
		const { updates, creates, outcomes } = this.decide(matches);
		const merged = plan ? this.mergeUpdates(plan, updates) : updates;
		// Values that field rules held back may link to records that are not created yet.
		const writing = [...merged, ...creates];
		const isOpen = plan !== undefined && this.rules !== undefined && !this.stopped;
		const prepared = isOpen ? await this.prepared(plan, writing) : new Set(writing);
		const distinct = merged.filter((record) => prepared.has(record));
		this.begin(distinct, outcomes);
		await this.update(distinct);
		for (const record of this.gone.splice(0)) this.deliver(record, [deletedMeanwhile(record)]);
		return creates.filter((record) => prepared.has(record));
	}

	private refuse(record: Entry, why: string, field?: string, isRetryable?: boolean) {
		const message = `Item ${record.index} was not sent: ${why}`;
		this.deliver(record, [{ outcome: 'failed', message, field, isRetryable }]);
	}

	/** The records that can be written. The items of the others fail. */
	private async prepared(plan: Plan, records: Entry[]): Promise<Set<Entry>> {
		const writing: Plan = { ...plan, records, problems: [] };
		await this.sink.prepare?.(writing);
		const byIndex = new Map(records.map((record) => [record.index, record]));
		for (const { index, message, field } of writing.problems) {
			const record = byIndex.get(index);
			if (!record) continue;
			// Once per item, however many records it has.
			byIndex.delete(index);
			this.refuse(record, message, field);
		}
		return new Set(writing.records);
	}

	/**
	 * Looks again for records that were gone after they were matched. An item is created only if it
	 * still matches nothing.
	 *
	 * @returns the records to create
	 */
	private async resolveGone(plan: Plan): Promise<Entry[]> {
		const isById = this.options.matching.on === 'recordId';
		// The old ID means nothing now, and the parts lack the links that were created since.
		const gone = this.gone
			.splice(0)
			.map((record) => (isById ? record : { ...record, id: undefined, parts: undefined }));
		const matches =
			isById || this.stopped ? new Map(gone.map((record) => [record, []])) : await this.find(gone);
		if (!(matches instanceof ServiceError)) return await this.writeFound(matches, plan);
		for (const record of gone) this.deliver(record, [failedItem(matches)]);
		this.stopped ??= matches;
		return [];
	}

	/** The records that items match. Items that name theirs by ID need no look-up for an update. */
	private async find(records: Entry[]) {
		const { on, ifFound } = this.options.matching;
		if (on === 'recordId' && ifFound === 'update' && !this.keepsMatches) {
			return new Map(records.map((record) => [record, [{ id: record.id!, fields: {} }]]));
		}
		return await this.lookUp(records);
	}

	/** Also reads the fields that are compared later, which saves a second look-up. */
	private async lookUp(records: Entry[]) {
		const { client, at } = this.target;
		const { matching, mode } = this.options;
		// All fields are needed to see what a full update clears.
		const compared = mode === 'replace' ? 'allFields' : 'sentFields';
		const loads = this.isCompared ? compared : 'keys';
		return await findMatches(client, at, this.keys, records, matching, loads).catch(failureAsValue);
	}

	private get duplicates() {
		return this.options.planning?.duplicates ?? 'merge';
	}

	private decide(matches: Map<Entry, PlatformRecord[]>): Decision {
		const decision = decide(matches, this.options.matching, this.keepsMatches);
		const { rules, fields } = this;
		if (!rules) return decision;
		const updates = decision.updates.map((record) =>
			applyFieldRules(record, record.before!, rules, fields),
		);
		return { ...decision, updates };
	}

	/**
	 * Merges updates of the same record: only the platform knew that their keys mean the same one.
	 */
	private mergeUpdates(plan: Plan, updates: Entry[]) {
		const { matching, mode } = this.options;
		const isCertain = !updates.some(({ hasUncertainKey }) => hasUncertainKey);
		if (isCertain || matching.multipleMatches === 'all') return updates;
		const fields = new Map(this.target.table.fields.map((field) => [field.name, field]));
		const merged = resolveDuplicates(
			{ ...plan, records: updates, problems: [] },
			{ mode, duplicates: this.duplicates, matchOn: 'recordId' },
			(name) => fields.get(name)!,
		);
		const byIndex = new Map(updates.map((record) => [record.index, record]));
		for (const { index, message, field } of merged.problems) {
			this.refuse(byIndex.get(index)!, message, field);
		}
		return merged.records;
	}

	private async write(
		records: Entry[],
		mode: WriteMode,
		onOutcome: (record: Entry, outcome: ItemOutcome) => void,
	) {
		// Records to create were already looked up.
		const compares = this.options.skipUnchanged || this.rules !== undefined;
		const skipUnchanged = compares && mode !== 'create';
		const options = { ...this.options, mode, skipUnchanged };
		const { target, lastChangeBefore, session } = this;
		const known = this.stopped ?? lastChangeBefore;
		return await writeMany(target, records, options, known, onOutcome, session);
	}

	private async update(records: Entry[]) {
		const mode = this.options.mode === 'replace' ? 'replace' : 'update';
		const stop = await this.write(records, mode, (record, outcome) =>
			this.results.add(record, withKept(outcome, record)),
		);
		this.stopped ??= stop;
	}

	/** Creates missing records. One that another writer created meanwhile counts as found. */
	private async create(records: Entry[]): Promise<void> {
		const rejected: Resolved[] = [];
		const unsent: Resolved[] = [];
		const stop = await this.write(withoutSharedKeys(records), 'create', (record, outcome) => {
			if (outcome.outcome === 'unknown') this.deliver(record, [{ ...outcome, isFinal: true }]);
			else if (outcome.outcome !== 'failed') this.deliver(record, [outcome]);
			else (outcome.isDerived ? unsent : rejected).push([record, outcome]);
		});
		const matches = await this.lookUp(rejected.map(([record]) => record));
		const all = matches instanceof ServiceError ? [] : [...matches];
		const found = new Map(all.filter(([, matching]) => matching.length > 0));
		for (const [record, outcome] of rejected) {
			if (!found.has(record)) this.deliver(record, [outcome]);
		}
		await this.writeFound(found);
		if (found.size > 0 && !this.isFailed) {
			// The failure that stopped the rest was resolved after all.
			await this.create(unsent.map(([record]) => record));
			return;
		}
		for (const [record, outcome] of unsent) this.deliver(record, [outcome]);
		this.stopped ??= stop;
	}

	/** Registers the records to update. The outcomes that the rules gave to others are final. */
	private begin(updates: Entry[], outcomes: Resolved[]) {
		this.results.expect([...updates, ...outcomes.map(([record]) => record)]);
		for (const [record, outcome] of outcomes) {
			if (outcome.outcome === 'notFound') this.deliver(record, [outcome]);
			else this.results.add(record, outcome);
		}
	}

	private deliver(record: Entry, outcomes: ItemOutcome[]) {
		if (!outcomes.every(isSuccess)) this.isFailed = true;
		for (const { outcome, id } of outcomes) {
			if (outcome === 'inserted') this.created.set(id, record.index);
			if (outcome === 'unknown') this.unknown.add(record.index);
		}
		this.sink.onOutcomes(record, outcomes);
	}
}

/**
 * Finds the record of each planned item, then updates and creates by the rules.
 *
 * @param plan gets the items that turn out to mean the same record
 * @param lastChangeBefore as `readLastChange` read it; an error stops the run before anything is
 *   sent
 * @returns why it stopped early, if it did
 */
export async function writeMatched(
	target: WriteTarget,
	plan: Plan,
	options: MatchedTask,
	lastChangeBefore: LastChange | ServiceError,
	sink: MatchedSink,
	session = new WriteSession(options),
): Promise<ServiceError | undefined> {
	return await new MatchedWriter(target, options, lastChangeBefore, sink, session).run(plan);
}
