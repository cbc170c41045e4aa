/** Operations that write or delete records. */
import { isDeepStrictEqual } from 'node:util';
import type { INodeParameters } from 'n8n-workflow';
import type { SeededRandom } from '../../../support/seededRandom.mts';
import { APP, POISON, TABLE } from '../../faults/constants.mts';
import type { Fields } from '../../faults/table.mts';
import { automatic } from '../../../support/engine/outsideJest.mts';
import type { ParsedResult } from '../parseResult.mts';
import { idOf } from '../../faults/constants.mts';
import { TEAM, type MatrixSandbox, type Truth } from '../matrixSandbox.mts';
import {
	tableParameters,
	conditions,
	itemsOf,
	type Effect,
	type Output,
	type Prepared,
	type Scenario,
	type Touched,
	unlessRight,
	unlessSame,
} from './scenario.mts';

const COUNT = 7;

/** The item whose record some faults reject. */
const POISONED = 3;

const code = (index: number) => `c${index}`;

/** What an item's record holds afterwards; every second one has a link. */
const newFields = (index: number): Fields => ({
	code: code(index),
	name: index === POISONED ? POISON : `new ${index}`,
	size: index + 1,
	due: `2026-11-1${index}`,
	seen: `2026-11-1${index}T22:30:00.000Z`,
	...(index % 2 === 0 && { team: TEAM.id }),
});

/** The values of an item: its time has an offset, with another day than in UTC. */
const sentFields = (index: number): Fields => ({ ...newFields(index), seen: `2026-11-1${index + 1}T00:30:00+02:00` });

/** A record that no item writes. Its links show their kind, where the definition does not say it. */
const LINKED = 90;
const LINKS = { team: { id: TEAM.id }, mates: { add: [TEAM.id] } };

const oldRecord = (index: number) => ({
	id: idOf(index),
	fields: { code: code(index), name: `old ${index}`, size: 0, group: 'a', ...(index === LINKED && LINKS) },
});

const indexes = Array.from({ length: COUNT }, (_, index) => index);

const recordsWith = (index: number, { records }: Truth) => records.filter(({ fields }) => fields.code === code(index));

/** The effect of an item that writes the record with its code. */
function effectOn(index: number, truth: Truth, kept: object): Effect {
	const found = recordsWith(index, truth);
	if (found.length > 1) return { wrong: `there are ${found.length} records of item ${index}` };
	const was = truth.before.find(({ fields }) => fields.code === code(index));
	const is = found[0];
	if (!is) return was ? { wrong: `the record of item ${index} is gone` } : 'none';
	const typed = (fields: object) =>
		Object.entries(fields)
			.filter(([name]) => !truth.untyped.includes(name))
			.sort();
	if (isDeepStrictEqual(typed(is.fields), typed({ ...newFields(index), ...kept }))) return 'done';
	if (was && isDeepStrictEqual(is.fields, was.fields)) return 'none';
	return { wrong: `the record of item ${index} holds ${JSON.stringify(is.fields)}` };
}

/** The output of an item of a bulk operation, compared with the stored record. */
function checkOutput(
	index: number,
	outputs: Output[],
	{ records, before, written, isKindHidden = false, mayLackId = false }: Truth,
): string[] {
	if (outputs.length !== 1) return [`${outputs.length} output items for one item`];
	const { outcome, id, ver, created, modified, notRead } = outputs[0]!.json;
	const is = records.find(({ fields }) => fields.code === code(index));
	if (!is) return [`reported as ${String(outcome)}, but there is no such record`];
	const was = before.some((record) => record.id === is.id);
	const wrong: string[] = [];
	// If no look-up can tell whose record each is, it has no ID, and may be new or not.
	const isKind = (isKindHidden || id === undefined) && outcome === 'written';
	if (!isKind && outcome !== (was ? 'updated' : 'inserted')) {
		wrong.push(`reported as ${String(outcome)}`);
	}
	if (id === undefined) return mayLackId || outcome === 'inserted' ? wrong : [...wrong, 'it has no ID'];
	// What can't be read after the write has no times, if the response does not list it.
	if (notRead !== undefined && created === undefined) return wrong;
	const same = (time: unknown, stored: string) => new Date(String(time)).toISOString() === stored;
	// What the platform completes later is another version of the same request.
	const own = written.filter((version) => version.id === is.id);
	const reported = own.find((version) => version.ver === ver && version.request === own.at(-1)!.request);
	if (id !== is.id || (ver !== is.ver && !reported)) wrong.push(`reported as record ${String(id)}/${String(ver)}`);
	if (!same(created, is.created) || !same(modified, reported?.at ?? is.modified)) wrong.push('other times are reported');
	return wrong;
}

