/**
 * What every list of the editor needs: an API client, the table that is chosen, and errors that
 * say why a list can't be loaded; it is never silently empty.
 */
import { NodeApiError, type ILoadOptionsFunctions, type JsonObject } from 'n8n-workflow';

import { createEditorClient } from '../execution/createClient';
import { toFailure } from '../execution/itemResults';
import { parameterText, pickedApplication } from '../execution/locator';
import { linkedTable } from '../execution/linkInput';
import type { FieldDefinition, TableDefinition } from '../api/types';
import { InputError } from '../transport/errors';
import type { ApiClient } from '../transport/client';
import { readTable } from '../api/tables';

/** Runs what a list needs; an error reaches the editor in the user's words. */
export async function inEditor<T>(
	context: ILoadOptionsFunctions,
	work: (client: ApiClient) => Promise<T>,
): Promise<T> {
	try {
		return await work(await createEditorClient(context));
	} catch (error) {
		const { message, hint } = toFailure(error);
		throw new NodeApiError(context.getNode(), { message } as JsonObject, {
			message,
			description: hint,
		});
	}
}

/** The application that is picked; undefined where none is. @throws {InputError} */
export const chosenApplication = (context: ILoadOptionsFunctions): string | undefined => {
	const value = context.getCurrentNodeParameter('application');
	return pickedApplication(value, value);
};

/** The chosen table's definition. @throws {InputError} where none is chosen yet */
export async function requireTable(
	context: ILoadOptionsFunctions,
	client: ApiClient,
): Promise<TableDefinition> {
	const table = await chosenTable(context, client);
	if (table) return table;
	throw new InputError('No table is chosen', { field: 'Table', hint: 'Choose a table first.' });
}

/** The chosen table's definition; undefined where none is chosen yet. @throws {ServiceError} */
export async function chosenTable(
	context: ILoadOptionsFunctions,
	client: ApiClient,
): Promise<TableDefinition | undefined> {
	const table = parameterText(context.getCurrentNodeParameter('table'), 'table', 'Table');
	if (table === '') return undefined;
	return await readTable(client, { application: chosenApplication(context), table });
}

/** The tables that link fields of the chosen table lead to, each once. @throws {ServiceError} */
export async function linkedTables(
	context: ILoadOptionsFunctions,
	client: ApiClient,
	fields: FieldDefinition[],
): Promise<TableDefinition[]> {
	const at = { application: chosenApplication(context), table: '' };
	const targets = new Map(fields.map((field) => [field.metadata.linkTableId, field]));
	return await Promise.all(
		[...targets.values()].map(
			async (field) =>
				(await linkedTable(async (address) => await readTable(client, address), at, field)).table,
		),
	);
}
