/** Where the workflows get their data from: rows and files of a round, over HTTP. */

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How many keys each round has that no round before had. */
const FRESH = 1000;
/** Steps through all keys of a round in an order that is not theirs. */
const STRIDE = 7919;
const FILE_BYTES = 400_000;

/** Items in one sync, and records with files. */
export interface Sizes {
	goods: number;
	cases: number;
}

export interface Good {
	sku: string;
	name: string;
	amount: number;
}

export interface Case {
	number: string;
	title: string;
}

/** The sync of a round: its last thousand keys are new, the others get another value. */
export function goodsOf(round: number, { goods }: Sizes): Good[] {
	return Array.from({ length: goods }, (_, index) => {
		const number = round * FRESH + ((index * STRIDE) % goods);
		return {
			sku: `sku ${number}`,
			name: `Good ${number} of round ${round}`,
			amount: round * 7 + (number % 5),
		};
	});
}

/** The records of a round, each of which gets one file. */
export function casesOf(round: number, { cases }: Sizes): Case[] {
	return Array.from({ length: cases }, (_, index) => ({
		number: `case ${round}-${index}`,
		title: `Case ${index} of round ${round}`,
	}));
}

/** The file of a record: the same bytes however often it is asked for. */
export function fileOf(number: string): { name: string; bytes: Buffer } {
	const piece = createHash('sha512').update(number).digest();
	return { name: `${number}.bin`, bytes: Buffer.alloc(FILE_BYTES, piece) };
}

export class SourceServer {
	/** The round whose data is served. */
	round = 0;
	readonly #sizes: Sizes;
	readonly #server = createServer((request, response) => {
		const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
		const json = (value: unknown) =>
			response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
		if (pathname === '/goods') return json(goodsOf(this.round, this.#sizes));
		if (pathname === '/cases') return json(casesOf(this.round, this.#sizes));
		const { name, bytes } = fileOf(searchParams.get('number') ?? '');
		return response
			.writeHead(200, {
				'content-type': 'application/octet-stream',
				'content-disposition': `attachment; filename="${name}"`,
			})
			.end(bytes);
	});

	constructor(sizes: Sizes) {
		this.#sizes = sizes;
	}

	/** Answers its address. */
	async start(): Promise<string> {
		this.#server.listen(0, '127.0.0.1');
		await once(this.#server, 'listening');
		return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
	}

	stop(): void {
		this.#server.closeAllConnections();
		this.#server.close();
	}
}
