/** Whether what the node told of a run agrees with what is true. */
import type { LoggedRequest } from '../../support/sandbox.cts';
import type { Evidence, Outcome, Told } from './execute.mts';
import {
	FAULTS,
	faultsOf,
	hasEffect,
	isAmbiguous,
	mayStillCome,
	type FaultName,
} from './faults.mts';
import { Model, sameFields } from './referenceModel.mts';
import { POISON } from './constants.mts';
import { markOf, type Case, type CaseItem } from './schedule.mts';
import { checkStop, checkSummary } from './runChecks.mts';

const SUCCESSES = new Set<Outcome>(['inserted', 'updated', 'unchanged']);

const isWrite = ({ path }: LoggedRequest) => path.endsWith('/data/bulk');

/** Whether its answer tells what became of its items. */
const isTaken = (request: LoggedRequest) => request.status === 200 && !isAmbiguous(request);

/** Fault rules that refuse certain values, and leave all others alone. */
const isChoosy = (name: FaultName) => 'isByValue' in FAULTS[name];

/** A run and all that is known about it. */
export class Trial {
	readonly model: Model;
	readonly writes: LoggedRequest[];
	readonly #carriers = new Map<number, LoggedRequest[]>();
	readonly given: Case;
	readonly evidence: Evidence;

