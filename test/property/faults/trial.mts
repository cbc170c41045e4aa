/**
 * Whether the results of a run agree with what the platform stored, and say all that can be known.
 */
import { isDeepStrictEqual } from 'node:util';
import type { LoggedRequest, StoredVersion } from '../../../harness/sandboxAdmin.mts';
import type { ItemResult } from '../matrix/parseResult.mts';
import { foresee, matchesOf, missingFrom, sharers, type Foreseen } from './foreseen.mts';
import { REMOVED_MARK, type Evidence } from './execute.mts';
import { faultsOf, hasEffect } from './faults.mts';
import { isBlind, isMendable, isPending, isWrite, openOf, writesOf } from './requests.mts';
import type { Case, CaseItem } from './schedule.mts';
import { filesIn, messagesIn, OLD_FILE, type Fields } from './table.mts';
import { Rules } from './rules.mts';

/** Why the outcome of an item can't be known. */
export type Reason =
	| 'requests are given up so soon that they may be lost on a busy machine'
	| 'it may still be applied'
	| 'it is not there, but a request of unknown result may still be applied'
	| 'looking it up failed'
	| 'the token may not read'
	| 'nothing tells its record from others'
	| 'another writer changed the record'
	| 'a file of this name was there before'
	| 'files and messages are not compared'
	| 'the response names no item'
	| 'it was written by another key';

type Output = Record<string, unknown>;

const SUCCESSES = ['inserted', 'updated', 'unchanged', 'written'];

const instant = (time: unknown) => new Date(String(time)).toISOString();

/** A state of a record, before or since the run's start. */
interface State {
	id: string;
	ver: number;
	fields: Fields | null;
}

export class Trial {
	readonly testCase: Case;
	readonly evidence: Evidence;
	/** For items with an unknown outcome. */
	readonly reasons: Array<Reason | 'none'> = [];
	readonly #writes: LoggedRequest[][];
	readonly #states: State[];
	readonly #touched: Set<string>;
	readonly rules: Rules;

	constructor(testCase: Case, evidence: Evidence) {
		this.testCase = testCase;
		this.evidence = evidence;
		const { before, history, written } = evidence;
		this.#writes = testCase.items.map((item) => writesOf(evidence, item));
		this.#states = [...before, ...history];
		const own = new Set(written);
		this.#touched = new Set(history.filter((entry) => !own.has(entry)).map(({ id }) => id));
		this.rules = new Rules(testCase, evidence);
	}

	/** What ran. */
	get title(): string {
		return `${this.testCase.operation} by ${this.testCase.matchOn}`;
	}

	/** The requests that may have changed something for an item. */
	writes = ({ index }: CaseItem): LoggedRequest[] => this.#writes[index]!;

	get hasOtherWriter(): boolean {
		return this.#touched.size > 0;
	}

	/** The records that an item refers to, before the run. */
	matches = (item: CaseItem) => matchesOf(this.testCase, item, this.evidence.before);

	/** Whether an item leaves its own text in the record that it writes. */
	#hasMark = ({ stored }: CaseItem) => stored.mark !== undefined;

