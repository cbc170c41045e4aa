import { demandRight, demandTableToken, roleAllows, roleOf } from '../access/rights.mts';
import { target, type Call, type Handler } from '../api/request.mts';
import { findApp, linkedTable } from '../catalog/find.mts';
import { forbidden } from '../api/errors.mts';
import type { World } from '../state/sandboxState.mts';
import type { App, Field, JsonObject, Right, Table } from '../state/model.mts';

const rights: Right[] = ['structure', 'read', 'create', 'update', 'delete'];

/** GET /apps: those that the token has any right in. */
export const listApps: Handler = (call) => {
	demandTableToken(call.token);
	const apps = call.world.apps.all().filter((app) => isVisible(call, app));
	return { status: 200, body: { data: apps.map(shortApp) } };
};

/** GET /apps/{app}. */
export const getApp: Handler = (call) => {
	const app = visibleApp(call);
	const tables = visibleTables(call, app);
	// How a service groups its tables is open: here they are all in one module.
	const module = {
		shortId: app.id.slice(0, 6),
		header: app.name,
		tableIds: tables.map((table) => table.id),
	};
	const shown = tables.map((table) => shortTable(call.world, table));
	return { status: 200, body: { data: { ...shortApp(app), modules: [module], tables: shown } } };
};

/** GET /apps/{app}/tables: those whose structure the token may see. */
export const listTables: Handler = (call) => ({
	status: 200,
	body: {
		data: visibleTables(call, visibleApp(call)).map((table) => shortTable(call.world, table)),
	},
});

/** GET /apps/{app}/tables/{table}: with its saved views and scripts. */
export const getTable: Handler = (call) => {
	const { app, table } = target(call);
	demandRight(call.world, call.token, 'structure', app, table);
	const userFilters = table.views.map(({ id, name, description, visibility }) => ({
		id,
		name,
		description,
		visibility,
	}));
	const data = {
		...shortTable(call.world, table),
		settings: { userFilters },
		scripts: table.scripts,
	};
	return { status: 200, body: { data } };
};

function visibleApp(call: Call): App {
	demandTableToken(call.token);
	const app = findApp(call.world, call.params.app ?? '');
	if (!isVisible(call, app)) throw forbidden(`The token's role has no right in '${app.name}'.`);
	return app;
}

function isVisible({ world, token }: Call, app: App): boolean {
	const role = roleOf(world, token);
	return rights.some((right) => roleAllows(role, right, app));
}

function visibleTables({ world, token }: Call, app: App): Table[] {
	const role = roleOf(world, token);
	return world.tables
		.all()
		.filter((table) => table.appId === app.id && roleAllows(role, 'structure', app, table));
}

function shortApp({ id, name, internalName }: App): JsonObject {
	return { id, name, internalName };
}

function shortTable(world: World, table: Table): JsonObject {
	return {
		id: table.id,
		shortid: table.shortid,
		internalNameApi: table.internalName,
		header: table.header,
		items: table.fields.map((field) => item(world, table, field)),
	};
}

/** What only the sandbox needs to know (a formula, a source) is not told. */
function item(world: World, table: Table, field: Field): JsonObject {
	const { name, header, type } = field;
	const { template: _template, source: _source, ...told } = field.metadata;
	const metadata =
		type === 'schema_link' ? { ...told, linkTableId: linkedId(world, table, field) } : told;
	return { [table.fieldNameProperty]: name, header, type, metadata };
}

/** Links are made by name; clients are told the id. A table that is not there yet has none. */
function linkedId(world: World, table: Table, field: Field): string {
	try {
		return linkedTable(world, table, field).id;
	} catch {
		return field.metadata.linkTableId ?? '';
	}
}
