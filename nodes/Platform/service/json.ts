/** The value that a text holds as JSON; undefined where it is no JSON. */
export function readJson(text: string): unknown {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
}
