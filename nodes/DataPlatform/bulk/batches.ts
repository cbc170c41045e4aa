/**
 * Cuts records into requests, by count and by bytes.
 */
import type { FieldValues, PlatformRecord } from '../api/types';
import type { PlannedRecord } from './plan';

/** A record ready to be sent. */
export interface PreparedRecord {
	record: PlannedRecord;
	/** What is sent of it. */
	fields: FieldValues;
	/** The record before the write: null where there was none, undefined where nobody looked. */
	before?: PlatformRecord | null;
	/** Its entry in the request's `bulk` array. */
	json: string;
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
	json: JSON.stringify(record.id === undefined ? { fields } : { id: record.id, fields }),
});

/**
 * Cuts in order. A record larger than the byte limit goes alone. The limits are read anew for
 * each batch, so they may shrink on the way.
 */
export async function* splitIntoBatches(
	sendables: AsyncIterable<PreparedRecord> | Iterable<PreparedRecord>,
	limits: BatchLimits,
): AsyncGenerator<PreparedRecord[]> {
	let batch: PreparedRecord[] = [];
	let bytes = 0;
	for await (const sendable of sendables) {
		const size = Buffer.byteLength(sendable.json) + 1;
		if (batch.length > 0 && (batch.length >= limits.records || bytes + size > limits.bytes)) {
			yield batch;
			batch = [];
			bytes = 0;
		}
		batch.push(sendable);
		bytes += size;
	}
	if (batch.length > 0) yield batch;
}
