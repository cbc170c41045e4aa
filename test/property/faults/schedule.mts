/** A schedule: a table, items, options and faults, drawn at random and made concrete. */
import fc from 'fast-check';
import type { FaultRule, NewTable } from '../../../harness/sandboxAdmin.mts';
import {
	canStrike,
	FAULTS,
	mark,
	needsShortTimeout,
	plannedFaults,
	SHORT_TIMEOUT_S,
	toRule,
} from './faults.mts';
import type { PlannedFault } from './faults.mts';
import type { OtherWrite } from './otherWriter.mts';
import { platformSettings } from './platform.mts';
import {
	KEY,
	itemValues,
	keyCount,
	keyValue,
	recordFields,
	tableOf,
	tableShape,
} from './table.mts';
import type { Fields, FieldValues, Json, TableShape, Value } from './table.mts';

export type Mode = 'create' | 'upsert' | 'update' | 'replace';
export type Marking = 'each' | 'some' | 'none';

export interface Options {
	batchSize: number;
	maxBatchSizeMiB: number;
	parallelRequests: number;
	maxRetryWait: number;
	skipUnchanged: boolean;
	dryRun: boolean;
	emptyValues: 'leave' | 'clear' | 'error';
	duplicates: 'merge' | 'error';
	unknownFields: 'ignore' | 'error';
	output: 'sent' | 'summary';
	/** The name of the key field, if the table does not mark it. */
	importKey: string;
}

/**
 * What to do with items whose record exists, and with others. The platform itself has no such
 * rules.
 */
export interface Matching {
	ifFound: 'update' | 'skip';
	ifMissing: 'create' | 'skip' | 'error';
}

/** As it is drawn: small changes to it are small changes to the case. */
export interface Drawn {
	mode: Mode;
	shape: TableShape;
	/** Whether each created item is distinct from the others in the requests. */
	marking: Marking;
	records: Array<{ key: number | undefined; fields: Fields }>;
	items: Array<{
		key: number | undefined;
		/** The record of an update; none from 8 on. */
		target: number;
		values: FieldValues;
	}>;
	/**
	 * How many more items an upsert has: more than a page, and every second one is already stored.
	 */
	extraItems: number;
	/** Whether some items are wrong in a way that the node notices before it sends anything. */
	hasFlaws: boolean;
	isDirect: boolean;
	onError: 'stopWorkflow' | 'continueRegularOutput' | 'continueErrorOutput';
	tries: number;
	/** Whether the token may read records. */
	canRead: boolean;
	options: Options;
	/** For upserts. */
	matching: Matching | undefined;
	settings: Record<string, string | boolean | number | null>;
	faults: PlannedFault[];
	/** Before which request another writer changes an item's record. */
	otherWriter: { before: number; item: number; isDelete: boolean } | undefined;
}

export interface CaseItem {
	index: number;
	/** The record ID that it names, as the user wrote it. */
	id?: string;
	values: FieldValues;
	json: Record<string, Json>;
	/**
	 * A mark that it shares with others: one rule for each of a thousand items would take too long.
	 */
	block?: string;
}

/** A concrete schedule: everything that a run and a human reader need. */
export interface Case {
	mode: Mode;
	isKeyed: boolean;
	marking: Marking;
	isDirect: boolean;
	table: NewTable['table'];
	records: Array<{ id: string; fields: Fields }>;
	items: CaseItem[];
	onError: Drawn['onError'];
	tries: number;
	canRead: boolean;
	options: Options & { timeout: number };
	matching: Matching | undefined;
	settings: Drawn['settings'];
	faults: PlannedFault[];
	otherWrite: OtherWrite | undefined;
	rules: FaultRule[];
}

const rarely = fc.constantFrom(false, false, false, false, true);

