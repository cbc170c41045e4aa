import { createHash, randomUUID } from 'node:crypto';
import type { SQLInputValue } from 'node:sqlite';
import type { JsonObject, StoredRecord, Table } from '../state/model.mts';
import type { Database } from './database.mts';

/** SQL with the values of its placeholders. The alias of the records' table is `r`. */
export interface Sql {
	text: string;
	values: SQLInputValue[];
}

/** One version of a record in its history. */
export interface Version {
	id: string;
	ver: number;
	action: 'inserted' | 'updated' | 'deleted';
	/** The number of the request that wrote it; see GET /sandbox/requests. */
	request: number;
	at: string;
	fields: JsonObject | null;
}

export interface Selection {
	where?: Sql;
	order?: string;
	limit?: number;
	skip?: number;
}

interface Row extends Omit<StoredRecord, 'fields'> {
	fields: string;
}

const columns = 'r.seq, r.id, r.ver, r.created, r.modified, r.fields';

/** Records of all tables, each as JSON with its import key in a column of its own. */
export class RecordStore {
	/** Whether every version is stored for GET /sandbox/tables/{app}/{table}/history. */
	keepsHistory = true;
	/** Whether a new record's `created` is before its `modified`. */
	createsEarlier = () => false;
	readonly #database: Database;
	#timePrecisionMs = 1;
	#latest: number;

	constructor(database: Database) {
		this.#database = database;
		const row = database.get<{ latest: number | null }>('SELECT MAX(at) AS latest FROM history');
		this.#latest = row?.latest ?? 0;
	}

	/** The resolution of times. Times so far may be ahead of a finer clock by up to one step. */
	set timePrecisionMs(precision: number) {
		if (precision === this.#timePrecisionMs) return;
		this.#timePrecisionMs = precision;
		this.#latest = Math.min(this.#latest, Date.now());
	}

	get(table: Table, id: string): StoredRecord | undefined {
		return toRecord(
			this.#database.get<Row>(
				`SELECT ${columns} FROM records r WHERE r.tbl = ? AND r.id = ?`,
				table.number,
				id,
			),
		);
	}

