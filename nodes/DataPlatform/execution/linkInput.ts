/**
 * What an operation's options say about links, and the tables that links lead to.
 */
import type { FieldDefinition, TableAddress, TableDefinition } from '../api/types';
import type { LinkedTo } from '../api/records';
import { LinkedRecords, MAX_LINK_REQUESTS, type Inclusion } from '../bulk/linkedRecords';
import { LinkResolver, type LinkRule, type LinkRules, type LinkTarget } from '../bulk/links';
import { addressKey, MAX_PAGE_SIZE } from '../api/endpoints';
import { holdsData } from '../fields';
import { InputError, ServiceError } from '../transport/errors';
import { isObject } from '../transport/json';
import { parameterText } from './locator';
import { requireNumber, type RunContext, type TableParameter } from './run';

/** Stands for every link field of the table. */
export const ALL_LINK_FIELDS = '*';

/** How many records of one link can be read: a page. */
export const MAX_LINKED_RECORDS = MAX_PAGE_SIZE;

const DEFAULT_LINKED_RECORDS = 50;

export type LinkParameter = 'options.linkValues';

const IF_NOT_FOUND: readonly unknown[] = ['error', 'leaveEmpty', 'create'] satisfies Array<
	LinkRule['ifNotFound']
>;

export const isLink = ({ type }: FieldDefinition) => type === 'schema_link';

const CHOOSE = 'Choose it from the list, or correct the expression in it.';

const wrong = (message: string, hint = CHOOSE) =>
	new InputError(message, { field: 'Link Values', hint });

/** The rule of one entry; undefined where the values are record IDs. @throws {InputError} */
function toRule({
	valueType,
	linkedField,
	ifNotFound = 'error',
}: Record<string, unknown>): LinkRule | undefined {
	if (valueType === 'recordIds') return undefined;
	if (valueType !== undefined && valueType !== 'importKey' && valueType !== 'field') {
		throw wrong("'Link Values Are' is none of 'recordIds', 'importKey' and 'field'");
	}
	if (!IF_NOT_FOUND.includes(ifNotFound)) {
		throw wrong("'If Not Found' is none of 'error', 'leaveEmpty' and 'create'");
	}
	const rule = { ifNotFound: ifNotFound as LinkRule['ifNotFound'] };
	if (valueType !== 'field') return rule;
	const name = parameterText(linkedField, 'linkedField', 'Linked Field Name or ID');
	if (name !== '') return { ...rule, linkedField: name };
	throw wrong(
		"'Link Values' names no field of the linked table",
		"Choose it under 'Linked Field Name or ID'.",
	);
}

/**
 * The entries of an option about link fields.
 *
 * @throws {InputError} where one names no link field of the table, or two name the same
 */
function linkEntries(
	given: unknown,
	table: TableDefinition,
	label: string,
): Array<Record<string, unknown> & { field: string }> {
	const links = table.fields.filter(isLink);
	const named = new Set<string>();
	const entries: unknown[] = Array.isArray(given) ? given : given === undefined ? [] : [given];
	return entries.map((entry) => {
		const values = isObject(entry) ? entry : {};
		const field = parameterText(values.field ?? ALL_LINK_FIELDS, 'field', label);
		if (field !== ALL_LINK_FIELDS && !links.some(({ name }) => name === field)) {
			throw new InputError(
				`'${label}' names '${field}', which is no link field of table '${table.header}'`,
				{
					field: label,
					hint:
						links.length > 0
							? `Its link fields are: ${links.map(({ name }) => name).join(', ')}.`
							: 'The table has no link field: remove the option.',
				},
			);
		}
		if (named.has(field)) {
			throw new InputError(`'${label}' has two entries for '${field}'`, {
				field: label,
				hint: 'Remove one.',
			});
		}
		named.add(field);
		return { ...values, field };
	});
}

/**
 * How the link fields of a table are given. An entry for a field counts more than one for all.
 *
 * @throws {InputError} where an entry can't be read, or names no link field of the table
 */
export const linkRules = (
	run: RunContext<LinkParameter>,
	index: number,
	table: TableDefinition,
): LinkRules => toLinkRules(run.parameter('options.linkValues.link', index), table);

/**
 * As `linkRules`, from the option's entries.
 *
 * @throws {InputError}
 */
export function toLinkRules(given: unknown, table: TableDefinition): LinkRules {
	const entries = linkEntries(given, table, 'Link Values').map(({ field, ...values }) => ({
		field,
		rule: toRule(values),
	}));
	const links = table.fields.filter(isLink);
	const ruleFor = (name: string) => entries.find(({ field }) => field === name);
	return new Map(
		links.flatMap(({ name }): Array<[string, LinkRule]> => {
			const rule = (ruleFor(name) ?? ruleFor(ALL_LINK_FIELDS))?.rule;
			return rule ? [[name, rule]] : [];
		}),
	);
}

/**
 * The table that a link field leads to: one of the same application, as a rule.
 *
 * @throws {InputError} where the platform does not say which
 * @throws {ServiceError}
 */
export async function linkedTable(
	definition: (at: TableAddress) => Promise<TableDefinition>,
	{ application }: TableAddress,
	{ name, metadata: { linkTableId } }: FieldDefinition,
): Promise<LinkTarget> {
	if (linkTableId === undefined) {
		throw new InputError(
			`the platform does not say which table '${name}' links to: give record IDs`,
			{ field: name, hint: 'Give record IDs, or leave the field out.' },
		);
	}
	const at = { application, table: linkTableId };
	const elsewhere = { table: linkTableId };
	const ifElsewhere = async (error: unknown): Promise<LinkTarget> => {
		const isElsewhere = error instanceof ServiceError && error.status === 404;
		if (!isElsewhere || application === undefined) throw error;
		return { at: elsewhere, table: await definition(elsewhere) };
	};
	return await definition(at).then((table) => ({ at, table }), ifElsewhere);
}

