/**
 * Definitions of tables that are kept from one execution to the next, in the memory of the process.
 * They may be out of date: only for what the platform checks itself, or what is checked again with a
 * fresh one before it fails. docs/running.md, "What may be
 * a minute old".
 */
import type { ApiClient } from '../transport/client';
import { addressKey } from './endpoints';
import type { TableAddress, TableDefinition } from './types';

const MAX_AGE_MS = 60_000;

const MAX_TABLES = 50;

/** By account and address, the oldest first. */
export const keptTables = new Map<string, { table: TableDefinition; askedAt: number }>();

/** Another token may see other fields. */
const keyOf = (client: ApiClient, address: TableAddress) =>
	`${client.account} ${addressKey(address)}`;

/** A definition that was asked for in the last minute; undefined if there is none. */
export function keptTable(client: ApiClient, address: TableAddress): TableDefinition | undefined {
	const entry = keptTables.get(keyOf(client, address));
	return entry && Date.now() - entry.askedAt < MAX_AGE_MS ? entry.table : undefined;
}

/** @param askedAt when it was asked for, in milliseconds since 1970 */
export function keepTable(
	client: ApiClient,
	address: TableAddress,
	table: TableDefinition,
	askedAt: number,
) {
	const key = keyOf(client, address);
	keptTables.delete(key);
	keptTables.set(key, { table, askedAt });
	const [oldest] = keptTables.keys();
	if (keptTables.size > MAX_TABLES) keptTables.delete(oldest!);
}

export const forgetTable = (client: ApiClient, address: TableAddress) =>
	keptTables.delete(keyOf(client, address));
