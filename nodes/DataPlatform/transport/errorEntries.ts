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

/** The code of an error whose message only names table and field and has the value. */
const ALREADY_EXISTS = 'specifiedCodeAlreadyExistsException';

/** `Contacts, E-mail, ann@example.com` of a unique column. A comma in a name would shift the parts. */
function ofUniqueColumn(message: string): string {
	const [, field, value, ...others] = message.split(', ');
	return value === undefined || others.length > 0
		? `Another record has this value: ${message}`
		: `Another record has this value in '${field}': ${value}`;
}

function toEntry(entry: Record<string, unknown>): ErrorEntry {
	const isIndex = ([key]: [string, unknown]) => key.toLowerCase() === 'recordindex';
	const [, index] = Object.entries(entry).find(isIndex) ?? [];
	const isNumber = typeof index === 'number' || /^\d+$/.test(String(index));
	const message = text(withoutFullStop(entry.message ?? entry.title));
	const id = text(entry.id);
	return {
		type: text(entry.type),
		id,
		message: message && id === ALREADY_EXISTS ? ofUniqueColumn(message) : message,
		recordIndex: isNumber && Number.isInteger(Number(index)) ? Number(index) : undefined,
	};
}

/** Reads the `errors` of a response: a list, one error, texts, or an object with texts by field. */
export function toErrorEntries(value: unknown): ErrorEntry[] {
	if (typeof value === 'string') return value === '' ? [] : [toEntry({ message: value })];
	if (Array.isArray(value)) {
		return value.flatMap((entry) => (isObject(entry) ? [toEntry(entry)] : toErrorEntries(entry)));
	}
	if (!isObject(value)) return [];
	if (typeof (value.message ?? value.title) === 'string') return [toEntry(value)];
	const messages = Object.entries(value).flatMap(([field, texts]) =>
		toErrorEntries(texts).flatMap(({ message }) => (message ? `${field}: ${message}` : [])),
	);
	return messages.length > 0 ? [toEntry({ message: messages.join('; ') })] : [];
}

/** What an error without `errors` says: `{ "title": … }`, or plain text. A page (HTML) says nothing. */
export function otherErrorText(body: Record<string, unknown> | undefined, plain: string) {
	const { title, detail, message, error } = body ?? {};
	const parts = [title, detail, message, error].map(withoutFullStop).map(text).filter(Boolean);
	if (parts.length > 0) return [...new Set(parts)].join(': ');
	return body || /^\s*[<[{]/.test(plain) ? undefined : text(withoutFullStop(plain));
}
