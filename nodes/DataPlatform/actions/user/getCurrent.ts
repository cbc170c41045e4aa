import { readCurrentUser } from '../../api/tables';
import { itemOperation } from '../../parameters/operation';

export const getCurrent = itemOperation({
	value: 'getCurrent',
	name: 'Get Current',
	action: 'Get current user',
	description: 'Retrieve the user that the token belongs to',
	fields: [],
	execute: async (run) => await readCurrentUser(run.client),
});
