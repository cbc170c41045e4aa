/**
 * What starting a workflow takes: its address, and the body that it gets.
 */
import type { IDataObject } from 'n8n-workflow';

import type { Parameter } from '../../execution/operation';
import type { RunContext } from '../../execution/run';
import { InputError } from '../../transport/errors';
import { describeKind, inexactNumbers, isObject, parseJson } from '../../transport/json';

const webhookUrl: Parameter<'webhookUrl'> = {
	displayName: 'Webhook URL',
	name: 'webhookUrl',
	type: 'string',
	required: true,
	default: '',
	placeholder: 'e.g. https://platform.example.com/webhooks/…',
	description:
		"The address that the platform shows in the workflow's webhook trigger. Its host must be that of the base URL, or be listed in the credential, under 'More Settings', 'Webhook Origins'.",
};

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

export const startParameters = [webhookUrl, bodySource, bodyFields, bodyJson];

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

/** The body that the workflow gets. @throws {InputError} where it is no JSON object */
export function payload(
	run: RunContext<'bodySource' | 'bodyFields' | 'bodyJson'>,
	index: number,
): IDataObject {
	switch (run.parameter('bodySource', index)) {
		case 'fields':
			return fieldsBody(run.parameter('bodyFields.field', index));
		case 'json': {
			const given = run.parameter('bodyJson', index);
			const value = typeof given === 'string' ? parseJson(given) : given;
			const inexact = typeof given === 'string' ? inexactNumbers(given).next().value : undefined;
			if (isObject(value) && inexact) {
				throw new InputError(`'JSON' has the number ${inexact.text}, which would lose digits`, {
					field: 'JSON',
					hint: 'Give it as text, in quotes.',
				});
			}
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
