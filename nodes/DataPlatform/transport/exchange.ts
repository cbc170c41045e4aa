/**
 * One attempt of a request: what is sent, and what its response means.
 */
import type {
	IDataObject,
	IHttpRequestMethods,
	IHttpRequestOptions,
	IN8nHttpFullResponse,
	Logger,
} from 'n8n-workflow';

import { isFromPlatform, ServiceError } from './errors';
import {
	parseResponse,
	timeoutError,
	toServiceError,
	type BodyRequirement,
	type ParsedResponse,
} from './response';
import type { RetryMode } from './retryPolicy';
import { readText, withStallTimeout, type BodyStream, type ByteStream } from './streams';
import { tokenHint, withoutFileTokens, type TokenPurpose } from './tokens';
import { encodeUrlComponent } from './urlEncoding';

/** What an API client needs from n8n. */
export interface HttpTransport {
	/** Sends, with the credential's token or without. Throws n8n's error if no response arrived. */
	send(options: IHttpRequestOptions, withToken: boolean): Promise<IN8nHttpFullResponse>;
	logger: Logger;
	canceled?: AbortSignal;
}

export interface ExchangeSettings {
	/** The type of the token, as chosen in the credential. */
	tokenType: string;
	/** Redacts the token in a response's text. */
	redactToken: (text: string) => string;
	/** How long one request may take. */
	timeoutMs: number;
}

export interface ApiRequest {
	method: IHttpRequestMethods;
	/** The path below the base URL's origin. */
	path?: string;
	/** Another URL instead: a webhook (with the token), or a file on another host (without it). */
	to?: { url: string; withToken: boolean };
	query?: Record<string, string | number | boolean | undefined>;
	/** A value to send as JSON, or JSON text. */
	body?: IDataObject | string;
	/** Makes a JSON body that is too large for memory. Called again for each attempt. */
	stream?: () => Promise<BodyStream>;
	/** Takes a success as a stream of bytes instead of JSON. If it fails, the request fails. */
	receive?: (bytes: ByteStream, headers: IDataObject) => Promise<void>;
	/** How many bytes `receive` must get; if not set, as many as the response announces, or any but none. */
	expectedBytes?: number;
	/** What to do after an ambiguous failure. */
	retryMode: RetryMode;
	/** What a success must contain; without it the response is invalid. JSON by default. */
	bodyRequirement?: BodyRequirement;
	/** What the token is needed for, if not to read and write data. */
	purpose?: TokenPurpose;
	/** Leaves the tokens in addresses of files, to fetch those on another host. */
	keepsFileTokens?: boolean;
	/** Called after each failed attempt that is followed by another one. */
	onRetry?: (failure: ServiceError) => void;
}

/** @param origin the base URL's */
export async function exchange(
	request: ApiRequest,
	origin: string,
	transport: HttpTransport,
	settings: ExchangeSettings,
): Promise<ParsedResponse | ServiceError> {
	const { receive } = request;
	const withToken = request.to?.withToken !== false;
	const stream = request.stream && (await request.stream());
	const options = requestOptions(request, origin, settings, stream);
	const ending = new AbortController();
	const hangUp = () => ending.abort();
	// n8n's timeout restarts with each byte. A file may take longer.
	const deadline = AbortSignal.timeout(deadlineMs(settings.timeoutMs, stream));
	const signals = [transport.canceled, ending.signal, receive ? undefined : deadline];
	attachAbortSignal(options, AbortSignal.any(signals.filter((signal) => signal !== undefined)));
	// A read that is too long is not retried: the next response would be as long.
	const ifTooLong = request.retryMode === 'read' ? 'rejected' : 'ambiguous';
	const send = async () => {
		const found = await transport.send(options, withToken);
		if (receive && isSuccess(found)) return found;
		const reading = readText(bodyOf(found), hangUp, deadline, ifTooLong);
		const text = await reading.catch((error: unknown) => {
			// The rest would keep the connection open.
			hangUp();
			// The status of a failed download says enough.
			if (receive) return '';
			throw error;
		});
		return { ...found, body: text };
	};
	const response = await send().catch((error: unknown) =>
		deadline.aborted && !receive ? timeoutError() : toServiceError(error),
	);
	const isWhole = stream?.isFullySent() ?? true;
	stream?.close();
	const isCanceled = () => transport.canceled?.aborted ?? false;
	if (response instanceof ServiceError) {
		// If the service did not get the last byte, it can't have applied the request.
		const failure = isWhole ? response : asNotApplied(response);
		return isCanceled() ? canceledInFlight(failure) : failure;
	}
	const expect = receive ? 'anything' : (request.bodyRequirement ?? 'json');
	const { redactToken } = settings;
	const redactText = (text: string) =>
		request.keepsFileTokens ? redactToken(text) : withoutFileTokens(redactToken(text));
	const result =
		receive && isSuccess(response)
			? await receiveBytes(response, request, settings, hangUp)
			: parseResponse(redact(response, redactText), expect, request.path);
	if (!(result instanceof ServiceError)) return unconfirmed(request, result.status) ?? result;
	// A download changes nothing, even if the network reports it as ambiguous.
	if (receive && isCanceled()) return canceled();
	const isAboutToken = result.status !== 403 || expect === 'anything' || isFromPlatform(result);
	const hint =
		withToken &&
		isAboutToken &&
		tokenHint(result.status, settings.tokenType, request.purpose ?? 'data');
	return hint ? new ServiceError(result.message, { ...result, hint }) : result;
}

