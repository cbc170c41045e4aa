/**
 * When a call is repeated, and after how long. Pure: no clock, no network.
 */
import type { ServiceError } from './errors';

/** Without `Retry-After` a 429 means: the token's minute is used up (contract.md section 2). */
const RATE_LIMIT_WAIT_MS = 60_000;

/** Backoff: 0.5 s, 1 s, 2 s, … up to 30 s, each shortened at random so that clients spread out. */
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;

/** How often one call is repeated after failures other than 429. */
export const MAX_REPEATS = 5;

/**
 * Whether a call may be repeated when nobody knows whether it was done; what only reads may be, and
 * leaves nothing open when it fails.
 */
export type Repeat = 'reads' | 'whenAmbiguous' | 'onlyWhenUnsent';

/** How often a service may ask to wait before its word is checked against the backoff. */
const PATIENT_ASKS = 3;

const backoff = (repeats: number) => Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** repeats);

const isWaitRequest = (error: ServiceError) =>
	error.status === 429 || (error.status === 503 && error.retryAfterMs !== undefined);

/**
 * The wait before the same call is sent again, in milliseconds; undefined where it must not be.
 * Follows the table in design.md: a refusal is final, an ambiguous failure is repeated only where
 * repeating is harmless, and a call that the service did not work on is always repeated.
 *
 * @param repeats how often the call was repeated after a failure already
 * @param random 0 ≤ random < 1
 * @param asks how often the service asked this call to wait already
 */
export function waitBeforeRepeat(
	error: ServiceError,
	repeat: Repeat,
	repeats: number,
	random: number,
	asks = 0,
): number | undefined {
	if (isWaitRequest(error)) {
		// One that asks for no time again and again is not taken at its word.
		const least = asks < PATIENT_ASKS ? 0 : backoff(asks - PATIENT_ASKS);
		const asked = Math.max(least, error.retryAfterMs ?? RATE_LIMIT_WAIT_MS);
		// A little later than asked, and never at the same moment as other clients.
		return asked + Math.round(random * Math.min(1000, 100 + asked * 0.05));
	}
	if (error.certainty === 'refused' || error.certainty === 'cancelled') return undefined;
	if (error.certainty === 'ambiguous' && repeat === 'onlyWhenUnsent') return undefined;
	if (repeats >= MAX_REPEATS) return undefined;
	return Math.round(backoff(repeats) * (0.5 + random / 2));
}

/**
 * Reads a `Retry-After` header: seconds, or an HTTP date.
 *
 * @param now the service's own time where it told it (`Date` header), else this computer's
 * @returns milliseconds, at least 0; undefined where the header says nothing usable
 */
export function parseRetryAfter(header: unknown, now: number): number | undefined {
	if (typeof header !== 'string' && typeof header !== 'number') return undefined;
	const text = String(header).trim();
	if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
	const date = Date.parse(text);
	return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Keeps to a number of requests in any 60 seconds. */
export class Pace {
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
