/**
 * A stub of NocoDB's API, for n8n's NocoDB node: returns every record that it receives with a new id,
 * and stores nothing.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export interface NocoDbStub {
	baseUrl: string;
	/** How many requests it has received. */
	countRequests(): number;
	stop(): Promise<void>;
}

export async function startNocoDbStub(): Promise<NocoDbStub> {
	let requests = 0;
	let lastId = 0;
	const server = createServer(async (request, response) => {
		requests += 1;
		const sent = (await json(request)) as Array<{ fields: object }>;
		const records = sent.map(({ fields }) => ({ id: (lastId += 1), fields }));
		response
			.writeHead(200, { 'content-type': 'application/json' })
			.end(JSON.stringify({ records }));
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address() as AddressInfo;
	return {
		baseUrl: `http://127.0.0.1:${port}`,
		countRequests: () => requests,
		stop: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
