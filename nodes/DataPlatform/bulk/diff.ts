/**
 * What a record would change, compared with what is stored: for writing only what differs, and for
 * a dry run. Pure.
 */
import type { JsonValue, PlatformRecord } from '../api/types';
import { getOwn } from '../transport/json';
import { holdsValue } from '../fields/values';
import { prepareRecord, type PreparedRecord } from './batches';
import type { ItemOutcome } from './outcome';
import type { PlannedRecord } from './plan';
import { omittedFields, type WriteContext } from './evidence';
import { judge } from './judge';

export interface RecordDiff {
	/** What is left to send of the record. */
	change: PreparedRecord;
	/** Its outcome, where nothing is to be sent. */
	outcome?: ItemOutcome;
}

/** @param before the record as it is stored, where there is one */
export function diffRecord(
	record: PlannedRecord,
	before: PlatformRecord | undefined,
	context: WriteContext,
	isDryRun: boolean,
): RecordDiff {
	const { mode, key } = context;
	if (mode === 'create' && isDryRun && (before || record.sharedKey?.isFirst === false)) {
		return { change: prepareRecord(record), outcome: duplicateKeyOutcome(record, before) };
	}
	if (!before) return diffMissing(record, context, isDryRun);
	const whole = prepareRecord(record);
	// Only a dry run looks before creating: the service decides what a taken key means.
	if (mode === 'create') return { change: whole };
	const changed = changedFields(record, before, context);
	const { id, created, modified, ver } = before;
	// Another item may have the same key in another form, and change the record before.
	const isSkipped = changed.length === 0 && (isDryRun || !record.hasUncertainKey);
	if (isSkipped) {
		return { change: whole, outcome: { outcome: 'unchanged', id, created, modified, ver } };
	}
	const after = Object.fromEntries(changed);
	if (isDryRun) {
		const now = changed.map(([name]) => [name, getOwn(before.fields, name) ?? null]);
		const outcome = { outcome: 'updated', id, before: Object.fromEntries(now), after } as const;
		return { change: whole, outcome };
	}
	// A full update clears what it leaves out, so it is sent whole; upsert needs its key.
	if (mode === 'replace') return { change: prepareRecord(record, record.fields, before) };
	if (mode === 'upsert' && key !== undefined) after[key] = record.fields[key]!;
	return { change: prepareRecord(record, after, before) };
}

function changedFields(
	record: PlannedRecord,
	before: PlatformRecord,
	{ mode, fields, key }: WriteContext,
): Array<[name: string, value: JsonValue]> {
	const cleared = mode === 'replace' ? omittedFields(record, before, fields) : {};
	// What it was found by, it holds; what can't be proven to be the same is written.
	return Object.entries({ ...cleared, ...record.fields }).filter(
		([name, value]) =>
			!(mode === 'upsert' && name === key) &&
			holdsValue(fields.get(name), getOwn(before.fields, name), value) !== true,
	);
}

/** Of a record that is not there. */
function diffMissing(record: PlannedRecord, context: WriteContext, isDryRun: boolean): RecordDiff {
	const change = prepareRecord(record, record.fields, null);
	if (context.mode === 'update' || context.mode === 'replace') {
		return { change, outcome: judge(change, [], {}, context) };
	}
	return isDryRun ? { change, outcome: { outcome: 'inserted', after: record.fields } } : { change };
}

function duplicateKeyOutcome(
	{ key, sharedKey }: PlannedRecord,
	before: PlatformRecord | undefined,
): ItemOutcome {
	const name = `'${key ?? sharedKey?.text}'`;
	return {
		outcome: 'failed',
		id: before?.id,
		message: before
			? `A record with the import key ${name} is there already`
			: `An item before it has the same import key ${name}`,
		hint: { code: 'updateInstead' },
	};
}
