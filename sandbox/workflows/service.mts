import { creatorOf } from '../access/tokens.mts';
import type { Call } from '../api/request.mts';
import { operationNamed } from '../api/operations.mts';
import { handlerOf } from '../handlers/index.mts';
import type { Json, JsonObject, Token } from '../state/model.mts';

type Service = (name: string, args: Json[]) => Promise<Json | undefined>;

const loopback = /^https?:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?(\/|$)/;
const webhookTimeoutMs = 10_000;

/**
 * What `svc` does outside of the script. Tables are reached through the platform's own operations,
 * under the actor's rights, so that a script can do nothing that its token could not.
 */
export function serviceFor(call: Call, actor: Token): Service {
	const user = creatorOf(call.world, actor);
	const operate = async (
		id: string,
		table: Json | undefined,
		{ record, query = {}, body }: { record?: Json; query?: Json; body?: Json },
	): Promise<Json | undefined> => {
		const operation = operationNamed(id);
		const handler = handlerOf(id);
		if (!handler) throw new Error(`There is no ${id}.`);
		operation.checkBody(body);
		const answer = await handler({
			...call,
			token: actor,
			user,
			fateOf: () => 'write',
			params: { ...tablePath(table), ...(record ? { record: String(record) } : {}) },
			query: operation.checkQuery(query),
			body,
		});
		return (answer.body as JsonObject | undefined)?.data;
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
		if (!service) throw new Error(`svc has no ${name}.`);
		return service(...args);
	};
}

/** `app/table` or the table alone. */
function tablePath(name: Json | undefined): Record<string, string> {
	const [app = '', table] = String(name).split('/', 2);
	return table === undefined ? { table: app } : { app, table };
}

/** The Send Webhook step; contract.md, section 4. The sandbox reaches loopback alone. */
async function sendWebhook(url?: Json, body?: Json, headers?: Json): Promise<Json> {
	if (typeof url !== 'string' || !loopback.test(url)) {
		throw new Error('The sandbox sends webhooks to loopback addresses alone.');
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
