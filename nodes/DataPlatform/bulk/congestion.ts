/**
 * How large batches are and how many requests run at once: as much as the service has shown it can
 * take. Pure: no clock, no network.
 */
import { MAX_PARALLEL } from '../transport/concurrency';
import type { ServiceError } from '../transport/errors';
import type { BatchLimits } from './batches';
import { byteSize, type Entry } from './entry';

/**
 * Batch sizes on the way up and down. They are round because services' limits are: halving 250
 * would end at 62 if 100 are allowed.
 */
const BATCH_SIZES = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000];

/** The first automatic batch size; larger if there are enough records for parallel requests. */
const FIRST_BATCH_SIZE = 250;

/** Lost responses shrink batches no further than this: their cause may not be the size. */
const LEAST_AFTER_LOSS = 25;

/** A batch that takes longer than this is large enough. */
const FAST_RESPONSE_MS = 2000;

/** At the start of a run, records are spread over at most this many parallel requests. */
const FIRST_REQUESTS = 8;

const PAYLOAD_TOO_LARGE = 413;

const stepDown = (size: number) => BATCH_SIZES.findLast((step) => step < size) ?? 1;
const stepUp = (size: number) => BATCH_SIZES.find((step) => step > size) ?? size;

export interface CongestionOptions {
	/** The most records in a batch; 0 for automatic. */
	batchSize: number;
	batchBytes: number;
	/** The most requests at once; 0 for automatic. */
	parallelRequests: number;
	/** Whether the order of requests matters. Automatic then means one at a time. */
	isOrdered: boolean;
}

/** How many requests may run at once: one after trouble, then one more after each success. */
export class RequestLimit {
	private allowed: number;

	/** @param most 0 for automatic */
	constructor(private readonly most = 0) {
		this.allowed = most || MAX_PARALLEL;
	}

	get count(): number {
		return this.allowed;
	}

	confirmed() {
		this.allowed = Math.min(this.most || MAX_PARALLEL, this.allowed + 1);
	}

	/** An attempt failed, whether or not it is retried. */
	failed({ status, delivery }: ServiceError) {
		if (delivery !== 'rejected' || status === PAYLOAD_TOO_LARGE) this.allowed = 1;
	}
}

/**
 * Congestion control as in TCP. After a batch is confirmed whole and fast, the next ones may be
 * larger. After trouble, batches stay smaller for the rest of the run, and requests run one at a
 * time until batches are confirmed again.
 */
export class CongestionControl {
	readonly limits: BatchLimits;
	/** Whether the order of the records being sent matters. */
	isOrdered: boolean;
	/** Whether the order decides what is stored: then one at a time, whatever the user chose. */
	isSequential = false;
	/** Applies to all requests that write, including those without a batch. */
	readonly requests: RequestLimit;
	private readonly isAutomatic: boolean;
	private readonly isParallelAutomatic: boolean;
	private readonly maxBatchSize: number;
	/** Batches don't grow beyond this. It shrinks after trouble. */
	private maxRecords: number;
	/** Whether the result of any batch is known. */
	private hasSent = false;
	/** The size of the largest confirmed batch. */
	private confirmedRecords = 0;

	constructor({ batchSize, batchBytes, parallelRequests, isOrdered }: CongestionOptions) {
		this.isAutomatic = batchSize === 0;
		this.limits = { records: batchSize || FIRST_BATCH_SIZE, bytes: batchBytes };
		this.maxBatchSize = batchSize || BATCH_SIZES.at(-1)!;
		this.maxRecords = this.maxBatchSize;
		this.requests = new RequestLimit(parallelRequests);
		this.isParallelAutomatic = parallelRequests === 0;
		this.isOrdered = isOrdered;
	}

	/** How many requests may run at once. */
	get parallel(): number {
		const isOneByOne = this.isSequential || (this.isOrdered && this.isParallelAutomatic);
		return isOneByOne ? 1 : this.requests.count;
	}

	/** Chooses the first batch size: the records are spread over the parallel requests. */
	begin(records: number) {
		if (!this.isAutomatic || this.hasSent) return;
		const share = Math.ceil(records / Math.min(this.parallel, FIRST_REQUESTS));
		const size = BATCH_SIZES.find((step) => step >= share) ?? this.maxBatchSize;
		this.limits.records = Math.max(FIRST_BATCH_SIZE, size);
	}

	/** A whole batch was confirmed at the first attempt. */
	confirmed(records: number, durationMs: number) {
		this.hasSent = true;
		this.requests.confirmed();
		this.confirmedRecords = Math.max(this.confirmedRecords, records);
		// A batch that was sent before the size went up says nothing about the current size.
		if (records >= this.limits.records && durationMs < FAST_RESPONSE_MS) {
			this.limits.records = Math.min(this.maxRecords, stepUp(records));
		}
	}

	/** An attempt to send a batch failed, whether or not it is retried. */
	failed(batch: Entry[], failure: ServiceError) {
		this.hasSent = true;
		this.requests.failed(failure);
		if (failure.status === PAYLOAD_TOO_LARGE) this.tooLarge(batch);
		else if (failure.delivery === 'ambiguous' && this.isAutomatic) {
			this.shrink(Math.max(LEAST_AFTER_LOSS, stepDown(batch.length)));
		}
	}

	private shrink(records: number) {
		this.maxRecords = Math.min(this.maxRecords, records);
		this.limits.records = Math.min(this.limits.records, this.maxRecords);
	}

	private tooLarge(batch: Entry[]) {
		if (batch.length > 1) {
			this.shrink(stepDown(batch.length));
			return;
		}
		// The record's bytes are the cause, so the others need not go one by one.
		this.limits.bytes = Math.min(this.limits.bytes, byteSize(batch[0]!));
		this.maxRecords = this.maxBatchSize;
		this.limits.records = Math.max(this.limits.records, this.confirmedRecords);
	}
}
