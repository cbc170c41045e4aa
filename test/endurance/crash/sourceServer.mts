/** The source of the workflows' data: the rows and files of a round, over HTTP. */

import { createHash } from 'node:crypto';
import { StubServer, fileResponse, jsonResponse } from '../../support/stubServer.mts';

/** How many keys of each round are new. */
const FRESH = 1000;
/** Steps through all keys of a round in another order. */
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

/** The sync of a round: its last thousand keys are new, the others get a new value. */
export function goodsOf(round: number, { goods }: Sizes): Good[] {
	return Array.from({ length: goods }, (_, index) => {
		const number = round * FRESH + ((index * STRIDE) % goods);
		return { sku: `sku ${number}`, name: `Good ${number} of round ${round}`, amount: round * 7 + (number % 5) };
	});
}

/** The records of a round, each of which gets one file. */
export function casesOf(round: number, { cases }: Sizes): Case[] {
	return Array.from({ length: cases }, (_, index) => ({ number: `case ${round}-${index}`, title: `Case ${index} of round ${round}` }));
}

/** The file of a record: always the same bytes. */
export function fileOf(number: string): { name: string; bytes: Buffer } {
	const piece = createHash('sha512').update(number).digest();
	return { name: `${number}.bin`, bytes: Buffer.alloc(FILE_BYTES, piece) };
}

export class SourceServer {
	/** The round whose data is served. */
	round = 0;
	readonly #sizes: Sizes;
	readonly #server = new StubServer(({ target }) => {
		const { pathname, searchParams } = new URL(target, 'http://127.0.0.1');
		if (pathname === '/goods') return jsonResponse(goodsOf(this.round, this.#sizes));
		if (pathname === '/cases') return jsonResponse(casesOf(this.round, this.#sizes));
		const { name, bytes } = fileOf(searchParams.get('number') ?? '');
		return fileResponse(name, bytes);
	});

	constructor(sizes: Sizes) {
		this.#sizes = sizes;
	}

	/** Returns its address. */
	async start(): Promise<string> {
		return (await this.#server.start()).origin;
	}

	async stop(): Promise<void> {
		await this.#server.stop();
	}
}
