/**
 * Links by business key: a value in a link field becomes the record ID that the platform takes. This
 * happens before planning, so that later steps see only IDs.
 *
 *     { company: 'ACME' } ─▶ resolve ─▶ { company: '0b1c…' }
 *                               └─▶ no such record: a problem, null, or a placeholder
 *                                   for the one that `createMissing` creates
 */
import type { DefinedTable, FieldDefinition, JsonValue, TableDefinition } from '../../api/types';
import { linksOfUnknownKind } from '../../api/learnLinks';
import { importKeyOf, isWritable } from '../../fields';
import { showValue } from '../../fields/convert';
import { resolveTimeZone } from '../../fields/timeZone';
import { canBeKey, isNothing } from '../../fields/values';
import { LABELS } from '../../labels';
import { forEachConcurrent } from '../../transport/concurrency';
import { InputError, ServiceError } from '../../transport/errors';
import { getOwn, isObject } from '../../transport/json';
import { copyOfText } from '../../transport/messageText';
import {
	mapIds,
	readLinks,
	toSoughtValue,
	valuesOf,
	withIds,
	withProblem,
	writableLinks,
	type Link,
	type LinkedId,
	type LinkValue,
	type SoughtValue,
} from './linkValues';
import { lookUpValues, PARALLEL_LOOKUPS, similarText, type ValueMatch } from '../resolve/lookup';
import { isSuccess } from '../outcome';
import { writeMany, WriteSession } from '../send/write';
import type { Entry, LinkRule, LinkRules, Plan, PlanInput, RowProblem, Task } from '../terms';

/** A record to create because a link needs it; `id` is set once it exists. */
interface MissingRecord {
	text: string;
	value: JsonValue;
	id?: string;
	problem?: string;
}

/** The values of one field of a linked table that were looked up in this run. */
interface Catalog {
	target: DefinedTable;
	field: FieldDefinition;
	/** By the value's text. */
	lookedUp: Map<string, ValueMatch>;
	/**
	 * The records to create for this portion, by the placeholder for their ID. `similar` has their
	 * values regardless of case and spaces.
	 */
	missing: Map<string, MissingRecord>;
	similar: Map<string, string>;
}

/** How many values of a linked table to remember from one portion to the next. */
export const MAX_REMEMBERED = 100_000;

export class LinkResolver {
	private readonly catalogs = new Map<string, Catalog>();
	/** Those of the link fields that create missing records, by the field's name. */
	private readonly creating = new Map<string, Catalog>();
	/** What the rows of this portion link to, in the fields whose links are names. */
	readonly linkedIds = new Set<string>();
	/** How many linked records this run created. */
	createdCount = 0;

	/**
	 * @param targetOf returns the table that a link field points to
	 * @param learn completes what the definition does not say of link fields
	 */
	constructor(
		private readonly targetOf: (field: FieldDefinition) => Promise<DefinedTable>,
		readonly learn: (fields: FieldDefinition[]) => Promise<void> = async () => {},
	) {}

	/** Learns whether links point to one record or to many, if that decides what rows' values mean. */
	async learnFor({ fields }: TableDefinition, rows: PlanInput[]) {
		const unknown = linksOfUnknownKind(fields).filter((field) =>
			rows.some(({ values }) => isObject(values) && !isNothing(field, getOwn(values, field.name))),
		);
		if (unknown.length > 0) await this.learn(unknown);
	}

	/**
	 * Forgets which records were missing: those that rows needed exist now. Called before each portion
	 * of rows.
	 */
	startPortion() {
		this.linkedIds.clear();
		for (const { lookedUp, missing, similar } of this.catalogs.values()) {
			if (lookedUp.size > MAX_REMEMBERED) lookedUp.clear();
			if (missing.size === 0) continue;
			// Another value that was not found may differ only in case from one that exists now.
			for (const [text, { ids }] of lookedUp) if (ids.length === 0) lookedUp.delete(text);
			missing.clear();
			similar.clear();
		}
	}

