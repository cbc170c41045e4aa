import type { Token, User } from '../state/model.mts';
import { unauthenticated } from '../api/errors.mts';
import type { SandboxState } from '../state/sandboxState.mts';

/** The token in an Authorization header. Throws an ApiError (401). */
export function tokenFromHeader(state: SandboxState, header: string | undefined): Token {
	const value = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];
	if (!value) throw unauthenticated('The Authorization header must be "Bearer <token>".');
	return currentToken(state, value);
}

/** The token with this value, if it is valid now. Throws an ApiError (401). */
export function currentToken(state: SandboxState, value: string): Token {
	const token = state.tokens.all().find((entry) => entry.value === value);
	if (!token) throw unauthenticated('The token is unknown.');
	if (token.status === 'revoked') throw unauthenticated('The token is revoked.');
	if (!isCurrent(token)) throw unauthenticated('The token has expired.');
	return token;
}

/** Whether the token is neither revoked nor expired. */
export function isCurrent(token: Token): boolean {
	const ended = token.validTo !== null && Date.parse(token.validTo) <= Date.now();
	return token.status === 'valid' && !ended;
}

/** The user who created the token. */
export function creatorOf(state: SandboxState, token: Token): User {
	const user = state.users.get(token.createdBy);
	if (!user) throw unauthenticated('The user who created this token no longer exists.');
	return user;
}

/**
 * A JWT that a client can decode, with a placeholder for a signature: the sandbox compares tokens
 * by value and never verifies them.
 */
export function demoJwt(subject: string, expires: Date): string {
	const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
	const exp = Math.floor(expires.getTime() / 1000);
	const payload = { sub: subject, name: 'DEMO ONLY', exp };
	return `${part({ alg: 'none', typ: 'JWT' })}.${part(payload)}.demo-not-a-secret`;
}
