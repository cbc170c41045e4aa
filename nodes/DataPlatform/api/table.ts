/**
 * A table as an execution works with it: its address, its definition, and what its records showed.
 * Definitions are kept from one execution to the next, in the memory of the process. They may be out
 * of date: only for what the platform checks itself, or what is checked again with a fresh one before
 * it fails. docs/running.md, "What may be a minute old".
 *
 *     const table = tableAt(client, { application: 'crm', table: 'contacts' });
 *     const { fields } = await table.definition();
 */
import { toTable } from './decoders';
import { addressKey, paths, shortTableIn } from './endpoints';
import { findTable, read } from './structure';
import type { DefinedTable, FieldMetadata, TableAddress, TableAt, TableDefinition } from './types';
import { ApiClient, withLaterFailure, type ApiResponse } from '../transport/client';
import { InputError, isNotFound, serviceErrorOrThrow, ServiceError } from '../transport/errors';
import type { ApiRequest } from '../transport/exchange';
import { setMostRecent } from '../transport/lru';
import { within } from '../transport/pause';

const MAX_AGE_MS = 60_000;

const MAX_TABLES = 50;

interface KeptTable {
	/** What an execution asked for; undefined if that failed. Not set once it is out of date. */
	table?: Promise<TableDefinition | undefined>;
	/** The certain path of a table that is addressed without an application. */
	path?: string;
	/** When it was asked for, in milliseconds since 1970. */
	askedAt: number;
}

/** By account, because another token may see other fields, and address; the oldest first. */
export const keptTables = new Map<string, KeptTable>();

/** How long to wait for another execution's definition instead of asking for it. */
const MAX_JOIN_MS = 5000;

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

export type ReadDefinition = (table: Table) => Promise<TableDefinition>;

export class Table implements TableAt {
	private reading?: Promise<TableDefinition>;
	private finding?: Promise<TableDefinition>;
	/** An execution that waits for minutes needs it longer than it is kept. */
	private foundPath?: string;
	/** Identifies the table among those of all accounts. */
	readonly key: string;

	constructor(
		readonly client: ApiClient,
		readonly at: TableAddress,
	) {
		this.key = `${client.account} ${addressKey(at)}`;
	}

	/** What was asked for in the last minute, by this execution or another. */
	private get recent(): KeptTable | undefined {
		const entry = keptTables.get(this.key);
		return entry && Date.now() - entry.askedAt < MAX_AGE_MS ? entry : undefined;
	}

	/** Whether the definition was asked for in the last minute. */
	get isKept(): boolean {
		return this.recent?.table !== undefined;
	}

	/** The definition if it was asked for in the last minute; another execution may still wait for it. */
	async recentDefinition(): Promise<TableDefinition | undefined> {
		const asked = this.recent?.table;
		return asked && (await within(MAX_JOIN_MS, asked));
	}

	/** The certain path of a table that is addressed without an application, once it was found. */
	get path(): string | undefined {
		return (this.foundPath ??= this.recent?.path);
	}

	get learned(): LearnedFacts {
		const facts = learnedFacts.get(this.key) ?? { links: new Map<string, LearnedLink>() };
		learnedFacts.set(this.key, facts);
		return facts;
	}

	/**
	 * The definition as it is now, read once by each execution.
	 *
	 * @throws {ServiceError} if it can't be read, or has no fields
	 * @throws {InputError} if several tables have this name
	 */
	async definition(): Promise<TableDefinition> {
		if (this.reading) return await this.reading;
		this.reading = this.readNow();
		const table = this.reading.catch(() => {
			this.forget();
			return undefined;
		});
		this.keep({ ...this.recent, table, askedAt: Date.now() });
		return await this.reading;
	}

	/**
	 * Checks something with definitions that may be a minute old. What it does not accept is checked
	 * once more, with fresh ones.
	 *
	 * @param check throws what is wrong; it may read the definitions of other tables
	 */
	async checkWithKept<T>(
		check: (table: TableDefinition, definition: ReadDefinition) => T | Promise<T>,
	): Promise<T> {
		const used: Table[] = [];
		const definition = async (other: Table) => {
			const kept = await other.recentDefinition();
			if (kept) used.push(other);
			return kept ?? (await other.definition());
		};
		const tryCheck = async () => await check(await definition(this), definition);
		return await tryCheck().catch(async (error: unknown) => {
			if (used.length === 0) throw error;
			// The fresh definitions decide.
			for (const other of used) other.forget();
			return await tryCheck();
		});
	}

	/** This table with a definition of it. */
	with(table: TableDefinition): DefinedTable {
		return { client: this.client, at: this.at, table };
	}

	keep(entry: KeptTable) {
		setMostRecent(keptTables, this.key, entry, MAX_TABLES);
	}

	/** Forgets the definition, and not the address. */
	forget() {
		if (this.recent) this.keep({ ...this.recent, table: undefined });
	}

	/** Looks once for a table that is addressed without an application. @throws as `findTable` does */
	async find(): Promise<TableDefinition> {
		return await (this.finding ??= this.findNow());
	}

	private async findNow(): Promise<TableDefinition> {
		const askedAt = Date.now();
		const { application, table } = await findTable(this.client, this.at.table);
		const path = paths.table(application.id, table.id);
		this.foundPath = path;
		const kept = table.fields.length > 0 ? table : undefined;
		this.keep({ table: Promise.resolve(kept), path, askedAt });
		return table;
	}

	private async readNow(): Promise<TableDefinition> {
		const { application, table: name } = this.at;
		const readIn = async (within: string) =>
			await read(this.client, paths.table(within, name), `table '${name}'`, toTable);
		const table = await (application ? readIn(application) : this.find());
		if (table.fields.length === 0) {
			throw new ServiceError(`The response contains no fields of table '${name}'`, {
				delivery: 'rejected',
				hint: "Check that the token's role may see the table's structure.",
			});
		}
		return table;
	}
}

/** The table at an address, which is the same one for all of an execution. */
export const tableAt = (client: ApiClient, at: TableAddress): Table =>
	client.remember(`table ${addressKey(at)}`, () => new Table(client, at));

/**
 * An API client for tables that are addressed without an application. A platform may not serve that
 * address; and once the table was found in an application, that address is the certain one.
 */
export class TableClient extends ApiClient {
	override async tryRequest(request: ApiRequest): Promise<ApiResponse | ServiceError> {
		const short = shortTableIn(request.path);
		if (!short) return await super.tryRequest(request);
		const { shortPath, name, rest } = short;
		const table = tableAt(this, { table: name });
		const known = table.path;
		const result = await super.tryRequest({ ...request, path: (known ?? shortPath) + rest });
		const isFailure = result instanceof ServiceError;
		if (!isFailure || known !== undefined || !isNotFound(result.rejection ?? result)) return result;
		// Why it was not found, if so.
		const failure = await table.find().then(
			() => undefined,
			(error: unknown) => (error instanceof InputError ? error : serviceErrorOrThrow(error)),
		);
		if (failure) {
			// Which one it is, only the user can tell.
			const isOpen = failure instanceof InputError || failure.status === 403;
			return isOpen ? new ServiceError(result.message, { ...result, hint: failure.hint }) : result;
		}
		const later = await super.tryRequest({ ...request, path: table.path + rest });
		// An attempt before the 404 may have done it.
		if (result.delivery !== 'ambiguous') return later;
		if (later instanceof ServiceError) return withLaterFailure(result, later);
		return { ...later, previousAttempt: result };
	}
}
