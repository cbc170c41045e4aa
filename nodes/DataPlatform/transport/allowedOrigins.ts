/**
 * Where the token may be sent: only to the base URL's origin and the origins listed in the
 * credential, over HTTPS, or over HTTP to a loopback host.
 */
import { InputError } from './errors';

/** The error for an address that is neither the platform's nor listed in the credential. */
export const originNotAllowed = (message: string, origin: string) =>
	new InputError(`${message}. Nothing was sent`, {
		hint: `If this address belongs to your platform, add ${origin} to 'Webhook Origins' in the credential, under 'More Settings'.`,
	});

/**
 * True for `localhost` and `127.0.0.2`. The URL parser has already normalized other spellings.
 */
export const isLoopback = (hostname: string) =>
	hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);

/** An IPv4 address in IPv6 may be any: no server of files has one. */
const THIS_COMPUTER = /^(?:(?:.+\.)?localhost|(?:127|0)(?:\.\d+){3}|\[::(?:1?|ffff:.+)\])$/;

const PRIVATE_NETWORK =
	/^(?:10(?:\.\d+){3}|(?:172\.(?:1[6-9]|2\d|3[01])|192\.168|169\.254|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))(?:\.\d+){2}|\[f(?:[cd]|e[89ab]).+\])$/;

/**
 * How near the host of a URL is, by its name: on this computer (2), in the private network (1), or
 * neither (0).
 */
export function nearness({ hostname }: URL): number {
	const host = hostname.replace(/\.$/, '');
	if (THIS_COMPUTER.test(host)) return 2;
	return PRIVATE_NETWORK.test(host) ? 1 : 0;
}

/**
 * Checks that a token may be sent to this URL.
 *
 * @param what names the URL in the message, such as `The base URL`
 * @throws {InputError} if it is not a URL, contains a password, or is neither HTTPS nor loopback
 */
export function safeUrl(address: string, what: string): URL {
	const url = URL.canParse(address.trim()) ? new URL(address.trim()) : undefined;
	if (!url || !['https:', 'http:'].includes(url.protocol)) {
		throw new InputError(`${what} is not a web address`, {
			hint: 'Enter a full address such as https://platform.example.com.',
		});
	}
	if (url.username !== '' || url.password !== '') {
		throw new InputError(`${what} contains a user name or password`, {
			hint: 'Remove the part before the @; the token belongs in the credential.',
		});
	}
	if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
		throw new InputError(`${what} must use HTTPS. Nothing was sent`, {
			hint: `Use https:// for ${url.hostname}. Plain HTTP is accepted for this computer only (localhost, 127.0.0.1, [::1]).`,
		});
	}
	return url;
}

/** The origin of a base URL. Drops a path such as `/api/v2` that was pasted with it. */
export const baseOrigin = (baseUrl: string) => safeUrl(baseUrl, 'The base URL').origin;

/**
 * The origins that may receive the token.
 *
 * @param extra the credential's list of webhook origins, separated by commas, spaces or line breaks
 */
export function allowedOrigins(baseUrl: string, extra: string): Set<string> {
	const listed = extra.split(/[\s,]/).filter((entry) => entry !== '');
	return new Set([
		baseOrigin(baseUrl),
		...listed.map((entry) => safeUrl(entry, 'A webhook origin').origin),
	]);
}
