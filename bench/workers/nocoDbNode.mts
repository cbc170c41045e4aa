/** A table node of n8n itself, for comparison: NocoDB's Create or Update, in the same engine. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { IVersionedNodeType } from 'n8n-workflow';
import { N8N_FOLDER } from '../../harness/install.mts';
import {
	ITEMS_TYPE,
	ownCredentials,
	ownTypes,
	picked,
	runWorkflow,
} from '../../test/support/engine/outsideJest.mts';
import { createItems } from '../benchTable.mts';
import { toInput } from './engine.mts';
import { serveTasks } from './workerProcess.mts';

export interface NocoDbNodeTasks {
	/** `baseUrl`: of a stub of NocoDB's API. */
	upsert: { baseUrl: string; size: number };
}

const NODE_TYPE = 'n8n-nodes-base.nocoDb';
const CREDENTIAL_TYPE = 'nocoDbApiToken';

const { NocoDB } = createRequire(join(N8N_FOLDER, 'package.json'))(
	'n8n-nodes-base/dist/nodes/NocoDB/NocoDB.node.js',
) as { NocoDB: new () => IVersionedNodeType };
ownTypes.set(NODE_TYPE, new NocoDB());
ownCredentials.set(CREDENTIAL_TYPE, async ({ apiToken }, options) => ({
	...options,
	headers: { ...options.headers, 'xc-token': String(apiToken) },
}));

const node = {
	name: 'NocoDB',
	type: NODE_TYPE,
	typeVersion: 4,
	credentials: { [CREDENTIAL_TYPE]: { id: '3', name: 'NocoDB' } },
	parameters: {
		authentication: CREDENTIAL_TYPE,
		resource: 'row',
		operation: 'upsert',
		workspaceId: picked('workspace'),
		projectId: picked('base'),
		table: picked('table'),
		dataToSend: 'autoMapInputData',
		id: '',
		inputsToIgnore: '',
	},
};

serveTasks<NocoDbNodeTasks>({
	async upsert({ baseUrl, size }) {
		const input = toInput(createItems(size).map((fields) => ({ fields })));
		const nodes = [{ name: 'Items', type: ITEMS_TYPE }, node];
		const connections = {
			Items: { main: [[{ node: node.name, type: 'main' as const, index: 0 }]] },
		};
		const credential = { baseUrl, token: '', host: baseUrl, apiToken: 'token' };
		return async () => {
			const result = await runWorkflow({ nodes, connections }, input, credential);
			if (result.error) throw new Error(result.error.message);
			const written = result.output(node.name).length;
			if (written !== size) throw new Error(`${written} items instead of ${size}`);
		};
	},
});
