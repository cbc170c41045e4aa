import {
	NodeConnectionTypes,
	type IHookFunctions,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';

import { credentialTest } from './methods/credentialTest';
import { listSearch } from './methods/listSearch';
import { webhookProperties } from './trigger/parameters';
import { receive, requireSecret } from './trigger/receive';

export class DataPlatformWebhookTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Data Platform Webhook Trigger',
		name: 'dataPlatformWebhookTrigger',
		icon: { light: 'file:../../icons/platform.svg', dark: 'file:../../icons/platform.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: 'record changed',
		description: 'Starts the workflow at once when a workflow of the Data Platform sends a webhook',
		defaults: { name: 'Data Platform Webhook Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'dataPlatformApi', required: true, testedBy: 'testDataPlatformApi' }],
		webhooks: [
			{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' },
		],
		builderHint: {
			searchHint:
				'Starts at once, but only if a workflow of the Data Platform sends a webhook to its URL. Otherwise use the Data Platform Trigger, which polls.',
		},
		properties: webhookProperties,
	};

	methods = { credentialTest, listSearch };

	/** A person sets up the platform's side, so n8n has nothing to register. */
	webhookMethods = {
		default: {
			async checkExists(this: IHookFunctions): Promise<boolean> {
				await requireSecret(this);
				return true;
			},
			create: async () => true,
			delete: async () => true,
		},
	};

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await receive(this);
	}
}
