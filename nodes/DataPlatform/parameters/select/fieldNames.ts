/**
 * Whether the fields that a query names exist. A platform may ignore a condition on a field that it
 * does not know: a misspelt filter would then select every record, or delete it.
 */
import { isGroup, type Group } from '../../api/filters';
import type { FieldDefinition, TableAddress, TableDefinition } from '../../api/types';
import { holdsData } from '../../fields';
import type { RunContext } from '../../run/run';
import { didYouMean } from '../../transport/closestName';
import { InputError, serviceErrorOrThrow, ServiceError } from '../../transport/errors';
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
	throw new InputError(`${place}: ${problem}`, {
		field: name,
		hint: 'Correct the name, or choose the field from the list. Nothing was read or changed.',
	});
}

/** @throws {InputError} that names the first field that the table does not have */
export function requireNames(names: FieldName[], table: TableDefinition): void {
	for (const name of names) linkIn(name, table);
}

/**
 * For filters that select what to remove: also checks the names in linked tables.
 *
 * @param table as it is now
 * @throws {InputError} if a field does not exist, or it can't be checked
 */
export async function requireNamesToRemove(
	run: RunContext<never>,
	address: TableAddress,
	names: FieldName[],
	table: TableDefinition,
	what?: string,
): Promise<void> {
	const definition = async (linked: TableAddress) => await run.definition(linked);
	for (const name of names) {
		const [field, rest = ''] = linkIn(name, table, what) ?? [];
		if (!field) continue;
		const { linkTableId, filterableFields = [] } = field.metadata;
		if (linkTableId === undefined && filterableFields.includes(rest)) continue;
		const unchecked = (reason: string) =>
			new InputError(`${name.place}: '${name.name}' can't be checked: ${reason}`, {
				field: name.name,
				hint: 'Nothing was removed: the platform may ignore a condition that it does not know. Filter by fields of the table itself.',
			});
		if (linkTableId === undefined) {
			throw unchecked(`the platform does not say which table '${field.name}' links to`);
		}
		const linked = await linkedTable(run.client, definition, address, field).catch(
			serviceErrorOrThrow,
		);
		if (linked instanceof ServiceError) throw unchecked(linked.message);
		const inLinked = { ...name, name: rest };
		await requireNamesToRemove(run, linked.at, [inLinked], linked.table, 'the linked table');
	}
}
