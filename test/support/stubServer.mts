/** A server other than the sandbox: another service, or a platform that breaks the contract. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ReceivedRequest {
	method: string;
	/** The request's path and query, unchanged: not decoded or normalized. */
	target: string;
	headers: IncomingHttpHeaders;
	body: string;
}

export interface StubResponse {
	/** 200 by default. */
	status?: number;
	/** JSON by default. */
	headers?: Record<string, string>;
	body?: string | Uint8Array;
	/** Sends the body and never ends the response. */
	stalls?: boolean;
	/** Sends the body again and again, and never ends the response. */
	repeats?: boolean;
	/** Sends the body byte by byte, with this pause between two. */
	byteIntervalMs?: number;
}

export interface Certificate extends Pick<ServerOptions, 'requestCert' | 'maxVersion'> {
	key: string;
	cert: string;
}

/** A response with JSON. */
export const jsonResponse = (value: unknown, status = 200): StubResponse => ({ status, body: JSON.stringify(value) });

/** A response with a file to download. */
export const fileResponse = (name: string, bytes: Uint8Array, type = 'application/octet-stream'): StubResponse => ({
	headers: { 'content-type': type, 'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}` },
	body: bytes,
});

/** The path and query of a request's target. It is a whole URL if the server is its own proxy, as it is for the credential. */
export const pathOf = ({ url = '' }: IncomingMessage) => url.replace(/^http:\/\/[^/]*/, '');

const NOT_FOUND = jsonResponse({}, 404);

async function send(stub: StubResponse, response: ServerResponse): Promise<void> {
	const { status = 200, headers = { 'content-type': 'application/json' }, body = '' } = stub;
	response.writeHead(status, headers);
	if (stub.repeats) {
		while (!response.destroyed) {
			const isFlushed = response.write(body);
			if (!isFlushed) await Promise.race([once(response, 'drain'), once(response, 'close')]);
		}
	} else if (stub.stalls) {
		response.write(body);
	} else if (stub.byteIntervalMs === undefined) {
		response.end(body);
	} else {
		for (const byte of Buffer.from(body)) {
			response.write(Buffer.from([byte]));
			await sleep(stub.byteIntervalMs);
		}
		response.end();
	}
}

export class StubServer {
	/** What it has received since it started, in order. */
	readonly requests: ReceivedRequest[] = [];
	/** Its response to a request; undefined is a 404. */
	respond: (request: ReceivedRequest) => StubResponse | undefined;
	readonly #isSecure: boolean;
	readonly #server;

	/** @param certificate makes it speak HTTPS */
	constructor(respond: StubServer['respond'], certificate?: Certificate) {
		this.respond = respond;
		this.#isSecure = certificate !== undefined;
		const listener: RequestListener = (incoming, response) => {
			void text(incoming).then(async (body) => {
				const { method = '', headers } = incoming;
				const request = { method, target: pathOf(incoming), headers, body };
				this.requests.push(request);
				await send(this.respond(request) ?? NOT_FOUND, response);
			});
		};
		this.#server = certificate ? createSecureServer(certificate, listener) : createServer(listener);
	}

	/** Listens on a free port of this machine. */
	async start(): Promise<this> {
		await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
		return this;
	}

	get port(): number {
		return (this.#server.address() as AddressInfo).port;
	}

	get origin(): string {
		return `${this.#isSecure ? 'https' : 'http'}://127.0.0.1:${this.port}`;
	}

	async countConnections(): Promise<number> {
		return await new Promise((resolve) => this.#server.getConnections((_error, count) => resolve(count)));
	}

	async stop(): Promise<void> {
		this.#server.closeAllConnections();
		await new Promise((resolve) => this.#server.close(resolve));
	}
}

/** Starts a stub server on a free port. */
export async function startStubServer(respond: StubServer['respond'], certificate?: Certificate): Promise<StubServer> {
	return await new StubServer(respond, certificate).start();
}
