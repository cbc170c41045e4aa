import type { FastifyRequest } from 'fastify';
import { forbidden } from '../api/errors.mts';

const loopback = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])(:\d+)?$/;

/**
 * Throws a Problem (403) unless the request comes from this machine and, where a browser sent it,
 * from the sandbox's own page: a page elsewhere must not be able to change a sandbox on the desk.
 */
export function demandLocal(request: FastifyRequest): void {
	const { origin } = request.headers;
	const isOwn = !origin || origin === `${request.protocol}://${request.host}`;
	const isLocal = /^(::ffff:)?127\.|^::1$/.test(request.ip) && loopback.test(request.host);
	if (!isOwn || !isLocal) throw forbidden('The administration is reachable on loopback alone.');
}
