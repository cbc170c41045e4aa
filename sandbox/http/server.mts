import fastify, { type FastifyInstance } from 'fastify';
import { requireLocal } from '../access/guard.mts';
import { registerAdministration } from '../admin/routes.mts';
import { operations } from '../api/operations.mts';
import { handlerOf } from '../handlers/index.mts';
import { notFound } from '../api/errors.mts';
import type { SandboxState } from '../state/sandboxState.mts';
import { sendError } from './responses.mts';
import { registerContentTypes } from './contentTypes.mts';
import { registerOperation } from './routes.mts';

/** The limit is a setting of the sandbox; the server's own must never apply. */
const noBodyLimit = 2 ** 40;

export interface Certificate {
	key: string;
	cert: string;
}

/** Serves the operations of contract/openapi.yaml and the administration API. */
export function createServer(
	state: SandboxState,
	seed: () => void,
	https?: Certificate,
): FastifyInstance {
	const server = fastify({
		bodyLimit: noBodyLimit,
		exposeHeadRoutes: false,
		forceCloseConnections: true,
		// Clients that treat the server as a proxy send a whole URL.
		rewriteUrl: ({ url = '/' }) => url.replace(/^https?:\/\/[^/?]*/i, ''),
		frameworkErrors: (error, _request, reply) => {
			sendError(reply, error, state.settings);
		},
		routerOptions: { maxParamLength: 4096 },
		...(https ? { https } : {}),
	}) as FastifyInstance;

	server.addHook('onRequest', async (request) => requireLocal(request));
	registerContentTypes(server, state);
	server.setErrorHandler((error, _request, reply) => sendError(reply, error, state.settings));
	server.setNotFoundHandler((request, reply) => {
		// Requests to URLs that the contract does not define belong in the log as well.
		request.logEntry = state.requestLog.start(request.method, request.url);
		const [path] = request.url.split('?', 1);
		const error = notFound(`There is no operation ${request.method} ${path}.`);
		return sendError(reply, error, state.settings);
	});
	registerRequestLog(server, state);

	for (const operation of operations()) {
		const handler = handlerOf(operation.id);
		if (!handler)
			throw new Error(`The operation '${operation.id}' of the contract has no handler.`);
		registerOperation(server, state, operation, handler);
	}
	registerAdministration(server, state, seed);
	return server;
}

/** Logs how each request ends. */
function registerRequestLog(server: FastifyInstance, state: SandboxState): void {
	server.addHook('onRequest', async (request, reply) => {
		// onResponse is not called if no response has started.
		reply.raw.once('close', () => {
			const { logEntry: entry } = request;
			const completed = reply.raw.writableFinished;
			if (!entry || entry.busy || completed) return;
			state.requestLog.end(entry, 'reset', null);
			state.notifyChange();
		});
	});
	server.addHook('onSend', async ({ logEntry: entry }, reply, payload) => {
		if (!entry) return;
		reply.header('x-request-id', entry.number);
		if (typeof payload !== 'string') return;
		state.requestLog.keep(entry, 'response', payload, Buffer.byteLength(payload));
	});
	server.addHook('onResponse', async ({ logEntry: entry }, reply) => {
		if (!entry) return;
		state.requestLog.end(entry, 'completed', reply.statusCode);
		state.notifyChange();
	});
}
