/**
 * The floor: n8n's own HTTP function with finished bodies, called by a node that does nothing else.
 * With the same batches, no node that sends its requests through n8n can be faster.
 */
import type { IHttpRequestOptions, INodeType } from 'n8n-workflow';
import { ITEMS_TYPE, ownTypes, runWorkflow } from '../../test/support/engine/outsideJest.mts';
import { BULK_PATH, bulkBody, createItems, splitIntoBatches } from '../benchTable.mts';
import { forEachConcurrently } from '../concurrency.mts';
import type { Batching } from './bareClient.mts';
import type { Target } from './engine.mts';

const SENDER_TYPE = 'bench.sender';
const CREDENTIAL_TYPE = 'dataPlatformApi';

/** A node that sends each item as it is. */
const createSender = (concurrency: number): INodeType => ({
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
		credentials: [{ name: CREDENTIAL_TYPE, required: true }],
	},
	async execute() {
		await forEachConcurrently(this.getInputData(), concurrency, async ({ json }) => {
			// The same options as the nodes use (nodes/DataPlatform/transport).
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
			const response = (await this.helpers.httpRequestWithAuthentication.call(
				this,
				CREDENTIAL_TYPE,
				options,
			)) as { statusCode: number; body: string };
			if (response.statusCode !== 200) throw new Error(response.body);
			JSON.parse(response.body);
		});
		return [[]];
	},
});

/** Prepares the requests and returns what sends them. */
export async function n8nHttpFloor(
	{ baseUrl, token }: Target,
	{ size, batchSize, concurrency }: Batching,
) {
	const input = splitIntoBatches(createItems(size), batchSize).map((batch) => ({
		json: { url: `${baseUrl}${BULK_PATH}`, body: bulkBody(batch) },
	}));
	ownTypes.set(SENDER_TYPE, createSender(concurrency));
	const credentials = { [CREDENTIAL_TYPE]: { id: '1', name: 'Data Platform' } };
	const nodes = [
		{ name: 'Items', type: ITEMS_TYPE },
		{ name: 'Sender', type: SENDER_TYPE, credentials },
	];
	const connections = {
		Items: { main: [[{ node: 'Sender', type: 'main' as const, index: 0 }]] },
	};
	return async () => {
		const result = await runWorkflow({ nodes, connections }, input, { baseUrl, token });
		if (result.error) throw new Error(result.error.message);
	};
}
