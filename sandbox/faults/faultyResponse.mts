import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { FastifyReply } from 'fastify';
import type { ApiResponse } from '../api/request.mts';
import type { WireAction } from './effects.mts';

/** Sends what a well-behaved server never sends: nothing, a reset or a broken response. */
export async function sendFaultyResponse(
	reply: FastifyReply,
	action: Exclude<WireAction, { kind: 'respond' }>,
): Promise<void> {
	reply.hijack();
	const { raw } = reply;
	if (action.kind === 'hang') return;
	if (action.kind === 'reset') {
		reset(raw);
		return;
	}
	const content = await bytesOf(action.response);
	const claimed =
		action.kind === 'wrongLength' ? Math.max(0, content.length + action.by) : content.length;
	const sent = content.subarray(
		0,
		action.kind === 'truncate' ? (action.bytes ?? content.length >> 1) : claimed,
	);
	raw.writeHead(action.response.status, {
		'content-type': 'application/json; charset=utf-8',
		...action.response.headers,
		'content-length': claimed,
		connection: 'close',
	});
	// Ends the connection after the bytes, or the client would wait for the rest.
	raw.write(sent, () => raw.socket?.end());
}

function reset(raw: ServerResponse): void {
	const { socket } = raw;
	if (!socket) return;
	// A TLS socket cannot be reset, only closed.
	if ('encrypted' in socket) socket.destroy();
	else socket.resetAndDestroy();
}

async function bytesOf({ content, body }: ApiResponse): Promise<Buffer> {
	if (content instanceof Readable) return buffer(content);
	if (content !== undefined) return Buffer.from(content);
	return Buffer.from(body === undefined ? '' : JSON.stringify(body));
}
