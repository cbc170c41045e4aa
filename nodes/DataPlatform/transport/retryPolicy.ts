/**
 * When a request is retried, and after how long. Pure: no clock, no network.
 */
import type { ServiceError } from './errors';

/** Without `Retry-After` a 429 means: the token's minute is used up. */
const RATE_LIMIT_WAIT_MS = 60_000;

/** Backoff: 0.5 s, 1 s, 2 s, … up to 30 s, each shortened at random so that clients spread out. */
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;

/** How often one request is retried after failures other than 429. */
export const MAX_RETRIES = 5;

/**
 * Whether a request may be repeated when nobody knows whether it was done; what only reads may be, and
 * leaves nothing open when it fails.
 */
export type RetryMode = 'read' | 'idempotent' | 'notIdempotent';

/** How often a service may ask to wait before its word is checked against the backoff. */
const TRUSTED_RATE_LIMITS = 3;

const backoff = (retries: number) => Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** retries);

/** Whether the service asks to come back later: it did not work on the request. */
export const isWaitRequest = (error: ServiceError) =>
	error.status === 429 || (error.status === 503 && error.retryAfterMs !== undefined);

/**
 * The wait before the same request is sent again, in milliseconds; undefined where it must not be.
 * A rejection is final, an ambiguous failure is retried only where that is safe, and a request that
 * the service did not apply is always retried.
 *
 * @param retries how often the request was repeated after a failure already
 * @param random 0 ≤ random < 1
 * @param rateLimitCount how often the service asked this request to wait already
 */
export function retryDelay(
	error: ServiceError,
	retryMode: RetryMode,
	retries: number,
	random: number,
	rateLimitCount = 0,
): number | undefined {
	if (isWaitRequest(error)) {
		// One that asks for no time again and again is not taken at its word.
		const least =
			rateLimitCount < TRUSTED_RATE_LIMITS ? 0 : backoff(rateLimitCount - TRUSTED_RATE_LIMITS);
		const asked = Math.max(least, error.retryAfterMs ?? RATE_LIMIT_WAIT_MS);
		// A little later than asked, and never at the same moment as other clients.
		return asked + Math.round(random * Math.min(1000, 100 + asked * 0.05));
	}
	if (error.delivery === 'rejected' || error.delivery === 'canceled') return undefined;
	if (error.delivery === 'ambiguous' && retryMode === 'notIdempotent') return undefined;
	if (retries >= MAX_RETRIES) return undefined;
	return Math.round(backoff(retries) * (0.5 + random / 2));
}

/**
 * Reads a `Retry-After` header: seconds, or an HTTP date.
 *
 * @param now the service's own time, from its `Date` header, else this computer's
 * @returns milliseconds, at least 0; undefined where the header says nothing usable
 */
export function parseRetryAfter(header: unknown, now: number): number | undefined {
	if (typeof header !== 'string' && typeof header !== 'number') return undefined;
	const text = String(header).trim();
	if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
	const date = Date.parse(text);
	return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
