/**
 * Makes an API client from n8n's functions. The only place that reads the credential.
 */
import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	ILoadOptionsFunctions,
	IPollFunctions,
	IN8nHttpFullResponse,
	IWebhookFunctions,
} from 'n8n-workflow';

import { shortHash } from '../api/packing';
import { TableClient } from '../api/table';
import type { ApiClient } from '../transport/client';
import type { HttpTransport } from '../transport/exchange';
import { InputError } from '../transport/errors';
import { tokenRedactor } from '../transport/tokens';
import { logOf } from './progressLog';
import { requireNumber } from '../parameterKinds/requireValue';

/** The credential's type. */
export const CREDENTIAL = 'dataPlatformApi';

/** Defaults: how long one request may take, and how long an execution may wait in all. */
export const DEFAULT_TIMEOUT_S = 60;
export const DEFAULT_MAX_WAIT_S = 300;

type Context = IExecuteFunctions | ILoadOptionsFunctions | IPollFunctions | IWebhookFunctions;

const createTransport = (context: Context, canceled?: AbortSignal): HttpTransport => ({
	send: async (options, withToken) => {
		const { helpers } = context;
		const response: unknown = withToken
			? await helpers.httpRequestWithAuthentication.call(context, CREDENTIAL, options)
			: await helpers.httpRequest(options);
		return response as IN8nHttpFullResponse;
	},
	logger: logOf(context),
	canceled:
		canceled ??
		('getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined),
});

/**
 * An API client's settings from the credential's fields.
 *
 * @throws {InputError} if the requests per minute are not a valid number
 */
export function clientSettings(credential: ICredentialDataDecryptedObject) {
	const token = String(credential.token ?? '').trim();
	const baseUrl = String(credential.baseUrl ?? '');
	return {
		baseUrl,
		account: shortHash(JSON.stringify([baseUrl, token])),
		webhookOrigins: String(credential.webhookOrigins ?? ''),
		tokenType: String(credential.accessType ?? 'role'),
		redactToken: tokenRedactor(token),
		requestsPerMinute: requireNumber(
			credential.requestsPerMinute || 0,
			{ label: 'Requests per Minute' },
			{ min: 0, isWhole: true },
		),
	};
}

interface RequestSettings {
	/** How long one request may take, in seconds. */
	timeout?: number;
	/** How long the execution may wait in all, in seconds. */
	maxRetryWait?: number;
	skipAudit?: boolean;
	/** Ends all requests and waits early. */
	canceled?: AbortSignal;
}

/**
 * @param retryBudgetHint what the user can do if the client would wait longer
 * @throws {InputError} if the credential can't be read, or the token may not be sent to its base URL
 */
export async function createClient(
	context: Context,
	{
		timeout = DEFAULT_TIMEOUT_S,
		maxRetryWait = DEFAULT_MAX_WAIT_S,
		skipAudit,
		canceled,
	}: RequestSettings,
	retryBudgetHint?: string,
): Promise<ApiClient> {
	return new TableClient(createTransport(context, canceled), {
		...clientSettings(await context.getCredentials(CREDENTIAL)),
		timeoutMs: timeout * 1000,
		retryBudgetMs: maxRetryWait * 1000,
		retryBudgetHint,
		skipAudit,
	});
}

/**
 * A run sends all items with the credential as it is for the first one.
 *
 * @throws {InputError} if an expression in it gives another token or platform for another item
 */
export async function requireSameCredential(context: IExecuteFunctions, account: string) {
	const { length } = context.getInputData();
	const isSame = async (index: number) =>
		await context.getCredentials(CREDENTIAL, index).then(
			(credential) => clientSettings(credential).account === account,
			() => false,
		);
	// For an item that isn't there, only an expression about the item gives something else.
	if (length < 2 || (await isSame(length))) return;
	for (let index = 1; index < length; index += 1) {
		if (await isSame(index)) continue;
		throw new InputError(
			`The credential has another token or platform for item ${index} than for item 0. Nothing was sent`,
			{
				hint: "All items of a run are sent with one credential. Put the node into a loop: 'Loop Over Items' with a batch size of 1.",
			},
		);
	}
}
