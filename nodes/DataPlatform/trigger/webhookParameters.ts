/**
 * The webhook trigger's parameters.
 */
import type { INodeProperties } from 'n8n-workflow';

import { options, simple, timeout } from '../descriptions/common';
import { applicationLocator, tableLocator } from '../descriptions/locators';

export const webhookProperties: INodeProperties[] = [
	{
		displayName:
			'In the platform, add a <b>Send Webhook</b> step to a workflow that runs when a record is saved or deleted:<br>• URL: the production URL of this node<br>• Header: <code>Authorization</code> with <code>Bearer</code> and the Webhook Secret of the credential<br>• Body: <code>{ "recordId": "the ID of the record" }</code>',
		name: 'setUpNotice',
		type: 'notice',
		default: '',
	},
	applicationLocator,
	tableLocator,
	simple,
	options(timeout),
];