	/** The versions that the node wrote for an item. */
	versions(item: CaseItem): StoredVersion[] {
		const numbers = new Set(this.writes(item).map(({ number }) => number));
		const ids = new Set(this.matches(item).map(({ id }) => id));
		const isAbout = ({ id, fields }: StoredVersion) => {
			if (item.group !== undefined) return true;
			if (this.#hasMark(item)) return fields?.mark === item.stored.mark;
			return id === item.id || ids.has(id);
		};
		return this.evidence.written.filter((version) => numbers.has(version.request) && isAbout(version));
	}

	/** Whether another writer changed or deleted a record that the item refers to. */
	isTouched(item: CaseItem): boolean {
		const ids = [item.id, ...this.matches(item).map(({ id }) => id)];
		return item.group !== undefined ? this.hasOtherWriter : ids.some((id) => id !== undefined && this.#touched.has(id));
	}

	/** The items that are merged into one record with this one, which is the last. */
	#parts(item: CaseItem): CaseItem[] {
		const isPart = (other: CaseItem) => {
			const result = this.evidence.result.items[other.index];
			return result?.kind === 'done' && result.outputs.some(({ json }) => json.mergedInto === item.index);
		};
		return this.testCase.isFull ? [item] : [...this.testCase.items.filter(isPart), item];
	}

	/** Whether a version has everything that an item writes. */
	holds(item: CaseItem, fields: Fields | null): boolean {
		if (fields === null) return false;
		const parts = this.#parts(item);
		const stored: Fields = Object.assign({}, ...parts.map((part) => part.stored));
		const isSame = Object.entries(stored).every(([name, value]) => this.rules.isRuled(name) || isDeepStrictEqual(fields[name], value));
		const names = filesIn(fields);
		const areFilesThere = parts.every(({ files }, at) => {
			if (!files) return true;
			const isLast = !parts.slice(at + 1).some((part) => part.files);
			if (files.kind === 'list' && isLast) {
				return isDeepStrictEqual([...names].sort(), [...files.names].sort());
			}
			const isReplaced = parts.slice(at + 1).some((part) => part.files?.kind === 'list');
			return isReplaced || files.names.every((name) => names.includes(name));
		});
		const messages = parts.findLast((part) => part.messages)?.messages;
		const areMessagesThere = !messages || this.#holdsMessages(messagesIn(fields), messages);
		const sent = new Set([...Object.keys(stored), ...(parts.some(({ files }) => files) ? ['papers'] : []), ...(messages ? ['talk'] : [])]);
		const isCleared = !this.testCase.isFull || this.testCase.operation !== 'update' || Object.keys(fields).every((name) => sent.has(name));
		return isSame && areFilesThere && areMessagesThere && isCleared;
	}

	/** Whether a version has what an item gives and no later item for the same record does. */
	#holdsRest(item: CaseItem, fields: Fields | null): boolean {
		const later = sharers(this.testCase, item).filter(({ index }) => index > item.index);
		const isLater = (name: string) => later.some(({ stored }) => Object.hasOwn(stored, name));
		return (
			fields !== null &&
			later.length > 0 &&
			Object.entries(item.stored).every(
				([name, value]) => isLater(name) || this.rules.isRuled(name) || isDeepStrictEqual(fields[name], value),
			) &&
			(later.some(({ files }) => files) || (item.files?.names ?? []).every((name) => filesIn(fields).includes(name)))
		);
	}

