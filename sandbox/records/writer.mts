import type { ApiRequest } from '../api/request.mts';
import { appOf, linkedTable } from '../catalog/find.mts';
import { codecOf, displayOnly } from '../fields/index.mts';
import { ValueError, type ParseContext } from '../fields/codec.mts';
import {
	getOwn,
	type Field,
	type Json,
	type JsonObject,
	type StoredRecord,
	type Table,
} from '../state/model.mts';
import { fieldError, ApiError, type ErrorItem } from '../api/errors.mts';

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
	readonly #timeZone: string;

	constructor(request: ApiRequest, table: Table) {
		this.#request = request;
		this.#table = table;
		this.#fields = new Map(table.fields.map((field) => [field.name, field]));
		this.#key = table.fields.find((field) => field.metadata.importKey);
		this.#timeZone = appOf(request.state, table).timeZone;
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
		const { state, number } = this.#request;
		const record = state.records.insert(this.#table, { id, ...next }, number);
		return { outcome: 'inserted', record };
	}

	#change(record: StoredRecord, input: JsonObject, mode: UpdateMode): WriteResult {
		const next = this.#merge(record.fields, input, mode, record);
		if (JSON.stringify(next.fields) === JSON.stringify(record.fields)) {
			return { outcome: 'unchanged', record };
		}
		const { state, number } = this.#request;
		return {
			outcome: 'updated',
			record: state.records.update(this.#table, record, next, number),
		};
	}

	/** The fields after the write, in the definition's order. Throws an ApiError (400). */
	#merge(
		current: JsonObject,
		input: JsonObject,
		mode: UpdateMode,
		record?: StoredRecord,
	): { fields: JsonObject; key: string | null } {
		const errors: ErrorItem[] = [];
		for (const name of Object.keys(input)) {
			const reason = this.#notWritable(name);
			if (reason) errors.push(fieldError(reason));
		}
		const fields: JsonObject = {};
		for (const [name, field] of this.#fields) {
			const isSent = Object.hasOwn(input, name);
			if (isSent && this.#notWritable(name)) continue;
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
		if (key !== null && errors.length === 0) {
			const owner = this.#request.state.records.getByKey(this.#table, key);
			if (owner && owner.id !== record?.id) {
				errors.push(
					fieldError(`Field '${this.#key?.name}' must be unique: another record has '${key}'.`),
				);
			}
		}
		if (errors.length > 0) throw new ApiError(400, errors);
		return { fields, key };
	}

	#notWritable(name: string): string | undefined {
		const field = this.#fields.get(name);
		if (!field) return `Field '${name}' is unknown in table '${this.#table.internalName}'.`;
		if (displayOnly.has(field.type)) return `Field '${name}' (${field.type}) never holds data.`;
		if (!codecOf(field).parse) return `Field '${name}' (${field.type}) is read-only.`;
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
			timeZone: this.#timeZone,
			user,
			current,
			appendsMessages: state.settings.chatWrites === 'append',
			linkedTable: (field) => linkedTable(state, this.#table, field),
			recordExists: (table, id) => state.records.get(table, id) !== undefined,
			storeFile: (field, input) => state.files.add(this.#table, field, input),
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
			const message = `Field '${name}' (${type}) is marked as the import key, but its type cannot be one.`;
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
