/**
 * Token types, and what to do if the type does not fit. Reads the token once for its expiry date,
 * and does not keep it.
 */

import type { Hint, TokenPurpose } from './errors';
import { isObject, parseJson } from './json';

export interface TokenInfo {
	/** The type chosen in the credential. */
	type: string;
	/** When a JWT expires, ISO 8601 in UTC. */
	expires?: string;
}

const FITTING_TYPES: Record<TokenPurpose, string[]> = {
	data: ['role', 'jwt'],
	attachments: ['role', 'jwt', 'short'],
	workflows: ['role', 'workflow', 'jwt'],
};

/** A shorter one could be part of ordinary text. */
const MIN_TOKEN_LENGTH = 8;

/**
 * A pattern for a sign as it is, in JSON (`\/`, `\u002B`, also in JSON inside JSON), in a URL (`%2b`,
 * `%252B`) and in HTML (`&#43;`, `&#x2B;`). No encoder escapes letters and digits.
 */
function anyForm(sign: string): string {
	const code = sign.charCodeAt(0);
	const hex = code.toString(16);
	const anyCase = hex.replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`);
	return `\\\\{0,7}(?:\\x${hex}|u00${anyCase}|%(?:25)*${anyCase}|&#(?:0*${code}|[xX]0*${anyCase});)`;
}

/**
 * Redacts the token in what came back: a gateway or a webhook may echo it, and it must not get into
 * items, errors or logs.
 */
export function tokenRedactor(token: string): (text: string) => string {
	if (token.length < MIN_TOKEN_LENGTH) return (text) => text;
	const pattern = new RegExp(token.replace(/[^a-z\d]/gi, anyForm), 'g');
	return (text) => text.replace(pattern, '[token]');
}

/** The latest time that a date can hold, in seconds. */
const LATEST_TIME_S = 8.64e12;

/** A JWT's claims, without checking the signature; undefined for other tokens. */
function jwtClaims(token: string): unknown {
	const [header, payload, signature, ...rest] = token.split('.');
	if (!header || !payload || signature === undefined || rest.length > 0) return undefined;
	const claims = parseJson(Buffer.from(payload, 'base64url').toString('utf8'));
	return isObject(claims) ? claims : undefined;
}

/** Whether a token looks like a JWT. */
export const isJwt = (token: string) => jwtClaims(token) !== undefined;

/** The time in a JWT's `exp`; undefined for other tokens. */
function jwtExpiry(token: string): string | undefined {
	const claims = jwtClaims(token);
	const { exp } = (claims ?? {}) as { exp?: unknown };
	const isTime = typeof exp === 'number' && Math.abs(exp) < LATEST_TIME_S;
	return isTime ? new Date(exp * 1000).toISOString() : undefined;
}

export const describeToken = (type: string, token: string): TokenInfo => ({
	type,
	expires: jwtExpiry(token),
});

/** What to do about a 401 or 403; undefined for other responses. */
export function tokenHint(
	status: number | undefined,
	{ type, expires }: TokenInfo,
	purpose: TokenPurpose,
): Hint | undefined {
	if (status === 401) {
		const isExpired = expires !== undefined && Date.parse(expires) < Date.now();
		if (isExpired) return { code: 'replaceExpiredToken', expires };
		return { code: purpose === 'workflows' ? 'checkWebhookToken' : 'checkToken' };
	}
	if (status !== 403) return undefined;
	const types = FITTING_TYPES[purpose];
	if (!types.includes(type)) return { code: 'useTokenOfType', purpose, types, type };
	if (purpose === 'workflows') return { code: 'tryOtherWebhookToken' };
	return type === 'role'
		? "Give the token's role the right to do this in the platform, or choose another table."
		: 'Ask for a token that has this right, or choose another table.';
}
