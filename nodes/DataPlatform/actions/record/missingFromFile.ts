/**
 * The records that a file lacks. It is read once before anything is written, to know them; they are
 * removed once its rows are written.
 */
import { isSuccess, noCounts } from '../../bulk/outcome';
import { Sync } from '../../bulk/remove/sync';
import type { PlanInput } from '../../bulk/terms';
import { keyFields } from '../../fields/keyFields';
import type { ImportResult } from '../../import/rowImport';
import type { RowReader } from '../../import/rowValues';
import { endAtRow, startAtRow, type fileSettingsOf } from '../../parameters/files/rowFiles';
import { tableOf } from '../../parameters/select/table';
import {
	missingRecords,
	removeDespiteFailures,
	requireInput,
	syncOptionsOf,
	type RemovalParameter,
} from '../../parameters/write/syncParameters';
import type { WriteSetup, writeSettings } from '../../parameters/write/writing';
import type { FileRow } from '../../rows/readRows';
import { FailureKinds } from '../../run/failureKinds';
import type { RunContext } from '../../run/run';
import type { Problem } from '../../transport/errors';
import { counted } from '../../transport/messageText';

/** @throws {InputError} if rows that are not read could stand for records */
export function requireWholeInput(
	{ mode, range }: Pick<ReturnType<typeof fileSettingsOf>, 'mode' | 'range'>,
	run: RunContext<RemovalParameter>,
	index: number,
): boolean {
	const removes = mode === 'upsert' && missingRecords.of(run, index) !== 'leave';
	const isOne = run.items.length === 1;
	if (!removes || (isOne && range.startAt === 1 && range.endAt === 0)) return removes;
	throw missingRecords.error(
		`Nothing was written or removed: for ${missingRecords}, all rows of one file are the input`,
		`Give the node one item with one file, and leave ${startAtRow} and ${endAtRow} as they are by default.`,
	);
}

/**
 * Finds the records that a file lacks, before anything is written.
 *
 * @returns undefined if one of its rows could stand for any of them
 * @throws {InputError} if more are missing than may be removed
 * @throws {ServiceError}
 */
export async function compareWithFile(
	run: RunContext<RemovalParameter>,
	index: number,
	{ table, planning, pipeline }: WriteSetup,
	settings: ReturnType<typeof writeSettings>,
	reader: RowReader,
	portions: AsyncGenerator<FileRow[]>,
): Promise<Sync | undefined> {
	const keys = planning.matchOn === 'recordId' ? [] : keyFields(table, planning);
	const options = (await syncOptionsOf(run, index, { table, keys }, settings))!;
	const sync = new Sync(tableOf(run, index).with(table), keys, pipeline, options);
	let isEmpty = true;
	let unclear: number | undefined;
	for await (const portion of portions) {
		const inputs: PlanInput[] = [];
		for (const row of portion) {
			if (reader.isSkipped(row)) continue;
			isEmpty = false;
			const read = reader.read(row);
			if ('index' in read) inputs.push(read);
			else unclear ??= row.row;
		}
		const { records, unknown } = await pipeline.planKeys(inputs, keys);
		for (const record of records) sync.add(record);
		unclear ??= unknown[0];
	}
	if (isEmpty) requireInput(run, index);
	if (unclear === undefined) {
		const limit = await sync.compare([]);
		if (limit !== undefined) run.hintOnce(limit, 'warning');
		return sync;
	}
	run.hintOnce(
		`No record was removed: it is unknown which one row ${unclear} stands for, and it could be one of those that seem to be missing from the file.`,
		'warning',
	);
	return undefined;
}

/**
 * Removes the records that a file lacks, and counts them.
 *
 * @returns the failure of the import if some could not be removed
 */
export async function removeMissing(
	run: RunContext<RemovalParameter>,
	index: number,
	sync: Sync,
	{ counts, interruption }: ImportResult,
): Promise<Problem | undefined> {
	const { rejected, skipped, rows } = counts;
	const isNoneWritten = rejected + skipped >= rows;
	const isLeft = rejected > 0 && (isNoneWritten || !removeDespiteFailures.of(run, index));
	if (interruption || isLeft) {
		run.hintOnce(
			`${counted(sync.missing.length, 'record')} missing from the file stayed: ${interruption ? 'the import stopped before' : `${counted(rejected, 'row')} rejected`}.`,
			'warning',
		);
		return undefined;
	}
	const kinds = new FailureKinds();
	let failed = 0;
	let hint: string | undefined;
	Object.assign(counts, { ...noCounts(true), ...counts });
	await sync.remove((_, outcome) => {
		counts[outcome.outcome] += 1;
		if (isSuccess(outcome)) return;
		failed += 1;
		hint ??= outcome.hint;
		kinds.add({ ...outcome, message: outcome.message ?? 'The record was not removed' });
	});
	if (failed === 0) return undefined;
	return {
		message: `The rows are imported, but ${failed} of ${counted(sync.missing.length, 'record')} missing from the file were not removed: ${kinds.text()}`,
		hint: hint ?? 'Import the file again.',
		outcome: counts.unknown > 0 ? 'unknown' : 'failed',
	};
}
