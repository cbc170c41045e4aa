import type { JsonObject } from '../state/model.mts';

/** One entry of the envelope's `errors`; contract.md, section 2. */
export interface ErrorItem {
	type: 'info' | 'warning' | 'exception';
	id: string;
	message: string;
	RecordIndex?: number;
}

/** A refusal on its way to the client: a status and what `errors` says. */
export class Problem extends Error {
	readonly status: number;
	readonly items: ErrorItem[];
	readonly headers: Record<string, string>;

	constructor(status: number, items: ErrorItem[], headers: Record<string, string> = {}) {
		super(items.map((item) => item.message).join('; '));
		this.status = status;
		this.items = items;
		this.headers = headers;
	}

	/** The envelope; contract.md, section 2. */
	body(): JsonObject {
		return { errors: this.items.map((item) => ({ ...item })) };
	}
}

/** What is wrong with one field of one record. */
export function fieldError(message: string): ErrorItem {
	return { type: 'info', id: 'fieldValidationException', message };
}

/** 400: a parameter, the body or a value is wrong. */
export function invalid(message: string): Problem {
	return new Problem(400, [{ type: 'info', id: 'parameterParseFailedException', message }]);
}

/** 401: no token, or it is unknown, expired or revoked. */
export function unauthenticated(message: string): Problem {
	return new Problem(401, [{ type: 'exception', id: 'authenticationFailedException', message }], {
		'www-authenticate': 'Bearer',
	});
}

/** 403: the token has not the right. */
export function forbidden(message: string): Problem {
	return new Problem(403, [{ type: 'exception', id: 'permissionDeniedException', message }]);
}

/** 404: no such application, table, record, file, form or trigger. */
export function notFound(message: string): Problem {
	return new Problem(404, [{ type: 'warning', id: 'notFoundException', message }]);
}

/** 413: too many bytes or records. */
export function tooLarge(message: string): Problem {
	return new Problem(413, [{ type: 'exception', id: 'requestTooLargeException', message }]);
}
