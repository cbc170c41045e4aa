/**
 * How large batches are and how many requests run at once: as much as the service has shown it can
 * take. Pure: no clock, no network.
 */
import { MAX_PARALLEL } from '../../transport/concurrency';
import type { ServiceError } from '../../transport/errors';
import { MIB } from '../../transport/streams';
import { byteSize } from '../entry';
import type { Entry, Task } from '../terms';

/** How many records a batch has if the user sets no limit. */
export const BATCH_SIZE = 1000;

/** How large a batch is at most; a larger record is sent on its own. */
const BATCH_BYTES = 4 * MIB;

/** Lost responses shrink batches no further than this: their cause may not be the size. */
const LEAST_AFTER_LOSS = 25;

const PAYLOAD_TOO_LARGE = 413;

interface BatchLimits {
	records: number;
	bytes: number;
}

/**
 * Takes the next batch from the front of a list. A record larger than the byte limit gets a batch of
 * its own. No record is in a batch twice: the response would not say which of the two was written.
 *
 * @param kindOf the kind of a record; each batch has records of one kind
 */
export function takeBatch(
	records: Entry[],
	limits: BatchLimits,
	kindOf: (record: Entry) => unknown,
): Entry[] {
	const kind = kindOf(records[0]!);
	const ids = new Set<string>();
	let bytes = 0;
	let count = 0;
	for (const record of records) {
		bytes += byteSize(record);
		const { id } = record;
		const isTwice = id !== undefined && ids.has(id);
		const isFull = count === limits.records || bytes > limits.bytes;
		if (count > 0 && (isFull || isTwice || kindOf(record) !== kind)) break;
		if (id !== undefined) ids.add(id);
		count += 1;
	}
	return records.splice(0, count);
}

const half = (size: number) => Math.ceil(size / 2);

/** How many requests may run at once: one after trouble, then one more after each success. */
export class RequestLimit {
	count: number;

	/** @param most 0 for automatic */
	constructor(private readonly most = 0) {
		this.count = most || MAX_PARALLEL;
	}

	confirmed() {
		this.count = Math.min(this.most || MAX_PARALLEL, this.count + 1);
	}

	/** The next request goes alone. */
	restart() {
		this.count = 1;
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
export class CongestionControl extends RequestLimit {
	readonly limits: BatchLimits;
	private readonly maxBatchSize: number;

	constructor(task: Pick<Task, 'batchSize' | 'parallelRequests'>) {
		super(task.parallelRequests);
		this.maxBatchSize = task.batchSize || BATCH_SIZE;
		this.limits = { records: this.maxBatchSize, bytes: BATCH_BYTES };
	}

	/** @param batch what the attempt sent, unless it was no batch */
	override failed(failure: ServiceError, batch: Entry[] = []) {
		super.failed(failure);
		const { limits } = this;
		const { length } = batch;
		if (length === 0) return;
		if (failure.status === PAYLOAD_TOO_LARGE && length === 1) {
			// The record's bytes are the cause, so the others need not go one by one.
			limits.bytes = Math.min(limits.bytes, byteSize(batch[0]!));
			limits.records = this.maxBatchSize;
		} else if (failure.status === PAYLOAD_TOO_LARGE) {
			limits.records = Math.min(limits.records, half(length));
		} else if (failure.delivery === 'ambiguous') {
			const least = Math.min(LEAST_AFTER_LOSS, limits.records);
			limits.records = Math.min(limits.records, Math.max(least, half(length)));
		}
	}
}
