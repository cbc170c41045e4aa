/**
 * A gateway between the node and a sandbox: the platform serves each request, and its response is
 * made malformed on the way back.
 */
import { once } from 'node:events';
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathOf } from '../../support/stubServer.mts';
import type { Malformation, HttpResponse } from './malformations.mts';

/**
 * The pause between two bytes of a slow response: far less than a timeout, but the response never
 * ends in time.
 */
const BYTE_INTERVAL_MS = 40;
const SLOW_BYTES = 300;

export interface Plan {
	malformation: Malformation;
	/** Which requests, counted from 1. */
	strikes(number: number, method: string, path: string): boolean;
}

/** A request whose response was made malformed. */
export interface MalformedRequest {
	method: string;
	path: string;
	query: string;
	/** Its number among requests of its kind. */
	nth: number;
	isOpaque: boolean;
	isFieldPart: boolean;
	fieldName?: string;
	hasOtherFields: boolean;
	startedAt: number;
	/** How long the node waited for it, in milliseconds; undefined if it is still waiting. */
	waited?: number;
}

export class Gateway {
	readonly #platform: string;
	readonly #server = createServer((request, response) => void this.#serve(request, response));
	#plan: Plan | undefined;
	#count = 0;
	#kinds = new Map<string, number>();
	malformed: MalformedRequest[] = [];
	/** Those of the previous run. */
	lastRun: MalformedRequest[] = [];
	origin = '';

	constructor(platform: string) {
		this.#platform = platform;
	}

	async open(): Promise<this> {
		this.#server.listen(0, '127.0.0.1');
		await once(this.#server, 'listening');
		this.origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
		return this;
	}

	close() {
		this.#server.closeAllConnections();
		this.#server.close();
	}

	/** Applies a plan from the next request on. Without a plan, responses pass unchanged. */
	follow(plan?: Plan) {
		if (!plan) this.lastRun = this.malformed;
		this.#plan = plan;
		this.#count = 0;
		this.#kinds = new Map();
		this.malformed = [];
	}

	async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const { method = 'GET' } = request;
		const url = pathOf(request);
		const [path = '', query = ''] = url.split('?', 2);
		const kind = `${method} ${url}`;
		const nth = (this.#kinds.get(kind) ?? 0) + 1;
		this.#kinds.set(kind, nth);
		this.#count += 1;
		const plan = this.#plan?.strikes(this.#count, method, path) ? this.#plan : undefined;
		const malformed: MalformedRequest = {
			method,
			path,
			query,
			nth,
			isOpaque: false,
			isFieldPart: false,
			hasOtherFields: false,
			startedAt: performance.now(),
		};
		if (plan) this.malformed.push(malformed);
		response.once('close', () => (malformed.waited = performance.now() - malformed.startedAt));
		try {
			const upstream = await this.#forward(request);
			const wire = plan ? plan.malformation.apply(upstream) : upstream;
			malformed.isOpaque = wire.isOpaque ?? false;
			malformed.isFieldPart = wire.isFieldPart ?? false;
			malformed.fieldName = wire.fieldName;
			malformed.hasOtherFields = wire.hasOtherFields ?? false;
			await deliver(wire, response);
		} catch {
			response.destroy();
		}
	}

	async #forward(request: IncomingMessage): Promise<HttpResponse> {
		const { method, headers } = request;
		// With the same Host, so that the URLs in the response lead here too.
		const onward = send(`${this.#platform}${pathOf(request)}`, { method, headers });
		request.pipe(onward);
		const [upstream] = (await once(onward, 'response')) as [IncomingMessage];
		const { connection: _, 'content-length': __, ...rest } = upstream.headers;
		return { status: upstream.statusCode ?? 500, headers: rest as HttpResponse['headers'], body: await buffer(upstream) };
	}
}

async function deliver({ status, headers, body, raw, isSlow: isDripped }: HttpResponse, response: ServerResponse) {
	const socket = response.socket as Socket;
	if (raw) {
		socket.end(raw);
		return;
	}
	const present = Object.entries(headers).filter(([, value]) => value !== undefined);
	response.writeHead(status, Object.fromEntries(present) as Record<string, string>);
	if (!isDripped) {
		response.end(body);
		return;
	}
	for (const byte of body.subarray(0, SLOW_BYTES)) {
		if (response.destroyed || socket.destroyed) return;
		response.write(Buffer.from([byte]));
		await sleep(BYTE_INTERVAL_MS);
	}
	response.end(body.subarray(SLOW_BYTES));
}
