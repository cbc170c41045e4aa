/** The values of link fields: what an item gives, and what the platform takes. Pure. */
import type { FieldDefinition, JsonValue, TableDefinition } from '../../api/types';
import { isOnlyRead, isWritable } from '../../fields';
import { fromJsonText, isPlainObject, showValue } from '../../fields/convert';
import { isNothing, keyProblem, keyText, toFieldValue } from '../../fields/values';
import { getOwn, isObject } from '../../transport/json';
import type { Entry, PlanInput } from '../terms';

/** One link of a value: by ID, or by a value to look up. */
export type Link = { id: string } | { value: unknown };

/** A parsed value of a link field. */
export interface LinkValue {
	/** Undefined if the value is one, and it is not known whether the field links to many. */
	isMany?: boolean;
	add: Link[];
	remove: Link[];
}

const isId = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** A link that was read from the platform has an ID, whatever else it has. */
const toLink = (value: unknown): Link =>
	isObject(value) && isId(value.id) ? { id: value.id } : { value };

export const writableLinks = ({ fields }: TableDefinition) =>
	fields.filter((field) => field.type === 'schema_link' && isWritable(field));

/** An item's value for a link field; undefined if there is nothing to look up. */
export function readLinks(
	field: FieldDefinition,
	values: unknown,
): LinkValue | { problem: string } | undefined {
	const raw = isObject(values) ? getOwn(values, field.name) : undefined;
	// Planning deals with values that the platform only shows.
	if (isNothing(field, raw) || isOnlyRead(field, raw)) return undefined;
	const { multiple } = field.metadata;
	if (multiple === false) return { isMany: false, add: [toLink(raw)], remove: [] };
	const value = fromJsonText(raw);
	if (Array.isArray(value)) return { isMany: true, add: value.map(toLink), remove: [] };
	if (!isPlainObject(value) || isId(value.id)) {
		return { isMany: multiple, add: [toLink(value)], remove: [] };
	}
	const { add = [], remove = [] } = value;
	const isChange = 'add' in value || 'remove' in value;
	if (!isChange || !Array.isArray(add) || !Array.isArray(remove)) {
		return {
			problem: ` accepts values of the linked records, or {"add":[values],"remove":[values]}, not ${showValue(raw)}`,
		};
	}
	return { isMany: true, add: add.map(toLink), remove: remove.map(toLink) };
}

/** The values of links that must be looked up. */
export const valuesOf = ({ add, remove }: LinkValue): unknown[] =>
	[...add, ...remove].filter((link) => 'value' in link).map(({ value }) => value);

/** A value as it is looked up. */
export interface SoughtValue {
	text: string;
	value: JsonValue;
}

export function toSoughtValue(
	field: FieldDefinition,
	raw: unknown,
): SoughtValue | { problem: string } {
	const converted = toFieldValue(field, typeof raw === 'string' ? raw.trim() && raw : raw, 'error');
	if (converted === 'leave') return { problem: 'is empty' };
	if ('problem' in converted) return converted;
	const { value } = converted;
	const problem = keyProblem(field, value, () => '…');
	return problem === undefined ? { text: keyText(field, value)!, value } : { problem };
}

/** What a value resolved to; undefined if its link is omitted. */
export type LinkedId = { id: string } | { problem: string; isMissing?: boolean } | undefined;

export const withProblem = (row: PlanInput, field: string, text: string): PlanInput => {
	const others = Object.entries(row.values as object).filter(([name]) => name !== field);
	const problems = [...(row.problems ?? []), { field, message: `'${field}'${text}` }];
	return { ...row, values: Object.fromEntries(others), problems };
};

/** The row with IDs in a link field, or with the problems of the field. */
export function withIds(
	row: PlanInput,
	field: string,
	{ isMany, add, remove }: LinkValue,
	idOf: (link: Link, isAdded: boolean) => LinkedId,
): PlanInput {
	const problems: string[] = [];
	const idsOf = (links: Link[], isAdded: boolean) =>
		links.flatMap((link) => {
			const linked = idOf(link, isAdded);
			if (linked && 'problem' in linked) problems.push(linked.problem);
			return linked && 'id' in linked ? [linked] : [];
		});
	const ids = { add: idsOf(add, true), remove: idsOf(remove, false) };
	if (problems.length > 0) {
		return withProblem(row, field, `: ${[...new Set(problems)].join('; ')}`);
	}
	const many = remove.length > 0 ? ids : ids.add;
	const [one = null] = ids.add;
	const values = row.values as Record<string, unknown>;
	const value = isMany === undefined ? one?.id : one;
	return { ...row, values: { ...values, [field]: isMany ? many : (value ?? null) } };
}

/** Replaces the IDs in a record's link fields. */
export function mapIds(record: Entry, names: string[], map: (id: string, field: string) => string) {
	for (const name of names) {
		const value = Object.hasOwn(record.fields, name) ? record.fields[name] : undefined;
		if (!isObject(value)) continue;
		const ids = (list: unknown) => (list as string[]).map((id) => map(id, name));
		const { id, add, remove } = value as Record<string, unknown>;
		record.fields[name] = {
			...(isId(id) && { id: map(id, name) }),
			...(Array.isArray(add) && { add: ids(add) }),
			...(Array.isArray(remove) && { remove: ids(remove) }),
		};
	}
}
