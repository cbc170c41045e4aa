/**
 * Which of a response's records belongs to which item: by position if it lists them all, else by what
 * they hold. Pure.
 */
import type { PlatformRecord } from '../api/types';
import type { PreparedRecord } from './batches';
import { differences, type WriteContext } from './evidence';
import { contradictsItself, type BulkResponse } from './response';

/**
 * Pairs `data` with the records by position: sure only where every record that did not fail has
 * its entry. Undefined where the response left something out or added something.
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
 * Finds out which created records belong to which items when the response leaves some out, by
 * comparing values: `data` keeps the order of the request.
 *
 * @param created the records of the response's `data`, read back, in its order
 * @returns for an item its record, or undefined where several items fit; items that were not
 *   created are left out. Undefined in whole where the records can't all belong to items.
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
	/** The values of items of which it is open whether a record is theirs. */
	const open = new Set<string>();
	let end = rest.length;
	for (let index = created.length - 1; index >= 0; index -= 1) {
		const record = created[index]!;
		const start = first[index]!;
		const range = rest.slice(start, end);
		const fitting = range.filter((prepared) => fits(prepared, record));
		// Between items with the same values it makes no difference.
		const isCertain = fitting.every(({ json }) => json === fitting[0]!.json);
		if (isCertain) pairs.set(rest[start]!, record);
		else for (const { json } of fitting) open.add(json);
		for (const one of fitting) candidates.push(one);
		end = start + range.lastIndexOf(fitting.at(-1)!);
	}
	// One of the same values may have what another one did not get.
	for (const one of candidates) {
		if (open.has(one.json) && !pairs.has(one)) pairs.set(one, undefined);
	}
	return pairs;
}
