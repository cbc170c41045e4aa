/** A schedule of one operation: its table, items, options, faults in a row and another writer. */
import fc from 'fast-check';
import type { INodeExecutionData } from 'n8n-workflow';
import type { FaultRule, NewTable } from '../../../harness/sandboxAdmin.mts';
import { idOf } from './constants.mts';
import { FAULTS, mark, type FaultName } from './faults.mts';
import type { OtherWrite } from './otherWriter.mts';
import { platformSettings } from './platform.mts';
import {
	KEY,
	storedKey,
	KEY_TYPES,
	OLD_FILE,
	OLD_MESSAGE,
	REFUSED_STATE,
	tableOf,
	textFile,
	type FieldRule,
	type Fields,
	type Json,
	type KeyType,
	type RuledField,
} from './table.mts';

/** Operations that run for each item, and those that take all items together. */
export const SINGLE = ['delete', 'upload', 'remove'] as const;
export const BULK = ['create', 'upsert', 'update', 'sync', 'deleteMany'] as const;
export const OPERATIONS = [...SINGLE, ...BULK] as const;
export type Operation = (typeof OPERATIONS)[number];
export type MatchOn = 'importKey' | 'fields' | 'recordId';

/** What happens to the files of a record: some are added, or others replace all. */
export interface FileChange {
	kind: 'add' | 'list';
	/** The contract leaves open what happens to the stored files. */
	isAddress?: true;
	names: string[];
}

type FileChoice = 'add' | 'addTwo' | 'addSame' | 'list' | 'url';

interface DrawnItem {
	identity: number;
	form: number;
	/** The record that it names by ID; 9 for none. */
	target: number;
	/** Writes what its record already has. */
	isIdle: boolean;
	/** Has no value except its record ID. */
	isEmpty: boolean;
	isRefused: boolean;
	files: FileChoice | undefined;
	hasMessages: boolean;
	hasCount: boolean;
	hasOwner: boolean;
	hasNote: boolean;
}

/** Faults for requests of one item, or for any write, one after the other. */
export interface FaultSequence {
	/** The item, or -1 for any write. */
	item: number;
	/** In a sync, affects a record that is missing from the input instead of an item. */
	isOnMissing: boolean;
	/** The first affected request. */
	nth: number;
	/** How many records are affected, or the position of one, from 1. */
	size: number;
	names: FaultName[];
}

/** As it is drawn: small changes to it are small changes to the case. */
export interface Drawn {
	operation: Operation;
	matchOn: MatchOn;
	hasTwoMatchFields: boolean;
	isFull: boolean;
	keyType: KeyType;
	isKeyed: boolean;
	records: Array<{
		identity: number;
		hasFile: boolean;
		hasTalk: boolean;
		isInGroup: boolean;
		/** Its values in the fields that may have a rule. */
		ruled: Partial<Record<RuledField, Json>>;
	}>;
	items: DrawnItem[];
	/** Which fields an existing record keeps. */
	fieldRules: Partial<Record<RuledField, FieldRule>>;
	matching: { ifFound: 'update' | 'skip'; ifMissing: 'create' | 'skip' | 'error'; multipleMatches: 'error' | 'first' };
	removal: { isDelete: boolean; despiteFailures: boolean; maximum: number; isOr: boolean };
	onError: 'stopWorkflow' | 'continueRegularOutput' | 'continueErrorOutput';
	tries: number;
	canRead: boolean;
	/** A field that the user names as the import key, although the platform has another one. */
	wrongKey: string | undefined;
	options: { batchSize: number; skipUnchanged: boolean };
	settings: Record<string, string | boolean | number | null>;
	sequences: FaultSequence[];
	readFaults: Array<{ nth: number; name: FaultName; on: 'lookUp' | 'count' | 'get' }>;
	otherWriter: { before: number; item: number; action: 'update' | 'delete'; addsFile: boolean } | undefined;
}