/** The statuses that confirm a write: contract/openapi.yaml documents no other. */
const CONFIRMING = { json: [200, 201], nothing: [204] };

/** The failure of a write whose status confirms nothing, such as 202: it may be applied later. */
function unconfirmed({ retryMode, bodyRequirement = 'json' }: ApiRequest, status: number) {
	if (retryMode === 'read' || bodyRequirement === 'anything') return undefined;
	if (CONFIRMING[bodyRequirement].includes(status)) return undefined;
	return new ServiceError(`The platform responded with ${status}, which confirms nothing`, {
		delivery: 'ambiguous',
		stillPending: true,
		status,
	});
}

function requestOptions(
	{ method, path = '', query, to, receive, body }: ApiRequest,
	origin: string,
	{ timeoutMs }: ExchangeSettings,
	stream?: BodyStream,
): IHttpRequestOptions {
	const text = typeof body === 'object' ? JSON.stringify(body) : body;
	// As bytes: n8n's HTTP library would parse text to see whether it is JSON.
	const bytes = text === undefined ? undefined : Buffer.from(text);
	return {
		method,
		url: to?.url ?? `${origin}${path}${queryString(query)}`,
		headers: {
			...((stream ?? bytes) && { 'Content-Type': 'application/json' }),
			...(stream && { 'Content-Length': stream.bytes }),
			Accept: receive ? '*/*' : 'application/json',
		},
		body: stream ? (stream.body as unknown as IDataObject) : bytes,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		timeout: Math.min(MAX_TIMER_MS, timeoutMs),
		// n8n's HTTP library would hold a response of any size.
		encoding: 'stream',
	};
}

/** The failure of a request that can't have changed anything. */
export function asNotApplied(failure: ServiceError): ServiceError {
	if (failure.delivery !== 'ambiguous') return failure;
	return new ServiceError(failure.message, { ...failure, delivery: 'notApplied' });
}

/** The slowest acceptable upload, in bytes per millisecond. */
const MIN_UPLOAD_BYTES_PER_MS = 10;

/** The longest time that a timer can hold: about 24 days. A longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** How long a request may take until its response is complete. */
function deadlineMs(timeoutMs: number, stream?: BodyStream): number {
	const uploadMs = stream ? Math.ceil(stream.bytes / MIN_UPLOAD_BYTES_PER_MS) : 0;
	return Math.min(MAX_TIMER_MS, timeoutMs + uploadMs);
}

const bodyOf = ({ body }: IN8nHttpFullResponse) => body as unknown as ByteStream;

const isSuccess = ({ statusCode }: IN8nHttpFullResponse) => statusCode >= 200 && statusCode < 300;

/** The response's length. That of a compressed response is not the number of bytes that arrive. */
function contentLength(headers: IDataObject): number | undefined {
	const length = Number(headers['content-length'] ?? NaN);
	return Number.isInteger(length) && !headers['content-encoding'] ? length : undefined;
}

/**
 * Adds our own abort signal. n8n would replace it with the execution's, and destroying the
 * response's stream does not always close its connection.
 */
function attachAbortSignal(options: IHttpRequestOptions, signal: AbortSignal) {
	const get = () => signal;
	Object.defineProperty(options, 'abortSignal', { enumerable: true, get, set: () => undefined });
}

/** The response, with tokens redacted in every text. */
function redact(
	response: IN8nHttpFullResponse,
	redactText: (text: string) => string,
): IN8nHttpFullResponse {
	const { body, headers } = response;
	const redactedHeaders = redactText(JSON.stringify(headers ?? {}));
	return {
		...response,
		body: typeof body === 'string' ? redactText(body) : body,
		headers: JSON.parse(redactedHeaders) as IDataObject,
	};
}

async function receiveBytes(
	response: IN8nHttpFullResponse,
	{ receive, expectedBytes }: ApiRequest,
	settings: ExchangeSettings,
	hangUp: () => void,
): Promise<ParsedResponse | ServiceError> {
	const { statusCode: status, headers } = redact(response, settings.redactToken);
	const expected = expectedBytes ?? (contentLength(headers) || undefined);
	const bytes = withStallTimeout(bodyOf(response), hangUp, settings.timeoutMs, expected);
	try {
		await receive!(bytes, headers);
		return { status, body: {} };
	} catch (error) {
		hangUp();
		return toServiceError(error);
	}
}

// n8n shows an execution as canceled, not as failed, if the error contains this word.
export const canceled = () =>
	new ServiceError('The execution was canceled', { delivery: 'canceled' });

/** A request that was in flight when the execution was canceled may have been applied. */
function canceledInFlight({ delivery }: ServiceError): ServiceError {
	if (delivery !== 'ambiguous') return canceled();
	return new ServiceError('The execution was canceled before the platform responded', { delivery });
}

function queryString(query: ApiRequest['query'] = {}): string {
	const parts = Object.entries(query)
		.filter(([, value]) => value !== undefined && value !== '')
		.map(([key, value]) => `${encodeUrlComponent(key)}=${encodeUrlComponent(String(value))}`);
	return parts.length ? `?${parts.join('&')}` : '';
}
