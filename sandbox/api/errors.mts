import type { JsonObject } from '../state/model.mts';
import type { Settings } from '../state/settings.mts';

/** One entry of `errors` in an error response. */
export interface ErrorItem {
	type: 'info' | 'warning' | 'exception';
	id: string;
	message: string;
	/** Of its record in a bulk request, from 0. */
	position?: number;
}

/** The entries of `errors` in a response. The name of a position is a setting. */
export function errorEntries(
	items: ErrorItem[],
	{ errorPosition }: Pick<Settings, 'errorPosition'>,
): JsonObject[] {
	return items.map(({ position, ...item }) =>
		position === undefined || errorPosition === 'none'
			? item
			: { ...item, [errorPosition]: position },
	);
}

/** What the log says of errors, which does not depend on the settings. */
export const reasonsOf = (items: ErrorItem[]): string[] =>
	items.map(({ position, message }) =>
		position === undefined ? message : `Record ${position}: ${message}`,
	);

/** An error response: a status and the entries of `errors`. */
export class ApiError extends Error {
	readonly status: number;
	readonly items: ErrorItem[];
	readonly headers: Record<string, string>;

	constructor(status: number, items: ErrorItem[], headers: Record<string, string> = {}) {
		super(items.map((item) => item.message).join('; '));
		this.status = status;
		this.items = items;
		this.headers = headers;
	}
}

/** 400: the plan allows no more records or files. How a service answers is a variant. */
export class LimitError extends ApiError {
	constructor(message: string) {
		super(400, [{ type: 'exception', id: 'limitExceededException', message }]);
	}
}

/** An invalid value in one field of one record. */
export function fieldError(message: string): ErrorItem {
	return { type: 'info', id: 'fieldValidationException', message };
}

/** 400: a parameter, the body or a value is invalid. */
export function invalid(message: string): ApiError {
	return new ApiError(400, [{ type: 'info', id: 'parameterParseFailedException', message }]);
}

/** 401: no token, or it is unknown, expired or revoked. */
export function unauthenticated(message: string): ApiError {
	return new ApiError(401, [{ type: 'exception', id: 'authenticationFailedException', message }], {
		'www-authenticate': 'Bearer',
	});
}

/** 403: the token does not have the right. */
export function forbidden(message: string): ApiError {
	return new ApiError(403, [{ type: 'exception', id: 'permissionDeniedException', message }]);
}

/** 404: no such application, table, record, file or trigger. */
export function notFound(message: string): ApiError {
	return new ApiError(404, [{ type: 'warning', id: 'notFoundException', message }]);
}

/** 413: too many bytes or records. */
export function tooLarge(message: string): ApiError {
	return new ApiError(413, [{ type: 'exception', id: 'requestTooLargeException', message }]);
}
