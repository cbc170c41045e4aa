/**
 * What every list in the editor needs: an API client, the chosen table, and errors that say why the
 * list can't be loaded. A list is never silently empty.
 */
import { NodeApiError, type ILoadOptionsFunctions, type JsonObject } from 'n8n-workflow';

import { createEditorClient } from '../execution/createClient';
import { ParameterReader } from '../execution/parameter';
import { toFailure } from '../parameters/failure';
import { linkedTable, linkValues, type LinkParameter } from '../parameters/links';
import { shownParameters } from '../parameters/operation';
import {
	chosenApplication,
	table,
	tableParameters,
	type TableParameter,
} from '../parameters/table';
import type { FieldDefinition, TableDefinition } from '../api/types';
import type { ApiClient } from '../transport/client';
import { readTable } from '../api/tables';

/** Runs the work of a list. Its errors reach the editor in words for the user. */
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

const { shown } = shownParameters(tableParameters, [linkValues]);

/** The parameters in the panel, whose expressions are resolved as far as possible. */
export const panelOf = (context: ILoadOptionsFunctions) =>
	new ParameterReader<TableParameter | LinkParameter>(
		shown,
		(path, _, preset) => context.getCurrentNodeParameter(path) ?? preset,
		() => context.getTimezone(),
	);

/** The chosen application; undefined if there is none. @throws {InputError} */
export const applicationIn = (context: ILoadOptionsFunctions): string | undefined =>
	chosenApplication(panelOf(context), 0);

/** The chosen table's definition. @throws {InputError} if none is chosen yet */
export async function requireTable(
	context: ILoadOptionsFunctions,
	client: ApiClient,
): Promise<TableDefinition> {
	const chosen = await chosenTable(context, client);
	if (chosen) return chosen;
	throw table.error('No table is chosen', 'Choose a table first.');
}

const optionalTable = table.with({ required: false });

/** The chosen table's definition; undefined if none is chosen yet. @throws {ServiceError} */
export async function chosenTable(
	context: ILoadOptionsFunctions,
	client: ApiClient,
): Promise<TableDefinition | undefined> {
	const chosen = optionalTable.of(panelOf(context), 0);
	if (chosen === '') return undefined;
	return await readTable(client, { application: applicationIn(context), table: chosen });
}

/** The tables that link fields of the chosen table point to, each once. @throws {ServiceError} */
export async function linkedTables(
	context: ILoadOptionsFunctions,
	client: ApiClient,
	fields: FieldDefinition[],
): Promise<TableDefinition[]> {
	const at = { application: applicationIn(context), table: '' };
	const targets = new Map(fields.map((field) => [field.metadata.linkTableId, field]));
	return await Promise.all(
		[...targets.values()].map(
			async (field) =>
				(await linkedTable(async (address) => await readTable(client, address), at, field)).table,
		),
	);
}
