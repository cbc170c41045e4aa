/**
 * The values that an item gives for a record's fields.
 */
import type { IDataObject } from 'n8n-workflow';

import { addressKey } from '../api/endpoints';
import type { WriteOptions } from '../api/records';
import type { TableAddress, TableDefinition } from '../api/types';
import { InputError } from '../transport/errors';
import {
	planRecords,
	type MatchOn,
	type Plan,
	type PlanOptions,
	type Problem,
	type PlannedRecord,
} from '../bulk/plan';
import type { EmptyPolicy } from '../fields/values';
import { linkResolver, linkRules, type LinkParameter } from './linkInput';
import { requireChoice, type RunContext, type TableParameter } from './run';
import { isObject } from '../transport/json';
import { MIB } from '../transport/streams';
import { nameList } from '../transport/text';
import { OUTCOMES } from '../bulk/outcome';
import { prefixedName, RECORD_PROPERTIES, RESERVED_NAMES, unprefixedName } from './recordOutput';

/** Reads the field values of one item. */
export type ValuesReader = (index: number) => unknown;

type Names = ReadonlySet<string>;

const PROPERTIES: Names = new Set(RECORD_PROPERTIES);
const OUTPUT_KEYS: Names = new Set(RESERVED_NAMES);

/** What an item of an error output has beside the data of the input item. */
const ERROR_KEYS: Names = new Set(['error', 'message', 'details']);

const isErrorOutput = ({ error, details }: IDataObject) =>
	typeof error === 'string' && isObject(details) && typeof details.outcome === 'string';

/** Whether an item is a record as this node returns it, so that its own keys are known. */
function isRecordOutput({ id, created, modified, ver, outcome }: IDataObject, isField: Names) {
	if (OUTCOMES.some((known) => known === outcome) && !isField.has('outcome')) return true;
	return [id, created, modified].every((text) => typeof text === 'string') && Number.isInteger(ver);
}

/** Which keys of an item are this node's own and name no field. */
function ownKeysOf(json: IDataObject, isField: Names, isRecord: boolean) {
	const isError = isErrorOutput(json);
	return (name: string): boolean => {
		if (isError && ERROR_KEYS.has(name)) return true;
		if (isRecord) return OUTPUT_KEYS.has(name);
		if (!isField.has(name)) return PROPERTIES.has(name);
		const prefixed = prefixedName(name);
		return prefixed !== name && Object.hasOwn(json, prefixed) && !isField.has(prefixed);
	};
}

/** Finds a field by its name, or by its header where only one field has it. */
function fieldFinder({ fields }: TableDefinition) {
	const isField = new Set(fields.map(({ name }) => name));
	const byHeader = new Map<string, string | undefined>();
	const plain = (header: string) => header.trim().toLowerCase();
	for (const { name, header } of fields) {
		byHeader.set(plain(header), byHeader.has(plain(header)) ? undefined : name);
	}
	// The mapper shows a hint behind some headers: E-mail (import key).
	const nameOf = (header: string) =>
		byHeader.get(plain(header)) ?? byHeader.get(plain(header.replace(/ \([^()]*\)$/, '')));
	return { isField, nameOf };
}

type FieldFinder = ReturnType<typeof fieldFinder>;

/** @throws {InputError} where two entries give a field different values */
function withoutConflicts(
	entries: Array<[given: string, field: string, value: unknown]>,
): Record<string, unknown> {
	const values = new Map<string, { given: string; value: unknown }>();
	for (const [given, field, value] of entries) {
		const other = values.get(field);
		if (other && JSON.stringify(other.value) !== JSON.stringify(value)) {
			throw new InputError(
				`'${other.given}' and '${given}' are the same field, but have different values`,
				{ field, hint: 'Remove one of them from the item.' },
			);
		}
		values.set(field, { given, value });
	}
	return Object.fromEntries([...values].map(([field, { value }]) => [field, value]));
}

/** The field that a name at the top level means; the name itself where it means none. */
function fieldNameOf(name: string, { isField, nameOf }: FieldFinder, isRecord: boolean): string {
	const field = unprefixedName(name);
	if (isField.has(field) && (isRecord || !isField.has(name))) return field;
	return isField.has(name) ? name : (nameOf(name) ?? name);
}

/**
 * What a column of a file is: a field's, one that this node writes beside them, one that may be either,
 * or neither.
 */
export type ColumnTarget = { field: string } | { unclear: string } | 'own' | 'unknown';

/** What the columns of a table in a file are, by their names. */
export function columnTargets(header: string[], table: TableDefinition): ColumnTarget[] {
	const finder = fieldFinder(table);
	const json = Object.fromEntries(header.map((name) => [name, null]));
	const isRecord = RECORD_PROPERTIES.every((name) => Object.hasOwn(json, name));
	const isOwnKey = ownKeysOf(json, finder.isField, isRecord);
	const fieldOf = (name: string) => fieldNameOf(name, finder, isRecord);
	/** Whether no other column is the field's that such a name may mean. */
	const isOnly = (name: string, field: string) =>
		header.every((other) => other === name || fieldOf(other) !== field);
	return header.map((name) => {
		const field = fieldOf(name);
		const isField = finder.isField.has(field);
		if (!isOwnKey(name)) return isField ? { field } : 'unknown';
		return isField && !PROPERTIES.has(name) && isOnly(name, field) ? { unclear: field } : 'own';
	});
}

