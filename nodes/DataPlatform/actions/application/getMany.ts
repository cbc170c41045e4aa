import { readApplications } from '../../api/tables';
import type { ItemOperation } from '../../execution/operation';

export const getMany: ItemOperation = {
	kind: 'item',
	value: 'getAll',
	name: 'Get Many',
	action: 'Get many applications',
	description: 'Retrieve a list of the applications that the token may see',
	fields: [],
	execute: async (run) =>
		(await readApplications(run.client)).map(({ id, name, internalName }) => ({
			id,
			name,
			internalName,
		})),
};
