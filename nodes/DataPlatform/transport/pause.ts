/**
 * Splits long work on many items into turns. In between, n8n can answer webhooks and health checks.
 */
import { sleep } from 'n8n-workflow';

const TURN_MS = 50;

/** Returns a function to await in a loop. It lets other work run when a turn is over. */
export function createPause(): () => Promise<void> | undefined {
	let start = performance.now();
	const pause = async () => {
		await sleep(0);
		start = performance.now();
	};
	return () => (performance.now() - start < TURN_MS ? undefined : pause());
}

/** Collects all entries, in turns. */
export async function collect<T>(entries: Iterable<T>): Promise<T[]> {
	const pause = createPause();
	const all: T[] = [];
	for (const entry of entries) {
		await pause();
		all.push(entry);
	}
	return all;
}

/** What a promise resolves to; undefined if that takes longer. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
	const done = new AbortController();
	const timeUp = sleep(ms, done.signal).catch(() => undefined);
	const result = await Promise.race([work, timeUp]).finally(() => done.abort());
	return result ?? undefined;
}
