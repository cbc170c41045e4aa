/**
 * Writing many records: batches go out in order, every item gets an outcome that the service
 * confirmed or a look-up found, and a refused batch is split until the bad record stands alone.
 * Follows design.md section 2.
 */
import { paths } from '../api/endpoints';
import type { TableAddress, TableDefinition } from '../api/types';
import { ServiceError } from '../transport/errors';
import { readLatestChange, type WriteOptions } from '../api/records';
import type { ApiResponse, ApiClient } from '../transport/client';
import { parseBulkResponse, type BulkResponse } from './response';
import { splitIntoBatches, prepareRecord, type BatchLimits, type PreparedRecord } from './batches';
import { diffRecord } from './diff';
import { OutcomeResolver } from './reconcile';
import { isSuccess, type ItemOutcome } from './outcome';
import { keyField, type PlannedRecord, type WriteMode } from './plan';
import {
	confirmedItem,
	failedItem,
	notSentItem,
	pairByPosition,
	refusedItems,
	type Watermark,
	type UnresolvedContext,
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
export type OnOutcome = (record: PlannedRecord, outcome: ItemOutcome) => void;

/** How many requests an execution may spend on splitting refused batches. */
const MAX_SPLIT_REQUESTS = 1000;

/** How many records are read at a time to compare them. */
const COMPARE_WINDOW = 1000;

/** Refusals of a whole batch that a single record may have caused. */
const SPLITTABLE = new Set([400, 413, 422]);

const TOO_LARGE = 413;

/** Of two doubts the one that a later look can't settle. */
const moreUncertain = (one: ServiceError | undefined, other: ServiceError | undefined) =>
	other?.mayStillApply ? other : (one ?? other);

class BulkWriter {
	private watermark: Watermark;
	private splitRequestsLeft = MAX_SPLIT_REQUESTS;
	private stopped?: ServiceError;
	private hasFailure = false;
	private readonly limits: BatchLimits;
	private readonly key?: string;
	private readonly inquiry: OutcomeResolver;
	private readonly fields: WriteContext['fields'];

	constructor(
		private readonly client: ApiClient,
		private readonly at: TableAddress,
		table: TableDefinition,
		private readonly options: WriteManyOptions,
		private readonly report: OnOutcome,
	) {
		this.limits = { records: options.batchSize, bytes: options.batchBytes };
		this.key = keyField(table, options.importKey)?.name;
		this.inquiry = new OutcomeResolver(client, at, options.mode, this.key);
		this.fields = new Map(table.fields.map((field) => [field.name, field]));
	}

	async run(records: PlannedRecord[]): Promise<ServiceError | undefined> {
		if (records.length === 0) return undefined;
		if (!this.options.dryRun) await this.readWatermark();
		const { skipUnchanged, dryRun } = this.options;
		const sendables =
			skipUnchanged || dryRun ? this.changedRecords(records) : this.allRecords(records);
		let sent = 0;
		for await (const batch of splitIntoBatches(sendables, this.limits)) {
			await this.write(batch);
			if (this.stopped) continue;
			sent += batch.length;
			this.client.logger.debug(`Data Platform: ${sent} of ${records.length} records sent`);
			if (this.hasFailure && this.options.stopAtFailure) {
				this.stopped = new ServiceError('an earlier item did not succeed', {
					delivery: 'notApplied',
				});
			}
		}
		return this.stopped;
	}

	private resolve({ record }: PreparedRecord, outcome: ItemOutcome) {
		if (!isSuccess(outcome)) this.hasFailure = true;
		this.report(record, outcome);
	}

	private get context(): WriteContext {
		const { key, fields, watermark } = this;
		return { mode: this.options.mode, key, fields, watermark };
	}

	/** Without it (no right to read) the counts and times of each answer have to do. */
	private async readWatermark() {
		const latest = await readLatestChange(this.client, this.at).catch(
			(error: ServiceError) => error,
		);
		if (!(latest instanceof Error)) this.watermark = latest ?? 'none';
		else if (latest.delivery !== 'rejected' || latest.status === 401) this.stopped = latest;
	}

	private *allRecords(records: PlannedRecord[]): Generator<PreparedRecord> {
		for (const record of records) yield prepareRecord(record);
	}

	/** What is left to send after comparing with what is stored. */
	private async *changedRecords(records: PlannedRecord[]): AsyncGenerator<PreparedRecord> {
		for (let start = 0; start < records.length; start += COMPARE_WINDOW) {
			const window = records.slice(start, start + COMPARE_WINDOW);
			const whole = () => window.map((record) => prepareRecord(record));
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
				const { change, outcome } = diffRecord(record, before, this.context, this.options.dryRun);
				if (outcome) this.resolve(change, outcome);
				else yield change;
			}
		}
	}

	/**
	 * Writes a batch and settles its items; whether the service took all of it.
	 *
	 * @param priorFailure why an earlier request with these items may have written them already
	 */
	private async write(batch: PreparedRecord[], priorFailure?: ServiceError): Promise<boolean> {
		if (this.stopped) {
			if (priorFailure) await this.reconcile(batch, batch, { cause: priorFailure });
			else this.skip(batch, this.stopped);
			return false;
		}
		const result = await this.send(batch);
		if (!(result instanceof ServiceError)) {
			return await this.resolveResponse(
				batch,
				result.body,
				moreUncertain(result.previousAttempt, priorFailure),
			);
		}
		const earlier = moreUncertain(result.previousAttempt, priorFailure);
		const partialResponse = result.body && parseBulkResponse(result.body, batch.length);
		if (partialResponse && partialResponse.data.length > 0)
			return await this.resolveResponse(batch, result.body!, earlier ?? result);
		if (result.delivery === 'ambiguous') {
			await this.reconcile(batch, batch, { cause: result });
		} else if (result.delivery === 'rejected' && SPLITTABLE.has(result.status ?? 0)) {
			await this.bisect(batch, result, partialResponse, earlier);
		} else {
			this.stopped = result;
			if (earlier) await this.reconcile(batch, batch, { cause: earlier });
			else this.failAll(batch, result);
		}
		return false;
	}

	private async send(batch: PreparedRecord[]): Promise<ApiResponse | ServiceError> {
		const { mode, skipAudit } = this.options;
		const flags = `${mode === 'upsert' ? ',"useUpsert":true' : ''}${skipAudit ? ',"skipAudit":true' : ''}`;
		const method = { create: 'POST', upsert: 'POST', update: 'PATCH', replace: 'PUT' } as const;
		return await this.client.tryRequest({
			method: method[mode],
			path: paths.bulk(this.at),
			query: { dataResponseType: 'MetadataOnly' },
			body: `{"bulk":[${batch.map(({ json }) => json).join(',')}]${flags}}`,
			retryMode: mode === 'create' ? 'notIdempotent' : 'idempotent',
		});
	}

	private failAll(batch: PreparedRecord[], error: ServiceError) {
		for (const sendable of batch) this.resolve(sendable, failedItem(error));
	}

	/** Settles items that are not sent any more. */
	private skip(batch: PreparedRecord[], stopped: ServiceError) {
		for (const sendable of batch) this.resolve(sendable, notSentItem(stopped));
	}

	/** Settles refused items; where an earlier request may have written them, by looking. */
	private async refuse(
		items: Array<[PreparedRecord, ItemOutcome]>,
		priorFailure: ServiceError | undefined,
	) {
		if (priorFailure) {
			const sendables = items.map(([sendable]) => sendable);
			await this.reconcile(sendables, sendables, { refused: new Map(items), priorFailure });
		} else for (const [sendable, outcome] of items) this.resolve(sendable, outcome);
	}

	/** Splits a refused batch until the bad records stand alone; the good ones are written. */
	private async bisect(
		batch: PreparedRecord[],
		refusal: ServiceError,
		partialResponse: BulkResponse | undefined,
		priorFailure: ServiceError | undefined,
	) {
		if (batch.length === 1) {
			await this.refuse([[batch[0]!, failedItem(refusal)]], priorFailure);
			return;
		}
		if (this.splitRequestsLeft <= 0) {
			const why = `${refusal.message}; it was refused together with other items, and too many batches were refused to find out which item is the cause`;
			const outcome = failedItem(new ServiceError(why, refusal));
			await this.refuse(
				batch.map((sendable) => [sendable, outcome]),
				priorFailure,
			);
			return;
		}
		this.splitRequestsLeft -= 1;
		const isTooLarge = refusal.status === TOO_LARGE;
		if (
			partialResponse &&
			partialResponse.failed.size > 0 &&
			partialResponse.failed.size < batch.length &&
			!isTooLarge
		) {
			await this.refuse(refusedItems(batch, partialResponse), priorFailure);
			await this.write(
				batch.filter((_, index) => !partialResponse.failed.has(index)),
				priorFailure,
			);
			return;
		}
		const half = Math.ceil(batch.length / 2);
		const [left, right] = [batch.slice(0, half), batch.slice(half)];
		if (isTooLarge) this.limits.records = Math.min(this.limits.records, half);
		const isLeftGood = await this.write(left, priorFailure);
		// The cause is then in the right half: it needn't be sent whole to be refused again.
		if (isLeftGood && !isTooLarge && right.length > 1)
			await this.bisect(right, refusal, undefined, priorFailure);
		else await this.write(right, priorFailure);
	}

	private async resolveResponse(
		batch: PreparedRecord[],
		body: Record<string, unknown>,
		priorFailure: ServiceError | undefined,
	): Promise<boolean> {
		const repeated = priorFailure !== undefined;
		const answer = parseBulkResponse(body, batch.length);
		const rest = batch.filter((_, index) => !answer.failed.has(index));
		await this.refuse(refusedItems(batch, answer), priorFailure);
		const paired = this.pair(batch, answer);
		for (const { sendable, metadata } of paired) {
			const outcome = confirmedItem(sendable, metadata, this.context, { ...answer, repeated });
			this.resolve(sendable, outcome);
		}
		const settled = new Set(paired.map(({ sendable }) => sendable));
		const unreported = rest.filter((sendable) => !settled.has(sendable));
		if (unreported.length > 0) await this.reconcile(unreported, rest, { answer, priorFailure });
		return answer.failed.size === 0 && unreported.length === 0;
	}

	/** The items that the answer itself confirms: updates by id, others by position. */
	private pair(batch: PreparedRecord[], answer: BulkResponse) {
		const { mode } = this.options;
		if (mode === 'create' || mode === 'upsert') return pairByPosition(batch, answer) ?? [];
		const byId = new Map(answer.data.map((metadata) => [metadata.id, metadata]));
		return batch.flatMap((sendable, index) => {
			const metadata = answer.failed.has(index) ? undefined : byId.get(sendable.record.id!);
			return metadata ? [{ sendable, metadata }] : [];
		});
	}

	private async reconcile(
		items: PreparedRecord[],
		batch: PreparedRecord[],
		unreported: UnresolvedContext,
	) {
		if (items.length === 0) return;
		const { outcomes, failure } = await this.inquiry.resolve(
			items,
			batch,
			unreported,
			this.context,
		);
		for (const [sendable, outcome] of outcomes) this.resolve(sendable, outcome);
		if (failure && failure.delivery !== 'rejected') this.stopped ??= failure;
	}
}

/**
 * Writes planned records in batches and settles each.
 *
 * @param resolve called once for each record, with an outcome that is confirmed
 * @returns why it stopped before the end, where it did; the rest is settled as `failed`
 */
export async function writeMany(
	client: ApiClient,
	at: TableAddress,
	table: TableDefinition,
	records: PlannedRecord[],
	options: WriteManyOptions,
	resolve: OnOutcome,
): Promise<ServiceError | undefined> {
	return await new BulkWriter(client, at, table, options, resolve).run(records);
}
