/**
 * Writing many records: batches go out in order, every item gets an outcome that the service
 * confirmed or a look-up found, and a refused batch is split until the bad record stands alone.
 * Follows design.md section 2.
 */
import { paths, type TableAddress, type TableDefinition } from '../api/contract';
import { ServiceError } from '../transport/errors';
import { readLatestChange, type WriteOptions } from '../api/records';
import type { Answer, Connection } from '../transport/client';
import { readBulkAnswer, type BulkAnswer } from './response';
import { cut, toSendable, type BatchLimits, type Sendable } from './batches';
import { compare } from './diff';
import { Inquiry } from './reconcile';
import { isSuccess, type ItemOutcome } from './outcome';
import { keyField, type PlannedRecord, type WriteMode } from './plan';
import {
	confirmedItem,
	failedItem,
	notSentItem,
	pairByPosition,
	refusedItems,
	type Baseline,
	type Unsaid,
	type WriteContext,
} from './resolve';

export interface WriteManyOptions extends WriteOptions {
	mode: WriteMode;
	/** The import key's name where the table's definition does not mark it. */
	importKey?: string;
	batchSize: number;
	batchBytes: number;
	/** Read the current values first, write only what differs. */
	skipUnchanged: boolean;
	/** Write nothing; tell what would be written. */
	dryRun: boolean;
	/** Send no further batch once an item did not succeed. */
	stopAtFailure: boolean;
}

/** Called once for each planned record. */
export type Settle = (record: PlannedRecord, outcome: ItemOutcome) => void;

/** How many requests an execution may spend on splitting refused batches. */
const MAX_SPLIT_REQUESTS = 1000;

/** How many records are read at a time to compare them. */
const COMPARE_WINDOW = 1000;

/** Refusals of a whole batch that a single record may have caused. */
const SPLITTABLE = new Set([400, 413, 422]);

const TOO_LARGE = 413;

/** Of two doubts the one that a later look can't settle. */
const graver = (one: ServiceError | undefined, other: ServiceError | undefined) =>
	other?.mayStillCome ? other : (one ?? other);

class BulkWriter {
	private baseline: Baseline;
	private splitRequestsLeft = MAX_SPLIT_REQUESTS;
	private stopped?: ServiceError;
	private hasFailure = false;
	private readonly limits: BatchLimits;
	private readonly key?: string;
	private readonly inquiry: Inquiry;
	private readonly fields: WriteContext['fields'];

	constructor(
		private readonly connection: Connection,
		private readonly at: TableAddress,
		table: TableDefinition,
		private readonly options: WriteManyOptions,
		private readonly report: Settle,
	) {
		this.limits = { records: options.batchSize, bytes: options.batchBytes };
		this.key = keyField(table, options.importKey)?.name;
		this.inquiry = new Inquiry(connection, at, options.mode, this.key);
		this.fields = new Map(table.fields.map((field) => [field.name, field]));
	}

	async run(records: PlannedRecord[]): Promise<ServiceError | undefined> {
		if (records.length === 0) return undefined;
		if (!this.options.dryRun) await this.readBaseline();
		const { skipUnchanged, dryRun } = this.options;
		const sendables = skipUnchanged || dryRun ? this.changes(records) : this.everything(records);
		let sent = 0;
		for await (const batch of cut(sendables, this.limits)) {
			await this.write(batch);
			if (this.stopped) continue;
			sent += batch.length;
			this.connection.logger.debug(`Data Platform: ${sent} of ${records.length} records sent`);
			if (this.hasFailure && this.options.stopAtFailure) {
				this.stopped = new ServiceError('an earlier item did not succeed', { certainty: 'unsent' });
			}
		}
		return this.stopped;
	}

	private settle({ record }: Sendable, outcome: ItemOutcome) {
		if (!isSuccess(outcome)) this.hasFailure = true;
		this.report(record, outcome);
	}

	private get context(): WriteContext {
		const { key, fields, baseline } = this;
		return { mode: this.options.mode, key, fields, baseline };
	}

