import { requireRight, canUpdateAttachments } from '../access/rights.mts';
import {
	filterScope,
	addressedTable,
	type ApiResponse,
	type ApiRequest,
	type Handler,
} from '../api/request.mts';
import type { Json, JsonObject, Right, StoredRecord, Table } from '../state/model.mts';
import { invalid, notFound } from '../api/errors.mts';
import { filterFromBody, filterFromQuery, type Filter } from '../query/filter.mts';
import { sortToSql } from '../query/order.mts';
import { linkedRecords } from '../query/linkedRecords.mts';
import { filterToSql } from '../query/sql.mts';
import { fetchRemoteFiles } from '../records/remoteFiles.mts';
import { RecordSerializer } from '../records/serializer.mts';
import { RecordWriter, type UpdateMode, type WriteResult } from '../records/writer.mts';
import type { Sql } from '../store/recordStore.mts';

type FilterTree = Parameters<typeof filterFromBody>[0];

interface WriteBody {
	fields: JsonObject;
	useUpsert?: boolean;
}

/** GET T/data. */
export const listRecords: Handler = (request) => {
	const table = requireTable(request, 'read');
	const cap = request.state.settings.maxListedRecords;
	return pageResponse(request, table, cap, selectionFromQuery(request, table));
};

/** POST T/data/filter. */
export const filterRecords: Handler = (request) => {
	const table = requireTable(request, 'read');
	const body = request.body as FilterTree & { loadFields?: string[] };
	const unknown = body.loadFields?.find((name) => !table.fields.some((f) => f.name === name));
	if (unknown !== undefined && request.state.settings.filterNames === 'validated') {
		throw invalid(`Table '${table.internalName}' has no field '${unknown}' to load.`);
	}
	const selected = where(request, table, filterFromBody(body));
	const cap = request.state.settings.maxFilteredRecords;
	return pageResponse(request, table, cap, selected, body.loadFields);
};

/** GET T/data/count. */
export const countRecords: Handler = (request) => {
	const table = requireTable(request, 'read');
	const count = request.state.records.count(table, selectionFromQuery(request, table));
	return { status: 200, body: { data: { count } } };
};

/** POST T/data/count/filter. */
export const countFilteredRecords: Handler = (request) => {
	const table = requireTable(request, 'read');
	const filter = filterFromBody(request.body as FilterTree);
	const count = request.state.records.count(table, where(request, table, filter));
	return { status: 200, body: { data: { count } } };
};

/** GET T/data/{record}. */
export const getRecord: Handler = (request) => {
	const table = requireTable(request, 'read');
	const record = requireRecord(request, table);
	const serializer = new RecordSerializer(request.state, request.origin, table);
	return { status: 200, body: { data: serializer.record(record) } };
};

/** POST T/data. */
export const createRecord: Handler = async (request) => {
	const { fields: sent, useUpsert = false } = request.body as WriteBody;
	const table = requireTable(request, 'create', ...(useUpsert ? ['update' as const] : []));
	const fields = await fetchRemoteFiles(request, table, sent);
	const written = inTransaction(request, table, (writer) => writer.create(fields, useUpsert));
	const status = written.outcome === 'inserted' ? request.state.settings.createStatus : 200;
	return recordResponse(request, table, written, status);
};

/** PATCH T/data/{record}: updates only the fields that are sent. */
export const updateRecord: Handler = (request) => update(request, 'partial');

/** PUT T/data/{record}: clears the fields that are not sent. */
export const replaceRecord: Handler = (request) => update(request, 'replace');

/** DELETE T/data/{record}. */
export const deleteRecord: Handler = (request) => {
	const table = requireTable(request, 'delete');
	const { id } = requireRecord(request, table);
	const one = { text: 'r.id = ?', values: [id] };
	request.state.records.remove(table, one, 1, request.number);
	return { status: 204 };
};

async function update(request: ApiRequest, mode: UpdateMode): Promise<ApiResponse> {
	const { fields: sent, useUpsert = false } = request.body as WriteBody;
	const { app, table } = addressedTable(request);
	if (!canUpdateAttachments(request.token, table, sent) || useUpsert || mode === 'replace') {
		requireRight(request.state, request.token, 'update', app, table);
		if (useUpsert) requireRight(request.state, request.token, 'create', app, table);
	}
	const id = request.params.record;
	const fields = await fetchRemoteFiles(request, table, sent);
	const written = inTransaction(request, table, (writer) =>
		writer.update(id, fields, mode, useUpsert),
	);
	if (!written) throw notFound(`There is no record '${id}' in '${table.internalName}'.`);
	return recordResponse(request, table, written, 200);
}

function inTransaction<Result>(
	request: ApiRequest,
	table: Table,
	work: (writer: RecordWriter) => Result,
): Result {
	return request.state.database.transaction(() => work(new RecordWriter(request, table)));
}

function recordResponse(
	request: ApiRequest,
	table: Table,
	{ record }: WriteResult,
	status: number,
): ApiResponse {
	const serializer = new RecordSerializer(request.state, request.origin, table);
	const type = request.query.dataResponseType;
	const data: Json =
		type === 'None'
			? {}
			: type === 'MetadataOnly'
				? serializer.metadata(record)
				: serializer.record(record);
	return { status, body: { data } };
}

function requireTable(request: ApiRequest, ...rights: Right[]): Table {
	const { app, table } = addressedTable(request);
	for (const right of rights) requireRight(request.state, request.token, right, app, table);
	return table;
}

function requireRecord(request: ApiRequest, table: Table): StoredRecord {
	const id = request.params.record ?? '';
	const record = request.state.records.get(table, id);
	if (!record) throw notFound(`There is no record '${id}' in '${table.internalName}'.`);
	return record;
}

/** A page has at most `cap` records, however many are asked for. */
function pageResponse(
	request: ApiRequest,
	table: Table,
	cap: number | null,
	selected?: Sql,
	names?: string[],
): ApiResponse {
	const { skip, sort, ...asked } = request.query as { limit: number; skip: number; sort?: string };
	const limit = Math.min(asked.limit, cap ?? Infinity);
	const order = sortToSql(table, sort, request.state.settings.filterNames === 'ignored');
	const records = request.state.records.select(table, { where: selected, order, limit, skip });
	const serializer = new RecordSerializer(request.state, request.origin, table, names);
	return { status: 200, body: { data: records.map((record) => serializer.record(record)) } };
}

function where(request: ApiRequest, table: Table, filter: Filter): Sql {
	return filterToSql(table, filter, filterScope(request, table));
}

/** Combines `filter`, `userFilter` and the three link parameters. */
function selectionFromQuery(request: ApiRequest, table: Table): Sql | undefined {
	const { filter, userFilter } = request.query as Record<string, string | undefined>;
	const parts: Sql[] = [];
	if (filter !== undefined) parts.push(where(request, table, filterFromQuery(filter)));
	if (userFilter !== undefined) {
		const view = table.views.find((entry) => entry.id === userFilter);
		if (!view) throw invalid(`Table '${table.internalName}' has no saved view '${userFilter}'.`);
		parts.push(where(request, table, filterFromQuery(view.filter)));
	}
	const linked = linkedRecords(request, table);
	if (linked) parts.push(linked);
	if (parts.length === 0) return undefined;
	return {
		text: parts.map((part) => `(${part.text})`).join(' AND '),
		values: parts.flatMap((part) => part.values),
	};
}
