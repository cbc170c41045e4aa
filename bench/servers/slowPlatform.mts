/** An HTTP proxy that delays each bulk request in proportion to its records: a slow platform. */
import { once } from 'node:events';
import { createServer, request as startRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

export interface SlowPlatform {
	baseUrl: string;
	stop(): Promise<void>;
}

function countBulkRecords(body: Buffer): number {
	if (body.length === 0) return 0;
	const { bulk } = JSON.parse(body.toString()) as { bulk?: unknown[] };
	return bulk?.length ?? 0;
}

/** Parallel requests do not delay each other. A request continues even if its client gives up. */
export async function startSlowPlatform(
	targetUrl: string,
	msPerRecord: number,
): Promise<SlowPlatform> {
	const server = createServer(async (incoming, response) => {
		const { method, url = '', headers } = incoming;
		const { pathname, search } = new URL(url, targetUrl);
		response.on('error', () => undefined);
		const body = await buffer(incoming).catch(() => undefined);
		// The client gave up before it had sent everything.
		if (body === undefined) return;
		await sleep(countBulkRecords(body) * msPerRecord);
		const forwarded = startRequest(`${targetUrl}${pathname}${search}`, {
			method,
			headers,
			agent: false,
		});
		forwarded.on('error', () => response.destroy());
		forwarded.on('response', (upstream) => {
			response.writeHead(upstream.statusCode!, upstream.headers);
			upstream.pipe(response);
		});
		forwarded.end(body);
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address() as AddressInfo;
	return {
		baseUrl: `http://127.0.0.1:${port}`,
		stop: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
