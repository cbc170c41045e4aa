/** Counts checks and observations. */

const SHOWN = 5;

export class Tally {
	passed = 0;
	failed = 0;
	readonly #seen = new Map<string, number>();

	/** A check that passes if nothing is wrong. */
	check(what: string, wrong: string[]): void {
		if (wrong.length === 0) {
			this.passed += 1;
			return;
		}
		this.failed += 1;
		const shown = wrong.slice(0, SHOWN).join('; ');
		console.log(`  ✗ ${what}: ${shown}${wrong.length > SHOWN ? `; ${wrong.length} in all` : ''}`);
	}

	/** Counts something that is neither right nor wrong. */
	count(what: string, times = 1): void {
		this.#seen.set(what, this.seen(what) + times);
	}

	seen(what: string): number {
		return this.#seen.get(what) ?? 0;
	}

	summary(): string {
		return [...this.#seen].map(([what, times]) => `${String(times).padStart(8)} ${what}`).join('\n');
	}
}
