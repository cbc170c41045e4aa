/** Records that are still to be sent, and how they are cut into requests by count and bytes. */
import { byteSize } from '../entry';
import type { Entry } from '../terms';

export interface BatchLimits {
	records: number;
	bytes: number;
}

/** The records of a run that are still to be sent, in order. */
export class UnsentRecords {
	/** Where those begin that are left. Removing entries from the front would move all others. */
	private first = 0;

	/** @param kindOf the kind of a record; each batch has records of one kind */
	constructor(
		private records: Entry[],
		private readonly kindOf: (record: Entry) => unknown,
	) {}

	get count(): number {
		return this.records.length - this.first;
	}

	/** All that are left, to take from. */
	get all(): Entry[] {
		this.putBack([]);
		return this.records;
	}

	/** Adds records after all others. */
	add(records: Entry[]) {
		this.records = [...this.all, ...records];
	}

	/** Puts records back, before all others. */
	putBack(records: Entry[]) {
		this.records = [...records, ...this.records.slice(this.first)];
		this.first = 0;
	}

	/** Takes all that are left. */
	takeAll(): Entry[] {
		const { all } = this;
		this.records = [];
		return all;
	}

	/**
	 * The next batch; empty after the last. A record larger than the byte limit gets a batch of its
	 * own. No record is in a batch twice: the response would not say which of the two was written.
	 */
	takeBatch(limits: BatchLimits): Entry[] {
		const batch: Entry[] = [];
		const ids = new Set<string>();
		let bytes = 0;
		let kind: unknown;
		while (batch.length < limits.records) {
			const record = this.records[this.first];
			if (!record) break;
			bytes += byteSize(record);
			const { id } = record;
			const kindOfRecord = this.kindOf(record);
			const isOther = kindOfRecord !== kind;
			const isTwice = id !== undefined && ids.has(id);
			if (batch.length > 0 && (bytes > limits.bytes || isOther || isTwice)) break;
			kind = kindOfRecord;
			batch.push(record);
			this.first += 1;
			if (id !== undefined) ids.add(id);
		}
		return batch;
	}
}