const batches = (random: SeededRandom) => ({ batchSize: random.of(2, 3, 3, 100) });

/** The items whose records exist. */
const EXISTING = [0, 2, 4];
const isThere = (index: number) => EXISTING.includes(index);

/** Of the items: an update may leave the code out, but not the name. */
const tracesByName = indexes.map((index) => ({ body: `"${String(newFields(index).name)}"` }));

/** Records that were looked up are updated by their IDs, others are created. */
const BULK: Prepared['main'] = { path: '/data/bulk$' };

/** Operations that need the import key, unless they match by other fields. */
const KEYED = ['upsert', 'sync'];

/** How a scenario that writes a record for each item differs from the others. */
interface Variant extends Partial<Pick<Prepared, 'main' | 'traces' | 'checkOthers' | 'isRejected'>> {
	/** The items whose records exist, and further records; some items and one more by default. */
	existing?: number[];
	isKeyed?: boolean;
	/** Creates the table, if it is a special one. */
	fill?: (slot: MatrixSandbox) => Promise<void>;
	parameters?: INodeParameters;
	options?: INodeParameters;
	/** What an item has besides its fields. */
	id?: (index: number) => Fields;
	/** The values of an item. */
	given?: (index: number) => Fields;
	/** Those that its record gets, even if it exists. */
	written?: (index: number) => Fields;
	/** What its record holds besides, or instead; by default what it held that no item changes. */
	kept?: (index: number, truth: Truth) => Fields;
}

const writing = (
	operation: string,
	names: Pick<Scenario, 'variant' | 'kind'>,
	variantOf: (random: SeededRandom, slot: MatrixSandbox) => Variant,
): Scenario => ({
	operation: `record: ${operation}`,
	...names,
	async prepare(slot, random): Promise<Prepared> {
		const variant = variantOf(random, slot);
		const {
			existing = [...EXISTING, LINKED],
			given = sentFields,
			written = variant.given ?? newFields,
			main = BULK,
			traces = tracesByName,
			checkOthers,
			isRejected,
		} = variant;
		const { kept = (index) => (existing.includes(index) ? { group: 'a' } : {}) } = variant;
		if (variant.fill) await variant.fill(slot);
		else await slot.createTable(existing.map(oldRecord), variant.isKeyed);
		return {
			parameters: {
				resource: 'record',
				operation,
				...tableParameters(random, slot),
				...variant.parameters,
				columns: automatic,
				options: { ...batches(random), ...(KEYED.includes(operation) && slot.importKey), ...variant.options },
			},
			items: itemsOf(indexes.map((index) => ({ ...variant.id?.(index), ...given(index) }))),
			main,
			traces,
			touched: { idOf: (index) => (existing.includes(index) ? idOf(index) : undefined), values: written },
			effect: (index, truth) => effectOn(index, truth, kept(index, truth)),
			checkOutput,
			checkOthers,
			isRejected,
		};
	},
});

export const create = writing('create', { kind: 'once' }, (random) => ({ existing: [LINKED], isKeyed: random.happens(0.6) }));

export const upsert = writing('upsert', { kind: 'harmless' }, (random) => ({ options: { skipUnchanged: random.happens(0.3) } }));

/**
 * Records found by other fields than the import key, in a table with or without one: then a create
 * is not an upsert, and must not be repeated blindly.
 */
export const matchedUpsert = writing('upsert', { variant: 'matched', kind: 'once' }, (random) => {
	const isByTwo = random.happens(0.5);
	const group = (index: number): Fields => ({ group: isThere(index) ? 'a' : 'b' });
	return {
		isKeyed: random.happens(0.5),
		parameters: { matchOn: 'fields', matchFields: isByTwo ? ['group', 'code'] : ['code'] },
		options: { skipUnchanged: random.happens(0.3) },
		given: (index) => ({ ...newFields(index), ...(isByTwo ? group(index) : {}) }),
		kept: (index) => (isThere(index) || isByTwo ? group(index) : {}),
	};
});

