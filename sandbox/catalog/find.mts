import type { App, Field, Table } from '../state/model.mts';
import { notFound } from '../api/errors.mts';
import type { World } from '../state/sandboxState.mts';

/** The application in the path: by id or internal name. Throws a Problem (404). */
export function findApp(world: World, reference: string): App {
	const app =
		world.apps.get(reference) ?? world.apps.all().find((entry) => entry.internalName === reference);
	if (!app) throw notFound(`There is no application '${reference}'.`);
	return app;
}

/**
 * The table in the path: by id or internal name. Without an application the first table of that
 * name is meant (which one is open). Throws a Problem (404).
 */
export function findTable(world: World, reference: string, app?: App): Table {
	const found = world.tables
		.all()
		.find(
			(table) =>
				(!app || table.appId === app.id) &&
				(table.id === reference || table.internalName === reference),
		);
	if (found) return found;
	throw notFound(`There is no table '${reference}'${app ? ` in '${app.internalName}'` : ''}.`);
}

/** The application that a table belongs to. */
export function appOf(world: World, table: Table): App {
	return findApp(world, table.appId);
}

/** The table that a link field points to. Throws a Problem (404). */
export function linkedTable(world: World, table: Table, field: Field): Table {
	const reference = field.metadata.linkTableId ?? '';
	return world.tables.get(reference) ?? findTable(world, reference, appOf(world, table));
}

/** The address of a table, as answers tell it. */
export function tableUrl(world: World, origin: string, table: Table): string {
	const app = encodeURIComponent(appOf(world, table).internalName);
	return `${origin}/api/v2/apps/${app}/tables/${encodeURIComponent(table.internalName)}`;
}

/** The fields whose bytes lie in the file store. */
export function isFileField(field: Field): boolean {
	return field.type === 'picture' || field.type === 'file';
}
