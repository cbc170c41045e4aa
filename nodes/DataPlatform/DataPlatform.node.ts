import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import * as columns from './methods/resourceMapping';
import { credentialTest } from './methods/credentialTest';
import { listSearch } from './methods/listSearch';
import { loadOptions } from './methods/loadOptions';
import { properties, subtitle } from './actions';
import { router } from './actions/router';

export class DataPlatform implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Data Platform',
		name: 'dataPlatform',
		icon: { light: 'file:../../icons/platform.svg', dark: 'file:../../icons/platform.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle,
		description: 'Read and write records, files and workflows of the Data Platform',
		defaults: { name: 'Data Platform' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'dataPlatformApi', required: true, testedBy: 'testDataPlatformApi' }],
		properties,
	};

	methods = {
		credentialTest,
		listSearch,
		loadOptions,
		resourceMapping: { ...columns },
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await router(this);
	}
}
