/**
 * Matching: which record an item means, looked up before anything is written. What is found is
 * updated by its id, what is missing is created, both by the writer that all operations share. The
 * platform may change in between: what is gone by then counts as missing, what has come as found.
 */
import type { FieldDefinition, PlatformRecord, TableAddress } from '../api/types';
import { failureAsValue, ServiceError } from '../transport/errors';
import type { ApiClient } from '../transport/client';
import { appendableFields } from '../fields/values';
import { isAppending } from './evidence';
import { applyFieldRules, withKept, withoutFieldRules, type FieldRules } from './fieldRules';
import { recordKey } from './key';
import { lookUp } from './lookup';
import { asAppended, failedItem, isSuccess, type ItemOutcome } from './outcome';
import {
	keyFields,
	resolveDuplicates,
	type Plan,
	type PlannedRecord,
	type WriteMode,
} from './plan';
import type { LastChange } from './lastChange';
import type { Matching, MatchRules, Task, WriteTarget } from './task';
import { afterFailure, writeMany, WriteSession } from './write';

type Resolved = [PlannedRecord, ItemOutcome];

/** What the rules say about some items. */
interface Decision {
	/** Records to update, with their ids; several for an item that matches several. */
	updates: PlannedRecord[];
	/** Items without a record, to be created. */
	creates: PlannedRecord[];
	outcomes: Resolved[];
}

/** How many matching records an error names. */
const MATCHES_SHOWN = 5;

/** How many records that match an item matter, by *Multiple Matches*. */
const MATCHES_NEEDED = { error: MATCHES_SHOWN + 1, first: 1, all: Infinity } as const;

const several = ({ key }: PlannedRecord, found: PlatformRecord[]): ItemOutcome => {
	const ids = found.slice(0, MATCHES_SHOWN).map(({ id }) => `'${id}'`);
	// Of many records not all were read.
	const isCut = found.length > MATCHES_SHOWN;
	const count = isCut ? `More than ${MATCHES_SHOWN}` : String(found.length);
	return {
		outcome: 'failed',
		message: `${count} records match ${quoted(key!)}: ${ids.join(', ')}${isCut ? ' and more' : ''}`,
		hint: { code: 'chooseAmongMatches' },
	};
};

/** A key; one of several fields has quotation marks already. */
const quoted = (key: string) => (key.startsWith('"') ? key : `'${key}'`);

const NOT_FOUND = { outcome: 'notFound', hint: { code: 'createIfMissing' } } as const;

const nothingMatches = ({ id, key }: PlannedRecord): ItemOutcome => ({
	...NOT_FOUND,
	id,
	message:
		id === undefined
			? `No record matches ${quoted(key!)}`
			: `The table has no record with the ID '${id}'`,
});

