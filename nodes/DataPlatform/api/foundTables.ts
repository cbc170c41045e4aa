/**
 * Where the tables are that are addressed without an application, as it was found out in the last
 * minute.
 */
import type { ApiClient } from '../transport/client';
import { paths } from './endpoints';
import type { TableAddress } from './types';

const MAX_AGE_MS = 60_000;

/** Paths, by account and short path. */
export const foundTables = new Map<string, { path: string; foundAt: number }>();

const keyOf = ({ account }: ApiClient, shortPath: string) => `${account} ${shortPath}`;

/** @param shortPath such as `/api/v2/contacts` */
export function foundTable(client: ApiClient, shortPath: string): string | undefined {
	const found = foundTables.get(keyOf(client, shortPath));
	return found && Date.now() - found.foundAt < MAX_AGE_MS ? found.path : undefined;
}

export function noteTable(client: ApiClient, name: string, address: Required<TableAddress>) {
	const path = paths.table(address.application, address.table);
	foundTables.set(keyOf(client, paths.shortTable(name)), { path, foundAt: Date.now() });
}

export const forgetFoundTable = (client: ApiClient, shortPath: string) =>
	foundTables.delete(keyOf(client, shortPath));
