import { createApp, createTable } from '../catalog/create.mts';
import type { App, JsonObject, Table } from '../state/model.mts';
import { systemWriter } from '../records/systemWriter.mts';
import type { SandboxState } from '../state/sandboxState.mts';
import { companies, contacts, deals } from './crmRecords.mts';
import { companyTable, contactTable, dealTable, syncRunTable } from './crmTables.mts';
import { uuidOf } from '../catalog/ids.mts';

/** The application `crm`: companies, contacts linked to them, deals with every field type, and reports of syncs. */
export function seedCrm(state: SandboxState): void {
	const app = createApp(state, {
		name: 'Customers',
		internalName: 'crm',
		timeZone: 'Europe/Berlin',
	});
	const write = (input: Parameters<typeof createTable>[2], rows: JsonObject[]) =>
		writeAll(state, createTable(state, app, input), app, rows);
	write(companyTable, companies);
	write(contactTable, contacts(companyId));
	write(dealTable, deals(companyId, contactId));
	write(syncRunTable, []);
}

function writeAll(state: SandboxState, table: Table, app: App, rows: JsonObject[]): void {
	const key = table.fields.find((field) => field.metadata.importKey)?.name ?? '';
	const writer = systemWriter(state, table);
	for (const row of rows) {
		writer.update(recordId(app, table, String(row[key])), row, 'replace', true);
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
