import type { FastifyReply } from 'fastify';
import type { Answer } from '../api/request.mts';
import { invalid, Problem } from '../api/errors.mts';

const json = 'application/json; charset=utf-8';

export function send(reply: FastifyReply, answer: Answer): FastifyReply {
	reply.status(answer.status).headers(answer.headers ?? {});
	if (answer.content !== undefined) return reply.send(answer.content);
	if (answer.body === undefined) return reply.send();
	return reply.type(json).send(JSON.stringify(answer.body));
}

/** Whatever went wrong, in the envelope; contract.md, section 2. */
export function sendError(reply: FastifyReply, error: unknown): FastifyReply {
	const problem = asProblem(error);
	return reply
		.status(problem.status)
		.headers(problem.headers)
		.type(json)
		.send(JSON.stringify(problem.body()));
}

/** What is not a refusal of ours is told on standard error. */
function asProblem(error: unknown): Problem {
	if (error instanceof Problem) return error;
	if (error instanceof RangeError) return invalid('The request is nested too deeply.');
	const {
		statusCode = 500,
		message,
		code,
	} = error as {
		statusCode?: number;
		message: string;
		code?: string;
	};
	if (statusCode < 500) return invalid(message);
	// A client that went away in the middle of its request is no failure of ours.
	if (code !== 'ECONNRESET') console.error(error);
	const told = 'The sandbox failed; its standard error says why.';
	return new Problem(500, [{ type: 'exception', id: 'internalException', message: told }]);
}