const options: fc.Arbitrary<Options> = fc.record({
	// 0 is automatic.
	batchSize: fc.constantFrom(0, 1, 1, 2, 2, 3, 4, 5, 6, 7),
	parallelRequests: fc.constantFrom(0, 0, 0, 1, 2, 3),
	maxBatchSizeMiB: fc.constantFrom(4, 4, 4, 0.001),
	maxRetryWait: fc.constantFrom(4, 4, 4, 2, 0),
	skipUnchanged: fc.constantFrom(false, false, true),
	dryRun: fc.constantFrom(...Array<boolean>(9).fill(false), true),
	emptyValues: fc.constantFrom('leave', 'leave', 'leave', 'clear', 'clear', 'clear', 'error'),
	duplicates: fc.constantFrom('merge', 'merge', 'error'),
	unknownFields: fc.constantFrom('ignore', 'error'),
	output: fc.constantFrom('sent', 'sent', 'sent', 'sent', 'sent', 'summary'),
	importKey: fc.constantFrom('', '', KEY),
});

const matching = fc.constantFrom<Array<Matching | undefined>>(
	...Array<undefined>(5).fill(undefined),
	{ ifFound: 'skip', ifMissing: 'create' },
	{ ifFound: 'skip', ifMissing: 'skip' },
	{ ifFound: 'skip', ifMissing: 'error' },
	{ ifFound: 'update', ifMissing: 'skip' },
	{ ifFound: 'update', ifMissing: 'error' },
);

const settings = fc.record({
	batchFailure: fc.constantFrom('perRecord', 'perRecord', 'wholeBatch400', 'wholeBatch422'),
	recordIndex: fc.constantFrom(true, true, false),
	updatedCount: fc.boolean(),
	maxBulkRecords: fc.constantFrom(null, null, null, null, null, 2),
	...platformSettings,
});

const sometimes = (arbitrary: fc.Arbitrary<number>) =>
	fc.oneof(
		{ weight: 6, arbitrary },
		{ weight: 1, arbitrary: fc.constant(undefined) },
	) as fc.Arbitrary<number | undefined>;

export const drawn: fc.Arbitrary<Drawn> = fc.noBias(
	fc.record({
		mode: fc.constantFrom<Mode>('create', 'create', 'upsert', 'upsert', 'update', 'replace'),
		shape: tableShape,
		marking: fc.constantFrom<Marking>('each', 'each', 'some', 'none'),
		records: fc.array(
			fc.record({ key: sometimes(fc.integer({ min: 0, max: 11 })), fields: recordFields }),
			{ maxLength: 6, size: 'max' },
		),
		items: fc.array(
			fc.record({
				key: sometimes(fc.integer({ min: 0, max: 11 })),
				target: fc.integer({ min: 0, max: 9 }),
				values: itemValues,
			}),
			{ minLength: 1, maxLength: 14, size: 'max' },
		),
		extraItems: fc.constantFrom(...Array<number>(29).fill(0), 1100),
		hasFlaws: rarely,
		isDirect: rarely,
		onError: fc.constantFrom<Drawn['onError']>(
			'stopWorkflow',
			'continueRegularOutput',
			'continueRegularOutput',
			'continueErrorOutput',
		),
		tries: fc.constantFrom(1, 1, 1, 2),
		canRead: fc.constantFrom(...Array<boolean>(9).fill(true), false),
		options,
		matching,
		settings,
		faults: plannedFaults,
		otherWriter: fc.oneof(
			{ weight: 3, arbitrary: fc.constant(undefined) },
			{
				weight: 1,
				arbitrary: fc.record({
					before: fc.constantFrom(1, 2, 3, 3, 4, 5),
					item: fc.nat(13),
					isDelete: fc.boolean(),
				}),
			},
		),
	}),
);

const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

const rawOf = (values: FieldValues) =>
	Object.fromEntries(Object.entries(values).map(([name, { raw }]) => [name, raw]));

/**
 * The records before the run: no key twice, and a key if the table requires it. A type has a
 * limited number of keys: records without one are dropped.
 */
