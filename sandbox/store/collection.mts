import type { Database } from './database.mts';

/** Few things that are read all the time (tokens, tables, …): kept in memory, and in the file. */
export class Collection<Thing extends { id: string }> {
	readonly #database: Database;
	readonly #kind: string;
	readonly #things = new Map<string, Thing>();

	constructor(database: Database, kind: string) {
		this.#database = database;
		this.#kind = kind;
		const rows = database.all<{ body: string }>(
			'SELECT body FROM documents WHERE kind = ? ORDER BY position',
			kind,
		);
		for (const row of rows) {
			const thing = JSON.parse(row.body) as Thing;
			this.#things.set(thing.id, thing);
		}
	}

	/** In the order in which they came. */
	all(): Thing[] {
		return [...this.#things.values()];
	}

	get(id: string): Thing | undefined {
		return this.#things.get(id);
	}

	put(thing: Thing): void {
		this.#database.run(
			`INSERT INTO documents (kind, id, position, body) VALUES (?, ?,
				(SELECT COALESCE(MAX(position), 0) + 1 FROM documents WHERE kind = ?), ?)
			ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body`,
			this.#kind,
			thing.id,
			this.#kind,
			JSON.stringify(thing),
		);
		this.#things.set(thing.id, thing);
	}

	remove(id: string): boolean {
		this.#database.run('DELETE FROM documents WHERE kind = ? AND id = ?', this.#kind, id);
		return this.#things.delete(id);
	}

	clear(): void {
		this.#database.run('DELETE FROM documents WHERE kind = ?', this.#kind);
		this.#things.clear();
	}
}
