/**
 * One call to the service: authentication by the credential, where it may go, what its failure
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

import { encoded } from './urlEncoding';
import { asFailure, readAnswer, tooLate, type Expectation, type ReadAnswer } from './response';
import { ServiceError } from './errors';
import { allowedOrigins, baseOrigin } from './allowedOrigins';
import { tokenHint, type TokenFacts, type TokenPurpose } from './tokens';
import { Pace, waitBeforeRepeat, type Repeat } from './retryPolicy';
import { readText, watched, type BodyStream, type ByteStream } from './streams';

/** What a connection needs of n8n. */
export interface Sender {
	/** Sends with the credential's token; throws n8n's error where no answer came. */
	send(options: IHttpRequestOptions): Promise<IN8nHttpFullResponse>;
	/** Sends without it. */
	sendWithoutToken(options: IHttpRequestOptions): Promise<IN8nHttpFullResponse>;
	logger: Logger;
	cancelled?: AbortSignal;
}

export interface ConnectionSettings {
	baseUrl: string;
	/** 0 for no limit. */
	requestsPerMinute: number;
	/** Other origins that the token may be sent to. */
	webhookOrigins: string;
	ignoreSslIssues: boolean;
	token: TokenFacts;
	/** Takes the token out of an answer's text. */
	hideToken: (text: string) => string;
	/** How long one request may take. */
	timeoutMs: number;
	/** How long an execution may wait in all to repeat calls; keeping its pace does not count. */
	maxWaitMs: number;
	/** What the user can do where that was not long enough, other than to raise it. */
	impatienceHint?: string;
}

export interface Call {
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
	/** Takes a success as a stream of bytes, in place of JSON; its failure counts as the call's. */
	receive?: (bytes: ByteStream, headers: IDataObject) => Promise<void>;
	/**
	 * How many bytes `receive` must get, or that there must be some; as many as the answer says
	 * where this is not known.
	 */
	expectedBytes?: number | 'some';
	/** Whether it may be repeated after a failure that leaves open whether it was done. */
	repeat: Repeat;
	/** What a success must carry; an answer without it counts as unreadable. JSON by default. */
	expect?: Expectation;
	/** What the token is needed for, where that is not reading and writing data. */
	purpose?: TokenPurpose;
	/** A refusal that, after a try whose result is unknown, means: that try did it. */
	doneStatus?: number;
}

export interface Answer extends ReadAnswer {
	/** Whether an earlier try, of which no answer came, may have been done too. */
	repeated: boolean;
	/** What became of that try. */
	earlier?: ServiceError;
}

/** Waits are cut in slices, because older n8n versions can't wake a sleeper on cancellation. */
const WAIT_SLICE_MS = 500;

/** Counters of an execution, for its summary; times in milliseconds. */
export interface Effort {
	requests: number;
	retries: number;
	waitedMs: number;
}

/** The service as seen by one execution: one retry budget, one pace. */
export class Connection {
	readonly effort: Effort = { requests: 0, retries: 0, waitedMs: 0 };
	readonly logger: Logger;
	private readonly pace: Pace;
	/** What is left of the time that may be spent waiting to repeat calls. */
	private patienceMs: number;
	/** The base URL's origin. */
	readonly origin: string;
	/** All origins that the token may be sent to. */
	readonly origins: ReadonlySet<string>;

	constructor(
		private readonly sender: Sender,
		private readonly settings: ConnectionSettings,
	) {
		this.origin = baseOrigin(settings.baseUrl);
		this.origins = allowedOrigins(settings.baseUrl, settings.webhookOrigins);
		this.pace = new Pace(settings.requestsPerMinute);
		this.patienceMs = settings.maxWaitMs;
		this.logger = sender.logger;
	}

	/**
	 * Sends a call until it succeeds, is refused, or the budget is used up.
	 *
	 * @throws {ServiceError}
	 */
	async request(call: Call): Promise<Answer> {
		const result = await this.attempt(call);
		if (result instanceof ServiceError) throw result;
		return result;
	}

	/** As `request`, with the failure as a value: for callers that settle what it leaves open. */
	async attempt(call: Call): Promise<Answer | ServiceError> {
		const result = await this.tryUntilSettled(call);
		return result instanceof ServiceError && call.repeat === 'reads'
			? withoutDoubt(result)
			: result;
	}

