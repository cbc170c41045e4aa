import type { App, JsonObject, Right, Role, Table, Token, TokenType } from '../state/model.mts';
import { forbidden } from '../api/errors.mts';
import type { World } from '../state/sandboxState.mts';
import { creatorOf } from './tokens.mts';

const limits: Record<Exclude<TokenType, 'role' | 'jwt'>, string> = {
	short: 'A short API token is for attachments alone',
	workflow: 'A workflow execution token starts workflows and nothing else',
	form: 'A public form token submits its form and nothing else',
};
const hint = 'use an API token with a role that allows it, or a JWT.';

/** The role whose rights a token has, or undefined for the types that have none on tables. */
export function roleOf(world: World, token: Token): Role | undefined {
	if (token.type === 'role') return world.roles.get(token.roleId ?? '');
	if (token.type === 'jwt') return world.roles.get(creatorOf(world, token).roleId);
	return undefined;
}

/** Whether a role allows something; `*` in place of a table asks for any table. */
export function roleAllows(role: Role | undefined, right: Right, app: App, table?: Table): boolean {
	return (role?.permissions ?? []).some(
		(permission) =>
			[app.internalName, '*'].includes(permission.app) &&
			(!table || [table.internalName, '*'].includes(permission.table)) &&
			permission.allow.includes(right),
	);
}

/** Throws a Problem (403) that names the right and what would have it; contract.md, section 1. */
export function demandRight(
	world: World,
	token: Token,
	right: Right,
	app: App,
	table: Table,
): void {
	demandTableToken(token);
	const role = roleOf(world, token);
	if (roleAllows(role, right, app, table)) return;
	throw forbidden(
		`The role '${role?.name ?? 'none'}' has no right '${right}' on table ` +
			`'${app.internalName}/${table.internalName}': ${hint}`,
	);
}

/** Throws a Problem (403) for the token types that have nothing to do with tables. */
export function demandTableToken(token: Token): void {
	if (token.type === 'role' || token.type === 'jwt') return;
	throw forbidden(`${limits[token.type]}: ${hint}`);
}

/** Whether a short token may make this update: it touches attachments and nothing else. */
export function mayAttach(token: Token, table: Table, fields: JsonObject): boolean {
	if (token.type !== 'short') return false;
	const names = Object.keys(fields);
	return (
		names.length > 0 &&
		names.every((name) => {
			const type = table.fields.find((field) => field.name === name)?.type;
			return type === 'picture' || type === 'file';
		})
	);
}
