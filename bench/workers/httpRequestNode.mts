/**
 * The peer: n8n's own HTTP Request node (n8n-nodes-base of the pinned n8n) in the same engine,
 * configured as its users do.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { INode, INodeParameters, INodeType, IVersionedNodeType } from 'n8n-workflow';
import { N8N_FOLDER } from '../../harness/install.mts';
import { ITEMS_TYPE, ownTypes, runWorkflow } from '../../test/support/engine/outsideJest.mts';
import { BULK_PATH, createItems, DATA_PATH, splitIntoBatches } from '../benchTable.mts';
import { toInput, type Target } from './engine.mts';
import { serveTasks } from './workerProcess.mts';

type Upsert = Target & { size: number };

export interface HttpRequestNodeTasks {
	/** A request for each item; the node sends them all at once. */
	itemByItem: Upsert;
	/** The same with the batching option and its defaults: 50 items a second. */
	batching: Upsert;
	/** Bulk bodies built beforehand; the node sends them all at once. */
	bulk: Upsert & { batchSize: number };
}

/** What the HTTP Request node returned. */
export interface PeerDetails {
	/** How many requests failed. */
	failed: number;
	/** The first error's message. */
	reason: string;
}

const HTTP_TYPE = 'n8n-nodes-base.httpRequest';
const BODIES_TYPE = 'bench.bodies';

const { HttpRequest } = createRequire(join(N8N_FOLDER, 'package.json'))(
	'n8n-nodes-base/dist/nodes/HttpRequest/HttpRequest.node.js',
) as { HttpRequest: new () => IVersionedNodeType };
ownTypes.set(HTTP_TYPE, new HttpRequest());

/** Replaces the user's Code node, which needs n8n's task runner and cannot run in the bare engine. */
const bodies: INodeType = {
	description: {
		displayName: 'Bodies',
		name: 'bodies',
		group: ['transform'],
		version: 1,
		description: 'Builds a bulk body for each batch of items',
		defaults: { name: 'Bodies' },
		inputs: ['main'],
		outputs: ['main'],
		properties: [{ displayName: 'Batch Size', name: 'batchSize', type: 'number', default: 100 }],
	},
	async execute() {
		const batchSize = this.getNodeParameter('batchSize', 0) as number;
		return [
			splitIntoBatches(this.getInputData(), batchSize).map((batch) => ({
				json: { bulk: batch.map(({ json }) => ({ fields: json })), useUpsert: true },
			})),
		];
	},
};
ownTypes.set(BODIES_TYPE, bodies);

const httpNode = (url: string, jsonBody: string, options: INodeParameters): Partial<INode> => ({
	type: HTTP_TYPE,
	typeVersion: 4.2,
	// So that one failed request does not hide the results of the others.
	onError: 'continueRegularOutput',
	credentials: { httpHeaderAuth: { id: '2', name: 'Header' } },
	parameters: {
		method: 'POST',
		url,
		authentication: 'genericCredentialType',
		genericAuthType: 'httpHeaderAuth',
		sendBody: true,
		specifyBody: 'json',
		jsonBody,
		options,
	},
});

const RESULT_NODE = 'HTTP Request';

async function runChain(
	{ baseUrl, token, size }: Upsert,
	http: Partial<INode>,
	between: Array<{ name: string; type: string; parameters?: INodeParameters }> = [],
) {
	const input = toInput(createItems(size));
	const nodes = [
		{ name: 'Items', type: ITEMS_TYPE },
		...between,
		{ ...http, name: RESULT_NODE, type: HTTP_TYPE },
	];
	const connections = Object.fromEntries(
		nodes
			.slice(1)
			.map(({ name }, index) => [
				nodes[index]!.name,
				{ main: [[{ node: name, type: 'main' as const, index: 0 }]] },
			]),
	);
	// The engine's credential store returns this for every type of credential.
	const credential = { baseUrl, token, name: 'Authorization', value: `Bearer ${token}` };
	return async (): Promise<PeerDetails> => {
		const result = await runWorkflow({ nodes, connections }, input, credential);
		if (result.error) throw new Error(result.error.message);
		const failed = result.json(RESULT_NODE).filter(({ error }) => error !== undefined);
		const error = failed[0]?.error as string | { message: string } | undefined;
		const reason = typeof error === 'object' ? error.message : (error ?? '');
		return { failed: failed.length, reason };
	};
}

const ITEM_BODY = '={{ JSON.stringify({ fields: $json, useUpsert: true }) }}';
const BULK_BODY = '={{ JSON.stringify($json) }}';

serveTasks<HttpRequestNodeTasks>({
	itemByItem: async (task) =>
		await runChain(task, httpNode(`${task.baseUrl}${DATA_PATH}`, ITEM_BODY, {})),

	batching: async (task) =>
		await runChain(
			task,
			httpNode(`${task.baseUrl}${DATA_PATH}`, ITEM_BODY, {
				batching: { batch: { batchSize: 50, batchInterval: 1000 } },
			}),
		),

	bulk: async ({ batchSize, ...task }) =>
		await runChain(task, httpNode(`${task.baseUrl}${BULK_PATH}`, BULK_BODY, {}), [
			{ name: 'Bodies', type: BODIES_TYPE, parameters: { batchSize } },
		]),
});
