/**
 * Equality with three answers: true and false are certain, undefined is what can't be proven.
 */
import type { JsonValue } from '../api/types';
import { isObject, getOwn } from '../transport/json';
import { isCleared } from './fieldType';

type Equality = (stored: JsonValue, sent: JsonValue) => boolean | undefined;

/** Certainly different if one part is, equal only if all are. */
export function allEqual(parts: Iterable<boolean | undefined>): boolean | undefined {
	let result: boolean | undefined = true;
	for (const part of parts) {
		if (part === false) return false;
		if (part === undefined) result = undefined;
	}
	return result;
}

/** Both of one primitive type, and the same. */
export const samePrimitive =
	(type: 'string' | 'boolean'): Equality =>
	(stored, sent) =>
		typeof stored === type && typeof sent === type ? stored === sent : undefined;

export const sameText = samePrimitive('string');

/** Only what is exactly the same is certain to be the same. */
export const sameOrUnknown: Equality = (stored, sent) => (stored === sent ? true : undefined);

const sameEmpty = (held: unknown, given: unknown) =>
	JSON.stringify(held ?? null) === JSON.stringify(given ?? null) ? true : undefined;

/**
 * Equality of objects by the parts that they have. A part that only one of them has can't be
 * compared: the platform may have filled it in, or may keep what it had.
 *
 * @param parts the parts that are values; what is not named here has to be the same
 * @param assigned parts that the platform itself computes, whatever was sent
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
				// Whether an empty text is kept as one, or left out, only the platform knows.
				if (isCleared(held) && isCleared(given)) return sameEmpty(held, given);
				if (isCleared(held) && name in parts) return false;
				// An empty list is a value of a part that is a list; anything else empty is left out.
				const isLeftOut = isCleared(given) && !(name in parts && Array.isArray(given));
				if (isLeftOut) return undefined;
				return (getOwn(parts, name) ?? sameOrUnknown)(held as JsonValue, given as JsonValue);
			}),
		);
	};

/** Lists of the same length with equal entries at each place. */
export const sameEntries =
	(entry: Equality): Equality =>
	(stored, sent) => {
		if (!Array.isArray(stored) || !Array.isArray(sent)) return undefined;
		if (stored.length !== sent.length) return false;
		return allEqual(stored.map((held, index) => entry(held, sent[index]!)));
	};

/** Lists of texts; the platform may keep another order, or none of what is repeated. */
export const sameTexts: Equality = (stored, sent) => {
	if (!Array.isArray(stored) || !Array.isArray(sent)) return undefined;
	const [held, given] = [new Set(stored), new Set(sent)];
	if (held.size !== given.size || [...held].some((entry) => !given.has(entry))) return false;
	const isSameList =
		stored.length === sent.length && stored.every((entry, index) => entry === sent[index]);
	return isSameList ? true : undefined;
};
