/**
 * Checks all items against the table's definition before the first request, to report all problems
 * at once.
 */
import type { FieldDefinition, FieldValues, JsonValue, TableDefinition } from '../../api/types';
import { recordIdProblem } from '../../api/endpoints';
import { idKey, UUID } from '../../api/idSet';
import { isOnlyRead, isUnknown, isWritable, listFields } from '../../fields';
import { didYouMean } from '../../transport/closestName';
import {
	changesNothing,
	isBlank,
	keyProblem,
	recordKey,
	remedyOf,
	toFieldValue,
	visibleText,
} from '../../fields/values';
import type { Problem } from '../../transport/errors';
import { nameList } from '../../transport/messageText';
import { describeKind, getOwn, isObject } from '../../transport/json';
import { createPause } from '../../transport/pause';
import { resolveDuplicates } from './duplicates';
import { keyFields, requireKey } from '../../fields/keyFields';
import type { Entry, Plan, PlanInput, PlanOptions, RowProblem } from '../terms';
import { LABELS } from '../../labels';

/** How many unknown names get a suggestion. Nobody reads more. */
const MAX_SUGGESTIONS = 20;

/**
 * An ID in braces, without hyphens, or cut: the platform knows no such record, and would get a new
 * one.
 */
const IS_ALMOST_UUID = /^[{(]?(?:urn:uuid:)?[\da-f-]{30,40}[})]?$/i;

/** The problem with a record's ID, if any. */
function idProblem(id: unknown): string | undefined {
	const text = typeof id === 'string' ? id.trim() : (id ?? '');
	if (text === '') return 'the record id is missing';
	if (typeof text === 'string' && IS_ALMOST_UUID.test(text) && !UUID.test(text)) {
		return `the record id '${text}' is not written as the platform does, such as 44d70c2e-7a1b-4c55-9d3e-2f8b6a1c0e97`;
	}
	return typeof text === 'string'
		? recordIdProblem(text)
		: `the record id must be text, not ${describeKind(text)}`;
}

const NOTHING_LEFT: Omit<RowProblem, 'index'> = {
	message: 'no field has a value, so every field of the record would be cleared',
	hint: `Fill in the fields, or set '${LABELS.updateMode}' to 'Leave as They Are'. To clear fields, map them and set '${LABELS.emptyValues}' to 'Clear the Field'.`,
};

const GIVE_IDS = `Give the record's ID, or set '${LABELS.matchOn}' to what the items hold, such as 'Import Key'.`;

/** What an item needs so that its record can be found: a key, an ID, or neither. */
function identifiedBy({ mode, matchOn }: PlanOptions): 'key' | 'id' | undefined {
	if (matchOn !== undefined) return matchOn === 'recordId' ? 'id' : 'key';
	if (mode === 'create') return undefined;
	return mode === 'upsert' ? 'key' : 'id';
}

type NoteProblem = (
	message: string,
	field?: string,
	more?: Pick<Problem, 'hint' | 'remedy'>,
) => void;

/** Plans rows, one after the other. Sends nothing. */
export class Planner {
	private readonly keys: FieldDefinition[];
	private readonly fields: ReadonlyMap<string, FieldDefinition>;
	private readonly writable: FieldDefinition[];
	private readonly fieldsHint: string;
	private readonly required: FieldDefinition[];
	private readonly identity: 'key' | 'id' | undefined;
	private readonly suggestions = new Map<string, string>();
	private readonly records: Entry[] = [];
	private readonly problems: RowProblem[] = [];
	private readonly ignored = new Set<string>();

	/**
	 * @throws {InputError} if no item could be written: the table has no field that can be its import
	 *   key, or not the one that is named
	 */
	constructor(
		private readonly table: TableDefinition,
		private readonly options: PlanOptions,
	) {
		this.keys = keyFields(table, options);
		if (options.mode === 'upsert' && !options.matchOn) requireKey(table, this.keys[0]);
		this.identity = identifiedBy(options);
		this.fields = new Map(table.fields.map((field) => [field.name, field]));
		this.writable = table.fields.filter(isWritable);
		this.fieldsHint = `${listFields(table)} Correct the name, or set '${LABELS.unknownFields}' in the options to 'Ignore'.`;
		const setsAllFields = options.mode === 'create' || options.mode === 'replace';
		this.required = setsAllFields ? this.writable.filter((field) => field.metadata.required) : [];
	}

	add(row: PlanInput) {
		const record = this.record(row);
		if (record) this.records.push(record);
	}

	/** The plan for all rows. */
	finish(): Plan {
		const { records, problems, ignored, fields } = this;
		const merged = new Map<number, number>();
		const plan = { records, problems, merged, ignored, notices: [] };
		return resolveDuplicates(plan, this.options, (name) => fields.get(name)!);
	}

