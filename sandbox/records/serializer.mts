import { isCurrent } from '../access/tokens.mts';
import { linkedTable, tableUrl } from '../catalog/find.mts';
import { codecOf, displayOnly } from '../fields/index.mts';
import type { SerializeContext } from '../fields/codec.mts';
import {
	getOwn,
	type Field,
	type Json,
	type JsonObject,
	type StoredRecord,
	type Table,
} from '../state/model.mts';
import { inUtc, shownDay, shownTime } from '../fields/time.mts';
import type { SandboxState } from '../state/sandboxState.mts';

/** A short token, for those who can't send a header. */
function tokenQuery(state: SandboxState): string {
	const token = state.tokens.all().find((entry) => entry.type === 'short' && isCurrent(entry));
	return token ? `?token=${token.value}` : '';
}

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
		this.#time = (instant) => inUtc(instant, state.settings.timePrecisionMs);
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
			const stored = getOwn(record.fields, field.name);
			const derived = codec.parse === undefined;
			if (stored === undefined && !derived && this.#omitsEmpty) continue;
			const value: Json = stored ?? codec.empty ?? null;
			shown[field.name] =
				codec.serialize && (derived || value !== null)
					? codec.serialize(value, field, context)
					: value;
		}
		return shown;
	}

	get #omitsEmpty() {
		return this.#state.settings.emptyFields === 'absent';
	}

	#shownDate(value: Json, type: Field['type'] | undefined): Json {
		if (type === 'date') return shownDay(String(value), this.#state.settings);
		return type === 'datetime' ? shownTime(String(value), this.#state.settings) : value;
	}

	#context(record: StoredRecord): SerializeContext {
		const state = this.#state;
		return {
			time: this.#time,
			settings: state.settings,
			apiUrl: tableUrl(state, this.#origin, this.#table),
			fileSize: () => state.settings.fileSize,
			fileQuery: () => (state.settings.fileAddresses === 'withToken' ? tokenQuery(state) : ''),
			table: this.#table,
			record,
			tableUrl: (table) => tableUrl(state, this.#origin, table),
			linkedTable: (field) => linkedTable(state, this.#table, field),
			linkedFields: (field, id) => {
				const names = field.metadata.filterableFields ?? [];
				if (names.length === 0) return {};
				const target = linkedTable(state, this.#table, field);
				const linked = state.records.get(target, id);
				return Object.fromEntries(
					names.flatMap((name) => {
						const value = getOwn(linked?.fields ?? {}, name) ?? null;
						if (value === null && this.#omitsEmpty) return [];
						const type = target.fields.find((one) => one.name === name)?.type;
						return [[name, value === null ? null : this.#shownDate(value, type)]];
					}),
				);
			},
			linkedRecord: (field, id) => state.records.get(linkedTable(state, this.#table, field), id),
		};
	}
}
