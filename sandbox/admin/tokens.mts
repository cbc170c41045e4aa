import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { demoJwt, isCurrent } from '../access/tokens.mts';
import { bodyValidator } from '../api/validation.mts';
import type { JsonObject, Token } from '../state/model.mts';
import { invalid, notFound } from '../api/errors.mts';
import type { SandboxState } from '../state/sandboxState.mts';
import { newTokenSchema, tokenChangeSchema, type NewToken } from './schemas.mts';

const yearMs = 365 * 24 * 60 * 60 * 1000;

/** /sandbox/tokens: list, create, revoke, delete; docs/sandbox.md. */
export function registerTokens(server: FastifyInstance, state: SandboxState): void {
	const checkNew = bodyValidator(newTokenSchema);
	const checkChange = bodyValidator(tokenChangeSchema);

	server.get('/sandbox/tokens', () => ({
		data: state.tokens.all().map((token) => describeToken(state, token)),
	}));
	server.post('/sandbox/tokens', (request, reply) => {
		const token = createToken(state, checkNew(request.body));
		state.tokens.put(token);
		// The only response that contains its value.
		void reply.status(201);
		return { data: { ...describeToken(state, token), value: token.value } };
	});
	server.patch<{ Params: { name: string } }>('/sandbox/tokens/:name', (request) => {
		const token = { ...requireToken(state, request.params.name), ...checkChange(request.body) };
		state.tokens.put(token);
		return { data: describeToken(state, token) };
	});
	server.delete<{ Params: { name: string } }>('/sandbox/tokens/:name', (request, reply) => {
		state.tokens.remove(requireToken(state, request.params.name).id);
		return reply.status(204).send();
	});
}

function createToken(state: SandboxState, input: NewToken): Token {
	const { name, type, permissions = [], validTo = null, templates = false } = input;
	if (state.tokens.all().some((token) => token.name === name)) {
		throw invalid(`A token '${name}' already exists.`);
	}
	if (validTo !== null && Number.isNaN(Date.parse(validTo)))
		throw invalid('validTo is not a date.');
	const users = state.users.all();
	const user = users.find((entry) => entry.email === (input.createdBy ?? users[0]?.email));
	if (!user) throw invalid(`There is no user '${input.createdBy}'.`);
	const roleId = `role of ${name}`;
	if (type === 'role') state.roles.put({ id: roleId, name: roleId, permissions });
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

function requireToken(state: SandboxState, name: string): Token {
	const token = state.tokens.all().find((entry) => entry.name === name);
	if (!token) throw notFound(`There is no token '${name}'.`);
	return token;
}

/** What the platform shows in its list of tokens: never the whole value. */
function describeToken(state: SandboxState, token: Token): JsonObject {
	return {
		name: token.name,
		type: token.type,
		value: `${token.value.slice(0, 5)}…`,
		role: token.roleId ? (state.roles.get(token.roleId)?.name ?? null) : null,
		createdBy: state.users.get(token.createdBy)?.email ?? null,
		createdOn: token.createdOn,
		status: token.status,
		validTo: token.validTo,
		valid: isCurrent(token),
		templates: token.templates,
	};
}
