/** What n8n itself asks for: a node that hands the finished bodies to n8n's HTTP function. */
import type { IHttpRequestOptions, INodeType } from 'n8n-workflow';
import { ITEMS_TYPE, ownTypes, runWorkflow } from '../../test/property/faults/engine.mts';
import { splitIntoBatches, BULK_PATH, bulkBody, createItems } from '../benchTable.mts';
import type { Target } from './engine.mts';

const SENDER_TYPE = 'bench.sender';

const sender: INodeType = {
	description: {
		displayName: 'Sender',
		name: 'sender',
		group: ['transform'],
		version: 1,
		description: 'Sends each item as it is',
		defaults: { name: 'Sender' },
		inputs: ['main'],
		outputs: ['main'],
		properties: [],
		credentials: [{ name: 'dataPlatformApi', required: true }],
	},
	async execute() {
		for (const { json } of this.getInputData()) {
			// As the nodes ask (service/request.ts).
			const options: IHttpRequestOptions = {
				method: 'POST',
				url: String(json.url),
				headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
				body: json.body as string,
				returnFullResponse: true,
				ignoreHttpStatusErrors: true,
				disableFollowRedirect: true,
				timeout: 60_000,
				encoding: 'text',
			};
			const answer = (await this.helpers.httpRequestWithAuthentication.call(
				this,
				'dataPlatformApi',
				options,
			)) as { statusCode: number; body: string };
			if (answer.statusCode !== 200) throw new Error(answer.body);
			JSON.parse(answer.body);
		}
		return [[]];
	},
};
ownTypes.set(SENDER_TYPE, sender);

/** Sends the same batches as the node, which are ready when it starts. */
export async function n8nHttpFloor(
	{ baseUrl, token }: Target,
	{ size, batchSize }: { size: number; batchSize: number },
) {
	const input = splitIntoBatches(createItems(size), batchSize).map((batch) => ({
		json: { url: `${baseUrl}${BULK_PATH}`, body: bulkBody(batch) },
	}));
	const node = {
		name: 'Sender',
		type: SENDER_TYPE,
		credentials: { dataPlatformApi: { id: '1', name: 'Data Platform' } },
	};
	const connections = {
		Items: { main: [[{ node: 'Sender', type: 'main' as const, index: 0 }]] },
	};
	const nodes = [{ name: 'Items', type: ITEMS_TYPE }, node];
	return async () => {
		const result = await runWorkflow({ nodes, connections }, input, { baseUrl, token });
		if (result.error) throw new Error(result.error.message);
	};
}
