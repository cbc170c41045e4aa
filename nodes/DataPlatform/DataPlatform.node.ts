import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';

import { credentialTest } from './methods/credentialTest';
import { listSearch } from './methods/listSearch';
import { loadOptions } from './methods/loadOptions';
import { resourceMapping } from './methods/resourceMapping';
import { builderHints, properties, subtitle } from './actions';
import { router } from './actions/router';
import { resume, waitingTooltip } from './actions/workflow/triggerAndWait';

export class DataPlatform implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Data Platform',
		name: 'dataPlatform',
		icon: { light: 'file:../../icons/platform.svg', dark: 'file:../../icons/platform.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle,
		// n8n's panel shows one of the two for both nodes, so the trigger has the same.
		description:
			'Read and write records, files and workflows of the Data Platform, or start when records change',
		defaults: { name: 'Data Platform' },
		usableAsTool: {
			replacements: {
				description: 'Read or write records, files and workflows of the Data Platform',
			},
		},
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'dataPlatformApi', required: true, testedBy: 'testDataPlatformApi' }],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				path: '',
				isFullPath: true,
				// Only while an execution waits: 'Trigger and Wait'.
				restartWebhook: true,
			},
		],
		waitingNodeTooltip: waitingTooltip,
		builderHint: {
			searchHint:
				"Tables, records, files and workflows of the Data Platform. 'Create', 'Create or Update' and 'Update' write one item or many in a few requests. 'Create or Update' matches by import key; 'Get Many' filters on the platform. With onError 'continueErrorOutput' items that fail leave by output 1 with 'error', the others by output 0.",
			extraTypeDefContent: builderHints,
		},
		properties,
	};

	methods = {
		credentialTest,
		listSearch,
		loadOptions,
		resourceMapping,
	};

	/** n8n creates the URL that resumes a waiting execution, so there is nothing to register. */
	webhookMethods = {
		default: {
			checkExists: async () => true,
			create: async () => true,
			delete: async () => true,
		},
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await router(this);
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await resume(this);
	}
}
