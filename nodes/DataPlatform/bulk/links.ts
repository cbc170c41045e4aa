/**
 * Links by business key: a value in a link field, such as a company's name, becomes the record ID
 * that the platform takes. This happens before planning, so that later steps see only IDs.
 */
import type { LinkTarget } from '../api/linkedRecords';
import type { FieldDefinition, JsonValue, TableDefinition } from '../api/types';
import { importKeyOf, isOnlyRead, isWritable } from '../fields';
import { fromJsonText, isPlainObject, show } from '../fields/convert';
import { isCleared } from '../fields/fieldType';
import { canBeKey, keyForm, toFieldValue } from '../fields/values';
import type { ApiClient } from '../transport/client';
import { failureAsValue, InputError, ServiceError } from '../transport/errors';
import { getOwn, isObject } from '../transport/json';
import { detached } from '../transport/text';
import { isSuccess, type ItemOutcome } from './outcome';
import { lookUpValues, similarText, type ValueMatch } from './lookup';
import { planRecords, type Plan, type PlanInput } from './plan';
import type { Entry } from './entry';
import { readLastChange } from './lastChange';
import type { Task } from './task';
import { writeMany } from './write';

/** How to resolve the values of a link field if they are not record IDs. */
export interface LinkRule {
	/** The field of the linked table that holds them; by default its import key. */
	linkedField?: string;
	ifNotFound: 'error' | 'leaveEmpty' | 'create';
}

/** By the link field's name. */
export type LinkRules = ReadonlyMap<string, LinkRule>;

/** The options of the run that apply to creating linked records. */
export type LinkWriteOptions = Pick<Task, 'batchBytes' | 'skipAudit'>;

/** One link of a value: by ID, or by a value to look up. */
type Link = { id: string } | { value: unknown };

/** A parsed value of a link field. */
interface LinkValue {
	isMany: boolean;
	add: Link[];
	remove: Link[];
}

/** A record to create because a link needs it; `id` is set once it exists. */
interface MissingRecord {
	catalog: Catalog;
	text: string;
	value: JsonValue;
	id?: string;
	problem?: string;
}

/** The values of one field of a linked table that were looked up in this run. */
interface Catalog {
	target: LinkTarget;
	field: FieldDefinition;
	known: Map<string, ValueMatch>;
	/** Records to create, by value. `similar` finds a value regardless of case and spaces. */
	missing: Map<string, MissingRecord>;
	similar: Map<string, string>;
}

const isId = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** A link that was read from the platform has an ID, whatever else it has. */
const toLink = (value: unknown): Link =>
	isObject(value) && isId(value.id) ? { id: value.id } : { value };

/** @returns undefined if it is not a value of such a field */
function parseLinkValue({ metadata }: FieldDefinition, raw: unknown): LinkValue | undefined {
	if (!metadata.multiple) return { isMany: false, add: [toLink(raw)], remove: [] };
	const value = fromJsonText(raw);
	if (Array.isArray(value)) return { isMany: true, add: value.map(toLink), remove: [] };
	if (!isPlainObject(value) || isId(value.id)) {
		return { isMany: true, add: [toLink(value)], remove: [] };
	}
	const { add = [], remove = [] } = value;
	const isChange = 'add' in value || 'remove' in value;
	if (!isChange || !Array.isArray(add) || !Array.isArray(remove)) return undefined;
	return { isMany: true, add: add.map(toLink), remove: remove.map(toLink) };
}

const writableLinks = ({ fields }: TableDefinition) =>
	fields.filter((field) => field.type === 'schema_link' && isWritable(field));

/** An item's value for a link field; undefined if there is nothing to look up. */
function givenValue(field: FieldDefinition, values: unknown): unknown {
	const raw = isObject(values) ? getOwn(values, field.name) : undefined;
	// Planning deals with values that the platform only shows.
	return isCleared(raw) || isOnlyRead(field, raw) ? undefined : raw;
}

