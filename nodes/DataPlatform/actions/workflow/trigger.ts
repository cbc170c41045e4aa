import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';

import { InputError } from '../../transport/errors';
import { describeKind, isObject, parseJson } from '../../transport/json';
import { startWorkflow } from '../../api/workflows';
import type { Parameter } from '../../execution/operation';
import { omitUndefined } from '../../execution/itemResults';
import { callSettings } from '../../descriptions/common';
import type { RunContext } from '../../execution/run';
import { itemOperation } from '../../descriptions/operation';

const bodySource: Parameter<'bodySource'> = {
	displayName: 'Body',
	name: 'bodySource',
	type: 'options',
	options: [
		{ name: 'From Input Item', value: 'item', description: "The item's JSON as it is" },
		{ name: 'From Fields Below', value: 'fields', description: 'Names and values set here' },
		{ name: 'From JSON', value: 'json', description: 'A JSON object' },
	],
	default: 'item',
	description: 'What the workflow receives as svc.workflow.payloadRequest, always a JSON object',
};

const bodyFields: Parameter<'bodyFields'> = {
	displayName: 'Body Fields',
	name: 'bodyFields',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add Field',
	default: {},
	displayOptions: { show: { bodySource: ['fields'] } },
	options: [
		{
			displayName: 'Field',
			name: 'field',
			values: [
				{
					displayName: 'Name',
					name: 'name',
					type: 'string',
					default: '',
					placeholder: 'e.g. firstname',
				},
				{ displayName: 'Value', name: 'value', type: 'string', default: '' },
			],
		},
	],
};

const bodyJson: Parameter<'bodyJson'> = {
	displayName: 'JSON',
	name: 'bodyJson',
	type: 'json',
	default: '{}',
	displayOptions: { show: { bodySource: ['json'] } },
	description: 'A JSON object, such as {"firstname":"Ada"}',
};

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

/**
 * The values that are set one by one.
 *
 * @throws {InputError} where two have the same name
 */
function fieldsBody(entries: unknown): IDataObject {
	const body = new Map<string, IDataObject[string]>();
	for (const { name: given, value } of Array.isArray(entries) ? (entries as BodyField[]) : []) {
		const name = String(given ?? '');
		if (name === '') continue;
		if (body.has(name)) {
			throw new InputError(`'${name}' is set twice in 'Body Fields'`, {
				field: 'Body Fields',
				hint: 'Remove one of them; for several values, set a list with an expression.',
			});
		}
		body.set(name, value);
	}
	return Object.fromEntries(body);
}

interface BodyField {
	name: unknown;
	value: IDataObject[string];
}

/** @throws {InputError} where it is no JSON object */
function payload(
	run: RunContext<'bodySource' | 'bodyFields' | 'bodyJson'>,
	index: number,
): IDataObject {
	switch (run.parameter('bodySource', index)) {
		case 'fields':
			return fieldsBody(run.parameter('bodyFields.field', index));
		case 'json': {
			const given = run.parameter('bodyJson', index);
			const value = typeof given === 'string' ? parseJson(given) : given;
			if (isObject(value)) return value as IDataObject;
			throw new InputError(
				value === undefined
					? "'JSON' is not valid JSON"
					: `'JSON' is ${describeKind(value)}, not an object`,
				{ field: 'JSON', hint: 'The platform takes an object, such as {"firstname":"Ada"}.' },
			);
		}
		default:
			return run.json(index) ?? {};
	}
}

export const trigger = itemOperation({
	value: 'trigger',
	name: 'Trigger',
	action: 'Trigger workflow',
	description:
		'Start a workflow of the platform by its webhook URL, once for each item, with a JSON object as its payload',
	fields: [
		{
			displayName: 'Webhook URL',
			name: 'webhookUrl',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. https://platform.example.com/webhooks/…',
			description:
				"The address that the platform shows in the workflow's webhook trigger. Its host must be that of the base URL, or be listed under 'Webhook Origins' in the credential.",
		},
		bodySource,
		bodyFields,
		bodyJson,
	],
	options: [correlationHeader, fullResponse, ...callSettings],
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
