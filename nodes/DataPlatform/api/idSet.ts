/**
 * A compact set for the IDs of millions of records.
 */

export const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** An ID as the platform writes it: a UUID in lower case, as RFC 9562 has it. */
export const idKey = (id: string) => (UUID.test(id) ? id.toLowerCase() : id);

/** The number of 32-bit words in a slot, and in a UUID. */
const WORDS = 4;

const START_SIZE = 1 << 8;

/** The share of slots that may be used before the table grows. */
const MAX_USED = 0.8;

const GROWTH = 1.5;

type Words = readonly [number, number, number, number];

/** A number that mixes all bits, because the UUIDs of one system share some of them. */
function mix([a, b, c, d]: Words): number {
	let mixed = Math.imul(a ^ (a >>> 16), 0x21f0aaad) ^ Math.imul(b ^ (b >>> 15), 0x735a2d97);
	mixed ^= Math.imul(c ^ (c >>> 16), 0x85ebca77) ^ Math.imul(d ^ (d >>> 15), 0xc2b2ae3d);
	mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b);
	return (mixed ^ (mixed >>> 15)) >>> 0;
}

const isZero = ([a, b, c, d]: Words) => (a | b | c | d) === 0;

/**
 * A hash table of entries of four words, 20 to 30 bytes for each (twice that while it grows). No entry
 * may be all zeros.
 */
export class WordTable {
	/** The words of the entry in each slot; all 0 if the slot is free. */
	private table = new Uint32Array(0);
	count = 0;

	/** @param hasValue whether the last word is a value: only the others identify the entry */
	constructor(private readonly hasValue: boolean) {}

	/** The last word of an entry; undefined if it is not in the table. */
	get(words: Words): number | undefined {
		const at = this.count > 0 ? this.find(words) : undefined;
		return at === undefined || this.isFree(at) ? undefined : this.table[at + WORDS - 1];
	}

	/** Adds an entry. Returns the last word of the one that is already there, if any. */
	add(words: Words): number | undefined {
		if (this.count >= (this.table.length / WORDS) * MAX_USED) this.grow();
		const at = this.find(words);
		if (!this.isFree(at)) return this.table[at + WORDS - 1];
		this.table.set(words, at);
		this.count += 1;
		return undefined;
	}

	private isFree(at: number) {
		const { table } = this;
		return (table[at]! | table[at + 1]! | table[at + 2]! | table[at + 3]!) === 0;
	}

	/** The slot of an entry, or the free one for it. */
	private find([a, b, c, d]: Words): number {
		const { table, hasValue } = this;
		const share = mix([a, b, c, hasValue ? 0 : d]) / 2 ** 32;
		let at = Math.floor(share * (table.length / WORDS)) * WORDS;
		while (
			!this.isFree(at) &&
			(table[at] !== a ||
				table[at + 1] !== b ||
				table[at + 2] !== c ||
				(!hasValue && table[at + 3] !== d))
		) {
			at += WORDS;
			if (at === table.length) at = 0;
		}
		return at;
	}

	private grow() {
		const { table } = this;
		const slots = Math.ceil((table.length / WORDS) * GROWTH);
		this.table = new Uint32Array(Math.max(START_SIZE, slots) * WORDS);
		for (let at = 0; at < table.length; at += WORDS) {
			const words: Words = [table[at]!, table[at + 1]!, table[at + 2]!, table[at + 3]!];
			if (!isZero(words)) this.table.set(words, this.find(words));
		}
	}
}

/** A UUID's 128 bits; undefined for any other text. */
function wordsOf(id: string): Words | undefined {
	if (!UUID.test(id)) return undefined;
	const word = (digits: string) => parseInt(digits, 16);
	const words = [
		word(id.slice(0, 8)),
		word(id.slice(9, 13) + id.slice(14, 18)),
		word(id.slice(19, 23) + id.slice(24, 28)),
		word(id.slice(28)),
	] as const;
	return isZero(words) ? undefined : words;
}

/**
 * An exact set of IDs. In a `Set`, a UUID takes about 100 bytes. Other IDs are kept as they are.
 * Upper and lower case of a UUID are the same.
 */
export class IdSet {
	private readonly uuids = new WordTable(false);
	private readonly others = new Set<string>();

	get size(): number {
		return this.uuids.count + this.others.size;
	}

	has(id: string): boolean {
		const words = wordsOf(id);
		return words ? this.uuids.get(words) !== undefined : this.others.has(id);
	}

	/** Adds an ID and returns whether it was new. */
	add(id: string): boolean {
		const words = wordsOf(id);
		if (words) return this.uuids.add(words) === undefined;
		const { size } = this.others;
		return this.others.add(id).size > size;
	}
}
