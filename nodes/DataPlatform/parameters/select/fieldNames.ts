/**
 * Whether the fields that a query names exist. A platform may ignore a condition on a field that it
 * does not know: a misspelt filter would then select every record, or delete it.
 */
import { isGroup, type Group } from '../../api/filters';
import type { ReadDefinition } from '../../api/table';
import type { DefinedTable, FieldDefinition, TableDefinition } from '../../api/types';
import { FIELDS_SHOWN, holdsData } from '../../fields';
import { didYouMean } from '../../transport/closestName';
import { InputError, serviceErrorOrThrow, ServiceError } from '../../transport/errors';
import { nameList } from '../../transport/messageText';
import { isLink, linkedTable } from '../write/writingLinks';

/** A name, and where it stands, such as `Condition 2 of the filter`. */
export interface FieldName {
	name: string;
	place: string;
}

/** What a filter or a sort can name besides the fields of a table. */
const SYSTEM_NAMES = ['id', 'created', 'modified'];

/** The names in a filter. */
export function namesIn({ filter }: Group, place = 'the filter'): FieldName[] {
	let conditions = 0;
	let groups = 0;
	return filter.flatMap((entry) => {
		if (isGroup(entry)) return namesIn(entry, `group ${(groups += 1)} of ${place}`);
		return { name: entry.field, place: `Condition ${(conditions += 1)} of ${place}` };
	});
}

export const namesAt = (parameter: { label: string }, names: string[]): FieldName[] =>
	names.map((name) => ({ name, place: `'${parameter.label}'` }));

/**
 * The link field with which a name such as `driver.firstname` begins, and the rest of the name;
 * undefined for a field of the table itself.
 *
 * @throws {InputError} if the table has no such field
 */
function linkIn(
	{ name, place }: FieldName,
	{ header, fields }: TableDefinition,
	what = 'table',
): [FieldDefinition, string] | undefined {
	const known = [...fields.filter(holdsData), ...SYSTEM_NAMES.map((own) => ({ name: own }))];
	if (known.some((field) => field.name === name)) return undefined;
	const [, first = name, rest] = /^([^.]+)\.(.+)$/.exec(name) ?? [];
	const field = fields.find((each) => each.name === first);
	if (field && isLink(field) && rest) return [field, rest];
	const isNoLink = known.some((each) => each.name === first);
	const problem = isNoLink
		? `'${first}' of ${what} '${header}' is no link: it has no '${rest}'`
		: `${what} '${header}' has no field '${first}'${didYouMean(first, known)}`;
	const names = nameList(
		known.map((each) => each.name),
		FIELDS_SHOWN,
	);
	throw new InputError(`${place}: ${problem}`, {
		field: name,
		hint: `The fields of '${header}' are: ${names}. Correct the name. Nothing was read or changed.`,
	});
}

/** How names are checked. */
export interface NameCheck {
	/** Reads the definition of a linked table; as it is now if not set. */
	definition?: ReadDefinition;
	/** Called with names that can't be checked, and why. It may throw. */
	unchecked: (names: FieldName[], reason: Reason) => void;
}

/**
 * Checks names, also in linked tables: unless a definition is kept, that takes a request for each of
 * these.
 *
 * @param of the table
 * @throws {InputError} that names the first field that does not exist
 */
export async function checkNames(
	check: NameCheck,
	of: DefinedTable,
	names: FieldName[],
	what?: string,
): Promise<void> {
	for (const name of names) {
		const [field, rest = ''] = linkIn(name, of.table, what) ?? [];
		if (!field || SYSTEM_NAMES.includes(rest)) continue;
		const { linkTableId, filterableFields = [] } = field.metadata;
		if (linkTableId === undefined && filterableFields.includes(rest)) continue;
		const linked = await linkedTable(of, field, check.definition).catch((error: unknown) =>
			error instanceof InputError ? error : serviceErrorOrThrow(error),
		);
		if (linked instanceof Error) check.unchecked([name], linked);
		else await checkNames(check, linked, [{ ...name, name: rest }], 'the linked table');
	}
}

type Reason = InputError | ServiceError;

const whyUnchecked = (reason: Reason) =>
	reason instanceof ServiceError
		? `a table's definition can't be read (${reason.message})`
		: reason.message;

const adviceOn = (reason: Reason) =>
	reason instanceof ServiceError ? (reason.hint ?? '') : 'Name fields of the table itself.';

/** For filters that select what to remove. @throws {InputError | ServiceError} always */
export function refuseUnchecked(names: FieldName[], reason: Reason): never {
	const { name, place } = names[0]!;
	const text = `${place}: '${name}' can't be checked: ${whyUnchecked(reason)}`;
	const hint = `Nothing was removed: the platform may ignore a condition that it does not know. ${adviceOn(reason)}`;
	if (reason instanceof ServiceError) throw new ServiceError(text, { ...reason, hint });
	throw new InputError(text, { field: name, hint });
}

/** For reads: what the user learns instead. */
export function uncheckedNotice(names: FieldName[], reason: Reason): string {
	const list = nameList([...new Set(names.map(({ name }) => name))]);
	return `Whether the tables have ${list} was not checked: ${whyUnchecked(reason)}. The platform may ignore a name that it does not know: a filter then means all records. ${adviceOn(reason)}`;
}
