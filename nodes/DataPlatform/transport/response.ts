/**
 * Interprets a response, or the error if no response arrived.
 */
import type { IDataObject, IN8nHttpFullResponse } from 'n8n-workflow';

import { otherErrorText, toErrorEntries, type ErrorEntry } from './errorEntries';
import { ServiceError, type InputError } from './errors';
import { isObject, parseJson } from './json';
import { parseRetryAfter } from './retryPolicy';
import { shortened } from './messageText';
import { LABELS } from '../labels';

export interface ParsedResponse {
	status: number;
	/** The response's JSON object; empty if there was none and none was expected. */
	body: IDataObject;
	/** The original response and its headers; not set if bytes were received. */
	text?: string;
	headers?: IDataObject;
}

/** Nothing was sent: the host name does not exist, or nothing listens there. */
const UNREACHED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

/** Nothing was sent if this happened while connecting. Later, the request may be on its way. */
const UNREACHED_IF_CONNECTING = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']);

interface NetworkError {
	code?: string;
	syscall?: string;
	message?: string;
	cause?: unknown;
	/** The failures of each address, if the host has several. */
	errors?: unknown;
}

/** An error and its causes, outermost first: n8n wraps the network's error. */
function* causes(error: unknown): Generator<NetworkError> {
	const seen = new Set<unknown>();
	for (let at = error; at && typeof at === 'object' && !seen.has(at); ) {
		seen.add(at);
		const one = at as NetworkError;
		yield one;
		at = one.cause ?? (Array.isArray(one.errors) ? (one.errors as unknown[])[0] : undefined);
	}
}

/**
 * A certificate was not accepted, by Node's code. Node's message says why; after a semicolon, it has
 * advice that needs a shell.
 */
const CERTIFICATE_PROBLEM = /CERT|^INVALID_(?:CA|PURPOSE)$|^UNABLE_TO_VERIFY_/;

/** The server asks for a client certificate, or rejects one: it sends an alert. */
const NEEDS_CLIENT_CERTIFICATE = /_ALERT_(?:.*CERTIFICATE|UNKNOWN_CA$)/;

/**
 * The settings are wrong, or both sides found no common version, cipher or name: nothing was sent.
 * After any other TLS error, such as a damaged record, the request may have been applied.
 */
const HANDSHAKE_FAILURE =
	/^ERR_TLS_(?:DH_PARAM_SIZE|INVALID_PROTOCOL_VERSION|PROTOCOL_VERSION_CONFLICT)$|^ERR_SSL_.*(?:WRONG_VERSION_NUMBER|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS_AVAILABLE|NO_CIPHERS_AVAILABLE|DH_KEY_TOO_SMALL|LEGACY_RENEGOTIATION_DISABLED|UNRECOGNIZED_NAME|ALERT_(?:HANDSHAKE_FAILURE|PROTOCOL_VERSION|INSUFFICIENT_SECURITY|NO_APPLICATION_PROTOCOL))$/;

/** Node's code for a TLS error. A failed write (EPROTO) has OpenSSL's reason only in its message. */
function tlsCode({ message = '' }: NetworkError): string | undefined {
	const reason = /:SSL routines:[^:]*:([^:]+)/.exec(message)?.[1];
	return reason && `ERR_SSL_${reason.toUpperCase().replaceAll(' ', '_')}`;
}

const rejected = (message: string, hint?: string) =>
	new ServiceError(message, { delivery: 'rejected', hint });

/** A failed TLS connection; undefined if the request may have been sent. */
function tlsFailure(code: string, message: string): ServiceError | undefined {
	if (NEEDS_CLIENT_CERTIFICATE.test(code)) {
		return rejected(
			`The server asks for a client certificate (${code})`,
			'This node has none to send. Ask whoever runs the platform for an address without it.',
		);
	}
	if (CERTIFICATE_PROBLEM.test(code)) {
		return rejected(
			`The platform's certificate was not accepted: ${shortened(message.split(';')[0]!, 1000)} (${code})`,
			"Nothing was sent. Check the address, and have the certificate fixed. If you know that it is the platform, such as one with a self-signed certificate, turn on 'Ignore SSL Issues' in the credential, under 'More Settings'.",
		);
	}
	if (!HANDSHAKE_FAILURE.test(code)) return undefined;
	return rejected(
		`Could not establish a secure connection (${code}). Nothing was sent`,
		'Check the address and its port: the server may not speak HTTPS, only an outdated version of it, or ask for a client certificate.',
	);
}

/** The errors of n8n's optional SSRF protection. */
const BLOCKED_BY_N8N = new Set(['SsrfBlockedHostnameError', 'SsrfBlockedIpError']);

