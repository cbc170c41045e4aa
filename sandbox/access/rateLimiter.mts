import { Problem } from '../api/errors.mts';
import type { Settings } from '../state/settings.mts';

/** Counts requests for each token and window; contract.md, section 2. */
export class RateLimiter {
	readonly #windows = new Map<string, { start: number; count: number }>();

	/** Counts one request. Throws a Problem (429) when the token has had its share. */
	take(tokenId: string, settings: Settings): void {
		const { rateLimitPerMinute: limit, rateLimitWindowMs: length } = settings;
		if (limit === null) return;
		const now = Date.now();
		let window = this.#windows.get(tokenId);
		if (!window || now >= window.start + length) {
			window = { start: now, count: 0 };
			this.#windows.set(tokenId, window);
		}
		window.count += 1;
		if (window.count > limit) throw tooMany(window.start + length - now, settings);
	}

	clear(): void {
		this.#windows.clear();
	}
}

function tooMany(waitMs: number, settings: Settings): Problem {
	// Whole seconds are all that the header can say: round up, or the client is back too early.
	const seconds = Math.ceil(waitMs / 1000);
	const headers: Record<string, string> = {};
	if (settings.retryAfter === 'seconds') headers['retry-after'] = String(seconds);
	if (settings.retryAfter === 'date') {
		headers['retry-after'] = new Date(Date.now() + (seconds + 1) * 1000).toUTCString();
	}
	const message = `Too many requests: ${settings.rateLimitPerMinute} a minute are allowed.`;
	return new Problem(
		429,
		[{ type: 'exception', id: 'tooManyRequestsException', message }],
		headers,
	);
}