/** Records are read after the write: a failure then must not look like one of the write. */
export const storedUpsert = writing('upsert', { variant: 'stored', kind: 'harmless' }, () => ({ options: { output: 'stored' } }));

/** The platform rejects one item, with or without its position: the others are written. */
export const partlyRejected = writing('upsert', { variant: 'one rejected', kind: 'harmless' }, () => ({
	fill: async (slot) =>
		await slot.createTable([...EXISTING, LINKED].map(oldRecord), true, [
			{ name: 'state', type: 'dropdown', metadata: { items: [{ value: 'open', order: 1 }] } },
		]),
	given: (index) => ({ ...sentFields(index), state: index === POISONED ? 'lost' : 'open' }),
	written: newFields,
	kept: (index) => ({ ...(isThere(index) && { group: 'a' }), state: 'open' }),
	isRejected: (index) => index === POISONED,
}));

/** A field that only new records get: what an existing one holds stays, whatever happens. */
export const ruledUpsert = writing('upsert', { variant: 'field rules', kind: 'once' }, (random) => {
	const rule = random.of('whenCreating', 'ifEmpty');
	return {
		options: { fieldRules: { field: [{ field: 'group', rule }] } },
		given: (index) => ({ ...newFields(index), group: 'b' }),
		written: newFields,
		kept: (index) => ({ group: isThere(index) ? 'a' : 'b' }),
	};
});

/** Each item has a file with one row, so that the outcome of the row is that of the item. */
export const importFromFile: Scenario = {
	operation: 'record: importFromFile',
	kind: 'harmless',
	async prepare(slot, random): Promise<Prepared> {
		await slot.createTable([...EXISTING, LINKED].map(oldRecord));
		const isCsv = random.happens(0.5);
		const file = (index: number) => {
			const fields = sentFields(index);
			return isCsv ? `${Object.keys(fields).join()}\r\n${Object.values(fields).join()}\r\n` : `${JSON.stringify(fields)}\n`;
		};
		return {
			parameters: {
				resource: 'record',
				operation: 'importFromFile',
				...tableParameters(random, slot),
				inputDataFieldName: 'data',
				format: 'auto',
				importMode: 'upsert',
				matchOn: 'importKey',
				mappingMode: 'autoMapInputData',
				rejectedRowsField: 'rejected',
				options: { ...slot.importKey, skipUnchanged: random.happens(0.3), file: { settings: { stopAfterRejected: 1 } } },
			},
			items: indexes.map((index) => ({
				json: {},
				binary: { data: { fileName: `rows ${index}`, mimeType: 'text/plain', data: Buffer.from(file(index)).toString('base64') } },
			})),
			main: BULK,
			traces: tracesByName,
			touched: {
				idOf: (index) => (isThere(index) ? idOf(index) : undefined),
				values: newFields,
				// The report of a file names no record: some version of one had the row's values.
				check: (index, item, { history, written: own }) => {
					const isHeld = (states: typeof history) =>
						states.some(({ fields }) =>
							Object.entries(newFields(index)).every(([name, value]) => (fields as Record<string, unknown> | null)?.[name] === value),
						);
					if (item.kind === 'failed') return isHeld(own) ? ['the node wrote it'] : [];
					if (item.kind !== 'done') return [`it is ${item.kind}`];
					return isHeld(history) ? [] : ['no record ever held its values'];
				},
			},
			effect: (index, truth) => effectOn(index, truth, isThere(index) ? { group: 'a' } : {}),
			// In a CSV file it is the second row, because the first is the header.
			saysDone: (_index, message) => message.includes(`is imported through row ${isCsv ? 2 : 1} only`),
			checkOutput: (_index, outputs) => {
				const { rows, rejected, inserted, updated, unchanged, written } = outputs[0]!.json;
				const done = [inserted, updated, unchanged, written].reduce((sum: number, count) => sum + Number(count), 0);
				return unlessRight(outputs.length === 1 && rows === 1 && rejected === 0 && done === 1, outputs);
			},
		};
	},
};

export const update = writing('update', { kind: 'harmless' }, (random) => {
	const isFull = random.happens(0.4);
	return {
		existing: [...indexes, LINKED],
		parameters: { recordId: '={{ $json.id }}', updateMode: isFull ? 'replace' : 'partial' },
		options: { skipUnchanged: random.happens(0.3) },
		id: (index) => ({ id: idOf(index) }),
		main: { method: isFull ? 'PUT' : 'PATCH', path: '/data/bulk$' },
		traces: indexes.map((index) => ({ body: `"${idOf(index)}"` })),
		kept: () => (isFull ? {} : { group: 'a' }),
	};
});