/** The values of links that must be looked up. */
const valuesOf = ({ add, remove }: LinkValue): unknown[] =>
	[...add, ...remove].filter((link) => 'value' in link).map(({ value }) => value);

/** A value as it is looked up. */
interface Wanted {
	text: string;
	isCertain: boolean;
	value: JsonValue;
}

function toWanted(field: FieldDefinition, raw: unknown): Wanted | { problem: string } {
	const converted = toFieldValue(field, typeof raw === 'string' ? raw.trim() && raw : raw, 'error');
	if (converted === 'leave') return { problem: 'is empty' };
	if ('problem' in converted) return converted;
	// The field can be a key, so each of its values has a stored form.
	return { ...keyForm(field, converted.value)!, value: converted.value };
}

/** The items that create records, by the value of their import key. */
interface OwnKeys {
	tableId: string;
	items: Map<string, number>;
}

function ownKeys(table: TableDefinition, rows: PlanInput[]): OwnKeys {
	const items = new Map<string, number>();
	const key = importKeyOf(table);
	for (const { index, values } of rows) {
		if (!key || !isObject(values)) continue;
		const wanted = toWanted(key, getOwn(values, key.name));
		if ('text' in wanted && !items.has(wanted.text)) items.set(wanted.text, index);
	}
	return { tableId: table.id, items };
}

/** What a value resolved to; undefined if its link is omitted. */
type LinkedId = { id: string } | { problem: string } | undefined;

export class LinkResolver {
	private readonly catalogs = new Map<string, Catalog>();
	/** The records that are not created yet, by the placeholder for their ID. */
	private readonly placeholders = new Map<string, MissingRecord>();
	/** The keys of the records that the items create, if these must not exist before. */
	private own?: OwnKeys;
	/** How many linked records this run created. */
	createdCount = 0;

	/** @param targetOf returns the table that a link field points to */
	constructor(
		private readonly client: ApiClient,
		private readonly targetOf: (field: FieldDefinition) => Promise<LinkTarget>,
	) {}

	/**
	 * Returns the rows with record IDs in their link fields. If a row's links can't be resolved, the
	 * row lists the problems. A placeholder stands for a record that is not created yet.
	 *
	 * @param keepsOwn whether links must not create a record of this same table that an item creates:
	 *   it would already exist when that item is written
	 * @throws {ServiceError} if looking up fails for all items
	 */
	async resolve(
		table: TableDefinition,
		rows: PlanInput[],
		rules: LinkRules,
		keepsOwn = false,
	): Promise<PlanInput[]> {
		const resolved = [...rows];
		this.own = keepsOwn ? ownKeys(table, rows) : undefined;
		for (const field of writableLinks(table)) {
			const rule = rules.get(field.name);
			if (rule) await this.resolveField(field, rule, resolved, table.id);
		}
		return resolved;
	}

	/**
	 * Looks up the links of many items with few requests, before the items are resolved one by one.
	 * It ignores failures: `resolve` reports them for the items concerned.
	 *
	 * @param rows each item's values and rules
	 */
	async lookAhead(
		table: TableDefinition,
		rows: Iterable<{ values: unknown; rules: LinkRules }>,
	): Promise<void> {
		const items = [...rows];
		for (const field of writableLinks(table)) {
			const byRule = new Map<string, { rule: LinkRule; values: unknown[] }>();
			for (const { values, rules } of items) {
				const rule = rules.get(field.name);
				const raw = givenValue(field, values);
				if (!rule || raw === undefined) continue;
				const links = parseLinkValue(field, raw);
				if (!links) continue;
				const name = JSON.stringify(rule);
				const same = byRule.get(name) ?? { rule, values: [] };
				byRule.set(name, same);
				for (const value of valuesOf(links)) same.values.push(value);
			}
			for (const { rule, values } of byRule.values()) {
				if (values.length > 0) {
					await this.lookUp(field, rule, values, table.id).catch(failureAsValue);
				}
			}
		}
	}

