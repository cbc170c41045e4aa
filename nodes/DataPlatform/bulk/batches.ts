/**
 * Records that are ready to be sent, and how they are cut into requests by count and bytes.
 */
import type { FieldValues, PlatformRecord } from '../api/types';
import type { ServiceError } from '../transport/errors';
import type { PlannedRecord } from './plan';

/** A record ready to be sent, with what is known about previous attempts to write it. */
export interface PreparedRecord {
	record: PlannedRecord;
	/** The values to send. */
	fields: FieldValues;
	/** The record before the write: null if there was none, undefined if it was not looked up. */
	before?: PlatformRecord | null;
	/** Its entry in the request's `bulk` array. */
	json: string;
	/** The previous attempt that may have written it, or may still do so. */
	previousAttempt?: ServiceError;
	/** Whether the service asked to wait. A gateway may ask although the record was written. */
	wasPostponed?: boolean;
	/** Whether it is sent again because a look-up showed that it was not written. */
	isSentAgain?: boolean;
	/** Whether it has a request of its own. The response then contains it, changed or not. */
	isAlone?: boolean;
	/** Whether a previous request of this run inserted it with only some of its fields. */
	isInserted?: boolean;
}

export interface BatchLimits {
	records: number;
	bytes: number;
}

export const prepareRecord = (
	record: PlannedRecord,
	fields: FieldValues = record.fields,
	before?: PlatformRecord | null,
): PreparedRecord => ({
	record,
	fields,
	before,
	json: JSON.stringify({ id: record.id, fields }),
});

/** Whether only the fields that differ from the stored record are sent. */
export const isPartial = ({ before, fields, record }: PreparedRecord) =>
	!!before && fields !== record.fields;

/** How many bytes a record takes in a request's body. */
export const byteSize = ({ json }: PreparedRecord) => Buffer.byteLength(json) + 1;

/** The records of a run that are still to be sent, in order. */
export class UnsentRecords {
	private waiting: PreparedRecord[] = [];
	/** Where `waiting` begins. Removing entries from the front of an array would move all others. */
	private first = 0;

	/**
	 * @param source read only as far as batches need it
	 * @param kindOf the kind of a record; each batch has records of one kind
	 */
	constructor(
		private readonly source: Iterator<PreparedRecord>,
		private readonly kindOf: (record: PreparedRecord) => unknown = () => undefined,
	) {}

	/** How many are waiting, apart from those in the source. */
	get waitingCount(): number {
		return this.waiting.length - this.first;
	}

	/** Adds records after those that are waiting. */
	add(records: PreparedRecord[]) {
		for (const record of records) this.waiting.push(record);
	}

	/** Puts records back, before all others. */
	putBack(records: PreparedRecord[]) {
		this.waiting = [...records, ...this.waiting.slice(this.first)];
		this.first = 0;
	}

	/** The next record; undefined after the last. */
	take(): PreparedRecord | undefined {
		const record = this.waiting[this.first];
		if (record === undefined) {
			const next = this.source.next();
			return next.done ? undefined : next.value;
		}
		this.first += 1;
		if (this.first === this.waiting.length) {
			this.waiting = [];
			this.first = 0;
		}
		return record;
	}

	/**
	 * The next batch; empty after the last. A record larger than the byte limit gets a batch of its
	 * own. No record is in a batch twice: the response would not say which of the two was written.
	 */
	takeBatch(limits: BatchLimits): PreparedRecord[] {
		const batch: PreparedRecord[] = [];
		const ids = new Set<string>();
		let bytes = 0;
		while (batch.length < limits.records) {
			const record = this.take();
			if (record === undefined) break;
			bytes += byteSize(record);
			const isOther = this.kindOf(batch[0] ?? record) !== this.kindOf(record);
			const { id } = record.record;
			const isThere = id !== undefined && ids.has(id);
			if (batch.length > 0 && (bytes > limits.bytes || isOther || isThere)) {
				this.putBack([record]);
				break;
			}
			batch.push(record);
			if (id !== undefined) ids.add(id);
		}
		return batch;
	}
}
