/**
 * A TCP proxy that adds a round-trip time, like a longer wire: half of it in each direction, and a
 * full one for the handshake of every new connection. It does not decrypt TLS, so the TLS handshake
 * needs its round trips, too. Bandwidth and packet loss are not simulated.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface LatencyProxy {
	port: number;
	stop(): Promise<void>;
}

/** Thousands of connections may be opened at once; the system caps it. */
const BACKLOG = 65_535;

interface Delayed {
	dueAt: number;
	/** Null ends the stream. */
	chunk: Buffer | null;
}

/** Passes on what `from` receives after the delay; nothing is sent before the connection is open. */
function relay(from: Socket, to: Socket, delayMs: number, openAt: number): void {
	const queue: Delayed[] = [];
	let timer: NodeJS.Timeout | undefined;
	const flush = () => {
		timer = undefined;
		const now = performance.now();
		while (queue.length > 0 && queue[0]!.dueAt <= now) {
			const { chunk } = queue.shift()!;
			if (chunk === null) to.end();
			else to.write(chunk);
		}
		if (queue.length > 0) timer = setTimeout(flush, queue[0]!.dueAt - now);
	};
	const push = (chunk: Buffer | null) => {
		queue.push({ dueAt: Math.max(performance.now(), openAt) + delayMs, chunk });
		if (timer === undefined) flush();
	};
	from.on('data', push);
	from.on('end', () => push(null));
	from.on('error', () => to.destroy());
	from.on('close', () => {
		if (from.readableEnded) return;
		clearTimeout(timer);
		to.destroy();
	});
}

/** Starts a proxy on a free loopback port, for a server on another one. */
export async function startLatencyProxy(
	targetPort: number,
	roundTripMs: number,
): Promise<LatencyProxy> {
	// Whole milliseconds, because timers know no smaller ones.
	const toServerMs = Math.ceil(roundTripMs / 2);
	const toClientMs = roundTripMs - toServerMs;
	const sockets = new Set<Socket>();
	const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
		const upstream = connect({
			host: '127.0.0.1',
			port: targetPort,
			allowHalfOpen: true,
			noDelay: true,
		});
		for (const socket of [client, upstream]) {
			sockets.add(socket);
			socket.once('close', () => sockets.delete(socket));
		}
		// The system accepted at once. Over a real wire, that response would arrive later.
		const openAt = performance.now() + roundTripMs;
		relay(client, upstream, toServerMs, openAt);
		relay(upstream, client, toClientMs, 0);
	});
	server.listen({ host: '127.0.0.1', port: 0, backlog: BACKLOG });
	await once(server, 'listening');
	return {
		port: (server.address() as AddressInfo).port,
		stop: async () => {
			for (const socket of sockets) socket.destroy();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
