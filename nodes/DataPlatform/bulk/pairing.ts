/**
 * Which of a response's records belongs to which item: by position if it lists them all, otherwise
 * by their values. Pure.
 */
import type { PlatformRecord } from '../api/types';
import { sentFields, toJson, type Entry } from './entry';
import { compareFields, type WriteContext } from './evidence';
import { contradictsItself, type BulkResponse } from './response';

/**
 * Pairs `data` with the records by position, which is certain only if every record that did not
 * fail has an entry. Undefined if the response omits or adds something.
 */
export function pairByPosition(batch: Entry[], response: BulkResponse) {
	const rest = batch.filter((_, index) => !response.failed.has(index));
	if (response.unattributedErrors.length > 0 || response.data.length !== rest.length) {
		return undefined;
	}
	if (response.byId.size < rest.length) return undefined;
	if (contradictsItself(response, rest.length)) return undefined;
	return rest.map((entry, index) => [entry, response.data[index]!] as const);
}

/**
 * Finds which created records belong to which items if the response omits some. It compares values;
 * `data` keeps the order of the request.
 *
 * @param created the records of the response's `data`, read back, in its order
 * @returns for each created item its record, or undefined if several items fit; undefined as a
 *   whole if a record fits no item
 */
export function alignByContent(
	rest: Entry[],
	created: PlatformRecord[],
	fields: WriteContext['fields'],
): Map<Entry, PlatformRecord | undefined> | undefined {
	const context = { mode: 'create' as const, fields, appendable: [] };
	const fits = (entry: Entry, record: PlatformRecord) =>
		compareFields(sentFields(entry), {}, record, context).every(({ isHeld }) => isHeld !== false);
	const first: number[] = [];
	for (const record of created) {
		let at = (first.at(-1) ?? -1) + 1;
		while (at < rest.length && !fits(rest[at]!, record)) at += 1;
		if (at === rest.length) return undefined;
		first.push(at);
	}
	const pairs = new Map<Entry, PlatformRecord | undefined>();
	const candidates: Entry[] = [];
	/** The values of items that may or may not have a record. */
	const open = new Set<string>();
	let end = rest.length;
	for (let index = created.length - 1; index >= 0; index -= 1) {
		const record = created[index]!;
		const start = first[index]!;
		const range = rest.slice(start, end);
		const fitting = range.filter((entry) => fits(entry, record));
		// If the items have the same values, it makes no difference.
		const isCertain = fitting.every((one) => toJson(one) === toJson(fitting[0]!));
		if (isCertain) pairs.set(rest[start]!, record);
		else for (const one of fitting) open.add(toJson(one));
		for (const one of fitting) candidates.push(one);
		end = start + range.lastIndexOf(fitting.at(-1)!);
	}
	// An item with the same values as another one may have that one's record.
	for (const one of candidates) {
		if (open.has(toJson(one)) && !pairs.has(one)) pairs.set(one, undefined);
	}
	return pairs;
}
