/**
 * The input for starting a workflow: its address and its body.
 */
import type { IDataObject } from 'n8n-workflow';

import type { NameOf } from '../../parameterKinds/parameter';
import { anyValue, choice, list, text } from '../../parameterKinds/kinds';
import type { RunContext } from '../../run/run';
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

const bodyName = anyValue('name', { label: 'Name', placeholder: 'e.g. firstname' });

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

/** @throws {InputError} if it is not a usable name: n8n would drop the value */
function bodyFieldName(name: unknown, position: number): string {
	if (typeof name === 'number' && Number.isFinite(name)) return String(name);
	if (typeof name === 'string' && name.trim() !== '') return name;
	const isEmpty = name === undefined || name === null || typeof name === 'string';
	const what = isEmpty ? 'no name' : `${describeKind(name)} in place of a name`;
	throw bodyFields.error(
		`Field ${position + 1} of ${bodyFields} has ${what}`,
		`Fill in ${bodyName}, or remove the field. If the name is an expression, it returned nothing for this item.`,
	);
}

/**
 * The values from the list of fields. A value that an expression leaves empty becomes null, so that
 * its name is still sent.
 *
 * @throws {InputError} if an entry has no name, or two have the same
 */
function fieldsBody(entries: ReturnType<typeof bodyFields.of>): IDataObject {
	const body = new Map<string, IDataObject[string]>();
	for (const [position, { name: given, value }] of entries.entries()) {
		const name = bodyFieldName(given, position);
		if (body.has(name)) {
			throw bodyFields.error(
				`'${name}' is set twice in ${bodyFields}`,
				'Remove one of them; for several values, set a list with an expression.',
			);
		}
		body.set(name, (value ?? null) as IDataObject[string]);
	}
	return Object.fromEntries(body);
}

/** An object written as JSON. @throws {InputError} if it is not an object, or would lose digits */
function jsonBody(given: unknown): IDataObject {
	const isText = typeof given === 'string';
	const value = isText ? parseJson(given) : given;
	const wrong = (what: string) =>
		bodyJson.error(
			`${bodyJson} is ${what}`,
			'The platform expects an object, such as {"firstname":"Ada"}.',
		);
	if (given === undefined || (isText && given.trim() === '')) throw wrong('empty');
	if (value === undefined) throw wrong('not valid JSON');
	if (!isObject(value)) throw wrong(`${describeKind(value)}, not an object`);
	const [inexact] = isText ? inexactNumbers(given) : [];
	if (!inexact) return value as IDataObject;
	throw bodyJson.error(
		`${bodyJson} has the number ${inexact.text}, which would lose digits`,
		'Write it as text, in quotes.',
	);
}

export type PayloadParameter = NameOf<typeof bodySource | typeof bodyFields | typeof bodyJson>;

/** The body for the workflow. @throws {InputError} if it is not a JSON object */
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
