/**
 * The peer: n8n's own HTTP Request node (n8n-nodes-base of the pinned n8n) in the same engine,
 * configured as its users do.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { INode, INodeParameters, INodeType, IVersionedNodeType } from 'n8n-workflow';
import { N8N_FOLDER } from '../../harness/install.mts';
import { ITEMS_TYPE, ownTypes, runWorkflow } from '../../test/property/faults/engine.mts';
import { splitIntoBatches, BULK_PATH, DATA_PATH, createItems } from '../benchTable.mts';
import { toInput, type Target } from './engine.mts';
import { serveTasks } from './workerProcess.mts';

type Sending = Target & { size: number };

export interface HttpRequestNodeTasks {
	/** A request for each item; the node sends them all at once. */
	oneByOne: Sending;
	/** The same with its batching option, as that stands when it is added: 50 items a second. */
	batching: Sending;
	/** Bodies with 100 items made beforehand, a request for each body. */
	bulk: Sending;
}

const HTTP_TYPE = 'n8n-nodes-base.httpRequest';
const BODIES_TYPE = 'bench.bodies';
const BATCH_SIZE = 100;

const { HttpRequest } = createRequire(join(N8N_FOLDER, 'package.json'))(
	'n8n-nodes-base/dist/nodes/HttpRequest/HttpRequest.node.js',
) as { HttpRequest: new () => IVersionedNodeType };
ownTypes.set(HTTP_TYPE, new HttpRequest());

/** Does what users do in a Code node, which the engine alone can't run: it needs n8n's task runner. */
const bodies: INodeType = {
	description: {
		displayName: 'Bodies',
		name: 'bodies',
		group: ['transform'],
		version: 1,
		description: 'Puts 100 items into one body',
		defaults: { name: 'Bodies' },
		inputs: ['main'],
		outputs: ['main'],
		properties: [],
	},
	async execute() {
		const batches = splitIntoBatches(this.getInputData(), BATCH_SIZE);
		return [
			batches.map((batch) => ({
				json: { bulk: batch.map(({ json }) => ({ fields: json })), useUpsert: true },
			})),
		];
	},
};
ownTypes.set(BODIES_TYPE, bodies);

const httpNode = (url: string, jsonBody: string, options: INodeParameters): Partial<INode> => ({
	typeVersion: 4.2,
	// So that one refusal does not hide what became of the other items.
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

async function send({ baseUrl, token, size }: Sending, http: Partial<INode>, isBulk = false) {
	const input = toInput(createItems(size));
	const names = isBulk ? ['Items', 'Bodies', 'HTTP Request'] : ['Items', 'HTTP Request'];
	const types: Record<string, string> = {
		Items: ITEMS_TYPE,
		Bodies: BODIES_TYPE,
		'HTTP Request': HTTP_TYPE,
	};
	const nodes = names.map((name) => ({
		name,
		type: types[name]!,
		...(name === 'HTTP Request' && http),
	}));
	const connections = Object.fromEntries(
		names
			.slice(0, -1)
			.map((name, at) => [
				name,
				{ main: [[{ node: names[at + 1]!, type: 'main' as const, index: 0 }]] },
			]),
	);
	// What the engine's credential store hands out whichever credential is asked for.
	const credential = { baseUrl, token, name: 'Authorization', value: `Bearer ${token}` };
	return async () => {
		const result = await runWorkflow({ nodes, connections }, input, credential);
		if (result.error) throw new Error(result.error.message);
		const failed = result.json('HTTP Request').filter(({ error }) => error !== undefined);
		return { failed: failed.length, reason: JSON.stringify(failed[0]?.error ?? null) };
	};
}

const ONE = '={{ JSON.stringify({ fields: $json, useUpsert: true }) }}';
const WHOLE = '={{ JSON.stringify($json) }}';

serveTasks<HttpRequestNodeTasks>({
	oneByOne: async (task) => await send(task, httpNode(`${task.baseUrl}${DATA_PATH}`, ONE, {})),
	batching: async (task) =>
		await send(
			task,
			httpNode(`${task.baseUrl}${DATA_PATH}`, ONE, {
				batching: { batch: { batchSize: 50, batchInterval: 1000 } },
			}),
		),
	bulk: async (task) => await send(task, httpNode(`${task.baseUrl}${BULK_PATH}`, WHOLE, {}), true),
});
