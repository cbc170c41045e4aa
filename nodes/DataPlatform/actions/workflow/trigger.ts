import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';

import { startWorkflow } from '../../api/workflows';
import type { NameOf } from '../../parameterKinds/parameter';
import { flag, text } from '../../parameterKinds/kinds';
import type { RunContext } from '../../run/run';
import { itemOperation } from '../../parameters/defineOperation';
import { requestSettings } from '../../parameters/requests';
import { payload, startParameters, webhookUrl } from './startInput';
import { omitUndefined } from '../../transport/json';

const correlationHeader = text('correlationHeader', {
	label: 'Correlation ID Header',
	placeholder: 'e.g. X-Correlation-ID',
	description:
		'The name of a header to send a new ID in with each request. The output includes the ID, so that you can find the run in the platform.',
});

const fullResponse = flag('fullResponse', {
	label: 'Full Response',
	preset: false,
	description: 'Whether to return the status code and headers of the response with its body',
});

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const OWN_HEADERS = new Set(['authorization', 'content-type', 'content-length', 'host', 'accept']);

function correlation(
	run: RunContext<NameOf<typeof correlationHeader>>,
	index: number,
): { headers: Record<string, string>; id?: string } {
	const name = correlationHeader.of(run, index);
	if (name === '') return { headers: {} };
	if (!HEADER_NAME.test(name) || OWN_HEADERS.has(name.toLowerCase())) {
		throw correlationHeader.error(
			`'${name}' can't be used as ${correlationHeader}`,
			'Use a name such as X-Correlation-ID.',
		);
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
		const url = webhookUrl.of(run, index);
		const { headers, id } = correlation(run, index);
		const isFull = fullResponse.of(run, index);
		const response = await startWorkflow(run.client, url, payload(run, index), headers);
		return omitUndefined({
			...(isFull && { statusCode: response.status, headers: response.headers }),
			body: response.body as IDataObject,
			correlationId: id,
		});
	},
});
