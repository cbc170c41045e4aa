/**
 * The time that an execution may spend waiting to retry, in milliseconds. Requests that wait at the
 * same time use it once.
 */
export class RetryBudget {
	private waitingUntil = 0;

	constructor(private leftMs: number) {}

	/** Reserves a wait that begins now; false if there is not enough left for it. */
	reserve(now: number, ms: number): boolean {
		const end = now + ms;
		const added = Math.max(0, end - Math.max(now, this.waitingUntil));
		if (added > this.leftMs) return false;
		this.leftMs -= added;
		this.waitingUntil = Math.max(this.waitingUntil, end);
		return true;
	}
}
