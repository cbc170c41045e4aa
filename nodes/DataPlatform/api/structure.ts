/**
 * Applications and tables, and how a table is defined.
 */
import type { IDataObject } from 'n8n-workflow';

import { invalidResponse, toApplication, toList, toTable, toUser } from './decoders';
import { paths } from './endpoints';
import type { Application, TableDefinition } from './types';
import { InputError, serviceErrorOrThrow, ServiceError } from '../transport/errors';
import type { ApiClient } from '../transport/client';
import { membersOf } from '../transport/json';
import { LABELS } from '../labels';

/** Reads a response with `decode`. @throws {ServiceError} if it does not hold what was requested */
export async function read<T>(
	client: ApiClient,
	path: string,
	what: string,
	decode: (data: unknown) => T | undefined,
): Promise<T> {
	const { body, status } = await client.request({ method: 'GET', path, retryMode: 'read' });
	const value = decode(body.data);
	if (value === undefined) throw invalidResponse(what, status);
	return value;
}

/** @throws {ServiceError} */
export const readApplications = async (client: ApiClient): Promise<Application[]> =>
	await read(client, paths.applications(), 'list of applications', (data) =>
		toList(data, toApplication),
	);

/** The user that the token belongs to. @throws {ServiceError} */
export const readCurrentUser = async (client: ApiClient): Promise<IDataObject> =>
	await read(client, paths.currentUser(), 'user', toUser);

/** The IANA time zone of an application; undefined if the platform does not tell it. */
export async function readTimeZone(
	client: ApiClient,
	application: string,
): Promise<string | undefined> {
	const path = paths.application(application);
	const result = await client.tryRequest({ method: 'GET', path, retryMode: 'read' });
	if (result instanceof ServiceError) return undefined;
	const { timeZone } = membersOf(result.body.data);
	return typeof timeZone === 'string' && timeZone !== '' ? timeZone : undefined;
}

/** The tables of an application. @throws {ServiceError} if there is no such application */
export const readTables = async (
	client: ApiClient,
	application: string,
): Promise<TableDefinition[]> =>
	await read(client, paths.tables(application), 'list of tables', (data) => toList(data, toTable));

/** Looks for a table in all applications. */
export async function findTable(client: ApiClient, name: string) {
	const applications = await readApplications(client).catch((thrown: unknown) => {
		const error = serviceErrorOrThrow(thrown);
		if (error.status !== 403) throw error;
		const hint = `Choose the application in '${LABELS.application}': the token may not list the applications to look for the table.`;
		throw new ServiceError(error.message, { ...error, hint });
	});
	const found: Array<{ application: Application; table: TableDefinition }> = [];
	for (const application of applications) {
		for (const table of await readTables(client, application.id)) {
			if (table.id === name || table.internalName === name) found.push({ application, table });
		}
	}
	if (found.length > 1) {
		const where = found.map(({ application }) => application.name).join(', ');
		throw new InputError(`Several applications have a table '${name}': ${where}`, {
			hint: `Choose one in '${LABELS.application}'.`,
		});
	}
	const [only] = found;
	if (only) return only;
	throw new ServiceError(`No application that this token can see has a table '${name}'`, {
		delivery: 'rejected',
		status: 404,
		hint: "Choose the application and the table from their lists, or check the table's name.",
	});
}