	private async resolveField(
		field: FieldDefinition,
		rule: LinkRule,
		rows: PlanInput[],
		tableId: string,
	) {
		const given = new Map<number, LinkValue>();
		for (const [position, row] of rows.entries()) {
			const raw = givenValue(field, row.values);
			if (raw === undefined) continue;
			const value = parseLinkValue(field, raw);
			if (value) given.set(position, value);
			else rows[position] = withProblem(row, field.name, shapeProblem(raw));
		}
		const values = [...given.values()].flatMap(valuesOf);
		const catalog = values.length > 0 ? await this.lookUp(field, rule, values, tableId) : undefined;
		for (const [position, value] of given) {
			const row = rows[position]!;
			const idOf = (link: Link, isAdded: boolean): LinkedId => {
				if ('id' in link) return link;
				if (typeof catalog === 'string') return { problem: catalog };
				return this.linkedId(catalog!, rule, link.value, isAdded);
			};
			rows[position] = withIds(row, field.name, value, idOf);
		}
	}

	/**
	 * The records of this same table that rows link to, by links that create missing records.
	 *
	 * @throws {ServiceError} if looking up fails
	 */
	async createdLinks(
		table: TableDefinition,
		rows: PlanInput[],
		rules: LinkRules,
	): Promise<string[]> {
		const own: FieldDefinition[] = [];
		for (const field of writableLinks(table)) {
			if (rules.get(field.name)?.ifNotFound !== 'create') continue;
			const target = await this.targetOf(field).catch(unavailable);
			if (typeof target === 'object' && target.table.id === table.id) own.push(field);
		}
		if (own.length === 0) return [];
		const names = new Set(own.map(({ name }) => name));
		const resolved = await this.resolve(
			table,
			rows,
			new Map([...rules].filter(([name]) => names.has(name))),
		);
		return resolved.flatMap(({ values }) =>
			own.flatMap((field) => {
				const value = parseLinkValue(field, givenValue(field, values));
				return (value?.add ?? []).flatMap((link) =>
					'id' in link ? [link.id] : [String(link.value)],
				);
			}),
		);
	}

	/** The catalog with these values looked up; or, in words, why they can't be. */
	private async lookUp(
		field: FieldDefinition,
		rule: LinkRule,
		values: unknown[],
		tableId: string,
	): Promise<Catalog | string> {
		try {
			const catalog = this.catalogOf(await this.targetOf(field), rule);
			if (typeof catalog === 'string') return catalog;
			// The run creates records of this same table: one that was missing may exist now.
			const isOwn = catalog.target.table.id === tableId;
			await lookUpMissing(this.client, catalog, values, isOwn);
			return catalog;
		} catch (error) {
			return unavailable(error);
		}
	}

	private catalogOf(target: LinkTarget, { linkedField, ifNotFound }: LinkRule): Catalog | string {
		const { table } = target;
		const marked = importKeyOf(table);
		const key = linkedField ? table.fields.find(({ name }) => name === linkedField) : marked;
		if (!key) {
			return linkedField
				? `the linked table '${table.header}' has no field '${linkedField}'`
				: `the linked table '${table.header}' has no import key field: choose one of its fields`;
		}
		if (!canBeKey(key)) return `records can't be found by '${key.name}' (${key.type})`;
		if (ifNotFound === 'create') {
			if (key !== marked) {
				return `records of '${table.header}' are created only by their import key${marked ? ` '${marked.name}'` : ', which it does not have'}`;
			}
			const required = table.fields.filter(
				(other) => other !== key && other.metadata.required && isWritable(other),
			);
			if (required.length > 0) {
				return `records of '${table.header}' can't be created by '${key.name}' alone: it also requires '${required.map(({ name }) => name).join("', '")}'`;
			}
		}
		const name = JSON.stringify([target.at.application, table.id, key.name]);
		const catalog = this.catalogs.get(name) ?? {
			target,
			field: key,
			known: new Map(),
			missing: new Map(),
			similar: new Map(),
		};
		this.catalogs.set(name, catalog);
		return catalog;
	}