	/**
	 * Returns the rows with record IDs in their link fields. If a row's links can't be resolved, the
	 * row lists the problems. A placeholder stands for a record that `createMissing` creates.
	 *
	 * @param createsRows whether rows don't write all their values to an existing record: then links
	 *   create no record of the same table, because a row for it may follow
	 * @throws {ServiceError} if looking up fails for all items
	 */
	async resolve(
		table: TableDefinition,
		rows: PlanInput[],
		rules: LinkRules,
		createsRows = false,
	): Promise<PlanInput[]> {
		const resolved = [...rows];
		const tableWithoutCreation = createsRows ? table.id : undefined;
		const fields = writableLinks(table).filter(({ name }) => rules.has(name));
		const linksByField = new Map(fields.map((field) => [field, linksIn(field, rows)]));
		const catalogs = await this.lookUp(linksByField, rules, table.id);
		for (const [field, links] of linksByField) {
			const rule = rules.get(field.name)!;
			const idOf = (link: Link, isAdded: boolean): LinkedId => {
				const linked =
					'id' in link
						? link
						: linkedId(catalogs.get(field)!, rule, link.value, isAdded, tableWithoutCreation);
				if (isAdded && linked && 'id' in linked) this.linkedIds.add(linked.id);
				return linked;
			};
			for (const [position, value] of links) {
				const row = resolved[position]!;
				const { name } = field;
				resolved[position] =
					'problem' in value
						? withProblem(row, name, value.problem)
						: withIds(row, name, value, idOf);
			}
		}
		return resolved;
	}

	/**
	 * Looks up the values of link fields, once for all fields that share a catalog.
	 *
	 * @returns the catalog of each field that has values; or, in words, why they can't be looked up
	 */
	private async lookUp(
		linksByField: ReadonlyMap<FieldDefinition, RowLinks>,
		rules: LinkRules,
		tableId: string,
	): Promise<Map<FieldDefinition, Catalog | string>> {
		const catalogs = new Map<FieldDefinition, Catalog | string>();
		const sought = new Map<Catalog, unknown[]>();
		await forEachConcurrent(linksByField, PARALLEL_LOOKUPS, async ([field, links]) => {
			const values = [...links.values()].flatMap((value) =>
				'problem' in value ? [] : valuesOf(value),
			);
			if (values.length === 0) return;
			const rule = rules.get(field.name)!;
			const target = await this.targetOf(field).catch(unavailable);
			const catalog = typeof target === 'string' ? target : catalogOf(this.catalogs, target, rule);
			catalogs.set(field, catalog);
			if (typeof catalog === 'string') return;
			if (rule.ifNotFound === 'create') this.creating.set(field.name, catalog);
			sought.set(catalog, [...(sought.get(catalog) ?? []), ...values]);
		});
		await forEachConcurrent(sought, PARALLEL_LOOKUPS, async ([catalog, all]) => {
			// The run creates records of this same table: one that was missing may exist now.
			const isOwn = catalog.target.table.id === tableId;
			const failure = await lookUpMissing(catalog, all, isOwn).catch(unavailable);
			if (failure === undefined) return;
			for (const [field, other] of catalogs) if (other === catalog) catalogs.set(field, failure);
		});
		return catalogs;
	}

	/**
	 * Creates the linked records that planned records need, and fills in their IDs. If a linked
	 * record can't be created, the records that need it become problems of the plan.
	 */
	async createMissing(plan: Pick<Plan, 'records' | 'problems'>, table: TableDefinition) {
		const names = writableLinks(table).map(({ name }) => name);
		if (this.creating.size === 0) return;
		const missingOf = (id: string, field: string) => this.creating.get(field)?.missing.get(id);
		const needed = new Set<MissingRecord>();
		for (const record of plan.records) {
			mapIds(record, names, (id, field) => {
				const missing = missingOf(id, field);
				if (missing) needed.add(missing);
				return id;
			});
		}
		for (const catalog of this.catalogs.values()) {
			const missing = [...catalog.missing.values()];
			const open = missing.filter((record) => needed.has(record) && record.id === undefined);
			if (open.length > 0) await this.createRecords(catalog, open);
		}
		plan.records = plan.records.filter((record) => {
			const problems: RowProblem[] = [];
			mapIds(record, names, (id, field) => {
				const missing = missingOf(id, field);
				if (!missing) return id;
				if (missing.id !== undefined) return missing.id;
				const message = `'${field}': ${missing.problem}`;
				problems.push({ index: record.index, field, message });
				return id;
			});
			plan.problems.push(...problems);
			return problems.length === 0;
		});
	}

