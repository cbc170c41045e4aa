/** Two-way sync of planned records: what is written of each, its state, and what is refused before. */
import type { FieldDefinition, FieldValues, PlatformRecord } from '../../../../nodes/DataPlatform/api/types.ts';
import { TwoWaySync } from '../../../../nodes/DataPlatform/bulk/match/twoWay.ts';
import type { Entry, FieldRules, TwoWay } from '../../../../nodes/DataPlatform/bulk/terms.ts';
import { InputError } from '../../../../nodes/DataPlatform/transport/errors.ts';
import { fieldOf, thrownBy } from '../../fixtures.cts';

const NOW = '2026-11-27T10:00:00.000Z';
const FIRST: FieldValues = { mail: 'ann@example.com', city: 'Oslo', n: 1 };

const FIELDS = [
	fieldOf('mail'),
	fieldOf('city'),
	fieldOf('n', 'number'),
	fieldOf('agreed', 'long_text'),
	fieldOf('teams', 'schema_link', { multiple: true }),
	fieldOf('boss', 'schema_link', { multiple: false }),
	fieldOf('papers', 'file'),
	fieldOf('talk', 'chat'),
];

interface Setup {
	options?: Partial<TwoWay>;
	fields?: FieldDefinition[];
	/** The names of the fields that records are found by; none if it is the ID. */
	keys?: string[];
	rules?: FieldRules;
}

function syncOf({ options, fields = FIELDS, keys = ['mail'], rules }: Setup = {}) {
	const all = new Map(fields.map((field) => [field.name, field]));
	const twoWay: TwoWay = { state: 'agreed', maxChanges: 50, now: NOW, bothChanged: 'report', firstTime: 'report', ...options };
	return new TwoWaySync(
		twoWay,
		all,
		keys.map((name) => all.get(name)!),
		rules,
	);
}

const entryOf = (fields: FieldValues): Entry => ({ index: 0, id: 'r1', key: String(fields.mail), fields });
const recordOf = (fields: FieldValues, ver = 9): PlatformRecord => ({ id: 'r1', created: NOW, modified: NOW, ver, fields });

/** The record as the first run left it. */
const stored = (setup?: Setup) => syncOf(setup).apply(entryOf(FIRST), null).fields;

/** What the next run makes of an item and its record. */
function next(item: FieldValues, here: FieldValues, setup?: Setup) {
	const { fields, twoWay } = syncOf(setup).apply(entryOf(item), recordOf(here));
	const { agreed, ...values } = fields;
	return { values, twoWay, state: agreed as string | undefined };
}

const USUAL = { state: 'agreed', sendBack: {}, conflicts: [], isFirst: false, isStateLost: false, isChanged: false };

test('the state is read with the values, and an item can’t set it', () => {
	const { fields } = syncOf().begin(entryOf({ ...FIRST, agreed: 'x' }));
	expect(fields).toEqual({ ...FIRST, agreed: null });
});

test('a new record gets all values, and a state that says which ones both sides have', () => {
	const { fields, twoWay, ...entry } = syncOf().apply(entryOf(FIRST), null);
	expect(entry).toEqual({ index: 0, id: 'r1', key: FIRST.mail });
	expect(fields).toEqual({ ...FIRST, agreed: expect.any(String) });
	expect(twoWay).toEqual({ ...USUAL, isFirst: true, isChanged: true });
	expect(JSON.parse(fields.agreed as string)).toMatchObject({
		at: NOW,
		on: ['mail'],
		wrote: ['city', 'n'],
		fields: { city: { here: 'Oslo', item: 'Oslo' }, n: { here: 1, item: 1 } },
	});
});

const mail = { mail: FIRST.mail! };

test.each<[string, item: FieldValues, here: FieldValues, written: FieldValues, twoWay: object, hasState: boolean]>([
	['nothing changed', {}, {}, {}, {}, false],
	['the item changed', { city: 'Rome' }, {}, { city: 'Rome' }, { isChanged: true }, true],
	['the record changed', {}, { city: 'Rome' }, {}, { sendBack: { city: 'Rome' }, isChanged: true }, true],
	['both changed to the same', { city: 'Rome' }, { city: 'Rome' }, {}, {}, true],
	[
		'both changed',
		{ city: 'Rome' },
		{ city: 'Bonn' },
		{},
		{ conflicts: [{ field: 'city', agreed: 'Oslo', since: NOW, here: 'Bonn', item: 'Rome' }] },
		false,
	],
])('%s', (_, item, here, written, twoWay, hasState) => {
	const result = next({ ...FIRST, ...item }, { ...stored(), ...here });
	expect(result.values).toEqual({ ...mail, ...written });
	expect(result.twoWay).toEqual({ ...USUAL, ...twoWay });
	expect(result.state !== undefined).toBe(hasState);
});

test.each<[string, state: unknown, twoWay: object]>([
	['has none yet', null, { isFirst: true }],
	['lost it', '{"v":1}', { isFirst: true, isStateLost: true }],
	['is a copy of another one', stored().agreed!, { isFirst: true, isStateLost: true }],
])('a record that %s and has the same values gets its state, which is no change', (_, state, twoWay) => {
	const item = { ...FIRST, mail: 'bob@example.com' };
	const result = next(item, { ...item, agreed: state as string });
	expect(result.values).toEqual({ mail: 'bob@example.com' });
	expect(result.twoWay).toEqual({ ...USUAL, ...twoWay });
	expect(result.state).toEqual(expect.any(String));
});

