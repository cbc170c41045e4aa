import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invalid, type ApiError } from '../api/errors.mts';
import type { SandboxState } from '../state/sandboxState.mts';
import { readJson } from './body.mts';

/** Accepts JSON, and rejects other types. */
export function registerContentTypes(server: FastifyInstance, state: SandboxState): void {
	server.removeAllContentTypeParsers();
	server.addContentTypeParser(
		'application/json',
		async (request: FastifyRequest, stream: IncomingMessage) => {
			const { logEntry: entry } = request;
			const [path = ''] = request.url.split('?', 1);
			const { method } = request;
			// The administration has no log entry, and no faults.
			const upload = entry && state.faults.matchUpload({ number: entry.number, method, path });
			if (upload) entry?.faults.push(upload.name);
			return readJson(stream, {
				declaredBytes: Number(request.headers['content-length'] ?? 0),
				maxBytes: state.settings.maxBodyBytes,
				files: state.files,
				onProgress(bytes) {
					if (entry) entry.bodyBytes = bytes;
					const isCut = upload !== undefined && bytes >= upload.bytes;
					// The sandbox was reset while the body was arriving; its files are gone.
					const isStale =
						request.generation !== undefined && request.generation !== state.generation;
					if (!isCut && !isStale) return;
					request.raw.socket.destroy();
					// Node 22 reports a response that was never sent as sent.
					if (entry) state.requestLog.end(entry, 'reset', null);
					// A small body may have arrived completely; it must not be served.
					throw Object.assign(new Error('A fault cut off the upload.'), { code: 'ECONNRESET' });
				},
			});
		},
	);
	server.addContentTypeParser('*', async (request: FastifyRequest) => {
		if (isEmpty(request)) return undefined;
		throw notJson();
	});
}

/** Some clients send a content type without a body. */
function isEmpty(request: FastifyRequest): boolean {
	return request.headers['content-length'] === '0';
}

function notJson(): ApiError {
	return invalid('The request body must be JSON, with Content-Type: application/json.');
}
