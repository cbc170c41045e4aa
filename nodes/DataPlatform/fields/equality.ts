/**
 * Equality with three answers: true, false, or undefined if it can't be proven.
 */
import type { JsonValue } from '../api/types';
import { isObject, getOwn } from '../transport/json';
import { isCleared } from './fieldType';

type Equality = (stored: JsonValue, sent: JsonValue) => boolean | undefined;

/** False if one part differs, true only if all are equal. */
function allEqual(parts: Iterable<boolean | undefined>): boolean | undefined {
	let result: boolean | undefined = true;
	for (const part of parts) {
		if (part === false) return false;
		if (part === undefined) result = undefined;
	}
	return result;
}

/** Compares what `read` finds in both values; undefined if it finds nothing in one of them. */
export const sameBy =
	(read: (value: JsonValue) => string | number | boolean | undefined): Equality =>
	(stored, sent) => {
		const [held, given] = [read(stored), read(sent)];
		if (held === undefined || given === undefined) return undefined;
		return held === given;
	};

export const sameText = sameBy((value) => (typeof value === 'string' ? value : undefined));
export const sameBoolean = sameBy((value) => (typeof value === 'boolean' ? value : undefined));

/** True for the same value; anything else might still be equal. */
export const sameOrUnknown: Equality = (stored, sent) => stored === sent || undefined;

/**
 * Compares two objects by their parts. A part that only one of them has can't be compared: the
 * platform may have filled it in, or may keep the one it had.
 *
 * @param parts how to compare the known parts; others must be the same
 * @param assigned parts that the platform computes, whatever was sent
 */
export const sameParts =
	(parts: Record<string, Equality>, assigned: string[] = []): Equality =>
	(stored, sent) => {
		if (!isObject(stored) || !isObject(sent)) return undefined;
		const names = new Set([...Object.keys(stored), ...Object.keys(sent)]);
		for (const name of assigned) names.delete(name);
		return allEqual(
			[...names].map((name) => {
				const [held, given] = [getOwn(stored, name), getOwn(sent, name)];
				const equals = getOwn(parts, name);
				// Only the platform knows whether it keeps an empty text or drops it.
				if (isCleared(held) && isCleared(given)) {
					return JSON.stringify(held ?? null) === JSON.stringify(given ?? null) || undefined;
				}
				if (isCleared(held) && equals) return false;
				// For a part that is a list, an empty list is a value. Anything else that is empty counts
				// as not sent.
				const isLeftOut = isCleared(given) && !(equals && Array.isArray(given));
				if (isLeftOut) return undefined;
				return (equals ?? sameOrUnknown)(held as JsonValue, given as JsonValue);
			}),
		);
	};

/** Compares lists entry by entry; they must have the same length. */
export const sameEntries =
	(entry: Equality): Equality =>
	(stored, sent) => {
		if (!Array.isArray(stored) || !Array.isArray(sent)) return undefined;
		if (stored.length !== sent.length) return false;
		return allEqual(stored.map((held, index) => entry(held, sent[index]!)));
	};

/** Compares lists of texts. The platform may reorder them and drop duplicates. */
export const sameTexts: Equality = (stored, sent) => {
	if (!Array.isArray(stored) || !Array.isArray(sent)) return undefined;
	const [held, given] = [new Set(stored), new Set(sent)];
	if (held.size !== given.size || [...held].some((entry) => !given.has(entry))) return false;
	const isSameList =
		stored.length === sent.length && stored.every((entry, index) => entry === sent[index]);
	return isSameList || undefined;
};
