import { appOf, linkedTable, tableUrl } from '../catalog/find.mts';
import { codecOf, displayOnly } from '../fields/index.mts';
import type { SerializeContext } from '../fields/codec.mts';
import {
	getOwn,
	type Json,
	type JsonObject,
	type StoredRecord,
	type Table,
} from '../state/model.mts';
import { withOffset } from '../fields/time.mts';
import type { SandboxState } from '../state/sandboxState.mts';

/** Serializes stored records for responses. */
export class RecordSerializer {
	readonly #state: SandboxState;
	readonly #origin: string;
	readonly #table: Table;
	readonly #time: (instant: number) => string;
	readonly #names: ReadonlySet<string> | undefined;

	/** With `names` only these fields, for `loadFields`. */
	constructor(state: SandboxState, origin: string, table: Table, names?: Iterable<string>) {
		this.#state = state;
		this.#origin = origin;
		this.#table = table;
		const { timeZone } = appOf(state, table);
		const { timePrecisionMs } = state.settings;
		this.#time = (instant) => withOffset(instant, timeZone, timePrecisionMs);
		this.#names = names && new Set(names);
	}

	record(record: StoredRecord): JsonObject {
		return { ...this.metadata(record), fields: this.#fields(record) };
	}

	/** The response for `dataResponseType=MetadataOnly`. */
	metadata(record: StoredRecord): JsonObject {
		return {
			id: record.id,
			created: this.#time(record.created),
			modified: this.#time(record.modified),
			ver: record.ver,
		};
	}

	#fields(record: StoredRecord): JsonObject {
		const context = this.#context(record);
		const late = this.#state.lateValues.of(this.#table, record);
		const shown: JsonObject = {};
		for (const field of this.#table.fields) {
			if (displayOnly.has(field.type) || this.#names?.has(field.name) === false) continue;
			if (late && field.type === 'calculated') {
				const before = late.calculatedFrom;
				const as = before && { ...context, record: { ...record, fields: before } };
				shown[field.name] = (as && codecOf(field).serialize?.(null, field, as)) ?? null;
				continue;
			}
			const codec = codecOf(field);
			const value: Json = getOwn(record.fields, field.name) ?? codec.empty ?? null;
			const derived = codec.parse === undefined;
			shown[field.name] =
				codec.serialize && (derived || value !== null)
					? codec.serialize(value, field, context)
					: value;
		}
		return shown;
	}

	#context(record: StoredRecord): SerializeContext {
		const state = this.#state;
		return {
			time: this.#time,
			apiUrl: tableUrl(state, this.#origin, this.#table),
			table: this.#table,
			record,
			tableUrl: (table) => tableUrl(state, this.#origin, table),
			linkedTable: (field) => linkedTable(state, this.#table, field),
			linkedFields: (field, id) => {
				const names = field.metadata.filterableFields ?? [];
				if (names.length === 0) return {};
				const linked = state.records.get(linkedTable(state, this.#table, field), id);
				return Object.fromEntries(
					names.map((name) => [name, getOwn(linked?.fields ?? {}, name) ?? null]),
				);
			},
		};
	}
}