export interface CaseItem {
	index: number;
	/** The record that it names by ID. */
	id: string | undefined;
	/** Its key as the platform stores it, as JSON text. */
	identity: string | undefined;
	/** The group that it deletes. */
	group: string | undefined;
	/** What it writes, as it is stored. */
	stored: Fields;
	files: FileChange | undefined;
	messages: string[] | undefined;
	isIdle: boolean;
	isEmpty: boolean;
	isRefused: boolean;
	/** Contained in every request that writes it. */
	trace: { path: string } | { body: string };
	data: INodeExecutionData;
}

/** A concrete schedule: everything that a run and a human reader need. */
export interface Case extends Omit<Drawn, 'keyType' | 'records' | 'items' | 'sequences' | 'readFaults' | 'otherWriter'> {
	isBulk: boolean;
	table: NewTable['table'];
	records: Array<{ id: string; fields: Fields }>;
	items: CaseItem[];
	/** Whether the timeout is so short that a busy machine alone makes requests fail. */
	isHasty: boolean;
	faults: string[];
	otherWrite: OtherWrite | undefined;
	rules: FaultRule[];
}

/** Where the platform fetches the files that items name by URL. */
export const FILE_SERVER = 'http://files.invalid';

const weighted = <Value,>(...choices: Array<[number, Value]>): fc.Arbitrary<Value> =>
	fc.oneof(...choices.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) }))) as fc.Arbitrary<Value>;

const chance = (percent: number) => weighted([100 - percent, false], [percent, true]);

/** Most sequences start with a response that is lost after the write. */
const lost = weighted<FaultName>(
	[4, 'resetAfter'],
	[3, 'html502After'],
	[2, 'error500After'],
	[2, 'gateway504After'],
	[2, 'html200After'],
	[2, 'truncated'],
	[1, 'hangAfter'],
	[1, 'empty204After'],
	[1, 'late'],
);
const any = weighted<FaultName>(
	[3, 'resetAfter'],
	[2, 'html502After'],
	[1, 'gateway504After'],
	[1, 'truncated'],
	[2, 'resetBefore'],
	[1, 'down503'],
	[1, 'error500'],
	[1, 'gateway504'],
	[1, 'html502'],
	[1, 'hang'],
	[1, 'hangAfter'],
	[3, 'refused400'],
	[2, 'refused413'],
	[2, 'denied401'],
	[2, 'denied403'],
	[1, 'gone404'],
	[2, 'busy429'],
	[2, 'busy503'],
	[1, 'silent429'],
);

/** Of a request with many records: some are not written, or the response is not complete. */
const partial = weighted<FaultName>(
	[2, 'failedByPosition'],
	[2, 'failedByPositionWithoutIndex'],
	[2, 'skippedByPosition'],
	[3, 'fewerRecords'],
	[1, 'moreRecords'],
	[1, 'refusedAbove'],
);
const anyWrite = fc.oneof({ weight: 4, arbitrary: any }, { weight: 1, arbitrary: partial });

const sequence: fc.Arbitrary<FaultSequence> = fc
	.record({
		item: fc.constantFrom(-1, 0, 0, 1, 1, 2, 3, 4),
		isOnMissing: chance(40),
		nth: fc.constantFrom(1, 1, 1, 1, 1, 2),
		size: fc.constantFrom(1, 1, 2, 3),
		first: fc.oneof({ weight: 3, arbitrary: lost }, { weight: 3, arbitrary: anyWrite }),
		others: fc.oneof(
			...[0, 1, 1, 1, 2, 2].map((length) => fc.array(anyWrite, { minLength: length, maxLength: length, size: 'max' })),
			// A batch is halved until its records are alone.
			fc.constant(Array<FaultName>(4).fill('refused400')),
		),
	})
	.map(({ first, others, ...rest }) => ({ ...rest, names: [first, ...others] }));

const drawnItem: fc.Arbitrary<DrawnItem> = fc.record({
	identity: fc.nat(7),
	form: fc.nat(5),
	target: fc.nat(9),
	isIdle: chance(12),
	isEmpty: chance(4),
	isRefused: chance(6),
	files: weighted<FileChoice | undefined>([12, undefined], [7, 'add'], [2, 'addTwo'], [1, 'addSame'], [2, 'list'], [1, 'url']),
	hasMessages: chance(15),
	hasCount: fc.boolean(),
	hasOwner: chance(70),
	hasNote: chance(70),
});

