/**
 * The application's time zone, which makes a time without a zone exact. It is asked for once such a
 * value comes, and is kept with the table's definition.
 */
import { readTimeZone } from '../api/structure';
import type { DefinedTable } from '../api/types';
import { getOwn, isObject } from '../transport/json';
import { zoneOf } from './dateFormat';
import { isDateOrTime, needsTimeZone } from './values';

/** @param rows objects with values by field name */
export async function resolveTimeZone({ client, at, table }: DefinedTable, rows: unknown[]) {
	const fields = table.fields.filter(isDateOrTime);
	const isNeeded = rows.some(
		(row) => isObject(row) && fields.some((field) => needsTimeZone(field, getOwn(row, field.name))),
	);
	if (!isNeeded) return;
	const timeZone = knownZone(at.application && (await readTimeZone(client, at.application)));
	for (const { metadata } of fields) metadata.timeZone = timeZone;
}

/** A name that only the platform knows, such as `W. Europe Standard Time`, counts as unknown. */
function knownZone(name = ''): string {
	try {
		zoneOf(name);
		return name;
	} catch {
		return '';
	}
}
