/** The value that a text holds as JSON; undefined where it is no JSON. */
export function readJson(text: string): unknown {
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
export const own = <T>(object: Readonly<Record<string, T>>, name: string): T | undefined =>
	Object.hasOwn(object, name) ? object[name] : undefined;