function recordsOf({ records, shape }: Drawn, isKeyed: boolean): Case['records'] {
	const taken = new Set<Json>();
	const isNeeded = isKeyed && shape.isKeyRequired;
	const freeKey = (first: number) =>
		Array.from({ length: keyCount(shape.keyType) }, (_, step) => first + step).find(
			(choice) => !taken.has(keyValue(shape.keyType, choice).stored!),
		);
	return records.flatMap(({ key, fields }, index) => {
		const choice = isNeeded ? freeKey(key ?? index) : key;
		if (isNeeded && choice === undefined) return [];
		const value = choice === undefined ? undefined : keyValue(shape.keyType, choice).stored;
		const isTaken = value === undefined || (isKeyed && taken.has(value));
		if (!isTaken) taken.add(value);
		const record = {
			id: idOf(index),
			fields: {
				...(!isTaken && { [KEY]: value }),
				...(shape.isNameRequired && { name: 'x' }),
				...fields,
			},
		};
		return [record];
	});
}

const MARKS = { each: 99, some: 3, none: 1 };

function itemsOf({ items, shape, mode, marking, records, hasFlaws }: Drawn): CaseItem[] {
	const isFit = ([, { flaw }]: [string, Value]) => hasFlaws || flaw !== 'node';
	const keyOf = (choice: number) => {
		const value = keyValue(shape.keyType, choice);
		// No record is found by such a key: the item would fail.
		return mode === 'upsert' && value.isVague && !hasFlaws ? keyValue(shape.keyType, 0) : value;
	};
	return items.map(({ key, target, values: all }, index) => {
		const values = Object.fromEntries(Object.entries(all).filter(isFit));
		const isUpdate = mode === 'update' || mode === 'replace';
		const marked = `m${index % MARKS[marking]}`;
		const given: FieldValues = {
			// An update that changes keys is rare, but possible.
			...(key !== undefined && (!isUpdate || target % 3 === 0) && { [KEY]: keyOf(key) }),
			...(mode === 'create' && marking !== 'none' && { mark: { raw: marked, stored: marked } }),
			...values,
		};
		const isLost = target >= 8 || records.length === 0;
		const id = target === 9 && hasFlaws ? '' : idOf(isLost ? 90 + index : target % records.length);
		return {
			index,
			...(isUpdate && { id }),
			values: given,
			json: { ...(isUpdate && { id }), ...rawOf(given) },
		};
	});
}

const hasExtraItems = ({ extraItems, mode, shape }: Drawn) =>
	extraItems > 0 && mode === 'upsert' && shape.keyType === 'text';

const blockOf = (number: number) => `extra${Math.floor(number / 100)}-`;

const extraFields = (number: number) => ({ [KEY]: `${blockOf(number)}${number}`, name: 'x' });

/** Items without any problem of their own. */
function extraItemsOf({ extraItems, items }: Drawn): CaseItem[] {
	return Array.from({ length: extraItems }, (_, number) => {
		const json = extraFields(number);
		const values = Object.fromEntries(
			Object.entries(json).map(([name, raw]) => [name, { raw, stored: raw }]),
		);
		return { index: items.length + number, values, json, block: blockOf(number) };
	});
}

const extraRecordsOf = ({ extraItems }: Drawn): Case['records'] =>
	Array.from({ length: Math.ceil(extraItems / 2) }, (_, number) => ({
		id: idOf(1000 + number),
		fields: extraFields(2 * number),
	}));

/** Changes or deletes the record of an item, or inserts its key if there is no record yet. */
function otherWriteOf(
	{ otherWriter, shape, mode }: Drawn,
	items: CaseItem[],
	records: Case['records'],
): OtherWrite | undefined {
	if (!otherWriter) return undefined;
	const { before, isDelete } = otherWriter;
	const { id, values } = items[otherWriter.item % items.length]!;
	const key = values[KEY]?.stored;
	const isTarget = (record: Case['records'][number]) =>
		mode === 'update' || mode === 'replace'
			? record.id === id
			: key !== undefined && record.fields[KEY] === key;
	const target = records.find(isTarget);
	if (target && isDelete) return { before, action: 'delete', id: target.id };
	const fields = { name: 'other' };
	if (target) return { before, action: 'update', id: target.id, fields };
	if (key === undefined) return undefined;
	const needed = shape.isNameRequired || !isDelete ? fields : {};
	return { before, action: 'insert', fields: { [KEY]: key, ...needed } };
}

