/** Whether the node's results of a run agree with the stored records. */
import type { LoggedRequest, StoredVersion } from '../../../harness/sandboxAdmin.mts';
import type { Evidence, Outcome, ItemResult } from './execute.mts';
import { FAULTS, faultsOf, hasEffect, isAmbiguous, stillPending, type FaultName } from './faults.mts';
import { exactKey, ReferenceModel, sameFields } from './referenceModel.mts';
import { POISON } from './constants.mts';
import { markOf, type Case, type CaseItem } from './schedule.mts';
import { checkStop, checkSummary } from './runChecks.mts';
import type { Fields } from './table.mts';
import { Touched } from './touched.mts';

const SUCCESSES = new Set<Outcome>(['inserted', 'updated', 'unchanged', 'written']);

const isWrite = ({ path }: LoggedRequest) => path.endsWith('/data/bulk');

/** Whether its response shows the outcomes of its items. */
const isConclusive = (request: LoggedRequest) => request.status === 200 && !isAmbiguous(request);

/** Fault rules that reject certain values, and leave all others alone. */
const isByValue = (name: FaultName) => 'isByValue' in FAULTS[name];

/** Whether a fault prevents records from being written. */
const isObstacle = (name: FaultName) => !['response', 'nothing'].includes(FAULTS[name].effect);

/** A run and all that is known about it. */
export class Trial {
	readonly model: ReferenceModel;
	readonly #touched: Touched;
	readonly writes: LoggedRequest[];
	readonly #carriers = new Map<number, LoggedRequest[]>();
	readonly testCase: Case;
	readonly evidence: Evidence;

	constructor(testCase: Case, evidence: Evidence) {
		this.testCase = testCase;
		this.evidence = evidence;
		this.model = new ReferenceModel(testCase, evidence.before);
		this.#touched = new Touched(testCase, evidence);
		this.writes = evidence.requests.filter(isWrite);
		for (const item of testCase.items) {
			const marked = this.#markedBy(item);
			// An update of a matched record only names it by its ID.
			const updates = this.writes.filter(({ method }) => method === 'PATCH');
			const isHidden = marked.length === 0 && testCase.mode === 'upsert' && !this.model.isFlawed(item);
			this.#carriers.set(item.index, isHidden ? updates : marked);
		}
	}

