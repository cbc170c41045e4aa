/**
 * Sends requests to the service: with the credential's token, only to allowed origins, and with
 * retries. Code above this file gets JSON or a `ServiceError`.
 */
import {
	sleep,
	type IDataObject,
	type IHttpRequestMethods,
	type IHttpRequestOptions,
	type IN8nHttpFullResponse,
	type Logger,
} from 'n8n-workflow';

import { encodeUrlComponent } from './urlEncoding';
import {
	toServiceError,
	parseResponse,
	timeoutError,
	type BodyRequirement,
	type ParsedResponse,
} from './response';
import { isFromPlatform, ServiceError, type TokenPurpose } from './errors';
import { allowedOrigins, baseOrigin } from './allowedOrigins';
import { MAX_PARALLEL, Slots } from './concurrency';
import { tokenHint, type TokenInfo } from './tokens';
import { RateLimiter } from './rateLimiter';
import { RetryBudget } from './retryBudget';
import { isWaitRequest, retryDelay, type RetryMode } from './retryPolicy';
import { readText, withStallTimeout, type BodyStream, type ByteStream } from './streams';

/** What an API client needs from n8n. */
export interface HttpTransport {
	/** Sends with the credential's token. Throws n8n's error if no response arrived. */
	send(options: IHttpRequestOptions): Promise<IN8nHttpFullResponse>;
	/** Sends without the token. */
	sendWithoutToken(options: IHttpRequestOptions): Promise<IN8nHttpFullResponse>;
	logger: Logger;
	canceled?: AbortSignal;
}

export interface ClientSettings {
	baseUrl: string;
	/** 0 for no limit. */
	requestsPerMinute: number;
	/** Other origins that the token may be sent to. */
	webhookOrigins: string;
	ignoreSslIssues: boolean;
	token: TokenInfo;
	/** Redacts the token in a response's text. */
	redactToken: (text: string) => string;
	/** How long one request may take. */
	timeoutMs: number;
	/**
	 * How long an execution may wait in all for retries. Waiting for the rate limit does not count.
	 */
	retryBudgetMs: number;
	/** What the user can do if that was not long enough, besides raising it. */
	retryBudgetHint?: string;
}

export interface ApiRequest {
	method: IHttpRequestMethods;
	/** The path below the base URL's origin. */
	path?: string;
	/** Another URL instead: a webhook (with the token), or a file on another host (without it). */
	to?: { url: string; withToken: boolean };
	query?: Record<string, string | number | boolean | undefined>;
	headers?: Record<string, string>;
	/** A value to send as JSON, or JSON text. */
	body?: IDataObject | string;
	/** Makes a JSON body that is too large for memory. Called again for each attempt. */
	stream?: () => Promise<BodyStream>;
	/** Takes a success as a stream of bytes instead of JSON. If it fails, the request fails. */
	receive?: (bytes: ByteStream, headers: IDataObject) => Promise<void>;
	/**
	 * How many bytes `receive` must get, or that there must be some. If not set, as many as the
	 * response announces.
	 */
	expectedBytes?: number | 'some';
	/** Whether to retry after an ambiguous failure. */
	retryMode: RetryMode;
	/** What a success must contain; without it the response is invalid. JSON by default. */
	bodyRequirement?: BodyRequirement;
	/** What the token is needed for, if not to read and write data. */
	purpose?: TokenPurpose;
	/**
	 * A rejection with this status after an ambiguous attempt proves that that attempt was applied.
	 */
	alreadyDoneStatus?: number;
	/**
	 * Makes it safe to retry a request that is not idempotent. Called when the wait after an
	 * ambiguous attempt is over; returns whether a look-up proves that nothing was applied.
	 */
	isUnapplied?: () => Promise<boolean>;
	/** Called after each failed attempt that is followed by another one. */
	onRetry?: (failure: ServiceError) => void;
}

export interface ApiResponse extends ParsedResponse {
	/** Whether a previous attempt without a response may have been applied, too. */
	repeated: boolean;
	/** The failure of that attempt. */
	previousAttempt?: ServiceError;
	/** Whether the service asked a previous attempt to wait. */
	wasPostponed?: boolean;
	/** How long the last attempt took, in milliseconds. */
	durationMs: number;
}

/** Waits are cut into slices, because older versions of n8n don't end a wait on cancellation. */
const WAIT_SLICE_MS = 500;

