import {
	NodeConnectionTypes,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IPollFunctions,
} from 'n8n-workflow';

import { credentialTest } from './methods/credentialTest';
import { listSearch } from './methods/listSearch';
import { loadOptions } from './methods/loadOptions';
import { triggerProperties } from './trigger/parameters';
import { poll } from './trigger/poll';

export class DataPlatformTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Data Platform Trigger',
		name: 'dataPlatformTrigger',
		icon: { light: 'file:../../icons/platform.svg', dark: 'file:../../icons/platform.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle:
			'={{ ({ created: "record created", updated: "record updated", createdOrUpdated: "record created or updated", createdUpdatedOrDeleted: "record created, updated or deleted", deleted: "record deleted" })[$parameter["triggerOn"]] }}',
		description:
			'Read and write records, files and workflows of the Data Platform, or start when records change',
		defaults: { name: 'Data Platform Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'dataPlatformApi', required: true, testedBy: 'testDataPlatformApi' }],
		polling: true,
		builderHint: {
			searchHint:
				"Polls a table of the Data Platform and emits every record that was created, updated or deleted, once. It needs nothing but a token. If the platform's own workflow can send a webhook, the Data Platform Webhook Trigger starts at once.",
		},
		properties: triggerProperties,
	};

	methods = { credentialTest, listSearch, loadOptions };

	async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
		return await poll(this);
	}
}
