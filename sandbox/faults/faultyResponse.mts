import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { FastifyReply } from 'fastify';
import type { Answer } from '../api/request.mts';
import type { Wire } from './effects.mts';

/** Does on the connection what no well-behaved answer does. */
export async function misbehave(
	reply: FastifyReply,
	wire: Exclude<Wire, { kind: 'answer' }>,
): Promise<void> {
	reply.hijack();
	const { raw } = reply;
	if (wire.kind === 'hang') return;
	if (wire.kind === 'reset') {
		reset(raw);
		return;
	}
	const whole = await bytesOf(wire.answer);
	const claimed = wire.kind === 'wrongLength' ? Math.max(0, whole.length + wire.by) : whole.length;
	const sent = whole.subarray(
		0,
		wire.kind === 'truncated' ? (wire.bytes ?? whole.length >> 1) : claimed,
	);
	raw.writeHead(wire.answer.status, {
		'content-type': 'application/json; charset=utf-8',
		...wire.answer.headers,
		'content-length': claimed,
		connection: 'close',
	});
	// The connection ends behind the bytes, or the client would wait for the rest.
	raw.write(sent, () => raw.socket?.end());
}

function reset(raw: ServerResponse): void {
	const { socket } = raw;
	if (!socket) return;
	// A TLS socket cannot be reset, only cut.
	if ('encrypted' in socket) socket.destroy();
	else socket.resetAndDestroy();
}

async function bytesOf({ content, body }: Answer): Promise<Buffer> {
	if (content instanceof Readable) return buffer(content);
	if (content !== undefined) return Buffer.from(content);
	return Buffer.from(body === undefined ? '' : JSON.stringify(body));
}