	private linkedId(
		catalog: Catalog,
		{ ifNotFound }: LinkRule,
		raw: unknown,
		isAdded: boolean,
	): LinkedId {
		const { field, known, target } = catalog;
		const wanted = toWanted(field, raw);
		if ('problem' in wanted) return { problem: `'${field.name}' ${wanted.problem}` };
		const { ids, similar } = known.get(wanted.text)!;
		const where = `of '${target.table.header}'`;
		const what = `${show(raw)} in '${field.name}'`;
		const [first, second] = ids;
		if (second !== undefined) {
			return { problem: `several records ${where} have ${what}: '${ids.join("', '")}'` };
		}
		if (first !== undefined) return { id: first };
		const close = similar === undefined ? '' : `; ${show(similar)} differs only in case or spaces`;
		// A near match may be a typo: neither skip it nor create a second record.
		if (ifNotFound === 'error' || close)
			return { problem: `no record ${where} has ${what}${close}` };
		// A link that does not exist needs no removal.
		if (ifNotFound === 'leaveEmpty' || !isAdded) return undefined;
		const own = target.table.id === this.own?.tableId ? this.own.items.get(wanted.text) : undefined;
		if (own !== undefined) {
			return {
				problem: `no record ${where} has ${what} yet: item ${own} creates it. Only an operation on many records links items to each other`,
			};
		}
		return this.placeholder(catalog, wanted);
	}

	/** A placeholder for the ID of a record that is not created yet. */
	private placeholder(catalog: Catalog, { text, value }: Wanted): LinkedId {
		const { missing, similar, target, field } = catalog;
		const first = similar.get(similarText(text)) ?? text;
		if (first !== text) {
			return {
				problem: `${show(text)} is to be created in '${target.table.header}', but another item has ${show(first)}, which differs only in case or spaces`,
			};
		}
		const record = missing.get(text) ?? { catalog, text, value };
		missing.set(text, record);
		similar.set(similarText(text), text);
		if (record.problem !== undefined) return { problem: record.problem };
		const name = `new record of '${target.table.internalName}' with ${show(text)} in '${field.name}'`;
		const other = this.placeholders.get(name);
		const id =
			other === undefined || other === record ? name : `${name} (${target.table.id}: ${text})`;
		this.placeholders.set(id, record);
		return { id };
	}

	/**
	 * Creates the linked records that planned records need, and fills in their IDs. If a linked
	 * record can't be created, the records that need it become problems of the plan.
	 */
	async createMissing(plan: Plan, table: TableDefinition, options: LinkWriteOptions) {
		if (this.placeholders.size === 0) return;
		const names = table.fields.filter(({ type }) => type === 'schema_link').map(({ name }) => name);
		const needed = new Set<MissingRecord>();
		const collect = (id: string) => {
			const missing = this.placeholders.get(id);
			if (missing && missing.id === undefined) needed.add(missing);
			return id;
		};
		for (const record of plan.records) mapIds(record, names, collect);
		for (const catalog of this.catalogs.values()) {
			const missing = [...needed].filter((record) => record.catalog === catalog);
			if (missing.length > 0) await this.createRecords(catalog, missing, options);
		}
		plan.records = plan.records.filter((record) => {
			let isWhole = true;
			mapIds(record, names, (id, field) => {
				const missing = this.placeholders.get(id);
				if (!missing) return id;
				if (missing.id !== undefined) return missing.id;
				isWhole = false;
				plan.problems.push({
					index: record.index,
					field,
					message: `'${field}': ${missing.problem}`,
				});
				return id;
			});
			return isWhole;
		});
	}

	/** In records that are not written, removes the links to records that were not created. */
	dropMissing(records: Entry[], table: TableDefinition) {
		if (this.placeholders.size === 0) return;
		const names = table.fields.filter(({ type }) => type === 'schema_link').map(({ name }) => name);
		for (const record of records) {
			const open = new Set<string>();
			mapIds(record, names, (id, field) => {
				const missing = this.placeholders.get(id);
				if (missing && missing.id === undefined) open.add(field);
				return missing?.id ?? id;
			});
			for (const name of open) delete record.fields[name];
		}
	}

