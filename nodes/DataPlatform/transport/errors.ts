import type { IBinaryKeyData, IDataObject } from 'n8n-workflow';

import { toErrorEntries } from './errorEntries';

/**
 * What is certain about a failed request:
 * - `notApplied`: nothing was done (not reached, asked to wait, not sent, or it only reads)
 * - `rejected`: the service responded that it will not do it
 * - `ambiguous`: it may or may not have been done
 * - `canceled`: the execution was canceled
 */
export type Delivery = 'notApplied' | 'rejected' | 'ambiguous' | 'canceled';

/** Why something was not done, in words for the user: one shape from the check to the output. */
export interface Problem {
	message: string;
	/** The end of the message, if that says what to do with this one value. */
	remedy?: string;
	/** What the user can do. */
	hint?: string;
	/** Of several items: each cause in words, the most frequent first. */
	causes?: string[];
	/** The item it is about, if several are processed together. */
	item?: number;
	field?: string;
	/** The outcome of the item: `failed`, if it is not more specific. */
	outcome?: string;
	/** The record's ID and its key. */
	id?: string;
	key?: string;
	/** The platform's own code and the HTTP status of the response. */
	code?: string;
	status?: number;
	/** How long the platform asked to wait. */
	retryAfterMs?: number;
	/** Not attempted because of other items, which have the problems to report. */
	notAttempted?: boolean;
	/** The run stopped because of it, or before it: the item itself may be fine. */
	stopsRun?: boolean;
	/** It may have been done, and doing it twice would do harm: no further attempt retries it. */
	noRetry?: boolean;
	/** The same item may succeed later, unless it may have been done and could be done twice. */
	isRetryable?: boolean;
	/** More facts for programs. */
	details?: IDataObject;
	/** Files that were made before. */
	binary?: IBinaryKeyData;
}

/** A failed request to the service. `message` says what happened, in words for the user. */
export class ServiceError extends Error {
	readonly delivery!: Delivery;
	/** The HTTP status, if there was a response. */
	readonly status?: number;
	/** The service's own code for the error, such as `parameterParseFailedException`. */
	readonly code?: string;
	/** What the user can do. */
	readonly hint?: string;
	/** The item's outcome, if it is more specific than what the delivery says. */
	readonly outcome?: string;
	/** How long the service asked to wait. */
	readonly retryAfterMs?: number;
	/** The response's body, if it was JSON. */
	readonly body?: IDataObject;
	/** The service may still apply the request. */
	readonly stillPending?: boolean;
	/** The response to a later attempt, which was rejected. It says nothing about this one. */
	readonly rejection?: ServiceError;
	/** It would have been retried if the retry budget had allowed it. */
	readonly isRetryBudgetSpent?: boolean;

	constructor(message: string, details: Omit<ServiceError, keyof Error>) {
		super(message);
		Object.assign(this, details, { name: 'ServiceError' });
	}
}

/** What a failed request means for an item. */
export function problemOf(error: ServiceError): Problem {
	const { message, hint, status, code, delivery, retryAfterMs } = error;
	const { outcome = delivery === 'ambiguous' ? 'unknown' : 'failed' } = error;
	const isRetryable = delivery !== 'rejected';
	return { message, hint, outcome, status, code, retryAfterMs, isRetryable };
}

/** For a promise's `catch`: returns a failure of the service, and throws any other error. */
export const serviceErrorOrThrow = (error: unknown): ServiceError => {
	if (error instanceof ServiceError) return error;
	throw error;
};

/**
 * The error comes from the platform itself: a gateway's page says nothing about a record.
 */
export const isFromPlatform = ({ body }: ServiceError): boolean =>
	toErrorEntries(body?.errors).length > 0;

/** The platform itself forbids it: the token lacks a right, or the account's plan does not include it. */
export const isForbidden = (error: ServiceError): boolean =>
	error.status === 403 && isFromPlatform(error);

/**
 * The result of a read, or undefined if the token may not read. A token for attachments may change
 * files without reading them: the platform then does the checks.
 */
export async function undefinedIf403<T>(reading: Promise<T>): Promise<T | undefined> {
	return await reading.catch((error: unknown) => {
		if (error instanceof ServiceError && isForbidden(error)) return undefined;
		throw error;
	});
}

/** The platform itself reports that the requested object does not exist; not just any 404. */
export const isNotFound = (error: ServiceError): boolean =>
	error.status === 404 && isFromPlatform(error);

/** Input that can't be sent as it is. Nothing was sent. Names the field if there is one. */
export class InputError extends Error {
	readonly field?: string;
	/** What the user can do. */
	readonly hint!: string;
	/** Of several items: each cause in words, the most frequent first. */
	readonly causes?: string[];
	/** The item it is about, if several are processed together. */
	readonly item?: number;
	/** The item's outcome, if it is more specific than failed. */
	readonly outcome?: string;

	constructor(message: string, details: Omit<InputError, keyof Error>) {
		super(message);
		Object.assign(this, details, { name: 'InputError' });
	}
}
