/**
 * Which of a response's records belongs to which item: by position if it lists them all, otherwise
 * by their values. Pure.
 */
import type { PlatformRecord } from '../api/types';
import type { PreparedRecord } from './batches';
import { differences, type WriteContext } from './evidence';
import { contradictsItself, type BulkResponse } from './response';

/**
 * Pairs `data` with the records by position, which is certain only if every record that did not
 * fail has an entry. Undefined if the response omits or adds something.
 */
export function pairByPosition(batch: PreparedRecord[], response: BulkResponse) {
	const rest = batch.filter((_, index) => !response.failed.has(index));
	if (response.unattributedErrors.length > 0 || response.data.length !== rest.length) {
		return undefined;
	}
	if (response.byId.size < rest.length) return undefined;
	if (contradictsItself(response, rest.length)) return undefined;
	return rest.map((prepared, index) => [prepared, response.data[index]!] as const);
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
	rest: PreparedRecord[],
	created: PlatformRecord[],
	fields: WriteContext['fields'],
): Map<PreparedRecord, PlatformRecord | undefined> | undefined {
	const fits = (prepared: PreparedRecord, record: PlatformRecord) =>
		differences(prepared, record, { mode: 'create', fields, appendable: [] }).different.length ===
		0;
	const first: number[] = [];
	for (const record of created) {
		let at = (first.at(-1) ?? -1) + 1;
		while (at < rest.length && !fits(rest[at]!, record)) at += 1;
		if (at === rest.length) return undefined;
		first.push(at);
	}
	const pairs = new Map<PreparedRecord, PlatformRecord | undefined>();
	const candidates: PreparedRecord[] = [];
	/** The values of items that may or may not have a record. */
	const open = new Set<string>();
	let end = rest.length;
	for (let index = created.length - 1; index >= 0; index -= 1) {
		const record = created[index]!;
		const start = first[index]!;
		const range = rest.slice(start, end);
		const fitting = range.filter((prepared) => fits(prepared, record));
		// If the items have the same values, it makes no difference.
		const isCertain = fitting.every(({ json }) => json === fitting[0]!.json);
		if (isCertain) pairs.set(rest[start]!, record);
		else for (const { json } of fitting) open.add(json);
		for (const one of fitting) candidates.push(one);
		end = start + range.lastIndexOf(fitting.at(-1)!);
	}
	// An item with the same values as another one may have that one's record.
	for (const one of candidates) {
		if (open.has(one.json) && !pairs.has(one)) pairs.set(one, undefined);
	}
	return pairs;
}
