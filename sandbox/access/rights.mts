import type { App, JsonObject, Right, Role, Table, Token, TokenType } from '../state/model.mts';
import { forbidden } from '../api/errors.mts';
import type { SandboxState } from '../state/sandboxState.mts';
import { creatorOf } from './tokens.mts';

const restrictions: Record<Exclude<TokenType, 'role' | 'jwt'>, string> = {
	short: 'A short API token only gives access to attachments',
	workflow: 'A workflow execution token can only start workflows',
	form: 'A public form token can only submit its form',
};
const hint = 'use an API token with a role that allows it, or a JWT.';

/** The role whose rights a token has; undefined for types without rights on tables. */
export function roleOf(state: SandboxState, token: Token): Role | undefined {
	if (token.type === 'role') return state.roles.get(token.roleId ?? '');
	if (token.type === 'jwt') return state.roles.get(creatorOf(state, token).roleId);
	return undefined;
}

/** Whether a role has a right on a table, or on any table of the application. */
export function roleAllows(role: Role | undefined, right: Right, app: App, table?: Table): boolean {
	return (role?.permissions ?? []).some(
		(permission) =>
			[app.internalName, '*'].includes(permission.app) &&
			(!table || [table.internalName, '*'].includes(permission.table)) &&
			permission.allow.includes(right),
	);
}

/** Throws an ApiError (403) that names the missing right and the token to use instead. */
export function requireRight(
	state: SandboxState,
	token: Token,
	right: Right,
	app: App,
	table: Table,
): void {
	requireTableToken(token);
	const role = roleOf(state, token);
	if (roleAllows(role, right, app, table)) return;
	throw forbidden(
		`The role '${role?.name ?? 'none'}' does not have the right '${right}' on table ` +
			`'${app.internalName}/${table.internalName}': ${hint}`,
	);
}

/** Throws an ApiError (403) if bulk requests need a right of their own, and the token lacks it. */
export function requireBulkRight(state: SandboxState, token: Token, app: App, table: Table): void {
	if (state.settings.bulkRight === 'import') requireRight(state, token, 'import', app, table);
}

/** Throws an ApiError (403) for token types without rights on tables. */
export function requireTableToken(token: Token): void {
	if (token.type === 'role' || token.type === 'jwt') return;
	throw forbidden(`${restrictions[token.type]}: ${hint}`);
}

/** Whether this is a short token and an update of attachments only. */
export function canUpdateAttachments(token: Token, table: Table, fields: JsonObject): boolean {
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