/** Values by field name of an item whose fields stand at the top level. */
function flatValues(json: IDataObject, finder: FieldFinder): Record<string, unknown> {
	const { isField } = finder;
	const isRecord = isRecordOutput(json, isField);
	const isOwnKey = ownKeysOf(json, isField, isRecord);
	const fieldOf = (name: string) => fieldNameOf(name, finder, isRecord);
	const names = Object.keys(json);
	// Most items need no copy.
	if (names.every((name) => !isOwnKey(name) && fieldOf(name) === name)) return json;
	return withoutConflicts(
		names
			.filter((name) => !isOwnKey(name))
			.map((name): [string, string, unknown] => [name, fieldOf(name), json[name]]),
	);
}

/**
 * The values of an item that holds a record's `fields` as this node returns them, and perhaps
 * other values that were added beside them.
 *
 * @throws {InputError} where the two give a field different values
 */
function nestedValues(json: IDataObject, isField: Names): Record<string, unknown> {
	const { fields, ...others } = json;
	const isRecord = typeof json.id === 'string' || isRecordOutput(json, isField);
	const isOwnKey = ownKeysOf(others, isField, isRecord);
	const added = Object.entries(others).filter(([name]) => !isOwnKey(name));
	const nested = fields as IDataObject;
	for (const [name, value] of added) {
		if (!Object.hasOwn(nested, name)) continue;
		if (JSON.stringify(nested[name]) === JSON.stringify(value)) continue;
		throw new InputError(`'${name}' has one value in the item and another in its 'fields'`, {
			field: name,
			hint: 'Remove one of them from the item.',
		});
	}
	return added.length === 0 ? nested : { ...nested, ...Object.fromEntries(added) };
}

/**
 * Whether an item is a record as this node returns it without Simplify. Where a field is itself called
 * `fields`, only what can be nothing else counts: the node's own keys, and in `fields` fields only.
 */
function isNestedRecord(json: IDataObject, isField: Names): boolean {
	if (!isObject(json.fields)) return false;
	if (!isField.has('fields')) return true;
	const { fields, ...others } = json as IDataObject & { fields: IDataObject };
	return (
		isRecordOutput(json, isField) &&
		Object.keys(others).every(ownKeysOf(others, isField, true)) &&
		Object.keys(fields).every((name) => isField.has(name))
	);
}

/**
 * Field values from JSON, as of an item: its own keys, or, where it is a record as this node returns
 * it without Simplify, those under `fields`.
 */
export function jsonReader(table: TableDefinition): (json: unknown) => unknown {
	const finder = fieldFinder(table);
	const { isField } = finder;
	return (given) => {
		if (!isObject(given)) return undefined;
		const json = given as IDataObject;
		return isNestedRecord(json, isField) ? nestedValues(json, isField) : flatValues(json, finder);
	};
}

function itemReader(run: RunContext<never>, table: TableDefinition): ValuesReader {
	const valuesOf = jsonReader(table);
	return (index) => valuesOf(run.json(index));
}

const isMappedAutomatically = (run: RunContext<'columns'>, index: number) =>
	run.context.getNodeParameter('columns.mappingMode', index) === 'autoMapInputData';

/**
 * Reads values as mapped in the editor, or each item's own where mapping is automatic.
 *
 * @param index the item that says how it is mapped, which is the same for all
 */
export function valuesReader(
	run: RunContext<'columns'>,
	index: number,
	table: TableDefinition,
): ValuesReader {
	if (isMappedAutomatically(run, index)) return itemReader(run, table);
	// n8n's own check knows the table as it was when the workflow was saved; ours knows it as it is.
	return (at) =>
		run.context.getNodeParameter('columns.value', at, {}, { skipValidation: true }) ?? {};
}

/** Options of every operation that writes fields. */
type FieldOptions = 'options.emptyValues' | 'options.unknownFields';

/** How large a request may be that creates linked records. */
const MAX_LINK_BATCH_BYTES = 4 * MIB;

/** What happens to values that are empty or unknown. @throws {InputError} */
export const valuePoliciesOf = (run: RunContext<FieldOptions>, index: number) => ({
	empty: requireChoice<EmptyPolicy>(
		run.option<unknown>('options.emptyValues', index, 'leave'),
		'Empty Values',
		['leave', 'clear', 'error'],
	),
	unknownFields: requireChoice<PlanOptions['unknownFields']>(
		run.option<unknown>('options.unknownFields', index, 'error'),
		'Unknown Fields',
		['error', 'ignore'],
	),
});

/** What happens to items with the same key. @throws {InputError} */
export const duplicatesOf = (run: RunContext<'options.duplicates'>, index: number) =>
	requireChoice<PlanOptions['duplicates']>(
		run.option<unknown>('options.duplicates', index, 'merge'),
		'Duplicates in the Input',
		['merge', 'error'],
	);

