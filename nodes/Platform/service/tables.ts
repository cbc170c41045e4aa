/**
 * Applications and tables: what there is, and how a table is defined (contract.md section 3).
 */
import type { IDataObject } from 'n8n-workflow';

import {
	paths,
	toApplication,
	toTable,
	type Application,
	type TableAddress,
	type TableDefinition,
} from './contract';
import { InputError, ServiceError } from './errors';
import type { Connection } from './request';

const read = async (connection: Connection, path: string) =>
	(await connection.request({ method: 'GET', path, repeat: 'reads' })).body.data;

const list = (data: unknown) => (Array.isArray(data) ? (data as unknown[]) : []);

const isPresent = <T>(value: T | undefined): value is T => value !== undefined;

/** @throws {ServiceError} */
export async function readApplications(connection: Connection): Promise<Application[]> {
	const data = await read(connection, paths.applications());
	return list(data).map(toApplication).filter(isPresent);
}

/** One application. @throws {ServiceError} */
export async function readApplication(connection: Connection, name: string): Promise<Application> {
	const application = toApplication(await read(connection, paths.application(name)));
	if (application) return application;
	throw new ServiceError(`The platform's answer holds no application '${name}'`, {
		certainty: 'unsent',
	});
}

/** Who the token belongs to, as the platform tells it. @throws {ServiceError} */
export async function readCurrentUser(connection: Connection): Promise<IDataObject> {
	return ((await read(connection, paths.currentUser())) ?? {}) as IDataObject;
}

/** @throws {ServiceError} */
export async function readTables(
	connection: Connection,
	application: string,
): Promise<TableDefinition[]> {
	const data = await read(connection, paths.tables(application));
	return list(data).map(toTable).filter(isPresent);
}

const isCalled = (name: string) => (table: TableDefinition) =>
	table.id === name || table.internalName === name;

/** A table that is addressed without an application is looked for in all of them. */
async function findTable(connection: Connection, name: string): Promise<TableDefinition> {
	const applications = await readApplications(connection);
	const found: Array<{ application: Application; table: TableDefinition }> = [];
	for (const application of applications) {
		const tables = await readTables(connection, application.id);
		found.push(...tables.filter(isCalled(name)).map((table) => ({ application, table })));
	}
	if (found.length > 1) {
		const where = found.map(({ application }) => application.name).join(', ');
		throw new InputError(`Several applications have a table '${name}': ${where}`, {
			hint: "Choose one in 'Application'.",
		});
	}
	const only = found[0];
	if (!only) {
		throw new ServiceError(`No application that this token sees has a table '${name}'`, {
			certainty: 'refused',
			status: 404,
			hint: "Choose the application and the table from their lists, or check the table's name.",
		});
	}
	return only.table;
}

/**
 * The definition of a table. Never kept from one execution to the next: fields change.
 *
 * @throws {ServiceError} where it can't be read, or has no fields
 * @throws {InputError} where the name fits several tables
 */
export async function readTable(
	connection: Connection,
	{ application, table }: TableAddress,
): Promise<TableDefinition> {
	const definition = application
		? toTable(await read(connection, paths.table(application, table)))
		: await findTable(connection, table);
	if (!definition || definition.fields.length === 0) {
		throw new ServiceError(`The platform told no fields of table '${table}'`, {
			certainty: 'refused',
			hint: "Check that the token's role may see the table's structure.",
		});
	}
	return definition;
}