	private async createRecords({ target, field, lookedUp }: Catalog, missing: MissingRecord[]) {
		const { table } = target;
		const entries = missing.map(({ text, value }, index): Entry => {
			return { index, key: text, fields: { [field.name]: value } };
		});
		const task: Task = {
			// A definition may not mark the import key. They were looked up.
			mode: importKeyOf(table) ? 'upsert' : 'create',
			batchSize: 0,
			parallelRequests: 0,
			skipUnchanged: false,
			dryRun: false,
			stopAtFailure: false,
		};
		const write = { target, task, session: new WriteSession(task) };
		await writeMany(write, entries, ({ index }, item) => {
			const record = missing[index]!;
			if (item.outcome === 'inserted') this.createdCount += 1;
			if (isSuccess(item) && item.id !== undefined) {
				record.id = item.id;
				lookedUp.set(record.text, { ids: [item.id] });
				return;
			}
			const what = isSuccess(item)
				? `was written to '${table.header}', but its ID could not be read`
				: `could not be created in '${table.header}': ${item.message!}`;
			record.problem = `${showValue(record.text)} ${what}`;
		});
	}
}

/** The field that holds the values of links; or, in words, why they can't be resolved by it. */
function linkKey(
	table: TableDefinition,
	{ linkedField, ifNotFound }: LinkRule,
): FieldDefinition | string {
	const marked = importKeyOf(table);
	const key = linkedField ? table.fields.find(({ name }) => name === linkedField) : marked;
	if (!key) {
		return linkedField
			? `the linked table '${table.header}' has no field '${linkedField}'`
			: `the linked table '${table.header}' does not say which field is its import key: set '${LABELS.linkValueType}' to 'Other Field of the Linked Table', and choose it`;
	}
	if (!canBeKey(key)) return `records can't be found by '${key.name}' (${key.type})`;
	if (ifNotFound === 'create') {
		if (marked && key !== marked) {
			return `records of '${table.header}' are created only by their import key '${marked.name}'`;
		}
		const required = table.fields.filter(
			(other) => other !== key && other.metadata.required && isWritable(other),
		);
		if (required.length > 0) {
			return `records of '${table.header}' can't be created by '${key.name}' alone: it also requires '${required.map(({ name }) => name).join("', '")}'`;
		}
	}
	return key;
}

/** The catalog for a link field, with one catalog for each field of a linked table. */
function catalogOf(
	catalogs: Map<string, Catalog>,
	target: DefinedTable,
	rule: LinkRule,
): Catalog | string {
	const key = linkKey(target.table, rule);
	if (typeof key === 'string') return key;
	const name = JSON.stringify([target.at.application, target.table.id, key.name]);
	const catalog = catalogs.get(name) ?? {
		target,
		field: key,
		lookedUp: new Map(),
		missing: new Map(),
		similar: new Map(),
	};
	catalogs.set(name, catalog);
	return catalog;
}

/**
 * Looks up the values that are not known yet, many per request.
 *
 * @param isGrowing whether a record may have been created since for a value that had none
 */
