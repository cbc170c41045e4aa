/**
 * Applications and tables, and how a table is defined.
 */
import type { IDataObject } from 'n8n-workflow';

import { invalidResponse, toApplication, toList, toTable, toUser } from './decoders';
import { paths } from './endpoints';
import type { Application, TableAddress, TableDefinition } from './types';
import { InputError, ServiceError } from '../transport/errors';
import type { ApiClient } from '../transport/client';

/** Reads a response with `decode`. @throws {ServiceError} if it does not hold what was requested */
async function read<T>(
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

/** One application. @throws {ServiceError} */
export const readApplication = async (client: ApiClient, name: string): Promise<Application> =>
	await read(client, paths.application(name), `application '${name}'`, toApplication);

/** The user that the token belongs to. @throws {ServiceError} */
export const readCurrentUser = async (client: ApiClient): Promise<IDataObject> =>
	await read(client, paths.currentUser(), 'user', toUser);

/** @throws {ServiceError} */
export const readTables = async (
	client: ApiClient,
	application: string,
): Promise<TableDefinition[]> =>
	await read(client, paths.tables(application), 'list of tables', (data) => toList(data, toTable));

const isCalled = (name: string) => (table: TableDefinition) =>
	table.id === name || table.internalName === name;

/** Looks for a table in all applications, if none is given. */
async function findTable(client: ApiClient, name: string): Promise<TableDefinition> {
	const applications = await readApplications(client);
	const found: Array<{ application: Application; table: TableDefinition }> = [];
	for (const application of applications) {
		const tables = await readTables(client, application.id);
		found.push(...tables.filter(isCalled(name)).map((table) => ({ application, table })));
	}
	if (found.length > 1) {
		const where = found.map(({ application }) => application.name).join(', ');
		throw new InputError(`Several applications have a table '${name}': ${where}`, {
			hint: { code: 'chooseApplication' },
		});
	}
	const only = found[0];
	if (!only) {
		throw new ServiceError(`No application that this token can see has a table '${name}'`, {
			delivery: 'rejected',
			status: 404,
			hint: "Choose the application and the table from their lists, or check the table's name.",
		});
	}
	return only.table;
}

/**
 * The definition of a table. Never kept from one execution to the next, because fields change.
 *
 * @throws {ServiceError} if it can't be read, or has no fields
 * @throws {InputError} if several tables have this name
 */
export async function readTable(
	client: ApiClient,
	{ application, table }: TableAddress,
): Promise<TableDefinition> {
	const definition = application
		? await read(client, paths.table(application, table), `table '${table}'`, toTable)
		: await findTable(client, table);
	if (definition.fields.length === 0) {
		throw new ServiceError(`The response contains no fields of table '${table}'`, {
			delivery: 'rejected',
			hint: "Check that the token's role may see the table's structure.",
		});
	}
	return definition;
}
