/**
 * Text that users or the platform chose, on its way into an address: whatever it is, it stays in
 * the place that it was put into.
 */
import { InputError } from './errors';

/** Half of a surrogate pair: it is no character, and no bytes stand for it. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * The text percent-encoded, for a query or a path.
 *
 * @throws {InputError} where it holds half a character
 */
export function encodeUrlComponent(text: string): string {
	if (!LONE_SURROGATE.test(text)) return encodeURIComponent(text);
	throw new InputError(
		`${JSON.stringify(text.slice(0, 60))} holds half of a character. Nothing was sent`,
		{
			hint: 'The text was cut in the middle of a character, such as an emoji. Correct it where it comes from.',
		},
	);
}

/**
 * One segment of a path. `.` and `..` lead elsewhere, encoded or not: whatever reads an address
 * takes `%2E%2E` for them too.
 *
 * @throws {InputError} where no encoding keeps it in its place
 */
export function encodePathSegment(text: string): string {
	if (!/^\.{0,2}$/.test(text)) return encodeUrlComponent(text);
	throw new InputError(`'${text}' cannot be the name or ID of anything. Nothing was sent`, {
		hint: 'Enter the name or ID of an application, table, record or file.',
	});
}
