/**
 * Deletes records one by one, as many at a time as the platform takes; outcomes of those that stay,
 * and how all of them are named.
 */
import { tryDeleteRecord } from '../../api/records';
import type { FieldDefinition, PlatformRecord, TableAt } from '../../api/types';
import { recordKey } from '../../fields/values';
import { forEachConcurrent } from '../../transport/concurrency';
import { problemOf, type ServiceError } from '../../transport/errors';
import { RequestLimit } from '../send/congestion';
import type { ItemOutcome, NamedRecord } from '../terms';

/** The least number of records to delete before reading again which ones still match. */
const RECHECK_EVERY = 20;

/** How many rounds of parallel deletions may rely on one reading. */
const ROUNDS_PER_READING = 5;

/** @param keys the fields that identify a record */
export function namedBy(keys: FieldDefinition[], { id, fields }: PlatformRecord): NamedRecord {
	const key = recordKey(keys, fields);
	return key ? { id, key: key.text } : { id };
}

/** Names of records for a message, sorted. */
export const sortedNames = (records: NamedRecord[]): string[] =>
	records.map(({ id, key }) => key ?? id).sort(new Intl.Collator('en', { numeric: true }).compare);

export class Remover {
	private hasTried = false;

	constructor(
		private readonly table: TableAt,
		private readonly requests = new RequestLimit(),
	) {}

	/** How many records may be deleted before reading again which ones still match. */
	get recheckEvery(): number {
		return Math.max(RECHECK_EVERY, ROUNDS_PER_READING * this.requests.count);
	}

	/**
	 * @param isStopped whether to delete no further record
	 * @param onDone called for each record that was tried, with the failure, if any
	 */
	async removeEach<T extends { id: string }>(
		records: T[],
		isStopped: () => boolean,
		onDone: (record: T, failure: ServiceError | undefined) => Promise<void> | void,
	): Promise<void> {
		const { table, requests } = this;
		const remove = async (record: T) => {
			if (isStopped()) return;
			const onFailure = (failure: ServiceError) => requests.failed(failure);
			const failure = await tryDeleteRecord(table, record.id, onFailure);
			if (failure) requests.failed(failure);
			else requests.confirmed();
			await onDone(record, failure);
		};
		// The first one goes alone: if the platform rejects all alike, one request is enough.
		const alone = this.hasTried ? 0 : 1;
		for (const record of records.slice(0, alone)) await remove(record);
		this.hasTried ||= records.length > 0;
		await forEachConcurrent(records.slice(alone), () => requests.count, remove);
	}
}

/** @param message why it was not tried */
export const notRemoved = ({ id }: PlatformRecord, message: string): ItemOutcome => ({
	outcome: 'failed',
	id,
	message: `The record '${id}' is missing from the input, but was not removed: ${message}`,
	notAttempted: true,
	isRetryable: true,
});

export const failedRemoval = ({ id }: PlatformRecord, error: ServiceError): ItemOutcome => ({
	...problemOf(error),
	outcome: error.delivery === 'ambiguous' ? 'unknown' : 'failed',
	id,
	message: `The record '${id}' is missing from the input, but was not removed: ${error.message}`,
});
