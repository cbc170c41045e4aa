/**
 * Sends requests to the service: with the credential's token, only to allowed origins, and with
 * retries. Code above this file gets JSON or a `ServiceError`.
 */
import { sleep, type Logger } from 'n8n-workflow';

import { allowedOrigins, baseOrigin } from './allowedOrigins';
import { MAX_PARALLEL, Slots } from './concurrency';
import { ServiceError } from './errors';
import {
	asNotApplied,
	canceled,
	exchange,
	type ApiRequest,
	type ExchangeSettings,
	type HttpTransport,
} from './exchange';
import type { ParsedResponse } from './response';
import { isWaitRequest, RetryBudget, retryDelay } from './retryPolicy';
import { LONGEST_MINUTE_MS, queueOf, type TokenQueue } from './tokenQueue';
import { LABELS } from '../labels';
import { shortened } from './messageText';

export interface ClientSettings extends ExchangeSettings {
	baseUrl: string;
	/** Identifies the service and the token, without revealing the token. */
	account: string;
	/** 0 for no limit. */
	requestsPerMinute: number;
	/** Other origins that the token may be sent to. */
	webhookOrigins: string;
	/**
	 * How long an execution may wait in all for retries. Waiting for the rate limit does not count.
	 */
	retryBudgetMs: number;
	/** What the user can do if that was not long enough, besides raising it. */
	retryBudgetHint?: string;
	/** Keeps writes out of the platform's audit log. */
	skipAudit?: boolean;
}

export interface ApiResponse extends ParsedResponse {
	/** A previous attempt without a response, which may have been applied, too. */
	previousAttempt?: ServiceError;
}

/** Waits are cut into slices, because older versions of n8n don't end a wait on cancellation. */
const WAIT_SLICE_MS = 500;

/** A wait that n8n's log tells. Shorter ones hardly show. */
const LONG_WAIT_MS = 5000;

/** A wait that the user learns of after the run. */
const NOTICEABLE_WAIT_MS = 1000;

/** How many reasons for waits to keep. */
const MAX_REASONS = 3;

const SENT_AGAIN =
	"The response to a request was lost, so it was sent again, which does no harm. A record with the outcome 'written' has the values, but nobody knows whether this run wrote them.";

/** Counters of an execution, for its summary. Times are in milliseconds. */
export interface RequestStats {
	requests: number;
	retries: number;
	waitedMs: number;
}

/** The service as one execution uses it, with one retry budget, in the queue of its token. */
export class ApiClient {
	readonly stats: RequestStats = { requests: 0, retries: 0, waitedMs: 0 };
	readonly logger: Logger;
	/** The platform's time at its last response, in ms since 1970, if it said so. */
	servedAt?: number;
	private readonly queue: TokenQueue;
	private readonly retryBudget: RetryBudget;
	private readonly slots = new Slots(MAX_PARALLEL);
	private readonly memory = new Map<string, unknown>();
	/** The end of the waits so far: requests may wait at the same time. */
	private waitingUntil = 0;
	/** Why requests waited noticeably. */
	readonly waitReasons = new Set<string>();
	/** What the user learns after the run, besides waits. */
	readonly notices = new Set<string>();
	/** Identifies the service and the token. */
	readonly account: string;
	/** The base URL's origin. */
	readonly origin: string;
	/** All origins that the token may be sent to. */
	readonly origins: ReadonlySet<string>;
	/** Whether the bodies of writes ask the platform to leave them out of its audit log. */
	readonly skipAudit: boolean;

	constructor(
		private readonly transport: HttpTransport,
		private readonly settings: ClientSettings,
	) {
		this.account = settings.account;
		this.skipAudit = settings.skipAudit ?? false;
		this.origin = baseOrigin(settings.baseUrl);
		this.origins = allowedOrigins(settings.baseUrl, settings.webhookOrigins);
		this.queue = queueOf(settings.account);
		this.retryBudget = new RetryBudget(settings.retryBudgetMs);
		this.logger = transport.logger;
	}

	/** How long the platform asked all executions to wait. */
	get pausedMs(): number {
		return this.queue.pausedMs;
	}

	/** Lowers the number of parallel requests. */
	limitParallel(count: number) {
		this.slots.count = Math.min(count, MAX_PARALLEL);
	}

