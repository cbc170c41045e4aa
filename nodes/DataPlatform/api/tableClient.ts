/**
 * An API client for tables that are addressed without an application. A platform may not serve that
 * address; and once the table was found in an application, that address is the certain one.
 */
import { ApiClient, withLaterFailure, type ApiResponse } from '../transport/client';
import { InputError, isNotFound, serviceErrorOrThrow, ServiceError } from '../transport/errors';
import type { ApiRequest } from '../transport/exchange';
import { shortTableIn } from './endpoints';
import { forgetFoundTable, foundTable } from './foundTables';
import { findTable } from './structure';

/** Behind a table's path; a 404 there is about the table itself. */
const OF_TABLE = /^\/data(?:\/(?:bulk|count|filter|summary)(?:\/filter)?)?$/;

type Failure = InputError | ServiceError | undefined;

export class TableClient extends ApiClient {
	/** Where tables were found, by short path: an execution that waits for minutes needs it longer. */
	private readonly addresses = new Map<string, string>();

	/** What looking for a table without an application has led to: why it was not found, if so. */
	private readonly searches = new Map<string, Promise<Failure>>();

	override async tryRequest(request: ApiRequest): Promise<ApiResponse | ServiceError> {
		const table = shortTableIn(request.path);
		if (!table) return await super.tryRequest(request);
		const { shortPath, name, rest } = table;
		const known = this.addressOf(shortPath);
		const result = await super.tryRequest({ ...request, path: (known ?? shortPath) + rest });
		if (!(result instanceof ServiceError) || !isNotFound(result.rejection ?? result)) {
			return result;
		}
		if (known !== undefined) {
			if (OF_TABLE.test(rest)) {
				forgetFoundTable(this, shortPath);
				this.addresses.delete(shortPath);
			}
			return result;
		}
		const failure = await this.search(name);
		const found = this.addressOf(shortPath);
		if (found !== undefined) {
			const later = await super.tryRequest({ ...request, path: found + rest });
			// An attempt before the 404 may have done it.
			if (result.delivery !== 'ambiguous') return later;
			if (later instanceof ServiceError) return withLaterFailure(result, later);
			return { ...later, previousAttempt: result };
		}
		// Which one it is, only the user can tell.
		const isOpen = failure instanceof InputError || failure?.status === 403;
		return isOpen ? new ServiceError(result.message, { ...result, hint: failure.hint }) : result;
	}

	private addressOf(shortPath: string): string | undefined {
		const address = this.addresses.get(shortPath) ?? foundTable(this, shortPath);
		if (address !== undefined) this.addresses.set(shortPath, address);
		return address;
	}

	/** Looks for a table in all applications, once per execution. */
	private async search(name: string): Promise<Failure> {
		const find = async () => {
			try {
				await findTable(this, name);
				return undefined;
			} catch (error) {
				return error instanceof InputError ? error : serviceErrorOrThrow(error);
			}
		};
		const search = this.searches.get(name) ?? find();
		this.searches.set(name, search);
		return await search;
	}
}
