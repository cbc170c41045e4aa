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

const BODY_SOURCES = ['item', 'fields', 'json'] as const;

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

/** @throws {InputError} if it is no name: its value would be left out */
function bodyFieldName(name: unknown, position: number): string {
	if (typeof name === 'number' && Number.isFinite(name)) return String(name);
	if (typeof name === 'string' && name.trim() !== '') return name;
	const isEmpty = name === undefined || name === null || typeof name === 'string';
	throw new InputError(
		`Field ${position + 1} of 'Body Fields' ${isEmpty ? 'has no name' : `has ${describeKind(name)} in place of a name`}`,
		{
			field: 'Body Fields',
			hint: "Fill in 'Name', or remove the field. If the name is an expression, it returned nothing for this item.",
		},
	);
}

/**
 * The values that are set one by one. One that an expression leaves empty is null, so that its name
 * is there.
 *
 * @throws {InputError} if one has no name, or two have the same
 */
function fieldsBody(entries: unknown): IDataObject {
	const body = new Map<string, IDataObject[string]>();
	const fields = Array.isArray(entries) ? (entries as BodyField[]) : [];
	for (const [position, { name: given, value }] of fields.entries()) {
		const name = bodyFieldName(given, position);
		if (body.has(name)) {
			throw new InputError(`'${name}' is set twice in 'Body Fields'`, {
				field: 'Body Fields',
				hint: 'Remove one of them; for several values, set a list with an expression.',
			});
		}
		body.set(name, value ?? null);
	}
	return Object.fromEntries(body);
}

interface BodyField {
	name: unknown;
	value: IDataObject[string];
}

/** An object that is set as JSON. @throws {InputError} if it is none, or would lose digits */
function jsonBody(given: unknown): IDataObject {
	const text = typeof given === 'string' ? given : undefined;
	const value = text === undefined ? given : parseJson(text);
	if (!isObject(value)) {
		const isEmpty = given === undefined || text?.trim() === '';
		const kind = value === undefined ? 'not valid JSON' : `${describeKind(value)}, not an object`;
		throw new InputError(`'JSON' is ${isEmpty ? 'empty' : kind}`, {
			field: 'JSON',
			hint: 'The platform takes an object, such as {"firstname":"Ada"}.',
		});
	}
	const inexact = text === undefined ? undefined : inexactNumbers(text).next().value;
	if (!inexact) return value as IDataObject;
	throw new InputError(`'JSON' has the number ${inexact.text}, which would lose digits`, {
		field: 'JSON',
		hint: 'Give it as text, in quotes.',
	});
}

/** The body that the workflow gets. @throws {InputError} if it is no JSON object */
export function payload(
	run: RunContext<'bodySource' | 'bodyFields' | 'bodyJson'>,
	index: number,
): IDataObject {
	switch (run.choice('bodySource', 'Body', index, BODY_SOURCES, 'item')) {
		case 'item':
			return run.json(index) ?? {};
		case 'fields':
			return fieldsBody(run.parameter('bodyFields.field', index));
		case 'json':
			return jsonBody(run.parameter('bodyJson', index));
	}
}