	private async tryUntilSettled(call: Call): Promise<Answer | ServiceError> {
		let repeats = 0;
		let asks = 0;
		let ambiguous: ServiceError | undefined;
		for (;;) {
			const held = await this.wait(this.pace.reserve(Date.now()));
			if (held) return ambiguous ?? held;
			const result = await this.once(call);
			if (!(result instanceof ServiceError))
				return { ...result, repeated: ambiguous !== undefined, earlier: ambiguous };
			if (ambiguous && result.status !== undefined && result.status === call.doneStatus) {
				return { status: result.status, body: {}, repeated: true };
			}
			// The try that may still be done counts most.
			if (result.certainty === 'ambiguous' && !ambiguous?.mayStillCome) ambiguous = result;

			const delay = waitBeforeRepeat(result, call.repeat, repeats, Math.random(), asks);
			// A call of which an earlier try may have been done stays ambiguous whatever came later.
			const final =
				result.certainty === 'unsent' && ambiguous ? ambiguous : after(ambiguous, result);
			if (delay === undefined) return final;
			if (this.patienceMs < delay) return this.outOfPatience(final);
			this.patienceMs -= delay;
			if (result.retryAfterMs === undefined && result.status !== 429) repeats += 1;
			else asks += 1;
			this.effort.retries += 1;
			this.logger.debug(`Data Platform: trying again in ${delay} ms: ${result.message}`);
			const stopped = await this.wait(delay);
			if (stopped) return ambiguous ?? stopped;
		}
	}

	private outOfPatience(cause: ServiceError): ServiceError {
		const budget = Math.round(this.settings.maxWaitMs / 1000);
		return new ServiceError(
			`${cause.message}; waiting longer would pass the limit of ${budget} s for this execution`,
			{
				certainty: cause.certainty,
				status: cause.status,
				mayStillCome: cause.mayStillCome,
				code: cause.code,
				retryAfterMs: cause.retryAfterMs,
				hint:
					this.settings.impatienceHint ??
					"Raise 'Longest Wait' in the options, or send fewer records in one execution.",
			},
		);
	}

	/** Waits; says so where the execution was cancelled meanwhile. */
	private async wait(ms: number): Promise<ServiceError | undefined> {
		const end = Date.now() + ms;
		for (let left = ms; left > 0 && !this.isCancelled(); left = end - Date.now()) {
			// Rejects when the execution is cancelled; the loop sees that by itself.
			await sleep(Math.min(left, WAIT_SLICE_MS), this.sender.cancelled).catch(() => undefined);
		}
		this.effort.waitedMs += Math.max(0, ms - Math.max(0, end - Date.now()));
		return this.isCancelled() ? cancelled() : undefined;
	}

	private isCancelled(): boolean {
		return this.sender.cancelled?.aborted ?? false;
	}

	private async once(call: Call): Promise<ReadAnswer | ServiceError> {
		this.effort.requests += 1;
		const stream = call.stream && (await call.stream());
		const options: IHttpRequestOptions = {
			method: call.method,
			url: call.to?.url ?? `${this.origin}${call.path ?? ''}${queryString(call.query)}`,
			headers: { ...call.headers, Accept: call.receive ? '*/*' : 'application/json' },
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			skipSslCertificateValidation: this.settings.ignoreSslIssues,
			timeout: this.settings.timeoutMs,
			// As text: a gateway's HTML must not be mistaken for an answer.
			encoding: call.receive ? 'stream' : 'text',
		};
		if (stream) {
			options.headers = { ...JSON_TYPE, ...options.headers, 'Content-Length': stream.bytes };
			options.body = stream.body as unknown as IDataObject;
		} else if (call.body !== undefined) {
			options.headers = { ...JSON_TYPE, ...options.headers };
			// As bytes: n8n's HTTP library would read JSON text to see whether it is JSON.
			options.body = Buffer.from(
				typeof call.body === 'string' ? call.body : JSON.stringify(call.body),
			);
		}
		const hangUp = new AbortController();
		// n8n's timeout begins anew with each byte that comes; a file may take its time.
		const deadline = AbortSignal.timeout(this.settings.timeoutMs + sendingMs(stream));
		endWith(options, call.receive ? hangUp.signal : deadline, this.sender.cancelled);
		const send = call.to?.withToken === false ? this.sender.sendWithoutToken : this.sender.send;
		const response = await send(options).catch((error: unknown) =>
			deadline.aborted && !call.receive ? tooLate() : asFailure(error),
		);
		const isWhole = stream?.isWhole() ?? true;
		stream?.close();
		if (response instanceof ServiceError) {
			// A request of which the service did not get the last byte can't have been done.
			const failure = isWhole ? response : withoutDoubt(response);
			return this.isCancelled() ? cancelledUnderWay(failure) : failure;
		}
		const result = call.receive
			? await receiveBytes(response, call, this.settings, () => hangUp.abort())
			: readAnswer(withoutToken(response, this.settings), call.expect ?? 'json');
		if (!(result instanceof ServiceError) || call.to?.withToken === false) return result;
		const hint = tokenHint(result.status, this.settings.token, call.purpose ?? 'data');
		return hint ? new ServiceError(result.message, { ...result, hint }) : result;
	}
}

