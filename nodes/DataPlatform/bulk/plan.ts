/**
 * Checks all items against the table's definition before the first request, to report all problems
 * at once.
 */
import type { FieldDefinition, FieldValues, JsonValue, TableDefinition } from '../api/types';
import { recordIdProblem } from '../api/endpoints';
import { importKeyOf, isOnlyRead, isWritable } from '../fields';
import { InputError, type Hint } from '../transport/errors';
import { closestName } from '../fields/closestName';
import {
	canBeKey,
	changesNothing,
	mergeValues,
	toFieldValue,
	type EmptyPolicy,
} from '../fields/values';
import { isObject } from '../transport/json';
import { createPause } from '../transport/turns';
import type { Entry } from './entry';
import { recordKey } from './key';

/** `update` keeps the fields that are not sent, `replace` clears them. */
export type WriteMode = 'create' | 'upsert' | 'update' | 'replace';

export interface PlanInput {
	/** The item it comes from. */
	index: number;
	/** Values by field name, as the user's item holds them. */
	values: unknown;
	/** The record's ID, if it is an existing one. */
	id?: unknown;
	/** Problems that it already has, and in which field. */
	problems?: Array<{ field: string; message: string }>;
}

export interface Problem {
	index: number;
	message: string;
	field?: string;
	/** What the user can do, other than correct the item. */
	hint?: Hint;
}

export interface Plan {
	records: Entry[];
	problems: Problem[];
	/** Items that were merged into a later item with the same key or ID, and its index. */
	merged: Map<number, number>;
	/** Headers of fields in the items that can't be written. */
	ignored: Set<string>;
}

export interface PlanOptions {
	mode: WriteMode;
	empty: EmptyPolicy;
	unknownFields: 'error' | 'ignore';
	/** Items with the same key or ID: merge them, reject them all, or keep only the first. */
	duplicates: 'merge' | 'error' | 'keepFirst';
	/** The import key's name, if the table's definition does not mark it. */
	importKey?: string;
	/** The fields to match records on; by default the import key or the record's ID, by mode. */
	matchOn?: MatchOn;
	/**
	 * Whether the values may be a record as it was read: then fields that can't be written are left
	 * out.
	 */
	isFromInput?: boolean;
}

/** How an item's record is found: by its ID, or by the fields with these names. */
export type MatchOn = 'recordId' | string[];

/** How many unknown names get a suggestion. Nobody reads more. */
const MAX_SUGGESTIONS = 20;

/** How many other items with the same key a problem names. */
const OTHERS_SHOWN = 3;

/**
 * The field that records are found by. It is the one that the table marks, because the platform
 * uses no other. If the table marks none, it is the named one.
 *
 * @throws {InputError} if another field is named, or one that the table does not have
 */
export function keyField(table: TableDefinition, named?: string): FieldDefinition | undefined {
	const marked = importKeyOf(table);
	if (!named || named === marked?.name) return marked;
	if (marked) {
		throw new InputError(
			`The import key of table '${table.header}' is '${marked.name}', not '${named}'`,
			{ field: named, hint: { code: 'chooseMarkedImportKey' } },
		);
	}
	const field = table.fields.find(({ name }) => name === named);
	if (field) return field;
	throw new InputError(`Table '${table.header}' has no field '${named}'`, {
		field: named,
		hint: { code: 'correctImportKey' },
	});
}

/**
 * The fields to match on.
 *
 * @throws {InputError} if the table does not have one of them, or records can't be found by it
 */
export function matchFields(table: TableDefinition, names: string[]): FieldDefinition[] {
	const wrong = (message: string) =>
		new InputError(message, { hint: { code: 'correctMatchFields' } });
	return [...new Set(names)].map((name) => {
		const field = table.fields.find((known) => known.name === name);
		if (!field || !isWritable(field)) {
			throw wrong(
				field
					? `Records can't be matched on '${name}': it is read-only`
					: `Table '${table.header}' has no field '${name}' to match on`,
			);
		}
		if (canBeKey(field)) return field;
		throw wrong(`Records can't be matched on '${name}': its type is '${field.type}'`);
	});
}

/** The fields that identify a record if its ID does not: the import key, or those to match on. */
export function keyFields(
	table: TableDefinition,
	{ importKey, matchOn }: Pick<PlanOptions, 'importKey' | 'matchOn'>,
): FieldDefinition[] {
	if (Array.isArray(matchOn)) return matchFields(table, matchOn);
	const key = keyField(table, importKey);
	return key ? [key] : [];
}

/** The problem with a record's ID, if any. */
const idProblem = (id: unknown) =>
	typeof id === 'string' && id.trim() !== ''
		? recordIdProblem(id.trim())
		: 'the record id is missing';

const NOTHING_LEFT: Omit<Problem, 'index'> = {
	message: 'no field has a value, so every field of the record would be cleared',
	hint: { code: 'keepFieldsNotSent' },
};

type Identity = Pick<PlanOptions, 'mode' | 'matchOn'>;

