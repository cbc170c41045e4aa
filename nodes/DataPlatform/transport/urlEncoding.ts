/**
 * Encodes text from users or the platform for a URL, so that it can't change any other part of the
 * URL.
 */
import { InputError } from './errors';

/** Half of a surrogate pair: it is not a character and has no encoding. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Percent-encodes text for a query or a path.
 *
 * @throws {InputError} if it contains half a character
 */
export function encodeUrlComponent(text: string): string {
	if (!LONE_SURROGATE.test(text)) return encodeURIComponent(text);
	throw new InputError(
		`${JSON.stringify(text.slice(0, 60))} contains half of a character. Nothing was sent`,
		{
			hint: 'The text was cut in the middle of a character, such as an emoji. Correct it where it comes from.',
		},
	);
}

/**
 * One segment of a path. `.` and `..` would lead to another path even if encoded: URL parsers treat
 * `%2E%2E` the same.
 *
 * @throws {InputError} if no encoding is safe
 */
export function encodePathSegment(text: string): string {
	if (!/^\.{0,2}$/.test(text)) return encodeUrlComponent(text);
	throw new InputError(`'${text}' cannot be the name or ID of anything. Nothing was sent`, {
		hint: 'Enter the name or ID of an application, table, record or file.',
	});
}
