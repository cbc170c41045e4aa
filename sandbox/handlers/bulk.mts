import { requireBulkRight, requireRight } from '../access/rights.mts';
import {
	filterScope,
	addressedTable,
	type ApiResponse,
	type ApiRequest,
	type Handler,
} from '../api/request.mts';
import type { JsonObject, Table } from '../state/model.mts';
import {
	ApiError,
	errorEntries,
	fieldError,
	LimitError,
	reasonsOf,
	tooLarge,
	type ErrorItem,
} from '../api/errors.mts';
import { filterFromQuery } from '../query/filter.mts';
import { filterToSql } from '../query/sql.mts';
import { fetchRemoteFiles } from '../records/remoteFiles.mts';
import { RecordSerializer } from '../records/serializer.mts';
import { RecordWriter, type UpdateMode, type WriteResult } from '../records/writer.mts';

interface BulkItem {
	id?: string | null;
	fields: JsonObject;
}
interface BulkBody {
	bulk: BulkItem[];
	useUpsert?: boolean;
}
type WriteOne = (
	writer: RecordWriter,
	item: BulkItem,
	useUpsert: boolean,
) => WriteResult | undefined;

/** POST T/data/bulk. */
export const createRecords: Handler = (request) =>
	writeMany(request, 'create', 'update', (writer, item, useUpsert) =>
		writer.create(item.fields, useUpsert),
	);

/** PATCH T/data/bulk: updates only the fields that are sent. */
export const updateRecords: Handler = (request) => updateMany(request, 'partial');

/** PUT T/data/bulk: clears the fields that are not sent. */
export const replaceRecords: Handler = (request) => updateMany(request, 'replace');

/** DELETE T/data/bulk. */
export const deleteRecords: Handler = (request) => {
	const { app, table } = addressedTable(request);
	requireRight(request.state, request.token, 'delete', app, table);
	requireBulkRight(request.state, request.token, app, table);
	const { limit, filter } = request.query as { limit: number; filter?: string };
	const where =
		filter === undefined
			? undefined
			: filterToSql(table, filterFromQuery(filter), filterScope(request, table));
	request.state.records.remove(table, where, limit, request.number);
	return { status: 204 };
};

function updateMany(request: ApiRequest, mode: UpdateMode): Promise<ApiResponse> {
	return writeMany(request, 'update', 'create', (writer, item, useUpsert) =>
		writer.update(item.id, item.fields, mode, useUpsert),
	);
}

/**
 * Writes the batch in one transaction. A record that is unknown or unchanged counts as a success
 * and is missing from `data`.
 */
async function writeMany(
	request: ApiRequest,
	right: 'create' | 'update',
	upsertRight: 'create' | 'update',
	writeOne: WriteOne,
): Promise<ApiResponse> {
	const { state } = request;
	const { app, table } = addressedTable(request);
	const { bulk: sent, useUpsert = false } = request.body as BulkBody;
	requireRight(state, request.token, right, app, table);
	if (useUpsert) requireRight(state, request.token, upsertRight, app, table);
	requireBulkRight(state, request.token, app, table);
	const { maxBulkRecords } = state.settings;
	if (maxBulkRecords !== null && sent.length > maxBulkRecords) {
		throw tooLarge(`At most ${maxBulkRecords} records are accepted in one request.`);
	}
	const bulk: BulkItem[] = [];
	for (const item of sent) {
		bulk.push({ ...item, fields: await fetchRemoteFiles(request, table, item.fields) });
	}
	const committed = state.database.transaction(() => {
		const result = writeAll(request, table, bulk, useUpsert, writeOne);
		const { batchFailure } = state.settings;
		if (result.errors.length > 0 && batchFailure !== 'perRecord') {
			throw new ApiError(batchFailure === 'wholeBatch400' ? 400 : 422, result.errors);
		}
		return result;
	});
	const body = bulkResponse(request, table, committed);
	return { status: 200, body, reasons: reasonsOf(committed.errors) };
}

interface BulkResult {
	errors: ErrorItem[];
	written: WriteResult[];
	inserted: number;
	updated: number;
	/** Unknown or unchanged. */
	unreported: number;
}

function writeAll(
	request: ApiRequest,
	table: Table,
	bulk: BulkItem[],
	useUpsert: boolean,
	writeOne: WriteOne,
): BulkResult {
	const writer = new RecordWriter(request, table);
	const result: BulkResult = { errors: [], written: [], inserted: 0, updated: 0, unreported: 0 };
	bulk.forEach((item, index) => {
		const fault = request.recordFaultFor(index, item.fields);
		if (fault === 'skip') return;
		if (fault !== 'write') {
			const error = fieldError(fault.failWith);
			result.errors.push(fault.withIndex ? { ...error, position: index } : error);
			return;
		}
		try {
			const written = writeOne(writer, item, useUpsert);
			if (!written || written.outcome === 'unchanged') result.unreported += 1;
			else {
				result.written.push(written);
				result[written.outcome] += 1;
			}
		} catch (error) {
			if (!(error instanceof ApiError) || error.status !== 400) throw error;
			if (error instanceof LimitError && request.state.settings.limitErrors === 'wholeBatch') {
				throw error;
			}
			result.errors.push(...error.items.map((entry) => ({ ...entry, position: index })));
		}
	});
	return result;
}

function bulkResponse(request: ApiRequest, table: Table, result: BulkResult): JsonObject {
	const { inserted, updated, unreported, errors } = result;
	const { settings } = request.state;
	const written = settings.bulkOrder === 'other' ? shuffled(result.written) : result.written;
	const serializer = new RecordSerializer(request.state, request.origin, table);
	return {
		bulk: {
			successCount: inserted + updated + unreported,
			insertedCount: inserted,
			...(settings.updatedCount ? { updatedCount: updated } : {}),
		},
		...(request.query.dataResponseType === 'MetadataOnly'
			? { data: written.map(({ record }) => serializer.metadata(record)) }
			: {}),
		...(errors.length > 0 ? { errors: errorEntries(errors, settings) } : {}),
	};
}

/** Another order, the same for each list of this length: two change places. */
function shuffled<T>(list: T[]): T[] {
	const place = (index: number) => (index * 41) % 101;
	return list
		.map((entry, index) => ({ entry, index }))
		.toSorted((a, b) => place(b.index) - place(a.index))
		.map(({ entry }) => entry);
}
