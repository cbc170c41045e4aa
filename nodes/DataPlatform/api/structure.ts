/**
 * Applications and tables, and how a table is defined.
 */
import type { IDataObject } from 'n8n-workflow';

import { invalidResponse, toApplication, toList, toTable, toUser } from './decoders';
import { paths } from './endpoints';
import type { Application, TableAddress, TableDefinition } from './types';
import { didYouMean } from '../transport/closestName';
import { InputError, isNotFound, serviceErrorOrThrow, ServiceError } from '../transport/errors';
import type { ApiClient } from '../transport/client';
import { nameList } from '../transport/messageText';
import { LABELS } from '../labels';

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

const named = (all: Array<{ internalName: string; header?: string; name?: string }>) =>
	all.map(({ internalName, header, name }) => ({ name: internalName, header: header ?? name }));

/** How many applications or tables a hint lists. */
const NAMES_SHOWN = 20;

/** Says which of both does not exist, and what is called nearly the same: two more requests. */
async function describeMissing(
	client: ApiClient,
	{ application, table }: { application: string; table: string },
	error: ServiceError,
): Promise<ServiceError> {
	const missing = (message: string, wanted: string, known: ReturnType<typeof named>) =>
		new ServiceError(`${message}${didYouMean(wanted, known)}`, {
			...error,
			hint: `The token can see: ${
				nameList(
					known.map(({ name }) => name),
					NAMES_SHOWN,
				) || 'none'
			}.`,
		});
	const applications = await readApplications(client);
	if (!applications.some(({ id, internalName }) => [id, internalName].includes(application)))
		return missing(`There is no application '${application}'`, application, named(applications));
	const tables = await readTables(client, application);
	if (tables.some(isCalled(table))) return error;
	return missing(`Application '${application}' has no table '${table}'`, table, named(tables));
}

/** Looks for a table in all applications, if none is given. */
async function findTable(client: ApiClient, name: string): Promise<TableDefinition> {
	const applications = await readApplications(client);
	const found: Array<{ application: Application; table: TableDefinition }> = [];
	const all: TableDefinition[] = [];
	for (const application of applications) {
		const tables = await readTables(client, application.id);
		all.push(...tables);
		found.push(...tables.filter(isCalled(name)).map((table) => ({ application, table })));
	}
	if (found.length > 1) {
		const where = found.map(({ application }) => application.name).join(', ');
		throw new InputError(`Several applications have a table '${name}': ${where}`, {
			hint: `Choose one in '${LABELS.application}'.`,
		});
	}
	const only = found[0];
	if (!only) {
		throw new ServiceError(
			`No application that this token can see has a table '${name}'${didYouMean(name, named(all))}`,
			{
				delivery: 'rejected',
				status: 404,
				hint: "Choose the application and the table from their lists, or check the table's name.",
			},
		);
	}
	return only.table;
}

/** A table of an application. If it does not exist, the error says what is called nearly the same. */
const readIn = async (client: ApiClient, application: string, table: string) =>
	await read(client, paths.table(application, table), `table '${table}'`, toTable).catch(
		async (thrown: unknown) => {
			const error = serviceErrorOrThrow(thrown);
			if (!isNotFound(error)) throw error;
			throw await describeMissing(client, { application, table }, error).catch(() => error);
		},
	);

/**
 * The definition of a table, as it is now.
 *
 * @throws {ServiceError} if it can't be read, or has no fields
 * @throws {InputError} if several tables have this name
 */
export async function readTable(
	client: ApiClient,
	{ application, table }: TableAddress,
): Promise<TableDefinition> {
	const definition = application
		? await readIn(client, application, table)
		: await findTable(client, table);
	if (definition.fields.length === 0) {
		throw new ServiceError(`The response contains no fields of table '${table}'`, {
			delivery: 'rejected',
			hint: "Check that the token's role may see the table's structure.",
		});
	}
	return definition;
}