/** Counters of an execution, for its summary. Times are in milliseconds. */
export interface RequestStats {
	requests: number;
	retries: number;
	waitedMs: number;
}

/** The service as one execution uses it, with one retry budget and one rate limiter. */
export class ApiClient {
	readonly stats: RequestStats = { requests: 0, retries: 0, waitedMs: 0 };
	readonly logger: Logger;
	private readonly rateLimiter: RateLimiter;
	private readonly retryBudget: RetryBudget;
	private readonly slots = new Slots(MAX_PARALLEL);
	/** The time up to which `stats` already counts waits: requests may wait at the same time. */
	private countedUntil = 0;
	/** The base URL's origin. */
	readonly origin: string;
	/** All origins that the token may be sent to. */
	readonly origins: ReadonlySet<string>;

	constructor(
		private readonly transport: HttpTransport,
		private readonly settings: ClientSettings,
	) {
		this.origin = baseOrigin(settings.baseUrl);
		this.origins = allowedOrigins(settings.baseUrl, settings.webhookOrigins);
		this.rateLimiter = new RateLimiter(settings.requestsPerMinute);
		this.retryBudget = new RetryBudget(settings.retryBudgetMs);
		this.logger = transport.logger;
	}

	/** Lowers the number of parallel requests. */
	limitParallel(count: number) {
		this.slots.resize(Math.min(count, MAX_PARALLEL));
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
		return result instanceof ServiceError && request.retryMode === 'read'
			? asNotApplied(result)
			: result;
	}

	private async sendWithRetries(request: ApiRequest): Promise<ApiResponse | ServiceError> {
		let retries = 0;
		let rateLimitCount = 0;
		let ambiguous: ServiceError | undefined;
		const modeAfter = ({ stillPending }: ServiceError): RetryMode =>
			request.isUnapplied && !stillPending ? 'idempotent' : request.retryMode;
		for (;;) {
			const attempt = await this.slots.run(async () => await this.sendInTurn(request));
			if (attempt instanceof ServiceError) return ambiguous ?? attempt;
			const { result, durationMs } = attempt;
			if (!(result instanceof ServiceError)) {
				const repeated = ambiguous !== undefined;
				const wasPostponed = rateLimitCount > 0;
				return { ...result, repeated, previousAttempt: ambiguous, wasPostponed, durationMs };
			}
			const { status } = result;
			const isDone = status === request.alreadyDoneStatus && isFromPlatform(result);
			if (ambiguous && status !== undefined && isDone) {
				return { status, body: {}, repeated: true, durationMs };
			}
			// The attempt that may still be pending matters most.
			if (result.delivery === 'ambiguous' && !ambiguous?.stillPending) ambiguous = result;

			const mode = modeAfter(result);
			const delay = retryDelay(result, mode, retries, Math.random(), rateLimitCount);
			// If a previous attempt may have been applied, the request stays ambiguous whatever came
			// later.
			const final =
				result.delivery === 'notApplied' && ambiguous
					? ambiguous
					: withEarlierAttempts(result, ambiguous, rateLimitCount > 0);
			if (delay === undefined) return final;
			if (this.settings.retryBudgetMs === 0) return final;
			if (!this.retryBudget.reserve(Date.now(), delay)) return this.retryBudgetExceeded(final);
			request.onRetry?.(result);
			if (isWaitRequest(result)) {
				this.rateLimiter.pauseUntil(Date.now() + delay);
				rateLimitCount += 1;
			} else retries += 1;
			this.stats.retries += 1;
			this.logger.debug(`Data Platform: trying again in ${delay} ms: ${result.message}`);
			await this.wait(delay);
			if (ambiguous && request.isUnapplied) {
				if (this.isCanceled() || !(await request.isUnapplied())) return final;
				ambiguous = undefined;
			}
		}
	}

	private retryBudgetExceeded(cause: ServiceError): ServiceError {
		const budget = Math.round(this.settings.retryBudgetMs / 1000);
		return new ServiceError(
			`${cause.message}; waiting longer would pass the limit of ${budget} s for this execution`,
			{
				delivery: cause.delivery,
				status: cause.status,
				stillPending: cause.stillPending,
				code: cause.code,
				retryAfterMs: cause.retryAfterMs,
				previousAttempt: cause.previousAttempt,
				wasPostponed: cause.wasPostponed,
				isRetryBudgetSpent: true,
				hint: this.settings.retryBudgetHint ?? { code: 'raiseRetryBudget' },
			},
		);
	}

