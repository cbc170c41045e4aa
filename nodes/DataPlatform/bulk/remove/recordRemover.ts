/** Deletes records one by one, as many at a time as the platform takes; and how they are named. */
import { tryDeleteRecord } from '../../api/records';
import type { FieldDefinition, PlatformRecord, TableAt } from '../../api/types';
import { recordKey } from '../../fields/values';
import { forEachConcurrent } from '../../transport/concurrency';
import type { ServiceError } from '../../transport/errors';
import { RequestLimit } from '../send/congestion';
import type { NamedRecord } from '../terms';

/** How many records are deleted on one reading of those that still match. */
export const DELETED_PER_READING = 60;

/** @param keys the fields that identify a record */
export function namedBy(keys: FieldDefinition[], { id, fields }: PlatformRecord): NamedRecord {
	const key = recordKey(keys, fields);
	return key ? { id, key: key.text } : { id };
}

/** Names of records for a message, sorted. */
export const sortedNames = (records: NamedRecord[]): string[] =>
	records.map(({ id, key }) => key ?? id).sort(new Intl.Collator('en', { numeric: true }).compare);

export class Remover {
	private readonly requests = new RequestLimit();

	constructor(private readonly table: TableAt) {
		// The first one goes alone: if the platform rejects all alike, one request is enough.
		this.requests.restart();
	}

	/**
	 * @param isStopped whether to delete no further record
	 * @param onDone called for each record that was tried, with the failure, if any
	 */
	async removeEach(
		records: PlatformRecord[],
		isStopped: () => boolean,
		onDone: (record: PlatformRecord, failure: ServiceError | undefined) => Promise<void> | void,
	): Promise<void> {
		const { table, requests } = this;
		const count = () => requests.count;
		await forEachConcurrent(records, count, async (record) => {
			if (isStopped()) return;
			const onFailure = (failure: ServiceError) => requests.failed(failure);
			const failure = await tryDeleteRecord(table, record.id, onFailure);
			if (failure) requests.failed(failure);
			else requests.confirmed();
			await onDone(record, failure);
		});
	}
}
