import type { Table } from '../state/model.mts';
import { Writing } from './writer.mts';
import type { World } from '../state/sandboxState.mts';

/** Writes that come from the sandbox itself (its seed, its administration): request 0. */
export function writingAsAdmin(world: World, table: Table): Writing {
	const token = world.tokens.all()[0];
	const user = token && world.users.get(token.createdBy);
	if (!token || !user) throw new Error('Tokens and users come before records.');
	const call = {
		world,
		number: 0,
		origin: '',
		params: {},
		query: {},
		body: undefined,
		token,
		user,
		fateOf: () => 'write' as const,
	};
	return new Writing(call, table);
}
