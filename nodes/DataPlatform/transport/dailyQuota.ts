/**
 * Tells the day's requests, which no wait within an execution brings back, from a limit per minute.
 * Both respond with 429.
 */
import { LABELS } from '../labels';
import { ServiceError } from './errors';
import { RATE_LIMIT_WAIT_MS } from './retryPolicy';

/** No limit per minute asks for a longer wait. */
const LONGEST_MINUTE_MS = 2 * RATE_LIMIT_WAIT_MS;

const NAMES_DAY = /\b(?:daily|today|day['’]s|(?:per|a|each|this) day)\b/i;
const NAMES_MINUTE = /\b(?:minute|second)s?\b/i;

/**
 * When each token was last served by the platform, in this process of n8n: other executions may use
 * up what a limit per minute allows, as long as they are served.
 */
export const servedAt = new Map<string, number>();

export class DailyQuota {
	private isUsedUp = false;

	constructor(
		private readonly account: string,
		private readonly retryBudgetMs: number,
	) {}

	/** Notes a response other than 429. */
	served() {
		servedAt.set(this.account, performance.now());
		this.isUsedUp = false;
	}

	/** True if no request of the token was served for a minute, since a time. */
	isSilentSince(time: number): boolean {
		const served = servedAt.get(this.account) ?? -Infinity;
		return served < time && performance.now() - time >= RATE_LIMIT_WAIT_MS;
	}

	/** Whether a 429 means the day's requests. @param since when its request first got one */
	isMeantBy(message: string, retryAfterMs: number | undefined, since: number): boolean {
		this.isUsedUp ||=
			(NAMES_DAY.test(message) && !NAMES_MINUTE.test(message)) ||
			(retryAfterMs === undefined
				? this.isSilentSince(since)
				: retryAfterMs > Math.max(this.retryBudgetMs, LONGEST_MINUTE_MS));
		return this.isUsedUp;
	}
}

/** @param cause of the request, @param hint instead of the usual one */
export function quotaUsedUp(cause: ServiceError, hint?: string): ServiceError {
	const { retryAfterMs } = cause;
	const when =
		retryAfterMs === undefined || retryAfterMs <= LONGEST_MINUTE_MS
			? 'when the platform counts the next day'
			: `after ${new Date(Date.now() + retryAfterMs).toISOString()}`;
	return new ServiceError(`${cause.message}; the requests of this day seem to be used up`, {
		...cause,
		body: undefined,
		code: 'quotaUsedUp',
		isRetryBudgetSpent: true,
		hint:
			hint ??
			`Run it again ${when}, or ask for a plan with more requests. Raising '${LABELS.maxRetryWait}' does not help.`,
	});
}