	/** The requests that certainly contained the item. */
	#markedBy(item: CaseItem) {
		const id = markOf(item);
		return this.writes.filter(({ faults }) => faults.includes(id));
	}

	/** The requests that may have written the item. */
	requestsWith = ({ index }: CaseItem) => this.#carriers.get(index) ?? [];

	/** Whether the timeout is so short that a busy machine alone makes requests fail. */
	get #isHasty() {
		return this.testCase.options.timeout < 5;
	}

	/** Whether what went wrong in the run may have prevented this item from being written. */
	failureAllowed(item: CaseItem): boolean {
		if (this.#isHasty) return true;
		const isStopper = (request: LoggedRequest) =>
			hasEffect(request, 'waits', 'ends', 'ambiguous') || request.outcome !== 'completed' || request.status === 403;
		if (this.evidence.requests.some(isStopper)) return true;
		const isPoisoned = this.model.whole(item).values.name?.raw === POISON;
		return this.requestsWith(item)
			.flatMap(faultsOf)
			.some((name) => isObstacle(name) && (!isByValue(name) || isPoisoned));
	}

	/** Whether nobody could find out the outcome of the item. */
	unknownAllowed(item: CaseItem): boolean {
		const { mode, isKeyed, settings, marking } = this.testCase;
		const requestsWith = this.requestsWith(item);
		if (this.#isHasty || this.#isResolvedLater(item)) return true;
		if (requestsWith.length === 0) return false;
		// If items share a mark, any of these may be the last request with this one.
		const isTraceable = item.block === undefined && (marking === 'each' || mode !== 'create');
		const last = isTraceable ? requestsWith.slice(-1) : requestsWith;
		// A later request without a conclusive response says nothing about the previous one.
		const taken = isTraceable ? requestsWith.findLastIndex(isConclusive) : -1;
		// Another writer may have changed what the response leaves out, or deleted what it lists.
		// A rejection that names no item leaves open whose records the response lists.
		const isVagueRejection = settings.recordIndex === false && this.testCase.items.some((other) => this.model.isRefused(other) !== false);
		const isLeftOut = isVagueRejection || last.some((request) => hasEffect(request, 'response', 'records'));
		if (isLeftOut && (this.#touched.hasItem(item) || this.#touched.hasDeletion)) return true;
		// A new record that the list leaves out may have been there before, and so may its values.
		const isOpen = this.#isCut(item) || this.#isStored(item);
		if (mode === 'create' && isVagueRejection && isOpen) return true;
		// A response leaves out what is unchanged.
		if (this.#touched.hasItem(item) && this.model.isIdle(this.model.whole(item))) return true;
		if (requestsWith.slice(taken + 1).some(isAmbiguous) || requestsWith.some(stillPending)) return true;
		// Rejected after a lost attempt, and not there: that attempt may still be applied.
		if (requestsWith.some(isAmbiguous) && !this.#isStored(item)) return true;
		const isIncomplete = last.some((request) => hasEffect(request, 'response', 'records')) || settings.recordIndex === false;
		const isKeyless = mode === 'create' && (!isKeyed || exactKey(item) === undefined || this.model.sameIdentity(item).length > 1);
		const isBlind = !this.testCase.canRead || this.evidence.requests.some((request) => !isWrite(request) && faultsOf(request).length > 0);
		const isVague = this.model.isVague(item);
		return isBlind || (isIncomplete && (isKeyless || isVague));
	}

	/** Whether a record holds all of an item's values. */
	#isStored(item: CaseItem): boolean {
		return this.evidence.records.some(({ fields }) => this.model.holdsSent(item, fields));
	}

	/**
	 * Whether a record that was there before holds what a create sent. If the response was lost, it
	 * can't be told from a new one.
	 */
	hasOlder(item: CaseItem): boolean {
		return (
			this.testCase.mode === 'create' &&
			this.#isUnclear(item) &&
			this.evidence.before.some(({ fields }) => this.model.holdsSent(item, fields))
		);
	}

	/** Whether no response and no look-up may show what became of an item that was written. */
	#isUnclear(item: CaseItem): boolean {
		const { settings, canRead } = this.testCase;
		if (this.#isHasty || !canRead || settings.recordIndex === false) return true;
		return (
			this.requestsWith(item).some((request) => isAmbiguous(request) || hasEffect(request, 'response', 'records')) ||
			this.evidence.requests.some((request) => !isWrite(request) && faultsOf(request).length > 0)
		);
	}

	/** What is wrong; empty if everything agrees. */
	findErrors(): string[] {
		const { evidence } = this;
		const wrong = [...evidence.shapeErrors, ...this.#integrity()];
		for (const result of evidence.results) {
			const item = this.testCase.items[result.index];
			if (!item) continue;
			const found = [...this.#expectation(item, result), ...this.#outcome(item, result)];
			wrong.push(...found.map((text) => `item ${result.index}, reported as '${result.outcome}': ${text}`));
		}
		if (!this.testCase.options.dryRun && evidence.results.length > 0) wrong.push(...this.#contents());
		if (evidence.stop) wrong.push(...checkStop(this, evidence.stop));
		if (evidence.summary) wrong.push(...checkSummary(this, evidence.summary));
		return wrong;
	}

	/** What must be true whatever the outcomes are. */
	#integrity(): string[] {
		const { before, records, written, history } = this.evidence;
		const { items, options } = this.testCase;
		const wrong: string[] = [];
		if (options.dryRun && written.length > 0) wrong.push('a dry run wrote something');
		const sent = items.filter((item) => !this.model.isFlawed(item) && !this.model.merged.has(item.index));
		const state = new Map(before.map(({ id, fields }) => [id, fields]));
		for (const { id } of before) {
			if (this.#touched.hasRecord(id)) continue;
			if (!records.some((record) => record.id === id)) wrong.push(`record ${id} is gone`);
		}
		const left = new Set(sent);
		for (const version of history) {
			const { id, fields, action } = version;
			const previous = state.get(id);
			state.set(id, fields ?? {});
			if (!written.includes(version)) {
				// A lost write of the record that another writer then deleted is sent again, and inserts it.
				const isAgain = (item: CaseItem) => this.model.target(item)?.id === id && this.requestsWith(item).some(isAmbiguous);
				if (action === 'deleted') sent.filter(isAgain).forEach((item) => left.add(item));
				continue;
			}
			const isIts = (item: CaseItem) => fields !== null && this.#touched.fits(item, fields as Fields, previous as Fields);
			const author =
				action === 'inserted'
					? [...left].find((item) => (this.#touched.hasItem(item) || !this.model.target(item)) && !this.model.isUpdate && isIts(item))
					: sent.find((item) => this.#isTarget(item, version) && isIts(item));
			if (author) left.delete(author);
			else wrong.push(`${action} ${id} is no item's: ${JSON.stringify(fields)}`);
		}
		return wrong;
	}

	/**
	 * Whether an item is about the record of a version, with or without the other writer's changes.
	 */
	#isTarget(item: CaseItem, { id, fields }: StoredVersion): boolean {
		// A deleted record is inserted again; a value that was not sent before is in a second write.
		const isAgain = this.model.target(item) !== undefined && this.#touched.hasItem(item);
		if (isAgain && !this.model.isUpdate && this.#touched.hasKey(fields)) return true;
		return [this.model, this.#touched.model].some((model) => model.target(item)?.id === id);
	}

	/** Compares the outcome with the expectation, if nothing else can be the cause. */
	#expectation(item: CaseItem, { outcome, message }: ItemResult): string[] {
		const expected = this.model.expected(item);
		if (this.#touched.hasItem(item)) expected.push(...this.#touched.model.expected(item));
		if (expected.includes(outcome)) return [];
		const winner = this.testCase.items[this.model.merged.get(item.index) ?? -1] ?? item;
		const failureAllowed = this.failureAllowed(winner);
		if (outcome === 'written' && this.#isUnclear(winner)) {
			// After a lost response, nothing shows who made a record that has these values.
			const isHeld = this.evidence.records.some(({ fields }) => this.model.holdsSent(item, fields));
			return isHeld || expected.some((name) => SUCCESSES.has(name)) ? [] : ['it had to be refused'];
		}
		if (outcome === 'unknown' && this.unknownAllowed(winner)) return [];
		if (outcome === 'unchanged' && expected.includes('updated') && this.isUnseen(winner)) return [];
		// It was changed meanwhile, and holds what was sent: nothing shows who changed it.
		const isChanged = this.#touched.hasItem(item) && expected.includes('unchanged');
		if (outcome === 'updated' && isChanged) return [];
		// Left out of the response, and deleted before the look-up: as if it had not been written.
		const isLeftOut = this.requestsWith(winner)
			.slice(-1)
			.some((request) => hasEffect(request, 'response', 'records'));
		if (outcome === 'failed' && isLeftOut && this.#touched.isDeleted(winner)) return [];
		if (outcome !== 'unknown' && failureAllowed) {
			const isTrueAnyhow = SUCCESSES.has(outcome) === expected.some((name) => SUCCESSES.has(name));
			if (outcome === 'failed' || isTrueAnyhow) return [];
		}
		return [`expected ${expected.join(' or ')}; ${message ?? 'no message'}`];
	}

	/** Compares the outcome of an item with the records. */
	#outcome(item: CaseItem, result: ItemResult): string[] {
		const { records, written } = this.evidence;
		const target = this.model.target(item);
		const after = records.find(({ id }) => id === result.id);
		const wrong: string[] = [];
		const isUnsent = /^(Not sent|Item \d+ was not sent)/.test(result.message ?? '');
		const isOneTry = this.testCase.tries === 1;
		if (isUnsent && isOneTry && this.testCase.marking === 'each' && this.#isSingular(item)) {
			// Being sent in a rejected batch is the same as not being sent: nothing of that batch was
			// written.
			const mayBeTaken = (request: LoggedRequest) => isAmbiguous(request) || isConclusive(request);
			// An update of a matched record does not say which items it contains.
			const sent = this.#markedBy(item).filter(mayBeTaken);
			if (sent.length > 0) wrong.push(`it was sent: ${result.message}`);
		}
		if (this.testCase.options.dryRun) return wrong;
		if (result.mergedInto !== undefined) {
			const winner = this.evidence.results.find(({ index }) => index === result.mergedInto);
			if (result.mergedInto !== this.model.merged.get(item.index)) {
				wrong.push(`merged into ${result.mergedInto}`);
			}
			if (winner && (winner.outcome !== result.outcome || winner.id !== result.id)) {
				wrong.push(`merged into ${result.mergedInto}, which is '${winner.outcome}' ${winner.id}`);
			}
			return wrong;
		}
		if (this.#touched.hasItem(item)) {
			const isOpen = this.requestsWith(item).some(isAmbiguous) || this.#isCut(item);
			const isLost = this.#isHasty || isOpen;
			const isUncounted = this.#isUncounted(item);
			const isUnseen = this.isUnseen(item);
			return [...wrong, ...this.#touched.check(item, result, isLost, isUncounted, isUnseen)];
		}
		if (SUCCESSES.has(result.outcome)) {
			if (result.id === undefined && this.#isOnlyCounted(item, result)) return wrong;
			if (!after) return [...wrong, `there is no record ${result.id}`];
			// A key that only the node knows may be that of several records.
			const { mode, isKeyed } = this.testCase;
			if (mode === 'create' && !isKeyed && this.#isCut(item)) return wrong;
			const now = { ver: after.ver, created: after.created, modified: after.modified };
			const said = {
				ver: result.ver,
				created: instant(result.created),
				modified: instant(result.modified),
			};
			if (!sameFields(now, said)) {
				wrong.push(`it is ${JSON.stringify(now)}, reported was ${JSON.stringify(said)}`);
			}
			const first = this.evidence.before.find(({ id }) => id === result.id);
			// A record that a lost create may have made can be an older one, with more values.
			const isHeld =
				result.outcome === 'written' && mode === 'create'
					? this.model.holdsSent(item, after.fields)
					: sameFields(after.fields, this.model.applied(item, first?.fields));
			if (!isHeld) {
				wrong.push(`the record holds ${JSON.stringify(after.fields)}`);
			}
			const isWritten = written.some(({ id }) => id === result.id);
			if (this.#isResolvedLater(item)) return wrong;
			if (result.outcome === 'inserted' && first) wrong.push('the record was there before');
			if (result.outcome === 'written') return wrong;
			if (result.outcome !== 'inserted' && !first) wrong.push('the record was not there before');
			if (result.outcome === 'updated' && !isWritten) wrong.push('the record was not written');
			if (result.outcome === 'unchanged' && isWritten && !this.isUnseen(item)) {
				wrong.push('the record was written');
			}
			if (target && target.id !== result.id) wrong.push(`it is about ${result.id}`);
		} else if (result.outcome === 'found') {
			if (target?.id !== result.id || target?.ver !== result.ver) wrong.push(`it is ${target?.id}`);
			if (written.some(({ id }) => id === result.id)) wrong.push('the record was written');
		} else if (result.outcome === 'notFound') {
			if (target) wrong.push('there is such a record');
		} else if (result.outcome === 'failed' && target && !this.model.isFlawed(item)) {
			if (written.some(({ id }) => id === target.id)) wrong.push('the record was written');
		}
		return wrong;
	}

	/** New records compared with the items reported as inserted, by their values. */
	#contents(): string[] {
		const { results: result, before, written } = this.evidence;
		const tally = new Map<string, { fresh: number; inserted: ItemResult[]; open: number }>();
		const at = (fields: object) => {
			const text = JSON.stringify(Object.entries(fields).sort());
			if (!tally.has(text)) tally.set(text, { fresh: 0, inserted: [], open: 0 });
			return tally.get(text)!;
		};
		for (const { action, fields } of written) {
			// What another writer changed is compared with the history instead.
			if (action === 'inserted' && !this.#touched.hasKey(fields)) at(fields!).fresh += 1;
		}
		for (const entry of result) {
			const item = this.testCase.items[entry.index];
			// A merged item shares the record of the item it is a part of.
			if (!item || this.model.merged.has(entry.index)) continue;
			if (this.#touched.hasItem(item)) continue;
			const isFound = SUCCESSES.has(entry.outcome);
			// After a lost create, nothing tells an equal record that was there before from a new one.
			const isOlder = entry.outcome === 'written' && this.testCase.mode === 'create' && before.some(({ id }) => id === entry.id);
			const isInserted =
				entry.outcome === 'inserted' ||
				(isFound && !isOlder && (entry.outcome === 'written' || this.#isResolvedLater(item)) && !this.model.target(item));
			if (isInserted) at(this.model.applied(item)).inserted.push(entry);
			if (entry.outcome === 'unknown' || isOlder) at(this.model.applied(item)).open += 1;
		}
		const wrong: string[] = [];
		for (const [text, { fresh, inserted, open }] of tally) {
			const ids = inserted.flatMap(({ id }) => id ?? []);
			if (new Set(ids).size < ids.length) wrong.push(`two items are reported as one record: ${text}`);
			if (fresh < inserted.length || fresh > inserted.length + open) {
				wrong.push(`${fresh} new records, ${inserted.length} reported as inserted and ${open} open: ${text}`);
			}
		}
		return wrong;
	}

	/**
	 * Whether a second attempt of the node found a value that a previous one had left unknown: then
	 * it is only known that the record has it.
	 */
	#isResolvedLater(item: CaseItem): boolean {
		const { mode, tries } = this.testCase;
		if (tries === 1 || mode === 'create') return false;
		if (this.#isHasty) return true;
		// The first attempt may also have failed to look up what it had written.
		const isUnread = this.evidence.requests.some((request) => !isWrite(request) && faultsOf(request).length > 0);
		return isUnread || this.requestsWith(item).some(isAmbiguous);
	}

	/**
	 * Whether responses to requests with the item don't list all that they changed, or don't say so.
	 */
	#isUncounted(item: CaseItem): boolean {
		return this.testCase.settings.updatedCount === false || this.#isCut(item);
	}

	/** Whether its change may be missing from a response, and nothing says so. */
	isUnseen(item: CaseItem): boolean {
		return this.testCase.settings.updatedCount === false && this.#isCut(item);
	}

	/** Whether responses to requests with the item have fewer or more records than they should. */
	#isCut(item: CaseItem): boolean {
		return this.requestsWith(item).some((request) => hasEffect(request, 'response'));
	}

	/**
	 * Whether the response counts the item but leaves its record out, so that nobody knows its ID.
	 */
	#isOnlyCounted(item: CaseItem, { outcome }: ItemResult): boolean {
		if (outcome === 'written') return this.testCase.mode === 'upsert' && this.#isUnclear(item);
		return outcome === 'inserted' && this.#isCut(item);
	}

	/**
	 * Whether no other item's mark is in a request with this one, not even as the start of another
	 * mark.
	 */
	#isSingular({ index, id, values, block }: CaseItem): boolean {
		if (block !== undefined) return false;
		const { mode, items } = this.testCase;
		const markedBy = (item: Pick<CaseItem, 'id' | 'values'>) => String(item.id ?? item.values.code?.stored ?? item.values.code?.raw);
		const own = markedBy({ id, values });
		return items.every((other) => mode === 'create' || other.index === index || !markedBy(other).startsWith(own));
	}
}

const instant = (time: string | undefined) => (time === undefined ? undefined : new Date(time).toISOString());
