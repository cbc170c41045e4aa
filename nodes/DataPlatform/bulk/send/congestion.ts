/**
 * How large batches are and how many requests run at once: as much as the service has shown it can
 * take. Pure: no clock, no network.
 */
import { MAX_PARALLEL } from '../../transport/concurrency';
import type { ServiceError } from '../../transport/errors';
import type { BatchLimits } from './batches';
import { byteSize } from '../entry';
import type { Entry } from '../terms';

/** How many records a batch has if the user sets no limit. */
export const BATCH_SIZE = 1000;

/** Lost responses shrink batches no further than this: their cause may not be the size. */
const LEAST_AFTER_LOSS = 25;

const PAYLOAD_TOO_LARGE = 413;

const half = (size: number) => Math.ceil(size / 2);

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

	/** The next request goes alone. */
	restart() {
		this.allowed = 1;
	}

	/** An attempt failed, whether or not it is retried. */
	failed({ status, delivery }: ServiceError) {
		if (delivery !== 'rejected' || status === PAYLOAD_TOO_LARGE) this.restart();
	}
}

/**
 * Batches are halved if one is too large, or if its response is lost, and stay so for the rest of
 * the run. Requests then run one at a time until batches are confirmed again.
 */
export class CongestionControl {
	readonly limits: BatchLimits;
	/** Whether the order of the records being sent matters. */
	isOrdered: boolean;
	/** Applies to all requests that write, including those without a batch. */
	readonly requests: RequestLimit;
	private readonly isParallelAutomatic: boolean;
	private readonly maxBatchSize: number;

	constructor({ batchSize, batchBytes, parallelRequests, isOrdered }: CongestionOptions) {
		this.maxBatchSize = batchSize || BATCH_SIZE;
		this.limits = { records: this.maxBatchSize, bytes: batchBytes };
		this.requests = new RequestLimit(parallelRequests);
		this.isParallelAutomatic = parallelRequests === 0;
		this.isOrdered = isOrdered;
	}

	/** How many requests may run at once. */
	get parallel(): number {
		return this.isOrdered && this.isParallelAutomatic ? 1 : this.requests.count;
	}

	/** A whole batch was confirmed at the first attempt. */
	confirmed() {
		this.requests.confirmed();
	}

	/** An attempt to send a batch failed, whether or not it is retried. */
	failed(batch: Entry[], failure: ServiceError) {
		this.requests.failed(failure);
		const { limits } = this;
		if (failure.status === PAYLOAD_TOO_LARGE && batch.length === 1) {
			// The record's bytes are the cause, so the others need not go one by one.
			limits.bytes = Math.min(limits.bytes, byteSize(batch[0]!));
			limits.records = this.maxBatchSize;
		} else if (failure.status === PAYLOAD_TOO_LARGE) {
			limits.records = Math.min(limits.records, half(batch.length));
		} else if (failure.delivery === 'ambiguous') {
			const least = Math.min(LEAST_AFTER_LOSS, limits.records);
			limits.records = Math.min(limits.records, Math.max(least, half(batch.length)));
		}
	}
}