/** Interprets a failure without a response. */
export function toServiceError(error: unknown): ServiceError {
	const chain = [...causes(error)];
	const parsed = chain.find((cause) => cause instanceof ServiceError);
	if (parsed instanceof ServiceError) return parsed;
	const refused = chain.find((cause) => (cause as Error).name === 'InputError');
	if (refused) return rejected(refused.message!, (refused as InputError).hint);
	if (chain.some((cause) => BLOCKED_BY_N8N.has((cause as Error).name))) {
		return rejected(
			"n8n's SSRF protection blocks the platform's address. Nothing was sent",
			'Whoever runs n8n can allow it: N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES.',
		);
	}
	const cause = chain.find(({ code }) => typeof code === 'string' && !/^\d+$/.test(code));
	const code = chain.map(tlsCode).find(Boolean) ?? cause?.code ?? '';
	const tls = tlsFailure(code, cause?.message ?? '');
	if (tls) return tls;
	const isConnecting = chain.some(({ syscall }) => syscall === 'connect');
	if (UNREACHED.has(code) || (isConnecting && UNREACHED_IF_CONNECTING.has(code))) {
		return new ServiceError(`The platform could not be reached (${code})`, {
			delivery: 'notApplied',
			hint: "Check the 'Base URL' in the credential and that the platform is up.",
		});
	}
	if (code === 'ECONNABORTED' || code === 'ETIMEDOUT') return timeoutError();
	const reason = code || (chain.at(-1)?.message ?? 'no reason given');
	return new ServiceError(
		`The connection broke before the response was complete (${shortened(reason, 1000)})`,
		{ delivery: 'ambiguous', hint: CHECK_PLATFORM },
	);
}

const NOT_THE_PLATFORM =
	"Another server may have responded, such as a proxy. Check the 'Base URL' in the credential and the network.";

const GATEWAY_HINT =
	'It may dislike a text in the request. Ask who runs the network or the platform to allow it, or change the text.';

/** Statuses with the same meaning whoever answers. */
const MEANS_THE_SAME = new Set([401, 408, 413, 429]);

const CHECK_PLATFORM = 'Check the platform and the network, then run it again.';

export const CORRECT_REQUEST = 'Correct what the message names, then run it again.';

/** The failure of a request that timed out. */
export const timeoutError = () =>
	new ServiceError('The platform did not respond in time', {
		delivery: 'ambiguous',
		stillPending: true,
		hint: CHECK_PLATFORM,
	});

/** A gateway timed out; the server behind it may still be working. */
const GATEWAY_TIMEOUT = 504;

/** Nothing more can be stored. */
const STORAGE_FULL = 507;

/** What a 404 may be about, by the end of the path. The first that fits counts. */
const NOT_FOUND_HINTS: Array<[path: RegExp, hint: string]> = [
	[
		/\/data\/(?!(?:bulk|count|filter|summary)(?:\/|$))./,
		"Check the record's ID; the record may have been deleted.",
	],
	[
		/\/files\/[^/]+(?:\/thumbnail)?$/,
		"Check the file's ID; the file may have been removed from its record.",
	],
	[
		/^/,
		'Check the application and the table; they may have been renamed or deleted. Choose them from their lists.',
	],
];

/** What to do after a status, by the path of the request. */
const STATUS_HINTS: Record<number, (path: string) => string> = {
	404: (path) => NOT_FOUND_HINTS.find(([format]) => format.test(path))![1],
	// Only batches have a size that can be set.
	413: (path) =>
		path.endsWith('/bulk')
			? `Lower '${LABELS.batchSize}' or send less in one record.`
			: 'Send less in one request: shorten its filter, its values or its body.',
	429: () =>
		"Set 'Requests per Minute' in the credential, under 'More Settings', to what the platform allows.",
};

const STATUS_MEANING: Record<number, string> = {
	401: 'The platform did not accept the token',
	403: 'The token has no right to do this',
	404: 'The platform found no such record or table',
	408: 'The platform did not receive the request in time',
	413: 'The request is too large for the platform',
	429: 'The platform asked to wait: too many requests',
};

/** Statuses that may also mean the account's plan: the platform's own sentence is all that is certain. */
const IS_PLAN_POSSIBLE = new Set([403, 413, STORAGE_FULL]);

const IF_PLAN = " If the account's plan is the reason, make room or extend it.";

/**
 * The meaning of a status, and the platform's own message. For a 404, the message alone is enough.
 */
