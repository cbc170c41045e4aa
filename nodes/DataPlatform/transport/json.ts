/** Deeper than any real data; what handles an item later can't go on without end. */
const MAX_DEPTH = 500;

const QUOTE = 34;
const BACKSLASH = 92;

/** Whether lists and objects lie in each other deeper than anybody can handle. */
function isTooDeep(text: string): boolean {
	let depth = 0;
	for (let at = 0; at < text.length; at += 1) {
		const code = text.charCodeAt(at);
		if (code === QUOTE) {
			for (at += 1; at < text.length && text.charCodeAt(at) !== QUOTE; at += 1) {
				if (text.charCodeAt(at) === BACKSLASH) at += 1;
			}
		} else if (code === 0x5b || code === 0x7b) {
			depth += 1;
			if (depth > MAX_DEPTH) return true;
		} else if (code === 0x5d || code === 0x7d) depth -= 1;
	}
	return false;
}

/** The value that a text holds as JSON; undefined where it is no JSON, or nested without end. */
export function parseJson(text: string): unknown {
	if (isTooDeep(text)) return undefined;
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
}

/**
 * What an object itself holds under a name that somebody else chose: every object inherits a
 * `constructor`, a `toString` and more.
 */
export const getOwn = <T>(object: Readonly<Record<string, T>>, name: string): T | undefined =>
	Object.hasOwn(object, name) ? object[name] : undefined;

/** Whether a value is a JSON object: neither null nor a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value's kind in words, with its article: `a list`, `null`, `a boolean`. */
export function describeKind(value: unknown): string {
	if (Array.isArray(value)) return 'a list';
	if (value === null || value === undefined || Number.isNaN(value)) return String(value);
	return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
