import type { Readable } from 'node:stream';
import { appOf, findApp, findTable, linkedTable } from '../catalog/find.mts';
import type { App, Json, JsonObject, Table, Token, User } from '../state/model.mts';
import type { FilterScope } from '../query/sql.mts';
import type { World } from '../state/sandboxState.mts';

/** What a fault does to single records of a bulk request. */
export type RecordFate = 'write' | 'skip' | { failWith: string; withIndex: boolean };

/** One request, checked against the contract, on its way to its handler. */
export interface Call {
	world: World;
	/** Its number in the journal. */
	number: number;
	/** The sandbox's own origin, as the client addressed it. */
	origin: string;
	params: Record<string, string>;
	query: JsonObject;
	body: unknown;
	token: Token;
	user: User;
	fateOf(index: number, fields: JsonObject): RecordFate;
}

export interface Answer {
	status: number;
	body?: Json;
	headers?: Record<string, string>;
	/** Instead of `body`: anything that is not JSON. */
	content?: Buffer | string | Readable;
}

export type Handler = (call: Call) => Answer | Promise<Answer>;

/** The table that a call is about, and its application; both ways to address it. */
export function target(call: Call): { app: App; table: Table } {
	const { world, params } = call;
	const named = params.app === undefined ? undefined : findApp(world, params.app);
	const table = findTable(world, params.table ?? '', named);
	return { app: named ?? appOf(world, table), table };
}

/** What filters on a table need to know. */
export function filterScope(call: Call, table: Table): FilterScope {
	const { world } = call;
	return {
		timeZone: appOf(world, table).timeZone,
		user: call.user,
		linkedTable: (field) => linkedTable(world, table, field),
	};
}
