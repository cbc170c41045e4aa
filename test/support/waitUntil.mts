import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until a condition holds, and returns its value. The time limit allows for slow machines. */
export async function waitUntil<T>(what: string, holds: () => T | Promise<T>, timeoutMs = 240_000): Promise<NonNullable<T>> {
	for (const end = Date.now() + timeoutMs; ; await sleep(100)) {
		const value = await holds();
		if (value) return value;
		if (Date.now() > end) throw new Error(`In ${timeoutMs / 1000} s it did not come to: ${what}`);
	}
}
