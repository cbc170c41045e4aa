import type { IDataObject } from 'n8n-workflow';

import { addressKey } from '../../api/endpoints';
import type { WriteOptions } from '../../api/records';
import type {
	FieldDefinition,
	PlatformRecord,
	RecordMetadata,
	TableAddress,
} from '../../api/types';
import { readLastChange, type LastChange } from '../../bulk/lastChange';
import { asPartlyWritten, decide, findMatches, type Matching } from '../../bulk/matching';
import type { ItemOutcome, Outcome } from '../../bulk/outcome';
import { keyFields, type PlannedRecord } from '../../bulk/plan';
import { isAppending, type WriteContext } from '../../bulk/evidence';
import { upsertOutcome } from '../../bulk/judge';
import { createMissing, singleContext, updateOne, upsertOne } from '../../bulk/single';
import { omitUndefined } from '../../execution/itemResults';
import type { RunContext } from '../../execution/run';
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
import type { ApiClient } from '../../transport/client';
import { InputError, ServiceError } from '../../transport/errors';

/** The result for one record: written, or returned as it was. */
interface Written {
	outcome?: Outcome;
	record?: Partial<PlatformRecord>;
}

/** How often a record may appear or disappear between looking it up and writing it. */
const MAX_TRIES = 3;

const hasStatus = (error: unknown, status: number) =>
	error instanceof ServiceError && error.status === status;

/** Writes one record according to the matching rules. */
class MatchedUpsert {
	constructor(
		readonly client: ApiClient,
		readonly at: TableAddress,
		private readonly matching: Matching,
		private readonly options: WriteOptions,
		private readonly keys: FieldDefinition[],
		private readonly context: WriteContext,
		/** Called before the record is written, if it is. */
		private readonly prepare: () => Promise<void>,
	) {}

	/** @throws {ServiceError | InputError} */
	async write(record: PlannedRecord, tries = 1): Promise<Written[]> {
		const { client, at, keys, matching } = this;
		const found = await findMatches(client, at, keys, [record], matching);
		const { updates, creates, outcomes } = decide(found, matching);
		const before = new Map([...found.values()].flat().map((stored) => [stored.id, stored]));
		const written = outcomes.map(([, outcome]) => withoutWriting(outcome));
		if (updates.length + creates.length > 0) await this.prepare();
		const writing = async () => {
			for (const update of updates) written.push(await this.update(update, before));
			for (const missing of creates) written.push(await this.create(missing));
		};
		const failure = await writing().then(
			() => undefined,
			(error: unknown) => error,
		);
		if (failure === undefined) return written;
		// The record was deleted after it was found, or created after it was missing.
		const isGone = updates.length === 1 && hasStatus(failure, 404);
		const isTaken = creates.length > 0 && keys.length > 0 && hasStatus(failure, 400);
		if ((isGone || isTaken) && tries < MAX_TRIES && (await this.hasChanged(record, before))) {
			return await this.write(record, tries + 1);
		}
		const total = updates.length + outcomes.length;
		if (total < 2 || !(failure instanceof ServiceError)) return await Promise.reject(failure);
		const bad = { outcome: 'failed', message: failure.message, hint: failure.hint } as const;
		const adds = isAppending(record, this.context);
		const { message, ...details } = asPartlyWritten(bad, written.length, total, adds);
		throw new ServiceError(message!, { ...failure, ...details });
	}

	private async hasChanged(record: PlannedRecord, before: Map<string, PlatformRecord>) {
		const now = await findMatches(this.client, this.at, this.keys, [record], this.matching);
		const ids = [...now.values()].flat().map(({ id }) => id);
		return ids.length !== before.size || ids.some((id) => !before.has(id));
	}

	private async update(
		{ id, fields }: PlannedRecord,
		before: Map<string, PlatformRecord>,
	): Promise<Written> {
		const stored = before.get(id!);
		const { context, options } = this;
		const record = await updateOne(this, id!, fields, stored, context, options);
		const isSame = stored?.ver !== undefined && record.ver === stored.ver;
		return { outcome: isSame ? 'unchanged' : 'updated', record };
	}

	private async create(record: PlannedRecord): Promise<Written> {
		const { context, options, keys } = this;
		const created = await createMissing(this, record, keys, context, options);
		return { outcome: 'inserted', record: created };
	}
}

/**
 * The result of a rule that writes nothing.
 *
 * @throws {InputError} if the rule makes this an error
 */
function withoutWriting({ outcome, message = '', hint = '', ...record }: ItemOutcome): Written {
	if (outcome === 'found') return { outcome, record };
	if (outcome === 'skipped') return { outcome };
	throw new InputError(message, { hint, outcome });
}

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
	options: [...singleWriteOptions, matchingOptions(...upsertMatchOptions)],
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
		const output = ({ outcome, record: written }: Written): IDataObject =>
			omitUndefined({ outcome, ...(written && shape(written)) });
		if (matching) {
			const keys = isById ? [] : keyFields(table, { matchOn: matching.on });
			const prepare = async () => await createLinkedRecords(run, index, record, table);
			const writer = new MatchedUpsert(
				run.client,
				at,
				matching,
				options,
				keys,
				singleContext(table, 'update'),
				prepare,
			);
			const written = await writer.write(record);
			return written.length === 1 ? output(written[0]!) : written.map(output);
		}
		const latest = await latestChange(run, at);
		const target = { client: run.client, at };
		const written = await upsertOne(target, table, record, latest, options);
		const outcome = upsertOutcome(written, latest, lastWritten(run, at, written));
		return output({ outcome, record: written });
	},
});
