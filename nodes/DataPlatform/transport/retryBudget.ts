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