	/** Without it (no right to read) the counts and times of each answer have to do. */
	private async readBaseline() {
		const latest = await readLatestChange(this.connection, this.at).catch(
			(error: ServiceError) => error,
		);
		if (!(latest instanceof Error)) this.baseline = latest ?? 'none';
		else if (latest.certainty !== 'refused' || latest.status === 401) this.stopped = latest;
	}

	private *everything(records: PlannedRecord[]): Generator<Sendable> {
		for (const record of records) yield toSendable(record);
	}

	/** What is left to send after comparing with what is stored. */
	private async *changes(records: PlannedRecord[]): AsyncGenerator<Sendable> {
		for (let start = 0; start < records.length; start += COMPARE_WINDOW) {
			const window = records.slice(start, start + COMPARE_WINDOW);
			const whole = () => window.map((record) => toSendable(record));
			if (this.stopped) {
				this.skip(whole(), this.stopped);
				continue;
			}
			const stored = await this.inquiry.lookUp(window);
			if (stored instanceof ServiceError) {
				this.failAll(whole(), stored);
				this.stopped = stored;
				continue;
			}
			for (const record of window) {
				const before = stored.get(record)?.[0];
				const { change, outcome } = compare(record, before, this.context, this.options.dryRun);
				if (outcome) this.settle(change, outcome);
				else yield change;
			}
		}
	}

	/**
	 * Writes a batch and settles its items; whether the service took all of it.
	 *
	 * @param doubt why an earlier request with these items may have written them already
	 */
	private async write(batch: Sendable[], doubt?: ServiceError): Promise<boolean> {
		if (this.stopped) {
			if (doubt) await this.settleUnsaid(batch, batch, { cause: doubt });
			else this.skip(batch, this.stopped);
			return false;
		}
		const result = await this.send(batch);
		if (!(result instanceof ServiceError)) {
			return await this.settleAnswer(batch, result.body, graver(result.earlier, doubt));
		}
		const earlier = graver(result.earlier, doubt);
		const tells = result.body && readBulkAnswer(result.body, batch.length);
		if (tells && tells.data.length > 0)
			return await this.settleAnswer(batch, result.body!, earlier ?? result);
		if (result.certainty === 'ambiguous') {
			await this.settleUnsaid(batch, batch, { cause: result });
		} else if (result.certainty === 'refused' && SPLITTABLE.has(result.status ?? 0)) {
			await this.isolate(batch, result, tells, earlier);
		} else {
			this.stopped = result;
			if (earlier) await this.settleUnsaid(batch, batch, { cause: earlier });
			else this.failAll(batch, result);
		}
		return false;
	}

	private async send(batch: Sendable[]): Promise<Answer | ServiceError> {
		const { mode, skipAudit } = this.options;
		const flags = `${mode === 'upsert' ? ',"useUpsert":true' : ''}${skipAudit ? ',"skipAudit":true' : ''}`;
		const method = { create: 'POST', upsert: 'POST', update: 'PATCH', replace: 'PUT' } as const;
		return await this.connection.attempt({
			method: method[mode],
			path: paths.bulk(this.at),
			query: { dataResponseType: 'MetadataOnly' },
			body: `{"bulk":[${batch.map(({ json }) => json).join(',')}]${flags}}`,
			repeat: mode === 'create' ? 'onlyWhenUnsent' : 'whenAmbiguous',
		});
	}

	private failAll(batch: Sendable[], error: ServiceError) {
		for (const sendable of batch) this.settle(sendable, failedItem(error));
	}

	/** Settles items that are not sent any more. */
	private skip(batch: Sendable[], stopped: ServiceError) {
		for (const sendable of batch) this.settle(sendable, notSentItem(stopped));
	}

	/** Settles refused items; where an earlier request may have written them, by looking. */
	private async refuse(items: Array<[Sendable, ItemOutcome]>, doubt: ServiceError | undefined) {
		if (doubt) {
			const sendables = items.map(([sendable]) => sendable);
			await this.settleUnsaid(sendables, sendables, { refused: new Map(items), doubt });
		} else for (const [sendable, outcome] of items) this.settle(sendable, outcome);
	}

