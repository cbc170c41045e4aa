/**
 * Turns errors into failures in words for the user.
 */
import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import type { Failure } from '../run/itemResults';
import { OriginError } from '../transport/allowedOrigins';
import { InputError, ServiceError } from '../transport/errors';
import { omitUndefined } from '../transport/json';

/** The part of an error that users see. */
export function toFailure(error: unknown): Failure {
	if (error instanceof ServiceError) {
		const { message, hint, status, code, delivery, retryAfterMs } = error;
		const { outcome = delivery === 'ambiguous' ? 'unknown' : 'failed' } = error;
		return {
			message,
			hint,
			status,
			retryAfterMs,
			isRetryable: delivery !== 'rejected',
			details: omitUndefined({ outcome, status, code }),
		};
	}
	if (error instanceof InputError) {
		const { message, hint, field, item, outcome = 'failed' } = error;
		return { message, hint, item, details: omitUndefined({ outcome, field }) };
	}
	const details = { outcome: 'failed' };
	if (error instanceof OriginError) return { message: error.message, hint: error.hint, details };
	if (error instanceof NodeApiError || error instanceof NodeOperationError) {
		return { message: error.message, hint: error.description ?? undefined, details };
	}
	return { message: error instanceof Error ? error.message : String(error), details };
}