/** What an item needs so that its record can be found: a key, an ID, or neither. */
function identifiedBy({ mode, matchOn }: Identity): 'key' | 'id' | undefined {
	if (matchOn !== undefined) return matchOn === 'recordId' ? 'id' : 'key';
	if (mode === 'create') return undefined;
	return mode === 'upsert' ? 'key' : 'id';
}

type NoteProblem = (message: string, field?: string, hint?: Hint) => void;

class Planner {
	readonly fields: ReadonlyMap<string, FieldDefinition>;
	private readonly names: string[];
	private readonly required: FieldDefinition[];
	private readonly identity: 'key' | 'id' | undefined;
	private readonly suggestions = new Map<string, string>();
	readonly problems: Problem[] = [];
	readonly ignored = new Set<string>();

	constructor(
		private readonly table: TableDefinition,
		private readonly options: PlanOptions,
		private readonly keys: FieldDefinition[],
	) {
		this.identity = identifiedBy(options);
		this.fields = new Map(table.fields.map((field) => [field.name, field]));
		this.names = table.fields.filter(isWritable).map(({ name }) => name);
		const isWhole = options.mode === 'create' || options.mode === 'replace';
		this.required = isWhole
			? table.fields.filter((field) => field.metadata.required && isWritable(field))
			: [];
	}

	/** Plans one row. Undefined if it has problems, which are noted. */
	record({ index, values, id, problems = [] }: PlanInput): Entry | undefined {
		const noted = this.problems.length;
		const problem: NoteProblem = (message, field, hint) =>
			this.problems.push({ index, message, field, ...(hint && { hint }) });
		for (const { message, field } of problems) problem(message, field);
		if (!isObject(values)) {
			problem('the item has no JSON data');
			return undefined;
		}
		const fields = this.fieldValues(values, problem);
		const isReported = (name: string) =>
			this.problems.slice(noted).some(({ field }) => field === name);
		for (const [name, message] of this.missingValues(fields)) {
			if (!isReported(name)) problem(message, name);
		}
		const needsId = this.identity === 'id';
		const wrongId = needsId ? idProblem(id) : undefined;
		if (wrongId !== undefined) problem(wrongId, 'id', { code: 'giveRecordIds' });
		if (this.problems.length === noted && this.clearsAll(fields))
			this.problems.push({ index, ...NOTHING_LEFT });
		if (this.problems.length > noted) return undefined;
		const key = recordKey(this.keys, fields);
		return {
			index,
			id: needsId ? (id as string).trim() : undefined,
			key: key?.text,
			...(key?.isCertain === false && { hasUncertainKey: true }),
			fields,
		};
	}

	/** The values to send. Those that can't be sent are noted as problems. */
	private fieldValues(values: Record<string, unknown>, problem: NoteProblem): FieldValues {
		const { unknownFields, isFromInput, empty } = this.options;
		const entries: Array<[string, JsonValue]> = [];
		for (const [name, raw] of Object.entries(values)) {
			const field = this.fields.get(name);
			if (field && isFromInput && (!isWritable(field) || isOnlyRead(field, raw))) {
				this.ignored.add(field.header);
			} else if (!field || !isWritable(field)) {
				if (unknownFields === 'error') {
					problem(field ? `'${name}' is read-only` : this.unknown(name), name);
				}
			} else {
				const converted = toFieldValue(field, raw, empty);
				if (converted === 'leave') continue;
				if ('problem' in converted) problem(`'${name}' ${converted.problem}`, name);
				else entries.push([name, converted.value]);
			}
		}
		return Object.fromEntries(entries);
	}

	/** The fields that need a value and have none, each with a message. */
	private *missingValues(fields: FieldValues): Generator<[name: string, message: string]> {
		for (const { name } of this.required) {
			// A field may be called `constructor`: only the record's own values count.
			const isMissing = !Object.hasOwn(fields, name) || fields[name] === null;
			if (isMissing) yield [name, `'${name}' is required`];
		}
		if (this.identity !== 'key') return;
		const what = this.options.matchOn ? 'field to match on' : 'import key';
		for (const field of this.keys) {
			if (recordKey([field], fields)) continue;
			yield [field.name, `the ${what} '${field.name}' has no value`];
		}
	}

	/** Whether a full update would clear every field except those that the record is found by. */
	private clearsAll(fields: FieldValues): boolean {
		if (this.options.mode !== 'replace') return false;
		const keys = new Set(this.identity === 'key' ? this.keys.map(({ name }) => name) : []);
		return Object.entries(fields).every(([name, value]) => keys.has(name) || changesNothing(value));
	}

	private unknown(name: string): string {
		let suggestion = this.suggestions.get(name);
		if (suggestion === undefined && this.suggestions.size < MAX_SUGGESTIONS) {
			const closest = closestName(name, this.names);
			suggestion = closest === undefined ? '' : `, did you mean '${closest}'?`;
			this.suggestions.set(name, suggestion);
		}
		return `table '${this.table.header}' has no field '${name}'${suggestion ?? ''}`;
	}
}

