/** Tables in memory behind the fake platform: looked up, listed and written as on the service. */
import type { IHttpRequestOptions } from 'n8n-workflow';
import type { FieldValues, JsonValue, PlatformRecord, TableDefinition } from '../../nodes/DataPlatform/api/types.ts';
import { fakePlatform, httpResponse, notFound, type Serve } from './stubPlatform.cts';

interface Condition {
	field: string;
	operator: string;
	value?: string;
}

interface Group {
	filter: Array<Condition | Group>;
	filterOperator: 'and' | 'or';
}

interface Entry {
	id?: string;
	fields: FieldValues;
}

interface Body extends Partial<Group> {
	bulk?: Entry[];
	fields?: FieldValues;
	useUpsert?: boolean;
	loadFields?: string[];
}

/** As on many services, all operators but `===` ignore case. */
function holds({ id, fields }: PlatformRecord, { field, operator, value = '' }: Condition): boolean {
	const stored = String((field === 'id' ? id : fields[field]) ?? '');
	if (operator === '===') return stored === value;
	const wanted = (operator === 'in' ? value.split(',') : [value]).map((text) => text.toLowerCase());
	return wanted.includes(stored.toLowerCase());
}

const matches = (record: PlatformRecord, entry: Condition | Group): boolean => {
	if (!('filter' in entry)) return holds(record, entry);
	const results = entry.filter.map((inner) => matches(record, inner));
	return entry.filterOperator === 'or' ? results.includes(true) : !results.includes(false);
};

/** When the initial records were written, and a second before the first request that writes. */
const STORED_AT = '2026-01-01T00:00:00.501Z';
const WRITTEN_AT = Date.parse('2026-03-01T00:00:00.501Z');

/** A list of files as it is read. */
const asRead = (value: unknown): JsonValue =>
	(Array.isArray(value) && value.some((file) => file?.filename)
		? value.map(({ filename, mimetype }, at) => ({
				fileId: `f${at}`,
				fileName: filename,
				mimetype,
				fileUrl: `https://platform.invalid/f${at}`,
			}))
		: value) as JsonValue;

export class StubTables {
	readonly tables: Record<string, PlatformRecord[]>;
	/** `METHOD table/data…`, in the order of arrival. */
	readonly requests: string[] = [];
	readonly bodies: Body[] = [];
	readonly queries: Array<Record<string, string>> = [];
	#count = 0;
	#writes = 0;

