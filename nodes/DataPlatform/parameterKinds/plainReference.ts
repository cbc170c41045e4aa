/**
 * References to an item's own data that need no evaluation, such as `={{ $json.address.cities[0]
 * }}`, which n8n writes if you drag a field into a parameter. n8n takes about half a millisecond to
 * evaluate one, so reading the item directly speeds up runs with many items. If in doubt, n8n
 * evaluates it.
 */

/** Stands for a value that only n8n can compute. */
export const NOT_PLAIN = Symbol('not plain');

/** The members to follow from an item's JSON. */
type Path = readonly string[];

// Accepts only whitespace that every parser agrees on, and names and keys without escapes.
const REFERENCE =
	/^=\{\{[ \t\r\n]*\$json((?:[ \t\r\n]*\.[ \t\r\n]*[A-Za-z_$\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f][\w$\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]*|[ \t\r\n]*\[[ \t\r\n]*(?:0|[1-9]\d{0,8}|"[^"\\{}\r\n\u2028\u2029]*"|'[^'\\{}\r\n\u2028\u2029]*')[ \t\r\n]*\])+)[ \t\r\n]*\}\}$/;

const STEP = /\.[ \t\r\n]*([^ \t\r\n.[]+)|\[[ \t\r\n]*(?:(\d+)|"([^"]*)"|'([^']*)')/g;

/** n8n rejects such names, some of them even as part of a name. */
const REFUSED = /constructor|prototype|__/;

/** The path of a plain reference; undefined if a stored text is anything else. */
export function plainPath(text: string): Path | undefined {
	const steps = REFERENCE.exec(text)?.[1];
	if (steps === undefined || REFUSED.test(steps)) return undefined;
	return [...steps.matchAll(STEP)].map(([, ...names]) => names.find((name) => name !== undefined)!);
}

/** A list or a plain object, even from another realm. */
function isContainer(value: unknown): value is Record<string, unknown> {
	if (typeof value !== 'object' || value === null) return false;
	if (Array.isArray(value)) return true;
	const prototype: unknown = Object.getPrototypeOf(value);
	return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Values nested deeper are left to n8n. */
const MAX_DEPTH = 50;

/** An entry at each index and no other members; not `[1, , 3]`. */
const isWhole = (list: readonly unknown[]) => Object.keys(list).length === list.length;

/**
 * True for `{ a: [1] }`. False for a date, a function, and all that one of n8n's engines converts,
 * drops or rejects, such as Infinity or an undefined member; also for a member with a name that
 * every object inherits, such as `__proto__`: how n8n treats those depends on its version.
 */
export function isPlain(value: unknown, depth = 0): boolean {
	if (value === null) return true;
	if (value === undefined) return depth === 0;
	if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
	if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean';
	if (!isContainer(value) || depth > MAX_DEPTH || 'isLuxonDateTime' in value) return false;
	if (Array.isArray(value))
		return isWhole(value) && value.every((each) => isPlain(each, depth + 1));
	return Object.entries(value).every(
		([name, member]) => !(name in Object.prototype) && isPlain(member, depth + 1),
	);
}

/** The value at a path of an item's JSON; undefined if its last member is missing. */
export function readPlain(json: unknown, path: Path): unknown {
	let value = json;
	for (const name of path) {
		if (!isContainer(value) || (Array.isArray(value) && !isWhole(value))) return NOT_PLAIN;
		if (!Object.hasOwn(value, name) && name in value) return NOT_PLAIN;
		value = value[name];
	}
	return isPlain(value) ? value : NOT_PLAIN;
}
