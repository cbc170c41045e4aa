import type { Database } from './database.mts';

/** Few documents that are read often (tokens, tables, …): in memory as well as in the database. */
export class Collection<Document extends { id: string }> {
	readonly #database: Database;
	readonly #kind: string;
	readonly #documents = new Map<string, Document>();

	constructor(database: Database, kind: string) {
		this.#database = database;
		this.#kind = kind;
		const rows = database.all<{ body: string }>(
			'SELECT body FROM documents WHERE kind = ? ORDER BY position',
			kind,
		);
		for (const row of rows) {
			const thing = JSON.parse(row.body) as Document;
			this.#documents.set(thing.id, thing);
		}
	}

	/** In the order of their creation. */
	all(): Document[] {
		return [...this.#documents.values()];
	}

	get(id: string): Document | undefined {
		return this.#documents.get(id);
	}

	put(thing: Document): void {
		this.#database.run(
			`INSERT INTO documents (kind, id, position, body) VALUES (?, ?,
				(SELECT COALESCE(MAX(position), 0) + 1 FROM documents WHERE kind = ?), ?)
			ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body`,
			this.#kind,
			thing.id,
			this.#kind,
			JSON.stringify(thing),
		);
		this.#documents.set(thing.id, thing);
	}

	remove(id: string): boolean {
		this.#database.run('DELETE FROM documents WHERE kind = ? AND id = ?', this.#kind, id);
		return this.#documents.delete(id);
	}

	clear(): void {
		this.#database.run('DELETE FROM documents WHERE kind = ?', this.#kind);
		this.#documents.clear();
	}
}
