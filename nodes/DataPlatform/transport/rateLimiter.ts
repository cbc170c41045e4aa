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
