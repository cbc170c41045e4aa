/** Operations that only read. Another client reads the expected values before. */
import { isDeepStrictEqual } from 'node:util';
import { picked } from '../../../support/engine/outsideJest.mts';
import { APP, TABLE, idOf } from '../../faults/constants.mts';
import { TEAM, type MatrixSandbox } from '../matrixSandbox.mts';
import { hash } from './attachments.mts';
import { tableParameters, conditions, itemsOf, unlessRight, type Prepared, type Scenario } from './scenario.mts';

const GROUPS = ['a', 'b', 'c'];
const PER_GROUP = 3;
const TABLE_PATH = `/apps/${APP}/tables/${TABLE}`;

async function fill(slot: MatrixSandbox) {
	const records = GROUPS.flatMap((group, at) =>
		Array.from({ length: PER_GROUP }, (_, index) => ({
			id: idOf(at * 10 + index),
			fields: {
				code: `${group}${index}`,
				name: `name ${index}`,
				group,
				size: at * 10 + index,
				due: `2026-11-1${index}T00:00:00Z`,
				seen: `2026-11-1${index}T22:30:00.000Z`,
				...(index === 0 && { team: { id: TEAM.id }, mates: { add: [TEAM.id] } }),
			},
		})),
	);
	await slot.createTable(records);
}

const GROUP = conditions(['group', 'eq', '={{ $json.group }}']);
const groups = () => itemsOf(GROUPS.map((group) => ({ group })));

/** The same scenario, all of whose items must be refused. */
const refusing = (scenario: Scenario): Scenario => ({
	...scenario,
	prepare: async (slot, random) => ({ ...(await scenario.prepare(slot, random)), isRefused: () => true }),
});

/** A read whose right output is known. */
const reading = (
	operation: string,
	prepare: (slot: MatrixSandbox) => Promise<{ parameters: object; items?: Prepared['items']; expected: object[][] }>,
	listOf: (json: Record<string, unknown>) => unknown[] = (json) => [json],
): Scenario => ({
	operation,
	kind: 'read',
	async prepare(slot): Promise<Prepared> {
		await fill(slot);
		const [resource = '', name = ''] = operation.split(': ');
		const { parameters, items = itemsOf([{}, {}, {}]), expected } = await prepare(slot);
		return {
			parameters: { resource, operation: name, ...parameters } as Prepared['parameters'],
			items,
			main: { path: '' },
			traces: items.map(() => ({ path: '' })),
			checkOutput: (index, outputs, { fieldsReplaced }) => {
				const returned = outputs.flatMap(({ json }) => listOf(json) as object[]);
				const shown = (list: object[]) => (fieldsReplaced ? list.map(withoutFields) : list);
				return unlessRight(isDeepStrictEqual(shown(returned), shown(expected[index]!)), returned);
			},
		};
	},
});

interface Shown {
	id: string;
	created: string;
	modified: string;
	ver: number;
	fields: object;
}

/** A link that has its record's fields in `fields`, with them beside its ID. */
function flatLink(value: unknown): unknown {
	const { id, url, fields } = (value ?? {}) as { id?: string; url?: string; fields?: object };
	return fields && id ? { ...fields, id, url } : value;
}

const simple = ({ id, created, modified, ver, fields }: Shown) => ({
	...Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, flatLink(value)])),
	id,
	created,
	modified,
	ver,
});

/** The rest of a shown record whose fields the platform replaced. */
const withoutFields = (shown: object) => {
	const { id, created, modified, ver, event } = shown as Partial<Shown & { event: string }>;
	return { id, created, modified, ver, event };
};

const records = async (slot: MatrixSandbox) => (await slot.readFromPlatform(`${TABLE_PATH}/data?sort=created,id&limit=100`)) as Shown[];

const inGroup = (all: Shown[], group: string) => all.filter(({ fields }) => (fields as { group: string }).group === group);

const get = reading('record: get', async (slot) => {
	const ids = [0, 11, 22].map(idOf);
	const all = await records(slot);
	return {
		parameters: { ...tableParameters(), recordId: { __rl: true, mode: 'id', value: '={{ $json.id }}' } },
		items: itemsOf(ids.map((id) => ({ id }))),
		expected: ids.map((id) => all.filter((record) => record.id === id).map(simple)),
	};
});

const getMany = reading('record: getAll', async (slot) => {
	const all = await records(slot);
	return {
		parameters: { ...tableParameters(), returnAll: true, ...GROUP },
		items: groups(),
		expected: GROUPS.map((group) => inGroup(all, group).map(simple)),
	};
});

/** A filter with a name that no field has: a platform that ignores it would return all records. */
const misspelt = (operation: string): Scenario => ({
	...reading(operation, async () => ({ parameters: { ...tableParameters(), ...conditions(['grup', 'eq', 'a']) }, expected: [[], [], []] })),
	variant: 'misspelt',
});