	constructor(given: Case, evidence: Evidence) {
		this.given = given;
		this.evidence = evidence;
		this.model = new Model(given, evidence.before);
		this.writes = evidence.requests.filter(isWrite);
		for (const item of given.items) {
			const id = markOf(item);
			this.#carriers.set(
				item.index,
				this.writes.filter(({ faults }) => faults.includes(id)),
			);
		}
	}

	/** The requests that may have written the item. */
	carriers = ({ index }: CaseItem) => this.#carriers.get(index) ?? [];

	/** Whether requests are given up so soon that a busy machine alone makes them fail. */
	get #isHasty() {
		return this.given.options.timeout < 5;
	}

	/** Whether what went wrong in the run may have kept this item from being written. */
	isExcused(item: CaseItem): boolean {
		if (this.#isHasty) return true;
		const isStopper = (request: LoggedRequest) =>
			hasEffect(request, 'waits', 'ends', 'ambiguous') ||
			request.outcome !== 'completed' ||
			request.status === 403;
		if (this.evidence.requests.some(isStopper)) return true;
		const isPoisoned = item.values.name?.raw === POISON;
		return this.carriers(item)
			.flatMap(faultsOf)
			.some((name) => FAULTS[name].effect !== 'answer' && (!isChoosy(name) || isPoisoned));
	}

	/** Whether nobody could find out what became of the item. */
	isObscure(item: CaseItem): boolean {
		const { mode, isKeyed, settings, marking } = this.given;
		const carriers = this.carriers(item);
		if (this.#isHasty || this.#isSettledLater(item)) return true;
		if (carriers.length === 0) return false;
		// Where items share a mark, any of these may be the last request with this one.
		const isTold = marking === 'each' || mode !== 'create';
		const last = isTold ? carriers.slice(-1) : carriers;
		// A later request that was not taken does not tell what became of the one before it.
		const taken = isTold ? carriers.findLastIndex(isTaken) : -1;
		if (carriers.slice(taken + 1).some(isAmbiguous) || carriers.some(mayStillCome)) return true;
		const isIncomplete =
			last.some((request) => hasEffect(request, 'answer', 'records')) ||
			settings.recordIndex === false;
		const isKeyless =
			mode === 'create' &&
			(!isKeyed || item.values.code === undefined || this.model.namesSame(item).length > 1);
		const isBlind =
			!this.given.canRead ||
			this.evidence.requests.some((request) => !isWrite(request) && faultsOf(request).length > 0);
		const isVague = Object.values(item.values).some((value) => value.isVague);
		return isBlind || (isIncomplete && (isKeyless || isVague));
	}

	/** What is wrong; nothing where all agrees. */
	disagreements(): string[] {
		const { evidence } = this;
		const wrong = [...evidence.misshapen, ...this.#integrity()];
		for (const told of evidence.told) {
			const item = this.given.items[told.index];
			if (!item) continue;
			const found = [...this.#expectation(item, told), ...this.#outcome(item, told)];
			wrong.push(...found.map((text) => `item ${told.index}, told '${told.outcome}': ${text}`));
		}
		if (!this.given.options.dryRun && evidence.told.length > 0) wrong.push(...this.#contents());
		if (evidence.stop) wrong.push(...checkStop(this, evidence.stop));
		if (evidence.summary) wrong.push(...checkSummary(this, evidence.summary));
		return wrong;
	}

	/** What must hold whatever was told. */
	#integrity(): string[] {
		const { before, records, written } = this.evidence;
		const { items, options } = this.given;
		const wrong: string[] = [];
		if (options.dryRun && written.length > 0) wrong.push('a dry run wrote something');
		const sent = items.filter(
			(item) => !this.model.isFlawed(item) && !this.model.superseded.has(item.index),
		);
		const state = new Map(before.map(({ id, fields }) => [id, fields]));
		for (const { id } of before) {
			if (!records.some((record) => record.id === id)) wrong.push(`record ${id} is gone`);
		}
		const left = new Set(sent);
		for (const version of written) {
			const { id, fields, action } = version;
			const previous = state.get(id);
			const isIts = (item: CaseItem) =>
				fields !== null && sameFields(fields, this.model.applied(item, previous));
			const author =
				action === 'inserted'
					? [...left].find(
							(item) => !this.model.target(item) && !this.model.isUpdate && isIts(item),
						)
					: sent.find((item) => this.model.target(item)?.id === id && isIts(item));
			if (author) left.delete(author);
			else wrong.push(`${action} ${id} is no item's: ${JSON.stringify(fields)}`);
			state.set(id, fields ?? {});
		}
		return wrong;
	}

	/** The outcome against what was to be expected, where nothing else can be the cause. */
	#expectation(item: CaseItem, { outcome, message }: Told): string[] {
		const expected = this.model.expected(item);
		if (expected.includes(outcome)) return [];
		const winner = this.given.items[this.model.superseded.get(item.index) ?? -1] ?? item;
		const isExcused = this.isExcused(winner);
		if (outcome === 'unknown' && this.isObscure(winner)) return [];
		if (outcome !== 'unknown' && isExcused) {
			const isTrueAnyhow = SUCCESSES.has(outcome) === expected.some((name) => SUCCESSES.has(name));
			if (outcome === 'failed' || isTrueAnyhow) return [];
		}
		return [`expected ${expected.join(' or ')}; ${message ?? 'no message'}`];
	}

	/** The outcome of an item against the records. */
	#outcome(item: CaseItem, told: Told): string[] {
		const { records, written } = this.evidence;
		const target = this.model.target(item);
		const after = records.find(({ id }) => id === told.id);
		const wrong: string[] = [];
		const isUnsent = /^(Not sent|Item \d+ was not sent)/.test(told.message ?? '');
		const isOneTry = this.given.tries === 1;
		if (isUnsent && isOneTry && this.given.marking === 'each' && this.#isSingular(item)) {
			// Sent and refused with others is as good as not sent: nothing of that batch was written.
			const mayBeTaken = (request: LoggedRequest) => isAmbiguous(request) || isTaken(request);
			if (this.carriers(item).some(mayBeTaken)) wrong.push(`it was sent: ${told.message}`);
		}
		if (this.given.options.dryRun) return wrong;
		if (told.supersededBy !== undefined) {
			return told.supersededBy === this.model.superseded.get(item.index)
				? wrong
				: [...wrong, `superseded by ${told.supersededBy}`];
		}
		if (SUCCESSES.has(told.outcome)) {
			if (told.id === undefined && this.#isOnlyCounted(item, told)) return wrong;
			if (!after) return [...wrong, `there is no record ${told.id}`];
			const now = { ver: after.ver, created: after.created, modified: after.modified };
			const said = {
				ver: told.ver,
				created: instant(told.created),
				modified: instant(told.modified),
			};
			if (!sameFields(now, said)) {
				wrong.push(`it is ${JSON.stringify(now)}, told was ${JSON.stringify(said)}`);
			}
			const first = this.evidence.before.find(({ id }) => id === told.id);
			if (!sameFields(after.fields, this.model.applied(item, first?.fields))) {
				wrong.push(`the record holds ${JSON.stringify(after.fields)}`);
			}
			const isWritten = written.some(({ id }) => id === told.id);
			if (this.#isSettledLater(item)) return wrong;
			if (told.outcome === 'inserted' && first) wrong.push('the record was there before');
			if (told.outcome !== 'inserted' && !first) wrong.push('the record was not there before');
			if (told.outcome === 'updated' && !isWritten) wrong.push('the record was not written');
			if (told.outcome === 'unchanged' && isWritten) wrong.push('the record was written');
			if (target && target.id !== told.id) wrong.push(`it is about ${told.id}`);
		} else if (told.outcome === 'notFound') {
			if (!this.model.isUpdate || target) wrong.push('there is such a record');
		} else if (told.outcome === 'failed' && target && !this.model.isFlawed(item)) {
			if (written.some(({ id }) => id === target.id)) wrong.push('the record was written');
		}
		return wrong;
	}

	/** New records against the items that are told to be inserted, by what they hold. */
	#contents(): string[] {
		const { told, written } = this.evidence;
		const tally = new Map<string, { fresh: number; inserted: Told[]; unknown: number }>();
		const at = (fields: object) => {
			const text = JSON.stringify(Object.entries(fields).sort());
			if (!tally.has(text)) tally.set(text, { fresh: 0, inserted: [], unknown: 0 });
			return tally.get(text)!;
		};
		for (const { action, fields } of written) if (action === 'inserted') at(fields!).fresh += 1;
		for (const entry of told) {
			const item = this.given.items[entry.index];
			if (!item) continue;
			const isFound = SUCCESSES.has(entry.outcome) && entry.supersededBy === undefined;
			const isInserted =
				entry.outcome === 'inserted' ||
				(isFound && this.#isSettledLater(item) && !this.model.target(item));
			if (isInserted) at(this.model.applied(item)).inserted.push(entry);
			if (entry.outcome === 'unknown') at(this.model.applied(item)).unknown += 1;
		}
		const wrong: string[] = [];
		for (const [text, { fresh, inserted, unknown }] of tally) {
			const ids = inserted.flatMap(({ id }) => id ?? []);
			if (new Set(ids).size < ids.length)
				wrong.push(`two items are told to be one record: ${text}`);
			if (fresh < inserted.length || fresh > inserted.length + unknown) {
				wrong.push(
					`${fresh} new records, ${inserted.length} told as inserted and ${unknown} as unknown: ${text}`,
				);
			}
		}
		return wrong;
	}

	/**
	 * Whether a second try of the node found done what an earlier one had left unknown: that the
	 * record holds what was sent is then all that can be told.
	 */
	#isSettledLater(item: CaseItem): boolean {
		const { mode, tries } = this.given;
		return tries > 1 && mode !== 'create' && this.carriers(item).some(isAmbiguous);
	}

	/** Whether the answer counts the item and leaves its record out, so that nobody knows its id. */
	#isOnlyCounted(item: CaseItem, { outcome }: Told): boolean {
		return (
			this.given.mode === 'create' &&
			outcome === 'inserted' &&
			this.carriers(item).some((request) => hasEffect(request, 'answer'))
		);
	}

	/** Whether no other item has the same mark. */
	#isSingular({ index, id, values }: CaseItem): boolean {
		const { mode, items } = this.given;
		return items.every(
			(other) =>
				mode === 'create' ||
				other.index === index ||
				(other.id ?? other.values.code?.raw) !== (id ?? values.code?.raw),
		);
	}
}

const instant = (time: string | undefined) =>
	time === undefined ? undefined : new Date(time).toISOString();
