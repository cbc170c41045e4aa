/**
 * The webhook trigger's parameters.
 */
import type { INodeProperties } from 'n8n-workflow';

import { options, simple, timeout } from '../descriptions/common';
import { applicationLocator, tableLocator } from '../descriptions/locators';

export const webhookProperties: INodeProperties[] = [
	{
		displayName:
			'In the platform, add a Send Webhook step to a workflow that runs when a record is saved or deleted. Its URL is the production URL of this node. Its header Authorization is "Bearer", a space and the Webhook Secret of the credential (under More Settings). Its body is { "recordId": "the ID of the record" }.',
		name: 'setUpNotice',
		type: 'notice',
		default: '',
	},
	applicationLocator,
	tableLocator,
	simple,
	options(timeout),
];
