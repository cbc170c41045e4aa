/**
 * Writes records: the scheduler for the queue of work. It decides how large a batch is, how many
 * requests run at once, and when to stop. transitions.ts decides what a response means.
 *
 *     records ─▶ compare all ─▶ send ─▶ outcome
 *                               ▲  │ └─▶ rejected: halves ─▶ send
 *                   not written │  └─▶ unclear, or no response
 *                               └────── reconcile ─▶ outcome
 */
import { METHODS } from '../../api/records';
import { MAX_PAGE_SIZE, paths } from '../../api/endpoints';
import type { DefinedTable, FieldDefinition } from '../../api/types';
import { isForbidden, ServiceError, serviceErrorOrThrow } from '../../transport/errors';
import { forEachConcurrent } from '../../transport/concurrency';
import { changesOf, isAppending, type WriteContext } from '../resolve/compare';
import { CongestionControl, takeBatch } from './congestion';
import { modeOf, toJson } from '../entry';
import { keyFields } from '../../fields/keyFields';
import { withNextStep } from './rejectionHint';
import { afterFailure, isSuccess, notSentItem } from '../outcome';
import { placesIn } from './order';
import { lookUp } from '../resolve/lookup';
import {
	afterCompare,
	afterLookUp,
	afterSend,
	giveUp,
	type ReconcileWork,
	sendAll,
	withAttempt,
	workResult,
	type WorkResult,
	type Work,
} from './transitions';
import { Rejections } from './rejections';
import { asBulk, asSingle, NO_BULK_NOTICE, singleRequest } from './single';
import type { Entry, ItemOutcome, Outcome, Report, Task } from '../terms';

/** Called once for each planned record. */
export type OnOutcome = (record: Entry, outcome: ItemOutcome) => void;

/** Several records to create may have the same key. It then can't show which one is whose. */
function withoutSharedKeys(records: Entry[]): Entry[] {
	const counts = new Map<string | undefined, number>();
	for (const { key } of records) counts.set(key, (counts.get(key) ?? 0) + 1);
	return records.map((record) =>
		counts.get(record.key)! > 1 ? { ...record, key: undefined } : record,
	);
}

/**
 * After this many requests in a row with an unknown outcome, nothing more is sent. Single losses
 * happen. This many in a row mean that the platform isn't accepting writes. The limit is higher than the
 * number of parallel requests.
 */
const MAX_UNKNOWN_IN_A_ROW = 15;

/** Outcomes of records whose previous values an undo needs. */
const MAY_BE_CHANGED = new Set<Outcome>(['updated', 'written', 'unknown']);

/** What the writes of a run share: each learns from those before it. */
export class WriteSession {
	readonly congestion: CongestionControl;
	/** How many requests in a row have an outcome that a look-up could not find. */
	unknownInARow = 0;
	readonly rejections = new Rejections();
	/** Whether each record is written by a request of its own: the platform forbids bulk requests. */
	writesSingly = false;
	/** Why nothing more is sent. What may have been written is still looked up. */
	stopped?: ServiceError;

	constructor(private readonly task: Task) {
		this.congestion = new CongestionControl(task);
	}

	/** Notes what became of a row: after a failure, nothing more may be sent. */
	note(outcome: ItemOutcome) {
		if (this.task.stopAtFailure && !isSuccess(outcome)) this.stopped ??= afterFailure();
	}
}

/** One of the writes of a run, which run one at a time. */
export interface Write {
	target: DefinedTable;
	task: Task;
	session: WriteSession;
}

class BulkWriter {
	/** What is still to be done, in this order. */
	private queue: Work[] = [];
	private readonly underWay = new Set<Promise<void>>();
	private readonly keys: FieldDefinition[];
	private readonly context: WriteContext;

	constructor(
		private readonly target: DefinedTable,
		private readonly task: Task,
		private readonly session: WriteSession,
		private readonly onOutcome: OnOutcome,
	) {
		const { table } = target;
		const { mode, matching, withoutIds } = task;
		const matchOn = Array.isArray(matching?.on) ? matching.on : undefined;
		this.keys = keyFields(table, { matchOn });
		const fields = new Map(table.fields.map((field) => [field.name, field]));
		this.context = { mode, withoutIds, fields };
	}

	/** Whether a request with this record is not repeated if its result is unknown. */
	private readonly isSentOnce = (record: Entry) =>
		this.task.mode === 'create' || isAppending(record, this.context.fields.values());

	/** All records of a batch are of one kind. */
	private readonly kindOf = (record: Entry) =>
		`${modeOf(record, this.task.mode)} ${this.isSentOnce(record)}`;

	/** The records in an order that needs few batches and look-ups. */
	private inFewBatches(records: Entry[]): Entry[] {
		const groups: Entry[][] = [[], [], [], []];
		for (const record of records) {
			groups[(record.before ? 0 : 2) + Number(this.isSentOnce(record))]!.push(record);
		}
		return groups.flat();
	}