export const misspeltGetMany = refusing(misspelt('record: getAll'));
export const misspeltCount = refusing(misspelt('record: count'));

const exportToFile: Scenario = {
	operation: 'record: exportToFile',
	kind: 'read',
	async prepare(slot): Promise<Prepared> {
		await fill(slot);
		const all = await records(slot);
		const files = GROUPS.map((group) => {
			const lines = inGroup(all, group).map((record) => `${JSON.stringify(simple(record))}\n`);
			return hash(Buffer.from(lines.join('')));
		});
		const parameters = {
			resource: 'record',
			operation: 'exportToFile',
			...tableParameters(),
			...GROUP,
			format: 'ndjson',
			outputField: 'data',
			options: { file: { settings: { fileName: 'things' } } },
		};
		return {
			parameters,
			items: groups(),
			main: { path: '' },
			traces: GROUPS.map(() => ({ path: '' })),
			checkOutput: (index, outputs, { fieldsReplaced }) => {
				const data = fieldsReplaced ? outputs[0]?.files.data : files[index];
				const expected = [{ json: { records: PER_GROUP, fileName: 'things.ndjson' }, files: { data } }];
				return unlessRight(isDeepStrictEqual(outputs, expected), outputs);
			},
		};
	},
};

const changesOf = ({ changes, cursor, hasMore }: Record<string, unknown>) =>
	typeof cursor === 'string' && cursor !== '' && hasMore === false && Array.isArray(changes) ? changes : [{ wrong: { cursor, hasMore } }];

const byChange = (a: Shown, b: Shown) => Date.parse(a.modified) - Date.parse(b.modified) || (a.id < b.id ? -1 : 1);

const getChanges = reading(
	'record: getChanges',
	async (slot) => {
		const all = await records(slot);
		return {
			parameters: { ...tableParameters(), ...GROUP },
			items: groups(),
			expected: GROUPS.map((group) =>
				inGroup(all, group)
					.sort(byChange)
					.map((record) => ({ event: 'created', ...simple(record) })),
			),
		};
	},
	changesOf,
);

const count = reading('record: count', async () => ({
	parameters: { ...tableParameters(), ...GROUP },
	items: groups(),
	expected: GROUPS.map(() => [{ count: PER_GROUP }]),
}));

const summarize = reading('record: summarize', async () => ({
	parameters: { ...tableParameters(), ...GROUP, summaries: { summary: [{ field: 'size', aggregations: ['min', 'max', 'sum', 'avg'] }] } },
	items: groups(),
	expected: GROUPS.map((_, at) => {
		const [min, avg, max] = [at * 10, at * 10 + 1, at * 10 + 2];
		return [{ count: PER_GROUP, fields: { size: { min, max, sum: 3 * avg, avg } } }];
	}),
}));

interface Structure {
	id: string;
	name: string;
	internalName: string;
	internalNameApi: string;
	header: string;
	modules?: object[];
	items: Array<{
		name: string;
		header: string;
		type: string;
		metadata: { required?: boolean; importKey?: boolean; multiple?: boolean; linkTableId?: string };
	}>;
}

const tableShown = ({ id, internalNameApi, header, items }: Structure) => ({
	id,
	internalName: internalNameApi,
	header,
	importKey: items.find(({ metadata }) => metadata.importKey)?.name ?? null,
	fields: items.map(({ name, header: title, type, metadata }) => ({
		name,
		header: title,
		type,
		required: metadata.required ?? false,
		// A definition with the documented metadata alone says neither.
		...(metadata.linkTableId && { multiple: metadata.multiple ?? false, linkTableId: metadata.linkTableId }),
		...(type.startsWith('calculated') && { readOnly: true }),
	})),
	savedViews: [],
});

const thrice = (outputs: object[]) => [outputs, outputs, outputs];

const tableGet = reading('table: get', async (slot) => ({
	parameters: tableParameters(),
	expected: thrice([tableShown((await slot.readFromPlatform(TABLE_PATH)) as Structure)]),
}));

const tableGetMany = reading('table: getAll', async (slot) => {
	const tables = (await slot.readFromPlatform(`/apps/${APP}/tables`)) as Structure[];
	return { parameters: { application: picked(APP) }, expected: thrice(tables.map(tableShown)) };
});

const applicationGetMany = reading('application: getAll', async (slot) => {
	const all = (await slot.readFromPlatform('/apps')) as Structure[];
	return { parameters: {}, expected: thrice(all.map(({ id, name, internalName }) => ({ id, name, internalName }))) };
});

export const readingScenarios = [get, getMany, exportToFile, getChanges, count, summarize, tableGet, tableGetMany, applicationGetMany];
