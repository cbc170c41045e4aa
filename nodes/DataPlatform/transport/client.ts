/**
 * One request to the service: authentication by the credential, where it may go, what its failure
 * means, and when it is repeated. Everything above this file gets JSON or a `ServiceError`.
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

/** What an API client needs of n8n. */
export interface HttpTransport {
	/** Sends with the credential's token; throws n8n's error where no response arrived. */
	send(options: IHttpRequestOptions): Promise<IN8nHttpFullResponse>;
	/** Sends without it. */
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
	/** How long an execution may wait in all to repeat requests; keeping to the rate limit does not count. */
	retryBudgetMs: number;
	/** What the user can do where that was not long enough, other than to raise it. */
	retryBudgetHint?: string;
}

export interface ApiRequest {
	method: IHttpRequestMethods;
	/** Below the base URL's origin. */
	path?: string;
	/** In its place, another address: a webhook (with the token) or a file elsewhere (without). */
	to?: { url: string; withToken: boolean };
	query?: Record<string, string | number | boolean | undefined>;
	headers?: Record<string, string>;
	/** A value to send as JSON, or JSON text. */
	body?: IDataObject | string;
	/** Makes a body of JSON that is too large for memory; called anew for each try. */
	stream?: () => Promise<BodyStream>;
	/** Takes a success as a stream of bytes, in place of JSON; its failure counts as the request's. */
	receive?: (bytes: ByteStream, headers: IDataObject) => Promise<void>;
	/**
	 * How many bytes `receive` must get, or that there must be some; as many as the response says
	 * where this is not known.
	 */
	expectedBytes?: number | 'some';
	/** Whether it may be repeated after a failure that leaves open whether it was done. */
	retryMode: RetryMode;
	/** What a success must carry; a response without it is invalid. JSON by default. */
	bodyRequirement?: BodyRequirement;
	/** What the token is needed for, where that is not reading and writing data. */
	purpose?: TokenPurpose;
	/** A refusal that, after a try whose result is unknown, means: that try did it. */
	alreadyDoneStatus?: number;
	/**
	 * Makes it safe to repeat a request that is not idempotent: asked once the wait after an attempt
	 * of unknown result is over, whether a look-up proves that nothing of it was done.
	 */
	isUnapplied?: () => Promise<boolean>;
	/** Called after each failed attempt that is followed by another one. */
	onRetry?: (failure: ServiceError) => void;
}

export interface ApiResponse extends ParsedResponse {
	/** Whether an earlier attempt without a response may have been applied too. */
	repeated: boolean;
	/** What became of that try. */
	previousAttempt?: ServiceError;
	/** Whether the service asked an earlier attempt to wait. */
	wasPostponed?: boolean;
	/** How long the last attempt took, in milliseconds. */
	durationMs: number;
}

/** Waits are cut in slices, because older n8n versions can't wake a sleeper on cancellation. */
const WAIT_SLICE_MS = 500;

/** Counters of an execution, for its summary; times in milliseconds. */
export interface RequestStats {
	requests: number;
	retries: number;
	waitedMs: number;
}

/** The service as seen by one execution: one retry budget, one rate limiter. */
export class ApiClient {
	readonly stats: RequestStats = { requests: 0, retries: 0, waitedMs: 0 };
	readonly logger: Logger;
	private readonly rateLimiter: RateLimiter;
	private readonly retryBudget: RetryBudget;
	private readonly slots = new Slots(MAX_PARALLEL);
	/** Until when waits are in `stats` already: requests may wait at the same time. */
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

	/** Lets fewer requests be under way at once. */
	limitParallel(count: number) {
		this.slots.resize(Math.min(count, MAX_PARALLEL));
	}

	/**
	 * Sends a request until it succeeds, is refused, or the budget is used up.
	 *
	 * @throws {ServiceError}
	 */
	async request(request: ApiRequest): Promise<ApiResponse> {
		const result = await this.tryRequest(request);
		if (result instanceof ServiceError) throw result;
		return result;
	}

	/** As `request`, with the failure as a value: for callers that find out what it leaves open. */
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
		const modeAfter = ({ mayStillApply }: ServiceError): RetryMode =>
			request.isUnapplied && !mayStillApply ? 'idempotent' : request.retryMode;
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
			// The try that may still be done counts most.
			if (result.delivery === 'ambiguous' && !ambiguous?.mayStillApply) ambiguous = result;

