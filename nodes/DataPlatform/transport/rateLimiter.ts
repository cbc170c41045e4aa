/** When an execution may send its next request, and how long it may wait to retry. */

/**
 * Limits the number of requests in any 60 seconds, and respects the pauses that the service asks
 * for.
 */
export class RateLimiter {
	private readonly sent: number[] = [];
	private pausedUntil = 0;

	/** @param perMinute 0 for no limit */
	constructor(private readonly perMinute: number) {}

	/** Delays all requests until a time: if one is asked to wait, all wait. */
	pauseUntil(time: number) {
		this.pausedUntil = Math.max(this.pausedUntil, time);
	}

	isPaused(now: number): boolean {
		return this.pausedUntil > now;
	}

	/** Reserves the next request and returns how many milliseconds to wait before sending it. */
	reserve(now: number): number {
		const earliest = Math.max(now, this.pausedUntil);
		const oldest = this.sent[this.sent.length - this.perMinute];
		const at = oldest === undefined ? earliest : Math.max(earliest, oldest + 60_000);
		this.sent.push(at);
		if (this.sent.length > this.perMinute) this.sent.shift();
		return at - now;
	}
}

/**
 * The time that an execution may spend waiting to retry, in milliseconds. Requests that wait at the
 * same time use it only once.
 */
export class RetryBudget {
	private waitingUntil = 0;

	constructor(private leftMs: number) {}

	/** Reserves a wait that starts now; false if the budget is too small. */
	reserve(now: number, ms: number): boolean {
		const end = now + ms;
		const added = Math.max(0, end - Math.max(now, this.waitingUntil));
		if (added > this.leftMs) return false;
		this.leftMs -= added;
		this.waitingUntil = Math.max(this.waitingUntil, end);
		return true;
	}
}
