/**
 * Token types, and what to say when one does not fit (contract.md section 1). The token itself is
 * read here once for its expiry, and kept nowhere.
 */

import { isObject, parseJson } from './json';

export type TokenPurpose = 'data' | 'attachments' | 'workflows';

export interface TokenInfo {
	/** The type chosen in the credential. */
	type: string;
	/** When a JWT expires, ISO 8601 in UTC. */
	expires?: string;
}

const NAMES: Record<string, string> = {
	role: 'API Token With Role',
	jwt: 'Standard JWT Token',
	short: 'Short API Token',
	workflow: 'Workflow Execution Token',
};

const FITTING: Record<TokenPurpose, { types: string[]; what: string }> = {
	data: { types: ['role', 'jwt'], what: 'Reading and writing data' },
	attachments: { types: ['role', 'jwt', 'short'], what: 'Uploading and changing attachments' },
	workflows: { types: ['role', 'workflow', 'jwt'], what: 'Starting workflows' },
};

/** A shorter one may be a word of its own. */
const MIN_TOKEN_LENGTH = 8;

/**
 * Takes a token out of what came back: a gateway or a webhook may tell what it was sent, and items,
 * errors and logs are no place for a token.
 */
export function tokenRedactor(token: string): (text: string) => string {
	if (token.length < MIN_TOKEN_LENGTH) return (text) => text;
	// As it is, in JSON that escapes slashes, and in an address.
	const forms = [token, token.replaceAll('/', '\\/'), encodeURIComponent(token)];
	return (text) => forms.reduce((redacted, form) => redacted.replaceAll(form, '[token]'), text);
}

/** The last moment that a date can hold, in seconds. */
const LATEST_TIME_S = 8.64e12;

/** A JWT's claims, read without checking the signature; undefined for other tokens. */
function jwtClaims(token: string): unknown {
	const [header, payload, signature, ...rest] = token.split('.');
	if (!header || !payload || signature === undefined || rest.length > 0) return undefined;
	const claims = parseJson(Buffer.from(payload, 'base64url').toString('utf8'));
	return isObject(claims) ? claims : undefined;
}

/** Whether a token has the form of a JWT. */
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

/** What to do about a 401 or 403, in plain words; undefined for other answers. */
export function tokenHint(
	status: number | undefined,
	{ type, expires }: TokenInfo,
	purpose: TokenPurpose,
): string | undefined {
	const isExpired = expires !== undefined && Date.parse(expires) < Date.now();
	if (status === 401) {
		return isExpired
			? `The token expired on ${expires.slice(0, 16).replace('T', ' ')} UTC. Make a new one in the platform and enter it in the credential.`
			: "Check 'Token' in the credential: it may be mistyped, expired or revoked.";
	}
	if (status !== 403) return undefined;
	const { types, what } = FITTING[purpose];
	if (types.includes(type)) {
		return type === 'role'
			? "Give the token's role the right to do this in the platform, or choose another table."
			: 'Ask for a token that has this right, or choose another table.';
	}
	const names = types.map((name) => `'${NAMES[name]}'`).join(' or ');
	return `${what} takes a token of the type ${names}; the credential has a '${NAMES[type] ?? type}'.`;
}
