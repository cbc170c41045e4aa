import { demandRight, mayAttach } from '../access/rights.mts';
import { filterScope, target, type Answer, type Call, type Handler } from '../api/request.mts';
import type { Json, JsonObject, Right, StoredRecord, Table } from '../state/model.mts';
import { invalid, notFound } from '../api/errors.mts';
import { filterFromBody, filterFromQuery, type Filter } from '../query/filter.mts';
import { orderOf } from '../query/order.mts';
import { linkedRecords } from '../query/linkedRecords.mts';
import { whereOf } from '../query/sql.mts';
import { withFetchedFiles } from '../records/remoteFiles.mts';
import { Showing } from '../records/serializer.mts';
import { Writing, type UpdateMode, type Written } from '../records/writer.mts';
import type { Sql } from '../store/recordStore.mts';

type FilterTree = Parameters<typeof filterFromBody>[0];

interface WriteBody {
	fields: JsonObject;
	useUpsert?: boolean;
}

/** GET T/data. */
export const listRecords: Handler = (call) => {
	const table = tableFor(call, 'read');
	return page(call, table, selectionFromQuery(call, table));
};

/** POST T/data/filter. */
export const filterRecords: Handler = (call) => {
	const table = tableFor(call, 'read');
	const body = call.body as FilterTree & { loadFields?: string[] };
	const unknown = body.loadFields?.find((name) => !table.fields.some((f) => f.name === name));
	if (unknown !== undefined) {
		throw invalid(`Table '${table.internalName}' has no field '${unknown}' to load.`);
	}
	return page(call, table, where(call, table, filterFromBody(body)), body.loadFields);
};

/** GET T/data/count. */
export const countRecords: Handler = (call) => {
	const table = tableFor(call, 'read');
	const count = call.world.records.count(table, selectionFromQuery(call, table));
	return { status: 200, body: { data: { count } } };
};

/** POST T/data/count/filter. */
export const countFilteredRecords: Handler = (call) => {
	const table = tableFor(call, 'read');
	const filter = filterFromBody(call.body as FilterTree);
	const count = call.world.records.count(table, where(call, table, filter));
	return { status: 200, body: { data: { count } } };
};

/** GET T/data/{record}. */
export const getRecord: Handler = (call) => {
	const table = tableFor(call, 'read');
	const record = demandRecord(call, table);
	const showing = new Showing(call.world, call.origin, table);
	return { status: 200, body: { data: showing.record(record) } };
};

/** POST T/data. */
export const createRecord: Handler = async (call) => {
	const { fields: sent, useUpsert = false } = call.body as WriteBody;
	const table = tableFor(call, 'create', ...(useUpsert ? ['update' as const] : []));
	const fields = await withFetchedFiles(call.world.files, table, sent);
	const written = commit(call, table, (writing) => writing.create(fields, useUpsert));
	return answer(call, table, written, written.outcome === 'inserted' ? 201 : 200);
};

/** PATCH T/data/{record}: the fields sent alone. */
export const updateRecord: Handler = (call) => update(call, 'partial');

/** PUT T/data/{record}: fields left out are cleared. */
export const replaceRecord: Handler = (call) => update(call, 'full');

/** DELETE T/data/{record}. */
export const deleteRecord: Handler = (call) => {
	const table = tableFor(call, 'delete');
	const { id } = demandRecord(call, table);
	const one = { text: 'r.id = ?', values: [id] };
	call.world.records.remove(table, one, 1, call.number);
	return { status: 204 };
};

async function update(call: Call, mode: UpdateMode): Promise<Answer> {
	const { fields: sent, useUpsert = false } = call.body as WriteBody;
	const { app, table } = target(call);
	if (!mayAttach(call.token, table, sent) || useUpsert || mode === 'full') {
		demandRight(call.world, call.token, 'update', app, table);
		if (useUpsert) demandRight(call.world, call.token, 'create', app, table);
	}
	const id = call.params.record;
	const fields = await withFetchedFiles(call.world.files, table, sent);
	const written = commit(call, table, (writing) => writing.update(id, fields, mode, useUpsert));
	if (!written) throw notFound(`There is no record '${id}' in '${table.internalName}'.`);
	return answer(call, table, written, 200);
}

function commit<Result>(call: Call, table: Table, work: (writing: Writing) => Result): Result {
	return call.world.database.transaction(() => work(new Writing(call, table)));
}

function answer(call: Call, table: Table, { record }: Written, status: number): Answer {
	const showing = new Showing(call.world, call.origin, table);
	const type = call.query.dataResponseType;
	const data: Json =
		type === 'None'
			? {}
			: type === 'MetadataOnly'
				? showing.metadata(record)
				: showing.record(record);
	return { status, body: { data } };
}

function tableFor(call: Call, ...rights: Right[]): Table {
	const { app, table } = target(call);
	for (const right of rights) demandRight(call.world, call.token, right, app, table);
	return table;
}

function demandRecord(call: Call, table: Table): StoredRecord {
	const id = call.params.record ?? '';
	const record = call.world.records.get(table, id);
	if (!record) throw notFound(`There is no record '${id}' in '${table.internalName}'.`);
	return record;
}

function page(call: Call, table: Table, selected?: Sql, names?: string[]): Answer {
	const { limit, skip, sort } = call.query as { limit: number; skip: number; sort?: string };
	const order = orderOf(table, sort);
	const records = call.world.records.select(table, { where: selected, order, limit, skip });
	const showing = new Showing(call.world, call.origin, table, names);
	return { status: 200, body: { data: records.map((record) => showing.record(record)) } };
}

function where(call: Call, table: Table, filter: Filter): Sql {
	return whereOf(table, filter, filterScope(call, table));
}

/** What `filter`, `userFilter` and the three link parameters select together. */
function selectionFromQuery(call: Call, table: Table): Sql | undefined {
	const { filter, userFilter } = call.query as Record<string, string | undefined>;
	const parts: Sql[] = [];
	if (filter !== undefined) parts.push(where(call, table, filterFromQuery(filter)));
	if (userFilter !== undefined) {
		const view = table.views.find((entry) => entry.id === userFilter);
		if (!view) throw invalid(`Table '${table.internalName}' has no saved view '${userFilter}'.`);
		parts.push(where(call, table, filterFromQuery(view.filter)));
	}
	const linked = linkedRecords(call, table);
	if (linked) parts.push(linked);
	if (parts.length === 0) return undefined;
	return {
		text: parts.map((part) => `(${part.text})`).join(' AND '),
		values: parts.flatMap((part) => part.values),
	};
}