	/** Plans one row. Undefined if it has problems, which are noted. */
	private record({ index, values, id, problems = [] }: PlanInput): Entry | undefined {
		const noted = this.problems.length;
		const problem: NoteProblem = (message, field, more) =>
			this.problems.push({ index, message, field, ...more });
		for (const { message, field } of problems) problem(message, field);
		if (!isObject(values)) {
			problem('the item has no JSON data');
			return undefined;
		}
		const fields = this.fieldValues(index, values, problem);
		const isReported = (name: string) =>
			this.problems.slice(noted).some(({ field }) => field === name);
		for (const [name, message] of this.missingValues(index, fields)) {
			if (!isReported(name)) problem(message, name);
		}
		const needsId = this.identity === 'id';
		const wrongId = needsId ? idProblem(id) : undefined;
		if (wrongId !== undefined) problem(wrongId, 'id', { hint: GIVE_IDS });
		const nothing = this.problems.length === noted && this.nothingLeft(fields, values);
		if (nothing) this.problems.push({ index, ...nothing });
		const key = recordKey(this.keys, fields);
		if (this.problems.length > noted) {
			const isShown = key !== undefined && visibleText(key.text) !== '';
			if (isShown) for (const each of this.problems.slice(noted)) each.key = key.text;
			return undefined;
		}
		return {
			index,
			id: needsId ? idKey((id as string).trim()) : undefined,
			key: key?.text,
			fields,
		};
	}

	/** The values to send. Those that can't be sent are noted as problems. */
	private fieldValues(
		index: number,
		values: Record<string, unknown>,
		problem: NoteProblem,
	): FieldValues {
		const { unknownFields, isFromInput, empty, sourceOf } = this.options;
		const entries: Array<[string, JsonValue]> = [];
		for (const [name, raw] of Object.entries(values)) {
			const field = this.fields.get(name);
			if (field && isFromInput && this.isLeftOut(field, raw)) {
				this.ignored.add(field.header);
			} else if (!field || !isWritable(field)) {
				if (unknownFields !== 'error') continue;
				if (field) problem(`'${name}' is read-only`, name);
				else this.noteUnknown(name, problem);
			} else {
				// An expression without a result is empty. What an item itself lacks is not sent.
				const given = raw === undefined && !isFromInput ? null : raw;
				const converted = toFieldValue(field, given, empty);
				if (converted === 'leave') continue;
				if ('problem' in converted) {
					const remedy = remedyOf(field, raw, sourceOf?.(index, field));
					problem(`'${name}' ${converted.problem}${remedy}`, name, remedy ? { remedy } : {});
					continue;
				}
				entries.push([name, converted.value]);
			}
		}
		return Object.fromEntries(entries);
	}

	/** What automatic mapping does not write, so that a record can be written back as it was read. */
	private isLeftOut(field: FieldDefinition, value: unknown): boolean {
		if (!isWritable(field) || isOnlyRead(field, value)) return true;
		return isUnknown(field) && !this.keys.includes(field);
	}

	/** The fields that need another value than they have, each with a message. */
	private *missingValues(
		index: number,
		fields: FieldValues,
	): Generator<[name: string, message: string]> {
		for (const { name } of this.required) {
			// A field may be called `constructor`: only the record's own values count.
			const isMissing = !Object.hasOwn(fields, name) || fields[name] === null;
			if (isMissing) yield [name, `'${name}' is required`];
		}
		if (this.identity !== 'key') return;
		const what = this.options.matchOn ? 'field to match on' : 'import key';
		for (const field of this.keys) {
			const value = getOwn<JsonValue>(fields, field.name) ?? null;
			const problem = isBlank(value)
				? 'has no value'
				: keyProblem(field, value, () => this.options.sourceOf?.(index, field));
			if (problem !== undefined) yield [field.name, `the ${what} '${field.name}' ${problem}`];
		}
	}

	/**
	 * The problem of a record in which no field has a value: it would be created empty, or cleared
	 * except for what it is found by.
	 */
	private nothingLeft(fields: FieldValues, values: object): Omit<RowProblem, 'index'> | undefined {
		const { mode, mayBeEmpty } = this.options;
		const isById = mode === 'upsert' && this.identity === 'id';
		const isNew = !mayBeEmpty && (mode === 'create' || isById);
		if (!isNew && mode !== 'replace') return undefined;
		const keys = new Set(this.identity === 'key' ? this.keys.map(({ name }) => name) : []);
		const isNothing = ([name, value]: [string, JsonValue]) =>
			keys.has(name) || changesNothing(value) || (isNew && isBlank(value));
		if (!Object.entries(fields).every(isNothing)) return undefined;
		if (!isNew) return NOTHING_LEFT;
		const names = Object.keys(values);
		const input = names.length > 0 ? `These have no value: ${nameList(names)}. ` : '';
		return {
			message: 'no field has a value, so the record would be empty',
			hint: `${input}${listFields(this.table)} Does the input name its values as the node expects?`,
		};
	}

	/** Lists the fields if none of them is nearly the same. */
	private noteUnknown(name: string, problem: NoteProblem) {
		let suggestion = this.suggestions.get(name);
		if (suggestion === undefined && this.suggestions.size < MAX_SUGGESTIONS) {
			suggestion = didYouMean(name, this.writable);
			this.suggestions.set(name, suggestion);
		}
		problem(
			`table '${this.table.header}' has no field '${name}'${suggestion ?? ''}`,
			name,
			suggestion ? {} : { hint: this.fieldsHint },
		);
	}
}

/** Plans rows with pauses, because planning many at once would block n8n. @throws as `Planner` does */
export async function planRecords(
	table: TableDefinition,
	rows: Iterable<PlanInput>,
	options: PlanOptions,
): Promise<Plan> {
	const planner = new Planner(table, options);
	const pause = createPause();
	for (const row of rows) {
		planner.add(row);
		await pause();
	}
	const plan = planner.finish();
	await pause();
	return plan;
}
