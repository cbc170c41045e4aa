import { isLoopbackUrl } from '../access/loopback.mts';
import { creatorOf } from '../access/tokens.mts';
import type { ApiRequest } from '../api/request.mts';
import { operationNamed } from '../api/operations.mts';
import { handlerOf } from '../handlers/index.mts';
import type { Json, JsonObject, Token } from '../state/model.mts';

type Service = (name: string, args: Json[]) => Promise<Json | undefined>;

const webhookTimeoutMs = 10_000;

/**
 * The functions behind `svc`. They use the platform's operations with the acting token, so a script
 * can do nothing that the token could not.
 */
export function scriptServices(request: ApiRequest, actor: Token): Service {
	const user = creatorOf(request.state, actor);
	const operate = async (
		id: string,
		table: Json | undefined,
		{ record, query = {}, body }: { record?: Json; query?: Json; body?: Json },
	): Promise<Json | undefined> => {
		const operation = operationNamed(id);
		const handler = handlerOf(id);
		if (!handler) throw new Error(`There is no operation '${id}'.`);
		operation.checkBody(body);
		const response = await handler({
			...request,
			token: actor,
			user,
			recordFaultFor: () => 'write',
			params: { ...tablePath(table), ...(record ? { record: String(record) } : {}) },
			query: operation.checkQuery(query),
			body,
		});
		return (response.body as JsonObject | undefined)?.data;
	};

	const services: Record<string, (...args: Json[]) => Promise<Json | undefined>> = {
		list: (table, query) => operate('listRecords', table, { query: query ?? {} }),
		count: async (table, query) => {
			const counted = await operate('countRecords', table, { query: query ?? {} });
			return (counted as JsonObject).count;
		},
		get: (table, record) => operate('getRecord', table, { record: record ?? '' }),
		create: (table, fields, options) =>
			operate('createRecord', table, {
				body: { fields: fields ?? {}, ...(options as JsonObject) },
			}),
		update: (table, record, fields, options) =>
			operate('updateRecord', table, {
				record: record ?? '',
				body: { fields: fields ?? {}, ...(options as JsonObject) },
			}),
		delete: (table, record) => operate('deleteRecord', table, { record: record ?? '' }),
		sendWebhook,
	};
	return async (name, args) => {
		const service = Object.hasOwn(services, name) ? services[name] : undefined;
		if (!service) throw new Error(`svc has no function '${name}'.`);
		return service(...args);
	};
}

/** `app/table`, or only the table. */
function tablePath(name: Json | undefined): Record<string, string> {
	const [app = '', table] = String(name).split('/', 2);
	return table === undefined ? { table: app } : { app, table };
}

/** The Send Webhook step; the sandbox only sends to loopback addresses. */
async function sendWebhook(url?: Json, body?: Json, headers?: Json): Promise<Json> {
	if (typeof url !== 'string' || !isLoopbackUrl(url)) {
		throw new Error('The sandbox only sends webhooks to loopback addresses.');
	}
	const response = await fetch(url, {
		method: 'POST',
		redirect: 'manual',
		headers: { 'Content-Type': 'application/json', ...(headers as Record<string, string>) },
		body: JSON.stringify(body ?? {}),
		signal: AbortSignal.timeout(webhookTimeoutMs),
	});
	return { status: response.status, body: await response.text() };
}
