import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { demoJwt, isCurrent } from '../access/tokens.mts';
import { bodyCheck } from '../api/validation.mts';
import type { JsonObject, Token } from '../state/model.mts';
import { invalid, notFound } from '../api/errors.mts';
import type { World } from '../state/sandboxState.mts';
import { newTokenSchema, tokenChangeSchema, type NewToken, type TokenChange } from './schemas.mts';

const yearMs = 365 * 24 * 60 * 60 * 1000;

/** /sandbox/tokens: list, make, revoke, delete; docs/sandbox.md. */
export function registerTokens(server: FastifyInstance, world: World): void {
	const checkNew = bodyCheck<NewToken>(newTokenSchema);
	const checkChange = bodyCheck<TokenChange>(tokenChangeSchema);

	server.get('/sandbox/tokens', () => ({
		data: world.tokens.all().map((token) => described(world, token)),
	}));
	server.post('/sandbox/tokens', (request, reply) => {
		const token = made(world, checkNew(request.body));
		world.tokens.put(token);
		// The one time that its value is told.
		void reply.status(201);
		return { data: { ...described(world, token), value: token.value } };
	});
	server.patch<{ Params: { name: string } }>('/sandbox/tokens/:name', (request) => {
		const token = { ...named(world, request.params.name), ...checkChange(request.body) };
		world.tokens.put(token);
		return { data: described(world, token) };
	});
	server.delete<{ Params: { name: string } }>('/sandbox/tokens/:name', (request, reply) => {
		world.tokens.remove(named(world, request.params.name).id);
		return reply.status(204).send();
	});
}

function made(world: World, input: NewToken): Token {
	const { name, type, permissions = [], validTo = null, templates = false } = input;
	if (world.tokens.all().some((token) => token.name === name)) {
		throw invalid(`There is a token '${name}' already.`);
	}
	if (validTo !== null && Number.isNaN(Date.parse(validTo))) throw invalid('validTo is no date.');
	const users = world.users.all();
	const user = users.find((entry) => entry.email === (input.createdBy ?? users[0]?.email));
	if (!user) throw invalid(`There is no user '${input.createdBy}'.`);
	const roleId = `role of ${name}`;
	if (type === 'role') world.roles.put({ id: roleId, name: roleId, permissions });
	const expires = validTo === null ? new Date(Date.now() + yearMs) : new Date(validTo);
	return {
		id: randomUUID(),
		name,
		type,
		value: type === 'jwt' ? demoJwt(`demo-${name}`, expires) : `demo-${name}-token`,
		...(type === 'role' ? { roleId } : {}),
		createdBy: user.id,
		createdOn: new Date().toISOString(),
		status: 'valid',
		validTo: type === 'jwt' ? expires.toISOString() : validTo,
		templates,
	};
}

function named(world: World, name: string): Token {
	const token = world.tokens.all().find((entry) => entry.name === name);
	if (!token) throw notFound(`There is no token '${name}'.`);
	return token;
}

/** What the platform's own list shows: never the value. */
function described(world: World, token: Token): JsonObject {
	return {
		name: token.name,
		type: token.type,
		value: `${token.value.slice(0, 5)}…`,
		role: token.roleId ? (world.roles.get(token.roleId)?.name ?? null) : null,
		createdBy: world.users.get(token.createdBy)?.email ?? null,
		createdOn: token.createdOn,
		status: token.status,
		validTo: token.validTo,
		valid: isCurrent(token),
		templates: token.templates,
	};
}
