import type { Token, User } from '../state/model.mts';
import { unauthenticated } from '../api/errors.mts';
import type { World } from '../state/sandboxState.mts';

/** The token in an Authorization header. Throws a Problem (401); contract.md, section 1. */
export function tokenFromHeader(world: World, header: string | undefined): Token {
	const value = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];
	if (!value) throw unauthenticated('The Authorization header must be "Bearer <token>".');
	return currentToken(world, value);
}

/** The token with this value, if it is valid now. Throws a Problem (401). */
export function currentToken(world: World, value: string): Token {
	const token = world.tokens.all().find((entry) => entry.value === value);
	if (!token) throw unauthenticated('The token is not known.');
	if (token.status === 'revoked') throw unauthenticated('The token is revoked.');
	if (!isCurrent(token)) throw unauthenticated('The token has expired.');
	return token;
}

/** Whether the token may be used now; section 1, "status" and "valid to". */
export function isCurrent(token: Token): boolean {
	const ended = token.validTo !== null && Date.parse(token.validTo) <= Date.now();
	return token.status === 'valid' && !ended;
}

/** The user that the token was made by. */
export function creatorOf(world: World, token: Token): User {
	const user = world.users.get(token.createdBy);
	if (!user) throw unauthenticated("The token's creator does not exist any more.");
	return user;
}

/**
 * A JWT that a client can decode, with a signature that says what it is. The sandbox knows its
 * tokens by their value and never checks the signature.
 */
export function demoJwt(subject: string, expires: Date): string {
	const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
	const exp = Math.floor(expires.getTime() / 1000);
	const payload = { sub: subject, name: 'DEMO ONLY', exp };
	return `${part({ alg: 'none', typ: 'JWT' })}.${part(payload)}.demo-not-a-secret`;
}
