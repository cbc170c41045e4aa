import type { ApiRequest } from '../api/request.mts';
import { appOf, importKey, linkedTable } from '../catalog/find.mts';
import { codecOf, displayOnly } from '../fields/index.mts';
import { ValueError, type ParseContext } from '../fields/codec.mts';
import type { DateRules, DateSettings } from '../fields/time.mts';
import {
	getOwn,
	type Field,
	type Json,
	type JsonObject,
	type StoredRecord,
	type Table,
} from '../state/model.mts';
import { fieldError, ApiError, type ErrorItem } from '../api/errors.mts';
import { requireRoomForFile, requireRoomForRecord } from './limits.mts';

export interface WriteResult {
	outcome: 'inserted' | 'updated' | 'unchanged';
	record: StoredRecord;
}
export type UpdateMode = 'partial' | 'replace';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Writes records of one table for one request. */
export class RecordWriter {
	readonly #request: ApiRequest;
	readonly #table: Table;
	readonly #fields: ReadonlyMap<string, Field>;
	readonly #key: Field | undefined;
	readonly #dateRules: DateRules;

	/** Without `settings`, dates must have the forms that the platform's settings require. */
	constructor(request: ApiRequest, table: Table, settings: DateSettings = request.state.settings) {
		this.#request = request;
		this.#table = table;
		this.#fields = new Map(table.fields.map((field) => [field.name, field]));
		this.#key = importKey(table);
		this.#dateRules = { timeZone: appOf(request.state, table).timeZone, settings };
	}

	/** Throws an ApiError (400) with an entry for every invalid field. */
	create(input: JsonObject, useUpsert: boolean): WriteResult {
		const key = useUpsert ? this.#requireKey(input) : undefined;
		const found =
			key === undefined ? undefined : this.#request.state.records.getByKey(this.#table, key);
		return found ? this.#change(found, input, 'partial') : this.#insert(input);
	}

