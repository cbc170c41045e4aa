import type { App, Field, Table } from '../state/model.mts';
import { notFound } from '../api/errors.mts';
import type { SandboxState } from '../state/sandboxState.mts';

/** The application with this id or internal name. Throws an ApiError (404). */
export function findApp(state: SandboxState, reference: string): App {
	const app =
		state.apps.get(reference) ?? state.apps.all().find((entry) => entry.internalName === reference);
	if (!app) throw notFound(`There is no application '${reference}'.`);
	return app;
}

/**
 * The table with this id or internal name. Without an application, it is the first table with that
 * name. The contract does not say which one a service uses. Throws an ApiError (404).
 */
export function findTable(state: SandboxState, reference: string, app?: App): Table {
	const found = state.tables
		.all()
		.find(
			(table) =>
				(!app || table.appId === app.id) &&
				(table.id === reference || table.internalName === reference),
		);
	if (found) return found;
	throw notFound(`There is no table '${reference}'${app ? ` in '${app.internalName}'` : ''}.`);
}

/** The field that upserts find records by: the marked one, otherwise the table's first. */
export function importKey({ fields }: Table): Field | undefined {
	return fields.find((field) => field.metadata.importKey) ?? fields[0];
}

/** The application that contains the table. */
export function appOf(state: SandboxState, table: Table): App {
	return findApp(state, table.appId);
}

/** The table that a link field points to. Throws an ApiError (404). */
export function linkedTable(state: SandboxState, table: Table, field: Field): Table {
	const reference = field.metadata.linkTableId ?? '';
	return state.tables.get(reference) ?? findTable(state, reference, appOf(state, table));
}

/** The URL of a table in responses. */
export function tableUrl(state: SandboxState, origin: string, table: Table): string {
	const app = encodeURIComponent(appOf(state, table).internalName);
	return `${origin}/api/v2/apps/${app}/tables/${encodeURIComponent(table.internalName)}`;
}

/** Whether the field holds attachments, whose bytes are in the file store. */
export function isFileField(field: Field): boolean {
	return field.type === 'picture' || field.type === 'file';
}