function describeRejection(status: number, reason: string | undefined) {
	let what = STATUS_MEANING[status];
	if (status >= 500) what ??= `The platform failed (${status})`;
	if (what === undefined || reason === undefined) return what ?? reason;
	if (status === 404) return reason;
	if (IS_PLAN_POSSIBLE.has(status)) return `${reason} (${status})`;
	if (/too many requests/i.test(reason)) return `${what.split(':', 1)[0]}: ${reason}`;
	return `${what}${what.includes(':') ? '. ' : ': '}${reason}`;
}

/** What a success contains; `nothing` if its status says so (204). */
export type BodyRequirement = 'json' | 'nothing' | 'anything';

/** Neither a result of a read (`data`) nor of a write (`bulk`), such as `{ "errors": [] }`. */
const hasNoData = ({ data, bulk }: IDataObject) => (data ?? bulk ?? undefined) === undefined;

/** Parses a response: its JSON, or an error. */
export function parseResponse(
	response: IN8nHttpFullResponse,
	expect: BodyRequirement,
	path = '',
): ParsedResponse | ServiceError {
	const { statusCode: status, headers } = response;
	const text = typeof response.body === 'string' ? response.body : '';
	const value = parseJson(text);
	const json = isObject(value) ? (value as IDataObject) : undefined;
	const entry = toErrorEntries(json?.errors)[0];
	if (status >= 200 && status < 300) {
		if (json && entry && expect !== 'anything' && hasNoData(json)) {
			const details = { delivery: 'ambiguous', status, body: json, code: entry.id } as const;
			return new ServiceError(errorInSuccess(status, entry), details);
		}
		const isEmpty = expect === 'nothing' && status === 204;
		if (json || isEmpty || expect === 'anything')
			return { status, headers, text, body: json ?? {} };
		const type = String(headers['content-type'] ?? 'no content type');
		return new ServiceError(
			`The platform's response could not be read (${shortened(type, 100)}, ${text.length} characters)`,
			{ delivery: 'ambiguous', status, hint: NOT_THE_PLATFORM },
		);
	}
	const said = { body: json, entry, otherText: otherErrorText(json, text) };
	return rejection(response, said, expect, path);
}

export const errorInSuccess = (status: number, { message, id }: ErrorEntry) =>
	`The platform responded with success (${status}), and with an error: ${message ?? id ?? 'no reason given'}`;

/** What became of a request that was answered with an error. @param entry the platform's, if it has any */
function deliveryOf(status: number, retryAfterMs: number | undefined, entry?: ErrorEntry) {
	if (status === 429 || (status === 503 && retryAfterMs !== undefined)) return 'notApplied';
	if (status === STORAGE_FULL && entry) return 'rejected';
	// A gateway may fail after it has passed on the request.
	if (status >= 500 || status === 408) return 'ambiguous';
	return 'rejected';
}

function rejection(
	{ statusCode: status, headers }: IN8nHttpFullResponse,
	{ body, entry, otherText }: { body?: IDataObject; entry?: ErrorEntry; otherText?: string },
	expect: BodyRequirement,
	path: string,
): ServiceError {
	if (status >= 300 && status < 400) {
		return new ServiceError(
			`The platform responded with a redirect (${status}), which is not followed, to keep the token from going elsewhere`,
			{ delivery: 'rejected', status, hint: 'Enter the address that it leads to instead.' },
		);
	}
	if (status === 404 && !entry && expect !== 'anything') {
		return new ServiceError('The response is a 404 without an error from the platform', {
			delivery: 'rejected',
			status,
			body,
			hint: NOT_THE_PLATFORM,
		});
	}
	const isGateway = !entry && !(body && otherText) && expect !== 'anything';
	if (isGateway && status >= 400 && status < 500 && !MEANS_THE_SAME.has(status)) {
		return new ServiceError(
			`Something between n8n and the platform, such as a firewall, refused the request (${status})${otherText ? `: ${otherText}` : ''}`,
			{ delivery: 'rejected', status, body, hint: GATEWAY_HINT },
		);
	}
	const date = Date.parse(String(headers.date));
	const now = Number.isNaN(date) ? Date.now() : date;
	const retryAfterMs = parseRetryAfter(headers['retry-after'], now);
	const delivery = deliveryOf(status, retryAfterMs, entry);
	const isPlatforms = delivery !== 'ambiguous' && entry;
	const usual = isPlatforms ? CORRECT_REQUEST : CHECK_PLATFORM;
	const isPlan = entry && IS_PLAN_POSSIBLE.has(status);
	const message = describeRejection(status, entry ? entry.message : otherText);
	return new ServiceError(message || `The platform rejected the request (${status})`, {
		delivery,
		status,
		stillPending: status === GATEWAY_TIMEOUT,
		code: entry?.id,
		retryAfterMs,
		body,
		hint: `${STATUS_HINTS[status]?.(path) ?? usual}${isPlan ? IF_PLAN : ''}`,
	});
}