const NOTHING = { requiredKeys: [], noNullPrototype: true } as { requiredKeys: []; noNullPrototype: true };
const anyRule = weighted<FieldRule>([1, 'always'], [4, 'whenCreating'], [4, 'ifEmpty']);
const fieldRules: fc.Arbitrary<Drawn['fieldRules']> = fc.oneof(
	{ weight: 1, arbitrary: fc.constant({}) },
	{ weight: 2, arbitrary: fc.record({ owner: anyRule, note: anyRule, count: anyRule }, NOTHING) },
);

const settings = fc.record({
	batchFailure: fc.constantFrom('perRecord', 'perRecord', 'wholeBatch400', 'wholeBatch422'),
	errorPosition: fc.constantFrom('RecordIndex', 'RecordIndex', 'recordIndex', 'none'),
	updatedCount: fc.boolean(),
	maxBulkRecords: weighted<number | null>([9, null], [1, 2]),
	...platformSettings,
	chatWrites: weighted<string>([4, 'replace'], [1, 'append']),
	importKey: fc.constantFrom('notUnique', 'unique'),
	definition: weighted<string>([4, 'full'], [1, 'documented']),
	bulkOrder: fc.constantFrom('request', 'other'),
	bulkRight: weighted<string>([4, 'write'], [1, 'import']),
	createStatus: fc.constantFrom(201, 200),
	emptyFields: fc.constantFrom('null', 'absent'),
	newRecordModified: fc.constantFrom('created', 'later'),
	lateValuesMs: weighted<number>([4, 0], [1, 300]),
});

export const drawn: fc.Arbitrary<Drawn> = fc.noBias(
	fc.record({
		operation: weighted<Operation>(
			[4, 'create'],
			[9, 'upsert'],
			[6, 'update'],
			[3, 'delete'],
			[2, 'upload'],
			[1, 'remove'],
			[3, 'sync'],
			[3, 'deleteMany'],
		),
		matchOn: weighted<MatchOn>([3, 'importKey'], [4, 'fields'], [2, 'recordId']),
		hasTwoMatchFields: chance(15),
		isFull: chance(25),
		keyType: fc.constantFrom<KeyType>('text', ...KEY_TYPES),
		isKeyed: chance(60),
		records: fc.array(
			fc.record({
				identity: fc.nat(7),
				hasFile: chance(40),
				hasTalk: chance(25),
				isInGroup: chance(60),
				ruled: fc.record(
					{ owner: fc.constantFrom('their owner', '  '), note: fc.constantFrom('their note', ' \n'), count: fc.constantFrom(0, 5) },
					NOTHING,
				),
			}),
			{ maxLength: 6, size: 'max' },
		),
		items: fc.array(drawnItem, { minLength: 1, maxLength: 5, size: 'max' }),
		fieldRules,
		matching: fc.record({
			ifFound: weighted<'update' | 'skip'>([4, 'update'], [1, 'skip']),
			ifMissing: weighted<'create' | 'skip' | 'error'>([6, 'create'], [1, 'skip'], [1, 'error']),
			multipleMatches: fc.constantFrom('error', 'first'),
		}),
		removal: fc.record({ isDelete: chance(60), despiteFailures: chance(40), maximum: fc.constantFrom(2, 100, 100, 100), isOr: chance(40) }),
		onError: fc.constantFrom<Drawn['onError']>('stopWorkflow', 'continueRegularOutput', 'continueRegularOutput', 'continueErrorOutput'),
		tries: fc.constantFrom(1, 1, 1, 2),
		canRead: chance(92),
		wrongKey: weighted<string | undefined>([8, undefined], [1, 'mark'], [1, 'name']),
		options: fc.record({ batchSize: fc.constantFrom(0, 0, 1, 2, 3), skipUnchanged: chance(35) }),
		settings,
		sequences: fc.oneof(
			{ weight: 1, arbitrary: fc.constant<FaultSequence[]>([]) },
			{ weight: 6, arbitrary: fc.array(sequence, { minLength: 1, maxLength: 2, size: 'max' }) },
		),
		readFaults: fc.array(
			fc
				.record({ nth: fc.integer({ min: 1, max: 4 }), name: any, on: fc.constantFrom('lookUp', 'count', 'get') })
				// Nobody can detect that a record is there in spite of a 404.
				.filter(({ on, name }) => on !== 'get' || name !== 'gone404'),
			{ maxLength: 1 },
		),
		otherWriter: fc.oneof(
			{ weight: 4, arbitrary: fc.constant(undefined) },
			{
				weight: 1,
				arbitrary: fc.record({
					before: fc.integer({ min: 2, max: 6 }),
					item: fc.nat(5),
					action: weighted<'update' | 'delete'>([3, 'update'], [1, 'delete']),
					addsFile: fc.boolean(),
				}),
			},
		),
	}),
);