	/** What the execution keeps under a name. @param make makes it when it is first asked for */
	remember<T>(name: string, make: () => T): T {
		const value = (this.memory.get(name) as T | undefined) ?? make();
		this.memory.set(name, value);
		return value;
	}

	/**
	 * Sends a request until it succeeds, is rejected, or the retry budget is used up.
	 *
	 * @throws {ServiceError}
	 */
	async request(request: ApiRequest): Promise<ApiResponse> {
		const result = await this.tryRequest(request);
		if (result instanceof ServiceError) throw result;
		return result;
	}

	/** Like `request`, but returns a failure: for callers that resolve ambiguous ones. */
	async tryRequest(request: ApiRequest): Promise<ApiResponse | ServiceError> {
		const result = await this.sendWithRetries(request);
		if (!(result instanceof ServiceError) || request.retryMode !== 'read') return result;
		return asNotApplied(result.rejection ?? result);
	}

	private async sendWithRetries(request: ApiRequest): Promise<ApiResponse | ServiceError> {
		let retries = 0;
		let rateLimitCount = 0;
		let ambiguous: ServiceError | undefined;
		const { usedUp } = this.queue;
		for (;;) {
			const result = await this.slots.run(async () => await this.sendInTurn(request, usedUp));
			if (!(result instanceof ServiceError)) {
				this.servedAt = Date.parse(String(result.headers?.date)) || undefined;
				if (ambiguous && request.retryMode !== 'read') this.notices.add(SENT_AGAIN);
				return { ...result, previousAttempt: ambiguous };
			}
			if (result.delivery === 'canceled') return ambiguous ?? result;
			// The attempt that may still be pending matters most.
			if (result.delivery === 'ambiguous' && !ambiguous?.stillPending) ambiguous = result;

			const delay = retryDelay(
				result,
				request.retryMode,
				{ retries, rateLimitCount },
				Math.random(),
			);
			const final = ambiguous ? withLaterFailure(ambiguous, result) : result;
			const failure = this.finalFailure(final, result, delay);
			if (failure) return failure;
			request.onRetry?.(result);
			if (isWaitRequest(result)) rateLimitCount += 1;
			else retries += 1;
			this.stats.retries += 1;
			this.logger.debug(`Data Platform: trying again in ${delay} ms: ${result.message}`);
			// If the service asked to wait, all requests wait.
			if (isWaitRequest(result) && isOfToken(request)) this.queue.pause(result, delay!);
			await this.wait(delay!, result.message);
		}
	}

	/**
	 * The failure to return if no further attempt is made: it would be in vain, or the retry budget
	 * does not allow the wait.
	 *
	 * @param cause what to say of the request, @param failure of its last attempt
	 */
	private finalFailure(
		cause: ServiceError,
		failure: ServiceError,
		delay: number | undefined,
	): ServiceError | undefined {
		const { queue } = this;
		if (failure.isRetryBudgetSpent) return cause;
		const isLimited = failure.status === 429;
		if (isLimited && queue.usedUp) return this.quotaUsedUp(cause);
		if (delay === undefined || this.settings.retryBudgetMs === 0) return cause;
		if (this.retryBudget.reserve(performance.now(), delay)) return undefined;
		return this.budgetSpent(cause, isLimited);
	}

	private budgetSpent(cause: ServiceError, isLimited: boolean): ServiceError {
		if (isLimited && this.queue.isSilent()) return this.quotaUsedUp(cause);
		const seconds = Math.round(this.settings.retryBudgetMs / 1000);
		return this.noLongerRetried(
			cause,
			`waiting longer would pass the limit of ${seconds} s for this execution`,
			`Raise '${LABELS.maxRetryWait}' in the options, or send fewer records in one execution.`,
		);
	}

	private quotaUsedUp(cause: ServiceError): ServiceError {
		const { retryAfterMs } = cause;
		const when =
			retryAfterMs === undefined || retryAfterMs <= LONGEST_MINUTE_MS
				? 'when the platform counts the next day'
				: `after ${new Date(Date.now() + retryAfterMs).toISOString()}`;
		return this.noLongerRetried(
			cause,
			'the requests of this day seem to be used up',
			`Run it again ${when}, or ask for a plan with more requests. Raising '${LABELS.maxRetryWait}' does not help.`,
			'quotaUsedUp',
		);
	}

