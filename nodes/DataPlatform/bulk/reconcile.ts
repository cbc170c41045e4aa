/**
 * Finding out what became of items that an answer leaves unsaid, or that got no answer: what is
 * stored is read, by id or import key, or by the ids that the answer tells.
 */
import type { PlatformRecord, TableAddress } from '../api/types';
import { ServiceError } from '../transport/errors';
import type { ApiClient } from '../transport/client';
import { countsAll, type BulkResponse } from './response';
import type { PreparedRecord } from './batches';
import { lookUp, lookUpByIds } from './lookup';
import type { ItemOutcome } from './outcome';
import type { PlannedRecord, WriteMode } from './plan';
import {
	alignByContent,
	unknownItem,
	resolveUnreported,
	type UnresolvedContext,
	type WriteContext,
} from './resolve';

export interface Resolution {
	outcomes: Array<[PreparedRecord, ItemOutcome]>;
	/** Why looking up did not work. */
	failure?: ServiceError;
}

const asValue = (error: unknown) => {
	if (error instanceof ServiceError) return error;
	throw error;
};

export class OutcomeResolver {
	constructor(
		private readonly client: ApiClient,
		private readonly at: TableAddress,
		private readonly mode: WriteMode,
		/** The import key's name. */
		private readonly key: string | undefined,
	) {}

	/** What is stored of the records now, or why that can't be read. */
	async lookUp(records: PlannedRecord[]) {
		// What a full update clears must be seen too.
		const loads = this.mode === 'replace' ? 'allFields' : 'sentFields';
		return await lookUp(this.client, this.at, this.key, records, loads).catch(asValue);
	}

	/**
	 * @param items what is to be found out about
	 * @param batch all items of the request that the answer does not call failed, in its order
	 */
	async resolve(
		items: PreparedRecord[],
		batch: PreparedRecord[],
		unresolved: UnresolvedContext,
		context: WriteContext,
	): Promise<Resolution> {
		const isLookedUp = ({ record }: PreparedRecord) =>
			record.id !== undefined || (this.key !== undefined && record.key !== undefined);
		const known = items.filter(isLookedUp);
		const rest = items.filter((sendable) => !isLookedUp(sendable));
		const stored = await this.lookUp(known.map(({ record }) => record));
		const outcomes = known.map((sendable): [PreparedRecord, ItemOutcome] => [
			sendable,
			stored instanceof ServiceError
				? unknownItem(
						this.mode,
						`${unresolved.cause?.message ?? unresolved.refused?.get(sendable)?.message ?? 'the answer left it out'}; looking it up did not work: ${stored.message}`,
					)
				: resolveUnreported(sendable, stored.get(sendable.record) ?? [], unresolved, context),
		]);
		if (rest.length > 0)
			outcomes.push(...(await this.withoutKey(rest, batch, unresolved, context)));
		return { outcomes, failure: stored instanceof ServiceError ? stored : undefined };
	}

	/** Created records without a key: the answer's records are read back and compared. */
	private async withoutKey(
		rest: PreparedRecord[],
		batch: PreparedRecord[],
		{ cause, answer }: UnresolvedContext,
		context: WriteContext,
	): Promise<Array<[PreparedRecord, ItemOutcome]>> {
		const unclear = (why: string) => unknownItem(this.mode, why);
		if (!answer) {
			return rest.map((sendable) => [sendable, unclear(cause?.message ?? 'there was no answer')]);
		}
		// The counts may confirm what the list leaves out.
		const areAllInserted = countsAll(answer, batch.length);
		const pairs = await this.readBack(batch, answer, context);
		return rest.map((sendable) => {
			const record = pairs?.get(sendable);
			if (record) {
				const { id, created, modified, ver } = record;
				return [sendable, { outcome: 'inserted', id, created, modified, ver }];
			}
			if (areAllInserted) return [sendable, { outcome: 'inserted' }];
			if (!pairs || pairs.has(sendable)) {
				return [
					sendable,
					unclear('the answer does not say which of the items its records belong to'),
				];
			}
			if (answer.insertedCount === answer.data.length) {
				return [sendable, resolveUnreported(sendable, [], { answer }, context)];
			}
			return [sendable, unclear('the answer counts other records than it lists')];
		});
	}

	private async readBack(batch: PreparedRecord[], answer: BulkResponse, { fields }: WriteContext) {
		const ids = answer.data.map(({ id }) => id);
		if (ids.length > batch.length) return undefined;
		const read = await lookUpByIds(this.client, this.at, ids).catch(asValue);
		if (read instanceof ServiceError) return undefined;
		const records = ids.map((id) => read.get(id));
		return records.every(
			(record): record is PlatformRecord => record !== null && record !== undefined,
		)
			? alignByContent(batch, records, fields)
			: undefined;
	}
}