const isById = ({ operation, matchOn }: Pick<Case, 'operation' | 'matchOn'>) =>
	['delete', 'upload', 'remove'].includes(operation) || (['upsert', 'update'].includes(operation) && matchOn === 'recordId');

/** Operations that find records by a key: only their items have one. */
const hasKeys = ({ operation, matchOn }: Pick<Case, 'operation' | 'matchOn'>) =>
	['create', 'sync'].includes(operation) || (['upsert', 'update'].includes(operation) && matchOn !== 'recordId');

/** If the key is the table's import key, the second of two records with one key has none. */
function recordsOf({ records, keyType }: Drawn, isKeyed: boolean): Case['records'] {
	const taken = new Set<string>();
	return records.map(({ identity, hasFile, hasTalk, isInGroup, ruled }, number) => {
		const { stored } = storedKey(keyType, identity, 0);
		const text = JSON.stringify(stored);
		const isFree = !isKeyed || !taken.has(text);
		taken.add(text);
		return {
			id: idOf(number),
			fields: {
				...(isFree && { [KEY]: stored }),
				name: `old ${number}`,
				...ruled,
				group: isInGroup ? 'a' : 'b',
				...(hasFile && { papers: [textFile(OLD_FILE)] }),
				...(hasTalk && { talk: { messages: [{ text: OLD_MESSAGE }] } }),
			},
		};
	});
}

function filesOf(choice: FileChoice | undefined, index: number): { raw?: Json; change?: FileChange } {
	const names = [`f${index}.txt`, `g${index}.txt`];
	const [name] = names as [string];
	if (choice === 'add') return { raw: { add: [textFile(name)] }, change: { kind: 'add', names: [name] } };
	if (choice === 'addTwo') return { raw: { add: names.map(textFile) }, change: { kind: 'add', names } };
	if (choice === 'addSame') return { raw: { add: [textFile(OLD_FILE)] }, change: { kind: 'add', names: [OLD_FILE] } };
	if (choice === 'list') return { raw: [textFile(name)], change: { kind: 'list', names: [name] } };
	if (choice === 'url') return { raw: `${FILE_SERVER}/${name}`, change: { kind: 'list', names: [name], isAddress: true } };
	return {};
}

/** The text that only this item writes. */
export const markText = (index: number) => `mark ${index};`;

/** The values of an item: as sent, and as the platform then stores them. */
function valuesOf(drawnItem: DrawnItem, index: number, { operation }: Pick<Case, 'operation'>) {
	const { isRefused, hasMessages, hasCount, hasOwner, hasNote } = drawnItem;
	const texts = [`m${index}`, `n${index}`];
	const { raw: papers, change } = filesOf(drawnItem.files, index);
	const plain = {
		mark: markText(index),
		...(hasCount && { count: index }),
		...(hasOwner && { owner: `owner ${index}` }),
		...(hasNote && { note: `note ${index}` }),
		...(isRefused && { state: REFUSED_STATE }),
	};
	// An upload has its files in the item's binary data.
	const isUpload = operation === 'upload';
	return {
		raw: {
			...plain,
			...(!isUpload && papers !== undefined && { papers }),
			...(hasMessages && { talk: { messages: texts.map((text) => ({ text })) } }),
		} as Record<string, Json>,
		stored: plain as Fields,
		files: isUpload ? undefined : change,
		messages: hasMessages ? texts : undefined,
	};
}

