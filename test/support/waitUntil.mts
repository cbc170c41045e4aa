import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until a condition holds. The time limit allows for slow machines. */
export async function waitUntil(what: string, holds: () => boolean | Promise<boolean>, timeoutMs = 240_000): Promise<void> {
	const end = Date.now() + timeoutMs;
	while (!(await holds())) {
		if (Date.now() > end) throw new Error(`In ${timeoutMs / 1000} s it did not come to: ${what}`);
		await sleep(100);
	}
}
