/**
 * Keys of one input that are nearly equal: people mean one record, and get two. Pure.
 */
import { nameList } from '../../transport/messageText';
import type { Entry, PlanOptions } from '../terms';

const withoutCaseAndSpaces = (key: string) => key.toLowerCase().replace(/\s/g, '');

/** A notice about keys that differ only in case or spaces; undefined if there are none. */
export function similarKeys(
	records: Entry[],
	unit: PlanOptions['unit'] = 'item',
): string | undefined {
	const known = new Map<string, Entry>();
	let count = 0;
	let example = '';
	for (const record of records) {
		const { key } = record;
		if (key === undefined) continue;
		const plain = withoutCaseAndSpaces(key);
		const other = known.get(plain);
		if (other === undefined) known.set(plain, record);
		else if (other.key !== key) {
			count += 1;
			example ||= `${nameList([other.key!, key])} (${unit}s ${other.index} and ${record.index})`;
		}
	}
	if (count === 0) return undefined;
	const more = count === 1 ? '' : `, and ${count - 1} more`;
	return `Keys that differ only in case or spaces are different records: ${example}${more}. If they are the same, add .trim().toLowerCase() to the key's expression.`;
}
