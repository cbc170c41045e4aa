import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';

import { InputError } from '../../transport/errors';
import { startWorkflow } from '../../api/workflows';
import type { Parameter } from '../../execution/operation';
import { omitUndefined } from '../../execution/itemResults';
import { requestSettings } from '../../descriptions/common';
import type { RunContext } from '../../execution/run';
import { itemOperation } from '../../descriptions/operation';
import { payload, startParameters } from './startInput';

const correlationHeader: Parameter<'correlationHeader'> = {
	displayName: 'Correlation ID Header',
	name: 'correlationHeader',
	type: 'string',
	default: '',
	placeholder: 'e.g. X-Correlation-ID',
	description:
		'The name of a header to send a new ID in with each request. The output includes the ID, so that you can find the run in the platform.',
};

const fullResponse: Parameter<'fullResponse'> = {
	displayName: 'Full Response',
	name: 'fullResponse',
	type: 'boolean',
	default: false,
	description: 'Whether to return the status code and headers of the response with its body',
};

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const OWN_HEADERS = new Set(['authorization', 'content-type', 'content-length', 'host', 'accept']);

function correlation(
	run: RunContext<'options.correlationHeader'>,
	index: number,
): { headers: Record<string, string>; id?: string } {
	const name = run.optionalText('options.correlationHeader', 'Correlation ID Header', index);
	if (name === '') return { headers: {} };
	if (!HEADER_NAME.test(name) || OWN_HEADERS.has(name.toLowerCase())) {
		throw new InputError(`'${name}' can't be used as 'Correlation ID Header'`, {
			field: 'Correlation ID Header',
			hint: 'Use a name such as X-Correlation-ID.',
		});
	}
	const id = randomUUID();
	return { headers: { [name]: id }, id };
}

export const trigger = itemOperation({
	value: 'trigger',
	name: 'Trigger',
	action: 'Trigger workflow',
	description:
		'Start a workflow of the platform by its webhook URL, once for each item, with a JSON object as its payload',
	fields: startParameters,
	options: [correlationHeader, fullResponse, ...requestSettings],
	notIdempotent: true,
	execute: async (run, index) => {
		const url = run.text('webhookUrl', 'Webhook URL', index);
		const { headers, id } = correlation(run, index);
		const isFull = run.flag('options.fullResponse', 'Full Response', index);
		const response = await startWorkflow(run.client, url, payload(run, index), headers);
		return omitUndefined({
			...(isFull && { statusCode: response.status, headers: response.headers }),
			body: response.body as IDataObject,
			correlationId: id,
		});
	},
});