	/** Splits a refused batch until the bad records stand alone; the good ones are written. */
	private async isolate(
		batch: Sendable[],
		refusal: ServiceError,
		tells: BulkAnswer | undefined,
		doubt: ServiceError | undefined,
	) {
		if (batch.length === 1) {
			await this.refuse([[batch[0]!, failedItem(refusal)]], doubt);
			return;
		}
		if (this.splitRequestsLeft <= 0) {
			const why = `${refusal.message}; it was refused together with other items, and too many batches were refused to find out which item is the cause`;
			const outcome = failedItem(new ServiceError(why, refusal));
			await this.refuse(
				batch.map((sendable) => [sendable, outcome]),
				doubt,
			);
			return;
		}
		this.splitRequestsLeft -= 1;
		const isTooLarge = refusal.status === TOO_LARGE;
		if (tells && tells.failed.size > 0 && tells.failed.size < batch.length && !isTooLarge) {
			await this.refuse(refusedItems(batch, tells), doubt);
			await this.write(
				batch.filter((_, index) => !tells.failed.has(index)),
				doubt,
			);
			return;
		}
		const half = Math.ceil(batch.length / 2);
		const [left, right] = [batch.slice(0, half), batch.slice(half)];
		if (isTooLarge) this.limits.records = Math.min(this.limits.records, half);
		const isLeftGood = await this.write(left, doubt);
		// The cause is then in the right half: it needn't be sent whole to be refused again.
		if (isLeftGood && !isTooLarge && right.length > 1)
			await this.isolate(right, refusal, undefined, doubt);
		else await this.write(right, doubt);
	}

	private async settleAnswer(
		batch: Sendable[],
		body: Record<string, unknown>,
		doubt: ServiceError | undefined,
	): Promise<boolean> {
		const repeated = doubt !== undefined;
		const answer = readBulkAnswer(body, batch.length);
		const rest = batch.filter((_, index) => !answer.failed.has(index));
		await this.refuse(refusedItems(batch, answer), doubt);
		const paired = this.pair(batch, answer);
		for (const { sendable, metadata } of paired) {
			const outcome = confirmedItem(sendable, metadata, this.context, { ...answer, repeated });
			this.settle(sendable, outcome);
		}
		const settled = new Set(paired.map(({ sendable }) => sendable));
		const unsaid = rest.filter((sendable) => !settled.has(sendable));
		if (unsaid.length > 0) await this.settleUnsaid(unsaid, rest, { answer, doubt });
		return answer.failed.size === 0 && unsaid.length === 0;
	}

	/** The items that the answer itself confirms: updates by id, others by position. */
	private pair(batch: Sendable[], answer: BulkAnswer) {
		const { mode } = this.options;
		if (mode === 'create' || mode === 'upsert') return pairByPosition(batch, answer) ?? [];
		const byId = new Map(answer.data.map((metadata) => [metadata.id, metadata]));
		return batch.flatMap((sendable, index) => {
			const metadata = answer.failed.has(index) ? undefined : byId.get(sendable.record.id!);
			return metadata ? [{ sendable, metadata }] : [];
		});
	}

	private async settleUnsaid(items: Sendable[], batch: Sendable[], unsaid: Unsaid) {
		if (items.length === 0) return;
		const { outcomes, failure } = await this.inquiry.findOut(items, batch, unsaid, this.context);
		for (const [sendable, outcome] of outcomes) this.settle(sendable, outcome);
		if (failure && failure.certainty !== 'refused') this.stopped ??= failure;
	}
}

/**
 * Writes planned records in batches and settles each.
 *
 * @param settle called once for each record, with an outcome that is confirmed
 * @returns why it stopped before the end, where it did; the rest is settled as `failed`
 */
export async function writeMany(
	connection: Connection,
	at: TableAddress,
	table: TableDefinition,
	records: PlannedRecord[],
	options: WriteManyOptions,
	settle: Settle,
): Promise<ServiceError | undefined> {
	return await new BulkWriter(connection, at, table, options, settle).run(records);
}
