import { demoJwt } from '../access/tokens.mts';
import { rights, type Right, type Role, type Token, type User } from '../state/model.mts';
import type { SandboxState } from '../state/sandboxState.mts';
import { uuidOf } from '../catalog/ids.mts';

const role = (id: string, name: string, allow: Right[]): Role => ({
	id,
	name,
	permissions: [{ app: '*', table: '*', allow }],
});
const roles: Role[] = [
	role('editor', 'Editor', [...rights]),
	// Without import: clients meet the reading of `bulkRight` that needs it.
	role(
		'writer',
		'Writer',
		rights.filter((right) => right !== 'import'),
	),
	role('reader', 'Reader', ['structure', 'read']),
];
const users: User[] = [
	{ id: uuidOf('user admin'), email: 'admin@example.com', name: 'Demo Admin', roleId: 'editor' },
	{ id: uuidOf('user guest'), email: 'guest@example.com', name: 'Demo Guest', roleId: 'reader' },
];
const admin = uuidOf('user admin');
const farAway = new Date('2100-01-01T00:00:00Z');
const longAgo = new Date('2020-01-01T00:00:00Z');

function token(name: string, rest: Partial<Token> & Pick<Token, 'type'>): Token {
	return {
		id: uuidOf(`token ${name}`),
		name,
		value: `demo-${name}-token`,
		createdBy: admin,
		createdOn: '2024-01-01T00:00:00.000Z',
		status: 'valid',
		validTo: null,
		templates: false,
		...rest,
	};
}

/** One of every type, and some that are rejected. */
const tokens: Token[] = [
	token('role', { type: 'role', roleId: 'writer', templates: true }),
	token('jwt', {
		type: 'jwt',
		value: demoJwt('demo-admin', farAway),
		validTo: farAway.toISOString(),
	}),
	token('short', { type: 'short' }),
	token('workflow', { type: 'workflow' }),
	token('readonly', { type: 'role', roleId: 'reader' }),
	token('expired', {
		type: 'jwt',
		value: demoJwt('demo-admin', longAgo),
		validTo: longAgo.toISOString(),
	}),
	token('revoked', { type: 'role', roleId: 'editor', status: 'revoked' }),
	token('form', { type: 'form' }),
];

/** Roles, users and demo tokens. */
export function seedAccess(state: SandboxState): void {
	for (const entry of roles) state.roles.put(entry);
	for (const entry of users) state.users.put(entry);
	for (const entry of tokens) state.tokens.put(entry);
}

/** The demo tokens' values by name. They are public on purpose. */
export function demoTokens(state: SandboxState): Record<string, string> {
	const names = new Set(tokens.map((entry) => entry.name));
	return Object.fromEntries(
		state.tokens
			.all()
			.filter((entry) => names.has(entry.name))
			.map((entry) => [entry.name, entry.value]),
	);
}