const resolvers = new WeakMap<object, Map<string, LinkResolver>>();

/** Resolves the links of a table; what it looked up is known for the rest of the run. */
export function linkResolver(run: RunContext<never>, at: TableAddress): LinkResolver {
	const ofRun = resolvers.get(run) ?? new Map<string, LinkResolver>();
	resolvers.set(run, ofRun);
	const name = addressKey(at);
	const resolver =
		ofRun.get(name) ??
		new LinkResolver(
			run.client,
			async (field) =>
				await linkedTable(async (address) => await run.definition(address), at, field),
		);
	ofRun.set(name, resolver);
	return resolver;
}

/**
 * The record whose linked records are meant; undefined where none is named.
 *
 * @throws {InputError} where a part of it is empty, or names no link field
 * @throws {ServiceError} where the record's table can't be read
 */
export async function linkedToOf(
	run: RunContext<TableParameter | 'options.linkedTo'>,
	index: number,
): Promise<LinkedTo | undefined> {
	const given = run.parameter('options.linkedTo.record', index);
	if (given === undefined) return undefined;
	const values = isObject(given) ? given : {};
	const read = (name: string, label: string) => {
		const text = parameterText(values[name], name, label);
		if (text !== '') return text;
		throw new InputError(`'${label}' under 'Linked To' is empty`, {
			field: 'Linked To',
			hint: 'Fill it in, or remove the option: without it, all records match.',
		});
	};
	const path = read('linkField', 'Link Field Name or ID');
	const id = read('recordId', 'Record ID');
	const [, table = '', field = ''] = /^([^.]+)\.(.+)$/.exec(path) ?? [];
	if (table === '') {
		throw new InputError(`'${path}' is no table and link field, such as deals.people`, {
			field: 'Linked To',
			hint: CHOOSE,
		});
	}
	const source = await run.definition({ application: run.application(index), table });
	if (source.fields.some((entry) => isLink(entry) && entry.name === field)) {
		return { id, tableId: source.id, field };
	}
	throw new InputError(`Table '${source.header}' has no link field '${field}'`, {
		field: 'Linked To',
		hint: CHOOSE,
	});
}

/** @throws {InputError} where a field is not in the linked table, or none is named */
function fieldsOf(given: unknown, { table }: LinkTarget): string[] {
	const names = (typeof given === 'string' ? given.split(',') : Array.isArray(given) ? given : [])
		.map((name: unknown) => parameterText(name, 'linkedFields', 'Linked Field Names or IDs'))
		.filter(Boolean);
	const unknown = names.find(
		(name) => !table.fields.some((field) => field.name === name && holdsData(field)),
	);
	if (names.length > 0 && unknown === undefined) return names;
	throw new InputError(
		unknown === undefined
			? `No field of the linked table '${table.header}' is chosen`
			: `The linked table '${table.header}' has no field '${unknown}'`,
		{ field: 'Include Linked Records', hint: CHOOSE },
	);
}

/**
 * What is to be read of a table's linked records; an entry for a field counts more than one for all.
 *
 * @throws {InputError} where an entry can't be read
 * @throws {ServiceError} where a linked table can't be read
 */
export async function inclusionsOf(
	run: RunContext<TableParameter | 'options.linkedRecords'>,
	index: number,
): Promise<Inclusion[]> {
	const given = run.parameter('options.linkedRecords.link', index);
	if (given === undefined) return [];
	const at = run.table(index);
	const table = await run.definition(at);
	const label = 'Include Linked Records';
	const entries = linkEntries(given, table, label);
	const entryOf = (name: string) => entries.find(({ field }) => field === name);
	const inclusions: Inclusion[] = [];
	for (const field of table.fields.filter(isLink)) {
		const entry = entryOf(field.name) ?? entryOf(ALL_LINK_FIELDS);
		if (!entry) continue;
		const { include = 'recordIds', linkedFields, limit = DEFAULT_LINKED_RECORDS } = entry;
		if (include !== 'recordIds' && include !== 'fields') {
			throw new InputError("'Include' is neither 'recordIds' nor 'fields'", {
				field: label,
				hint: CHOOSE,
			});
		}
		const target = await linkedTable(async (address) => await run.definition(address), at, field);
		inclusions.push({
			field,
			tableId: table.id,
			target,
			names: include === 'fields' ? fieldsOf(linkedFields, target) : undefined,
			limit: requireNumber(limit, 'Limit', { min: 1, max: MAX_LINKED_RECORDS, isWhole: true }),
		});
	}
	return inclusions;
}

const readers = new WeakMap<object, LinkedRecords>();

/** Reads linked records; what it read is known for the rest of the run. */
export function linkedRecordsReader(run: RunContext<never>): LinkedRecords {
	const reader = readers.get(run) ?? new LinkedRecords(run.client);
	readers.set(run, reader);
	return reader;
}

/** Notifies the user, once in a run, that linked records were left out. */
export function noticeOmissions(run: RunContext<never>, linked: LinkedRecords) {
	if (linked.isCut) {
		run.hintOnce(
			"Some links have more linked records than 'Limit' under 'Include Linked Records': only the first of each are in the output.",
			'warning',
		);
	}
	if (linked.isUnread) {
		run.hintOnce(
			`Some linked records were not read, because that would take more than ${MAX_LINK_REQUESTS} requests. Their links are as the platform returned them.`,
			'warning',
		);
	}
}
