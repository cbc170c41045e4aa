/**
 * How large batches are and how many requests are under way at once: as large and as many as the
 * service has shown that it can take. Pure: no clock, no network.
 */
import { MAX_PARALLEL } from '../transport/concurrency';
import type { ServiceError } from '../transport/errors';
import { byteSize, type BatchLimits, type PreparedRecord } from './batches';

/**
 * Batch sizes on the way up and down. Round numbers, because the limits of services are: halving
 * from 250 would end at 62 where 100 are allowed.
 */
const BATCH_SIZES = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000];

/** An automatic batch size starts here, or larger where there is enough for all requests at once. */
const FIRST_BATCH_SIZE = 250;

/** Lost responses need not be the fault of the size: they shrink batches no further than this. */
const LEAST_AFTER_LOSS = 25;

/** Batches that take longer than this are large enough. */
const FAST_RESPONSE_MS = 2000;

/** At the start of a run, records are spread over so many requests, until each batch has its full size. */
const FIRST_REQUESTS = 8;

const PAYLOAD_TOO_LARGE = 413;

const stepDown = (size: number) => BATCH_SIZES.findLast((step) => step < size) ?? 1;
const stepUp = (size: number) => BATCH_SIZES.find((step) => step > size) ?? size;

export interface CongestionOptions {
	/** Records in a batch at most; 0: automatic. */
	batchSize: number;
	batchBytes: number;
	/** Requests under way at most; 0: automatic. */
	parallelRequests: number;
	/** Whether the order matters in which requests are applied: then one at a time, if automatic. */
	isOrdered: boolean;
}

/** How many requests may be under way: one after trouble, then one more for each that goes well. */
export class RequestLimit {
	private allowed: number;

	/** @param most 0: automatic */
	constructor(private readonly most = 0) {
		this.allowed = most || MAX_PARALLEL;
	}

	get count(): number {
		return this.allowed;
	}

	confirmed() {
		this.allowed = Math.min(this.most || MAX_PARALLEL, this.allowed + 1);
	}

	/** An attempt failed, whether or not it is repeated. */
	failed({ status, delivery }: ServiceError) {
		if (delivery !== 'rejected' || status === PAYLOAD_TOO_LARGE) this.allowed = 1;
	}
}

/**
 * Congestion control, as TCP has it: a batch that was confirmed whole and fast lets the next ones
 * be larger, trouble makes them smaller for the rest of the run, and leaves one request under way
 * until batches are confirmed again.
 */
export class CongestionControl {
	readonly limits: BatchLimits;
	/** Whether the order matters of what is being sent. */
	isOrdered: boolean;
	/** Whether it decides what is stored: then one at a time, whatever the user chose. */
	isSequential = false;
	/** All requests that write count, those without a batch too. */
	readonly requests: RequestLimit;
	private readonly isAutomatic: boolean;
	private readonly isParallelAutomatic: boolean;
	private readonly maxBatchSize: number;
	/** Batches don't grow beyond this; smaller after trouble. */
	private maxRecords: number;
	/** Whether it is known how a batch fared. */
	private hasSent = false;
	/** The largest batch that was confirmed. */
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

	/** How many requests may be under way. */
	get parallel(): number {
		const isOneByOne = this.isSequential || (this.isOrdered && this.isParallelAutomatic);
		return isOneByOne ? 1 : this.requests.count;
	}

	/**
	 * So many records are to be sent: where the order does not matter and nothing was sent before,
	 * they are spread over several requests.
	 */
	begin(records: number) {
		if (!this.isAutomatic || this.isOrdered || this.hasSent) return;
		const share = Math.ceil(records / Math.min(this.requests.count, FIRST_REQUESTS));
		const size = BATCH_SIZES.find((step) => step >= share) ?? this.maxBatchSize;
		this.limits.records = Math.max(FIRST_BATCH_SIZE, size);
	}

	/** A batch of so many records was confirmed whole, at the first attempt. */
	confirmed(records: number, durationMs: number) {
		this.hasSent = true;
		this.requests.confirmed();
		this.confirmedRecords = Math.max(this.confirmedRecords, records);
		// One that was sent before the size went up says nothing about the size that it has now.
		if (records >= this.limits.records && durationMs < FAST_RESPONSE_MS) {
			this.limits.records = Math.min(this.maxRecords, stepUp(records));
		}
	}

	/** An attempt to send a batch failed, whether or not it is retried. */
	failed(batch: PreparedRecord[], failure: ServiceError) {
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

	private tooLarge(batch: PreparedRecord[]) {
		if (batch.length > 1) {
			this.shrink(stepDown(batch.length));
			return;
		}
		// Then it is its bytes: the other records need not go one by one because of it.
		this.limits.bytes = Math.min(this.limits.bytes, byteSize(batch[0]!));
		this.maxRecords = this.maxBatchSize;
		this.limits.records = Math.max(this.limits.records, this.confirmedRecords);
	}
}
