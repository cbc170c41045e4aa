/**
 * Long work on many items in turns: in between, n8n answers webhooks and health checks, and does what
 * else its process has to do.
 */
import { sleep } from 'n8n-workflow';

const TURN_MS = 50;

/** Gives a function to await in a loop: it lets other work go on once a turn is over. */
export function createPause(): () => Promise<void> | undefined {
	let start = Date.now();
	const pause = async () => {
		await sleep(0);
		start = Date.now();
	};
	return () => (Date.now() - start < TURN_MS ? undefined : pause());
}

/** All entries, in turns. */
export async function collect<T>(entries: Iterable<T>): Promise<T[]> {
	const pause = createPause();
	const all: T[] = [];
	for (const entry of entries) {
		await pause();
		all.push(entry);
	}
	return all;
}
