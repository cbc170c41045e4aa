import { fieldTypes, type App, type Field, type FieldMetadata, type Table } from '../state/model.mts';
import { invalid } from '../api/errors.mts';
import { uuidOf } from './ids.mts';
import { isTimeZone } from '../fields/time.mts';
import type { World } from '../state/sandboxState.mts';

export interface AppInput {
	name?: string;
	internalName: string;
	timeZone?: string | undefined;
}

export interface TableInput {
	internalName: string;
	header?: string;
	fields: Array<{
		name: string;
		header?: string;
		type: Field['type'];
		metadata?: FieldMetadata;
	}>;
	views?: Array<{ name: string; description?: string; visibility?: string; filter: string }>;
	fieldNameProperty?: 'name' | 'id';
}

/** What cannot stand in a name without making filters, sorts or SQL ambiguous. */
const fieldName = /^\p{L}[\p{L}\p{N}_-]*$/u;
const reserved = ['id', 'created', 'modified', 'ver'];

/** Makes an application. Throws a Problem (400). */
export function createApp(world: World, input: AppInput): App {
	const { internalName, name = internalName, timeZone = 'UTC' } = input;
	if (!isTimeZone(timeZone)) throw invalid(`'${timeZone}' is no time zone.`);
	const app: App = { id: uuidOf(`app ${internalName}`), name, internalName, timeZone };
	world.apps.put(app);
	return app;
}

/** Makes a table. Throws a Problem (400). */
export function createTable(world: World, app: App, input: TableInput): Table {
	const id = uuidOf(`table ${app.internalName}/${input.internalName}`);
	const highest = Math.max(0, ...world.tables.all().map((table) => table.number));
	const table: Table = {
		id,
		number: world.tables.get(id)?.number ?? highest + 1,
		appId: app.id,
		shortid: id.slice(0, 6),
		internalName: input.internalName,
		header: input.header ?? input.internalName,
		fields: input.fields.map(({ name, header = name, type, metadata = {} }) => ({
			name,
			header,
			type,
			metadata,
		})),
		views: (input.views ?? []).map((view) => ({
			id: uuidOf(`view ${app.internalName}/${input.internalName}/${view.name}`),
			description: '',
			visibility: 'all',
			...view,
		})),
		scripts: [],
		fieldNameProperty: input.fieldNameProperty ?? 'name',
	};
	check(table.fields);
	world.tables.put(table);
	return table;
}

function check(fields: Field[]): void {
	const seen = new Set<string>();
	for (const { name, type, metadata } of fields) {
		if (!fieldName.test(name) || reserved.includes(name)) {
			throw invalid(`'${name}' cannot be a field's name.`);
		}
		if (seen.has(name)) throw invalid(`Two fields are called '${name}'.`);
		if (!fieldTypes.includes(type)) throw invalid(`Field '${name}' has an unknown type '${type}'.`);
		if (type === 'schema_link' && !metadata.linkTableId) {
			throw invalid(`Field '${name}' needs metadata.linkTableId.`);
		}
		seen.add(name);
	}
	if (fields.filter((field) => field.metadata.importKey).length > 1) {
		throw invalid('A table has one import key at most.');
	}
}
