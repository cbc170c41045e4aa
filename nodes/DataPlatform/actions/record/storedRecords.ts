/**
 * The records of a run as they are stored, for its output. They are read after the write, so a
 * failure here changes no outcome.
 */
import type { IDataObject } from 'n8n-workflow';

import { MAX_PAGE_SIZE } from '../../api/endpoints';
import type { PlatformRecord, TableDefinition } from '../../api/types';
import type { WritePipeline } from '../../bulk/pipeline';
import { holdsData, isWritable } from '../../fields';
import { forEachConcurrent } from '../../transport/concurrency';
import { ServiceError, serviceErrorOrThrow } from '../../transport/errors';
import { getOwn } from '../../transport/json';
import { toOutput } from './itemOutput';
import type { Entry, ItemOutcome } from '../../bulk/terms';

/** An item whose record is written. */
export interface WrittenItem {
	index: number;
	outcome: ItemOutcome;
	record: Entry;
}

const PARALLEL_LOOKUPS = 4;

/** True for `skipped`, which has no record, and for an outcome that already has the stored one. */
const needsNone = ({ outcome, fields }: ItemOutcome) =>
	outcome === 'skipped' || fields !== undefined;

/** What a record is found by; undefined if the platform did not report its ID and it has no key. */
const nameOf = ({ id }: ItemOutcome, { key }: Entry) => id ?? (key && `key ${key}`);

export class StoredRecords {
	/** By name. */
	private readonly found = new Map<string, PlatformRecord | ServiceError | undefined>();
	/** How many records could not be read. */
	unread = 0;
	/** Read-only fields without a value in a new record: the platform may fill them in later. */
	readonly emptyFields = new Set<string>();
	private readonly readOnlyFields: string[];

	constructor(
		private readonly pipeline: WritePipeline,
		{ fields }: TableDefinition,
	) {
		const readOnly = fields.filter((field) => holdsData(field) && !isWritable(field));
		this.readOnlyFields = readOnly.map(({ name }) => name);
	}

	/** Reads the records of items: many in a request by import key, the others by ID. */
	async read(items: WrittenItem[]): Promise<void> {
		const wanted = new Map<string, Entry>();
		for (const { index, outcome, record } of items) {
			const name = nameOf(outcome, record);
			if (name === undefined || needsNone(outcome)) continue;
			wanted.set(name, { index, id: outcome.id, fields: record.fields });
		}
		const entries = [...wanted];
		const portions = Array.from({ length: Math.ceil(entries.length / MAX_PAGE_SIZE) }, (_, at) =>
			entries.slice(at * MAX_PAGE_SIZE, (at + 1) * MAX_PAGE_SIZE),
		);
		await forEachConcurrent(portions, PARALLEL_LOOKUPS, async (portion) => {
			const records = portion.map(([, entry]) => entry);
			const found = await this.pipeline.stored(records).catch(serviceErrorOrThrow);
			for (const [name, entry] of portion) {
				this.found.set(name, found instanceof ServiceError ? found : found.get(entry)?.[0]);
			}
		});
	}

	/** A record as it is stored; as it was sent, with the reason, if it could not be read. */
	output(outcome: ItemOutcome, record: Entry): IDataObject {
		if (needsNone(outcome)) return toOutput(outcome, record);
		const stored = this.found.get(nameOf(outcome, record) ?? '');
		if (stored && !(stored instanceof ServiceError)) {
			if (outcome.outcome === 'inserted') {
				for (const name of this.readOnlyFields) {
					if ((getOwn(stored.fields, name) ?? null) === null) this.emptyFields.add(name);
				}
			}
			return toOutput({ ...outcome, ...stored }, record);
		}
		this.unread += 1;
		const why =
			outcome.id === undefined ? 'The platform did not report its ID' : 'It was deleted meanwhile';
		const notRead = stored?.message ?? why;
		return { ...toOutput(outcome, record), notRead };
	}
}
