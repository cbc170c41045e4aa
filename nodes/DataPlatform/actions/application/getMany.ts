import { readApplications } from '../../api/structure';
import { itemOperation } from '../../parameters/defineOperation';

export const getMany = itemOperation({
	value: 'getAll',
	name: 'Get Many',
	action: 'Get many applications',
	description: 'Retrieve a list of the applications that the token may see',
	fields: [],
	execute: async (run) =>
		(await readApplications(run.client)).map((application) => ({ json: { ...application } })),
});