	/** The oldest record with the key. The contract leaves open which one an upsert changes. */
	getByKey(table: Table, key: string): StoredRecord | undefined {
		return toRecord(
			this.#database.get<Row>(
				`SELECT ${columns} FROM records r WHERE r.tbl = ? AND r.key = ? ORDER BY r.seq LIMIT 1`,
				table.number,
				key,
			),
		);
	}

	select(table: Table, selection: Selection = {}): StoredRecord[] {
		const { where, order = 'r.seq', limit = -1, skip = 0 } = selection;
		return this.#database
			.all<Row>(
				`SELECT ${columns} FROM records r WHERE r.tbl = ?${andWhere(where)}
				ORDER BY ${order} LIMIT ? OFFSET ?`,
				table.number,
				...(where?.values ?? []),
				limit,
				skip,
			)
			.map((row) => ({ ...row, fields: JSON.parse(row.fields) as JsonObject }));
	}

	count(table: Table, where?: Sql): number {
		const row = this.#database.get<{ count: number }>(
			`SELECT COUNT(*) AS count FROM records r WHERE r.tbl = ?${andWhere(where)}`,
			table.number,
			...(where?.values ?? []),
		);
		return row?.count ?? 0;
	}

	/** One row of aggregates; `expressions` is the SELECT list. */
	aggregate(
		table: Table,
		expressions: string,
		where?: Sql,
	): Record<string, number | string | null> {
		return (
			this.#database.get(
				`SELECT ${expressions} FROM records r WHERE r.tbl = ?${andWhere(where)}`,
				table.number,
				...(where?.values ?? []),
			) ?? {}
		);
	}

	insert(
		table: Table,
		record: { id?: string; key: string | null; fields: JsonObject },
		request: number,
	): StoredRecord {
		const id = record.id ?? randomUUID();
		const now = this.#now();
		const created = this.createsEarlier() ? this.#earlier(now, id) : now;
		const body = JSON.stringify(record.fields);
		this.#database.run(
			`INSERT INTO records (tbl, id, key, ver, created, modified, fields)
			VALUES (?, ?, ?, 0, ?, ?, ?)`,
			table.number,
			id,
			record.key,
			created,
			now,
			body,
		);
		this.#addVersion(table, id, 0, 'inserted', request, now, body);
		return { seq: 0, id, ver: 0, created, modified: now, fields: record.fields };
	}

	update(
		table: Table,
		record: StoredRecord,
		next: { key: string | null; fields: JsonObject },
		request: number,
	): StoredRecord {
		const now = this.#now(record.created);
		const body = JSON.stringify(next.fields);
		this.#database.run(
			`UPDATE records SET key = ?, ver = ?, modified = ?, fields = ?
			WHERE tbl = ? AND id = ?`,
			next.key,
			record.ver + 1,
			now,
			body,
			table.number,
			record.id,
		);
		this.#addVersion(table, record.id, record.ver + 1, 'updated', request, now, body);
		return { ...record, ver: record.ver + 1, modified: now, fields: next.fields };
	}

	/** Deletes the first `limit` matching records. Returns their number. */
	remove(table: Table, where: Sql | undefined, limit: number, request: number): number {
		const now = this.#now();
		return this.#database.transaction(() => {
			this.#database.run('CREATE TEMP TABLE IF NOT EXISTS to_delete (seq INTEGER PRIMARY KEY)');
			this.#database.run('DELETE FROM to_delete');
			this.#database.run(
				`INSERT INTO to_delete SELECT r.seq FROM records r WHERE r.tbl = ?${andWhere(where)}
				ORDER BY r.seq LIMIT ?`,
				table.number,
				...(where?.values ?? []),
				limit,
			);
			if (this.keepsHistory) {
				this.#database.run(
					`INSERT INTO history (tbl, id, ver, action, request, at)
					SELECT tbl, id, ver, 'deleted', ?, ? FROM records
					WHERE seq IN (SELECT seq FROM to_delete)`,
					request,
					now,
				);
			}
			return this.#database.run('DELETE FROM records WHERE seq IN (SELECT seq FROM to_delete)');
		});
	}

	/** Every version of all records or of one, oldest first. */
	history(table: Table, id?: string): Version[] {
		interface HistoryRow extends Omit<Version, 'fields' | 'at'> {
			fields: string | null;
			at: number;
		}
		const rows = this.#database.all<HistoryRow>(
			`SELECT id, ver, action, request, at, fields FROM history
			WHERE tbl = ?${id === undefined ? '' : ' AND id = ?'} ORDER BY seq`,
			...(id === undefined ? [table.number] : [table.number, id]),
		);
		return rows.map((row) => ({
			...row,
			at: new Date(row.at).toISOString(),
			fields: row.fields === null ? null : (JSON.parse(row.fields) as JsonObject),
		}));
	}

	/** Whether a record of the table contains the text, such as a file's id. */
	mentions(table: Table, text: string): boolean {
		const where = { text: 'instr(r.fields, ?) > 0', values: [text] };
		return this.select(table, { where, limit: 1 }).length > 0;
	}

	/** Deletes the records and the history of all tables, or of one. */
	clear(table?: Table): void {
		for (const name of ['records', 'history']) {
			if (table) this.#database.run(`DELETE FROM ${name} WHERE tbl = ?`, table.number);
			else this.#database.run(`DELETE FROM ${name}`);
		}
	}

	/** The highest request number in the history. */
	latestRequest(): number {
		const row = this.#database.get<{ latest: number | null }>(
			'SELECT MAX(request) AS latest FROM history',
		);
		return row?.latest ?? 0;
	}

	/**
	 * The time of a write: never before an earlier write, even if the system clock is set back. In
	 * milliseconds, an update is always after `created`; a coarser clock may show the same time.
	 */
	#now(created = -Infinity): number {
		const precision = this.#timePrecisionMs;
		const clock = Math.floor(Date.now() / precision) * precision;
		const latest = Math.ceil(this.#latest / precision) * precision;
		this.#latest = Math.max(latest, clock, precision === 1 ? created + 1 : -Infinity);
		return this.#latest;
	}

	/** 1 ms to 1 s before a time, always the same for an ID, as precise as all times. */
	#earlier(time: number, id: string): number {
		const distance = 1 + (createHash('sha256').update(id).digest().readUInt32BE() % 1000);
		return Math.floor((time - distance) / this.#timePrecisionMs) * this.#timePrecisionMs;
	}

	#addVersion(
		table: Table,
		id: string,
		ver: number,
		action: Version['action'],
		request: number,
		at: number,
		body: string,
	): void {
		if (!this.keepsHistory) return;
		this.#database.run(
			`INSERT INTO history (tbl, id, ver, action, request, at, fields)
			VALUES (?, ?, ?, ?, ?, ?, ?)`,
			table.number,
			id,
			ver,
			action,
			request,
			at,
			body,
		);
	}
}

function andWhere(where: Sql | undefined): string {
	return where ? ` AND (${where.text})` : '';
}

function toRecord(row: Row | undefined): StoredRecord | undefined {
	return row && { ...row, fields: JSON.parse(row.fields) as JsonObject };
}
