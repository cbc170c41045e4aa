/** The tables that schedules write to, and their possible values. */
import fc from 'fast-check';
import type { NewTable } from '../../../harness/sandboxAdmin.mts';
import { POISON, TABLE } from './constants.mts';

export type Json = string | number | boolean | null | Json[];

/** Values by field, as the platform stores them; empty fields are left out. */
export type Fields = Record<string, Json>;

/** A value in a user's item, and what should become of it. */
export interface Value {
	raw: Json;
	/** Its stored value; undefined if it is empty. */
	stored?: Json;
	/** What the node sends, if that differs from the stored value. */
	sent?: Json;
	/** Who rejects it: the node before the first request, or only the platform. */
	flaw?: 'node' | 'platform';
	/** Only the platform knows what becomes of it. */
	isVague?: boolean;
}

const plain = (...values: Json[]): Value[] => values.map((raw) => ({ raw, stored: raw }));
const EMPTY: Value[] = [{ raw: null }, { raw: '' }];

const among = (values: Value[]) => fc.constantFrom(...values);
const mostly = (usual: Value[], ...others: Array<[number, Value[]]>) =>
	fc.oneof(
		{ weight: 30, arbitrary: among(usual) },
		...others.map(([weight, values]) => ({ weight, arbitrary: among(values) })),
	);

/** For each field except the key: values, some of them empty, wrong, or rejected by a rule. */
const VALUES = {
	name: mostly(
		plain('x', 'y', 'z'),
		[9, plain(POISON)],
		[2, EMPTY],
		[1, [{ raw: 'much too long for it', flaw: 'node' }]],
		[1, [{ raw: 7, stored: '7' }]],
	),
	count: mostly(
		plain(0, 1, 2),
		[3, [{ raw: '2', stored: 2 }]],
		[2, EMPTY],
		[1, [-1, 1.5, 'many', true].map((raw) => ({ raw, flaw: 'node' }))],
	),
	active: mostly(
		plain(true, false),
		[3, [{ raw: 'true', stored: true }]],
		[1, [{ raw: 'perhaps', flaw: 'node' }]],
	),
	day: mostly(
		plain('2026-01-05', '2026-01-06'),
		[
			3,
			[
				{ raw: '2026-01-05T00:00:00Z', stored: '2026-01-05' },
				{ raw: '2026-01-05T23:30:00Z', stored: '2026-01-06', isVague: true },
				{ raw: '2026-01-06 00:00:00', stored: '2026-01-06' },
			],
		],
		[2, EMPTY],
		[1, [{ raw: '2026-02-30', flaw: 'node' }]],
	),
	state: mostly(plain('new', 'open', 'done'), [2, EMPTY], [4, [{ raw: 'lost', flaw: 'platform' }]]),
	// Equal to what is stored, shorter, longer, in another order, equal in part.
	tags: mostly(plain(['a'], ['a', 'b'], ['b', 'a'], ['a', 'b', 'c'], ['a', 'c'], ['c']), [
		2,
		[{ raw: [] }, ...EMPTY],
	]),
	at: mostly(
		[
			{ raw: '2026-03-01T10:00:00Z', stored: '2026-03-01T10:00:00.000Z' },
			{ raw: '2026-03-01T12:00:00+01:00', stored: '2026-03-01T11:00:00.000Z' },
		],
		[10, [{ raw: '2026-03-01T10:00:00', stored: '2026-03-01T09:00:00.000Z', isVague: true }]],
	),
	unheardOf: among([{ raw: 'x', flaw: 'node' }]),
} satisfies Record<string, fc.Arbitrary<Value>>;

const onFirst = (raw: string): Value => ({ raw, stored: '2026-01-01', sent: '2026-01-01' });
const atTen = (raw: string): Value => ({ raw, stored: '2026-01-01T10:00:00.000Z', sent: raw });
const inBerlin = (raw: string): Value => ({
	raw,
	stored: new Date(`${raw}+01:00`).toISOString(),
	sent: raw,
	isVague: true,
});

