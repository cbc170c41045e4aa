/**
 * A fake platform with one table. It does what a real one can't be made to do: order ties at will,
 * change between two pages, show a record late.
 */
import type { ChangeOptions, ChangeState, Limits } from '../../nodes/DataPlatform/changes/tracker.ts';
import { LIMITS, selectChanges } from '../../nodes/DataPlatform/changes/tracker.ts';
import { ChangePages, readChanges, startFromNow } from '../../nodes/DataPlatform/changes/reader.ts';
import { fromCursor, toCursor } from '../../nodes/DataPlatform/changes/cursor.ts';
import type { PlatformRecord } from '../../nodes/DataPlatform/api/types.ts';
import { httpResponse, fakePlatform } from './stubPlatform.cts';

const SOURCE = { table: 'things', selection: '' };

export interface Row {
	id: string;
	ver: number;
	created: number;
	modified: number;
	fields: Record<string, string>;
}

/** How the platform orders ids. */
export const ORDERS = {
	asText: (a: string, b: string) => (a < b ? -1 : 1),
	backwards: (a: string, b: string) => (a < b ? 1 : -1),
	asNumbers: (a: string, b: string) => Number(a) - Number(b),
	byTheirEnd: (a: string, b: string) => ([...a].reverse().join('') < [...b].reverse().join('') ? -1 : 1),
};
export type Order = keyof typeof ORDERS;

const iso = (time: number) => new Date(time).toISOString();

/** A row as the platform returns it. */
export const toRecord = ({ id, ver, created, modified, fields }: Row): PlatformRecord => ({
	id,
	ver,
	created: iso(created),
	modified: iso(modified),
	fields,
});

export class Table {
	readonly rows = new Map<string, Row>();
	/** All versions so far, as `id/ver`. */
	readonly written = new Set<string>();
	/** Called before each response. */
	onRequest: () => void = () => undefined;
	requests = 0;
	now = 1_000_000;
	/** The time of the newest change so far, even if its record was deleted since. */
	newest = 0;
	private last = 0;
	readonly pages: ChangePages;
	private readonly order: Order;
	private readonly largestPage: number;

	/** How far the clock of the responses is ahead; without it they say no time. */
	clockAhead?: number = 0;

	/** How many records each request asked for. */
	readonly asked: number[] = [];

	/** @param largestPage the most records in a page */
	constructor(order: Order = 'asText', limits: Limits = LIMITS, largestPage = Infinity) {
		this.order = order;
		this.largestPage = largestPage;
		const { connection } = fakePlatform((options) => {
			this.requests += 1;
			this.onRequest();
			const date = this.clockAhead !== undefined && { date: iso(this.now + this.clockAhead) };
			return httpResponse(200, { data: this.read(new URL(String(options.url)).searchParams) }, { ...date });
		});
		this.pages = new ChangePages({ client: connection, at: { table: 'things' } }, {}, limits);
	}

	/** @param time its time of creation; before now if it becomes visible late */
	create(time = this.now, fields: Row['fields'] = {}): Row {
		this.last += 1;
		// Short numbers, so that their order as text differs from their order as numbers.
		const id = String(this.last);
		const row = { id, ver: 1, created: time, modified: time, fields };
		this.keep(row);
		return row;
	}

	update(id: string, fields: Row['fields'] = {}) {
		const row = this.rows.get(id)!;
		const next = { ...row, ver: row.ver + 1, modified: this.now, fields };
		this.keep(next);
	}

	private keep(row: Row) {
		this.rows.set(row.id, row);
		this.written.add(`${row.id}/${row.ver}`);
		this.newest = Math.max(this.newest, row.modified);
	}

	private read(query: URLSearchParams): PlatformRecord[] {
		const isBackwards = query.get('sort') === 'modified(desc),id(desc)';
		if (!isBackwards && query.get('sort') !== 'modified,id') throw new Error('Another order');
		const byId = ORDERS[this.order];
		const rows = [...this.rows.values()].sort((a, b) => a.modified - b.modified || byId(a.id, b.id));
		if (isBackwards) rows.reverse();
		const skip = Number(query.get('skip') ?? 0);
		const limit = Number(query.get('limit'));
		this.asked.push(limit);
		return rows.slice(skip, skip + Math.min(limit, this.largestPage)).map(toRecord);
	}
}

export interface EmittedChange {
	kind: string;
	id: string;
	ver: number;
	time: number;
}

/** Follows a table's changes. */
export class Follower {
	state: ChangeState = { emitted: {} };
	readonly polls: EmittedChange[][] = [];
	private readonly table: Table;
	readonly options: ChangeOptions;
	private readonly limits: Limits;

	constructor(table: Table, options: Partial<ChangeOptions> = {}, limits: Limits = LIMITS) {
		this.table = table;
		this.limits = limits;
		this.options = { kinds: new Set(['created', 'updated']), overlapMs: 60_000, maximum: 1000, ...options };
	}

	get emitted(): EmittedChange[] {
		return this.polls.flat();
	}

	async startNow() {
		const times = [...this.table.rows.values()].map(({ modified }) => modified);
		const latest = times.length > 0 ? iso(Math.max(...times)) : undefined;
		this.state = await startFromNow(this.table.pages, latest, this.options.overlapMs);
	}

	/** One poll, with the state stored and read again; returns what it emits as `c1/1` (created). */
	async poll(hasTime: () => boolean = () => true): Promise<string[]> {
		const state = this.restored();
		const read = await readChanges(this.table.pages, state, this.options, hasTime);
		const selection = selectChanges(state, read, this.options, this.limits);
		this.state = selection.state;
		const emitted = selection.changes.map(({ kind, record }) => ({
			kind,
			id: record.id,
			ver: record.ver!,
			time: Date.parse(record.modified!),
		}));
		this.polls.push(emitted);
		return emitted.map(({ kind, id, ver }) => `${kind[0]}${id}/${ver}`);
	}

	/** The state as the trigger stores it or, if no fields are watched, as a cursor contains it. */
	private restored(): ChangeState {
		const stored = JSON.parse(JSON.stringify(this.state)) as ChangeState;
		if (stored.digests) return stored;
		const fromText = fromCursor(toCursor(stored, SOURCE), SOURCE);
		expect(fromText).toEqual(stored);
		return fromText;
	}

	/** Polls until there is nothing more. */
	async drain(maxPolls = 3000) {
		for (let polls = 0; polls < maxPolls; polls += 1) {
			const before = JSON.stringify(this.state);
			if ((await this.poll()).length === 0 && JSON.stringify(this.state) === before) return;
		}
		throw new Error(`No end after ${maxPolls} polls`);
	}
}