/** The ID of the rule that marks an item's requests. */
export const markOf = ({ index, block }: CaseItem) =>
	block === undefined ? `item ${index}` : `item ${block}`;

/** The text of an item in each request that writes it; undefined if there is none. */
function trace({ id, values, block }: CaseItem, mode: Mode, marking: Marking): string | undefined {
	if (block !== undefined) return `${JSON.stringify(KEY)}:"${block}`;
	const [name, value]: [string, Value | undefined] =
		mode === 'upsert' ? [KEY, values[KEY]] : ['mark', values.mark];
	if (mode === 'update' || mode === 'replace') return `"${id}"`;
	if (mode === 'create' && marking === 'none') return '"bulk"';
	return value && `${JSON.stringify(name)}:${JSON.stringify(value.sent ?? value.stored)}`;
}

/** A response that leaves out some records and also adds others proves nothing. */
const isOnlyLie = (fault: PlannedFault, at: number, faults: PlannedFault[]) =>
	FAULTS[fault.name].effect !== 'response' ||
	!faults
		.slice(0, at)
		.some(
			({ name, nth }) =>
				FAULTS[name].effect === 'response' && nth.some((number) => fault.nth.includes(number)),
		);

/** The complete schedule. */
export function toCase(schedule: Drawn): Case {
	const { mode, shape, marking, isDirect, canRead } = schedule;
	const isKeyed = shape.keyed === 'yes' || (shape.keyed === 'whereNeeded' && mode === 'upsert');
	const isLarge = hasExtraItems(schedule);
	const items = [...itemsOf(schedule), ...(isLarge ? extraItemsOf(schedule) : [])];
	// With two records per request there would be hundreds of requests.
	const { maxBulkRecords, ...otherSettings } = schedule.settings;
	const scale = isLarge ? 60 : 1;
	const isUpdate = mode === 'update' || mode === 'replace';
	const possible = schedule.faults.filter((fault) => canStrike(fault, isUpdate));
	const faults = possible
		.filter(isOnlyLie)
		.map((fault) =>
			fault.name === 'refusedAbove' ? { ...fault, size: fault.size * scale } : fault,
		);
	const marks = new Map(
		items.flatMap((item) => {
			const text = trace(item, mode, marking);
			return text === undefined ? [] : [[markOf(item), text] as const];
		}),
	);
	const records = [...recordsOf(schedule, isKeyed), ...(isLarge ? extraRecordsOf(schedule) : [])];
	const isMatched = isKeyed && !isLarge;
	const matching = mode === 'upsert' && isMatched ? schedule.matching : undefined;
	const otherWrite = isLarge || matching ? undefined : otherWriteOf(schedule, items, records);
	// Then one run reports each item: only that can be compared with the history, or the rules.
	const isWhole = otherWrite !== undefined || matching !== undefined;
	const isStopping = schedule.onError === 'stopWorkflow';
	const onError = isWhole && isStopping ? 'continueRegularOutput' : schedule.onError;
	// The platform rejects an upsert by a field that it does not mark itself.
	const importKey = isKeyed || mode === 'upsert' ? '' : schedule.options.importKey;
	const timeout = faults.some(needsShortTimeout) ? SHORT_TIMEOUT_S : 30;
	return {
		mode,
		isKeyed,
		marking,
		isDirect,
		table: tableOf(shape, isKeyed),
		records,
		items,
		onError,
		tries: isWhole ? 1 : schedule.tries,
		matching,
		options: {
			...schedule.options,
			importKey,
			timeout,
			...(otherWrite && { output: 'sent' }),
			...(matching && { dryRun: false }),
			...(isLarge && { batchSize: 0, maxBatchSizeMiB: 4, skipUnchanged: true }),
		},
		canRead: canRead || matching !== undefined,
		settings: {
			...otherSettings,
			maxBulkRecords: maxBulkRecords ? Number(maxBulkRecords) * scale : null,
		},
		faults,
		otherWrite,
		rules: [...[...marks].map(([id, text]) => mark(id, text)), ...faults.map(toRule)],
	};
}
