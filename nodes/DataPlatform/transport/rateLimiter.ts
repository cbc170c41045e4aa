/** Keeps to a number of requests in any 60 seconds. */
export class RateLimiter {
	private readonly sent: number[] = [];

	/** @param perMinute 0 for no limit */
	constructor(private readonly perMinute: number) {}

	/** Milliseconds until the next request may go out; the caller sends it then. */
	reserve(now: number): number {
		if (this.perMinute <= 0) return 0;
		const oldest = this.sent[this.sent.length - this.perMinute];
		const at = oldest === undefined ? now : Math.max(now, oldest + 60_000);
		this.sent.push(at);
		if (this.sent.length > this.perMinute) this.sent.shift();
		return at - now;
	}
}
