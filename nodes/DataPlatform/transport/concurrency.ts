import { createPause } from './pause';

/** How many requests an execution sends at once, whatever they are for. */
export const MAX_PARALLEL = 12;

/** Runs a limited number of tasks at once. The others wait for their turn, in order. */
export class Slots {
	private readonly waiting: Array<() => void> = [];
	private taken = 0;

	/** @param count running tasks are not affected if it changes */
	constructor(public count: number) {}

	async run<T>(work: () => Promise<T>): Promise<T> {
		// A task that ends hands its slot to the next one, so that no other task can take it in
		// between.
		if (this.taken >= this.count) await new Promise<void>((resolve) => this.waiting.push(resolve));
		else this.taken += 1;
		try {
			return await work();
		} finally {
			const next = this.taken <= this.count ? this.waiting.shift() : undefined;
			if (next) next();
			else this.taken -= 1;
		}
	}
}

/** Runs work with the same key one after the other, in the order of the calls. */
export class KeyedQueue {
	private readonly last = new Map<string, Promise<unknown>>();

	async next<T>(key: string, work: () => Promise<T>): Promise<T> {
		const result = (this.last.get(key) ?? Promise.resolve()).then(work, work);
		this.last.set(key, result);
		try {
			return await result;
		} finally {
			if (this.last.get(key) === result) this.last.delete(key);
		}
	}
}

/**
 * Processes entries in order, a few at a time. After an error no further entry is started.
 *
 * @param concurrency how many at a time; a function if the number may change
 * @throws the first error, once all running work has ended
 */
export async function forEachConcurrent<T>(
	entries: Iterable<T>,
	concurrency: number | (() => number),
	work: (entry: T) => Promise<void>,
): Promise<void> {
	const limit = typeof concurrency === 'number' ? () => concurrency : concurrency;
	const errors: unknown[] = [];
	const underWay = new Set<Promise<void>>();
	const pause = createPause();
	for (const entry of entries) {
		const one: Promise<void> = work(entry)
			.catch((error) => void errors.push(error))
			.then(() => void underWay.delete(one));
		underWay.add(one);
		while (underWay.size >= limit()) await Promise.race(underWay);
		const rest = pause();
		if (rest) await rest;
		if (errors.length > 0) break;
	}
	await Promise.all(underWay);
	if (errors.length > 0) throw errors[0];
}
