/**
 * Starts a workflow of the platform and puts the execution to wait until that workflow calls back:
 * its *Send Webhook* step posts to n8n's resume URL, which it gets with its payload.
 */
import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';

import { startWorkflow } from '../../api/workflows';
import { requestSettings } from '../../descriptions/common';
import { bulkOperation } from '../../descriptions/operation';
import type { Parameter } from '../../execution/operation';
import { requireChoice, requireNumber, type RunContext } from '../../execution/run';
import { InputError } from '../../transport/errors';
import { payload, startParameters } from './startInput';

const waitAmount: Parameter<'waitAmount'> = {
	displayName: 'Wait At Most',
	name: 'waitAmount',
	type: 'number',
	typeOptions: { minValue: 0.1 },
	required: true,
	default: 24,
	description:
		'How long to wait for the platform. After that the execution continues with the input item, without a response.',
};

const UNIT_MS = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;

const waitUnit: Parameter<'waitUnit'> = {
	displayName: 'Unit',
	name: 'waitUnit',
	type: 'options',
	options: [
		{ name: 'Minutes', value: 'minutes' },
		{ name: 'Hours', value: 'hours' },
		{ name: 'Days', value: 'days' },
	],
	default: 'hours',
};

const resumeUrlField: Parameter<'resumeUrlField'> = {
	displayName: 'Resume URL Field',
	name: 'resumeUrlField',
	type: 'string',
	required: true,
	default: 'resumeUrl',
	description:
		"The name of the resume URL in the payload. The platform's Send Webhook step must post to this URL: svc.workflow.payloadRequest.resumeUrl.",
};

/** More would overflow the dates of databases. */
const MAX_WAIT_MS = 366 * UNIT_MS.days;

/** @throws {InputError} */
function waitUntil(run: RunContext<'waitAmount' | 'waitUnit'>): Date {
	const units = Object.keys(UNIT_MS) as Array<keyof typeof UNIT_MS>;
	const unitMs = UNIT_MS[requireChoice(run.parameter('waitUnit', 0), 'Unit', units)];
	const amount = requireNumber(run.parameter('waitAmount', 0), 'Wait At Most', {
		min: 0.1,
		max: MAX_WAIT_MS / unitMs,
	});
	return new Date(Date.now() + amount * unitMs);
}

/** @throws {InputError} where the body has a field of that name */
function withResumeUrl(
	run: RunContext<'resumeUrlField' | 'bodySource' | 'bodyFields' | 'bodyJson'>,
	resumeUrl: string,
): IDataObject {
	const name = run.text('resumeUrlField', 'Resume URL Field', 0);
	const body = payload(run, 0);
	if (!Object.hasOwn(body, name)) return { ...body, [name]: resumeUrl };
	throw new InputError(`The body has a field '${name}' already`, {
		field: 'Resume URL Field',
		hint: 'Choose another name for the resume URL, or remove the field from the body.',
	});
}

/** @throws {InputError} where an execution can't wait for one workflow */
function requireOneItem(run: RunContext<never>) {
	if (run.isTool) {
		throw new InputError("An agent's tool can't wait; nothing was sent", {
			hint: "Use 'Trigger', or put this operation into a workflow that the agent calls.",
		});
	}
	if (run.items.length === 1) return;
	throw new InputError(
		`An execution waits for one workflow at a time, but there are ${run.items.length} items; nothing was sent`,
		{ hint: "Put 'Loop Over Items' with a batch size of 1 before this node." },
	);
}

export const triggerAndWait = bulkOperation({
	value: 'triggerAndWait',
	name: 'Trigger and Wait',
	action: 'Trigger workflow and wait for it',
	description:
		'Start a workflow of the platform by its webhook URL, and continue when its Send Webhook step calls the resume URL',
	fields: [...startParameters, resumeUrlField, waitAmount, waitUnit],
	options: requestSettings,
	notIdempotent: true,
	execute: async (run, report) => {
		if (run.items.length === 0 || report.hasResult(0)) return;
		requireOneItem(run);
		const until = waitUntil(run);
		const { context } = run;
		const { resumeUrl } = context.getWorkflowDataProxy(0).$execution as { resumeUrl: string };
		const body = withResumeUrl(run, resumeUrl);
		const url = run.text('webhookUrl', 'Webhook URL', 0);
		const response = await startWorkflow(run.client, url, body, {});
		// For the editor, which shows where the execution can be continued.
		context.setMetadata({ resumeUrl });
		await context.putExecutionToWait(until);
		report.done(0, [{ json: { resumed: false, body: response.body as IDataObject } }]);
	},
});

/** What the node shows while it waits. */
export const waitingTooltip =
	"={{ 'The execution continues when the platform calls ' + $execution.resumeUrl }}";

/** The node's `webhook`: what the platform posts to the resume URL is the output. */
export async function resume(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const body = context.getBodyData();
	return { workflowData: [[{ json: { resumed: true, body }, pairedItem: { item: 0 } }]] };
}