	private noLongerRetried(cause: ServiceError, why: string, hint: string, code = cause.code) {
		return new ServiceError(`${cause.message}; ${why}`, {
			...cause,
			body: undefined,
			code,
			isRetryBudgetSpent: true,
			hint: this.settings.retryBudgetHint ?? hint,
		});
	}

	/** Waits, or until the execution is canceled. What several requests wait counts once. */
	private async wait(ms: number, reason: string) {
		const start = performance.now();
		const end = start + ms;
		const added = Math.round(Math.max(0, end - Math.max(start, this.waitingUntil)));
		this.waitingUntil = Math.max(this.waitingUntil, end);
		this.stats.waitedMs += added;
		const why = shortened(reason, 200);
		if (ms >= NOTICEABLE_WAIT_MS && this.waitReasons.size < MAX_REASONS) this.waitReasons.add(why);
		if (added >= LONG_WAIT_MS) {
			this.logger.info(`Data Platform: waiting ${Math.round(ms / 1000)} s: ${why}`);
		}
		for (let left = ms; left > 0 && !this.isCanceled(); left = end - performance.now()) {
			// Rejects if the execution is canceled; the loop checks that itself.
			await sleep(Math.min(left, WAIT_SLICE_MS), this.transport.canceled).catch(() => undefined);
		}
	}

	/** Why nothing more is sent, if the execution was canceled. */
	get cancellation(): ServiceError | undefined {
		return this.isCanceled() ? canceled() : undefined;
	}

	private isCanceled(): boolean {
		return this.transport.canceled?.aborted ?? false;
	}

	/** Makes one attempt when its turn comes. Returns a failure if it does not come in time. */
	private async sendInTurn(request: ApiRequest, usedUpBefore?: ServiceError) {
		const { queue, settings } = this;
		const turn = {};
		const isTokens = isOfToken(request);
		const failure = isTokens ? await this.waitForTurn(turn, usedUpBefore) : this.cancellation;
		if (failure) return failure;
		// A workflow may take minutes to respond, and so may a file. Nothing waits for them.
		if (request.to || request.stream || request.receive) queue.end(turn);
		this.stats.requests += 1;
		let result: ParsedResponse | ServiceError | undefined;
		try {
			result = await exchange(request, this.origin, this.transport, settings);
			return result;
		} finally {
			if (isTokens) queue.end(turn, result, settings.retryBudgetMs);
		}
	}

	/** Waits until the token's queue lets a request through. Returns why none is sent, if so. */
	private async waitForTurn(turn: object, usedUpBefore?: ServiceError) {
		const { requestsPerMinute, retryBudgetMs } = this.settings;
		for (;;) {
			const { usedUp } = this.queue;
			// The one that asked has spoken for all that wait.
			if (usedUp && usedUp !== usedUpBefore) return this.quotaUsedUp(usedUp);
			if (this.isCanceled()) return canceled();
			const wait = this.queue.turn(turn, requestsPerMinute, retryBudgetMs === 0);
			if (!wait) return undefined;
			const { ms, asked } = wait;
			if (asked && !this.retryBudget.reserve(performance.now(), ms)) {
				const failure = new ServiceError(asked.message, { ...asked, retryAfterMs: ms });
				return this.budgetSpent(failure, asked.status === 429);
			}
			await this.wait(ms, asked?.message ?? 'the limit of requests per minute');
		}
	}
}

/** A request to a host that gets no token is none of the token's. */
const isOfToken = ({ to }: ApiRequest) => to?.withToken !== false;

/**
 * An attempt that may have been applied, with what came of a later one. It stays ambiguous, whatever
 * that was: an operation that needs to know more looks it up (api/resolve.ts).
 */
export function withLaterFailure(attempt: ServiceError, later: ServiceError): ServiceError {
	if (later === attempt || later.delivery === 'ambiguous') return attempt;
	const { message, retryAfterMs, status, hint } = later;
	if (later.delivery === 'rejected') {
		const text = `${attempt.message}; a retry was rejected: ${message}`;
		return new ServiceError(text, { ...attempt, status, hint, rejection: later });
	}
	if (!isWaitRequest(later)) return attempt;
	return new ServiceError(`${attempt.message}; a retry failed: ${message}`, {
		...attempt,
		retryAfterMs,
	});
}
