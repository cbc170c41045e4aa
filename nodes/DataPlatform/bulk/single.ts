/** Writes one record: with the writer for many, but by single requests. */
import { readRecord, type WriteOptions } from '../api/records';
import type { PlatformRecord } from '../api/types';
import { appendableFields } from '../fields/values';
import { serviceErrorOrThrow } from '../transport/errors';
import { isAppending } from './evidence';
import { NO_SUCH_RECORD } from './judge';
import type { LastChange } from './lastChange';
import { writeMatched } from './matching';
import { requireSuccess, type ItemOutcome } from './outcome';
import type { Plan, WriteMode } from './plan';
import type { Entry } from './entry';
import type { Matching, WriteTarget } from './task';
import { writeMany } from './write';

const ONE = {
	isSingle: true,
	batchSize: 1,
	batchBytes: Infinity,
	parallelRequests: 1,
	skipUnchanged: false,
	dryRun: false,
	stopAtFailure: false,
} as const;

/**
 * Writes a record.
 *
 * @returns its outcome, with all values of the record
 * @throws {ServiceError | InputError} if it was not written, or that is unknown
 */
export async function writeOne(
	target: WriteTarget,
	record: Entry,
	mode: WriteMode,
	options: WriteOptions,
	lastChangeBefore?: LastChange,
): Promise<ItemOutcome> {
	let item: ItemOutcome | undefined;
	await writeMany(
		target,
		[record],
		{ ...ONE, ...options, mode },
		lastChangeBefore,
		(_, outcome) => {
			item = outcome;
		},
	);
	return requireSuccess(item!);
}

/**
 * Writes the records that an item matches, by the rules.
 *
 * @param prepare called before the first write, if there is one
 * @throws {ServiceError | InputError} if one of them was not written, or that is unknown
 */
export async function writeOneMatched(
	target: WriteTarget,
	record: Entry,
	matching: Matching,
	options: WriteOptions,
	prepare: (record: Entry) => Promise<void>,
	mode: 'upsert' | 'update' = 'upsert',
): Promise<ItemOutcome[]> {
	let items: ItemOutcome[] = [];
	const plan: Plan = { records: [record], problems: [], merged: new Map(), ignored: new Set() };
	await writeMatched(target, plan, { ...ONE, ...options, mode, matching }, undefined, {
		prepare: async ({ records }) => {
			for (const each of records) await prepare(each);
		},
		onOutcomes: (_, outcomes) => {
			items = outcomes;
		},
	});
	// Update has no option for missing records that a hint could name.
	const isMissing = mode === 'update' && items[0]?.outcome === 'notFound';
	return items.map((item) => requireSuccess(isMissing ? { ...item, ...NO_SUCH_RECORD } : item));
}

/**
 * Reads a record before values are added to it. Undefined if none are, or if the token may not
 * read.
 */
export async function readBeforeAdding(
	{ client, at, table }: WriteTarget,
	{ id, fields }: Entry,
): Promise<PlatformRecord | undefined> {
	if (!isAppending({ fields }, { appendable: appendableFields(table.fields) })) return undefined;
	return await readRecord(client, at, id!).catch((error: unknown) => {
		if (serviceErrorOrThrow(error).status === 403) return undefined;
		throw error;
	});
}
