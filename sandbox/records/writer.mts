import type { Call } from '../api/request.mts';
import { appOf, linkedTable } from '../catalog/find.mts';
import { codecOf, displayOnly, keyTypes } from '../fields/index.mts';
import { ValueProblem, type StoreContext } from '../fields/codec.mts';
import {
	held,
	type Field,
	type Json,
	type JsonObject,
	type StoredRecord,
	type Table,
} from '../state/model.mts';
import { fieldError, Problem, type ErrorItem } from '../api/errors.mts';

export interface Written {
	outcome: 'inserted' | 'updated' | 'unchanged';
	record: StoredRecord;
}
export type UpdateMode = 'partial' | 'full';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Writes records of one table on behalf of one call; contract.md, section 3. */
export class Writing {
	readonly #call: Call;
	readonly #table: Table;
	readonly #fields: ReadonlyMap<string, Field>;
	readonly #key: Field | undefined;
	readonly #timeZone: string;

	constructor(call: Call, table: Table) {
		this.#call = call;
		this.#table = table;
		this.#fields = new Map(table.fields.map((field) => [field.name, field]));
		this.#key = table.fields.find((field) => field.metadata.importKey);
		this.#timeZone = appOf(call.world, table).timeZone;
	}

	/** Throws a Problem (400) that names the fields. */
	create(input: JsonObject, useUpsert: boolean): Written {
		const key = useUpsert ? this.#demandKey(input) : undefined;
		const found =
			key === undefined ? undefined : this.#call.world.records.getByKey(this.#table, key);
		return found ? this.#change(found, input, 'partial') : this.#insert(input);
	}

	/** Undefined when there is no such record, which only some answers tell. */
	update(
		id: string | null | undefined,
		input: JsonObject,
		mode: UpdateMode,
		useUpsert: boolean,
	): Written | undefined {
		const { world } = this.#call;
		const found = id ? world.records.get(this.#table, id) : undefined;
		if (found) return this.#change(found, input, mode);
		if (!useUpsert) return undefined;
		return this.#insert(
			input,
			id && world.settings.upsertKeepsId && uuid.test(id) ? id : undefined,
		);
	}

	#insert(input: JsonObject, id?: string): Written {
		const next = this.#merge({}, input, 'full');
		const { world, number } = this.#call;
		const record = world.records.insert(this.#table, { id, ...next }, number);
		return { outcome: 'inserted', record };
	}

	#change(record: StoredRecord, input: JsonObject, mode: UpdateMode): Written {
		const next = this.#merge(record.fields, input, mode, record);
		if (JSON.stringify(next.fields) === JSON.stringify(record.fields)) {
			return { outcome: 'unchanged', record };
		}
		const { world, number } = this.#call;
		return {
			outcome: 'updated',
			record: world.records.update(this.#table, record, next, number),
		};
	}

	/** The record's fields as they would be, in the definition's order. Throws a Problem (400). */
	#merge(
		current: JsonObject,
		input: JsonObject,
		mode: UpdateMode,
		record?: StoredRecord,
	): { fields: JsonObject; key: string | null } {
		const errors: ErrorItem[] = [];
		for (const name of Object.keys(input)) {
			const reason = this.#whyNot(name);
			if (reason) errors.push(fieldError(reason));
		}
		const fields: JsonObject = {};
		for (const [name, field] of this.#fields) {
			const given = Object.hasOwn(input, name);
			if (given && this.#whyNot(name)) continue;
			try {
				const value = given
					? this.#stored(field, input[name] ?? null, held(current, name))
					: mode === 'partial'
						? held(current, name)
						: undefined;
				const isEmpty = value === undefined || value === null || (value as Json[]).length === 0;
				if (field.metadata.required && isEmpty && (given || mode === 'full')) {
					throw new ValueProblem('is required');
				}
				// An empty string stays what it is; nothing and an empty list are the same.
				if (value !== undefined && value !== null && (value === '' || !isEmpty)) {
					fields[name] = value;
				}
			} catch (error) {
				if (!(error instanceof ValueProblem)) throw error;
				errors.push(fieldError(`Field '${name}' ${error.message}.`));
			}
		}
		const key = this.#keyOf(fields);
		if (key !== null && errors.length === 0) {
			const owner = this.#call.world.records.getByKey(this.#table, key);
			if (owner && owner.id !== record?.id) {
				errors.push(
					fieldError(`Field '${this.#key?.name}' must be unique: another record has '${key}'.`),
				);
			}
		}
		if (errors.length > 0) throw new Problem(400, errors);
		return { fields, key };
	}

	#whyNot(name: string): string | undefined {
		const field = this.#fields.get(name);
		if (!field) return `Field '${name}' is not known in table '${this.#table.internalName}'.`;
		if (displayOnly.has(field.type)) return `Field '${name}' (${field.type}) never holds data.`;
		if (!codecOf(field).store) return `Field '${name}' (${field.type}) is read-only.`;
		return undefined;
	}

	#stored(field: Field, value: Json, current: Json | undefined): Json {
		const codec = codecOf(field);
		if (value === null || !codec.store) return null;
		return codec.store(value, field, this.#context(current));
	}

	#context(current: Json | undefined): StoreContext {
		const { world, user } = this.#call;
		return {
			timeZone: this.#timeZone,
			user,
			current,
			linkedTable: (field) => linkedTable(world, this.#table, field),
			recordExists: (table, id) => world.records.get(table, id) !== undefined,
			keepFile: (field, input) => world.files.keep(this.#table, field, input),
		};
	}

	#keyOf(fields: JsonObject): string | null {
		if (!this.#key || !keyTypes.has(this.#key.type)) return null;
		const value = held(fields, this.#key.name);
		return value === undefined || value === null || value === '' ? null : keyText(value);
	}

	/** Undefined when the value is wrong: then inserting it says how, with all that is wrong. */
	#demandKey(input: JsonObject): string | undefined {
		if (!this.#key) {
			throw new Problem(400, [
				fieldError(`Table '${this.#table.internalName}' has no import key to upsert by.`),
			]);
		}
		const { name, type } = this.#key;
		if (!keyTypes.has(type)) {
			const message = `Field '${name}' (${type}) is marked as the import key, which its type cannot be.`;
			throw new Problem(400, [fieldError(message)]);
		}
		const value = Object.hasOwn(input, name) ? input[name] : undefined;
		if (value === undefined || value === null || value === '') {
			const message = `Field '${name}' is the import key: an upsert needs a value in it.`;
			throw new Problem(400, [fieldError(message)]);
		}
		try {
			return keyText(this.#stored(this.#key, value, undefined));
		} catch (error) {
			if (error instanceof ValueProblem) return undefined;
			throw error;
		}
	}
}

function keyText(value: Json): string {
	return typeof value === 'string' ? value : JSON.stringify(value);
}
