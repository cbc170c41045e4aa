/** What programs that check at random share: how they run, and what they print. */

/** How many failures to show in full, and how many lines of each say what is wrong. */
const SHOWN = 5;
const PROBLEMS_SHOWN = 10;

/** Longer than any run takes. */
const LONGEST_RUN_MS = 600_000;

export async function within<Result>(work: Promise<Result>): Promise<Result> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new Error('It does not end.')), LONGEST_RUN_MS);
	});
	return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** This many seeds, one after the other. */
export function* seedsFrom(first: number, count: number): Generator<number> {
	for (let number = 0; number < count; number += 1) yield first + number;
}

/** What a run found out. */
export interface Verdict {
	/** What is wrong; empty if nothing is. */
	problems: string[];
	/** For finding the cause. */
	evidence: string[];
	/** How often things happened, to notice what never does. */
	seen?: Record<string, number>;
}

/** Runs jobs, counts them, and prints what is wrong. */
export class Results {
	passed = 0;
	failed = 0;
	readonly seen = new Map<string, number>();
	readonly #started = Date.now();

	/** Runs all jobs, one at a time in each slot. */
	async runAll<Slot, Job>(slots: Slot[], jobs: Generator<Job>, run: (slot: Slot, job: Job) => Promise<void>): Promise<void> {
		await Promise.all(
			slots.map(async (slot) => {
				for (const job of jobs) await run(slot, job);
			}),
		);
	}

	/**
	 * Runs one, and adds what it found out.
	 *
	 * @param again the options that repeat it
	 */
	async run(title: string, again: string, work: () => Promise<Verdict>): Promise<void> {
		const failure = (error: Error): Verdict => ({ problems: [error.stack ?? error.message], evidence: [] });
		this.add(`${title}: npm run check -- ${again}`, await within(work()).catch(failure));
	}

	/** Counts what is neither right nor wrong. */
	see(name: string, times = 1): void {
		this.seen.set(name, (this.seen.get(name) ?? 0) + times);
	}

	/** A check that passes if nothing is wrong. */
	check(title: string, wrong: string[]): void {
		this.add(title, { problems: wrong, evidence: [] });
	}

	add(title: string, { problems, evidence, seen = {} }: Verdict): void {
		for (const [name, times] of Object.entries(seen)) this.see(name, times);
		if (problems.length === 0) {
			this.passed += 1;
			return;
		}
		this.fail(title);
		const isShort = this.failed > SHOWN;
		for (const line of problems.slice(0, isShort ? 1 : PROBLEMS_SHOWN)) console.log(`    ${line.slice(0, isShort ? 300 : 1000)}`);
		for (const line of isShort ? [] : evidence) console.log(`      ${line.slice(0, 2000)}`);
	}

	/** Counts a failure that belongs to no run, or is still to be described. */
	fail(title: string): void {
		this.failed += 1;
		console.log(`\n✗ ${title}`);
	}

	/** Whether no further failure is shown in full. */
	get areMany(): boolean {
		return this.failed >= SHOWN;
	}

	/** Prints the counts, and ends the process. */
	end(): never {
		const seconds = ((Date.now() - this.#started) / 1000).toFixed(1);
		console.log(`\n${[...this.seen].map(([name, count]) => `${name} ${count}`).join(' · ')}, in ${seconds} s`);
		console.log(`\n${this.passed} passed, ${this.failed} failed`);
		process.exit(this.failed > 0 ? 1 : 0);
	}
}
