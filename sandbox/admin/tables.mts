import type { FastifyInstance } from 'fastify';
import { bodyCheck } from '../api/validation.mts';
import { findApp, findTable } from '../catalog/find.mts';
import type { Json, JsonObject, StoredRecord, Table } from '../state/model.mts';
import { Showing } from '../records/serializer.mts';
import { writingAsAdmin } from '../records/systemWriter.mts';
import { createApp, createTable } from '../catalog/create.mts';
import type { World } from '../state/sandboxState.mts';
import { newTableSchema, type NewTable } from './schemas.mts';

interface TablePath {
	Params: { app: string; table: string };
}

/** /sandbox/tables: make a table, and see all that is stored in it; docs/sandbox.md. */
export function registerTables(server: FastifyInstance, world: World): void {
	const checkNew = bodyCheck<NewTable>(newTableSchema);
	const tableOf = ({ app, table }: TablePath['Params']) =>
		findTable(world, table, findApp(world, app));

	server.get('/sandbox/tables', () => ({
		data: world.tables.all().map((table) => ({
			app: findApp(world, table.appId).internalName,
			table: table.internalName,
			id: table.id,
			header: table.header,
			fields: table.fields.map(({ name, header, type }) => ({ name, header, type })),
			records: world.records.count(table),
		})),
	}));
	server.post('/sandbox/tables', (request, reply) => {
		const table = made(world, checkNew(request.body));
		void reply.status(201);
		return { data: { appId: table.appId, tableId: table.id, internalName: table.internalName } };
	});
	server.delete<TablePath>('/sandbox/tables/:app/:table', (request, reply) => {
		const table = tableOf(request.params);
		world.records.clear(table);
		world.tables.remove(table.id);
		return reply.status(204).send();
	});
	server.get<TablePath>('/sandbox/tables/:app/:table/records', (request) => ({
		data: world.records.select(tableOf(request.params)).map(truth),
	}));
	server.get<TablePath & { Querystring: { limit?: string } }>(
		'/sandbox/tables/:app/:table/latest',
		(request) => {
			const table = tableOf(request.params);
			const showing = new Showing(world, `${request.protocol}://${request.host}`, table);
			const limit = Number(request.query.limit ?? 100) || 0;
			const order = 'r.modified DESC, r.seq DESC';
			const records = world.records.select(table, { order, limit });
			return { data: records.map((record) => showing.record(record)) };
		},
	);
	server.get<TablePath & { Querystring: { record?: string } }>(
		'/sandbox/tables/:app/:table/history',
		(request) => ({
			data: world.records.history(
				tableOf(request.params),
				request.query.record,
			) as unknown as Json[],
		}),
	);
}

/** A table of the same name is replaced, with its records. */
function made(world: World, input: NewTable): Table {
	return world.database.transaction(() => {
		const app =
			world.apps.all().find((entry) => entry.internalName === input.app) ??
			createApp(world, { internalName: input.app, timeZone: input.timeZone });
		const table = createTable(world, app, input.table);
		world.records.clear(table);
		const writing = writingAsAdmin(world, table);
		for (const { id, fields } of input.records ?? []) writing.update(id, fields, 'full', true);
		return table;
	});
}

function truth({ id, ver, created, modified, fields }: StoredRecord): JsonObject {
	return {
		id,
		ver,
		created: new Date(created).toISOString(),
		modified: new Date(modified).toISOString(),
		fields,
	};
}
