import { readCurrentUser } from '../../api/tables';
import type { ItemOperation } from '../../execution/operation';

export const getCurrent: ItemOperation = {
	kind: 'item',
	value: 'getCurrent',
	name: 'Get Current',
	action: 'Get current user',
	description: 'Retrieve the user that the token belongs to',
	fields: [],
	execute: async (run) => await readCurrentUser(run.client),
};