/** Keys that look alike on purpose: other case, commas, blanks. */
const KEYS = {
	text: plain('k1', 'K1', 'k2', 'a,b', 'a', ' k3', 'k4', '__proto__', 'ü', 'k5', 'k6', 'k7'),
	number: [
		...plain(1, 2, 3, 4, 5, 6, 7, 8),
		{ raw: '1', stored: 1 },
		{ raw: ' 2.0 ', stored: 2 },
		{ raw: '3e0', stored: 3 },
	],
	decimal: [
		...plain(0.1, 0.2, 0.3, 1.5, -1, 10, 1e21),
		{ raw: '0.10', stored: 0.1 },
		{ raw: '.3', stored: 0.3 },
		{ raw: '15e-1', stored: 1.5 },
	],
	date: [
		...plain('2026-01-01', '2026-01-02', '2026-01-03', '2026-01-04', '2026-01-05'),
		...['2026-01-01T00:00:00Z', '2026-01-01Z', '2026-01-01T00:00:00+05:00'].map(onFirst),
		{
			raw: '2026-02-01T23:30:00Z',
			stored: '2026-02-02',
			sent: '2026-02-01T23:30:00Z',
			isVague: true,
		},
		{
			raw: '2026-03-01 23:30:00Z',
			stored: '2026-03-02',
			sent: '2026-03-01T23:30:00Z',
			isVague: true,
		},
	],
	datetime: [
		...plain('2026-01-01T10:00:00.000Z', '2026-01-01T10:00:01.000Z', '2026-01-02T00:00:00.000Z'),
		...['2026-01-01T10:00:00Z', '2026-01-01T11:00:00+01:00', '2026-01-01T10:00Z'].map(atTen),
		{ raw: '2026-01-02Z', stored: '2026-01-02T00:00:00.000Z', sent: '2026-01-02T00:00:00Z' },
		...['2026-02-01T10:00:00', '2026-02-02T10:00:00'].map(inBerlin),
	],
} satisfies Record<string, Value[]>;

export type KeyType = keyof typeof KEYS;

/** The field that may be the import key. */
export const KEY = 'code';

/** How many keys there are before they repeat. */
export const keyCount = (type: KeyType): number => KEYS[type].length;

export const keyValue = (type: KeyType, choice: number): Value =>
	(KEYS[type] as Value[])[choice % KEYS[type].length]!;

export type FieldValues = Record<string, Value>;

const maybe = <Thing,>(percent: number, arbitrary: fc.Arbitrary<Thing>) =>
	fc.oneof(
		{ weight: percent, arbitrary },
		{ weight: 100 - percent, arbitrary: fc.constant(undefined) },
	);

const isGiven = (entry: [string, Value | undefined]): entry is [string, Value] =>
	entry[1] !== undefined;

/** An item's values for the fields except the key. */
export const itemValues: fc.Arbitrary<FieldValues> = fc
	.record({
		name: maybe(75, VALUES.name),
		count: maybe(50, VALUES.count),
		active: maybe(25, VALUES.active),
		day: maybe(30, VALUES.day),
		state: maybe(50, VALUES.state),
		tags: maybe(30, VALUES.tags),
		at: maybe(15, VALUES.at),
		unheardOf: maybe(1, VALUES.unheardOf),
	})
	.map((values) => Object.fromEntries(Object.entries(values).filter(isGiven)));

/** The values of the records before the run. */
export const recordFields: fc.Arbitrary<Fields> = fc.record(
	{
		name: fc.constantFrom('x', 'y'),
		count: fc.constantFrom(0, 1),
		state: fc.constantFrom('new', 'open'),
		day: fc.constant('2026-01-05'),
		tags: fc.constantFrom(['a'], ['a', 'b'], ['a', 'b']),
	},
	{ requiredKeys: [], noNullPrototype: true },
);

export interface TableShape {
	/** Whether the table has an import key; mostly only for an upsert. */
	keyed: 'yes' | 'no' | 'whereNeeded';
	keyType: KeyType;
	isKeyRequired: boolean;
	isNameRequired: boolean;
	/** Whether it has a field that the platform fills in. */
	hasSystemField: boolean;
}

export const tableShape = fc.record<TableShape>({
	keyed: fc.constantFrom('yes', 'yes', 'yes', 'yes', 'whereNeeded', 'whereNeeded', 'no'),
	keyType: fc.constantFrom<KeyType>(
		'text',
		'text',
		'text',
		'number',
		'decimal',
		'date',
		'datetime',
	),
	isKeyRequired: fc.boolean(),
	isNameRequired: fc.constantFrom(true, false, false),
	hasSystemField: fc.constantFrom(true, false, false),
});

const choices = ['new', 'open', 'done'].map((value) => ({ value }));

export function tableOf(shape: TableShape, isKeyed: boolean): NewTable['table'] {
	const fields: NewTable['table']['fields'] = [
		{
			name: KEY,
			type: shape.keyType,
			metadata: { importKey: isKeyed, required: isKeyed && shape.isKeyRequired },
		},
		{ name: 'mark', type: 'text' },
		{ name: 'name', type: 'text', metadata: { maxLength: 12, required: shape.isNameRequired } },
		{ name: 'count', type: 'number', metadata: { min: 0, max: 1000 } },
		{ name: 'active', type: 'checkbox' },
		{ name: 'day', type: 'date' },
		{ name: 'state', type: 'dropdown', metadata: { items: choices } },
		{ name: 'tags', type: 'chips' },
		{ name: 'at', type: 'datetime' },
	];
	if (shape.hasSystemField) {
		fields.push({ name: 'version', type: 'system_type', metadata: { source: 'ver' } });
	}
	return { internalName: TABLE, fields };
}
