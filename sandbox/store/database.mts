import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

const schema = `
	CREATE TABLE IF NOT EXISTS documents (
		kind TEXT NOT NULL,
		id TEXT NOT NULL,
		position INTEGER NOT NULL,
		body TEXT NOT NULL,
		PRIMARY KEY (kind, id)
	) WITHOUT ROWID;
	CREATE TABLE IF NOT EXISTS records (
		seq INTEGER PRIMARY KEY AUTOINCREMENT,
		tbl INTEGER NOT NULL,
		id TEXT NOT NULL,
		key TEXT,
		ver INTEGER NOT NULL,
		created INTEGER NOT NULL,
		modified INTEGER NOT NULL,
		fields TEXT NOT NULL
	);
	CREATE UNIQUE INDEX IF NOT EXISTS records_id ON records (tbl, id);
	DROP INDEX IF EXISTS records_key;
	CREATE INDEX IF NOT EXISTS records_by_key ON records (tbl, key) WHERE key IS NOT NULL;
	CREATE INDEX IF NOT EXISTS records_key_any_case ON records (tbl, key COLLATE NOCASE);
	CREATE INDEX IF NOT EXISTS records_modified ON records (tbl, modified, seq);
	CREATE INDEX IF NOT EXISTS records_modified_id ON records (tbl, modified, id);
	CREATE INDEX IF NOT EXISTS records_created ON records (tbl, created, seq);
	CREATE INDEX IF NOT EXISTS records_created_id ON records (tbl, created, id);
	CREATE INDEX IF NOT EXISTS records_order ON records (tbl, seq);
	CREATE TABLE IF NOT EXISTS history (
		seq INTEGER PRIMARY KEY AUTOINCREMENT,
		tbl INTEGER NOT NULL,
		id TEXT NOT NULL,
		ver INTEGER NOT NULL,
		action TEXT NOT NULL,
		request INTEGER NOT NULL,
		at INTEGER NOT NULL,
		fields TEXT
	);
	CREATE INDEX IF NOT EXISTS history_record ON history (tbl, id, seq);
`;

/**
 * How selective each index is, for the query planner: all rows, then the rows that share the first
 * column, the first two and so on. Without these numbers, it would read a whole table in sort order
 * instead of searching for a key and sorting the matches.
 */
const statistics = `
	ANALYZE sqlite_schema;
	DELETE FROM sqlite_stat1;
	INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
		('records', 'records_id', '1000000 100000 1'),
		('records', 'records_by_key', '1000000 100000 1'),
		('records', 'records_key_any_case', '1000000 100000 1'),
		('records', 'records_modified', '1000000 100000 10 1'),
		('records', 'records_modified_id', '1000000 100000 10 1'),
		('records', 'records_created', '1000000 100000 10 1'),
		('records', 'records_created_id', '1000000 100000 10 1'),
		('records', 'records_order', '1000000 100000 1');
	ANALYZE sqlite_schema;
`;

/** Filters produce more and more statements; only the most recent ones are cached. */
const maxStatements = 300;

/** The SQLite database: prepared statements and transactions. */
export class Database {
	readonly file: string;
	readonly #connection: DatabaseSync;
	readonly #statements = new Map<string, StatementSync>();
	#depth = 0;

	/** `file` may be `:memory:`. A transaction is on disk when it returns. */
	constructor(file: string) {
		this.file = file;
		this.#connection = new DatabaseSync(file);
		this.#connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
		this.#connection.exec('PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY;');
		this.#connection.exec(schema);
		this.#connection.exec(statistics);
	}

	all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
		return this.#statement(sql).all(...values) as Row[];
	}

	get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
		return this.#statement(sql).get(...values) as Row | undefined;
	}

	iterate<Row>(sql: string, ...values: SQLInputValue[]): Iterable<Row> {
		// Not a cached statement: the same query inside the loop would reset its cursor.
		return this.#connection.prepare(sql).iterate(...values) as Iterable<Row>;
	}

	/** Returns the number of changed rows. */
	run(sql: string, ...values: SQLInputValue[]): number {
		return Number(this.#statement(sql).run(...values).changes);
	}

	/** Commits everything or rolls everything back. A nested transaction is part of the outer one. */
	transaction<Result>(work: () => Result): Result {
		if (this.#depth > 0) return work();
		this.#connection.exec('BEGIN IMMEDIATE');
		this.#depth += 1;
		try {
			const result = work();
			this.#connection.exec('COMMIT');
			return result;
		} catch (error) {
			this.#connection.exec('ROLLBACK');
			throw error;
		} finally {
			this.#depth -= 1;
		}
	}

	close(): void {
		this.#statements.clear();
		this.#connection.close();
	}

	#statement(sql: string): StatementSync {
		const cached = this.#statements.get(sql);
		if (cached) {
			this.#statements.delete(sql);
			this.#statements.set(sql, cached);
			return cached;
		}
		const made = this.#connection.prepare(sql);
		this.#statements.set(sql, made);
		const oldest = this.#statements.keys().next().value;
		if (this.#statements.size > maxStatements && oldest) this.#statements.delete(oldest);
		return made;
	}
}
