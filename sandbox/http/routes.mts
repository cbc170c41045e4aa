import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { creatorOf, currentToken, tokenFromHeader } from '../access/tokens.mts';
import type { Answer, Call, Handler } from '../api/request.mts';
import type { Operation } from '../api/operations.mts';
import { fateIn, serveWith, type Wire } from '../faults/effects.mts';
import { misbehave } from '../faults/faultyResponse.mts';
import type { JournalEntry } from '../state/requestLog.mts';
import type { JsonObject, Token } from '../state/model.mts';
import { forbidden } from '../api/errors.mts';
import type { World } from '../state/sandboxState.mts';
import { send } from './responses.mts';

declare module 'fastify' {
	interface FastifyRequest {
		journalEntry?: JournalEntry;
		platformToken?: Token;
		/** The world's age when the request began. */
		worldAge?: number;
	}
}

/** One operation of the contract: token, contract, faults, handler, in this order. */
export function registerOperation(
	server: FastifyInstance,
	world: World,
	operation: Operation,
	handler: Handler,
): void {
	server.route({
		method: operation.method,
		url: operation.url,
		// Before the body is read: a wrong token is refused however large the request.
		onRequest: async (request) => {
			const entry = world.journal.start(request.method, request.url);
			request.journalEntry = entry;
			request.worldAge = world.age;
			const token = tokenOf(world, operation, request);
			entry.token = token.name;
			request.platformToken = token;
			world.limiter.take(token.id, world.settings);
		},
		handler: async (request, reply) => {
			const { journalEntry: entry, platformToken: token } = request;
			if (!entry || !token) throw new Error('A request came past its own start.');
			entry.busy = true;
			try {
				const wire = await serve(world, operation, handler, request, entry, token);
				if (wire.kind === 'answer') return send(reply, wire.answer);
				await misbehave(reply, wire);
				return reply;
			} finally {
				entry.busy = false;
				// The client may be gone for long; only now is it over.
				if (reply.raw.destroyed) world.journal.end(entry, 'reset', null);
			}
		},
	});
}

async function serve(
	world: World,
	operation: Operation,
	handler: Handler,
	request: FastifyRequest,
	entry: JournalEntry,
	token: Token,
): Promise<Wire> {
	const { method, body } = request;
	const query = operation.checkQuery(request.query);
	operation.checkBody(body);
	if (world.settings.latencyMs > 0) await sleep(world.settings.latencyMs);
	const met = world.faults.meet({ method, path: entry.path, body });
	entry.faults.push(...met.map(({ name }) => name));
	const call: Call = {
		world,
		number: entry.number,
		origin: `${request.protocol}://${request.host}`,
		params: request.params as Record<string, string>,
		query,
		body,
		token,
		user: creatorOf(world, token),
		fateOf: (index, fields) => fateIn(met, index, fields),
	};
	return serveWith(met, body, async () => {
		// What was held up over a reset belongs to a world that is gone.
		if (world.age !== request.worldAge) return { kind: 'reset' };
		const answer = await handler(call);
		entry.records = recordsIn(call, answer);
		return { kind: 'answer', answer };
	});
}

function tokenOf(world: World, operation: Operation, request: FastifyRequest): Token {
	const inQuery = (request.query as JsonObject).token;
	if (operation.queryToken && typeof inQuery === 'string') {
		const token = currentToken(world, inQuery);
		// URLs end up in logs: what stands in one must not be worth much.
		if (token.type === 'short' || token.type === 'form') return token;
		throw forbidden('A token in a URL must be a short or a public form token.');
	}
	return tokenFromHeader(world, request.headers.authorization);
}

function recordsIn(call: Call, answer: Answer): number | null {
	const sent = (call.body as JsonObject | undefined)?.bulk;
	if (Array.isArray(sent)) return sent.length;
	const data = (answer.body as JsonObject | undefined)?.data;
	return Array.isArray(data) ? data.length : null;
}