/** @throws {InputError} where an option is none of its choices */
export function planOptions(
	run: RunContext<'columns' | FieldOptions>,
	index: number,
	mode: PlanOptions['mode'],
	duplicates: PlanOptions['duplicates'],
	importKey?: string,
): PlanOptions {
	return {
		mode,
		duplicates,
		...valuePoliciesOf(run, index),
		importKey,
		isFromInput: isMappedAutomatically(run, index),
	};
}

export const writeOptions = (
	run: RunContext<'options.skipAudit'>,
	index: number,
): WriteOptions => ({
	skipAudit: run.flag('options.skipAudit', 'Skip Audit', index),
});

/** Names the fields of the input that are not written, once in a run. */
export function hintIgnored(run: RunContext<never>, { ignored }: Pick<Plan, 'ignored'>) {
	if (ignored.size === 0) return;
	run.hintOnce(`Left out, because the platform only lets them be read: ${nameList([...ignored])}.`);
}

/** Without one of its fields, and the values without one for it. */
function without(name: string, table: TableDefinition, values: unknown) {
	const fields = table.fields.filter((field) => field.name !== name);
	const entries = isObject(values) ? Object.entries(values).filter(([key]) => key !== name) : [];
	return { table: { ...table, fields }, values: Object.fromEntries(entries) };
}

/** What `plannedRecord` reads. */
export type PlannedRecordParameter =
	| TableParameter
	| 'columns'
	| 'options.skipAudit'
	| FieldOptions
	| LinkParameter;

interface PlannedRecordOptions {
	id?: string;
	matchOn?: MatchOn;
	except?: string;
	defersLinks?: boolean;
}

/**
 * One item's record, checked against the table.
 *
 * @param id the record's, where an existing one is meant
 * @param matchOn how its record is found, where the mode does not say so
 * @param except a field that is written by other means
 * @param defersLinks whether linked records are created later, by `createLinkedRecords`
 * @throws {InputError} that names all its problems
 */
export async function plannedRecord(
	run: RunContext<PlannedRecordParameter>,
	index: number,
	mode: PlanOptions['mode'],
	{ id, matchOn, except, defersLinks = false }: PlannedRecordOptions = {},
): Promise<PlannedRecord> {
	const at = run.table(index);
	const definition = await run.definition(at);
	const mapped = valuesReader(run, index, definition)(index);
	const { table, values } =
		except === undefined
			? { table: definition, values: mapped }
			: without(except, definition, mapped);
	const links = linkResolver(run, at);
	const rules = linkRules(run, index, table);
	if (rules.size > 0 && run.items.length > 1) await lookAhead(run, at, definition);
	const rows = await links.resolve(table, [{ index, values, id }], rules);
	const plan = planRecords(table, rows, { ...planOptions(run, index, mode, 'error'), matchOn });
	hintIgnored(run, plan);
	const record = plan.records[0];
	if (!record) throw nothingSent(plan.problems);
	if (!defersLinks) await createLinkedRecords(run, index, record, table);
	return record;
}

const lookAheads = new WeakMap<object, Map<string, Promise<void>>>();

/** Looks up what all items of a table link to, once in a run: one request instead of one an item. */
async function lookAhead(
	run: RunContext<PlannedRecordParameter>,
	at: TableAddress,
	definition: TableDefinition,
): Promise<void> {
	const ofRun = lookAheads.get(run) ?? new Map<string, Promise<void>>();
	lookAheads.set(run, ofRun);
	const name = addressKey(at);
	const rowOf = (index: number) => {
		try {
			const { application, table } = run.table(index);
			if (application !== at.application || table !== at.table) return [];
			const values = valuesReader(run, index, definition)(index);
			return [{ values, rules: linkRules(run, index, definition) }];
		} catch {
			// What is wrong with an item is said when its turn comes.
			return [];
		}
	};
	const looking =
		ofRun.get(name) ??
		linkResolver(run, at).lookAhead(definition, [...run.items.keys()].flatMap(rowOf));
	ofRun.set(name, looking);
	await looking;
}

/**
 * Creates the linked records that a planned record needs.
 *
 * @throws {InputError} where one can't be created
 */
export async function createLinkedRecords(
	run: RunContext<PlannedRecordParameter>,
	index: number,
	record: PlannedRecord,
	table: TableDefinition,
): Promise<void> {
	const plan = { records: [record], problems: [], merged: new Map(), ignored: new Set<string>() };
	await linkResolver(run, run.table(index)).createMissing(plan, table, {
		batchBytes: MAX_LINK_BATCH_BYTES,
		...writeOptions(run, index),
	});
	if (plan.problems.length > 0) throw nothingSent(plan.problems);
}

const nothingSent = (problems: Problem[]) =>
	new InputError(`Nothing was sent: ${problems.map(({ message }) => message).join('; ')}`, {
		field: problems[0]?.field,
		hint:
			problems[0]?.hint ??
			"Correct it under 'Values to Send', or in the input where fields are mapped automatically.",
	});
