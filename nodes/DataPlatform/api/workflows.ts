/**
 * Starts the platform's workflows by their webhook URL. Nobody knows what its path looks like.
 */
import type { IDataObject } from 'n8n-workflow';

import { InputError, ServiceError } from '../transport/errors';
import { parseJson } from '../transport/json';
import { originNotAllowed, safeUrl } from '../transport/allowedOrigins';
import type { ApiClient } from '../transport/client';

/** JSON as a value, other text as it came, null if there was nothing. */
function readBody(text = ''): unknown {
	const value = parseJson(text);
	if (value !== undefined) return value;
	return text.trim() === '' ? null : text;
}

/** A path as the last of several servers may read it. */
function decoded(path: string, servers = 3): string {
	if (servers === 0) return path.replaceAll('\\', '/').replace(/;[^/]*/g, '');
	const toCharacter = (_: string, code: string) => String.fromCharCode(parseInt(code, 16));
	return decoded(path.replace(/%(?:25)*([0-7][0-9a-f])/gi, toCharacter), servers - 1);
}

const DOT_SEGMENT = /\/\.\.?(?:\/|$)/;

/** The addresses of applications and records: contract/openapi.yaml. */
const RECORDS = /^\/+api\/+v2\/+(?:apps|[^/]+\/+data)(?:\/|$)/i;

/** A webhook URL may come from a model or from data: whether it leads to records instead. */
function leadsToRecords(webhookUrl: string, { pathname }: URL): boolean {
	const [path = ''] = webhookUrl
		.replace(/[\t\r\n]/g, '')
		.trim()
		.split(/[?#]/, 1);
	return DOT_SEGMENT.test(decoded(path)) || RECORDS.test(decoded(pathname));
}

/**
 * Starts a workflow. Any 2xx is a success, whatever its body. Sends it again only if the platform
 * did not process the request.
 *
 * @returns the body of the response
 * @throws {InputError} before anything is sent, if the token may not go there
 * @throws {ServiceError}
 */
export async function startWorkflow(
	client: ApiClient,
	webhookUrl: string,
	payload: IDataObject,
): Promise<unknown> {
	const url = safeUrl(webhookUrl, 'The webhook URL');
	const { origin, href } = url;
	if (!client.origins.has(origin)) {
		const problem = `The webhook URL leads to ${origin}, where the token is not sent`;
		throw originNotAllowed(problem, origin);
	}
	if (leadsToRecords(webhookUrl, url)) {
		throw new InputError(
			'The webhook URL leads to records, or contains . or .. in its path. Nothing was sent',
			{ hint: "Copy the address from the workflow's webhook trigger in the platform." },
		);
	}
	const result = await client.tryRequest({
		method: 'POST',
		to: { url: href, withToken: true },
		body: payload,
		retryMode: 'notIdempotent',
		bodyRequirement: 'anything',
		purpose: 'workflows',
	});
	if (!(result instanceof ServiceError)) return readBody(result.text);
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
