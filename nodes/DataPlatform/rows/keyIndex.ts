/**
 * Finds the first row of a key, for millions of keys in a few bytes each.
 */

const START_SIZE = 1 << 12;

/** The share of slots that may be used before the table doubles. */
const FULL = 0.7;

/** A 64-bit hash of a text, as two numbers (MurmurHash's finalizers with two seeds). */
function hash(text: string): [number, number] {
	let high = 0x9e3779b9;
	let low = 0x85ebca6b;
	for (let at = 0; at < text.length; at++) {
		const code = text.charCodeAt(at);
		high = Math.imul(high ^ code, 0x85ebca77);
		low = Math.imul(low ^ code, 0xc2b2ae3d);
		high ^= high >>> 15;
		low ^= low >>> 13;
	}
	high = Math.imul(high ^ (high >>> 16), 0x21f0aaad) ^ Math.imul(low ^ (low >>> 15), 0x735a2d97);
	low = Math.imul(low ^ (low >>> 16), 0x735a2d97) ^ Math.imul(high ^ (high >>> 15), 0x21f0aaad);
	return [high >>> 0, low >>> 0];
}

/**
 * Remembers the first row of each key. Keys are compared by their 64-bit hashes: among ten million
 * keys, the probability that two different ones count as the same is one in 300,000.
 */
export class KeyIndex {
	private high = new Uint32Array(START_SIZE);
	private low = new Uint32Array(START_SIZE);
	/** 0 if a slot is free: rows count from 1. */
	private rows = new Uint32Array(START_SIZE);
	private count = 0;

	/** The row that had the key before. If there is none, remembers this one. */
	firstRow(key: string, row: number): number | undefined {
		if (this.count >= this.rows.length * FULL) this.grow();
		const [high, low] = hash(key);
		const at = this.place(high, low);
		if (this.rows[at] !== 0) return this.rows[at];
		this.set(at, high, low, row);
		this.count += 1;
		return undefined;
	}

	private place(high: number, low: number): number {
		const mask = this.rows.length - 1;
		let at = low & mask;
		while (this.rows[at] !== 0 && (this.high[at] !== high || this.low[at] !== low)) {
			at = (at + 1) & mask;
		}
		return at;
	}

	private set(at: number, high: number, low: number, row: number) {
		this.high[at] = high;
		this.low[at] = low;
		this.rows[at] = row;
	}

	private grow() {
		const { high, low, rows } = this;
		this.high = new Uint32Array(rows.length * 2);
		this.low = new Uint32Array(rows.length * 2);
		this.rows = new Uint32Array(rows.length * 2);
		for (const [at, row] of rows.entries()) {
			if (row !== 0) this.set(this.place(high[at]!, low[at]!), high[at]!, low[at]!, row);
		}
	}
}
