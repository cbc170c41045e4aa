import { createApp, createTable } from '../catalog/create.mts';
import type { App, JsonObject, Table } from '../state/model.mts';
import { writingAsAdmin } from '../records/systemWriter.mts';
import type { World } from '../state/sandboxState.mts';
import { companies, contacts, deals } from './crmRecords.mts';
import { companyTable, contactTable, dealTable } from './crmTables.mts';
import { uuidOf } from '../catalog/ids.mts';

/** The application `crm`: companies, contacts linked to them, and deals with every field type. */
export function seedCrm(world: World): void {
	const app = createApp(world, {
		name: 'Customers',
		internalName: 'crm',
		timeZone: 'Europe/Berlin',
	});
	const write = (input: Parameters<typeof createTable>[2], rows: JsonObject[]) =>
		writeAll(world, createTable(world, app, input), app, rows);
	write(companyTable, companies);
	write(contactTable, contacts(companyId));
	write(dealTable, deals(companyId, contactId));
}

function writeAll(world: World, table: Table, app: App, rows: JsonObject[]): void {
	const key = table.fields.find((field) => field.metadata.importKey)?.name ?? '';
	const writing = writingAsAdmin(world, table);
	for (const row of rows) {
		writing.update(recordId(app, table, String(row[key])), row, 'full', true);
	}
}

function recordId(app: App, table: Table, key: string): string {
	return idOf(`${app.internalName}/${table.internalName}`, key);
}

function idOf(table: string, key: string): string {
	return uuidOf(`record ${table}/${key}`);
}

function companyId(name: string): string {
	return idOf('crm/companies', name);
}

function contactId(email: string): string {
	return idOf('crm/contacts', email);
}
