/**
 * Decides when to retry a request, and after how long. Uses no clock and no network.
 */
import type { ServiceError } from './errors';

/** A 429 without `Retry-After` means that the token's requests for this minute are used up. */
export const RATE_LIMIT_WAIT_MS = 60_000;

/** Backoff: 0.5 s, 1 s, 2 s, … up to 30 s, each shortened at random to spread clients out. */
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;

/** How often to retry one request after failures other than 429. */
const MAX_RETRIES = 5;

/**
 * Decides whether a request is repeated after an ambiguous failure. A `read` can be repeated, and
 * its failure is never ambiguous.
 */
export type RetryMode = 'read' | 'idempotent' | 'notIdempotent';

/** How often to trust the service's wait request before applying the backoff as well. */
const TRUSTED_RATE_LIMITS = 3;

const backoff = (retries: number) => Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** retries);

/** 429, or 503 with a Retry-After header: the service did not process the request. */
export const isWaitRequest = (error: ServiceError) =>
	error.status === 429 || (error.status === 503 && error.retryAfterMs !== undefined);

/**
 * The wait before the next attempt, in milliseconds; undefined if the request must not be retried:
 *
 * | The attempt | Retried |
 * |---|---|
 * | was rejected or canceled | no |
 * | is ambiguous | only if that is safe |
 * | was not applied | yes |
 *
 * @param attempts how often the service has asked this request to wait, and how many retries there
 *   were after other failures
 * @param random 0 ≤ random < 1
 */
export function retryDelay(
	error: ServiceError,
	retryMode: RetryMode,
	{ retries, rateLimitCount = 0 }: { retries: number; rateLimitCount?: number },
	random: number,
): number | undefined {
	if (isWaitRequest(error)) {
		// Back off even if the service keeps sending Retry-After: 0.
		const least =
			rateLimitCount < TRUSTED_RATE_LIMITS ? 0 : backoff(rateLimitCount - TRUSTED_RATE_LIMITS);
		const asked = Math.max(least, error.retryAfterMs ?? RATE_LIMIT_WAIT_MS);
		// Slightly later than asked, and never at the same moment as other clients.
		return asked + Math.round(random * Math.min(1000, 100 + asked * 0.05));
	}
	if (error.delivery === 'rejected' || error.delivery === 'canceled') return undefined;
	if (error.delivery === 'ambiguous' && retryMode === 'notIdempotent') return undefined;
	if (retries >= MAX_RETRIES) return undefined;
	return Math.round(backoff(retries) * (0.5 + random / 2));
}

/** How a date begins: an HTTP date with a day's name, or ISO 8601. `Date.parse` takes `-5` for a year. */
const DATE_START = /^((mon|tue|wed|thu|fri|sat|sun)|\d{4}-\d{2}-\d{2}T)/i;

/**
 * Reads a `Retry-After` header: seconds, or a date.
 *
 * @param now the service's time, from its `Date` header, or else this computer's
 * @returns milliseconds, at least 0; undefined if the header is not usable
 */
export function parseRetryAfter(header: unknown, now: number): number | undefined {
	if (typeof header !== 'string' && typeof header !== 'number') return undefined;
	const text = String(header).trim();
	if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
	const date = DATE_START.test(text) ? Date.parse(text) : NaN;
	return Number.isNaN(date) ? undefined : Math.max(0, date - now);
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
