import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import * as columns from './methods/columns';
import { listSearch } from './methods/lists';
import { loadOptions } from './methods/options';
import { properties } from './resources';
import { dispatch } from './resources/dispatch';

export class Platform implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Data Platform',
		name: 'platform',
		icon: { light: 'file:../../icons/platform.svg', dark: 'file:../../icons/platform.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
		description: 'Read and write records, files and workflows of the Data Platform',
		defaults: { name: 'Data Platform' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'platformApi', required: true }],
		properties,
	};

	methods = {
		listSearch,
		loadOptions,
		resourceMapping: { ...columns },
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await dispatch(this);
	}
}
