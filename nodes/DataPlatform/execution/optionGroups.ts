/**
 * Options that stand in a sub-collection: an operation with many options groups the rare ones, one
 * with few has them all side by side. They are read by the same names either way.
 */
import type { IDataObject } from 'n8n-workflow';

import { getOwn, isObject } from '../transport/json';

/** What a sub-collection is stored under: `options.requests.settings.batchSize`. */
export const GROUP_KEY = 'settings';

const OPTIONS = 'options.';

const settingsOf = (entry: unknown): Record<string, unknown> | undefined => {
	const settings = isObject(entry) ? getOwn<unknown>(entry, GROUP_KEY) : undefined;
	return isObject(settings) ? settings : undefined;
};

/**
 * Where an option is stored.
 *
 * @param stored the whole collection as the workflow holds it
 * @param path such as `options.batchSize` or `options.linkValues.link`
 * @returns such as `options.requests.settings.batchSize`; the path itself outside of sub-collections
 */
export function storedPath(stored: unknown, path: string): string {
	if (!path.startsWith(OPTIONS) || !isObject(stored)) return path;
	const rest = path.slice(OPTIONS.length);
	const name = rest.split('.', 1)[0]!;
	for (const [group, entry] of Object.entries(stored)) {
		const settings = settingsOf(entry);
		if (settings && Object.hasOwn(settings, name)) return `${OPTIONS}${group}.${GROUP_KEY}.${rest}`;
	}
	return path;
}

/** The options with those of sub-collections beside the others. */
export function withoutGroups(options: IDataObject): IDataObject {
	const entries = Object.entries(options).flatMap(([name, entry]) => {
		const settings = settingsOf(entry);
		return settings ? Object.entries(settings as IDataObject) : [[name, entry] as const];
	});
	return Object.fromEntries(entries);
}