	/**
	 * @param tables their records, oldest first
	 * @param definitions of the tables that have one; all belong to the application `sales`
	 */
	constructor(
		tables: Record<string, Record<string, FieldValues>>,
		private readonly definitions: Record<string, TableDefinition> = {},
	) {
		this.tables = Object.fromEntries(
			Object.entries(tables).map(([name, records]) => [name, Object.entries(records).map(([id, fields]) => this.#record(id, fields))]),
		);
	}

	#record = (id: string, fields: FieldValues, time = STORED_AT): PlatformRecord => ({ id, created: time, modified: time, ver: 0, fields });

	/**
	 * A client of the tables.
	 *
	 * @param before responds instead of them if it returns a response
	 */
	client(before: (request: string, options: IHttpRequestOptions) => ReturnType<Serve> | undefined = () => undefined) {
		return fakePlatform((options) => this.serve(options, before), { retryBudgetMs: 0 }).connection;
	}

	/** Responds to a request. */
	serve = (
		options: IHttpRequestOptions,
		before: (request: string, options: IHttpRequestOptions) => ReturnType<Serve> | undefined = () => undefined,
	): ReturnType<Serve> => {
		const { pathname, searchParams } = new URL(options.url);
		const [, name = '', path, rest = ''] = /(?:v2|tables)\/([^/]+)(\/data\/?(.*))?$/.exec(pathname) ?? [];
		const request = `${options.method} ${name}${rest && ` ${rest}`}`;
		if (path === undefined) return this.#define(pathname);
		this.requests.push(request);
		const body = options.body ? (JSON.parse(String(options.body)) as Body) : {};
		this.bodies.push(body);
		const query = Object.fromEntries(searchParams);
		this.queries.push(query);
		return before(request, options) ?? this.#respond(name, rest, body, query, options.method ?? 'GET');
	};

	/** The definitions of applications and tables. */
	#define(pathname: string) {
		if (pathname.endsWith('/apps')) return httpResponse(200, { data: [{ id: 'sales' }] });
		const all = Object.values(this.definitions).map(({ fields, savedViews, ...table }) => ({
			...table,
			items: fields,
			settings: { userFilters: savedViews },
		}));
		if (pathname.endsWith('/apps/sales/tables')) return httpResponse(200, { data: all });
		const [, name] = /\/apps\/sales\/tables\/([^/]+)$/.exec(pathname) ?? [];
		const data = all.find(({ id, internalName }) => id === name || internalName === name);
		return data ? httpResponse(200, { data }) : notFound();
	}

	#respond(name: string, rest: string, body: Body, query: Record<string, string>, method: string) {
		const table = this.tables[name];
		if (!table) return httpResponse(404, { errors: [{ message: 'no such table' }] });
		if (rest === 'bulk') return this.#write(table, body, method === 'POST');
		if (body.fields) return this.#writeOne(table, rest, body, method === 'PUT');
		const found = table.filter((record) => (body.filter ? matches(record, body as Group) : true));
		if (rest.startsWith('count')) return httpResponse(200, { data: { count: found.length } });
		if (method === 'DELETE') return this.remove(name, rest) ? httpResponse(204, '') : notFound();
		if (rest !== '' && rest !== 'filter') {
			const record = table.find(({ id }) => id === rest);
			return record ? httpResponse(200, { data: record }) : notFound();
		}
		const skip = Number(query.skip ?? 0);
		const linked = query.linkId ? found.slice(0, LINKED) : found;
		return httpResponse(200, { data: linked.slice(skip, skip + Number(query.limit ?? 25)) });
	}

	/** @returns whether it existed */
	remove(name: string, id: string): boolean {
		const table = this.tables[name]!;
		const index = table.findIndex((record) => record.id === id);
		if (index >= 0) table.splice(index, 1);
		return index >= 0;
	}

	#writeOne(table: PlatformRecord[], id: string, { fields = {}, useUpsert }: Body, replaces: boolean) {
		const known = table.find((record) => (id === '' ? useUpsert && record.fields.name === fields.name : record.id === id));
		if (id !== '' && !known) return notFound();
		const time = new Date(WRITTEN_AT + 1000 * (this.#writes += 1)).toISOString();
		const record = known ?? this.#record(`new${(this.#count += 1)}`, {}, time);
		record.fields = {
			...(!replaces && record.fields),
			...Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, asRead(value)])),
		};
		if (known) Object.assign(record, { modified: time, ver: (record.ver ?? 0) + 1 });
		else table.push(record);
		return httpResponse(200, { data: record });
	}

	/** Creates or upserts by `name`, which is unique, or updates by id. */
	#write(table: PlatformRecord[], { bulk = [], useUpsert }: Body, creates: boolean) {
		const data: PlatformRecord[] = [];
		const errors: object[] = [];
		let insertedCount = 0;
		const time = new Date(WRITTEN_AT + 1000 * (this.#writes += 1)).toISOString();
		for (const [RecordIndex, { id, fields }] of bulk.entries()) {
			if (String(fields.name).length > 40) {
				errors.push({ message: 'too long', RecordIndex });
				continue;
			}
			const known = table.find((record) => (creates ? fields.name !== undefined && record.fields.name === fields.name : record.id === id));
			if (known && creates && !useUpsert) {
				errors.push({ message: 'must be unique', RecordIndex });
				continue;
			}
			if (!known && !creates) continue;
			const record = known ?? this.#record(`new${(this.#count += 1)}`, {}, time);
			record.fields = { ...record.fields, ...fields };
			if (known) {
				record.modified = time;
				record.ver = (record.ver ?? 0) + 1;
			} else {
				table.push(record);
				insertedCount += 1;
			}
			data.push(record);
		}
		const updatedCount = data.length - insertedCount;
		return httpResponse(200, {
			bulk: { successCount: data.length, insertedCount, updatedCount },
			data: data.map(({ fields: _, ...metadata }) => metadata),
			errors,
		});
	}
}

/** How many records are linked to any one record. */
export const LINKED = 3;
