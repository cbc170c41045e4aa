import { requireRight, requireTableToken, roleAllows, roleOf } from '../access/rights.mts';
import { addressedTable, type ApiRequest, type Handler } from '../api/request.mts';
import { findApp, linkedTable } from '../catalog/find.mts';
import { forbidden } from '../api/errors.mts';
import type { SandboxState } from '../state/sandboxState.mts';
import {
	rights,
	type App,
	type Field,
	type FieldType,
	type JsonObject,
	type Table,
} from '../state/model.mts';

/** GET /apps: those in which the token has any right. */
export const listApps: Handler = (request) => {
	requireTableToken(request.token);
	const apps = request.state.apps.all().filter((app) => isVisible(request, app));
	return { status: 200, body: { data: apps.map(appSummary) } };
};

/** GET /apps/{app}. */
export const getApp: Handler = (request) => {
	const app = visibleApp(request);
	const tables = visibleTables(request, app);
	// The contract leaves modules open; the sandbox has one, with all tables.
	const module = {
		shortId: app.id.slice(0, 6),
		header: app.name,
		tableIds: tables.map((table) => table.id),
	};
	const shown = tables.map((table) => tableDefinition(request.state, table));
	// Observed, not documented.
	const observed = { timeZone: app.timeZone, isMultiLanguage: false, namesI18n: {} };
	const data = {
		...appSummary(app),
		...(request.state.settings.definition === 'full' && observed),
		modules: [module],
		tables: shown,
	};
	return { status: 200, body: { data } };
};

/** GET /apps/{app}/tables: those whose structure the token may read. */
export const listTables: Handler = (request) => ({
	status: 200,
	body: {
		data: visibleTables(request, visibleApp(request)).map((table) =>
			tableDefinition(request.state, table),
		),
	},
});

/** GET /apps/{app}/tables/{table}: with its saved views and scripts. */
export const getTable: Handler = (request) => {
	const { app, table } = addressedTable(request);
	requireRight(request.state, request.token, 'structure', app, table);
	const userFilters = table.views.map(({ id, name, description, visibility }) => ({
		id,
		name,
		description,
		visibility,
	}));
	const data = {
		...tableDefinition(request.state, table),
		settings: { userFilters },
		scripts: table.scripts,
	};
	return { status: 200, body: { data } };
};

/** GET /apps/{app}/schemas/{table}. */
export const getSchema: Handler = getTable;

function visibleApp(request: ApiRequest): App {
	requireTableToken(request.token);
	const app = findApp(request.state, request.params.app ?? '');
	if (!isVisible(request, app)) throw forbidden(`The token's role has no right in '${app.name}'.`);
	return app;
}

function isVisible({ state, token }: ApiRequest, app: App): boolean {
	const role = roleOf(state, token);
	return rights.some((right) => roleAllows(role, right, app));
}

function visibleTables({ state, token }: ApiRequest, app: App): Table[] {
	const role = roleOf(state, token);
	return state.tables
		.all()
		.filter((table) => table.appId === app.id && roleAllows(role, 'structure', app, table));
}

function appSummary({ id, name, internalName }: App): JsonObject {
	return { id, name, internalName };
}

function tableDefinition(state: SandboxState, table: Table): JsonObject {
	return {
		id: table.id,
		shortid: table.shortid,
		internalNameApi: table.internalName,
		header: table.header,
		items: table.fields.map((field) => fieldDefinition(state, table, field)),
	};
}

const olderTypeNames: Partial<Record<FieldType, string>> = {
	buttonform: 'button',
	freehtmlinput: 'freehtml',
	calculated: 'calculatedfield',
};

/** Metadata that no public definition shows. */
const undocumented = ['importKey', 'multiple', 'linkTableId', 'readOnly'] as const;

/** Without the metadata that only the sandbox uses (a template, a source, a number series, one file). */
function fieldDefinition(state: SandboxState, table: Table, field: Field): JsonObject {
	const { name, header, type } = field;
	const {
		template: _template,
		source: _source,
		series,
		oneFile: _oneFile,
		...shared
	} = field.metadata;
	const isReadOnly = type === 'calculated' || type === 'system_type' || series;
	const metadata = {
		...shared,
		...(type === 'schema_link' && { linkTableId: linkedTableId(state, table, field) }),
		...(isReadOnly && { readOnly: true }),
	};
	if (state.settings.definition === 'documented') {
		for (const key of undocumented) delete metadata[key];
	}
	const older = olderTypeNames[type];
	const shownType = older && state.settings.typeNames === 'older' ? older : type;
	return { [table.fieldNameProperty]: name, header, type: shownType, metadata };
}

/** A link may name a table that is not created yet; then there is no id to return. */
function linkedTableId(state: SandboxState, table: Table, field: Field): string {
	try {
		return linkedTable(state, table, field).id;
	} catch {
		return field.metadata.linkTableId ?? '';
	}
}
