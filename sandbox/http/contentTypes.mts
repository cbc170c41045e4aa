import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invalid, type Problem } from '../api/errors.mts';
import type { World } from '../state/sandboxState.mts';
import { readJson } from './body.mts';

/** Bodies: JSON everywhere, and what browsers send to public forms. All else is refused. */
export function registerParsers(server: FastifyInstance, world: World): void {
	server.removeAllContentTypeParsers();
	server.addContentTypeParser(
		'application/json',
		async (request: FastifyRequest, stream: IncomingMessage) => {
			const { journalEntry: entry } = request;
			const [path = ''] = request.url.split('?', 1);
			const upload = world.faults.meetUpload({ method: request.method, path });
			if (upload) entry?.faults.push(upload.name);
			return readJson(stream, {
				declaredBytes: Number(request.headers['content-length'] ?? 0),
				maxBytes: world.settings.maxBodyBytes,
				files: world.files,
				onProgress(bytes) {
					if (entry) entry.bodyBytes = bytes;
					const isCut = upload !== undefined && bytes >= upload.bytes;
					// A body that came in over a reset belongs to a world that is gone, its files too.
					const isStale = request.worldAge !== undefined && request.worldAge !== world.age;
					if (!isCut && !isStale) return;
					request.raw.socket.destroy();
					// Node 22 takes the answer that never leaves for one that did.
					if (entry) world.journal.end(entry, 'reset', null);
					// All of a small body may be here already: it must not be served any more.
					throw Object.assign(new Error('Cut off by a fault.'), { code: 'ECONNRESET' });
				},
			});
		},
	);
	server.addContentTypeParser(
		'application/x-www-form-urlencoded',
		async (request: FastifyRequest, stream: IncomingMessage) => {
			if (isEmpty(request)) return undefined;
			if (!request.url.startsWith('/forms/')) throw notJson();
			return Object.fromEntries(new URLSearchParams(await text(stream)));
		},
	);
	server.addContentTypeParser('*', async (request: FastifyRequest) => {
		if (isEmpty(request)) return undefined;
		throw notJson();
	});
}

/** Some clients name a type for a body that they do not send. */
function isEmpty(request: FastifyRequest): boolean {
	return request.headers['content-length'] === '0';
}

function notJson(): Problem {
	return invalid('The body must be JSON, with Content-Type: application/json.');
}
