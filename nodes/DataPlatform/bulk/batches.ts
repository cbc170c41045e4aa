/**
 * Records that are ready to be sent, and cutting them into requests by count and by bytes.
 */
import type { FieldValues, PlatformRecord } from '../api/types';
import type { ServiceError } from '../transport/errors';
import type { PlannedRecord } from './plan';

/** A record ready to be sent, with all that is known about earlier attempts to write it. */
export interface PreparedRecord {
	record: PlannedRecord;
	/** What is sent of it. */
	fields: FieldValues;
	/** The record before the write: null where there was none, undefined where nobody looked. */
	before?: PlatformRecord | null;
	/** Its entry in the request's `bulk` array. */
	json: string;
	/** Why an earlier request may have written it already, or may do so yet. */
	previousAttempt?: ServiceError;
	/** Whether the service asked to wait with it: a gateway may do so though it was written. */
	wasPostponed?: boolean;
	/** Whether it is sent once more because a look-up showed that it was not written. */
	isSentAgain?: boolean;
	/** Whether it is written by a request of its own: the response then holds it, changed or not. */
	isAlone?: boolean;
	/** Whether an earlier request of this run, which sent some of its fields only, inserted it. */
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

/** Whether only the fields that differed from the stored record are sent. */
export const isPartial = ({ before, fields, record }: PreparedRecord) =>
	!!before && fields !== record.fields;

/** How many bytes a record takes in a request's body. */
export const byteSize = ({ json }: PreparedRecord) => Buffer.byteLength(json) + 1;

/** The records of a run that are still to be sent, in order. */
export class UnsentRecords {
	private waiting: PreparedRecord[] = [];
	/** Where `waiting` begins: taking from the front of an array would move all the others. */
	private first = 0;

	/**
	 * @param source is read only as far as batches need it
	 * @param kindOf what kind a record is: it goes into batches with others of its kind only
	 */
	constructor(
		private readonly source: Iterator<PreparedRecord>,
		private readonly kindOf: (record: PreparedRecord) => unknown = () => undefined,
	) {}

	/** How many are waiting besides those in the source. */
	get waitingCount(): number {
		return this.waiting.length - this.first;
	}

	/** Adds records behind those that are waiting. */
	add(records: PreparedRecord[]) {
		for (const record of records) this.waiting.push(record);
	}

	/** Puts records back before all others. */
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
	 * The next batch, empty after the last. A record larger than the byte limit goes alone. No record is in
	 * it twice: the response would not say which of both was written.
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