/** The failure of what can't have changed anything. */
const withoutDoubt = (failure: ServiceError) =>
	failure.certainty === 'ambiguous'
		? new ServiceError(failure.message, { ...failure, certainty: 'unsent' })
		: failure;

/** The slowest line that a file is sent along, in bytes for each millisecond. */
const SLOWEST = 10;

const sendingMs = (stream?: BodyStream) => (stream ? Math.ceil(stream.bytes / SLOWEST) : 0);

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** The length that an answer tells; a packed one tells another than what arrives. */
function lengthOf(headers: IDataObject): number | undefined {
	const length = Number(headers['content-length'] ?? NaN);
	return Number.isInteger(length) && !headers['content-encoding'] ? length : undefined;
}

/**
 * Ends the call with a signal of our own too. n8n puts the execution's in its place; destroying
 * the answer's stream does not always close the connection behind it.
 */
function endWith(options: IHttpRequestOptions, own: AbortSignal, cancelled?: AbortSignal) {
	const signal = cancelled ? AbortSignal.any([cancelled, own]) : own;
	const get = () => signal;
	Object.defineProperty(options, 'abortSignal', { enumerable: true, get, set: () => undefined });
}

/** The answer, with the token hidden wherever text may hold it. */
function withoutToken(
	response: IN8nHttpFullResponse,
	{ hideToken }: Pick<ConnectionSettings, 'hideToken'>,
): IN8nHttpFullResponse {
	const { body, headers } = response;
	const told = hideToken(JSON.stringify(headers ?? {}));
	return {
		...response,
		body: typeof body === 'string' ? hideToken(body) : body,
		headers: JSON.parse(told) as IDataObject,
	};
}

async function receiveBytes(
	response: IN8nHttpFullResponse,
	{ receive, expectedBytes }: Call,
	settings: Pick<ConnectionSettings, 'timeoutMs' | 'hideToken'>,
	hangUp: () => void,
): Promise<ReadAnswer | ServiceError> {
	const { statusCode: status, headers } = response;
	const isFile = status >= 200 && status < 300;
	const length = isFile ? lengthOf(headers) : undefined;
	const finished = new AbortController();
	const bytes = watched(response.body as unknown as ByteStream, {
		bytes: isFile && expectedBytes !== 'some' ? (expectedBytes ?? length) : length,
		isEmptyWrong: isFile && expectedBytes === 'some',
		timeoutMs: settings.timeoutMs,
		finished: finished.signal,
		onSilence: hangUp,
	});
	try {
		if (isFile) await receive!(bytes, headers);
		else {
			const answer = { ...response, body: (await readText(bytes)) as never };
			return readAnswer(withoutToken(answer, settings), 'json');
		}
		return { status, body: {} };
	} catch (error) {
		hangUp();
		return asFailure(error);
	} finally {
		finished.abort();
	}
}

/** A failure that knows of an earlier try whose result is open. */
const after = (earlier: ServiceError | undefined, error: ServiceError) =>
	earlier && error !== earlier ? new ServiceError(error.message, { ...error, earlier }) : error;

// n8n shows an execution as canceled, not as failed, where the error has this word in it.
const cancelled = () => new ServiceError('The execution was canceled', { certainty: 'cancelled' });

/** What was on its way when the execution was cancelled may have been done. */
const cancelledUnderWay = ({ certainty }: ServiceError) =>
	certainty === 'ambiguous'
		? new ServiceError('The execution was canceled before the platform answered', { certainty })
		: cancelled();

function queryString(query: Call['query'] = {}): string {
	const parts = Object.entries(query)
		.filter(([, value]) => value !== undefined && value !== '')
		.map(([key, value]) => `${encoded(key)}=${encoded(String(value))}`);
	return parts.length ? `?${parts.join('&')}` : '';
}
