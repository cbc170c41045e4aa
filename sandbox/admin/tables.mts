import type { FastifyInstance } from 'fastify';
import { bodyValidator } from '../api/validation.mts';
import { findApp, findTable } from '../catalog/find.mts';
import type { Json, JsonObject, StoredRecord, Table } from '../state/model.mts';
import { canSortBy, sortToSql } from '../query/order.mts';
import { RecordSerializer } from '../records/serializer.mts';
import { systemWriter } from '../records/systemWriter.mts';
import { createApp, createTable } from '../catalog/create.mts';
import type { SandboxState } from '../state/sandboxState.mts';
import type { Sql } from '../store/recordStore.mts';
import { newTableSchema, type NewTable } from './schemas.mts';

interface TablePath {
	Params: { app: string; table: string };
}

/** /sandbox/tables: create tables and read everything that is stored in them; docs/sandbox.md. */
export function registerTables(server: FastifyInstance, state: SandboxState): void {
	const checkNew = bodyValidator(newTableSchema);
	const tableOf = ({ app, table }: TablePath['Params']) =>
		findTable(state, table, findApp(state, app));

	server.get('/sandbox/tables', () => ({
		data: state.tables.all().map((table) => ({
			app: findApp(state, table.appId).internalName,
			appName: findApp(state, table.appId).name,
			table: table.internalName,
			id: table.id,
			header: table.header,
			fields: table.fields.map((field) => ({
				name: field.name,
				header: field.header,
				type: field.type,
				sortable: canSortBy(field),
			})),
			records: state.records.count(table),
		})),
	}));
	server.post('/sandbox/tables', (request, reply) => {
		const table = createFrom(state, checkNew(request.body));
		void reply.status(201);
		return { data: { appId: table.appId, tableId: table.id, internalName: table.internalName } };
	});
	server.delete<TablePath>('/sandbox/tables/:app/:table', (request, reply) => {
		const table = tableOf(request.params);
		state.records.clear(table);
		state.tables.remove(table.id);
		return reply.status(204).send();
	});
	server.get<TablePath>('/sandbox/tables/:app/:table/records', (request) => ({
		data: state.records.select(tableOf(request.params)).map(storedView),
	}));
	server.get<TablePath & { Querystring: Record<string, string | undefined> }>(
		'/sandbox/tables/:app/:table/latest',
		({ params, query, protocol, host }) => {
			const table = tableOf(params);
			const where = query.search ? mentionsText(query.search) : undefined;
			const order = sortToSql(table, query.sort ?? 'modified(desc)');
			const limit = Number(query.limit ?? 100) || 0;
			const skip = Number(query.skip) || 0;
			const records = state.records.select(table, { where, order, limit, skip });
			const serializer = new RecordSerializer(state, `${protocol}://${host}`, table);
			return {
				data: {
					count: state.records.count(table, where),
					records: records.map((record) => serializer.record(record)),
				},
			};
		},
	);
	server.get<TablePath & { Querystring: { record?: string } }>(
		'/sandbox/tables/:app/:table/history',
		(request) => ({
			data: state.records.history(
				tableOf(request.params),
				request.query.record,
			) as unknown as Json[],
		}),
	);
}

/** Replaces a table of the same name, including its records. */
function createFrom(state: SandboxState, input: NewTable): Table {
	return state.database.transaction(() => {
		const app =
			state.apps.all().find((entry) => entry.internalName === input.app) ??
			createApp(state, { internalName: input.app, timeZone: input.timeZone });
		const table = createTable(state, app, input.table);
		state.records.clear(table);
		const writer = systemWriter(state, table);
		for (const { id, fields } of input.records ?? []) writer.update(id, fields, 'replace', true);
		return table;
	});
}

/** The records that contain the text in their ID or in a value, in upper or lower case. */
function mentionsText(text: string): Sql {
	return {
		text: `instr(lower(r.id), lower(?)) > 0 OR EXISTS (SELECT 1 FROM json_tree(r.fields) value
			WHERE instr(lower(value.atom), lower(?)) > 0)`,
		values: [text, text],
	};
}

function storedView({ id, ver, created, modified, fields }: StoredRecord): JsonObject {
	return {
		id,
		ver,
		created: new Date(created).toISOString(),
		modified: new Date(modified).toISOString(),
		fields,
	};
}
