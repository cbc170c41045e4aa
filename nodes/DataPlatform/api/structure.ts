/**
 * Applications and tables, and how a table is defined.
 */
import type { IDataObject } from 'n8n-workflow';

import { invalidResponse, toApplication, toList, toTable, toUser } from './decoders';
import { paths } from './endpoints';
import type { Application, TableAt, TableDefinition } from './types';
import { didYouMean } from '../transport/closestName';
import { InputError, isNotFound, serviceErrorOrThrow, ServiceError } from '../transport/errors';
import type { ApiClient } from '../transport/client';
import { membersOf } from '../transport/json';
import { nameList } from '../transport/messageText';
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

const isCalled = (wanted: string) => (one: Pick<Application, 'id' | 'internalName'>) =>
	one.id === wanted || one.internalName === wanted;

/** How many applications or tables a hint lists. */
const NAMES_SHOWN = 20;

/** A 404 that says what is called nearly the same. */
function missing(
	what: string,
	wanted: string,
	{ of, known }: { of: string; known: Array<{ name: string; header?: string }> },
	error: ServiceError,
) {
	const names = known.map(({ name }) => name);
	return new ServiceError(`${what}${didYouMean(wanted, known)}`, {
		...error,
		outcome: undefined,
		hint: `The token can see ${names.length > 0 ? `the ${of} ${nameList(names, NAMES_SHOWN)}` : `no ${of}`}.`,
	});
}

/** The error of a request to an application, which may not exist: then one more request. */
async function withApplications(client: ApiClient, application: string, error: ServiceError) {
	const all = isNotFound(error) ? await readApplications(client) : [];
	if (all.length === 0 || all.some(isCalled(application))) return error;
	const known = all.map(({ internalName, name }) => ({ name: internalName, header: name }));
	const what = `There is no application '${application}'`;
	return missing(what, application, { of: 'applications', known }, error);
}

/**
 * The tables of an application.
 *
 * @throws {ServiceError} if there is no such application, with what is called nearly the same
 */
export const readTables = async (
	client: ApiClient,
	application: string,
): Promise<TableDefinition[]> =>
	await read(client, paths.tables(application), 'list of tables', (data) =>
		toList(data, toTable),
	).catch(async (thrown: unknown) => {
		const error = serviceErrorOrThrow(thrown);
		throw await withApplications(client, application, error).catch(() => error);
	});

const named = (tables: TableDefinition[]) =>
	tables.map(({ internalName, header }) => ({ name: internalName, header }));

/** A table, and the ID of its application. */
interface FoundTable {
	application: string;
	table: TableDefinition;
}

/** Looks for a table in all applications. */
export async function findTable(client: ApiClient, name: string): Promise<FoundTable> {
	const applications = await readApplications(client).catch((thrown: unknown) => {
		const error = serviceErrorOrThrow(thrown);
		if (error.status !== 403) throw error;
		const hint = `Choose the application in '${LABELS.application}': the token may not list the applications to look for the table.`;
		throw new ServiceError(error.message, { ...error, hint });
	});
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
	return { application: only.application.id, table: only.table };
}

/**
 * Why a request to a table's address was answered with a 404, and what is called nearly the same; one
 * or two requests for a table of an application. Undefined if the table exists, or nothing is known.
 */
export async function whyMissing(
	{ client, at: { application, table } }: TableAt,
	error: ServiceError,
): Promise<ServiceError | undefined> {
	if (!application) {
		const failure = await findTable(client, table).catch((thrown: unknown) => thrown);
		if (!(failure instanceof ServiceError) || failure.status !== 404) return undefined;
		return failure;
	}
	const tables = await readTables(client, application).catch(serviceErrorOrThrow);
	if (tables instanceof ServiceError) return isNotFound(tables) ? tables : undefined;
	if (tables.some(isCalled(table))) return undefined;
	const what = `Application '${application}' has no table '${table}'`;
	return missing(what, table, { of: 'tables', known: named(tables) }, error);
}
