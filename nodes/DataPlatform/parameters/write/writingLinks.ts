/**
 * Parameters for writing links: what the values of link fields are, and the tables that links point
 * to.
 */
import { learnLinks } from '../../api/learnLinks';
import { tableAt, type ReadDefinition, type Table } from '../../api/table';
import type { DefinedTable, FieldDefinition, TableAt, TableDefinition } from '../../api/types';
import { LinkResolver } from '../../bulk/links/linkResolver';
import type { Entry, NameOf, Parameter, ParameterReader } from '../../parameterKinds/parameter';
import { choice, list } from '../../parameterKinds/kinds';
import type { RunContext } from '../../run/run';
import { InputError, ServiceError } from '../../transport/errors';
import { fieldPart, tableChoice } from '../select/table';
import { emptyValues } from './columns';
import type { LinkRule, LinkRules } from '../../bulk/terms';
import { LABELS } from '../../labels';

/** Stands for every link field of the table. */
export const ALL_LINK_FIELDS = '*';

/** One of the table's link fields, or all of them. */
export const linkField = fieldPart('getLinkFields', {
	about: 'The link field',
	preset: ALL_LINK_FIELDS,
});

const valueType = choice('valueType', {
	label: LABELS.linkValueType,
	choices: {
		importKey: ['Import Key of the Linked Table', "Values of the linked table's import key field"],
		field: [
			'Other Field of the Linked Table',
			'Values of a field that you choose; they must be unique',
		],
		recordIds: ['Record IDs', 'IDs of the linked records'],
	},
	preset: 'importKey',
	description: 'What the items hold in the link field',
});

const linkedField = tableChoice('linkedField', {
	label: 'Linked Field Name or ID',
	list: ['getLinkedFields', '&field'],
	show: { valueType: ['field'] },
	about: 'The field of the linked table',
});

const ifNotFound = choice('ifNotFound', {
	label: 'If Not Found',
	choices: {
		create: ['Create the Linked Record', 'Create it with its import key, many in one request'],
		leaveEmpty: [
			'Leave the Link Empty',
			`Treat the value as empty, as the option ${emptyValues.label} says`,
		],
		error: ['Treat as an Error', 'Do not write the item and name the value'],
	},
	preset: 'error',
	hide: { valueType: ['recordIds'] },
	description: 'What to do if no linked record has the value',
});

export const linkValues = list('linkValues', {
	label: LABELS.linkValues,
	add: 'Add Link Field',
	entry: ['link', 'Link Field'],
	description:
		'By default, the values of link fields are record IDs. Add a field if its values are names or keys of the linked records.',
	parts: [linkField, valueType, linkedField, ifNotFound],
});

export type LinkParameter = NameOf<typeof linkValues>;

export const isLink = ({ type }: FieldDefinition) => type === 'schema_link';

/**
 * The list entry of each link field of a table. An entry for the field wins over one for all
 * fields.
 *
 * @throws {InputError} if an entry names no link field of the table, or two name the same one
 */
export function entriesByLink<E extends Entry<'field'>>(
	entries: E[],
	table: TableDefinition,
	of: Parameter<string, unknown>,
): Array<[FieldDefinition, E]> {
	const links = table.fields.filter(isLink);
	const byName = new Map<string, E>();
	for (const entry of entries) {
		const name = linkField.in(entry, of);
		if (name !== ALL_LINK_FIELDS && !links.some((link) => link.name === name)) {
			const known = links.map((link) => link.name).join(', ');
			const none = 'The table has no link field: remove the option.';
			throw of.error(
				`${of} names '${name}', which is no link field of table '${table.header}'`,
				known ? `Its link fields are: ${known}.` : none,
			);
		}
		if (byName.has(name)) {
			throw of.error(`${of} has two entries for '${name}'`, 'Remove one.');
		}
		byName.set(name, entry);
	}
	const forAll = byName.get(ALL_LINK_FIELDS);
	return links
		.map((link) => [link, byName.get(link.name) ?? forAll] as const)
		.filter((each): each is [FieldDefinition, E] => each[1] !== undefined);
}

/** The rule of one entry; undefined if the values are record IDs. @throws {InputError} */
function toRule(entry: ReturnType<typeof linkValues.of>[number]): LinkRule | undefined {
	const type = valueType.in(entry, linkValues);
	if (type === 'recordIds') return undefined;
	const rule = { ifNotFound: ifNotFound.in(entry, linkValues) };
	if (type === 'importKey') return rule;
	const name = linkedField.in(entry, linkValues);
	if (name !== '') return { ...rule, linkedField: name };
	throw linkValues.error(
		`${linkValues} names no field of the linked table`,
		`Choose it under ${linkedField}.`,
	);
}

/**
 * How to read the values of a table's link fields.
 *
 * @throws {InputError} if an entry can't be read, or names no link field of the table
 */
export function linkRules(
	reader: ParameterReader<LinkParameter>,
	index: number,
	table: TableDefinition,
): LinkRules {
	const rules = new Map<string, LinkRule>();
	for (const [{ name }, entry] of entriesByLink(linkValues.of(reader, index), table, linkValues)) {
		const rule = toRule(entry);
		if (rule) rules.set(name, rule);
	}
	return rules;
}

/**
 * The table that a link field points to, usually one of the same application.
 *
 * @param of the table that has the field
 * @param definition reads that of the linked table; as it is now if not set
 * @throws {InputError} if neither its definition nor a stored value shows it
 * @throws {ServiceError}
 */
export async function linkedTable(
	of: TableAt,
	field: FieldDefinition,
	definition: ReadDefinition = async (target) => await target.definition(),
): Promise<DefinedTable> {
	if (field.metadata.linkTableId === undefined) await learnLinks(of, [field]);
	const { linkTableId, linkApplication } = field.metadata;
	if (linkTableId === undefined) {
		throw new InputError(
			`the platform does not say which table '${field.name}' links to: use record IDs`,
			{ field: field.name, hint: 'Give record IDs, or leave the field out.' },
		);
	}
	const application = linkApplication ?? of.at.application;
	const target = tableAt(of.client, { application, table: linkTableId });
	const table = await definition(target).catch((error: unknown) => {
		const isElsewhere = error instanceof ServiceError && error.status === 404;
		if (!isElsewhere || application === undefined) throw error;
		return undefined;
	});
	if (table) return target.with(table);
	const elsewhere = tableAt(of.client, { table: linkTableId });
	return elsewhere.with(await definition(elsewhere));
}

/** Resolves the links of a table. Keeps what it looked up for the rest of the run. */
export const linkResolver = (run: RunContext<never>, table: Table): LinkResolver =>
	run.once(
		`links ${table.key}`,
		() =>
			new LinkResolver(
				async (field) => await linkedTable(table, field),
				async (fields) => await learnLinks(table, fields),
			),
	);