/** Without the link, whose ID nobody knows before. */
const ownFields = (index: number): Fields => {
	const { team: _link, ...fields } = newFields(index);
	return fields;
};

/** Records that were read before, written back as they are but for their name. */
export const writeBack = writing('update', { variant: 'written back', kind: 'harmless' }, (random) => {
	const read = new Map<string, Fields>();
	const richRecord = (index: number) => {
		const { id, fields } = oldRecord(index);
		const { due, seen } = sentFields(index);
		const links = index % 2 === 0 && LINKS;
		return { id, fields: { ...fields, due: `${String(due)}T00:00:00Z`, seen, ...links } };
	};
	return {
		existing: indexes,
		fill: async (slot) => {
			await slot.createTable(indexes.map(richRecord));
			const all = (await slot.readFromPlatform(`/apps/${APP}/tables/${TABLE}/data?limit=100`)) as Array<{ id: string; fields: Fields }>;
			for (const { id, fields } of all) read.set(id, fields);
		},
		parameters: { recordId: '={{ $json.id }}' },
		options: { skipUnchanged: random.happens(0.3) },
		id: (index) => ({ id: idOf(index) }),
		main: { method: 'PATCH', path: '/data/bulk$' },
		traces: indexes.map((index) => ({ body: `"${idOf(index)}"` })),
		given: (index) => ({ ...read.get(idOf(index)), name: newFields(index).name, size: newFields(index).size }),
		written: ownFields,
		kept: (index) => ({ group: 'a', ...(index % 2 === 0 && { mates: [TEAM.id] }) }),
	};
});

/** The records that are missing from the input of a sync. */
const MISSING = [90, 91, 92].map(idOf);

/** Compares what a run reports about the records to remove with what is stored. */
function checkRemovals(isDelete: boolean, { items, others, stop }: ParsedResult, truth: Truth) {
	const wrong: string[] = [];
	const isRemoved = (id: string) => {
		const is = truth.records.find((record) => record.id === id);
		return isDelete ? !is : is?.fields.group === 'gone';
	};
	for (const id of MISSING) {
		const reported = others.filter((other) => other.id === id).map(({ outcome }) => outcome);
		const text = `record ${id}, ${isRemoved(id) ? 'removed' : 'left'}, is reported as ${reported.join() || 'nothing'}`;
		const isReported = reported.length === 1;
		// If nothing could be done at all, each item says why; an error names only one record.
		const isNothingDone = stop !== undefined || items.every(({ kind }) => kind !== 'done');
		if (!isReported && !isNothingDone) wrong.push(text);
		const [outcome] = reported;
		if (['deleted', 'marked'].includes(outcome ?? '') && !isRemoved(id) && !truth.isOtherMet) wrong.push(text);
		if (outcome === 'failed' && isRemoved(id) && !truth.payloadAltered) wrong.push(text);
	}
	for (const { id } of others) {
		if (!MISSING.includes(id ?? '')) wrong.push(`record ${id} is not missing from the input`);
	}
	return wrong;
}

/** Records that are missing from the input are deleted, or get new field values. */
export const sync = writing('sync', { kind: 'harmless' }, (random) => {
	const isDelete = random.happens(0.6);
	return {
		existing: [...EXISTING, 90, 91, 92],
		parameters: {
			missingRecords: isDelete ? 'delete' : 'setFields',
			...(!isDelete && { fieldsToSet: { entry: [{ field: 'group', value: 'gone' }] } }),
			maxRecordsToRemove: 3,
			maxShareToRemove: 100,
			...(random.happens(0.5) && conditions(['size', 'lte', '100'])),
		},
		checkOthers: (result, truth) => checkRemovals(isDelete, result, truth),
	};
});

/** Stored lists, and what items write instead: equal, prefix, reordered, partly equal. */
const LISTS: Array<[stored: string, written: string]> = [
	['abc', 'abc'],
	['abc', 'ab'],
	['ab', 'abc'],
	['abc', 'cab'],
	['abc', 'axc'],
	['', 'a'],
	['a', 'aa'],
];