	private async createRecords(
		{ target: { at, table }, field, known }: Catalog,
		missing: MissingRecord[],
		{ batchBytes, skipAudit }: LinkWriteOptions,
	) {
		const rows = missing.map(({ value }, index) => ({ index, values: { [field.name]: value } }));
		const plan = planRecords(table, rows, {
			mode: 'upsert',
			empty: 'leave',
			unknownFields: 'error',
			duplicates: 'merge',
		});
		const setResult = (index: number, { id, message }: ItemOutcome) => {
			const record = missing[index]!;
			if (id !== undefined) {
				record.id = id;
				known.set(record.text, { ids: [id] });
			} else {
				record.problem = `${show(record.text)} could not be created in '${table.header}': ${message!}`;
			}
		};
		await writeMany(
			{ client: this.client, at, table },
			plan.records,
			{
				...{ batchBytes, skipAudit },
				mode: 'upsert',
				batchSize: 0,
				parallelRequests: 0,
				skipUnchanged: false,
				dryRun: false,
				stopAtFailure: false,
			},
			await readLastChange(this.client, at, table),
			({ index }, outcome) => {
				if (outcome.outcome === 'inserted') this.createdCount += 1;
				setResult(index, isSuccess(outcome) ? outcome : { ...outcome, id: undefined });
			},
		);
	}
}

/** How many values of a linked table to remember. Older ones are looked up again. */
export const MAX_REMEMBERED = 100_000;

const shapeProblem = (raw: unknown) =>
	` takes values of the linked records, or {"add":[values],"remove":[values]}, not ${show(raw)}`;

const withProblem = (row: PlanInput, field: string, text: string): PlanInput => {
	const others = Object.entries(row.values as object).filter(([name]) => name !== field);
	const problems = [...(row.problems ?? []), { field, message: `'${field}'${text}` }];
	return { ...row, values: Object.fromEntries(others), problems };
};

/** The row with IDs in a link field, or with the problems of the field. */
function withIds(
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
			return linked && 'id' in linked ? [linked.id] : [];
		});
	const ids = { add: idsOf(add, true), remove: idsOf(remove, false) };
	if (problems.length > 0) {
		return withProblem(row, field, `: ${[...new Set(problems)].join('; ')}`);
	}
	const many = remove.length > 0 ? ids : ids.add;
	const values = row.values as Record<string, unknown>;
	return { ...row, values: { ...values, [field]: isMany ? many : (ids.add[0] ?? null) } };
}

/**
 * Looks up the values that are not known yet, many per request.
 *
 * @param isGrowing whether a record may have been created since for a value that had none
 */
async function lookUpMissing(
	client: ApiClient,
	{ target, field, known }: Catalog,
	raw: unknown[],
	isGrowing: boolean,
) {
	const entries = raw
		.map((value) => toWanted(field, value))
		.filter((entry): entry is Wanted => 'text' in entry);
	if (known.size > MAX_REMEMBERED) {
		const needed = new Set(entries.map(({ text }) => text));
		for (const text of known.keys()) if (!needed.has(text)) known.delete(text);
	}
	const wanted = new Map<string, Wanted>();
	for (const entry of entries) {
		const match = known.get(entry.text);
		if (match && (match.ids.length > 0 || !isGrowing)) continue;
		wanted.set(entry.text, entry);
	}
	const found = await lookUpValues(client, target.at, field, [...wanted.values()]);
	for (const [text, match] of found) known.set(detached(text), match);
}

/** Why a linked table can't be used. Throws errors that concern more than this table. */
function unavailable(error: unknown): string {
	if (error instanceof InputError) return error.message;
	const isTheirs = error instanceof ServiceError && [403, 404].includes(error.status ?? 0);
	if (!isTheirs) throw error;
	return `its linked table can't be read: ${error.message}`;
}

/** Replaces the IDs in a record's link fields. */
function mapIds(record: Entry, names: string[], map: (id: string, field: string) => string) {
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