const binaryOf = (name: string) => ({
	data: { fileName: name, mimeType: 'text/plain', data: Buffer.from(`content of ${name}`).toString('base64') },
});

const GROUPS = ['a', 'b', 'c'];

function itemOf(
	drawnItem: DrawnItem,
	index: number,
	schedule: Drawn,
	testCase: Pick<Case, 'operation' | 'matchOn' | 'hasTwoMatchFields'>,
	records: Case['records'],
): CaseItem {
	const { operation } = testCase;
	const { keyType, items } = schedule;
	// Their requests only show the record: two items about one could not be distinguished.
	const isAlone = ['delete', 'remove'].includes(operation);
	const isTaken = isAlone && items.slice(0, index).some(({ target }) => (target - drawnItem.target) % records.length === 0);
	const isLost = isTaken || drawnItem.target === 9 || records.length === 0;
	const record = isLost ? undefined : records[drawnItem.target % records.length];
	const id = isById(testCase) ? (record?.id ?? idOf(90 + index)) : undefined;
	const none = {
		index,
		id,
		identity: undefined,
		group: undefined,
		stored: {},
		files: undefined,
		messages: undefined,
		isIdle: false,
		isEmpty: false,
		isRefused: false,
	};
	if (operation === 'deleteMany') {
		const group = GROUPS[index]!;
		return { ...none, group, trace: { path: '/data/' }, data: { json: { group } } };
	}
	if (operation === 'delete' || operation === 'remove') {
		return { ...none, trace: { path: id! }, data: { json: { id: id! } } };
	}
	if (operation === 'upload') {
		const name = `f${index}.txt`;
		return {
			...none,
			files: { kind: schedule.isFull ? 'list' : 'add', names: [name] },
			trace: { body: `"${name}"` },
			data: { json: { id: id! }, binary: binaryOf(name) },
		};
	}
	const key = storedKey(keyType, drawnItem.identity, drawnItem.form);
	const keys = hasKeys(testCase)
		? {
				raw: { [KEY]: key.raw, ...(testCase.hasTwoMatchFields && { group: 'a' }) },
				stored: { [KEY]: key.stored, ...(testCase.hasTwoMatchFields && { group: 'a' }) },
			}
		: { raw: {}, stored: {} };
	const identity = hasKeys(testCase) ? JSON.stringify(key.stored) : undefined;
	const isEmpty = drawnItem.isEmpty && operation === 'update' && isById(testCase);
	const [known, ...more] = records.filter((record) =>
		id === undefined ? JSON.stringify(record.fields[KEY]) === identity : record.id === id,
	);
	// An idle item has no mark, so only its ID or the text of its key identifies it in a request.
	const isTraceable = id !== undefined || keyType === 'text';
	const isCreate = operation === 'create';
	const isIdle = drawnItem.isIdle && !isEmpty && !isCreate && known !== undefined && more.length === 0 && isTraceable && !schedule.isFull;
	const values = isEmpty
		? { raw: {}, stored: {}, files: undefined, messages: undefined }
		: isIdle
			? { raw: { name: known.fields.name as Json }, stored: { name: known.fields.name }, files: undefined, messages: undefined }
			: valuesOf(drawnItem, index, testCase);
	const hasMark = !isIdle && !isEmpty;
	const ownText = id === undefined ? `"${KEY}":${JSON.stringify(key.stored)}` : `"${id}"`;
	const body = hasMark ? JSON.stringify(markText(index)) : ownText;
	return {
		...none,
		identity,
		stored: { ...keys.stored, ...values.stored },
		files: values.files,
		messages: values.messages,
		isIdle,
		isEmpty,
		isRefused: !isEmpty && !isIdle && drawnItem.isRefused,
		trace: { body },
		data: { json: { ...(id !== undefined && { id }), ...keys.raw, ...values.raw } },
	};
}