/** The outcome of an item whose record was there when it was matched. */
const deletedMeanwhile = ({ id, key }: PlannedRecord): ItemOutcome => ({
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

/** What the rules say about items without a record. Pure. */
function decideMissing(
	records: PlannedRecord[],
	{ ifMissing }: MatchRules,
	keepsMatches: boolean,
): Decision {
	if (ifMissing === 'create') {
		const creates = records.map((record) => ({
			...record,
			id: undefined,
			matched: keepsMatches ? null : undefined,
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
 * What the rules say about items, given the records that each matches. Pure.
 *
 * @param keepsMatches whether the records are compared with what is sent: they were read for that too
 */
export function decide(
	matches: Map<PlannedRecord, PlatformRecord[]>,
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
				decision.updates.push({ ...record, id: match.id, ...(keepsMatches && { matched: match }) });
		}
	}
	return decision;
}

/**
 * The records that items match; several have the same order as in the table: the oldest first.
 *
 * @param keys the fields to match on; none where the items name their records by id
 * @throws {ServiceError}
 */
async function findMatches(
	client: ApiClient,
	at: TableAddress,
	keys: FieldDefinition[],
	records: PlannedRecord[],
	{ ifFound, multipleMatches }: MatchRules,
	loads: 'sentFields' | 'allFields' | 'keys' = 'keys',
): Promise<Map<PlannedRecord, PlatformRecord[]>> {
	const names = ifFound === 'skip' ? 'allFields' : loads;
	return await lookUp(client, at, keys, records, names, MATCHES_NEEDED[multipleMatches]);
}

/** Called once for each item, with several outcomes where it has several records. */
type OnItemOutcomes = (record: PlannedRecord, outcomes: ItemOutcome[]) => void;

/** Hands the outcomes on, those of an item with several records together. */
class ItemOutcomes {
	private readonly open = new Map<number, { left: number; outcomes: ItemOutcome[] }>();

	constructor(
		/** Whether an item adds something to what is stored. */
		private readonly addsTo: (record: PlannedRecord) => boolean,
		private readonly onOutcomes: OnItemOutcomes,
		/** Takes an item of whose records none is there any more. */
		private readonly onGone: (record: PlannedRecord, outcome: ItemOutcome) => void,
	) {}

	/** Says which records belong to one item, before their outcomes are known. */
	expect(records: PlannedRecord[]) {
		for (const { index } of records) {
			const left = (this.open.get(index)?.left ?? 0) + 1;
			this.open.set(index, { left, outcomes: [] });
		}
	}

	add(record: PlannedRecord, outcome: ItemOutcome) {
		const item = this.open.get(record.index)!;
		item.left -= 1;
		item.outcomes.push(outcome);
		if (item.left > 0) return;
		this.open.delete(record.index);
		this.finish(record, item.outcomes);
	}

	private finish(record: PlannedRecord, all: ItemOutcome[]) {
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
		// To those that were written it would be added again.
		const final = done > 0 && this.addsTo(record) ? asAppended(bad) : bad;
		this.onOutcomes(record, [{ ...final, message }]);
	}
}

/** Two items may have the same key only by chance: then neither says which created record is whose. */
function withoutSharedKeys(records: PlannedRecord[]): PlannedRecord[] {
	const counts = new Map<string | undefined, number>();
	for (const { key } of records) counts.set(key, (counts.get(key) ?? 0) + 1);
	return records.map((record) =>
		counts.get(record.key)! > 1 ? { ...record, key: undefined } : record,
	);
}

/**
 * Groups of several records that may have the same key, because the platform alone knows what some
 * parts of their keys are.
 */
function possiblySame(keys: FieldDefinition[], records: PlannedRecord[]): PlannedRecord[][] {
	if (keys.length === 0 || !records.some(({ hasUncertainKey }) => hasUncertainKey)) return [];
	const keyed = records.map((record) => ({ record, parts: recordKey(keys, record.fields)!.parts }));
	const comparable = keys.flatMap((_, index) =>
		keyed.every(({ parts }) => parts[index]!.isCertain) ? [index] : [],
	);
	const groups = new Map<string, PlannedRecord[]>();
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

/** Takes what comes of matching. */
interface MatchedSink {
	onOutcomes: OnItemOutcomes;
	/**
	 * Called with the records that are to be written, before the first is; what it takes out is a
	 * problem of the plan.
	 */
	prepare?(plan: Plan): Promise<void>;
}

class MatchedWriter {
	private readonly keys: FieldDefinition[];
	private readonly results: ItemOutcomes;
	/** Whether it is kept what the records held when they were matched, and whether that is compared. */
	private readonly keepsMatches: boolean;
	private readonly isCompared: boolean;
	private readonly rules?: FieldRules;
	private readonly fields: ReadonlyMap<string, FieldDefinition>;
	private gone: PlannedRecord[] = [];
	/** Which item created a record, by the record's ID. */
	private readonly created = new Map<string | undefined, number>();
	/** The items of which it is not known whether they were written. */
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
			(record) => isAppending(record, { appendable }),
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
		const isPrepared = (record: PlannedRecord) => prepared.has(record);
		await this.create([...creates.filter(isPrepared), ...(await this.resolveGone(plan))]);
		for (const group of inTurn) await this.writeInTurn(group.filter(isPrepared));
		return this.stopped;
	}

	/**
	 * The records to create, and apart from them those that may be one, as only the platform knows. What
	 * was merged by one form of a key is divided again: each item of such a group comes in its turn.
	 */
	private apart(plan: Plan, missing: PlannedRecord[]) {
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

	/** Writes records that may be one: each is looked up once more after those before it are written. */
	private async writeInTurn(group: PlannedRecord[]) {
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
				const why = `its match values may be those of item ${open.index}, of which it is unknown whether it was written`;
				this.refuse(record, why, undefined, true);
			} else await this.create([record]);
		}
	}

	/**
	 * Writes what was matched once more. What is gone again by then is not created: the platform showed it
	 * twice and does not know it, and it could be doubled.
	 *
	 * @returns the records to create
	 */
	private async writeFound(matches: Map<PlannedRecord, PlatformRecord[]>, plan?: Plan) {
		const { updates, creates, outcomes } = this.decide(matches);
		const merged = plan ? this.mergeUpdates(plan, updates) : updates;
		// What field rules held back may link to records that are yet to be created.
		const writing = [...merged, ...creates];
		const isOpen = plan !== undefined && this.rules !== undefined && !this.stopped;
		const prepared = isOpen ? await this.prepared(plan, writing) : new Set(writing);
		const distinct = merged.filter((record) => prepared.has(record));
		this.begin(distinct, outcomes);
		await this.update(distinct);
		for (const record of this.gone.splice(0)) this.deliver(record, [deletedMeanwhile(record)]);
		return creates.filter((record) => prepared.has(record));
	}

	private refuse(record: PlannedRecord, why: string, field?: string, isRetryable?: boolean) {
		const message = `Item ${record.index} was not sent: ${why}`;
		this.deliver(record, [{ outcome: 'failed', message, field, isRetryable }]);
	}

	/** Those of the records that can be written; the others are failed items. */
	private async prepared(plan: Plan, records: PlannedRecord[]): Promise<Set<PlannedRecord>> {
		const writing: Plan = { ...plan, records, problems: [] };
		await this.sink.prepare?.(writing);
		const byIndex = new Map(records.map((record) => [record.index, record]));
		for (const { index, message, field } of writing.problems) {
			const record = byIndex.get(index);
			if (!record) continue;
			// Once for each item, of however many records.
			byIndex.delete(index);
			this.refuse(record, message, field);
		}
		return new Set(writing.records);
	}

	/**
	 * Looks once more for records that were there when they were matched and then were not: only what
	 * nothing matches any more is created.
	 *
	 * @returns the records to create
	 */
	private async resolveGone(plan: Plan): Promise<PlannedRecord[]> {
		const isById = this.options.matching.on === 'recordId';
		// The ID that it had says nothing more, and its parts nothing of the links that were created since.
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

	/** The records that items match; those that name theirs by id need no look-up to be updated. */
	private async find(records: PlannedRecord[]) {
		const { on, ifFound } = this.options.matching;
		if (on === 'recordId' && ifFound === 'update' && !this.keepsMatches) {
			return new Map(records.map((record) => [record, [{ id: record.id!, fields: {} }]]));
		}
		return await this.lookUp(records);
	}

	/** Reads what is compared later too: a second look-up is not needed then. */
	private async lookUp(records: PlannedRecord[]) {
		const { client, at } = this.target;
		const { matching, mode } = this.options;
		// What a full update clears must be seen too.
		const compared = mode === 'replace' ? 'allFields' : 'sentFields';
		const loads = this.isCompared ? compared : 'keys';
		return await findMatches(client, at, this.keys, records, matching, loads).catch(failureAsValue);
	}

	private get duplicates() {
		return this.options.planning?.duplicates ?? 'merge';
	}

	private decide(matches: Map<PlannedRecord, PlatformRecord[]>): Decision {
		const decision = decide(matches, this.options.matching, this.keepsMatches);
		const { rules, fields } = this;
		if (!rules) return decision;
		const updates = decision.updates.map((record) =>
			applyFieldRules(record, record.matched!, rules, fields),
		);
		return { ...decision, updates };
	}

	/** Two keys may mean the same record: which they mean, only the platform knew. */
	private mergeUpdates(plan: Plan, updates: PlannedRecord[]) {
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
		records: PlannedRecord[],
		mode: WriteMode,
		onOutcome: (record: PlannedRecord, outcome: ItemOutcome) => void,
	) {
		// What is created was looked for already.
		const compares = this.options.skipUnchanged || this.rules !== undefined;
		const skipUnchanged = compares && mode !== 'create';
		const options = { ...this.options, mode, skipUnchanged };
		const { target, lastChangeBefore, session } = this;
		const known = this.stopped ?? lastChangeBefore;
		return await writeMany(target, records, options, known, onOutcome, session);
	}

	private async update(records: PlannedRecord[]) {
		const mode = this.options.mode === 'replace' ? 'replace' : 'update';
		const stop = await this.write(records, mode, (record, outcome) =>
			this.results.add(record, withKept(outcome, record)),
		);
		this.stopped ??= stop;
	}

	/** Creates what is missing. What another writer created meanwhile is found after all. */
	private async create(records: PlannedRecord[]): Promise<void> {
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
			// What stopped the rest was no failure in the end.
			await this.create(unsent.map(([record]) => record));
			return;
		}
		for (const [record, outcome] of unsent) this.deliver(record, [outcome]);
		this.stopped ??= stop;
	}

	/** Notes which records are to be updated; the rules' word on the others is final. */
	private begin(updates: PlannedRecord[], outcomes: Resolved[]) {
		this.results.expect([...updates, ...outcomes.map(([record]) => record)]);
		for (const [record, outcome] of outcomes) {
			if (outcome.outcome === 'notFound') this.deliver(record, [outcome]);
			else this.results.add(record, outcome);
		}
	}

	private deliver(record: PlannedRecord, outcomes: ItemOutcome[]) {
		if (!outcomes.every(isSuccess)) this.isFailed = true;
		for (const { outcome, id } of outcomes) {
			if (outcome === 'inserted') this.created.set(id, record.index);
			if (outcome === 'unknown') this.unknown.add(record.index);
		}
		this.sink.onOutcomes(record, outcomes);
	}
}

/**
 * Finds the record of each planned item, then updates and creates as the rules say.
 *
 * @param plan gets the items that turn out to mean the same record
 * @param lastChangeBefore as `readLastChange` read it; an error stops the run before anything is sent
 * @returns why it stopped before the end, where it did
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
