/**
 * Where a token may travel: over HTTPS, or HTTP on a loopback host, to
 * the base URL's origin and to the origins that the credential names; nowhere else.
 */

import type { Hint } from './errors';

export class OriginError extends Error {
	/** What the user can do about it. */
	readonly hint: Hint;

	constructor(message: string, hint: Hint) {
		super(message);
		this.name = 'OriginError';
		this.hint = hint;
	}
}

/** Whether a URL's host name is this computer's own; other forms the URL parser has made plain. */
export const isLoopback = (hostname: string) =>
	hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);

/**
 * Checks that a token may be sent over this URL's scheme.
 *
 * @param what what the URL is, for the message, such as `The base URL`
 * @throws {OriginError} where it is no URL, carries a password, or is neither HTTPS nor loopback
 */
export function safeUrl(address: string, what: string): URL {
	const url = URL.canParse(address.trim()) ? new URL(address.trim()) : undefined;
	if (!url || !['https:', 'http:'].includes(url.protocol)) {
		throw new OriginError(
			`${what} is not a web address`,
			'Enter a full address such as https://platform.example.com.',
		);
	}
	if (url.username !== '' || url.password !== '') {
		throw new OriginError(
			`${what} carries a user name or password`,
			'Remove the part before the @; the token belongs in the credential.',
		);
	}
	if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
		throw new OriginError(
			`${what} must use HTTPS. Nothing was sent`,
			`Use https:// for ${url.hostname}. Plain HTTP is accepted for this computer only (localhost, 127.0.0.1, [::1]).`,
		);
	}
	return url;
}

/** The origin of a base URL; a path such as `/api/v2` that was pasted with it is dropped. */
export const baseOrigin = (baseUrl: string) => safeUrl(baseUrl, 'The base URL').origin;

/**
 * The origins that may see the token.
 *
 * @param extra the credential's list of webhook origins, separated by commas, spaces or lines
 */
export function allowedOrigins(baseUrl: string, extra: string): Set<string> {
	const listed = extra.split(/[\s,]/).filter((entry) => entry !== '');
	return new Set([
		baseOrigin(baseUrl),
		...listed.map((entry) => safeUrl(entry, 'A webhook origin').origin),
	]);
}
