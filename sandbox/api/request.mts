import type { Readable } from 'node:stream';
import { appOf, findApp, findTable, linkedTable } from '../catalog/find.mts';
import type { App, Json, JsonObject, Table, Token, User } from '../state/model.mts';
import { notFound } from './errors.mts';
import type { FilterScope } from '../query/sql.mts';
import type { SandboxState } from '../state/sandboxState.mts';

/** What a fault does to one record of a bulk request. */
export type RecordFault = 'write' | 'skip' | { failWith: string; withIndex: boolean };

/** A request to an operation of the contract, authenticated and validated. */
export interface ApiRequest {
	state: SandboxState;
	/** Its number in the request log. */
	number: number;
	/** The sandbox's origin, as the client addressed it. */
	origin: string;
	params: Record<string, string>;
	query: JsonObject;
	body: unknown;
	token: Token;
	user: User;
	recordFaultFor(index: number, fields: JsonObject): RecordFault;
}

export interface ApiResponse {
	status: number;
	body?: Json;
	headers?: Record<string, string>;
	/** Instead of `body`: content that is not JSON. */
	content?: Buffer | string | Readable;
	/** Why records of a bulk request were not written. */
	reasons?: string[];
}

export type Handler = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>;

/** The table in the request's path and its application, for both ways of addressing it. */
export function addressedTable(request: ApiRequest): { app: App; table: Table } {
	const { state, params } = request;
	if (params.app === undefined && state.settings.shortAddress === 'notFound') {
		throw notFound('There is no such operation: a table is addressed within its application.');
	}
	const named = params.app === undefined ? undefined : findApp(state, params.app);
	const table = findTable(state, params.table ?? '', named);
	return { app: named ?? appOf(state, table), table };
}

/** What filters on a table depend on. */
export function filterScope(request: ApiRequest, table: Table): FilterScope {
	const { state } = request;
	return {
		dateRules: { timeZone: appOf(state, table).timeZone, settings: state.settings },
		user: request.user,
		ignoresUnknownNames: state.settings.filterNames === 'ignored',
		linkedTable: (field) => linkedTable(state, table, field),
	};
}
