import { fieldTypes, type App, type Field, type Table } from '../state/model.mts';
import { invalid } from '../api/errors.mts';
import { uuidOf } from './ids.mts';
import type { TableInput } from './tableInput.mts';
import { codecOf } from '../fields/index.mts';
import { isTimeZone } from '../fields/time.mts';
import type { SandboxState } from '../state/sandboxState.mts';

export interface AppInput {
	name?: string;
	internalName: string;
	timeZone?: string | undefined;
}

/** Other characters would make filters, sorts or SQL ambiguous. */
const fieldName = /^\p{L}[\p{L}\p{N}_-]*$/u;
const reserved = ['id', 'created', 'modified', 'ver'];

/** Creates an application. Throws an ApiError (400). */
export function createApp(state: SandboxState, input: AppInput): App {
	const { internalName, name = internalName, timeZone = 'UTC' } = input;
	if (!isTimeZone(timeZone)) throw invalid(`'${timeZone}' is not an IANA time zone.`);
	const app: App = { id: uuidOf(`app ${internalName}`), name, internalName, timeZone };
	state.apps.put(app);
	return app;
}

/** Creates a table. Throws an ApiError (400). */
export function createTable(state: SandboxState, app: App, input: TableInput): Table {
	const id = uuidOf(`table ${app.internalName}/${input.internalName}`);
	const highest = Math.max(0, ...state.tables.all().map((table) => table.number));
	const table: Table = {
		id,
		number: state.tables.get(id)?.number ?? highest + 1,
		appId: app.id,
		shortid: id.slice(0, 6),
		internalName: input.internalName,
		header: input.header ?? input.internalName,
		fields: input.fields.map(({ name, header = name, type, metadata = {}, unique = false }) => ({
			name,
			header,
			type,
			metadata,
			unique,
		})),
		views: (input.views ?? []).map((view) => ({
			id: uuidOf(`view ${app.internalName}/${input.internalName}/${view.name}`),
			description: '',
			visibility: 'all',
			...view,
		})),
		scripts: [],
		fieldNameProperty: input.fieldNameProperty ?? 'name',
		rejections: input.rejections ?? [],
	};
	checkFields(table.fields);
	state.tables.put(table);
	return table;
}

function checkFields(fields: Field[]): void {
	const seen = new Set<string>();
	for (const field of fields) {
		const { name, type, metadata } = field;
		if (!fieldName.test(name) || reserved.includes(name)) {
			throw invalid(`'${name}' is not a valid field name.`);
		}
		if (seen.has(name)) throw invalid(`Two fields are named '${name}'.`);
		if (!fieldTypes.includes(type)) throw invalid(`Field '${name}' has an unknown type '${type}'.`);
		if (type === 'schema_link' && !metadata.linkTableId) {
			throw invalid(`Field '${name}' needs metadata.linkTableId.`);
		}
		if (field.unique && !codecOf(field).canBeKey)
			throw invalid(`Field '${name}' cannot be unique.`);
		seen.add(name);
	}
	if (fields.filter((field) => field.metadata.importKey).length > 1) {
		throw invalid('A table can only have one import key.');
	}
}
