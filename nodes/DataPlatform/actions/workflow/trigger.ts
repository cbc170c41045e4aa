import type { IDataObject } from 'n8n-workflow';

import { startWorkflow } from '../../api/workflows';
import { itemOperation } from '../../parameters/defineOperation';
import { requestSettings } from '../../parameters/requests';
import { payload, startParameters, webhookUrl } from './startInput';

const ACCEPTED =
	"The platform accepted this. Its workflow may still fail: look at the workflow's runs there. To continue with its result, use 'Trigger and Wait'.";

export const trigger = itemOperation({
	value: 'trigger',
	name: 'Trigger',
	action: 'Trigger workflow',
	description:
		'Start a workflow of the platform by its webhook URL, once for each item, with a JSON object as its payload',
	fields: startParameters,
	options: requestSettings,
	notIdempotent: true,
	execute: async (run, index) => {
		const url = webhookUrl.of(run, index);
		const body = await startWorkflow(run.client, url, payload(run, index));
		run.hintOnce(ACCEPTED);
		return { json: { body: body as IDataObject } };
	},
});
