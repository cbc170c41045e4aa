import type { IDataObject } from 'n8n-workflow';

import { startWorkflow } from '../../api/workflows';
import { flag } from '../../parameterKinds/kinds';
import { itemOperation } from '../../parameters/defineOperation';
import { requestSettings } from '../../parameters/requests';
import { payload, startParameters, webhookUrl } from './startInput';

const fullResponse = flag('fullResponse', {
	label: 'Full Response',
	preset: false,
	description: 'Whether to return the status code and headers of the response with its body',
});

const ACCEPTED =
	"The platform accepted this. Its workflow may still fail: look at the workflow's runs there. To continue with its result, use 'Trigger and Wait'.";

export const trigger = itemOperation({
	value: 'trigger',
	name: 'Trigger',
	action: 'Trigger workflow',
	description:
		'Start a workflow of the platform by its webhook URL, once for each item, with a JSON object as its payload',
	fields: startParameters,
	options: [fullResponse, ...requestSettings],
	notIdempotent: true,
	execute: async (run, index) => {
		const url = webhookUrl.of(run, index);
		const isFull = fullResponse.of(run, index);
		const { status, headers, body } = await startWorkflow(run.client, url, payload(run, index));
		run.hintOnce(ACCEPTED);
		const more = isFull && { statusCode: status, headers };
		return { json: { ...more, body: body as IDataObject } };
	},
});
