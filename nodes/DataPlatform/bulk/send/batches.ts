/** Records that are still to be sent, and how they are cut into requests by count and bytes. */
import { byteSize } from '../entry';
import type { Entry } from '../terms';

export interface BatchLimits {
	records: number;
	bytes: number;
}

/** The records of a run that are still to be sent, in order. */
export class UnsentRecords {
	private waiting: Entry[] = [];
	/** Where `waiting` begins. Removing entries from the front of an array would move all others. */
	private first = 0;

	/**
	 * @param source read only as far as batches need it
	 * @param kindOf the kind of a record; each batch has records of one kind
	 */
	constructor(
		private readonly source: IterableIterator<Entry>,
		private readonly kindOf: (record: Entry) => unknown = () => undefined,
	) {}

	/** How many are waiting, apart from those in the source. */
	get waitingCount(): number {
		return this.waiting.length - this.first;
	}

	/** All that are left, to take from. */
	get all(): Entry[] {
		this.waiting = [...this.waiting.slice(this.first), ...this.source];
		this.first = 0;
		return this.waiting;
	}

	/** Adds records after those that are waiting. */
	add(records: Entry[]) {
		for (const record of records) this.waiting.push(record);
	}

	/** Puts records back, before all others. */
	putBack(records: Entry[]) {
		this.waiting = [...records, ...this.waiting.slice(this.first)];
		this.first = 0;
	}

	/** The next record, which stays; undefined after the last. */
	private peek(): Entry | undefined {
		if (this.first === this.waiting.length) {
			const next = this.source.next();
			this.waiting = next.done ? [] : [next.value];
			this.first = 0;
		}
		return this.waiting[this.first];
	}

	/** The next record; undefined after the last. */
	take(): Entry | undefined {
		const record = this.peek();
		if (record) this.first += 1;
		return record;
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
			const record = this.peek();
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