/** With Skip Unchanged only differences are sent: a similar list is a difference. */
export const similarLists = writing('upsert', { variant: 'similar lists', kind: 'harmless' }, (random) => {
	const shift = random.between(0, LISTS.length - 1);
	const lists = (index: number) => LISTS[(index + shift) % LISTS.length]!.map((letters) => [...letters]) as [string[], string[]];
	const old = (index: number) => {
		const { id, fields } = oldRecord(index);
		const [tags] = lists(index);
		return { id, fields: { ...fields, ...(tags.length > 0 && { tags }) } };
	};
	return {
		existing: indexes,
		fill: async (slot) => await slot.createTable([...indexes, LINKED].map(old), true, [{ name: 'tags', type: 'chips' }]),
		options: { skipUnchanged: true },
		given: (index) => ({ ...newFields(index), tags: lists(index)[1] }),
		kept: (index) => ({ group: 'a', tags: lists(index)[1] }),
	};
});

/** The first one exists, the others don't. */
const TEAMS = [TEAM.fields.name, 'green', 'blue'];

/** The link in an item's record: to the existing team, or to a new one with any other ID. */
function expectedTeam(index: number, { records }: Truth): unknown {
	const teamOf = (other: number) => records.find(({ fields }) => fields.code === code(other))?.fields.team;
	if (index % TEAMS.length === 0) return TEAM.id;
	const team = teamOf(index);
	const mates = indexes.filter((other) => other % TEAMS.length === index % TEAMS.length);
	const isShared = mates.every((mate) => [undefined, team].includes(teamOf(mate)));
	return typeof team === 'string' && team !== TEAM.id && isShared ? team : 'a new team';
}

/** Names are in the import key of their table, which is named if its definition does not mark it. */
const valuesIn = ({ settings }: MatrixSandbox['readings']) =>
	settings.definition === 'documented' ? { valueType: 'field', linkedField: 'name' } : { valueType: 'importKey' };

/** Links are given by names, some of which don't exist yet. */
export const linksByName = writing('upsert', { variant: 'links by name', kind: 'harmless' }, (random, { readings }) => ({
	fill: async (slot) => await slot.createTable([...EXISTING, LINKED].map(oldRecord), true, [], true),
	options: { skipUnchanged: random.happens(0.3), linkValues: { link: [{ field: 'team', ...valuesIn(readings), ifNotFound: 'create' }] } },
	given: (index) => ({ ...newFields(index), team: TEAMS[index % TEAMS.length] }),
	written: ownFields,
	kept: (index, truth) => ({ ...(isThere(index) && { group: 'a' }), team: expectedTeam(index, truth) }),
}));

export const remove: Scenario = {
	operation: 'record: delete',
	kind: 'harmless',
	async prepare(slot, random): Promise<Prepared> {
		await slot.createTable([...indexes, 90].map(oldRecord));
		return {
			parameters: {
				resource: 'record',
				operation: 'delete',
				...tableParameters(random, slot),
				recordId: { __rl: true, mode: 'id', value: '={{ $json.id }}' },
			},
			items: itemsOf(indexes.map((index) => ({ id: idOf(index) }))),
			main: { method: 'DELETE', path: '/data/' },
			traces: indexes.map((index) => ({ path: idOf(index) })),
			touched: { idOf },
			effect: (index, truth) => (recordsWith(index, truth).length === 0 ? 'done' : 'none'),
			checkOutput: (index, outputs) => unlessSame(outputs, { deleted: true, id: idOf(index) }),
		};
	},
};

const GROUPS = ['a', 'b', 'c'];
const PER_GROUP = 4;

