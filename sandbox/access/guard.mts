import type { FastifyRequest } from 'fastify';
import { isLoopbackHost } from './loopback.mts';
import { forbidden } from '../api/errors.mts';

/**
 * Throws an ApiError (403) unless the request comes from this machine and, if a browser sent it,
 * from the sandbox's own page: no other website may use a sandbox that is running locally, whatever
 * name it gives to this machine.
 */
export function requireLocal(request: FastifyRequest): void {
	const { origin } = request.headers;
	const isOwn = !origin || origin === `${request.protocol}://${request.host}`;
	const isLocal = /^(::ffff:)?127\.|^::1$/.test(request.ip) && isLoopbackHost(request.host);
	if (!isOwn || !isLocal)
		throw forbidden('The sandbox only accepts requests from loopback, and from its own page.');
}
