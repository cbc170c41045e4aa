/**
 * One token, one queue: what this process of n8n knows of a token, for all executions that use it.
 * The platform limits requests for each token, by minute and by day, and says so with 429.
 *
 *     429 ─▶ all wait ─▶ one asks ─▶ as many as were served before the 429 ─▶ one at a time, then two …
 */
import { MAX_PARALLEL } from './concurrency';
import { ServiceError } from './errors';
import { setMostRecent } from './lru';
import type { ParsedResponse } from './response';
import { isWaitRequest, RATE_LIMIT_WAIT_MS } from './retryPolicy';

const MINUTE_MS = 60_000;

/** No limit per minute asks for a longer wait. */
export const LONGEST_MINUTE_MS = 2 * RATE_LIMIT_WAIT_MS;

/** A 429 this long after the end of a wait no longer belongs to it. */
const SAME_LIMIT_MS = 5000;

/** So long after the first 429, asking to wait for a minute is no limit per minute any more. */
const LONG_SILENCE_MS = 5 * MINUTE_MS;

const NAMES_DAY = /\b(?:daily|today|day['’]s|(?:per|a|each|this) day)\b/i;
const NAMES_MINUTE = /\b(?:minute|second)s?\b/i;

/** A request that takes longer holds no other one up. */
const SLOW_MS = 5000;

/** How long to wait for other requests to end, before looking again. */
const LOOK_AGAIN_MS = 50;

/** Why a request may not be sent yet. */
interface Wait {
	ms: number;
	/** Set if the platform asked to wait. */
	asked?: ServiceError;
}

export class TokenQueue {
	/** When requests of the last minute were sent. */
	private sent: number[] = [];
	private pausedUntil = -Infinity;
	private asked?: ServiceError;
	/** How many requests were served between the last two waits, and since the last one. */
	private capacity = 0;
	private served = 0;
	/** When the requests under way were sent. */
	private underWay = new Map<object, number>();
	/** When the first of the 429s came that nothing was served after. */
	private limitedSince = Infinity;
	/** The last 429 that showed that the day's requests are used up: no wait brings them back. */
	usedUp?: ServiceError;

	get pausedMs(): number {
		return Math.max(0, this.pausedUntil - performance.now());
	}

	/**
	 * Takes the next turn, or says how long to wait.
	 *
	 * @param perMinute 0 for no limit
	 * @param ignoresPause asks though the platform asked to wait
	 */
	turn(turn: object, perMinute: number, ignoresPause: boolean): Wait | undefined {
		const now = performance.now();
		const { pausedMs } = this;
		if (!ignoresPause && pausedMs > 0) return { ms: pausedMs, asked: this.asked };
		if (!ignoresPause && this.isFull(now)) return { ms: LOOK_AGAIN_MS };
		while (this.sent[0]! <= now - MINUTE_MS) this.sent.shift();
		const oldest = this.sent[this.sent.length - perMinute];
		if (perMinute > 0 && oldest !== undefined) return { ms: oldest + MINUTE_MS - now };
		this.sent.push(now);
		this.underWay.set(turn, now);
		return undefined;
	}

	private isFull(now: number): boolean {
		let count = 0;
		for (const sentAt of this.underWay.values()) {
			// What was sent before a pause says nothing about the time after it.
			if (now - sentAt < SLOW_MS && sentAt >= this.pausedUntil) count += 1;
		}
		return count >= this.allowed(now);
	}

	/** How many requests may be under way: few, once the platform has asked to wait. */
	private allowed(now: number): number {
		if (now - this.pausedUntil > MINUTE_MS) return MAX_PARALLEL;
		if (this.served === 0) return 1;
		const left = this.capacity - this.served;
		return left > 0 ? left : 1 - left;
	}

	/**
	 * Notes that a request has ended, or that none waits for it.
	 *
	 * @param budgetMs how long its execution may wait
	 */
	end(turn: object, result?: ParsedResponse | ServiceError, budgetMs = 0) {
		const isOfPause = this.underWay.get(turn)! < this.pausedUntil;
		this.underWay.delete(turn);
		if (result instanceof ServiceError && isWaitRequest(result)) {
			if (result.status === 429) this.limited(result, budgetMs);
			if (!this.usedUp) this.pause(result, result.retryAfterMs ?? RATE_LIMIT_WAIT_MS);
		} else if (result && !(result instanceof ServiceError && result.delivery !== 'rejected')) {
			if (!isOfPause) this.served += 1;
			this.limitedSince = Infinity;
			this.usedUp = undefined;
		}
	}

	/** All requests wait, because the platform asked one to. */
	pause(asked: ServiceError, ms: number) {
		const now = performance.now();
		if (now >= this.pausedUntil) {
			if (this.served > 0) this.capacity = Math.min(this.served, this.sent.length);
			this.served = 0;
		}
		this.pausedUntil = Math.max(this.pausedUntil, now + Math.min(ms, LONGEST_MINUTE_MS));
		this.asked = asked;
	}

	/** True if no request of the token was served for so long, from the first 429 on. */
	isSilent(ms = RATE_LIMIT_WAIT_MS): boolean {
		return performance.now() - this.limitedSince >= ms;
	}

	private limited(failure: ServiceError, budgetMs: number) {
		const { message, retryAfterMs } = failure;
		const now = performance.now();
		const isAlone = now - Math.max(this.pausedUntil, this.limitedSince) > SAME_LIMIT_MS;
		if (this.limitedSince === Infinity || isAlone) this.limitedSince = now;
		const isDay = () => {
			if (NAMES_DAY.test(message) && !NAMES_MINUTE.test(message)) return true;
			if (retryAfterMs === undefined) return this.usedUp !== undefined || this.isSilent();
			if (retryAfterMs > LONGEST_MINUTE_MS) return retryAfterMs > budgetMs;
			return this.usedUp !== undefined || this.isSilent(LONG_SILENCE_MS);
		};
		if (isDay()) this.usedUp = failure;
	}
}

/** How many tokens to remember. */
const MAX_TOKENS = 100;

/** By account, as long as the process runs. */
export const tokenQueues = new Map<string, TokenQueue>();

export const queueOf = (account: string): TokenQueue =>
	setMostRecent(tokenQueues, account, tokenQueues.get(account) ?? new TokenQueue(), MAX_TOKENS);
