/** Random choices that are reproducible by a seed. */
export class SeededRandom {
	#state: number;

	constructor(seed: number) {
		this.#state = seed >>> 0;
		// Neighboring seeds start with similar numbers.
		for (let round = 0; round < 4; round += 1) this.next();
	}

	/** 0 ≤ n < 1 (mulberry32). */
	next(): number {
		this.#state = (this.#state + 0x6d2b79f5) >>> 0;
		let mixed = this.#state;
		mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	}

	/** A whole number, both ends included. */
	between(low: number, high: number): number {
		return low + Math.floor(this.next() * (high - low + 1));
	}

	of<Value>(...values: readonly [Value, ...Value[]]): Value {
		return values[Math.floor(this.next() * values.length)] as Value;
	}

	happens(share: number): boolean {
		return this.next() < share;
	}
}