/** The ID of the rule that marks an item's requests. */
export const markOf = (index: number) => `item ${index}`;

const WRITE_METHODS: Record<Operation, string[]> = {
	create: ['POST'],
	upsert: ['POST', 'PATCH'],
	update: ['PATCH', 'PUT'],
	delete: ['DELETE'],
	upload: ['PATCH'],
	remove: ['PATCH'],
	sync: ['POST', 'PATCH', 'DELETE'],
	deleteMany: ['DELETE'],
};

/** Paths of write requests, whatever their method. */
const BATCHES = '/data/bulk$';
const WRITES = '/data$|/data/bulk$|/data/[\\da-f-]{36}$';
const LOOK_UPS = { lookUp: '/data/filter$', count: '/data/count', get: '/data$|/data/[\\da-f-]{36}$' };

const isPartial = (name: FaultName) => ['records', 'response'].includes(FAULTS[name].effect) || name === 'refusedAbove';

/** One rule for each method: a rule counts its matching requests. */
function rulesOf(
	{ item, isOnMissing, nth, size, names }: FaultSequence,
	number: number,
	{ operation, items, records }: Pick<Case, 'operation' | 'items' | 'records'>,
): FaultRule[] {
	const missing = records.filter(({ fields }) => fields.group === 'b').at(item);
	if (operation === 'sync' && isOnMissing && missing) {
		return names.flatMap((name, at) => {
			const when = { nth: [nth + at] };
			const fault = FAULTS[name].fault(size, nth + at) as FaultRule['fault'];
			const id = `${name} ${number}.${at}`;
			return [
				{ id: `${id} DELETE`, match: { method: 'DELETE', path: missing.id }, when, fault },
				{ id: `${id} PATCH`, match: { method: 'PATCH', bodyContains: missing.id }, when, fault },
			];
		});
	}
	const { trace } = items[item % items.length] ?? { trace: { path: '' } };
	const isAny = item < 0 || operation === 'deleteMany';
	return names.flatMap((name, at) =>
		WRITE_METHODS[operation].map((method): FaultRule => {
			const isPath = 'path' in trace;
			return {
				id: `${name} ${number}.${at} ${method}`,
				match: {
					method,
					path: isPartial(name) ? BATCHES : !isAny && isPath ? trace.path : WRITES,
					...(!isAny && !isPath && { bodyContains: trace.body }),
				},
				when: { nth: [nth + at] },
				fault: FAULTS[name].fault(size, nth + at) as FaultRule['fault'],
			};
		}),
	);
}

const readRuleOf = ({ nth, name, on }: Drawn['readFaults'][number], number: number): FaultRule => ({
	id: `${name} read ${number}`,
	match: { ...(on === 'get' && { method: 'GET' }), path: LOOK_UPS[on] },
	when: { nth: [nth] },
	fault: FAULTS[name].fault(1, nth) as FaultRule['fault'],
});

const TOO_LATE = ['hang', 'hangAfter', 'late'];

function otherWriteOf({ otherWriter }: Drawn, items: CaseItem[], records: Case['records']): OtherWrite | undefined {
	if (!otherWriter) return undefined;
	const { before, action, addsFile } = otherWriter;
	const { id, identity, group } = items[otherWriter.item % items.length]!;
	// One more record matches, in place of those that are deleted.
	if (group !== undefined) return { before, action: 'insert', fields: { name: 'theirs', group } };
	const record = records.find((entry) => (id === undefined ? JSON.stringify(entry.fields[KEY]) === identity : entry.id === id));
	if (!record) return undefined;
	if (action === 'delete') return { before, action, id: record.id };
	const fields = addsFile ? { papers: { add: [textFile('theirs.txt')] } } : { name: 'theirs', count: 99, owner: 'theirs' };
	return { before, action, id: record.id, fields: fields };
}

/** Operations that need no right but to write. */
const isBlindPossible = ({ operation, matchOn }: Pick<Case, 'operation' | 'matchOn'>) =>
	operation === 'create' || (operation === 'upsert' && matchOn === 'importKey');