/** The groups of two or more items with the same key or ID, in order. */
function groupDuplicates(records: Entry[], options: Identity): Iterable<Entry[]> {
	const isById = identifiedBy(options) === 'id';
	const first = new Map<string, Entry>();
	const groups = new Map<string, Entry[]>();
	for (const record of records) {
		const identity = isById ? record.id : record.key;
		if (identity === undefined) continue;
		const earlier = first.get(identity);
		const group = groups.get(identity);
		if (!earlier) first.set(identity, record);
		else if (group) group.push(record);
		else groups.set(identity, [earlier, record]);
	}
	return groups.values();
}

/** Names only a few other items: naming all would be quadratic. */
function sharedIdentity(records: Entry[], record: Entry, options: Identity) {
	const others = records.slice(0, OTHERS_SHOWN + 1).filter((other) => other !== record);
	const named = others.slice(0, OTHERS_SHOWN).map(({ index }) => index);
	const isById = identifiedBy(options) === 'id';
	const what = options.matchOn ? 'match values' : 'import key';
	const identity = isById ? `record id '${record.id}'` : `${what} '${record.key}'`;
	return `it has the same ${identity} as item ${named.join(', ')}`;
}

/**
 * Merges records that would be written one after the other. The last value of each field counts;
 * changes of links and files add up. A replacement leaves nothing from before it.
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
	// Records that were already merged are split again, so that all items count in their order.
	const parts = records.flatMap((record) => record.parts ?? [record]);
	if (records.some((record) => record.parts)) parts.sort((a, b) => a.index - b.index);
	const merged = new Map<string, JsonValue>();
	for (const { fields } of parts) {
		for (const [name, value] of Object.entries(fields)) {
			const earlier = merged.get(name);
			const both = earlier === undefined ? value : mergeValues(fieldOf(name), earlier, value);
			if (both === undefined) return name;
			merged.set(name, both);
		}
	}
	return { ...last, fields: Object.fromEntries(merged), parts };
}

/** Merges items with the same key or ID, or notes a problem for each of them. */
export function resolveDuplicates(
	plan: Plan,
	options: Identity & Pick<PlanOptions, 'duplicates'>,
	fieldOf: (name: string) => FieldDefinition,
): Plan {
	const { mode, duplicates } = options;
	const replaced = new Map<Entry, Entry | undefined>();
	for (const records of groupDuplicates(plan.records, options)) {
		if (mode === 'create') {
			// Each of them is created. The key that they share can't distinguish them later.
			for (const record of records) {
				record.sharedKey = { text: record.key!, isFirst: record === records[0] };
				record.key = undefined;
			}
			continue;
		}
		const result = duplicates === 'merge' ? mergeRecords(records, mode, fieldOf) : undefined;
		for (const record of duplicates === 'keepFirst' ? records.slice(1) : records) {
			replaced.set(record, undefined);
			if (typeof result === 'object') {
				if (record.index !== result.index) plan.merged.set(record.index, result.index);
				continue;
			}
			const why = sharedIdentity(records, record, options);
			plan.problems.push(
				result === undefined
					? { index: record.index, message: why }
					: {
							index: record.index,
							field: result,
							message: `${why}, and what they do to '${result}' can't be merged: put it into one item`,
						},
			);
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

function requireKey(table: TableDefinition, key: FieldDefinition | undefined) {
	if (!key) {
		throw new InputError(`Table '${table.header}' has no import key field`, {
			hint: { code: 'markImportKey' },
		});
	}
	if (canBeKey(key)) return;
	throw new InputError(
		`The import key '${key.name}' of table '${table.header}' has the type '${key.type}', which can't be a key`,
		{
			field: key.name,
			hint: 'Nothing was sent. Mark a field in the platform that holds text, a choice, a number, a date or a time.',
		},
	);
}

/**
 * Plans how to write many records. Sends nothing.
 *
 * @throws {InputError} if no item could be written: the table has no field that can be its import
 *   key, or not the one that is named
 */
export function planRecords(
	table: TableDefinition,
	rows: Iterable<PlanInput>,
	options: PlanOptions,
): Plan {
	const { add, finish } = startPlan(table, options);
	for (const row of rows) add(row);
	return finish();
}

/** Like `planRecords`, with pauses, because planning many rows at once would block n8n. */
export async function planInTurns(
	table: TableDefinition,
	rows: Iterable<PlanInput>,
	options: PlanOptions,
): Promise<Plan> {
	const { add, finish } = startPlan(table, options);
	const pause = createPause();
	for (const row of rows) {
		add(row);
		await pause();
	}
	const plan = finish();
	await pause();
	return plan;
}

function startPlan(table: TableDefinition, options: PlanOptions) {
	const keys = keyFields(table, options);
	if (options.mode === 'upsert' && !options.matchOn) requireKey(table, keys[0]);
	const planner = new Planner(table, options, keys);
	const records: Entry[] = [];
	const add = (row: PlanInput) => {
		const record = planner.record(row);
		if (record) records.push(record);
	};
	const finish = () => {
		const { problems, ignored } = planner;
		const plan = { records, problems, merged: new Map<number, number>(), ignored };
		return resolveDuplicates(plan, options, (name) => planner.fields.get(name)!);
	};
	return { add, finish };
}