test('a field that holds other text is never overwritten', () => {
	expect(() => next(FIRST, { ...FIRST, agreed: 'Call her' })).toThrow(
		expect.objectContaining({
			name: InputError.name,
			message: "Nothing was sent: 'agreed' of the record 'ann@example.com' holds other text",
			field: 'agreed',
			hint: "Choose a field under 'State Field Name or ID' that nothing else uses, or clear it in all records.",
		}) as Error,
	);
});

test('a record that is found by its ID has that for a key, and all its values are synced', () => {
	const byId = { keys: [] };
	expect(JSON.parse(stored(byId).agreed as string)).toMatchObject({ on: [], fields: { mail: {}, city: {}, n: {} } });
	expect(next(FIRST, stored(byId), byId)).toEqual({ values: {}, twoWay: USUAL, state: undefined });
	// The state is that of a record with another key.
	expect(next(FIRST, stored(), byId).twoWay).toMatchObject({ isStateLost: true });
});

test('a field with a rule follows it, not the sync', () => {
	const rules = new Map([['city', 'whenCreating'] as const]);
	const result = next({ ...FIRST, city: 'Rome', n: 2 }, { ...stored(), city: 'Bonn' }, { rules });
	expect(result.values).toEqual({ ...mail, city: 'Rome', n: 2 });
	expect(result.twoWay).toMatchObject({ sendBack: {}, conflicts: [] });
});

describe('what can’t be synced both ways', () => {
	const LINKS = "It holds links to several records, whose changes can't be told apart.";
	const FILES = "It holds files or messages, whose changes can't be told apart.";
	test.each([
		['teams', LINKS],
		['papers', FILES],
		['talk', FILES],
	])('is refused: %s', (name, what) => {
		const item = entryOf({ ...FIRST, [name]: null });
		expect(() => syncOf().apply(item, null)).toThrow(
			expect.objectContaining({
				name: InputError.name,
				message: `Nothing was sent: '${name}' can't be synced both ways`,
				field: name,
				hint: `${what} Remove it from the items and the mapping, or choose 'Only When Creating' for it under 'Field Rules'.`,
			}) as Error,
		);
	});

	test('is written by its rule, if it has one; a link to one record is synced', () => {
		const rules = new Map([['teams', 'whenCreating'] as const]);
		const links = { teams: { add: [{ id: 't' }] }, boss: { id: 'b' } };
		const { fields, twoWay } = syncOf({ rules }).apply(entryOf({ ...FIRST, ...links }), recordOf({ ...FIRST, boss: { id: 'c' } }));
		expect(fields).toMatchObject({ teams: links.teams });
		expect(twoWay?.conflicts.map(({ field }) => field)).toEqual(['boss']);
	});
});

test('a state that its field can’t hold is refused', () => {
	const { length } = stored().agreed as string;
	const limited = (maxLength: number) => ({
		fields: FIELDS.map((field) => (field.name === 'agreed' ? fieldOf('agreed', 'text', { maxLength }) : field)),
	});
	expect(stored(limited(length)).agreed).toHaveLength(length);
	expect(thrownBy(() => stored(limited(length - 1)))).toMatchObject({
		name: InputError.name,
		message: "Nothing was sent: 'agreed' is too short for the state of a record",
		field: 'agreed',
		hint: `It takes ${length - 1} characters, ${length} are needed. Make it a long text field in the platform, or map fewer fields.`,
	});
	// Nothing new to keep.
	expect(next(FIRST, stored(), limited(5)).twoWay).toEqual(USUAL);
});

describe('if many records changed, nothing is written', () => {
	const entries = (count: number, twoWay: object): Entry[] =>
		Array.from({ length: count }, (_, index) => ({ index, fields: {}, twoWay: { ...USUAL, ...twoWay } }));
	const changed = { isChanged: true };

	test.each<[string, Entry[], maxChanges: number, isRefused: boolean]>([
		['ten always may', entries(10, changed), 0, false],
		['eleven of eleven', entries(11, changed), 99, true],
		['all, if all may', entries(11, changed), 100, false],
		['half of them, if half may', [...entries(11, changed), ...entries(11, {})], 50, false],
		['more than half', [...entries(12, changed), ...entries(11, {})], 50, true],
		['new ones don’t count as changed', [...entries(50, { isFirst: true, isChanged: true }), ...entries(10, {})], 0, false],
		['nor as others that did not change', [...entries(11, changed), ...entries(50, { isFirst: true })], 50, true],
		['records without a sync don’t count', [...entries(10, changed), { index: 99, fields: {} }], 0, false],
	])('%s', (_, records, maxChanges, isRefused) => {
		const check = () => syncOf({ options: { maxChanges } }).requireFewChanges(records);
		if (isRefused) expect(check).toThrow(/^Nothing was written: 1\d of \d\d records changed since both sides agreed, more than \d+ %$/);
		else expect(check).not.toThrow();
	});

	test('and the error says what to check', () => {
		const records = [...entries(12, changed), ...entries(11, {})];
		expect(thrownBy(() => syncOf().requireFewChanges(records))).toMatchObject({
			message: 'Nothing was written: 12 of 23 records changed since both sides agreed, more than 50 %',
			hint: "Check that the input is complete and the table was not restored or reloaded. If this is intended, raise 'Max Changes (%)'.",
		});
	});
});
