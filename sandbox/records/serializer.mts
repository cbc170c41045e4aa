import { appOf, linkedTable, tableUrl } from '../catalog/find.mts';
import { codecOf, displayOnly } from '../fields/index.mts';
import type { ShowContext } from '../fields/codec.mts';
import { held, type Json, type JsonObject, type StoredRecord, type Table } from '../state/model.mts';
import { withOffset } from '../fields/time.mts';
import type { World } from '../state/sandboxState.mts';

/** Turns stored records into answered ones; contract.md, section 3. */
export class Showing {
	readonly #world: World;
	readonly #origin: string;
	readonly #table: Table;
	readonly #timeZone: string;
	readonly #names: ReadonlySet<string> | undefined;

	/** `names`: only these fields, as `loadFields` asks. */
	constructor(world: World, origin: string, table: Table, names?: Iterable<string>) {
		this.#world = world;
		this.#origin = origin;
		this.#table = table;
		this.#timeZone = appOf(world, table).timeZone;
		this.#names = names && new Set(names);
	}

	record(record: StoredRecord): JsonObject {
		return { ...this.metadata(record), fields: this.#fields(record) };
	}

	/** As `dataResponseType=MetadataOnly` answers. */
	metadata(record: StoredRecord): JsonObject {
		return {
			id: record.id,
			created: withOffset(record.created, this.#timeZone),
			modified: withOffset(record.modified, this.#timeZone),
			ver: record.ver,
		};
	}

	#fields(record: StoredRecord): JsonObject {
		const context = this.#context(record);
		const shown: JsonObject = {};
		for (const field of this.#table.fields) {
			if (displayOnly.has(field.type) || this.#names?.has(field.name) === false) continue;
			const codec = codecOf(field);
			const value: Json = held(record.fields, field.name) ?? codec.empty ?? null;
			const derived = codec.store === undefined;
			shown[field.name] =
				codec.show && (derived || value !== null) ? codec.show(value, field, context) : value;
		}
		return shown;
	}

	#context(record: StoredRecord): ShowContext {
		const world = this.#world;
		return {
			timeZone: this.#timeZone,
			apiUrl: tableUrl(world, this.#origin, this.#table),
			table: this.#table,
			record,
			tableUrl: (table) => tableUrl(world, this.#origin, table),
			linkedTable: (field) => linkedTable(world, this.#table, field),
			linkedFields: (field, id) => {
				const names = field.metadata.filterableFields ?? [];
				if (names.length === 0) return {};
				const linked = world.records.get(linkedTable(world, this.#table, field), id);
				return Object.fromEntries(
					names.map((name) => [name, held(linked?.fields ?? {}, name) ?? null]),
				);
			},
		};
	}
}
