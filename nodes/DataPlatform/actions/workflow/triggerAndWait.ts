/**
 * Starts a workflow of the platform and puts the execution to wait until that workflow calls back.
 * Its *Send Webhook* step posts to n8n's resume URL, which the payload contains.
 */
import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';

import { startWorkflow } from '../../api/workflows';
import type { NameOf } from '../../parameterKinds/parameter';
import { choice, number } from '../../parameterKinds/kinds';
import { requireNumber } from '../../parameterKinds/requireValue';
import type { RunContext } from '../../run/run';
import { itemOperation } from '../../parameters/defineOperation';
import { requestSettings } from '../../parameters/requests';
import { InputError } from '../../transport/errors';
import { payload, startParameters, webhookUrl } from './startInput';

const waitAmount = number('waitAmount', {
	label: 'Wait At Most',
	min: 0.1,
	required: true,
	preset: 24,
	description:
		'How long to wait for the platform. After that the execution continues with the input item, without a response.',
	hint: "In the platform's workflow, a Send Webhook step must post to svc.workflow.payloadRequest.resumeUrl",
});

const waitUnit = choice('waitUnit', {
	label: 'Unit',
	choices: { minutes: 'Minutes', hours: 'Hours', days: 'Days' },
	preset: 'hours',
});

const UNIT_MS = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;

/** A longer wait would overflow the date columns of n8n's databases. */
const MAX_WAIT_MS = 366 * UNIT_MS.days;

/** @throws {InputError} */
function waitUntil(run: RunContext<NameOf<typeof waitAmount | typeof waitUnit>>): Date {
	const unitMs = UNIT_MS[waitUnit.of(run, 0)];
	const bounds = { min: 0.1, max: MAX_WAIT_MS / unitMs };
	const amount = requireNumber(waitAmount.of(run, 0), waitAmount, bounds);
	return new Date(Date.now() + amount * unitMs);
}

/** @throws {InputError} if the execution can't wait, or would wait for several workflows */
function requireOneItem(run: RunContext<never>) {
	if (run.isTool) {
		throw new InputError("An agent's tool can't wait. Nothing was sent", {
			hint: "Use 'Trigger', or put this operation into a workflow that the agent calls.",
		});
	}
	if (run.items.length === 1) return;
	throw new InputError(
		`An execution waits for one workflow at a time, but there are ${run.items.length} items. Nothing was sent`,
		{ hint: "Put 'Loop Over Items' with a batch size of 1 before this node." },
	);
}

export const triggerAndWait = itemOperation({
	value: 'triggerAndWait',
	name: 'Trigger and Wait',
	action: 'Trigger workflow and wait for it',
	description:
		'Start a workflow of the platform by its webhook URL, and continue when its Send Webhook step calls the resume URL',
	fields: [...startParameters, waitAmount, waitUnit],
	options: requestSettings,
	notIdempotent: true,
	execute: async (run, index) => {
		requireOneItem(run);
		const until = waitUntil(run);
		const { context } = run;
		const { resumeUrl } = context.getWorkflowDataProxy(0).$execution as { resumeUrl: string };
		const sent = payload(run, index);
		if (Object.hasOwn(sent, 'resumeUrl')) {
			throw new InputError("The body already has a field 'resumeUrl'", {
				hint: 'Remove it from the body, or rename it: the URL that continues the execution has this name.',
			});
		}
		const url = webhookUrl.of(run, index);
		const body = await startWorkflow(run.client, url, { ...sent, resumeUrl });
		// The editor shows this URL while the execution waits.
		context.setMetadata({ resumeUrl });
		await context.putExecutionToWait(until);
		return { json: { resumed: false, body: body as IDataObject } };
	},
});

/** The text on the node while it waits. */
export const waitingTooltip =
	"={{ 'The execution continues when the platform calls ' + $execution.resumeUrl }}";

/** The node's `webhook`: outputs what the platform posts to the resume URL. */
export async function resume(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const body = context.getBodyData();
	return { workflowData: [[{ json: { resumed: true, body }, pairedItem: { item: 0 } }]] };
}
