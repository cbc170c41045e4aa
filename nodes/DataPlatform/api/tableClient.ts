/**
 * An API client for tables that are addressed without an application. A platform may not serve that
 * address; and once the table was found in an application, that address is the certain one.
 */
import { ApiClient, withLaterFailure, type ApiResponse } from '../transport/client';
import { InputError, isNotFound, serviceErrorOrThrow, ServiceError } from '../transport/errors';
import type { ApiRequest } from '../transport/exchange';
import { shortTableIn } from './endpoints';
import { tableAt } from './table';

/** Behind a table's path; a 404 there is about the table itself. */
const OF_TABLE = /^\/data(?:\/(?:bulk|count|filter|summary)(?:\/filter)?)?$/;

export class TableClient extends ApiClient {
	override async tryRequest(request: ApiRequest): Promise<ApiResponse | ServiceError> {
		const short = shortTableIn(request.path);
		if (!short) return await super.tryRequest(request);
		const { shortPath, name, rest } = short;
		const table = tableAt(this, { table: name });
		const known = table.path;
		const result = await super.tryRequest({ ...request, path: (known ?? shortPath) + rest });
		if (!(result instanceof ServiceError) || !isNotFound(result.rejection ?? result)) {
			return result;
		}
		if (known !== undefined) {
			if (OF_TABLE.test(rest)) table.forgetPath();
			return result;
		}
		// Why it was not found, if so.
		const failure = await table.find().then(
			() => undefined,
			(error: unknown) => (error instanceof InputError ? error : serviceErrorOrThrow(error)),
		);
		if (table.path !== undefined) {
			const later = await super.tryRequest({ ...request, path: table.path + rest });
			// An attempt before the 404 may have done it.
			if (result.delivery !== 'ambiguous') return later;
			if (later instanceof ServiceError) return withLaterFailure(result, later);
			return { ...later, previousAttempt: result };
		}
		// Which one it is, only the user can tell.
		const isOpen = failure instanceof InputError || failure?.status === 403;
		return isOpen ? new ServiceError(result.message, { ...result, hint: failure.hint }) : result;
	}
}
