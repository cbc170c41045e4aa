/** What the input of a sync holds. */
import { IdSet } from '../../api/idSet';
import type { FieldDefinition, PlatformRecord } from '../../api/types';
import { recordKey, type RecordKey } from '../plan/identity';
import type { Entry } from '../terms';

/** A stored record with its key. */
export interface KeyedRecord {
	record: PlatformRecord;
	key?: RecordKey;
}

/** The keys and IDs of the records in the input. */
export class InputRecords {
	private readonly keys = new Set<string>();
	private readonly ids = new IdSet();

	constructor(private readonly fields: FieldDefinition[]) {}

	add({ id, fields }: Pick<Entry, 'id' | 'fields'>) {
		const key = recordKey(this.fields, fields);
		if (key) this.keys.add(key.text);
		this.addId(id);
	}

	addId(id: string | undefined) {
		if (id !== undefined) this.ids.add(id);
	}

	has({ record, key }: KeyedRecord): boolean {
		return this.ids.has(record.id) || (key !== undefined && this.keys.has(key.text));
	}
}
