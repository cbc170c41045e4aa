/**
 * Before the first request: every item against the table's definition, all problems at once.
 */
import type { FieldDefinition, FieldValues, JsonValue, TableDefinition } from '../api/types';
import { importKeyOf, isWritable } from '../fields';
import { InputError } from '../transport/errors';
import { toFieldValue, type EmptyPolicy } from '../fields/values';
import { isObject } from '../transport/json';

/** `update` leaves the fields that are not sent, `replace` clears them. */
export type WriteMode = 'create' | 'upsert' | 'update' | 'replace';

export interface PlanInput {
	/** The item it comes from. */
	index: number;
	/** Values by field name, as the user's item holds them. */
	values: unknown;
	/** The record's id, where an existing record is meant. */
	id?: unknown;
}

export interface PlannedRecord {
	index: number;
	id?: string;
	/** Its import key's value as text; undefined where it can't identify the record. */
	key?: string;
	fields: FieldValues;
}

export interface Problem {
	index: number;
	message: string;
	field?: string;
}

export interface Plan {
	records: PlannedRecord[];
	problems: Problem[];
	/** Items not sent because a later item has the same key or id; the later item's index. */
	superseded: Map<number, number>;
}

export interface PlanOptions {
	mode: WriteMode;
	empty: EmptyPolicy;
	unknownFields: 'error' | 'ignore';
	duplicates: 'lastWins' | 'error';
	/** The import key's name where the table's definition does not mark it. */
	importKey?: string;
}

/** Names that differ by more than this share of their letters are not offered as a correction. */
const CLOSE_ENOUGH = 0.4;

/** How many other items with the same key a problem names. */
const OTHERS_SHOWN = 3;

function editDistance(a: string, b: string): number {
	let row = Array.from({ length: b.length + 1 }, (_, index) => index);
	for (let i = 1; i <= a.length; i++) {
		const next = [i];
		for (let j = 1; j <= b.length; j++) {
			const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
			next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
		}
		row = next;
	}
	return row[b.length]!;
}

/** The known name that a mistyped one most likely means. */
export function closestName(name: string, known: string[]): string | undefined {
	if (name.length > 100) return undefined;
	const plain = (text: string) => text.toLowerCase().replace(/[\s_-]/g, '');
	const ranked = known
		.map((candidate) => ({ candidate, distance: editDistance(plain(name), plain(candidate)) }))
		.sort((a, b) => a.distance - b.distance);
	const best = ranked[0];
	return best && best.distance <= Math.max(1, best.candidate.length * CLOSE_ENOUGH)
		? best.candidate
		: undefined;
}

/**
 * The field that upsert matches by.
 *
 * @throws {InputError} where the table has none, or not the one that was named
 */
export function keyField(table: TableDefinition, named?: string): FieldDefinition | undefined {
	if (!named) return importKeyOf(table);
	const field = table.fields.find(({ name }) => name === named);
	if (field) return field;
	throw new InputError(`Table '${table.header}' has no field '${named}'`, {
		field: named,
		hint: "Correct 'Import Key Field' in the options, or leave it empty.",
	});
}

class Planner {
	private readonly fields: Map<string, FieldDefinition>;
	private readonly names: string[];
	private readonly required: FieldDefinition[];
	private readonly suggestions = new Map<string, string>();
	readonly problems: Problem[] = [];

	constructor(
		private readonly table: TableDefinition,
		private readonly options: PlanOptions,
		private readonly key: FieldDefinition | undefined,
	) {
		this.fields = new Map(table.fields.map((field) => [field.name, field]));
		this.names = table.fields.filter(isWritable).map(({ name }) => name);
		const isWhole = options.mode === 'create' || options.mode === 'replace';
		this.required = isWhole
			? table.fields.filter((field) => field.metadata.required && isWritable(field))
			: [];
	}