	/** Resolves every record. */
	async run(records: Entry[]): Promise<void> {
		const { underWay, task } = this;
		const unsent = task.skipUnchanged || task.dryRun ? await this.compare(records) : records;
		const sent = task.mode === 'create' ? withoutSharedKeys(unsent) : unsent;
		this.queue = sendAll(this.inFewBatches(sent));
		const errors: unknown[] = [];
		for (;;) {
			for (let work = this.startNext(); work; work = this.startNext()) {
				const one: Promise<void> = work
					.then((result) => this.apply(result))
					.catch((error) => void errors.push(error))
					.then(() => void underWay.delete(one));
				underWay.add(one);
			}
			if (underWay.size === 0) return;
			await Promise.race(underWay);
			if (errors.length > 0) throw errors[0];
		}
	}

	/**
	 * Compares records with what is stored, unless the look-up for matching has read it.
	 *
	 * @returns those to send
	 */
	private async compare(records: Entry[]): Promise<Entry[]> {
		const { task, context, session } = this;
		const pages: Entry[][] = [];
		const sorted = this.inFewBatches(records);
		for (let start = 0; start < sorted.length; start += MAX_PAGE_SIZE) {
			pages.push(sorted.slice(start, start + MAX_PAGE_SIZE));
		}
		const unsent: Entry[] = [];
		const limit = () => session.congestion.count;
		await forEachConcurrent(pages, limit, async (page) => {
			if (session.stopped) {
				unsent.push(...page);
				return;
			}
			const unread = page.filter(({ before }) => before === undefined);
			const stored = await this.lookUp(unread);
			const { differing, ...step } = afterCompare(page, stored, context, task.dryRun);
			unsent.push(...differing);
			this.apply(step);
		});
		return unsent;
	}

	/** Starts the next work, if there is any now. */
	private startNext(): Promise<WorkResult> | undefined {
		const { congestion, rejections, writesSingly, stopped } = this.session;
		if (stopped) this.skipUnsent(stopped);
		// One at a time keeps the order of the records.
		const isOrdered = this.task.mode === 'create' && this.task.parallelRequests === 0;
		const isAlone = isOrdered || rejections.probe !== undefined;
		if (this.underWay.size >= (isAlone ? 1 : congestion.count)) return undefined;
		const work = this.queue.shift();
		if (!work || work.kind === 'reconcile') return work && this.reconcile(work);
		const limits = { ...congestion.limits, ...(writesSingly && { records: 1 }) };
		const batch = takeBatch(work.records, limits, this.kindOf);
		this.queue.unshift(...sendAll(work.records));
		return this.send(batch);
	}

	/**
	 * Resolves records that are not sent any more. Those that a previous request may have written are
	 * looked up.
	 */
	private skipUnsent(cause: ServiceError) {
		const work = this.queue;
		this.queue = work.filter(({ kind }) => kind === 'reconcile');
		const records = work.flatMap((piece) => (piece.kind === 'send' ? piece.records : []));
		if (records.length > 0) this.apply(giveUp(records, notSentItem(cause), this.context));
	}

	/** The records as they are stored now, or why they can't be read. */
	private async lookUp(entries: Entry[], areValuesRead = true) {
		const { mode } = this.context;
		// A new record, or one known by its ID, may be among others with the same key.
		const areAllRead = mode === 'create' || entries.some(({ id }) => id !== undefined);
		// All fields are needed to see what a full update clears.
		const withValues = mode === 'replace' ? 'allFields' : 'sentFields';
		const loads = areValuesRead ? withValues : 'keys';
		const enough = areAllRead ? Infinity : 1;
		return await lookUp(this.target, this.keys, entries, { loads, enough }).catch(
			serviceErrorOrThrow,
		);
	}

	private async reconcile(work: ReconcileWork): Promise<WorkResult> {
		const { reports } = work;
		// The platform has compared what it counts without listing it.
		const areValuesRead = reports.some(([, { as }]) => as !== 'omitted');
		const entries = reports.map(([entry]) => entry);
		const step = afterLookUp(work, await this.lookUp(entries, areValuesRead), this.context);
		const isLost = reports.every(([, { as }]) => as === 'lost');
		return { ...step, stop: step.stop ?? (isLost ? this.countUnknown(step, reports) : undefined) };
	}

