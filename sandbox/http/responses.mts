import type { FastifyReply } from 'fastify';
import type { ApiResponse } from '../api/request.mts';
import { errorEntries, invalid, reasonsOf, ApiError } from '../api/errors.mts';
import type { Settings } from '../state/settings.mts';

const json = 'application/json; charset=utf-8';

export function sendResponse(reply: FastifyReply, response: ApiResponse): FastifyReply {
	reply.status(response.status).headers(response.headers ?? {});
	if (response.content !== undefined) return reply.send(response.content);
	if (response.body === undefined) return reply.send();
	return reply.type(json).send(JSON.stringify(response.body));
}

/** Sends any error as an error response. */
export function sendError(reply: FastifyReply, error: unknown, settings: Settings): FastifyReply {
	const apiError = toApiError(error);
	reply.request.logEntry?.reasons.push(...reasonsOf(apiError.items));
	return reply
		.status(apiError.status)
		.headers(apiError.headers)
		.type(json)
		.send(JSON.stringify({ errors: errorEntries(apiError.items, settings) }));
}

/** Unexpected errors are printed to standard error. */
function toApiError(error: unknown): ApiError {
	if (error instanceof ApiError) return error;
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
	// A client that disconnects during its request is not an error.
	if (code !== 'ECONNRESET') console.error(error);
	const details = 'Internal error of the sandbox; see its standard error.';
	return new ApiError(500, [{ type: 'exception', id: 'internalException', message: details }]);
}
