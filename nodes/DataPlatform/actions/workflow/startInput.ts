/**
 * What starting a workflow takes: its address, and the body that it gets.
 */
import type { IDataObject } from 'n8n-workflow';

import type { NameOf } from '../../execution/parameter';
import { anyValue, choice, list, text } from '../../execution/parameterKinds';
import type { RunContext } from '../../execution/run';
import { InputError } from '../../transport/errors';
import { describeKind, inexactNumbers, isObject, parseJson } from '../../transport/json';

export const webhookUrl = text('webhookUrl', {
	label: 'Webhook URL',
	required: true,
	placeholder: 'e.g. https://platform.example.com/webhooks/…',
	description:
		"The address that the platform shows in the workflow's webhook trigger. Its host must be that of the base URL, or be listed in the credential, under 'More Settings', 'Webhook Origins'.",
});

const bodySource = choice('bodySource', {
	label: 'Body',
	choices: {
		item: ['From Input Item', "The item's JSON as it is"],
		fields: ['From Fields Below', 'Names and values set here'],
		json: ['From JSON', 'A JSON object'],
	},
	preset: 'item',
	description: 'What the workflow receives as svc.workflow.payloadRequest, always a JSON object',
});

const bodyName = text('name', { label: 'Name', placeholder: 'e.g. firstname' });

const bodyValue = anyValue('value', { label: 'Value' });

const bodyFields = list('bodyFields', {
	label: 'Body Fields',
	add: 'Add Field',
	entry: ['field', 'Field'],
	isSortable: true,
	show: { bodySource: ['fields'] },
	parts: [bodyName, bodyValue],
});

const bodyJson = anyValue('bodyJson', {
	label: 'JSON',
	type: 'json',
	preset: '{}',
	show: { bodySource: ['json'] },
	description: 'A JSON object, such as {"firstname":"Ada"}',
});

export const startParameters = [webhookUrl, bodySource, bodyFields, bodyJson];

/**
 * The values that are set one by one.
 *
 * @throws {InputError} if two have the same name
 */
function fieldsBody(entries: ReturnType<typeof bodyFields.of>): IDataObject {
	const body = new Map<string, IDataObject[string]>();
	for (const entry of entries) {
		const name = bodyName.in(entry, bodyFields);
		if (name === '') continue;
		if (body.has(name)) {
			throw new InputError(`'${name}' is set twice in ${bodyFields}`, {
				field: bodyFields.label,
				hint: 'Remove one of them; for several values, set a list with an expression.',
			});
		}
		body.set(name, bodyValue.in(entry, bodyFields) as IDataObject[string]);
	}
	return Object.fromEntries(body);
}

/** @throws {InputError} if it is no JSON object */
function jsonBody(given: unknown): IDataObject {
	const wrong = (message: string, hint: string) =>
		new InputError(message, { field: bodyJson.label, hint });
	const value = typeof given === 'string' ? parseJson(given) : given;
	if (!isObject(value)) {
		throw wrong(
			value === undefined
				? `${bodyJson} is not valid JSON`
				: `${bodyJson} is ${describeKind(value)}, not an object`,
			'The platform takes an object, such as {"firstname":"Ada"}.',
		);
	}
	const inexact = typeof given === 'string' ? inexactNumbers(given).next().value : undefined;
	if (!inexact) return value as IDataObject;
	throw wrong(
		`${bodyJson} has the number ${inexact.text}, which would lose digits`,
		'Give it as text, in quotes.',
	);
}

export type PayloadParameter = NameOf<typeof bodySource | typeof bodyFields | typeof bodyJson>;

/** The body that the workflow gets. @throws {InputError} if it is no JSON object */
export function payload(run: RunContext<PayloadParameter>, index: number): IDataObject {
	switch (bodySource.of(run, index)) {
		case 'fields':
			return fieldsBody(bodyFields.of(run, index));
		case 'json':
			return jsonBody(bodyJson.of(run, index));
		case 'item':
			return run.json(index) ?? {};
	}
}
