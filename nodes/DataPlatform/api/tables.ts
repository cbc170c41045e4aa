/**
 * Applications and tables: what there is, and how a table is defined.
 */
import type { IDataObject } from 'n8n-workflow';

import { toApplication, toList, toTable } from './decoders';
import { paths } from './endpoints';
import type { Application, TableAddress, TableDefinition } from './types';
import { InputError, ServiceError } from '../transport/errors';
import type { ApiClient } from '../transport/client';

const read = async (client: ApiClient, path: string) =>
	(await client.request({ method: 'GET', path, retryMode: 'read' })).body.data;

const unreadable = (what: string) =>
	new ServiceError(`The response contains no ${what}`, {
		delivery: 'notApplied',
		hint: 'A proxy or gateway may answer in its place: check the address and the network.',
	});

/** @throws {ServiceError} */
export async function readApplications(client: ApiClient): Promise<Application[]> {
	const list = toList(await read(client, paths.applications()), toApplication);
	if (!list) throw unreadable('list of applications');
	return list;
}

/** One application. @throws {ServiceError} */
export async function readApplication(client: ApiClient, name: string): Promise<Application> {
	const application = toApplication(await read(client, paths.application(name)));
	if (application) return application;
	throw unreadable(`application '${name}'`);
}

const isUser = (value: unknown): value is IDataObject =>
	typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string';

/** Who the token belongs to. @throws {ServiceError} */
export async function readCurrentUser(client: ApiClient): Promise<IDataObject> {
	const user = await read(client, paths.currentUser());
	if (isUser(user)) return user;
	throw unreadable('user');
}

/** @throws {ServiceError} */
export async function readTables(
	client: ApiClient,
	application: string,
): Promise<TableDefinition[]> {
	const list = toList(await read(client, paths.tables(application)), toTable);
	if (!list) throw unreadable('list of tables');
	return list;
}

const isCalled = (name: string) => (table: TableDefinition) =>
	table.id === name || table.internalName === name;

/** A table that is addressed without an application is looked for in all of them. */
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
		throw new ServiceError(`No application that this token sees has a table '${name}'`, {
			delivery: 'rejected',
			status: 404,
			hint: "Choose the application and the table from their lists, or check the table's name.",
		});
	}
	return only.table;
}

async function readTableOf(client: ApiClient, application: string, table: string) {
	const definition = toTable(await read(client, paths.table(application, table)));
	if (!definition) throw unreadable(`table '${table}'`);
	return definition;
}

/**
 * The definition of a table. Never kept from one execution to the next: fields change.
 *
 * @throws {ServiceError} where it can't be read, or has no fields
 * @throws {InputError} where the name fits several tables
 */
export async function readTable(
	client: ApiClient,
	{ application, table }: TableAddress,
): Promise<TableDefinition> {
	const definition = application
		? await readTableOf(client, application, table)
		: await findTable(client, table);
	if (definition.fields.length === 0) {
		throw new ServiceError(`The response contains no fields of table '${table}'`, {
			delivery: 'rejected',
			hint: "Check that the token's role may see the table's structure.",
		});
	}
	return definition;
}
