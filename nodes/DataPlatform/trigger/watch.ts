/**
 * What a trigger node watches, from its parameters.
 */
import type { INodeExecutionData } from 'n8n-workflow';

import type { RecordQuery } from '../api/pages';
import { tableAt, type Table } from '../api/table';
import type { JsonValue, PlatformRecord } from '../api/types';
import { shortHash } from '../api/packing';
import type { ChangeKind, ChangeOptions } from '../changes/tracker';
import {
	changeOutput,
	changeTimes,
	deletionCheckInterval,
	maxDeletedShare,
	maxDeletions,
	maxRecordsPerPoll,
	selectionValues,
	syncState,
	triggerOn,
	watchedFields,
} from '../parameters/changes/changes';
import { namesAt, namesIn, type FieldName } from '../parameters/select/fieldNames';
import { filterOf, timesInUtc } from '../parameters/select/filter';
import { fieldsToLoad, outputOf, queryHint, savedView } from '../parameters/select/reading';
import { addressOf } from '../parameters/select/table';
import type { ApiClient } from '../transport/client';
import { getOwn, isObject } from '../transport/json';
import type { TriggerParameters } from './parameters';

const KINDS: Record<ReturnType<typeof triggerOn.of>, ChangeKind[]> = {
	created: ['created'],
	updated: ['updated'],
	createdOrUpdated: ['created', 'updated'],
	createdUpdatedOrDeleted: ['created', 'updated'],
	deleted: [],
};

export interface DeletionLimits {
	/** The shortest time between two checks. */
	intervalMs: number;
	/** How many records may be missing at once: in percent of the watched ones, and in all. */
	maxShare: number;
	maximum: number;
}

export interface Watch {
	table: Table;
	query: RecordQuery;
	/** The output of a change. */
	output: ReturnType<typeof changeOutput>;
	/** The state field of a two-way sync; empty if there is none. */
	syncState: string;
	changes: ChangeOptions;
	/** The fields that the parameters name. */
	names: FieldName[];
	/** Watched fields that a record lacked when it was read. */
	missingFields: ReadonlySet<string>;
	/** Changes are emitted, not only deletions. */
	emitsChanges: boolean;
	/** Set if deletions are emitted. */
	deletions?: DeletionLimits;
	/** Identifies the watch: another table, filter or saved view starts over. */
	identity: string;
}

const hash = (value: unknown, length = 22) => shortHash(JSON.stringify(value), length);

/** Of one field of a record: 48 bits. */
const DIGEST_LENGTH = 8;

/** Of a link, not what it shows of its record: that may have changed alone. */
function watchedPart(value: JsonValue) {
	if (!isObject(value)) return value;
	if (typeof value.id === 'string') return value.id;
	return typeof value.count === 'number' ? [value.count, value.fields] : value;
}

const digestOf =
	(fields: string[], missing: Set<string>) =>
	(record: PlatformRecord): Array<[string, string]> => {
		for (const name of fields) if (!Object.hasOwn(record.fields, name)) missing.add(name);
		const part = (name: string) => watchedPart(getOwn(record.fields, name) ?? null);
		return fields.map((name) => [name, hash([name, part(name)], DIGEST_LENGTH)]);
	};

/** @throws {InputError} */
export function readWatch(client: ApiClient, parameters: TriggerParameters): Watch {
	const address = addressOf(parameters, 0);
	const outputFields = fieldsToLoad.of(parameters, 0);
	const watched = watchedFields.of(parameters, 0);
	const state = syncState.of(parameters, 0);
	const isPart = outputFields.length > 0 && state === '';
	const missingFields = new Set<string>();
	const events = triggerOn.of(parameters, 0);
	const emitsDeletions = events === 'deleted' || events === 'createdUpdatedOrDeleted';
	const filter = timesInUtc(filterOf(parameters, 0));
	const selection = { filter, savedView: savedView.of(parameters, 0) };
	return {
		table: tableAt(client, address),
		output: changeOutput(outputOf(parameters, 0), outputFields, state),
		syncState: state,
		query: {
			...selection,
			fields: isPart ? [...new Set([...outputFields, ...watched])] : [],
			hint: queryHint({ ...selection, fields: outputFields }),
		},
		changes: {
			kinds: new Set(KINDS[events]),
			...changeTimes(parameters, 0),
			maximum: maxRecordsPerPoll.of(parameters, 0),
			...(watched.length > 0 && { digest: digestOf(watched, missingFields) }),
		},
		names: [
			...namesIn(selection.filter),
			...namesAt(fieldsToLoad, outputFields),
			...namesAt(watchedFields, watched),
		],
		missingFields,
		emitsChanges: events !== 'deleted',
		...(emitsDeletions && {
			deletions: {
				intervalMs: deletionCheckInterval.of(parameters, 0) * 60_000,
				maxShare: maxDeletedShare.of(parameters, 0),
				maximum: maxDeletions.of(parameters, 0),
			},
		}),
		identity: hash([client.origin, address, ...selectionValues(parameters)]),
	};
}

/** Only the ID of a deleted record is known. */
export const toDeletedItem = (id: string): INodeExecutionData => ({
	json: { event: 'deleted', id },
});
