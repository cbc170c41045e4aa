import { ApiError } from '../api/errors.mts';
import type { Settings } from '../state/settings.mts';

/** Counts requests for each token and window. */
export class RateLimiter {
	readonly #windows = new Map<string, { start: number; count: number }>();

	/** Counts one request. Throws an ApiError (429) when the token is over its limit. */
	count(tokenId: string, settings: Settings): void {
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
	}
}

function tooManyRequests(waitMs: number, settings: Settings): ApiError {
	// The header has whole seconds. If they were rounded down, the client would retry too early.
	const seconds = Math.ceil(waitMs / 1000);
	const headers: Record<string, string> = {};
	if (settings.retryAfter === 'seconds') headers['retry-after'] = String(seconds);
	if (settings.retryAfter === 'date') {
		headers['retry-after'] = new Date(Date.now() + (seconds + 1) * 1000).toUTCString();
	}
	const message = `Too many requests: ${settings.rateLimitPerMinute} a minute are allowed.`;
	return new ApiError(
		429,
		[{ type: 'exception', id: 'tooManyRequestsException', message }],
		headers,
	);
}