	/** Waits. Returns an error if the execution is canceled in the meantime. */
	private async wait(ms: number): Promise<ServiceError | undefined> {
		const start = Date.now();
		const end = start + ms;
		for (let left = ms; left > 0 && !this.isCanceled(); left = end - Date.now()) {
			// Rejects if the execution is canceled; the loop checks that itself.
			await sleep(Math.min(left, WAIT_SLICE_MS), this.transport.canceled).catch(() => undefined);
		}
		const waitedUntil = Math.min(end, Date.now());
		this.stats.waitedMs += Math.max(0, waitedUntil - Math.max(start, this.countedUntil));
		this.countedUntil = Math.max(this.countedUntil, waitedUntil);
		return this.cancellation;
	}

	/** Why nothing more is sent, if the execution was canceled. */
	get cancellation(): ServiceError | undefined {
		return this.isCanceled() ? canceled() : undefined;
	}

	private isCanceled(): boolean {
		return this.transport.canceled?.aborted ?? false;
	}

	/**
	 * Makes one attempt when the rate limiter allows it. Returns an error if the execution was
	 * canceled.
	 */
	private async sendInTurn(request: ApiRequest) {
		const cancellation = await this.wait(this.rateLimiter.reserve(Date.now()));
		if (cancellation) return cancellation;
		const sentAt = Date.now();
		const result = await this.sendOnce(request);
		return { result, durationMs: Date.now() - sentAt };
	}

	private async sendOnce(request: ApiRequest): Promise<ParsedResponse | ServiceError> {
		this.stats.requests += 1;
		const stream = request.stream && (await request.stream());
		const options: IHttpRequestOptions = {
			method: request.method,
			url: request.to?.url ?? `${this.origin}${request.path ?? ''}${queryString(request.query)}`,
			headers: { ...request.headers, Accept: request.receive ? '*/*' : 'application/json' },
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			skipSslCertificateValidation: this.settings.ignoreSslIssues,
			timeout: Math.min(MAX_TIMER_MS, this.settings.timeoutMs),
			// As text, so that a gateway's HTML is not mistaken for a response.
			encoding: request.receive ? 'stream' : 'text',
		};
		if (stream) {
			options.headers = { ...JSON_TYPE, ...options.headers, 'Content-Length': stream.bytes };
			options.body = stream.body as unknown as IDataObject;
		} else if (request.body !== undefined) {
			options.headers = { ...JSON_TYPE, ...options.headers };
			// As bytes: n8n's HTTP library would parse text to see whether it is JSON.
			options.body = Buffer.from(
				typeof request.body === 'string' ? request.body : JSON.stringify(request.body),
			);
		}
		const abortResponse = new AbortController();
		// n8n's timeout restarts with each byte. A file may take longer.
		const deadline = AbortSignal.timeout(deadlineMs(this.settings.timeoutMs, stream));
		attachAbortSignal(
			options,
			request.receive ? abortResponse.signal : deadline,
			this.transport.canceled,
		);
		const send =
			request.to?.withToken === false ? this.transport.sendWithoutToken : this.transport.send;
		const response = await send(options).catch((error: unknown) =>
			deadline.aborted && !request.receive ? timeoutError() : toServiceError(error),
		);
		const isWhole = stream?.isFullySent() ?? true;
		stream?.close();
		if (response instanceof ServiceError) {
			// If the service did not get the last byte, it can't have applied the request.
			const failure = isWhole ? response : asNotApplied(response);
			return this.isCanceled() ? canceledInFlight(failure) : failure;
		}
		const result = request.receive
			? await receiveBytes(response, request, this.settings, () => abortResponse.abort())
			: parseResponse(redact(response, this.settings), request.bodyRequirement ?? 'json');
		if (!(result instanceof ServiceError)) return result;
		// A download changes nothing, even if the network reports it as ambiguous.
		if (request.receive && this.isCanceled()) return canceled();
		if (request.to?.withToken === false) return result;
		const hint = tokenHint(result.status, this.settings.token, request.purpose ?? 'data');
		return hint ? new ServiceError(result.message, { ...result, hint }) : result;
	}
}

/** The failure of a request that can't have changed anything. */
const asNotApplied = (failure: ServiceError) =>
	failure.delivery === 'ambiguous'
		? new ServiceError(failure.message, { ...failure, delivery: 'notApplied' })
		: failure;