	/** Messages replace the existing ones, or are added to them. */
	#holdsMessages(stored: string[], sent: string[]): boolean {
		return this.#appendsMessages ? sent.every((text) => stored.includes(text)) : isDeepStrictEqual(stored, sent);
	}

	get #appendsMessages(): boolean {
		return this.testCase.settings.chatWrites === 'append';
	}

	/** Why the outcome of an item can't be known; undefined if it can. */
	reason(item: CaseItem): Reason | undefined {
		const { testCase, evidence } = this;
		const writes = this.writes(item);
		if (testCase.wrongKey && this.versions(item).length > 0) return 'it was written by another key';
		// What a response leaves out is looked up, and what a filter deletes is counted.
		if (writes.length > 0 && isBlind(evidence)) {
			return 'looking it up failed';
		}
		const [first, ...others] = openOf(writes);
		// An item without a mark whose record was deleted is created by a request that nothing traces.
		const isUntraced = !first && !this.#hasMark(item) && this.isTouched(item);
		if (isUntraced && openOf(evidence.requests.filter(isWrite)).length > 0) {
			return 'another writer changed the record';
		}
		if (!first && this.#isVague(item)) return 'the response names no item';
		// A single update got 404, but its record is there, with another writer's values.
		const isDenied = writes.some(({ status, path }) => status === 404 && !path.endsWith('/bulk'));
		// Or its record was deleted before it could be read again.
		const isGone = evidence.requests.some(
			({ method, status, path, number }) =>
				method === 'GET' && status === 404 && path.endsWith(`/${item.id}`) && number > (writes.at(-1)?.number ?? Infinity),
		);
		if (!first && (isDenied || isGone) && this.isTouched(item)) return 'another writer changed the record';
		if (!first) {
			return testCase.isHasty ? 'requests are given up so soon that they may be lost on a busy machine' : undefined;
		}
		const open = [first, ...others];
		const versions = this.versions(item);
		if (!testCase.canRead) return 'the token may not read';
		if (this.isTouched(item)) return 'another writer changed the record';
		const isHeld = evidence.records.some((record) => this.#mayBeOf(item, record.id) && this.holds(item, record.fields));
		const isDone = item.stored.mark === undefined ? versions.length > 0 : isHeld;
		if (open.some((request) => isPending(request, versions, evidence.requests))) return 'it may still be applied';
		if (!isDone) {
			return 'it is not there, but a request of unknown result may still be applied';
		}
		if (this.#isFileHidden(item)) return 'a file of this name was there before';
		const last = writes.at(-1);
		// A response that leaves the item out, or rejects it, confirms nothing.
		const isListed = last?.status === 200 && !hasEffect(last, 'records', 'response');
		const isConfirmed = isListed && openOf([last]).length === 0;
		const adds = [item, ...sharers(testCase, item)].some((one) => one.files || one.messages);
		if (!isConfirmed && adds) return 'files and messages are not compared';
		// No key is unique, so a lost create may not be the record that is found. Nor does one that is created because
		// none has the ID get that ID.
		if (testCase.operation === 'create' || (item.id !== undefined && this.matches(item).length === 0)) {
			return 'nothing tells its record from others';
		}
		return undefined;
	}

	/** Whether a response may leave open which of its items it means. */
	#isVague(item: CaseItem): boolean {
		const { settings, items, operation } = this.testCase;
		const isUnnamed = settings.errorPosition === 'none' && (operation === 'create' || items.some((other) => other.isRefused));
		return isUnnamed || this.writes(item).some((request) => hasEffect(request, 'response', 'records'));
	}

	/** Whether a bulk operation wrote it by a request of its own, as bulk requests were forbidden. */
	#isWrittenSingly(item: CaseItem): boolean {
		// The request of an item without a mark is known by its path.
		const ofRecord = this.evidence.requests.filter((request) => isWrite(request) && request.path.endsWith(`/${item.id}`));
		const writes = [...this.writes(item), ...ofRecord];
		return this.testCase.isBulk && writes.some(({ path, status }) => status === 200 && !path.endsWith('/bulk'));
	}

	#mayBeOf(item: CaseItem, id: string): boolean {
		return item.id === undefined || item.id === id || this.matches(item).length === 0;
	}

	#isFileHidden(item: CaseItem): boolean {
		const there = this.matches(item).flatMap(({ fields }) => filesIn(fields));
		return (item.files?.names ?? []).some((name) => there.includes(name));
	}

	/** What is wrong; empty if everything agrees. */
	findErrors(): string[] {
		const { result } = this.evidence;
		this.reasons.length = 0;
		const wrong = [...result.shapeErrors, ...this.#integrity(), ...this.rules.checkHistory()];
		for (const item of this.testCase.items) {
			const found = this.#checkItem(item, result.items[item.index]!);
			const reported = result.items[item.index]!;
			const text = 'message' in reported ? ` (${reported.message})` : '';
			wrong.push(...found.map((entry) => `item ${item.index}, reported as '${reported.kind}'${text}: ${entry}`));
		}
		wrong.push(...this.#checkStop(), ...this.#checkOthers(), ...this.#checkKey());
		return wrong;
	}

	/** A key that is not the platform's is reported, unless a fault hid that. */
	#checkKey(): string[] {
		const { testCase, evidence } = this;
		const isHidden = testCase.isHasty || !testCase.canRead || evidence.requests.some((request) => faultsOf(request).length > 0);
		const areAllDone = evidence.result.items.every(({ kind }) => kind === 'done');
		return testCase.wrongKey && areAllDone && !isHidden ? [`it took '${testCase.wrongKey}' for the import key`] : [];
	}

	/** What must be true whatever the outcomes are. */
	#integrity(): string[] {
		const { before, records, written } = this.evidence;
		const { items, operation } = this.testCase;
		const wrong = new Set<string>();
		const mayHave = 1 + items.filter(({ files }) => files?.names.includes(OLD_FILE)).length;
		const removed = new Set(this.#removals());
		const attributed = new Set(items.flatMap((item) => this.versions(item)));
		for (const version of written) {
			const { id, fields, action } = version;
			const isOnce = (list: string[], text: string) => list.filter((entry) => entry === text).length <= (text === OLD_FILE ? mayHave : 1);
			for (const list of [filesIn(fields), messagesIn(fields)]) {
				const twice = list.find((text) => !isOnce(list, text));
				if (twice) wrong.add(`record ${id} has '${twice}' more than once: ${list.join(', ')}`);
			}
			const isItems = attributed.has(version) || removed.has(version) || this.#mayBeUnmarked(version);
			if (!isItems) wrong.add(`${action} ${id} is no item's: ${JSON.stringify(fields)}`);
		}
		const isDeletion = ['delete', 'deleteMany'].includes(operation);
		for (const item of items) {
			const made = this.versions(item).filter(({ action }) => action === 'inserted');
			if (made.length > 1 && !this.#isDeletedBetween()) {
				wrong.add(`${made.length} records were made of item ${item.index}`);
			}
			// Without a mark, the requests of two items about one record look alike.
			const isAlone = sharers(this.testCase, item).length === 0;
			if (item.isEmpty && isAlone && this.versions(item).length > 0) {
				wrong.add(`item ${item.index} has no value, and its record was written`);
			}
			if (item.identity === undefined || isDeletion || operation === 'create') continue;
			const count = (list: typeof records) => list.filter((record) => matchesOf(this.testCase, item, [record]).length > 0).length;
			const most = Math.max(1, count(before));
			// An earlier item for the same record may still be created, which nobody can know yet.
			const isOpen =
				operation === 'upsert' &&
				[item, ...sharers(this.testCase, item)].some(({ index }) => this.evidence.result.items[index]?.kind === 'unknown');
			if (count(records) > most && !isOpen) {
				wrong.add(`${count(records)} records match item ${item.index}: ${item.identity}`);
			}
		}
		return [...wrong];
	}

	/** An insert without a mark, or beside another writer, can't be attributed to an item. */
	#mayBeUnmarked({ action, id, fields }: StoredVersion): boolean {
		const isOne = (item: CaseItem) =>
			!this.#hasMark(item) && (action === 'inserted' ? this.holds(item, fields) : this.hasOtherWriter && this.#mayBeOf(item, id));
		// An item keeps the mark of a later one for the same record, which was written before it.
		const isBefore = (item: CaseItem) => action === 'updated' && fields?.mark !== item.stored.mark && this.#holdsRest(item, fields);
		return this.testCase.items.some((item) => isOne(item) || isBefore(item));
	}

	#isDeletedBetween = () => this.evidence.history.some(({ action }) => action === 'deleted');

	/** The versions in which a sync marked or deleted records that are missing from the input. */
	#removals(): StoredVersion[] {
		if (this.testCase.operation !== 'sync') return [];
		return this.evidence.written.filter(({ id, action, fields }) => {
			const was = this.evidence.before.find((record) => record.id === id);
			if (!was || missingFrom(this.testCase, [was]).length === 0) return false;
			return this.testCase.removal.isDelete ? action === 'deleted' : fields?.name === REMOVED_MARK;
		});
	}

	#checkItem(item: CaseItem, result: ItemResult): string[] {
		const foreseen = foresee(this.testCase, item, this.evidence.before);
		if (result.kind === 'notReached') return [];
		if (result.kind === 'done') {
			return result.outputs.flatMap(({ json }) => this.#checkDone(item, json, foreseen));
		}
		const wrong: string[] = [];
		const isExact = isMendable(this.testCase, this.evidence) && !this.hasOtherWriter;
		if (result.kind === 'failed') {
			wrong.push(...this.#checkFailed(item, result.message));
			const isOthersFault = /^(Not sent|Item \d+ was not sent)|an earlier item/.test(result.message);
			if (isExact && !foreseen.mayFail && !isOthersFault && !this.#depends(item)) {
				wrong.push('it had to succeed');
			}
			return wrong;
		}
		const mergedInto = /^Merged into item (\d+)/.exec(result.message)?.[1];
		const winner = mergedInto === undefined ? item : this.testCase.items[Number(mergedInto)]!;
		// One request writes all items for a record.
		const reasons = [winner, ...sharers(this.testCase, winner)].map((one) => this.reason(one));
		const reason = reasons.find(Boolean);
		this.reasons.push(reason ?? 'none');
		// A response without positions names no item, and nothing tells the new records apart.
		const isAlike = this.testCase.operation === 'create' && (!this.testCase.isKeyed || this.#depends(item));
		if (!reason) wrong.push('it can be known');
		else if (
			isExact &&
			this.testCase.canRead &&
			!foreseen.mayFail &&
			!foresee(this.testCase, winner, this.evidence.before).mayFail &&
			!isAlike &&
			reason !== 'files and messages are not compared'
		) {
			wrong.push('it had to succeed');
		}
		return wrong;
	}

	/** Whether the outcome of an item depends on other items for its record. */
	#depends(item: CaseItem): boolean {
		return sharers(this.testCase, item).length > 0;
	}

	#checkFailed(item: CaseItem, message: string): string[] {
		const versions = this.versions(item);
		if (item.group !== undefined) return this.#checkPart(item, message, versions.length);
		// Without a mark, writes of others to its record look like its own.
		if (!this.#hasMark(item) && this.#depends(item)) return [];
		// Nobody can tell whether it was written before another writer deleted or changed it.
		const isGone = !this.evidence.records.some(({ id, ver }) => versions.some((own) => own.id === id && own.ver === ver));
		const isHidden = isGone && this.isTouched(item) && openOf(this.writes(item)).length > 0;
		return versions.length > 0 && !isHidden ? ['the node wrote it'] : [];
	}

	/** An error of Delete Many says how many records were deleted in the last try. */
	#checkPart({ group }: CaseItem, message: string, deleted: number): string[] {
		const isRetried = this.testCase.tries > 1;
		const part = /(at least )?(\d+) of \d+ records? were deleted/.exec(message);
		if (part) {
			const number = Number(part[2]);
			const isLeast = part[1] !== undefined || isRetried;
			// A 404 for a record that is there looks like that of one that a lost request deleted.
			const lies = this.evidence.requests.filter(
				({ method, status, faults }) => method === 'DELETE' && status === 404 && faults.length > 0,
			).length;
			const isTrue = number <= deleted + lies && (isLeast || number >= deleted);
			return isTrue ? [] : [`${deleted} were deleted`];
		}
		if (deleted === 0 || isRetried) return [];
		const left = /(\d+) records? of (\d+) still match/.exec(message);
		if (left && Number(left[2]) - Number(left[1]) === deleted) return [];
		return [`${deleted} of group '${group}' were deleted`];
	}

	#checkDone(item: CaseItem, json: Output, foreseen: Foreseen): string[] {
		const { operation } = this.testCase;
		if (operation === 'deleteMany') return this.#checkCounts(item, json);
		if (operation === 'delete') return this.#checkDeleted(item, json);
		if (operation === 'remove') return this.#checkRemoved(item, json);
		if (typeof json.mergedInto === 'number') return this.#checkMerged(json);
		const isAlone = !this.isTouched(item) && !this.#depends(item);
		const wrong = [...this.#checkRecord(item, json), ...this.rules.checkOutput(item, json, isAlone)];
		const outcome = typeof json.outcome === 'string' ? json.outcome : 'none';
		const isOpen =
			this.testCase.tries > 1 ||
			this.isTouched(item) ||
			this.testCase.isHasty ||
			openOf(this.writes(item)).length > 0 ||
			!this.testCase.canRead ||
			this.#isVague(item) ||
			// The response to a single update does not say whether it changed anything.
			(outcome === 'written' && this.#isWrittenSingly(item)) ||
			// Without the state before the run, the outcome of a record can't be known.
			(outcome === 'none' && isBlind(this.evidence));
		const isSame = foreseen.outcomes.has(outcome);
		const isKind = SUCCESSES.includes(outcome) || outcome === 'none';
		if (!isSame && !this.#depends(item) && !(isOpen && isKind && !foreseen.mayFail)) {
			if (!(this.isTouched(item) || this.hasOtherWriter)) {
				wrong.push(`it says '${outcome}', not ${[...foreseen.outcomes].join(' or ') || 'an error'}`);
			}
		}
		return wrong;
	}

	/** Checks the record of a success: it had the item's values, and the node did what it reports. */
	#checkRecord(item: CaseItem, { id, ver, outcome, created, modified }: Output): string[] {
		const { written, history, before } = this.evidence;
		if (outcome === 'skipped') {
			// Nobody can tell whether it was written before another writer deleted it.
			const isHidden = this.isTouched(item) && openOf(this.writes(item)).length > 0;
			return this.versions(item).length > 0 && !isHidden ? ['it was written'] : [];
		}
		if (id === undefined) {
			// The counts of a response may confirm a record that its list leaves out, and that can't be read, or not any more.
			const isUnread = outcome === 'written' && (!this.testCase.canRead || this.isTouched(item));
			// Nothing but the order of a list may tell the records of an upsert, and only reading them proves that.
			const isUnpaired =
				outcome === 'updated' &&
				(!this.testCase.canRead || isBlind(this.evidence)) &&
				this.writes(item).some(({ method, records }) => method === 'POST' && Number(records) > 1);
			return outcome === 'inserted' || isUnread || isUnpaired ? [] : ['it names no record'];
		}
		const wrong: string[] = [];
		const state = this.#states.find((entry) => entry.id === id && entry.ver === ver && entry.fields);
		if (!state) return [`record ${String(id)} never was ${String(ver)}`];
		const own = written.filter((version) => version.id === id);
		if (outcome === 'found') return this.versions(item).length > 0 ? ['it was written'] : [];
		// Items for the same record write it one after the other: a look-up shows the last of them.
		const states = this.#depends(item) ? this.#states.filter((entry) => entry.id === id) : [state];
		const isHeld = states.some(({ fields }) => this.holds(item, fields));
		// What another writer has added since comes on top of the files that replaced all others.
		const isBeside = this.isTouched(item) && own.some(({ fields }) => this.holds(item, fields));
		const isRest = states.some(({ fields }) => this.#holdsRest(item, fields));
		if (!isHeld && !isBeside && !isRest && !this.#isUnsent(item, id)) {
			wrong.push(`version ${String(ver)} does not hold it: ${JSON.stringify(state.fields)}`);
		}
		const is = this.evidence.records.find((record) => record.id === id);
		if (is && is.ver === ver && created !== undefined) {
			const times = [instant(created), instant(modified)];
			if (!isDeepStrictEqual(times, [is.created, is.modified])) wrong.push('other times are said');
		}
		const isInserted = own.some(({ action }) => action === 'inserted');
		const isUpdated = own.some(({ action }) => action === 'updated');
		const wasThere = before.some((record) => record.id === id);
		if (outcome === 'inserted' && !isInserted) wrong.push('the node did not insert it');
		if (outcome === 'updated' && isInserted && !isUpdated) wrong.push('the node inserted it');
		const mayBeOthers =
			history.some((entry) => entry.id === id && !own.includes(entry)) &&
			(openOf(this.writes(item)).length > 0 || this.testCase.settings.updatedCount === false);
		if (outcome === 'updated' && own.length === 0 && !mayBeOthers) {
			wrong.push('the node did not write it');
		}
		const isLater = this.testCase.tries > 1;
		const isOwn = this.#hasMark(item) || !this.#depends(item);
		// A list that leaves out a change, beside a response that does not count changes, can't be noticed.
		const isUnseen = this.testCase.settings.updatedCount === false && this.writes(item).some((request) => hasEffect(request, 'response'));
		if (outcome === 'unchanged' && !isLater && !isUnseen && isOwn && this.versions(item).length > 0) {
			wrong.push(wasThere ? 'the node updated it' : 'the node inserted it');
		}
		return wrong;
	}

	/** With Skip Unchanged or field rules, what the record held when it was read is not sent, so another writer's stays. */
	#isUnsent(item: CaseItem, id: unknown): boolean {
		const isCompared = this.testCase.options.skipUnchanged || this.rules.areAny;
		if (!isCompared || !this.isTouched(item)) return false;
		const states = this.#states.filter((entry) => entry.id === id);
		return Object.entries(item.stored).every(
			([name, value]) => this.rules.isRuled(name) || states.some(({ fields }) => isDeepStrictEqual(fields?.[name], value)),
		);
	}

	#checkMerged(json: Output): string[] {
		const winner = this.evidence.result.items[Number(json.mergedInto)];
		if (winner?.kind !== 'done') return [`merged into item ${String(json.mergedInto)}, which failed`];
		const isSame = winner.outputs.some((output) => output.json.outcome === json.outcome && output.json.id === json.id);
		return isSame ? [] : [`merged into item ${String(json.mergedInto)}, which says something else`];
	}

	#checkDeleted(item: CaseItem, json: Output): string[] {
		const wrong: string[] = [];
		if (json.id !== item.id) wrong.push(`it names ${String(json.id)}`);
		const isOwn = this.versions(item).some(({ action }) => action === 'deleted');
		// If a response was lost, a later 404 shows neither who deleted the record, nor that it
		// existed.
		const isOpen = this.testCase.isHasty || openOf(this.writes(item)).length > 0;
		const isThere = this.evidence.records.some(({ id }) => id === item.id);
		// The platform itself reports that it is gone.
		const isLie = isOpen && this.writes(item).some(({ status }) => status === 404);
		if ((isThere && !isLie) || !(isOwn || isOpen)) wrong.push('the node did not delete it');
		return wrong;
	}

	#checkRemoved(item: CaseItem, { id, remaining }: Output): string[] {
		const state = this.#states.filter((entry) => entry.id === item.id && entry.fields).at(-1);
		const count = filesIn(state?.fields ?? null).length;
		if (id !== item.id) return [`it names ${String(id)}`];
		const isTrue = remaining === count || this.isTouched(item);
		return isTrue ? [] : [`${count} files remain, not ${String(remaining)}`];
	}

	#checkCounts(item: CaseItem, { matched, deletedCount, remaining, attempt }: Output): string[] {
		const deleted = this.versions(item).length;
		const wrong: string[] = [];
		// The platform itself reports that a record is gone, after an ambiguous attempt.
		const writes = this.writes(item);
		if (openOf(writes).length > 0 && writes.some(({ status }) => status === 404)) return [];
		const slack = this.hasOtherWriter ? 1 : 0;
		// Only the last try is counted. The counts tell nothing of what other writers added or deleted.
		const own = new Set(this.evidence.written);
		const theirs = this.evidence.history.filter((version) => !own.has(version));
		const actions = new Set(theirs.map(({ action }) => action));
		const least = attempt !== undefined || actions.has('inserted') ? 0 : deleted;
		const most = deleted + (actions.has('deleted') ? slack : 0);
		const count = Number(deletedCount);
		if (count < least || count > most) {
			wrong.push(`${deleted} were deleted, not ${String(deletedCount)}`);
		}
		if (count > Number(matched)) wrong.push('more than matched were deleted');
		const left = this.evidence.records.filter(({ fields }) => fields.group === item.group).length;
		// What is deleted after the count was still there when it was counted.
		const isLate = ({ faults }: LoggedRequest) => faults.some((name) => name.startsWith('late'));
		const late = writes.filter(isLate).length;
		const difference = Number(remaining) - left;
		if (difference < -slack || difference > slack + late) wrong.push(`${left} remain`);
		return wrong;
	}

	/** The error that stopped a run says how many items are done. */
	#checkStop(): string[] {
		const { stop } = this.evidence.result;
		const { items, isBulk, tries, operation } = this.testCase;
		if (!stop || operation === 'deleteMany') return this.#checkMaximum();
		const named = stop.item;
		const isWritten = (item: CaseItem) => this.#parts(item).some((part) => this.versions(part).length > 0);
		const mayBeDone = (item: CaseItem) =>
			isWritten(item) ||
			!this.#hasMark(item) ||
			this.#depends(item) ||
			// Skipped, if its record is gone since.
			(this.testCase.matching.ifMissing === 'skip' && this.#isDeletedBetween()) ||
			['found', 'skipped'].some((name) => foresee(this.testCase, item, this.evidence.before).outcomes.has(name));
		const wrong: string[] = [];
		const most = items.filter(mayBeDone).length;
		if (stop.done > most) wrong.push(`${most} items are done at most, reported were ${stop.done}`);
		const isClear = (item: CaseItem) =>
			!this.testCase.isHasty &&
			!this.testCase.wrongKey &&
			item.index !== named &&
			openOf(this.writes(item)).length === 0 &&
			!this.#isVague(item) &&
			isWritten(item);
		const least = items.filter((item) => isClear(item) && this.#hasMark(item)).length;
		const areShared = items.some((item) => this.#depends(item));
		if (stop.done < least && !areShared && (isBulk || tries === 1)) {
			wrong.push(`${least} items are done at least, reported were ${stop.done}`);
		}
		const gap = items.slice(0, stop.through + 1).find((item) => !mayBeDone(item));
		if (gap) wrong.push(`item ${gap.index} is not done, reported was ${stop.through}`);
		return wrong.map((text) => `stopped with '${stop.message}': ${text}`);
	}

	/** Delete Many never deletes more than it may in one try. */
	#checkMaximum(): string[] {
		if (this.testCase.operation !== 'deleteMany') return [];
		return this.testCase.items.flatMap((item) => {
			const deleted = this.versions(item).length;
			const maximum = this.testCase.removal.maximum * this.testCase.tries;
			return deleted > maximum ? [`${deleted} were deleted, at most ${maximum} may be`] : [];
		});
	}

	/** What a sync reports about the records that were missing from its input. */
	#checkOthers(): string[] {
		const { result, before, records } = this.evidence;
		const { operation, removal } = this.testCase;
		if (operation !== 'sync') return result.others.length > 0 ? ['more output'] : [];
		const removed = new Set(this.#removals().map(({ id }) => id));
		return result.others.flatMap(({ id = '', outcome }) => {
			const was = before.find((record) => record.id === id);
			const text = `record ${id}, reported as '${outcome}'`;
			if (!was) return [`${text}, was never there`];
			if (this.#touched.has(id)) return [];
			const isGone = removal.isDelete
				? !records.some((record) => record.id === id)
				: records.find((record) => record.id === id)?.fields.name === REMOVED_MARK;
			const isClaimed = outcome === 'deleted' || outcome === 'marked';
			if (isClaimed && !isGone) return [`${text}, is there`];
			if (outcome === 'failed' && removed.has(id)) return [`${text}, was removed`];
			if (outcome !== 'unknown') return [];
			const reason = this.#reasonOfRemoval(id, isGone);
			this.reasons.push(reason ?? 'none');
			return reason ? [] : [`${text}, can be known`];
		});
	}

	#reasonOfRemoval(id: string, isGone: boolean): Reason | undefined {
		const { requests } = this.evidence;
		const writes = requests.filter(
			({ method, path }) =>
				(method === 'DELETE' && path.endsWith(id)) || (!this.testCase.removal.isDelete && method === 'PATCH' && path.endsWith('/bulk')),
		);
		const open = openOf(writes);
		const versions = this.evidence.written.filter((version) => version.id === id);
		// Also what a response leaves out is looked up.
		if (writes.length > 0 && isBlind(this.evidence)) return 'looking it up failed';
		if (!open[0]) return undefined;
		if (open.some((request) => isPending(request, versions, requests))) return 'it may still be applied';
		return !isGone ? 'it is not there, but a request of unknown result may still be applied' : undefined;
	}
}
