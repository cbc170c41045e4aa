/** Items with the same key or ID. Pure. */
import type { FieldDefinition, JsonValue } from '../../api/types';
import { fieldType } from '../../fields';
import type { Entry, Plan, PlanOptions, WriteMode } from '../terms';

/** How many other items with the same key a problem names. */
const OTHERS_SHOWN = 3;

/** The groups of two or more items with the same key or ID, in order. */
function groupDuplicates(records: Entry[]): Entry[][] {
	const groups = new Map<string, Entry[]>();
	for (const record of records) {
		const identity = record.id ?? record.key;
		if (identity === undefined) continue;
		const group = groups.get(identity);
		if (group) group.push(record);
		else groups.set(identity, [record]);
	}
	return [...groups.values()].filter(({ length }) => length > 1);
}

/** Names only a few other items: naming all would be quadratic. */
function sharedIdentity(records: Entry[], record: Entry, options: PlanOptions) {
	const others = records.slice(0, OTHERS_SHOWN + 1).filter((other) => other !== record);
	const named = others.slice(0, OTHERS_SHOWN).map(({ index }) => index);
	const what = options.matchOn ? 'match values' : 'import key';
	const identity = record.id ? `record id '${record.id}'` : `${what} '${record.key}'`;
	return `it has the same ${identity} as ${options.unit ?? 'item'} ${named.join(', ')}`;
}

/**
 * Merges records that would be written one after the other. The last value of each field counts;
 * changes of links add up. A replacement leaves nothing from before it.
 *
 * @returns the merged record, or the name of a field whose values can't be merged
 */
function mergeRecords(
	records: Entry[],
	mode: WriteMode,
	fieldOf: (name: string) => FieldDefinition,
): Entry | string {
	const last = records.at(-1)!;
	if (mode === 'replace') return last;
	const merged = new Map<string, JsonValue>();
	for (const { fields } of records) {
		for (const [name, value] of Object.entries(fields)) {
			const earlier = merged.get(name);
			const both = earlier === undefined ? value : fieldType(fieldOf(name)).merge(earlier, value);
			if (both === undefined) return name;
			merged.set(name, both);
		}
	}
	return { ...last, fields: Object.fromEntries(merged) };
}

/** Merges items with the same key or ID, or notes a problem for each of them. */
export function resolveDuplicates(
	plan: Plan,
	options: PlanOptions,
	fieldOf: (name: string) => FieldDefinition,
): Plan {
	const { mode, duplicates } = options;
	// Each of them is created.
	if (mode === 'create') return plan;
	const replaced = new Map<Entry, Entry | undefined>();
	for (const records of groupDuplicates(plan.records)) {
		const result = duplicates === 'merge' ? mergeRecords(records, mode, fieldOf) : undefined;
		for (const record of duplicates === 'keepFirst' ? records.slice(1) : records) {
			replaced.set(record, undefined);
			if (typeof result === 'object') {
				if (record.index !== result.index) plan.merged.set(record.index, result.index);
				continue;
			}
			const clash = `, and what they do to '${result}' can't be merged: put it into one item`;
			const why = sharedIdentity(records, record, options);
			const message = result === undefined ? why : why + clash;
			plan.problems.push({ index: record.index, field: result, message });
		}
		if (typeof result === 'object') replaced.set(records.at(-1)!, result);
	}
	if (replaced.size > 0) {
		plan.records = plan.records.flatMap((record) =>
			replaced.has(record) ? (replaced.get(record) ?? []) : [record],
		);
	}
	return plan;
}
