/** Services of other people that the examples speak to, played by this machine. */

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
	method: string;
	path: string;
	headers: IncomingMessage['headers'];
	body: unknown;
}

/** What is answered: an object as JSON, bytes as a PDF file of that name. */
export type StubResponse = object | { name: string; bytes: Buffer };

export interface StubServer {
	url: string;
	/** What it was asked, in order. */
	requests: ReceivedRequest[];
	stop(): Promise<void>;
}

async function readBody(request: IncomingMessage): Promise<unknown> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk as Buffer);
	const text = Buffer.concat(chunks).toString();
	return text === '' ? undefined : (JSON.parse(text) as unknown);
}

const isFile = (result: StubResponse): result is { name: string; bytes: Buffer } =>
	'bytes' in result && Buffer.isBuffer(result.bytes);

/** Serves JSON on a free port; undefined as an answer is a 404. */
export async function startStubServer(
	respond: (call: ReceivedRequest) => StubResponse | undefined,
): Promise<StubServer> {
	const requests: ReceivedRequest[] = [];
	const server = createServer((request, response) => {
		const { method = '', url: path = '', headers } = request;
		void readBody(request).then((body) => {
			const call = { method, path, headers, body };
			requests.push(call);
			const result = respond(call);
			if (result === undefined) {
				response.writeHead(404).end('{}');
			} else if (isFile(result)) {
				response.setHeader('content-type', 'application/pdf');
				response.setHeader('content-disposition', `attachment; filename="${result.name}"`);
				response.end(result.bytes);
			} else {
				response.setHeader('content-type', 'application/json');
				response.end(JSON.stringify(result));
			}
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}`,
		requests,
		stop: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
