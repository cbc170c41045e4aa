/**
 * How an operation's link values are given, and the tables that its links lead to.
 */
import type { FieldDefinition, TableAddress, TableDefinition } from '../api/types';
import { LinkResolver, type LinkRule, type LinkRules, type LinkTarget } from '../bulk/links';
import { InputError, ServiceError } from '../transport/errors';
import { isObject } from '../transport/json';
import { parameterText } from './locator';
import type { RunContext } from './run';

/** Stands for every link field of the table. */
export const ALL_LINK_FIELDS = '*';

export type LinkParameter = 'options.linkValues';

const IF_NOT_FOUND: readonly unknown[] = ['error', 'leaveEmpty', 'create'] satisfies Array<
	LinkRule['ifNotFound']
>;

export const isLink = ({ type }: FieldDefinition) => type === 'schema_link';

const wrong = (
	message: string,
	hint = 'Choose it from the list, or correct the expression in it.',
) => new InputError(message, { field: 'Link Values', hint });

/** The rule of one entry; undefined where the values are record IDs. @throws {InputError} */
function toRule({
	valuesAre,
	linkedField,
	ifNotFound = 'error',
}: Record<string, unknown>): LinkRule | undefined {
	if (valuesAre === 'recordIds') return undefined;
	if (valuesAre !== undefined && valuesAre !== 'importKey' && valuesAre !== 'field') {
		throw wrong("'Link Values Are' is none of 'recordIds', 'importKey' and 'field'");
	}
	if (!IF_NOT_FOUND.includes(ifNotFound)) {
		throw wrong("'If Not Found' is none of 'error', 'leaveEmpty' and 'create'");
	}
	const rule = { ifNotFound: ifNotFound as LinkRule['ifNotFound'] };
	if (valuesAre !== 'field') return rule;
	const name = parameterText(linkedField, 'linkedField', 'Linked Field Name or ID');
	if (name !== '') return { ...rule, linkedField: name };
	throw wrong(
		"'Link Values' names no field of the linked table",
		"Choose it under 'Linked Field Name or ID'.",
	);
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
	const entries = (Array.isArray(given) ? given : given === undefined ? [] : [given]).map(
		(entry: unknown) => {
			const values = isObject(entry) ? entry : {};
			const field = parameterText(values.field ?? ALL_LINK_FIELDS, 'field', 'Link Values');
			return { field, rule: toRule(values) };
		},
	);
	const links = table.fields.filter(isLink);
	const named = new Set<string>();
	for (const { field } of entries) {
		if (field !== ALL_LINK_FIELDS && !links.some(({ name }) => name === field)) {
			throw wrong(
				`'Link Values' names '${field}', which is no link field of table '${table.header}'`,
				links.length > 0
					? `Its link fields are: ${links.map(({ name }) => name).join(', ')}.`
					: 'The table has no link field: remove the option.',
			);
		}
		if (named.has(field))
			throw wrong(`'Link Values' has two entries for '${field}'`, 'Remove one.');
		named.add(field);
	}
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
	{ metadata: { linkTableId } }: FieldDefinition,
): Promise<LinkTarget> {
	if (linkTableId === undefined) {
		throw new InputError('the platform does not say which table it links to: give record IDs');
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
	const name = JSON.stringify([at.application, at.table]);
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
