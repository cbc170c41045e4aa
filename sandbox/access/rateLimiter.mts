import { ApiError } from '../api/errors.mts';
import type { Settings } from '../state/settings.mts';

const dayMs = 86_400_000;

/** Counts requests for each token and window, and all requests of a day in UTC. */
export class RateLimiter {
	readonly #windows = new Map<string, { start: number; count: number }>();
	#day = { number: 0, count: 0 };

	/** Counts one request. Throws an ApiError (429) when the token, or the day, is over its limit. */
	count(tokenId: string, settings: Settings): void {
		this.#countDay(settings);
		const { rateLimitPerMinute: limit, rateLimitWindowMs: length } = settings;
		if (limit === null) return;
		const now = Date.now();
		let window = this.#windows.get(tokenId);
		if (!window || now >= window.start + length) {
			window = { start: now, count: 0 };
			this.#windows.set(tokenId, window);
		}
		window.count += 1;
		if (window.count > limit) throw tooManyRequests(window.start + length - now, settings);
	}

	clear(): void {
		this.#windows.clear();
		this.startDay();
	}

	/** Forgets the requests of the day. */
	startDay(): void {
		this.#day = { number: 0, count: 0 };
	}

	#countDay({ dailyQuota, quotaRetryAfter }: Settings): void {
		if (dailyQuota === null) return;
		const now = Date.now();
		const number = Math.floor(now / dayMs);
		if (number !== this.#day.number) this.#day = { number, count: 0 };
		this.#day.count += 1;
		if (this.#day.count > dailyQuota) throw quotaUsedUp(now, quotaRetryAfter);
	}
}

/** Only with a date in the header does the message say which limit it is. */
function quotaUsedUp(now: number, retryAfter: Settings['quotaRetryAfter']): ApiError {
	const nextDay = (Math.floor(now / dayMs) + 1) * dayMs;
	const header = {
		none: undefined,
		short: '60',
		long: String(Math.ceil((nextDay - now) / 1000)),
		date: new Date(nextDay).toUTCString(),
	}[retryAfter];
	const message = retryAfter === 'date' ? "The day's API calls are used up." : 'Too many requests.';
	return tooMany(message, header);
}

function tooManyRequests(waitMs: number, settings: Settings): ApiError {
	// The header has whole seconds. If they were rounded down, the client would retry too early.
	const seconds = Math.ceil(waitMs / 1000);
	const header = {
		none: undefined,
		seconds: String(seconds),
		date: new Date(Date.now() + (seconds + 1) * 1000).toUTCString(),
	}[settings.retryAfter];
	return tooMany(`Too many requests: ${settings.rateLimitPerMinute} a minute are allowed.`, header);
}

function tooMany(message: string, retryAfter: string | undefined): ApiError {
	return new ApiError(
		429,
		[{ type: 'exception', id: 'tooManyRequestsException', message }],
		retryAfter === undefined ? {} : { 'retry-after': retryAfter },
	);
}