/** The slowest acceptable upload, in bytes per millisecond. */
const MIN_UPLOAD_BYTES_PER_MS = 10;

/** The longest time that a timer can hold: about 24 days. A longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** How long a request may take until its response is complete. */
function deadlineMs(timeoutMs: number, stream?: BodyStream): number {
	const uploadMs = stream ? Math.ceil(stream.bytes / MIN_UPLOAD_BYTES_PER_MS) : 0;
	return Math.min(MAX_TIMER_MS, timeoutMs + uploadMs);
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** The response's length. That of a compressed response is not the number of bytes that arrive. */
function contentLength(headers: IDataObject): number | undefined {
	const length = Number(headers['content-length'] ?? NaN);
	return Number.isInteger(length) && !headers['content-encoding'] ? length : undefined;
}

/**
 * Adds our own abort signal. n8n would replace it with the execution's, and destroying the
 * response's stream does not always close its connection.
 */
function attachAbortSignal(options: IHttpRequestOptions, own: AbortSignal, canceled?: AbortSignal) {
	const signal = canceled ? AbortSignal.any([canceled, own]) : own;
	const get = () => signal;
	Object.defineProperty(options, 'abortSignal', { enumerable: true, get, set: () => undefined });
}

/** The response, with the token redacted in every text. */
function redact(
	response: IN8nHttpFullResponse,
	{ redactToken }: Pick<ClientSettings, 'redactToken'>,
): IN8nHttpFullResponse {
	const { body, headers } = response;
	const redactedHeaders = redactToken(JSON.stringify(headers ?? {}));
	return {
		...response,
		body: typeof body === 'string' ? redactToken(body) : body,
		headers: JSON.parse(redactedHeaders) as IDataObject,
	};
}

async function receiveBytes(
	response: IN8nHttpFullResponse,
	{ receive, expectedBytes }: ApiRequest,
	settings: Pick<ClientSettings, 'timeoutMs' | 'redactToken'>,
	abortResponse: () => void,
): Promise<ParsedResponse | ServiceError> {
	const { statusCode: status, headers } = response;
	const isFile = status >= 200 && status < 300;
	const length = isFile ? contentLength(headers) : undefined;
	const finished = new AbortController();
	const bytes = withStallTimeout(response.body as unknown as ByteStream, {
		bytes: isFile && expectedBytes !== 'some' ? (expectedBytes ?? length) : length,
		mustNotBeEmpty: isFile && expectedBytes === 'some',
		timeoutMs: settings.timeoutMs,
		finished: finished.signal,
		onStall: abortResponse,
	});
	try {
		if (isFile) await receive!(bytes, headers);
		else {
			const asText = { ...response, body: (await readText(bytes)) as never };
			// The rest of a long response would keep the connection open.
			abortResponse();
			return parseResponse(redact(asText, settings), 'anything');
		}
		return { status, body: {} };
	} catch (error) {
		abortResponse();
		return toServiceError(error);
	} finally {
		finished.abort();
	}
}

/**
 * Adds to a failure what is known about previous attempts: an ambiguous one, and those asked to
 * wait.
 */
function withEarlierAttempts(
	error: ServiceError,
	previousAttempt: ServiceError | undefined,
	wasPostponed: boolean,
): ServiceError {
	const isLater = previousAttempt !== undefined && error !== previousAttempt;
	if (!isLater && !wasPostponed) return error;
	return new ServiceError(error.message, {
		...error,
		...(isLater && { previousAttempt }),
		wasPostponed,
	});
}

// n8n shows an execution as canceled, not as failed, if the error contains this word.
const canceled = () => new ServiceError('The execution was canceled', { delivery: 'canceled' });

/** A request that was in flight when the execution was canceled may have been applied. */
const canceledInFlight = ({ delivery }: ServiceError) =>
	delivery === 'ambiguous'
		? new ServiceError('The execution was canceled before the platform responded', {
				delivery,
			})
		: canceled();

function queryString(query: ApiRequest['query'] = {}): string {
	const parts = Object.entries(query)
		.filter(([, value]) => value !== undefined && value !== '')
		.map(([key, value]) => `${encodeUrlComponent(key)}=${encodeUrlComponent(String(value))}`);
	return parts.length ? `?${parts.join('&')}` : '';
}
