import type { IDataObject } from 'n8n-workflow';

/**
 * What can be said for certain about a call that did not succeed:
 * - `unsent`: nothing was done (not reached, asked to wait, stopped before, or it only reads),
 * - `refused`: the service answered that it will not do it,
 * - `ambiguous`: it may have been done or not,
 * - `cancelled`: the execution was cancelled.
 */
export type Delivery = 'notApplied' | 'rejected' | 'ambiguous' | 'canceled';

export interface ServiceErrorDetails {
	delivery: Delivery;
	/** HTTP status, where there was an answer. */
	status?: number;
	/** The service's own code for it (contract.md section 2), such as `parameterParseFailedException`. */
	code?: string;
	/** What the user can do. */
	hint?: string;
	/** How long the service asked to wait. */
	retryAfterMs?: number;
	/** The answer that came with the failure, where it was JSON. */
	body?: IDataObject;
	/** Whether the service may still be at work on it. */
	mayStillApply?: boolean;
	/** A try before it of which nobody knows whether it was done. */
	previousAttempt?: ServiceError;
}

/** A call to the service that did not succeed; `message` says what happened, in the user's words. */
export class ServiceError extends Error {
	readonly delivery: Delivery;
	readonly status?: number;
	readonly code?: string;
	readonly hint?: string;
	readonly retryAfterMs?: number;
	readonly body?: IDataObject;
	readonly mayStillApply?: boolean;
	readonly previousAttempt?: ServiceError;

	constructor(message: string, details: ServiceErrorDetails) {
		super(message);
		this.name = 'ServiceError';
		this.delivery = details.delivery;
		this.status = details.status;
		this.code = details.code;
		this.hint = details.hint;
		this.retryAfterMs = details.retryAfterMs;
		this.body = details.body;
		this.mayStillApply = details.mayStillApply;
		this.previousAttempt = details.previousAttempt;
	}
}

/** Input that can't be sent as it is; nothing was sent. Names the field where there is one. */
export class InputError extends Error {
	readonly field?: string;
	readonly hint?: string;
	/** The item it is about, where several are worked on at once. */
	readonly item?: number;

	constructor(message: string, details: { field?: string; hint?: string; item?: number } = {}) {
		super(message);
		this.name = 'InputError';
		this.field = details.field;
		this.hint = details.hint;
		this.item = details.item;
	}
}