const WITH_RULES: Operation[] = ['upsert', 'update', 'sync'];

/** Rules need the right to read, and make no sense if the fields that are not sent are cleared. */
function fieldRulesOf({ operation, isFull, fieldRules: rules }: Drawn, canRead: boolean) {
	const clears = isFull && operation === 'update';
	return WITH_RULES.includes(operation) && canRead && !clears ? rules : {};
}

/** The complete schedule. */
export function toCase(schedule: Drawn): Case {
	const { keyType, readFaults, sequences: _sequences, otherWriter: _otherWriter, ...kept } = schedule;
	const { operation } = schedule;
	const isBulk = (BULK as readonly string[]).includes(operation);
	const isImportKey = schedule.matchOn === 'importKey';
	const needsKey = isImportKey && ['upsert', 'update', 'sync'].includes(operation);
	const matchOn = operation === 'sync' && schedule.matchOn === 'recordId' ? 'fields' : schedule.matchOn;
	const hasTwoMatchFields = schedule.hasTwoMatchFields && matchOn === 'fields';
	// A record with one of the two values would prevent the creation of another one.
	const isKeyed = needsKey || (schedule.isKeyed && !hasTwoMatchFields);
	const shared = { ...schedule, matchOn, isBulk, isKeyed, hasTwoMatchFields };
	const records = recordsOf(schedule, isKeyed);
	// Each group is deleted once: two deletions of one could not be distinguished.
	const most = operation === 'deleteMany' ? GROUPS.length : Infinity;
	const items = schedule.items.slice(0, most).map((item, index) => itemOf(item, index, schedule, shared, records));
	const otherWrite = otherWriteOf(schedule, items, records);
	// A response that leaves out some records and also adds others proves nothing.
	const isCut = schedule.sequences.some(({ names }) => names.includes('fewerRecords'));
	const sequences = schedule.sequences.map((entry) => ({
		...entry,
		names: entry.names.filter((name) => !isCut || name !== 'moreRecords'),
	}));
	const rules = sequences.flatMap((entry, number) => rulesOf(entry, number, { operation, items, records }));
	const names = [...sequences.flatMap((entry) => entry.names), ...readFaults.map(({ name }) => name)];
	const marks = items.flatMap(({ index, trace }) => ('body' in trace ? [mark(markOf(index), trace.body)] : []));
	const canRead = schedule.canRead || !isBlindPossible(shared);
	// Only the platform itself finds records by the import key.
	const wrongKey = operation === 'upsert' && isImportKey ? schedule.wrongKey : undefined;
	const ofUpdates = operation === 'update' && schedule.matching.ifMissing === 'create';
	return {
		...kept,
		matchOn,
		hasTwoMatchFields,
		isKeyed,
		isBulk,
		matching: {
			...schedule.matching,
			...(ofUpdates && { ifMissing: 'error' }),
			// Any other rule is for a look-up.
			...((!canRead || wrongKey) && { ifFound: 'update', ifMissing: 'create', multipleMatches: 'error' }),
		},
		fieldRules: fieldRulesOf(schedule, canRead && !wrongKey),
		wrongKey,
		settings: { ...schedule.settings, ...(wrongKey && { definition: 'documented' }) },
		// n8n only tries a failed run again.
		tries: schedule.onError === 'stopWorkflow' ? schedule.tries : 1,
		canRead,
		options: { ...schedule.options, ...(!canRead && { skipUnchanged: false }) },
		table: tableOf(keyType, isKeyed),
		records,
		items,
		isHasty: names.some((name) => TOO_LATE.includes(name)),
		faults: [
			...sequences.map(
				({ item, isOnMissing, nth, names: list }) =>
					`${isOnMissing && operation === 'sync' ? 'a missing record' : item < 0 ? 'writes' : `item ${item % items.length}`} from request ${nth} on: ${list.join(', ')}`,
			),
			...readFaults.map(({ on, nth, name }) => `${on} ${nth}: ${name}`),
		],
		otherWrite,
		rules: [...marks, ...rules, ...readFaults.map(readRuleOf)],
	};
}
