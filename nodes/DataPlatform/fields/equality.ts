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
export const sameOrUnknown: Equality = (stored, sent) =>
	JSON.stringify(stored) === JSON.stringify(sent) || undefined;

/**
 * Compares two objects by their parts. A part that only one of them has can't be compared: the
 * platform may have filled it in, or may keep the one it had.
 *
 * @param parts how to compare the known parts; others must be the same
 */
export const sameParts =
	(parts: Record<string, Equality>): Equality =>
	(stored, sent) => {
		if (!isObject(stored) || !isObject(sent)) return undefined;
		const names = new Set([...Object.keys(stored), ...Object.keys(sent)]);
		return allEqual(
			[...names].map((name) => {
				const held = (getOwn(stored, name) ?? null) as JsonValue;
				const given = (getOwn(sent, name) ?? null) as JsonValue;
				const equals = getOwn(parts, name);
				// Only the platform knows whether it keeps an empty text or drops it.
				if (isCleared(held) && isCleared(given)) return sameOrUnknown(held, given);
				if (isCleared(held) && equals) return false;
				if (isCleared(given)) return undefined;
				return (equals ?? sameOrUnknown)(held, given);
			}),
		);
	};

/** Compares lists of texts. The platform may reorder them and drop duplicates. */
export const sameTexts: Equality = (stored, sent) => {
	if (!Array.isArray(stored) || !Array.isArray(sent)) return undefined;
	const [held, given] = [new Set(stored), new Set(sent)];
	if (held.size !== given.size || [...held].some((entry) => !given.has(entry))) return false;
	return sameOrUnknown(stored, sent);
};
