/**
 * Links by business key: a value in a link field, such as a company's name, becomes the record ID
 * that the platform takes. This happens before planning, so that later steps see only IDs.
 */
import type { LinkTarget } from '../api/linkedRecords';
import type { FieldDefinition, TableDefinition } from '../api/types';
import { importKeyOf } from '../fields';
import { show } from '../fields/convert';
import type { ApiClient } from '../transport/client';
import { serviceErrorOrThrow, InputError, ServiceError } from '../transport/errors';
import { getOwn, isObject } from '../transport/json';
import type { Entry } from './entry';
import {
	catalogOf,
	lookUpMissing,
	type Catalog,
	type LinkRule,
	type MissingRecord,
} from './linkCatalog';
import { readLastChange } from './lastChange';
import {
	mapIds,
	readLinks,
	toWanted,
	valuesOf,
	withIds,
	withProblem,
	writableLinks,
	type Link,
	type LinkedId,
	type LinkValue,
	type Wanted,
} from './linkValues';
import { similarText } from './lookup';
import { isSuccess } from './outcome';
import { type PlanOptions, planRecords, type Plan, type PlanInput } from './plan';
import type { Task } from './task';
import { writeMany } from './write';

/** By the link field's name. */
export type LinkRules = ReadonlyMap<string, LinkRule>;

/** The options of the run that apply to creating linked records. */
export type LinkWriteOptions = Pick<Task, 'batchBytes' | 'skipAudit'>;

/** The items that create records, by the value of their import key. */
interface KeysToCreate {
	tableId: string;
	items: Map<string, number>;
}

function keysToCreate(table: TableDefinition, rows: PlanInput[]): KeysToCreate {
	const items = new Map<string, number>();
	const key = importKeyOf(table);
	for (const { index, values } of rows) {
		if (!key || !isObject(values)) continue;
		const wanted = toWanted(key, getOwn(values, key.name));
		if ('text' in wanted && !items.has(wanted.text)) items.set(wanted.text, index);
	}
	return { tableId: table.id, items };
}

export class LinkResolver {
	private readonly catalogs = new Map<string, Catalog>();
	/** The records that are not created yet, by the placeholder for their ID. */
	private readonly placeholders = new Map<string, MissingRecord>();
	/** The keys of the records that the items create, if these must not exist before. */
	private toCreate?: KeysToCreate & Pick<PlanOptions, 'unit'>;
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
	 * @param createsOwnRows whether an item creates its record and fails if it exists: then links must
	 *   not create that record before
	 * @throws {ServiceError} if looking up fails for all items
	 */
	async resolve(
		table: TableDefinition,
		rows: PlanInput[],
		rules: LinkRules,
		createsOwnRows = false,
		unit: PlanOptions['unit'] = 'item',
	): Promise<PlanInput[]> {
		const resolved = [...rows];
		this.toCreate = createsOwnRows ? { ...keysToCreate(table, rows), unit } : undefined;
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
				const links = readLinks(field, values);
				if (!rule || !links || 'problem' in links) continue;
				const name = JSON.stringify(rule);
				const same = byRule.get(name) ?? { rule, values: [] };
				byRule.set(name, same);
				for (const value of valuesOf(links)) same.values.push(value);
			}
			for (const { rule, values } of byRule.values()) {
				if (values.length > 0) {
					await this.lookUp(field, rule, values, table.id).catch(serviceErrorOrThrow);
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
			const value = readLinks(field, row.values);
			if (!value) continue;
			if ('problem' in value) rows[position] = withProblem(row, field.name, value.problem);
			else given.set(position, value);
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
		const fields: FieldDefinition[] = [];
		for (const field of writableLinks(table)) {
			if (rules.get(field.name)?.ifNotFound !== 'create') continue;
			const target = await this.targetOf(field).catch(unavailable);
			if (typeof target === 'object' && target.table.id === table.id) fields.push(field);
		}
		if (fields.length === 0) return [];
		const creating = new Map(fields.map(({ name }) => [name, rules.get(name)!]));
		const resolved = await this.resolve(table, rows, creating);
		return resolved.flatMap(({ values }) =>
			fields.flatMap((field) => {
				const links = readLinks(field, values);
				if (!links || 'problem' in links) return [];
				return links.add.map((link) => ('id' in link ? link.id : String(link.value)));
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
			const catalog = catalogOf(this.catalogs, await this.targetOf(field), rule);
			if (typeof catalog === 'string') return catalog;
			// The run creates records of this same table: one that was missing may exist now.
			const isOwn = catalog.target.table.id === tableId;
			await lookUpMissing(this.client, catalog, values, isOwn);
			return catalog;
		} catch (error) {
			return unavailable(error);
		}
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
		const { toCreate } = this;
		const item =
			target.table.id === toCreate?.tableId ? toCreate.items.get(wanted.text) : undefined;
		if (item !== undefined) {
			return {
				problem: `no record ${where} has ${what} yet: ${toCreate!.unit} ${item} creates it. Only an operation on many records links items to each other`,
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
		const names = linkNames(table);
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
		const names = linkNames(table);
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
			({ index }, item) => {
				const record = missing[index]!;
				if (item.outcome === 'inserted') this.createdCount += 1;
				if (isSuccess(item) && item.id !== undefined) {
					record.id = item.id;
					known.set(record.text, { ids: [item.id] });
				} else {
					record.problem = `${show(record.text)} could not be created in '${table.header}': ${item.message!}`;
				}
			},
		);
	}
}

const linkNames = ({ fields }: TableDefinition) =>
	fields.filter(({ type }) => type === 'schema_link').map(({ name }) => name);

/** Why a linked table can't be used. Throws errors that concern more than this table. */
function unavailable(error: unknown): string {
	if (error instanceof InputError) return error.message;
	const isTheirs = error instanceof ServiceError && [403, 404].includes(error.status ?? 0);
	if (!isTheirs) throw error;
	return `its linked table can't be read: ${error.message}`;
}
