/**
 * What every list of the editor needs: a connection, the table that is chosen, and errors that
 * say why a list can't be loaded; it is never silently empty.
 */
import { NodeApiError, type ILoadOptionsFunctions, type JsonObject } from 'n8n-workflow';

import { createEditorClient } from '../execution/createClient';
import { toFailure } from '../execution/itemResults';
import type { TableDefinition } from '../api/types';
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

/** What is picked in a resource locator; empty where nothing is. */
export const chosen = (context: ILoadOptionsFunctions, name: string): string => {
	const value = context.getCurrentNodeParameter(name, { extractValue: true });
	return typeof value === 'string' ? value.trim() : '';
};

/** The chosen table's definition; undefined where none is chosen yet. */
export async function chosenTable(
	context: ILoadOptionsFunctions,
	client: ApiClient,
): Promise<TableDefinition | undefined> {
	const table = chosen(context, 'table');
	const application = chosen(context, 'application') || undefined;
	return table === '' ? undefined : await readTable(client, { application, table });
}
