/**
 * Keys of one input that look the same, so that people mean one record and get two; keys that stand
 * for no value, so that many people become one record. Pure.
 */
import { visibleText } from '../../fields/values';
import { nameList } from '../../transport/messageText';
import type { Plan, PlanOptions } from '../terms';

/** What programs write for no value. */
const PLACEHOLDER =
	/^(?:\(?(?:null|nil|none|n\/?a|n\.a\.|nan|undefined|unknown|empty|blank|leer)\)?|\\n|#n\/a|#nv|[-–—?.]+)$/;

/** Does what `visibleText` does. */
const SAME_TEXT =
	".normalize('NFKC').replace(/\\p{Cf}/gu, '').replace(/[\\s\\p{Cc}]+/gu, ' ').trim().toLowerCase()";

/** The values of a key: `"a", "b"` has two. */
function partsOf(key: string): string[] {
	if (!key.startsWith('"')) return [key];
	try {
		return JSON.parse(`[${key}]`) as string[];
	} catch {
		return [key];
	}
}

/** What people should know about the keys of a run, portion by portion. */
export class ValueNotices {
	/** How many keys look like another one, and how many stand for no value. */
	private readonly counts = { similar: 0, none: 0 };
	private pair = '';
	private example = '';

	constructor(private readonly unit: PlanOptions['unit'] = 'item') {}

	/** Keys that look the same are found within a portion. @returns the notices on all so far */
	add({ records, merged }: Plan): string[] {
		const { unit, counts } = this;
		const mergedCounts = new Map<number, number>();
		for (const last of merged.values()) mergedCounts.set(last, (mergedCounts.get(last) ?? 0) + 1);
		const known = new Map<string, { index: number; key: string }>();
		for (const { index, key } of records) {
			if (key === undefined) continue;
			const parts = partsOf(key).map(visibleText);
			const plain = parts.length === 1 ? parts[0]! : JSON.stringify(parts);
			const other = known.get(plain);
			if (other === undefined) known.set(plain, { index, key });
			else if (other.key !== key) {
				counts.similar += 1;
				this.pair ||= `${nameList([other.key, key])} (${unit}s ${other.index} and ${index})`;
			}
			if (!parts.some((part) => PLACEHOLDER.test(part))) continue;
			counts.none += 1 + (mergedCounts.get(index) ?? 0);
			this.example ||= `${nameList([key])} (${unit} ${index})`;
		}
		const { pair, example } = this;
		const { similar, none } = counts;
		const more = similar > 1 ? `, and ${similar - 1} more` : '';
		const notices = [
			similar > 0 &&
				`Keys that differ only in case, spaces, invisible characters or in how letters are composed are different records: ${pair}${more}. If they are the same, add ${SAME_TEXT} to the key's expression.`,
			none > 0 &&
				`Keys that may stand for no value: ${none} ${unit}${none === 1 ? '' : 's'}, such as ${example}. All of one key become one record. If they have no key, leave them out.`,
		];
		return notices.filter((notice) => notice !== false);
	}
}
