/**
 * Starts the platform's workflows by their webhook URL. Only the origin of the URL is looked at.
 */
import type { IDataObject } from 'n8n-workflow';

import { ServiceError } from '../transport/errors';
import { parseJson } from '../transport/json';
import { originNotAllowed, safeUrl } from '../transport/allowedOrigins';
import type { ApiClient } from '../transport/client';

interface WorkflowResponse {
	status: number;
	headers: IDataObject;
	/** JSON as a value, other text as it came, null if there was nothing. */
	body: unknown;
}

function readBody(text = ''): unknown {
	const value = parseJson(text);
	if (value !== undefined) return value;
	return text.trim() === '' ? null : text;
}

/**
 * Starts a workflow. Any 2xx is a success, whatever its body. Sends it again only if the platform
 * did not process the request.
 *
 * @throws {OriginError} before anything is sent, if the token may not go there
 * @throws {ServiceError}
 */
export async function startWorkflow(
	client: ApiClient,
	webhookUrl: string,
	payload: IDataObject,
	headers: Record<string, string>,
): Promise<WorkflowResponse> {
	const { origin, href } = safeUrl(webhookUrl, 'The webhook URL');
	if (!client.origins.has(origin)) {
		throw originNotAllowed(
			`The webhook URL leads to ${origin}, where the token is not sent`,
			origin,
		);
	}
	const result = await client.tryRequest({
		method: 'POST',
		to: { url: href, withToken: true },
		headers,
		body: payload,
		retryMode: 'notIdempotent',
		bodyRequirement: 'anything',
		purpose: 'workflows',
	});
	if (!(result instanceof ServiceError)) {
		return { status: result.status, headers: result.headers ?? {}, body: readBody(result.text) };
	}
	if (result.status === 404) {
		throw new ServiceError('No workflow of the platform listens at this webhook URL', {
			...result,
			hint: "Copy the address again from the workflow's webhook trigger in the platform ('Use this link after save').",
		});
	}
	if (result.delivery !== 'ambiguous') throw result;
	throw new ServiceError(`Unknown whether the workflow started: ${result.message}`, {
		...result,
		hint: "Look at the workflow's runs in the platform before you start it again.",
	});
}
