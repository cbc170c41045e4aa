import type { IDataObject } from 'n8n-workflow';

import { addressKey } from '../../api/endpoints';
import type { RecordMetadata, TableAddress } from '../../api/types';
import { upsertOutcome } from '../../bulk/judge';
import { readLastChange, type LastChange } from '../../bulk/lastChange';
import type { ItemOutcome } from '../../bulk/outcome';
import type { Entry } from '../../bulk/entry';
import { writeOne, writeOneMatched } from '../../bulk/single';
import { omitUndefined } from '../../execution/itemResults';
import type { RunContext } from '../../execution/run';
import { fieldRules } from '../../parameters/fieldRules';
import {
	matchingOf,
	matchingOptions,
	matchingParameters,
	upsertMatchOptions,
	upsertRules,
} from '../../parameters/matching';
import { itemOperation } from '../../parameters/operation';
import {
	createLinkedRecords,
	plannedRecord,
	singleWriteOptions,
	writeOptions,
} from '../../parameters/plannedRecord';
import { outputOf, simple } from '../../parameters/reading';
import { itemRecordId, tableOf, tableParameters } from '../../parameters/table';
import { columnsToUpsert } from '../../parameters/values';
import { ServiceError } from '../../transport/errors';

/**
 * The newest change in the table before this run wrote anything, read once; undefined if it can't be
 * read.
 */
const latestChange = async (run: RunContext<never>, at: TableAddress): Promise<LastChange> =>
	await run.once(`latest change ${addressKey(at)}`, async () => {
		const lastChange = await readLastChange(run.client, at, run.definition(at));
		return lastChange instanceof ServiceError ? undefined : lastChange;
	});

/** Notes a record that this run wrote, and returns its metadata from the previous write, if any. */
function lastWritten(
	run: RunContext<never>,
	at: TableAddress,
	{ id, created, modified, ver }: RecordMetadata,
) {
	const written = run.once('written', () => new Map<string, RecordMetadata>());
	const name = JSON.stringify([at.application, at.table, id]);
	const earlier = written.get(name);
	written.set(name, { id, created, modified, ver });
	return earlier;
}

export const upsert = itemOperation({
	value: 'upsert',
	name: 'Create or Update',
	action: 'Create or update record',
	description: 'Create a new record, or update the current one if it already exists (upsert)',
	fields: [...tableParameters, ...matchingParameters('importKey'), columnsToUpsert, simple],
	options: [...singleWriteOptions, matchingOptions(...upsertMatchOptions, fieldRules)],
	// Another attempt could create the same record again.
	notIdempotent: true,
	retriesUnknown: true,
	execute: async (run, index) => {
		const at = tableOf(run, index);
		const table = await run.definition(at);
		const matching = matchingOf(run, index, 'upsert', table, upsertRules(run, index));
		const isById = matching?.on === 'recordId';
		const record = await plannedRecord(run, index, 'upsert', {
			id: isById ? itemRecordId.of(run, index) : undefined,
			matchOn: matching?.on,
			defersLinks: matching !== undefined,
		});
		const options = writeOptions(run, index);
		const shape = outputOf(run, index);
		const output = ({ outcome, kept, ...stored }: Partial<ItemOutcome>): IDataObject =>
			omitUndefined({ outcome, ...(outcome !== 'skipped' && shape(stored)), kept });
		const target = { client: run.client, at, table };
		if (matching) {
			const prepare = async (each: Entry) => await createLinkedRecords(run, index, each, table);
			const written = await writeOneMatched(target, record, matching, options, prepare);
			return written.length === 1 ? output(written[0]!) : written.map(output);
		}
		const latest = await latestChange(run, at);
		const written = await writeOne(target, record, 'upsert', options, latest);
		const stored = { ...written, id: written.id! };
		return output({
			...written,
			outcome: upsertOutcome(stored, latest, lastWritten(run, at, stored)),
		});
	},
});
