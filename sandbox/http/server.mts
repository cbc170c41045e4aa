import fastify, { type FastifyInstance } from 'fastify';
import { registerAdministration } from '../admin/routes.mts';
import { operations } from '../api/operations.mts';
import { handlerOf } from '../handlers/index.mts';
import { notFound } from '../api/errors.mts';
import type { World } from '../state/sandboxState.mts';
import { sendError } from './responses.mts';
import { registerParsers } from './contentTypes.mts';
import { registerOperation } from './routes.mts';

/** Our own limit is a setting, so the server's must never be the one that strikes. */
const noBodyLimit = 2 ** 40;

export interface Certificate {
	key: string;
	cert: string;
}

/** The platform's operations, as contract/openapi.yaml lists them, and the administration. */
export function createServer(world: World, seed: () => void, https?: Certificate): FastifyInstance {
	const server = fastify({
		bodyLimit: noBodyLimit,
		exposeHeadRoutes: false,
		forceCloseConnections: true,
		frameworkErrors: (error, _request, reply) => {
			sendError(reply, error);
		},
		routerOptions: { maxParamLength: 4096 },
		...(https ? { https } : {}),
	}) as FastifyInstance;

	registerParsers(server, world);
	server.setErrorHandler((error, _request, reply) => sendError(reply, error));
	server.setNotFoundHandler((request, reply) => {
		// A client that asks for what the contract has not should be seen in the log as well.
		request.journalEntry = world.journal.start(request.method, request.url);
		const [path] = request.url.split('?', 1);
		return sendError(reply, notFound(`There is nothing at ${request.method} ${path}.`));
	});
	registerJournal(server, world);

	for (const operation of operations()) {
		const handler = handlerOf(operation.id);
		if (!handler) throw new Error(`Nobody serves ${operation.id} of the contract.`);
		registerOperation(server, world, operation, handler);
	}
	registerAdministration(server, world, seed);
	return server;
}

/** Writes into the log how each request ended. */
function registerJournal(server: FastifyInstance, world: World): void {
	server.addHook('onRequest', async (request, reply) => {
		// Also when no answer was ever begun: then there is no onResponse.
		reply.raw.once('close', () => {
			const { journalEntry: entry } = request;
			const answered = reply.raw.writableFinished;
			if (entry && !entry.busy && !answered) world.journal.end(entry, 'reset', null);
		});
	});
	server.addHook('onResponse', async ({ journalEntry: entry }, reply) => {
		if (!entry) return;
		world.journal.end(entry, 'answered', reply.statusCode);
		world.changed();
	});
}
