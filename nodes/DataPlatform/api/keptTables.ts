/**
 * Definitions of tables that are kept from one execution to the next, in the memory of the process.
 * They may be out of date: only for what the platform checks itself, or what is checked again with a
 * fresh one before it fails. docs/running.md, "What may be
 * a minute old".
 */
import type { ApiClient } from '../transport/client';
import { addressKey } from './endpoints';
import { readTable } from './structure';
import type { FieldMetadata, TableAddress, TableDefinition } from './types';

const MAX_AGE_MS = 60_000;

const MAX_TABLES = 50;

/** By account and address, the oldest first. */
export const keptTables = new Map<string, { table: TableDefinition; askedAt: number }>();

/** Another token may see other fields. */
const keyOf = (client: ApiClient, address: TableAddress) =>
	`${client.account} ${addressKey(address)}`;

export type LearnedLink = Pick<FieldMetadata, 'multiple' | 'linkTableId' | 'linkApplication'>;

/** What records showed of a table that its definition does not say. It stays true. */
interface LearnedFacts {
	/** By the link field's name. */
	links: Map<string, LearnedLink>;
	/** The field by which an upsert was seen to find a record. */
	importKey?: string;
}

/** By account and address, as long as the process runs. */
export const learnedFacts = new Map<string, LearnedFacts>();

export function learnedOf(client: ApiClient, address: TableAddress): LearnedFacts {
	const key = keyOf(client, address);
	const facts = learnedFacts.get(key) ?? { links: new Map<string, LearnedLink>() };
	learnedFacts.set(key, facts);
	return facts;
}

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

/** A table's definition as it is now, kept for later executions. @throws as `readTable` does */
export async function readAndKeep(
	client: ApiClient,
	address: TableAddress,
): Promise<TableDefinition> {
	const askedAt = Date.now();
	const table = await readTable(client, address);
	keepTable(client, address, table, askedAt);
	return table;
}

export type ReadDefinition = (address: TableAddress) => Promise<TableDefinition>;

/**
 * Checks something with definitions of tables that may be a minute old. What it does not accept is
 * checked once more, with fresh ones.
 *
 * @param check throws what is wrong; it may read the definitions of other tables
 */
export async function checkWithKept<T>(
	client: ApiClient,
	address: TableAddress,
	check: (table: TableDefinition, definition: ReadDefinition) => T | Promise<T>,
	readFresh: ReadDefinition = async (other) => await readAndKeep(client, other),
): Promise<T> {
	const used: TableAddress[] = [];
	const definition = async (other: TableAddress) => {
		const kept = keptTable(client, other);
		if (kept) used.push(other);
		return kept ?? (await readFresh(other));
	};
	const tryCheck = async () => await check(await definition(address), definition);
	return await tryCheck().catch(async (error: unknown) => {
		if (used.length === 0) throw error;
		// The fresh definitions decide.
		for (const other of used) forgetTable(client, other);
		return await tryCheck();
	});
}

export const forgetTable = (client: ApiClient, address: TableAddress) =>
	keptTables.delete(keyOf(client, address));
