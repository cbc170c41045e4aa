import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { creatorOf, currentToken, tokenFromHeader } from '../access/tokens.mts';
import type { ApiResponse, ApiRequest, Handler } from '../api/request.mts';
import type { Operation } from '../api/operations.mts';
import { recordFaultFor, serveWithFaults, type WireAction } from '../faults/effects.mts';
import { sendFaultyResponse } from '../faults/faultyResponse.mts';
import type { LogEntry } from '../state/requestLog.mts';
import type { JsonObject, Token } from '../state/model.mts';
import { forbidden } from '../api/errors.mts';
import type { SandboxState } from '../state/sandboxState.mts';
import { sendResponse } from './responses.mts';

declare module 'fastify' {
	interface FastifyRequest {
		logEntry?: LogEntry;
		apiToken?: Token;
		/** The state's generation when the request began. */
		generation?: number;
	}
}

/** Serves one operation: token, rate limit, validation, faults, handler, in this order. */
export function registerOperation(
	server: FastifyInstance,
	state: SandboxState,
	operation: Operation,
	handler: Handler,
): void {
	server.route({
		method: operation.method,
		url: operation.url,
		// Before the body is read, so an invalid token is rejected however large the request is.
		onRequest: async (request) => {
			const entry = state.requestLog.start(request.method, request.url);
			request.logEntry = entry;
			request.generation = state.generation;
			const token = tokenOf(state, operation, request);
			entry.token = token.name;
			request.apiToken = token;
			state.rateLimiter.count(token.id, state.settings);
		},
		handler: async (request, reply) => {
			const { logEntry: entry, apiToken: token } = request;
			if (!entry || !token) throw new Error('The onRequest hook did not run.');
			entry.busy = true;
			state.requestLog.keep(entry, 'body', request.body, entry.bodyBytes);
			try {
				const action = await serve(state, operation, handler, request, entry, token);
				if (action.kind === 'respond') return sendResponse(reply, action.response);
				await sendFaultyResponse(reply, action);
				return reply;
			} finally {
				entry.busy = false;
				// The client may have disconnected long ago; the request ends only now.
				if (reply.raw.destroyed) {
					state.requestLog.end(entry, 'reset', null);
					state.notifyChange();
				}
			}
		},
	});
}

async function serve(
	state: SandboxState,
	operation: Operation,
	handler: Handler,
	request: FastifyRequest,
	entry: LogEntry,
	token: Token,
): Promise<WireAction> {
	const { method, body } = request;
	const query = operation.checkQuery(request.query);
	operation.checkBody(body);
	if (state.settings.latencyMs > 0) await sleep(state.settings.latencyMs);
	const matched = state.faults.match({ number: entry.number, method, path: entry.path, body });
	entry.faults.push(...matched.map(({ name }) => name));
	// A fault may delay the response.
	if (matched.length > 0) state.notifyChange();
	const apiRequest: ApiRequest = {
		state,
		number: entry.number,
		origin: `${request.protocol}://${request.host}`,
		params: request.params as Record<string, string>,
		query,
		body,
		token,
		user: creatorOf(state, token),
		recordFaultFor: (index, fields) => recordFaultFor(matched, index, fields),
	};
	return serveWithFaults(matched, body, async () => {
		// The sandbox was reset while a fault delayed this request.
		if (state.generation !== request.generation) return { kind: 'reset' };
		const response = await handler(apiRequest);
		entry.records = recordCount(apiRequest, response);
		entry.reasons.push(...(response.reasons ?? []));
		return { kind: 'respond', response };
	});
}

function tokenOf(state: SandboxState, operation: Operation, request: FastifyRequest): Token {
	const inQuery = (request.query as JsonObject).token;
	if (operation.queryToken && typeof inQuery === 'string') {
		const token = currentToken(state, inQuery);
		// URLs end up in logs, so only tokens with few rights may be part of one.
		if (token.type === 'short') return token;
		throw forbidden('A token in a URL must be a short token.');
	}
	return tokenFromHeader(state, request.headers.authorization);
}

function recordCount(apiRequest: ApiRequest, response: ApiResponse): number | null {
	const sent = (apiRequest.body as JsonObject | undefined)?.bulk;
	if (Array.isArray(sent)) return sent.length;
	const data = (response.body as JsonObject | undefined)?.data;
	return Array.isArray(data) ? data.length : null;
}