/** Another writer moves a record out of the group, deletes it, or adds one to the group. */
const touchedGroup = (groupOf: (index: number) => string | undefined): Touched => {
	const firstOf = (index: number) => idOf(GROUPS.indexOf(groupOf(index)!) * 10);
	return {
		idOf: firstOf,
		write(action, index) {
			const group = groupOf(index);
			if (group === undefined) return undefined;
			if (action === 'insert') return { fields: { code: 'new', name: 'theirs', group } };
			const id = firstOf(index);
			const fields: Fields = { group: 'kept' };
			return action === 'update' ? { id, fields } : { id };
		},
		check(index, item, { before, history, written }) {
			if (item.kind !== 'done') return [`it is ${item.kind}`];
			const { matched, deletedCount } = item.outputs[0]!.json as Record<string, number>;
			const groupBefore = (version: Truth['written'][number]) =>
				[...before, ...history].filter(({ id, fields }) => id === version.id && fields).at(-1)?.fields?.group;
			const own = written.filter((version) => groupBefore(version) === groupOf(index)).length;
			// A record that another writer deleted may count, but not one that it moved out of the group.
			const theirs = history.filter((version) => !written.includes(version));
			const most = own + (theirs.some(({ action }) => action === 'deleted') ? 1 : 0);
			const isTrue = own <= deletedCount! && deletedCount! <= Math.min(most, matched!);
			return isTrue ? [] : [`${own} were deleted, reported ${deletedCount} of ${matched}`];
		},
	};
};

/** A filter with a name that no field has: a platform that ignores it would delete all records. */
export const misspeltDeleteMany: Scenario = {
	operation: 'record: deleteMany',
	variant: 'misspelt',
	kind: 'once',
	async prepare(slot, random): Promise<Prepared> {
		await slot.createTable([...indexes, 90].map(oldRecord));
		return {
			parameters: {
				resource: 'record',
				operation: 'deleteMany',
				...tableParameters(random, slot),
				maxRecordsToDelete: 50,
				...conditions(['grup', 'eq', 'a']),
			},
			items: itemsOf([{}]),
			main: { method: 'DELETE', path: '/data/' },
			traces: [{ path: '/data/' }],
			isRefused: () => true,
			effect: (_index, { records }) => (records.length === COUNT + 1 ? 'none' : { wrong: 'records that nobody meant were deleted' }),
			checkOutput: (_index, outputs) => unlessRight(false, outputs),
		};
	},
};

/** Deletes the records of one group for each item: with AND in one request, with OR one by one. */
export const deleteMany: Scenario = {
	operation: 'record: deleteMany',
	kind: 'once',
	isCounted: true,
	async prepare(slot, random): Promise<Prepared> {
		const records = [...GROUPS, 'kept'].flatMap((group, at) =>
			Array.from({ length: PER_GROUP }, (_, index) => ({
				id: idOf(at * 10 + index),
				fields: { code: `${group}${index}`, name: 'old', group },
			})),
		);
		await slot.createTable(records);
		const isOne = random.happens(0.6);
		const items: Array<{ group?: string; operator: string }> = GROUPS.map((group) => ({ group, operator: 'eq' }));
		// An expression that returned nothing: with each of these operators it would match other
		// records.
		const operator = random.of('contains', 'startswith', 'neq', 'notin', 'notcontains');
		if (random.happens(0.4)) items.splice(1, 0, { operator });
		const left = (index: number, truth: Truth) => truth.records.filter(({ fields }) => fields.group === items[index]?.group).length;
		const group: [string, string, string] = ['group', '={{ $json.operator }}', '={{ $json.group }}'];
		const filter = conditions(group, ['name', 'eq', 'nobody']);
		return {
			parameters: {
				resource: 'record',
				operation: 'deleteMany',
				...tableParameters(random, slot),
				maxRecordsToDelete: 50,
				...(isOne ? conditions(group) : { ...filter, matchType: 'or' }),
			},
			items: itemsOf(items),
			main: { method: 'DELETE', path: '/data/' },
			// A request does not show which item it is for, so any of them may be unclear then.
			traces: items.map(() => ({ path: '/data/' })),
			isRefused: (index) => items[index]?.group === undefined,
			touched: touchedGroup((index) => items[index]?.group),
			effect(index, truth) {
				const rest = left(index, truth);
				if (truth.records.filter(({ fields }) => fields.group === 'kept').length < PER_GROUP) {
					return { wrong: 'records that do not match were deleted' };
				}
				if (rest === PER_GROUP || items[index]?.group === undefined) return 'none';
				return rest === 0 ? 'done' : { part: PER_GROUP - rest };
			},
			checkOutput(_index, outputs) {
				const { records, ...json } = outputs[0]!.json;
				const named = new Set((records as Array<{ id: string }>).map(({ id }) => id)).size;
				const expected = { deleted: true, matched: PER_GROUP, deletedCount: PER_GROUP, remaining: 0, named: PER_GROUP };
				return unlessSame([{ ...outputs[0]!, json: { ...json, named } }], expected);
			},
		};
	},
};
