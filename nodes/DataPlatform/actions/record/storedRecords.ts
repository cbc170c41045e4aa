/**
 * The records of a run as they are stored, for its output. They are read after the write, so a
 * failure here changes no outcome.
 */
import { MAX_PAGE_SIZE } from '../../api/endpoints';
import type { PlatformRecord } from '../../api/types';
import type { WritePipeline } from '../../bulk/pipeline';
import type { Entry, ItemOutcome } from '../../bulk/terms';
import { holdsData, isWritable } from '../../fields';
import type { Ledger } from '../../run/ledger';
import type { RunContext } from '../../run/run';
import { forEachConcurrent } from '../../transport/concurrency';
import { ServiceError, serviceErrorOrThrow } from '../../transport/errors';
import { getOwn } from '../../transport/json';
import { counted, nameList } from '../../transport/messageText';
import { toOutput } from './itemOutput';
import type { Writing } from './planItems';

/** An item whose record is written. */
export interface WrittenItem {
	index: number;
	outcome: ItemOutcome;
	record: Entry;
}

/** A record as it is stored, why it can't be read, or undefined if there is none. */
type Stored = PlatformRecord | ServiceError | undefined;

const PARALLEL_LOOKUPS = 4;

/** False for `skipped`, which has no record, and for an outcome that already has the stored one. */
const isToBeRead = ({ outcome: { outcome, fields } }: WrittenItem) =>
	outcome !== 'skipped' && fields === undefined;

/** Reads the records of items: many in a request by import key, the others by ID. */
async function readStored(
	pipeline: WritePipeline,
	items: WrittenItem[],
): Promise<Map<Entry, Stored>> {
	/** By their planned record, which merged items share. */
	const entries = new Map<Entry, Entry>();
	for (const { index, outcome, record } of items) {
		const { id } = outcome;
		const isFindable = id !== undefined || record.key !== undefined;
		if (isFindable) entries.set(record, { index, id, fields: record.fields });
	}
	const all = [...entries];
	const portions = Array.from({ length: Math.ceil(all.length / MAX_PAGE_SIZE) }, (_, at) =>
		all.slice(at * MAX_PAGE_SIZE, (at + 1) * MAX_PAGE_SIZE),
	);
	const stored = new Map<Entry, Stored>();
	await forEachConcurrent(portions, PARALLEL_LOOKUPS, async (portion) => {
		const found = await pipeline
			.stored(portion.map(([, entry]) => entry))
			.catch(serviceErrorOrThrow);
		for (const [record, entry] of portion) {
			stored.set(record, found instanceof ServiceError ? found : found.get(entry)?.[0]);
		}
	});
	return stored;
}

/** Returns records as they are stored, in place of what was sent. */
export async function returnStored(
	run: RunContext<never>,
	ledger: Ledger,
	{ pipeline, table }: Writing,
	written: WrittenItem[],
) {
	const items = written.filter(isToBeRead);
	const stored = await readStored(pipeline, items);
	const readOnly = table.fields.filter((field) => holdsData(field) && !isWritable(field));
	/** Read-only fields without a value in a new record: the platform may fill them in later. */
	const emptyFields = new Set<string>();
	let unread = 0;
	for (const { index, outcome, record } of items) {
		const found = stored.get(record);
		if (found === undefined || found instanceof ServiceError) {
			unread += 1;
			const hasId = outcome.id !== undefined;
			const why = hasId ? 'It was deleted meanwhile' : 'The platform did not report its ID';
			const json = { ...toOutput(outcome, record), notRead: found?.message ?? why };
			ledger.replace(index, [{ json }]);
			continue;
		}
		ledger.replace(index, [{ json: toOutput({ ...outcome, ...found }, record) }]);
		if (outcome.outcome !== 'inserted') continue;
		for (const { name } of readOnly) {
			if ((getOwn(found.fields, name) ?? null) === null) emptyFields.add(name);
		}
	}
	if (emptyFields.size > 0) {
		run.hintOnce(
			`New records have no value in ${nameList([...emptyFields])} yet: the platform may fill it in later. If you need it, read the records again.`,
		);
	}
	if (unread === 0) return;
	run.hintOnce(
		`${counted(unread, 'record')} could not be read after the write. The output has what was sent, and the reason in 'notRead'.`,
		'warning',
	);
}