	/** Undefined if there is no such record. Throws an ApiError (400). */
	update(
		id: string | null | undefined,
		input: JsonObject,
		mode: UpdateMode,
		useUpsert: boolean,
	): WriteResult | undefined {
		const { state } = this.#request;
		const found = id ? state.records.get(this.#table, id) : undefined;
		if (found) return this.#change(found, input, mode);
		if (!useUpsert) return undefined;
		// The contract leaves open which ID the record gets if the requested one is unknown.
		return this.#insert(input, id && uuid.test(id) ? id : undefined);
	}

	#insert(input: JsonObject, id?: string): WriteResult {
		const next = this.#merge({}, input, 'replace');
		this.#checkRejections(next.fields);
		const { state, number } = this.#request;
		requireRoomForRecord(state, this.#table);
		const fields = this.#inOrder({ ...next.fields, ...this.#seriesNumbers() });
		const { now, isLate } = this.#split(fields);
		const record = state.records.insert(this.#table, { id, key: next.key, fields: now }, number);
		if (isLate) this.#storeLater(record, fields, undefined, next.key);
		return { outcome: 'inserted', record };
	}

	#change(record: StoredRecord, input: JsonObject, mode: UpdateMode): WriteResult {
		const { state, number } = this.#request;
		const pending = state.lateValues.of(this.#table, record);
		const current = pending?.fields ?? record.fields;
		const { key, fields } = this.#merge(current, input, mode, record);
		if (JSON.stringify(fields) === JSON.stringify(current)) return { outcome: 'unchanged', record };
		this.#checkRejections(fields, record.id);
		const { now, isLate } = this.#split(fields, record.fields);
		const written = state.records.update(this.#table, record, { key, fields: now }, number);
		const calculatedFrom = pending ? pending.calculatedFrom : record.fields;
		if (isLate || pending) this.#storeLater(written, fields, calculatedFrom, key);
		return { outcome: 'updated', record: written };
	}

	/** Numbers for the series of a new record. */
	#seriesNumbers(): JsonObject {
		const { state } = this.#request;
		const highest = (name: string) => {
			const expression = `MAX(json_extract(r.fields, '$."${name}"')) AS highest`;
			return Number(state.records.aggregate(this.#table, expression).highest ?? 0);
		};
		const series = this.#table.fields.filter(({ metadata }) => metadata.series);
		return Object.fromEntries(
			series.map(({ name }) => [
				name,
				state.lateValues.nextNumber(this.#table, name, () => highest(name)),
			]),
		);
	}

	#inOrder(fields: JsonObject): JsonObject {
		const names = [...this.#fields.keys()].filter((name) => Object.hasOwn(fields, name));
		return Object.fromEntries(names.map((name) => [name, fields[name] ?? null]));
	}

	/**
	 * What is stored at once, and whether anything follows: links and number series as they were
	 * before, or calculated fields.
	 */
	#split(fields: JsonObject, before?: JsonObject): { now: JsonObject; isLate: boolean } {
		const { state, number } = this.#request;
		if (state.settings.lateValuesMs === 0 || number === 0) return { now: fields, isLate: false };
		const isChanged = (name: string) =>
			JSON.stringify(getOwn(before ?? {}, name)) !== JSON.stringify(getOwn(fields, name));
		const late = this.#table.fields.filter(
			({ name, type, metadata }) => (type === 'schema_link' || metadata.series) && isChanged(name),
		);
		const isCalculated = this.#table.fields.some(
			({ type, metadata: { template = '' } }) =>
				type === 'calculated' &&
				(!before || [...template.matchAll(/\{(\w+)\}/g)].some(([, name = '']) => isChanged(name))),
		);
		const now = { ...fields };
		for (const { name } of late) {
			delete now[name];
			if (before && Object.hasOwn(before, name)) now[name] = before[name] ?? null;
		}
		return { now: this.#inOrder(now), isLate: late.length > 0 || isCalculated };
	}

	/** Stores all fields as the record's next version, unless it is changed or deleted by then. */
	#storeLater(
		written: StoredRecord,
		fields: JsonObject,
		calculatedFrom: JsonObject | undefined,
		key: string | null,
	): void {
		const { state, number } = this.#request;
		const table = this.#table;
		const { lateValuesMs } = state.settings;
		state.lateValues.add(table, written, { fields, calculatedFrom }, lateValuesMs, () => {
			const record = state.records.get(table, written.id);
			if (record?.ver !== written.ver || record.modified !== written.modified) return;
			state.database.transaction(() =>
				state.records.update(table, record, { key, fields }, number),
			);
			state.notifyChange();
		});
	}

	/** The fields after the write, in the definition's order. Throws an ApiError (400). */
	#merge(
		current: JsonObject,
		input: JsonObject,
		mode: UpdateMode,
		record?: StoredRecord,
	): { fields: JsonObject; key: string | null } {
		const { state } = this.#request;
		const errors: ErrorItem[] = [];
		for (const name of Object.keys(input)) {
			const reason = this.#notWritable(name);
			if (reason) errors.push(fieldError(reason));
		}
		const fields: JsonObject = {};
		for (const [name, field] of this.#fields) {
			const isSent = Object.hasOwn(input, name);
			if (isSent && this.#notWritable(name)) continue;
			if (field.metadata.series || field.metadata.readOnly) {
				if (Object.hasOwn(current, name)) fields[name] = current[name] ?? null;
				continue;
			}
			try {
				const value = isSent
					? this.#parse(field, input[name] ?? null, getOwn(current, name))
					: mode === 'partial'
						? getOwn(current, name)
						: undefined;
				const isEmpty = value === undefined || value === null || (value as Json[]).length === 0;
				if (field.metadata.required && isEmpty && (isSent || mode === 'replace')) {
					throw new ValueError('is required');
				}
				// An empty string is stored; null and an empty list are not.
				if (value !== undefined && value !== null && (value === '' || !isEmpty)) {
					fields[name] = value;
				}
			} catch (error) {
				if (!(error instanceof ValueError)) throw error;
				errors.push(fieldError(`Field '${name}' ${error.message}.`));
			}
		}
		const key = this.#keyOf(fields);
		const isUnique = state.settings.importKey === 'unique' && this.#key?.metadata.importKey;
		if (isUnique && key !== null && errors.length === 0) {
			const owner = state.records.getByKey(this.#table, key);
			if (owner && owner.id !== record?.id) {
				errors.push(
					fieldError(`Field '${this.#key?.name}' must be unique: another record has '${key}'.`),
				);
			}
		}
		if (errors.length > 0) throw new ApiError(400, errors);
		return { fields, key };
	}

	/** Unique columns, and workflows before a change. Throws an ApiError (400). */
	#checkRejections(fields: JsonObject, ownId = ''): void {
		const { records, settings } = this.#request.state;
		if (settings.rejections === 'none') return;
		const { header: table, rejections } = this.#table;
		for (const { name, header, unique } of this.#table.fields) {
			const value = getOwn(fields, name);
			if (!unique || value === undefined) continue;
			const where = {
				text: 'json_extract(r.fields, ?) = ? AND r.id <> ?',
				values: [`$."${name}"`, value as string | number, ownId],
			};
			if (records.count(this.#table, where) === 0) continue;
			const message = `${table}, ${header}, ${String(value)}`;
			const id = 'specifiedCodeAlreadyExistsException';
			throw new ApiError(400, [{ type: 'exception', id, message }]);
		}
		for (const { field, contains, equals, message } of rejections) {
			const value = getOwn(fields, field);
			const text = typeof value === 'string' ? value : JSON.stringify(value ?? '');
			if (text === equals || (contains !== undefined && text.includes(contains))) {
				throw new ApiError(400, [{ type: 'exception', id: 'workflowException', message }]);
			}
		}
	}

	#notWritable(name: string): string | undefined {
		const field = this.#fields.get(name);
		if (!field) return `Field '${name}' is unknown in table '${this.#table.internalName}'.`;
		if (displayOnly.has(field.type)) return `Field '${name}' (${field.type}) never holds data.`;
		if (field.metadata.series) return `Field '${name}' numbers itself.`;
		if (!codecOf(field).parse || field.metadata.readOnly)
			return `Field '${name}' (${field.type}) is read-only.`;
		return undefined;
	}

	#parse(field: Field, value: Json, current: Json | undefined): Json {
		const codec = codecOf(field);
		if (value === null || !codec.parse) return null;
		return codec.parse(value, field, this.#context(current));
	}

	#context(current: Json | undefined): ParseContext {
		const { state, user } = this.#request;
		return {
			dateRules: this.#dateRules,
			user,
			current,
			appendsMessages: state.settings.chatWrites === 'append',
			limitsFiles: () => state.settings.attachmentRules === 'documented',
			linkedTable: (field) => linkedTable(state, this.#table, field),
			recordExists: (table, id) => state.records.get(table, id) !== undefined,
			storeFile: (field, input) => {
				const file = state.files.add(this.#table, field, input);
				requireRoomForFile(state, Number(file.fileSize));
				return file;
			},
		};
	}

	#keyOf(fields: JsonObject): string | null {
		if (!this.#key || !codecOf(this.#key).canBeKey) return null;
		const value = getOwn(fields, this.#key.name);
		return value === undefined || value === null || value === '' ? null : toKey(value);
	}

	/** Undefined if the key is invalid: the insert then reports it together with all other errors. */
	#requireKey(input: JsonObject): string | undefined {
		if (!this.#key) {
			throw new ApiError(400, [
				fieldError(`Table '${this.#table.internalName}' has no import key to upsert by.`),
			]);
		}
		const { name, type } = this.#key;
		if (!codecOf(this.#key).canBeKey) {
			const message = `Field '${name}' (${type}) is the import key, but its type cannot be one.`;
			throw new ApiError(400, [fieldError(message)]);
		}
		const value = Object.hasOwn(input, name) ? input[name] : undefined;
		if (value === undefined || value === null || value === '') {
			const message = `Field '${name}' is the import key: an upsert requires a value in it.`;
			throw new ApiError(400, [fieldError(message)]);
		}
		try {
			return toKey(this.#parse(this.#key, value, undefined));
		} catch (error) {
			if (error instanceof ValueError) return undefined;
			throw error;
		}
	}
}

function toKey(value: Json): string {
	return typeof value === 'string' ? value : JSON.stringify(value);
}