	/** Returns why to stop if the platform answers reads, but no writes. */
	private countUnknown({ outcomes }: WorkResult, reports: Report[]): ServiceError | undefined {
		const { session } = this;
		const isUnknown = outcomes.every(([, { outcome }]) => outcome === 'unknown');
		session.unknownInARow = isUnknown ? session.unknownInARow + 1 : 0;
		if (session.unknownInARow < MAX_UNKNOWN_IN_A_ROW) return undefined;
		const attempt = reports.at(-1)![0].attempts!.at(-1)!;
		return new ServiceError(
			`${MAX_UNKNOWN_IN_A_ROW} requests in a row may or may not have written their records: ${attempt.message}`,
			{ ...attempt, delivery: 'ambiguous' },
		);
	}

	private async send(records: Entry[]): Promise<WorkResult> {
		const { session } = this;
		const { congestion, rejections } = session;
		const isSingle = session.writesSingly;
		const mode = modeOf(records[0]!, this.task.mode);
		let isFirstAttempt = true;
		const response = await this.target.client.tryRequest({
			...(isSingle ? singleRequest(this.target, records[0]!, mode) : this.bulkRequest(records)),
			retryMode: this.isSentOnce(records[0]!) ? 'notIdempotent' : 'idempotent',
			onRetry: (failure: ServiceError) => {
				isFirstAttempt = false;
				congestion.failed(failure, records);
			},
		});
		if (!isSingle && response instanceof ServiceError) {
			const { rejection } = response;
			// A retry may be what is forbidden: the attempt before it may have been applied.
			if (isForbidden(rejection ?? response)) {
				return this.withoutBulk(withAttempt(records, rejection && response));
			}
		}
		const result = isSingle ? asBulk(records[0]!, response) : response;
		const places = isSingle ? undefined : await placesIn(this.target, records, result, mode);
		const step = afterSend(records, result, this.context, places);
		if (isSingle) step.outcomes = step.outcomes.map(asSingle);
		if (!(result instanceof ServiceError && result.delivery === 'ambiguous')) {
			session.unknownInARow = 0;
		}
		if (step.rejection) step.stop ??= rejections.add(step.rejection, records.length);
		else if (step.outcomes.length > 0) rejections.end();
		if (result instanceof ServiceError) {
			congestion.failed(result, records);
			if (step.work.some(({ kind }) => kind === 'send')) step.stop ??= rejections.divide(result);
		} else if (isFirstAttempt && step.outcomes.length === records.length) congestion.confirmed();
		return step;
	}

	/** Sends records of a forbidden bulk request one by one, at first only one: it may be forbidden, too. */
	private withoutBulk(records: Entry[]): WorkResult {
		const { session, target } = this;
		session.writesSingly = true;
		session.congestion.restart();
		target.client.notices.add(NO_BULK_NOTICE);
		return workResult({ work: sendAll(records) });
	}

	private bulkRequest(records: Entry[]) {
		const mode = modeOf(records[0]!, this.task.mode);
		const { client, at } = this.target;
		const flags = [
			mode === 'upsert' && ',"useUpsert":true',
			client.skipAudit && ',"skipAudit":true',
		];
		return {
			method: METHODS[mode],
			path: paths.bulk(at),
			query: { dataResponseType: 'MetadataOnly' },
			body: `{"bulk":[${records.map(toJson).join(',')}]${flags.filter(Boolean).join('')}}`,
		};
	}

	/** Takes one record out of its batch, to be sent next, if all are rejected in the same way. */
	private addProbe() {
		const { probe } = this.session.rejections;
		if (!probe) return;
		const lists = this.queue.flatMap((piece) => (piece.kind === 'send' ? [piece.records] : []));
		const total = lists.reduce((sum, { length }) => sum + length, 0);
		let position = probe === 'any' ? Math.floor(Math.random() * total) : 0;
		const records = lists.find(({ length }) => (position -= length) < 0);
		if (!records) return;
		const [record] = records.splice(position + records.length, 1);
		this.queue = this.queue.filter((piece) => piece.kind !== 'send' || piece.records.length > 0);
		this.queue.unshift(...sendAll([record!]));
	}

	private apply({ outcomes, work, stop }: WorkResult) {
		const { returnsPrevious } = this.task;
		this.session.stopped ??= stop;
		for (const [record, outcome] of outcomes) {
			const item = withNextStep(outcome, record.fields, this.context);
			const { before, fields } = record;
			const isKnown = returnsPrevious && before && MAY_BE_CHANGED.has(outcome.outcome);
			const previous = isKnown && changesOf(fields, before, this.context).previous;
			this.onOutcome(record, previous ? { ...item, previous } : item);
		}
		this.queue.unshift(...work);
		this.addProbe();
	}
}

/**
 * Writes planned records in batches and resolves each. If the session has stopped, those that were not
 * sent are `failed`.
 *
 * @param onOutcome called once for each record, with its resolved outcome
 */
export async function writeMany(
	{ target, task, session }: Write,
	records: Entry[],
	onOutcome: OnOutcome,
) {
	if (records.length === 0) return;
	await new BulkWriter(target, task, session, onOutcome).run(records);
}
