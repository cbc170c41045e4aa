/**
 * How a record differs from the stored one, to write only the differences, and for a dry run. Pure.
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
	/** What is left to send. */
	change: PreparedRecord;
	/** Its outcome, if nothing needs to be sent. */
	outcome?: ItemOutcome;
}

/** @param before the stored record, if there is one */
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
	// Only a dry run checks for an existing key before creating. Otherwise, the service decides.
	if (mode === 'create') return { change: whole };
	const changed = changedFields(record, before, context);
	const { id, created, modified, ver } = before;
	// Another item may have the same key, written differently, and change the record first.
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
	// A full update clears the fields that it omits, so all are sent. An upsert needs its key.
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
	// A record holds the key that it was found by. Any other value is written unless proven equal.
	return Object.entries({ ...cleared, ...record.fields }).filter(
		([name, value]) =>
			!(mode === 'upsert' && name === key) &&
			holdsValue(fields.get(name), getOwn(before.fields, name), value) !== true,
	);
}

/** The diff of a record that does not exist. */
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
			? `A record with the import key ${name} already exists`
			: `A previous item has the same import key ${name}`,
		hint: { code: 'updateInstead' },
	};
}
