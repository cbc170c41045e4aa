/** Keeps to a number of requests in any 60 seconds, and to the pauses that the service asks for. */
export class RateLimiter {
	private readonly sent: number[] = [];
	private pausedUntil = 0;

	/** @param perMinute 0 for no limit */
	constructor(private readonly perMinute: number) {}

	/** Sends nothing before that time: what one request is asked to wait for concerns them all. */
	pauseUntil(time: number) {
		this.pausedUntil = Math.max(this.pausedUntil, time);
	}

	/** Milliseconds until the next request may go out; the caller sends it then. */
	reserve(now: number): number {
		const earliest = Math.max(now, this.pausedUntil);
		const oldest = this.sent[this.sent.length - this.perMinute];
		const at = oldest === undefined ? earliest : Math.max(earliest, oldest + 60_000);
		this.sent.push(at);
		if (this.sent.length > this.perMinute) this.sent.shift();
		return at - now;
	}
}
