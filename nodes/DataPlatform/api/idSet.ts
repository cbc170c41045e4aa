/**
 * A compact set for the IDs of millions of records.
 */

export const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** A text that is the same for all IDs of one record: the case of a UUID's letters does not matter. */
export const idKey = (id: string) => (UUID.test(id) ? id.toLowerCase() : id);

/** The number of 32-bit words in a UUID. */
const WORDS = 4;

const START_SIZE = 1 << 8;

/** The share of slots that may be used before the table grows. */
const FULL = 0.8;

const GROWTH = 1.5;

type Words = [number, number, number, number];

/** A UUID's 128 bits; undefined for any other text. */
function wordsOf(id: string): Words | undefined {
	if (!UUID.test(id)) return undefined;
	const digits = id.replaceAll('-', '');
	const word = (at: number) => parseInt(digits.slice(at, at + 8), 16);
	return [word(0), word(8), word(16), word(24)];
}

/** A slot for a UUID. Mixes all bits, because the UUIDs of one system share some of them. */
function placeOf([a, b, c, d]: Words, size: number): number {
	let mixed = Math.imul(a ^ (a >>> 16), 0x21f0aaad) ^ Math.imul(b ^ (b >>> 15), 0x735a2d97);
	mixed ^= Math.imul(c ^ (c >>> 16), 0x85ebca77) ^ Math.imul(d ^ (d >>> 15), 0xc2b2ae3d);
	mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b);
	return Math.floor((((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32) * size);
}

/**
 * An exact set of IDs. A UUID takes 20 to 30 bytes (twice that while the table grows); in a `Set`
 * it takes about 100. Other IDs are kept as they are. Upper and lower case of a UUID are the same.
 */
export class IdSet {
	/** The words of the UUID in each slot; all 0 if the slot is free. */
	private table = new Uint32Array(0);
	private uuids = 0;
	private readonly others = new Set<string>();

	get size(): number {
		return this.uuids + this.others.size;
	}

	has(id: string): boolean {
		const words = wordsOf(id);
		if (!words || isZero(words)) return this.others.has(id);
		return this.uuids > 0 && !this.isFree(this.find(words));
	}

	/** Adds an ID and returns whether it was new. */
	add(id: string): boolean {
		const words = wordsOf(id);
		if (!words || isZero(words)) {
			const { size } = this.others;
			return this.others.add(id).size > size;
		}
		if (this.uuids >= this.places * FULL) this.grow();
		const at = this.find(words);
		if (!this.isFree(at)) return false;
		this.table.set(words, at);
		this.uuids += 1;
		return true;
	}

	private get places() {
		return this.table.length / WORDS;
	}

	private isFree(at: number) {
		const { table } = this;
		return (table[at]! | table[at + 1]! | table[at + 2]! | table[at + 3]!) === 0;
	}

	/** The slot where a UUID's words are, or would go. */
	private find(words: Words): number {
		const { table } = this;
		const [a, b, c, d] = words;
		let at = placeOf(words, this.places) * WORDS;
		while (
			!this.isFree(at) &&
			(table[at] !== a || table[at + 1] !== b || table[at + 2] !== c || table[at + 3] !== d)
		) {
			at += WORDS;
			if (at === table.length) at = 0;
		}
		return at;
	}

	private grow() {
		const { table, places } = this;
		this.table = new Uint32Array(Math.max(START_SIZE, Math.ceil(places * GROWTH)) * WORDS);
		for (let at = 0; at < table.length; at += WORDS) {
			const words: Words = [table[at]!, table[at + 1]!, table[at + 2]!, table[at + 3]!];
			if (!isZero(words)) this.table.set(words, this.find(words));
		}
	}
}

const isZero = (words: Words) => words.every((word) => word === 0);
