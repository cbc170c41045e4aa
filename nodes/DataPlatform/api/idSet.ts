/**
 * IDs and keys of millions of records.
 */
import { createHash } from 'node:crypto';

export const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** An ID as the platform writes it: a UUID in lower case, as RFC 9562 has it. */
export const idKey = (id: string) => (UUID.test(id) ? id.toLowerCase() : id);

/** The number of 32-bit words in a slot. */
const WORDS = 4;

const START_SIZE = 1 << 8;

/** The share of slots that may be used before the table grows. */
const MAX_USED = 0.8;

const GROWTH = 1.5;

/** 96 bits of a text's SHA-256, which no two texts share in practice, and its number. */
function entryOf(text: string, number: number): Uint32Array {
	const digest = createHash('sha256').update(text).digest();
	const [first, second, third] = [0, 4, 8].map((at) => digest.readUInt32LE(at));
	return Uint32Array.of(first!, second!, third!, number);
}

/**
 * A hash table of texts, with a number for each. A text takes 20 to 30 bytes (twice that while the
 * table grows), in a `Set` about 100.
 */
export class TextIndex {
	/** The entry in each slot; all 0 if the slot is free. */
	private table = new Uint32Array(START_SIZE * WORDS);
	size = 0;

	has(text: string): boolean {
		return !this.isFree(this.find(entryOf(text, 0)));
	}

	/** Adds a text with a number. Returns the number of the same text, if it is already there. */
	add(text: string, number = 0): number | undefined {
		if (this.size >= (this.table.length / WORDS) * MAX_USED) this.grow();
		const entry = entryOf(text, number);
		const at = this.find(entry);
		if (!this.isFree(at)) return this.table[at + WORDS - 1];
		this.table.set(entry, at);
		this.size += 1;
		return undefined;
	}

	private isFree(at: number) {
		const { table } = this;
		return (table[at]! | table[at + 1]! | table[at + 2]!) === 0;
	}

	/** The slot of an entry, or the free one for it. */
	private find([first, second, third]: Uint32Array): number {
		const { table } = this;
		let at = Math.floor((first! / 2 ** 32) * (table.length / WORDS)) * WORDS;
		while (
			!this.isFree(at) &&
			(table[at] !== first || table[at + 1] !== second || table[at + 2] !== third)
		) {
			at += WORDS;
			if (at === table.length) at = 0;
		}
		return at;
	}

	private grow() {
		const { table } = this;
		this.table = new Uint32Array(Math.ceil((table.length / WORDS) * GROWTH) * WORDS);
		for (let at = 0; at < table.length; at += WORDS) {
			const entry = table.subarray(at, at + WORDS);
			if (entry.some((word) => word !== 0)) this.table.set(entry, this.find(entry));
		}
	}
}