async function lookUpMissing(
	{ target, field, lookedUp }: Catalog,
	raw: unknown[],
	isGrowing: boolean,
) {
	const rows = raw.map((value) => ({ [field.name]: value }));
	await resolveTimeZone(target, rows);
	const open = new Set<string>();
	for (const value of raw) {
		const sought = toSoughtValue(field, value);
		if ('problem' in sought) continue;
		const match = lookedUp.get(sought.text);
		if (!match || (isGrowing && match.ids.length === 0)) open.add(sought.text);
	}
	const found = await lookUpValues(target, field, [...open]);
	for (const [text, match] of found) lookedUp.set(copyOfText(text), match);
}

/** The values of a link field, by the position of their row. */
type RowLinks = ReadonlyMap<number, LinkValue | { problem: string }>;

function linksIn(field: FieldDefinition, rows: PlanInput[]): RowLinks {
	const links = new Map<number, LinkValue | { problem: string }>();
	for (const [position, row] of rows.entries()) {
		const value = readLinks(field, row.values);
		if (value) links.set(position, value);
	}
	return links;
}

const BY_KEY: LinkRule = { ifNotFound: 'error' };

/**
 * Looks up records by their import key, many in a request.
 *
 * @returns the ID of the record with a value, or, in words, why there is not one
 */
export async function idsByKey(target: DefinedTable, raw: string[]) {
	const catalog = catalogOf(new Map(), target, BY_KEY);
	if (typeof catalog !== 'string') await lookUpMissing(catalog, raw, false);
	return (value: string) => linkedId(catalog, BY_KEY, value, true, undefined)!;
}

/**
 * What a value resolved to.
 *
 * @param tableWithoutCreation the table in which links create no record
 */
function linkedId(
	catalog: Catalog | string,
	{ ifNotFound }: LinkRule,
	raw: unknown,
	isAdded: boolean,
	tableWithoutCreation: string | undefined,
): LinkedId {
	if (typeof catalog === 'string') return { problem: catalog };
	const { field, lookedUp, target } = catalog;
	const sought = toSoughtValue(field, raw);
	if ('problem' in sought) return { problem: `'${field.name}' ${sought.problem}` };
	const { ids, similar } = lookedUp.get(sought.text)!;
	const where = `of '${target.table.header}'`;
	const what = `${showValue(raw)} in '${field.name}'`;
	const [first, second] = ids;
	if (second !== undefined) {
		return { problem: `several records ${where} have ${what}: '${ids.join("', '")}'` };
	}
	if (first !== undefined) return { id: first };
	const close =
		similar === undefined ? '' : `; ${showValue(similar)} differs only in case or spaces`;
	// A near match may be a typo: neither skip it nor create a second record.
	if (ifNotFound === 'error' || close) {
		return { problem: `no record ${where} has ${what}${close}`, isMissing: true };
	}
	// A link that does not exist needs no removal.
	if (ifNotFound === 'leaveEmpty' || !isAdded) return undefined;
	if (target.table.id === tableWithoutCreation) {
		return {
			problem: `no record ${where} has ${what}. No link creates it here, because an item for it could then no longer write its values: create it first, or use Create or Update by import key, without rules for existing records`,
		};
	}
	return placeholder(catalog, sought);
}

/** A placeholder for the ID of a record that is created after planning. A dry run shows it. */
function placeholder(
	{ missing, similar, target, field }: Catalog,
	{ text, value }: SoughtValue,
): LinkedId {
	const first = similar.get(similarText(text)) ?? text;
	if (first !== text) {
		return {
			problem: `${showValue(text)} is to be created in '${target.table.header}', but another item has ${showValue(first)}, which differs only in case or spaces`,
		};
	}
	similar.set(similarText(text), text);
	const id = `new record of '${target.table.internalName}' with ${JSON.stringify(text)} in '${field.name}'`;
	if (!missing.has(id)) missing.set(id, { text, value });
	return { id };
}

/** Why a linked table can't be used. Throws errors that concern more than this table. */
function unavailable(error: unknown): string {
	if (error instanceof InputError) return error.message;
	const isTheirs = error instanceof ServiceError && [403, 404].includes(error.status ?? 0);
	if (!isTheirs) throw error;
	return `its linked table can't be read: ${error.message}`;
}
