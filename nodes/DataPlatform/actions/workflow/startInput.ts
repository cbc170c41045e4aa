/**
 * The input for starting a workflow: its address and its body.
 */
import type { IDataObject } from 'n8n-workflow';

import type { NameOf } from '../../parameterKinds/parameter';
import { anyValue, choice, text } from '../../parameterKinds/kinds';
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
		json: ['From JSON', 'A JSON object'],
	},
	preset: 'item',
	description: 'What the workflow receives as svc.workflow.payloadRequest, always a JSON object',
});

const bodyJson = anyValue('bodyJson', {
	label: 'JSON',
	type: 'json',
	preset: '{}',
	show: { bodySource: ['json'] },
	description: 'A JSON object, such as {"firstname":"Ada"}',
});

export const startParameters = [webhookUrl, bodySource, bodyJson];

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

/** The body for the workflow. @throws {InputError} if it is not a JSON object */
export function payload(
	run: RunContext<NameOf<typeof bodySource | typeof bodyJson>>,
	index: number,
): IDataObject {
	if (bodySource.of(run, index) === 'json') return jsonBody(bodyJson.of(run, index));
	return run.json(index) ?? {};
}