	/** One row as a record; undefined where it has problems, which are noted. */
	record({ index, values, id }: PlanInput): PlannedRecord | undefined {
		const noted = this.problems.length;
		const problem = (message: string, field?: string) =>
			this.problems.push({ index, message, field });
		if (!isObject(values)) {
			problem('the item has no JSON data');
			return undefined;
		}
		const entries: Array<[string, JsonValue]> = [];
		for (const [name, raw] of Object.entries(values)) {
			const field = this.fields.get(name);
			if (!field) {
				if (this.options.unknownFields === 'error') problem(this.unknown(name), name);
				continue;
			}
			if (!isWritable(field)) {
				if (this.options.unknownFields === 'error') problem(`'${name}' is read-only`, name);
				continue;
			}
			const converted = toFieldValue(field, raw, this.options.empty);
			if (converted === 'leave') continue;
			if ('problem' in converted) problem(`'${name}' ${converted.problem}`, name);
			else entries.push([name, converted.value]);
		}
		const fields: FieldValues = Object.fromEntries(entries);
		// A field may be called `constructor`: only the record's own values count.
		const isMissing = ({ name }: FieldDefinition) =>
			!Object.hasOwn(fields, name) || fields[name] === null;
		for (const field of this.required) {
			const isReported = this.problems.slice(noted).some((known) => known.field === field.name);
			if (isMissing(field) && !isReported) problem(`'${field.name}' is required`, field.name);
		}
		const key = this.key && !isMissing(this.key) ? String(fields[this.key.name]) : undefined;
		if (this.options.mode === 'upsert' && key === undefined) {
			problem(`the import key '${this.key!.name}' has no value`, this.key!.name);
		}
		const needsId = this.options.mode === 'update' || this.options.mode === 'replace';
		if (needsId && (typeof id !== 'string' || id.trim() === '')) {
			problem('the record id is missing', 'id');
		}
		if (this.problems.length > noted) return undefined;
		return { index, id: needsId ? (id as string).trim() : undefined, key, fields };
	}

	private unknown(name: string): string {
		let suggestion = this.suggestions.get(name);
		if (suggestion === undefined) {
			const closest = closestName(name, this.names);
			suggestion = closest === undefined ? '' : `, did you mean '${closest}'?`;
			this.suggestions.set(name, suggestion);
		}
		return `table '${this.table.header}' has no field '${name}'${suggestion}`;
	}
}

/** Notes a problem for every item that has the key of an earlier one, or keeps the last of them. */
function resolveDuplicates(plan: Plan, { mode, duplicates }: PlanOptions): Plan {
	const identify =
		mode === 'upsert' || mode === 'create'
			? ({ key }: PlannedRecord) => key
			: ({ id }: PlannedRecord) => id;
	const byIdentity = new Map<string, PlannedRecord[]>();
	for (const record of plan.records) {
		const identity = identify(record);
		if (identity === undefined) continue;
		const same = byIdentity.get(identity);
		if (same) same.push(record);
		else byIdentity.set(identity, [record]);
	}
	const dropped = new Set<PlannedRecord>();
	for (const [identity, records] of byIdentity) {
		if (records.length === 1) continue;
		const last = records.at(-1)!;
		for (const record of records) {
			if (mode === 'create') {
				// Each of them is to be created; the key they share can't tell them apart later.
				record.key = undefined;
			} else if (duplicates === 'error') {
				// The first few are enough to name: with all of them the work would grow by the square.
				const others = records.slice(0, OTHERS_SHOWN + 1).filter((other) => other !== record);
				dropped.add(record);
				plan.problems.push({
					index: record.index,
					message: `it has the same ${mode === 'upsert' ? 'import key' : 'record id'} '${identity}' as item ${others
						.slice(0, OTHERS_SHOWN)
						.map(({ index }) => index)
						.join(', ')}`,
				});
			} else if (record !== last) {
				dropped.add(record);
				plan.superseded.set(record.index, last.index);
			}
		}
	}
	if (dropped.size > 0) plan.records = plan.records.filter((record) => !dropped.has(record));
	return plan;
}

/**
 * Plans the writing of many records. Sends nothing.
 *
 * @throws {InputError} where no item could be written: the table has no import key
 */
export function planRecords(
	table: TableDefinition,
	rows: Iterable<PlanInput>,
	options: PlanOptions,
): Plan {
	const key = keyField(table, options.importKey);
	if (options.mode === 'upsert' && !key) {
		throw new InputError(`Table '${table.header}' has no import key field`, {
			hint: "Mark a field as import key in the platform, or name one in 'Import Key Field' in the options.",
		});
	}
	const planner = new Planner(table, options, key);
	const records: PlannedRecord[] = [];
	for (const row of rows) {
		const record = planner.record(row);
		if (record) records.push(record);
	}
	return resolveDuplicates({ records, problems: planner.problems, superseded: new Map() }, options);
}
