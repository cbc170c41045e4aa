/** The `errors` of a response: contract/openapi.yaml, `ErrorEntry`. */
import { isObject } from './json';
import { shortened } from './messageText';

/** One entry of `errors`. `RecordIndex` is optional, and its case is not guaranteed. */
export interface ErrorEntry {
	type?: string;
	id?: string;
	message?: string;
	recordIndex?: number;
}

/** Limits an error's text, which goes into every item that it is about, and to agents. */
const MAX_CHARACTERS = 1000;

function text(value: unknown): string | undefined {
	if (typeof value !== 'string' || value === '') return undefined;
	return shortened(value, MAX_CHARACTERS);
}

/** Removed because messages continue after it. */
const withoutFullStop = (value: unknown) =>
	typeof value === 'string' ? value.trim().replace(/(?<!\.)\.$/, '') : value;

/** The messages of several errors as one, each once; undefined if none has any. */
export const joinedMessages = (entries: ErrorEntry[]): string | undefined =>
	text([...new Set(entries.map(({ message }) => message).filter(Boolean))].join('; '));

/** Reads the `errors` of a response, whatever they contain. */
export function toErrorEntries(value: unknown): ErrorEntry[] {
	if (!Array.isArray(value)) return [];
	return value.filter(isObject).map((entry) => {
		const isIndex = ([key]: [string, unknown]) => key.toLowerCase() === 'recordindex';
		const [, index] = Object.entries(entry).find(isIndex) ?? [];
		return {
			type: text(entry.type),
			id: text(entry.id),
			message: text(withoutFullStop(entry.message)),
			recordIndex: Number.isInteger(index) ? (index as number) : undefined,
		};
	});
}
