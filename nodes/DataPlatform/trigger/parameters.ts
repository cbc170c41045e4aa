/**
 * The parameters of the triggers. Both read them as operations do:
 *
 *     const parameters = triggerParameters(context);
 *     triggerOn.of(parameters, 0);
 */
import type { IPollFunctions, IWebhookFunctions } from 'n8n-workflow';

import { ParameterReader, type NameOf, type ShownParameters } from '../parameterKinds/parameter';
import { custom } from '../parameterKinds/kinds';
import {
	deletionCheckInterval,
	maxDeletedShare,
	maxDeletions,
	maxRecordsPerPoll,
	OPTION_UNLESS_ONLY_DELETIONS,
	overlap,
	quietFor,
	startDate,
	startFrom,
	syncState,
	triggerOn,
	UNLESS_ONLY_DELETIONS,
	watchedFields,
} from '../parameters/changes/changes';
import { filterParameters } from '../parameters/select/filter';
import { shownParameters } from '../parameters/defineOperation';
import { fieldsToLoad, savedView, simple } from '../parameters/select/reading';
import { timeout } from '../parameters/requests';
import { tableParameters } from '../parameters/select/table';

const fields = [
	triggerOn,
	...tableParameters,
	...filterParameters,
	startFrom.with({
		preset: 'now',
		description: 'Where to start when the workflow watches this table for the first time',
		...UNLESS_ONLY_DELETIONS,
	}),
	startDate.with(UNLESS_ONLY_DELETIONS),
	simple.with(UNLESS_ONLY_DELETIONS),
];

const options = [
	deletionCheckInterval,
	fieldsToLoad.with(OPTION_UNLESS_ONLY_DELETIONS),
	maxDeletions,
	maxDeletedShare,
	savedView,
	maxRecordsPerPoll,
	quietFor.with(OPTION_UNLESS_ONLY_DELETIONS),
	syncState.with(OPTION_UNLESS_ONLY_DELETIONS),
	watchedFields,
	overlap.with(OPTION_UNLESS_ONLY_DELETIONS),
	timeout,
];

const trigger = shownParameters(fields, options);

export const triggerProperties = trigger.properties;

export type TriggerParameters = ParameterReader<NameOf<typeof fields | typeof options>>;

const setUpNotice = custom(
	'setUpNotice',
	'notice',
	{
		label:
			'1. In the credential, turn on More Settings and enter a Webhook Secret. 2. In the platform, add a Send Webhook step to a workflow that runs when a record is saved or deleted. 3. As its URL, enter the production URL of this node. 4. As its header Authorization, enter "Bearer", a space and the Webhook Secret. 5. As its body, enter { "recordId": "the ID of the record" }.',
		preset: '',
	},
	() => undefined,
);

const webhookFields = [setUpNotice, ...tableParameters, simple];

const webhook = shownParameters(webhookFields, [timeout]);

export const webhookProperties = webhook.properties;

type WebhookParameters = ParameterReader<NameOf<typeof webhookFields | typeof timeout>>;

/** A trigger has no items: its parameters are read as those of the first one. */
const readerOf = (context: IPollFunctions | IWebhookFunctions, shown: ShownParameters) =>
	new ParameterReader<string>(
		shown,
		(path, _, preset, reading) => context.getNodeParameter(path, preset, reading),
		() => context.getTimezone(),
	);

export const triggerParameters = (context: IPollFunctions): TriggerParameters =>
	readerOf(context, trigger.shown);

export const webhookParameters = (context: IWebhookFunctions): WebhookParameters =>
	readerOf(context, webhook.shown);