			const mode = modeAfter(result);
			const delay = retryDelay(result, mode, retries, Math.random(), rateLimitCount);
			// A request that an earlier attempt may have done stays ambiguous whatever came later.
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
				mayStillApply: cause.mayStillApply,
				code: cause.code,
				retryAfterMs: cause.retryAfterMs,
				previousAttempt: cause.previousAttempt,
				wasPostponed: cause.wasPostponed,
				isRetryBudgetSpent: true,
				hint: this.settings.retryBudgetHint ?? { code: 'raiseRetryBudget' },
			},
		);
	}

	/** Waits; says so where the execution was cancelled meanwhile. */
	private async wait(ms: number): Promise<ServiceError | undefined> {
		const start = Date.now();
		const end = start + ms;
		for (let left = ms; left > 0 && !this.isCanceled(); left = end - Date.now()) {
			// Rejects when the execution is cancelled; the loop sees that by itself.
			await sleep(Math.min(left, WAIT_SLICE_MS), this.transport.canceled).catch(() => undefined);
		}
		const waitedUntil = Math.min(end, Date.now());
		this.stats.waitedMs += Math.max(0, waitedUntil - Math.max(start, this.countedUntil));
		this.countedUntil = Math.max(this.countedUntil, waitedUntil);
		return this.cancellation;
	}

	/** Why nothing is sent any more, where the execution was canceled. */
	get cancellation(): ServiceError | undefined {
		return this.isCanceled() ? canceled() : undefined;
	}

	private isCanceled(): boolean {
		return this.transport.canceled?.aborted ?? false;
	}

	/** One attempt, when the rate limiter allows it; why it was not sent, if the execution was canceled. */
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
			// As text: a gateway's HTML must not be mistaken for a response.
			encoding: request.receive ? 'stream' : 'text',
		};
		if (stream) {
			options.headers = { ...JSON_TYPE, ...options.headers, 'Content-Length': stream.bytes };
			options.body = stream.body as unknown as IDataObject;
		} else if (request.body !== undefined) {
			options.headers = { ...JSON_TYPE, ...options.headers };
			// As bytes: n8n's HTTP library would read JSON text to see whether it is JSON.
			options.body = Buffer.from(
				typeof request.body === 'string' ? request.body : JSON.stringify(request.body),
			);
		}
		const abortResponse = new AbortController();
		// n8n's timeout begins anew with each byte that comes; a file may take its time.
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
			// A request of which the service did not get the last byte can't have been done.
			const failure = isWhole ? response : asNotApplied(response);
			return this.isCanceled() ? canceledInFlight(failure) : failure;
		}
		const result = request.receive
			? await receiveBytes(response, request, this.settings, () => abortResponse.abort())
			: parseResponse(redact(response, this.settings), request.bodyRequirement ?? 'json');
		if (!(result instanceof ServiceError)) return result;
		// Bytes that break off change nothing, whatever the network says of it.
		if (request.receive && this.isCanceled()) return canceled();
		if (request.to?.withToken === false) return result;
		const hint = tokenHint(result.status, this.settings.token, request.purpose ?? 'data');
		return hint ? new ServiceError(result.message, { ...result, hint }) : result;
	}
}

/** The failure of what can't have changed anything. */
const asNotApplied = (failure: ServiceError) =>
	failure.delivery === 'ambiguous'
		? new ServiceError(failure.message, { ...failure, delivery: 'notApplied' })
		: failure;

/** The slowest line that a file is sent along, in bytes for each millisecond. */
const MIN_UPLOAD_BYTES_PER_MS = 10;

/** The longest time that a timer can hold: about 24 days. A longer one would end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** How long a request may take until its response is complete. */
function deadlineMs(timeoutMs: number, stream?: BodyStream): number {
	const uploadMs = stream ? Math.ceil(stream.bytes / MIN_UPLOAD_BYTES_PER_MS) : 0;
	return Math.min(MAX_TIMER_MS, timeoutMs + uploadMs);
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** The response's length; that of a compressed one is not what arrives. */
function contentLength(headers: IDataObject): number | undefined {
	const length = Number(headers['content-length'] ?? NaN);
	return Number.isInteger(length) && !headers['content-encoding'] ? length : undefined;
}

/**
 * Ends the request with a signal of our own too. n8n puts the execution's in its place; destroying
 * the response's stream does not always close the connection behind it.
 */
function attachAbortSignal(options: IHttpRequestOptions, own: AbortSignal, canceled?: AbortSignal) {
	const signal = canceled ? AbortSignal.any([canceled, own]) : own;
	const get = () => signal;
	Object.defineProperty(options, 'abortSignal', { enumerable: true, get, set: () => undefined });
}

/** The response, with the token redacted wherever text may hold it. */
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
			// The rest of a long one would keep the connection open.
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

/** A failure that knows of an earlier attempt whose result is open, and of those that were to wait. */
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

// n8n shows an execution as canceled, not as failed, where the error has this word in it.
const canceled = () => new ServiceError('The execution was canceled', { delivery: 'canceled' });

/** What was on its way when the execution was cancelled may have been done. */
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
