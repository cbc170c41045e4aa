/** Two-way sync: a table and another system, both edited. */
import type { IDataObject } from 'n8n-workflow';
import { APP, goingOn, outcomes, useHarness, type Run } from './fixtures.cts';
import { picked } from '../support/engine/engine.cts';
import { watch } from '../support/engine/polls.cts';
import { failureOf } from './triggerFixtures.cts';

const harness = useHarness();

const TABLE = 'people';

const fields = [
	{ name: 'mail', type: 'text', metadata: { importKey: true } },
	{ name: 'phone', type: 'text' },
	{ name: 'stage', type: 'text' },
	{ name: 'price', type: 'number' },
	{ name: 'due', type: 'date' },
	{ name: 'seen', type: 'datetime' },
	{ name: 'tags', type: 'chips' },
	{ name: 'chat', type: 'chat' },
	{ name: 'agreed', type: 'long_text' },
	{ name: 'short', type: 'text', metadata: { maxLength: 20 } },
	{ name: 'size', type: 'number' },
];

const fill = async (...records: IDataObject[]) => {
	await harness.createTable({ internalName: TABLE, header: 'People', fields }, records);
};

const sync = async (items: IDataObject[], settings: IDataObject = {}, options: IDataObject = {}, onError: Run = goingOn) => {
	await harness.clearRequests();
	return await harness.run('upsert', {
		parameters: { table: TABLE },
		...onError,
		items,
		options: {
			twoWay: { settings: { stateField: 'agreed', ...settings } },
			inputValues: { settings: { emptyValues: 'clear' } },
			...options,
		},
	});
};

/** What a record holds, without its state. */
const stored = async () =>
	(await harness.records(TABLE)).map(({ fields: { agreed, ...values } }) => {
		expect(typeof agreed).toBe('string');
		return values;
	});

const byId = { table: TABLE, matchOn: 'recordId', recordId: '={{ $json.id }}' };

const edit = async (mail: string, change: IDataObject) => {
	const record = (await harness.records(TABLE)).find(({ fields: { mail: key } }) => key === mail)!;
	await harness.change(record.id, change, TABLE);
};

const ann = { mail: 'ann@example.com', phone: '1', stage: 'new', price: 9, due: '2026-11-22', seen: '2026-11-22T10:00:00Z' };

const only = ({ json }: { json(): IDataObject[] }) => {
	const [{ outcome, sendBack, conflicts } = {}] = json();
	return { outcome, sendBack, conflicts };
};

test('the life of one record', async () => {
	await fill();
	// Its first run creates it.
	expect(only(await sync([ann]))).toEqual({ outcome: 'inserted' });
	expect(only(await sync([ann]))).toEqual({ outcome: 'unchanged' });
	// The other system changes one field, a person here another one.
	await edit(ann.mail, { stage: 'won' });
	const item = { ...ann, phone: '2' };
	expect(only(await sync([item]))).toEqual({ outcome: 'updated', sendBack: { stage: 'won' } });
	expect(await stored()).toMatchObject([{ phone: '2', stage: 'won' }]);
	// As long as the other system does not have it, it comes again.
	expect(only(await sync([item]))).toEqual({ outcome: 'unchanged', sendBack: { stage: 'won' } });
	const taken = { ...item, stage: 'won' };
	expect(only(await sync([taken]))).toEqual({ outcome: 'updated' });
	expect(only(await sync([taken]))).toEqual({ outcome: 'unchanged' });
	// Both change the same field.
	await edit(ann.mail, { phone: '3' });
	const [conflict] = (await sync([{ ...taken, phone: '4' }])).json();
	expect(conflict).toMatchObject({
		outcome: 'unchanged',
		conflicts: [{ field: 'phone', agreed: '2', here: '3', item: '4', since: expect.stringMatching(/^2\d{3}-/) }],
	});
	// A person decides in one of the systems.
	expect(only(await sync([{ ...taken, phone: '3' }]))).toEqual({ outcome: 'updated' });
	expect(only(await sync([{ ...taken, phone: '3' }]))).toEqual({ outcome: 'unchanged' });
	expect(await stored()).toEqual([{ ...taken, phone: '3', seen: '2026-11-22T10:00:00.000Z' }]);
});

test('a run takes one look-up and one write, and only a look-up if nothing changed', async () => {
	await fill();
	await sync([ann]);
	const paths = async () => (await harness.requests()).map(({ path }) => path.split('/').at(-1));
	await sync([ann]);
	expect(await paths()).toEqual(['people', 'filter']);
	await sync([{ ...ann, phone: '2' }]);
	expect(await paths()).toEqual(['people', 'filter', 'bulk']);
});

test('with records on both sides and nothing agreed, empty sides are filled and the rest is reported', async () => {
	await fill({ mail: ann.mail, stage: 'won', price: 9 }, { mail: 'bob@example.com', phone: '7' });
	const result = await sync([ann, { mail: 'bob@example.com', phone: '7', stage: null }]);
	expect(result.json()[0]).toMatchObject({ outcome: 'updated', conflicts: [{ field: 'stage', here: 'won', item: 'new' }] });
	expect(result.json()[1]).toMatchObject({ outcome: 'updated' });
	expect(result.json()[1]!.conflicts).toBeUndefined();
	expect(await stored()).toMatchObject([{ phone: '1', stage: 'won' }, { phone: '7' }]);
});

test.each([
	['numbers are rounded', { price: 15 }, { price: 20 }],
	['text is trimmed', { phone: ' 5 ' }, { phone: '5' }],
])('%s by the platform: that is no change of a person', async (_what, change, kept) => {
	await fill();
	await sync([ann]);
	const item = { ...ann, ...change };
	await sync([item]);
	// The sandbox keeps what it gets: the record is what a platform would have kept in the same write.
	const [record] = await harness.records(TABLE);
	const { agreed } = record!.fields;
	const state = JSON.parse(String(agreed)) as { ver: number };
	await edit(ann.mail, { ...kept, agreed: JSON.stringify({ ...state, ver: state.ver + 1 }) });
	expect(only(await sync([item])).sendBack).toBeUndefined();
	await edit(ann.mail, { stage: 'won' });
	expect(only(await sync([item])).sendBack).toEqual({ stage: 'won' });
});

test.each<[string, IDataObject, IDataObject, string]>([
	['no field', {}, { stateField: '' }, 'no field is chosen'],
	['an unknown field', {}, { stateField: 'agred' }, "has no field 'agred'"],
	['a number', {}, { stateField: 'size' }, "'size' is no text"],
	['a short field', {}, { stateField: 'short' }, "'short' is too short"],
	['the key', {}, { stateField: 'mail' }, "records are found by 'mail'"],
	['a chat', { chat: { messages: [{ message: 'b' }] } }, {}, "'chat' can't be synced both ways"],
])('nothing is sent with %s', async (_what, more, settings, message) => {
	await fill();
	const result = await sync([{ ...ann, ...more }], settings);
	expect(JSON.stringify(result.json())).toContain(message);
	expect(await harness.writes()).toEqual([]);
});

test('the state is not in the output, and what items have for it is left out', async () => {
	await fill();
	const [json] = (await sync([ann])).json();
	expect(json).not.toHaveProperty('agreed');
	expect(only(await sync([{ ...ann, agreed: 'x' }]))).toEqual({ outcome: 'unchanged' });
	const columns = { mappingMode: 'defineBelow', value: { mail: ann.mail, agreed: 'x' } };
	const result = await sync([ann], {}, {}, { ...goingOn, parameters: { table: TABLE, columns } });
	expect(result.json()).toMatchObject([{ outcome: 'unchanged' }]);
});

test('an unusual share of changes on either side stops everything before it is written', async () => {
	await fill();
	const people = Array.from({ length: 40 }, (_, at) => ({ ...ann, mail: `p${at}@example.com` }));
	await sync(people);
	const emptied = people.map((person) => ({ ...person, phone: null }));
	const result = await sync(emptied);
	expect(result.json()[0]).toMatchObject({ error: expect.stringContaining('40 of 40 records changed') });
	expect(await harness.writes()).toEqual([]);
	expect(outcomes(await sync(emptied, { maxChanges: 100 }))).toEqual(people.map(() => 'updated'));
});

test('Return It Unchanged is refused beside it', async () => {
	await fill();
	const result = await sync([ann], {}, { matching: { settings: { ifFound: 'skip' } } });
	expect(JSON.stringify(result.json())).toContain("'Return It Unchanged' can't be combined");
});

test('by record ID, an item may change the import key, or lack it', async () => {
	await fill(ann);
	const [record] = await harness.records(TABLE);
	const items = [{ ...ann, id: record!.id }];
	await sync(items, {}, {}, { ...goingOn, parameters: byId });
	await edit(ann.mail, { stage: null });
	const changed = [{ ...items[0], mail: 'new@example.com', phone: '2' }];
	const result = await sync(changed, {}, {}, { ...goingOn, parameters: byId });
	expect(only(result)).toEqual({ outcome: 'updated', sendBack: { stage: null } });
	expect(await stored()).toMatchObject([{ mail: 'new@example.com', phone: '2' }]);
	const { mail: _mail, ...without } = changed[0]!;
	expect(only(await sync([without], {}, {}, { ...goingOn, parameters: byId })).sendBack).toEqual({ stage: null });
});

test('text that is no state is never overwritten', async () => {
	await fill({ ...ann, agreed: 'Call her on Monday' });
	const result = await sync([ann]);
	expect(JSON.stringify(result.json())).toContain("'agreed' of the record 'ann@example.com' holds other text");
	expect(await harness.writes()).toEqual([]);
});

test('a record that another writer creates meanwhile is not doubled', async () => {
	await fill();
	await harness.faults({ match: { path: '/data/bulk$' }, when: { nth: [1] }, fault: { kind: 'resetBefore', writeAfterMs: 300 } });
	await sync([ann]);
	await harness.faults();
	await harness.sandbox.admin.waitUntilIdle();
	await sync([ann]);
	expect(await stored()).toHaveLength(1);
});

test('under an import key that the user named, a new record never overwrites another one', async () => {
	await fill({ mail: ann.mail, phone: '9' });
	await harness.settings({ definition: 'documented' });
	const result = await sync([ann], {}, { matching: { settings: { importKey: 'phone' } } });
	expect(outcomes(result)).toEqual(['inserted']);
	expect((await harness.records(TABLE)).map(({ fields: { phone } }) => phone)).toEqual(['9', '1']);
});

test('the stored record is returned without the state', async () => {
	await fill();
	const [json] = (await sync([{ mail: ann.mail, phone: '1' }], {}, { output: 'stored' })).json();
	expect(json).toMatchObject({ outcome: 'inserted', phone: '1' });
	expect(json).not.toHaveProperty('agreed');
});

test('the state of a copied record is not its own: it is a first time', async () => {
	await fill();
	await sync([ann]);
	const [record] = await harness.records(TABLE);
	await harness.insert({ ...record!.fields, mail: 'copy@example.com', phone: '9' }, TABLE);
	const result = await sync([ann, { ...ann, mail: 'copy@example.com' }]);
	expect(result.json()[1]).toMatchObject({ conflicts: [{ field: 'phone', here: '9', item: '1' }] });
	expect(result.hints.join()).toContain("1 record changed on both sides: see 'conflicts'; 1 record had no readable state");
});

test('a summary counts what must go back', async () => {
	await fill();
	await sync([ann]);
	await edit(ann.mail, { stage: 'won' });
	const result = await sync([ann], {}, { output: 'summary' });
	expect(result.json()[0]).toMatchObject({ updated: 1, sendBack: 1 });
	expect(result.hints.join()).toContain("1 record must go back: their values are in 'sendBack'");
});

test('a dry run says what would be written and go back, without the state', async () => {
	await fill();
	await sync([ann]);
	await edit(ann.mail, { stage: 'won' });
	const [json] = (await sync([{ ...ann, phone: '2' }], {}, { dryRun: true })).json();
	expect(json).toMatchObject({ outcome: 'updated', before: { phone: '1' }, after: { phone: '2' }, sendBack: { stage: 'won' } });
	expect(JSON.stringify(json)).not.toContain('agreed');
	expect(await harness.writes()).toEqual([]);
});

/** What the other system lacks, from a trigger or Get Changes. */
const lacking = (items: IDataObject[] | null | undefined) =>
	items?.map(({ event, mail, sendBack, isNew, isStateLost, agreed }) => {
		expect(agreed).toBeUndefined();
		return { event, mail, ...(sendBack as IDataObject), ...(isNew === true && { isNew }), ...(isStateLost === true && { isStateLost }) };
	}) ?? null;

const WAYS_BACK = {
	trigger: async () => {
		const place = { application: picked(APP), table: picked(TABLE), triggerOn: 'createdOrUpdated' };
		const watching = await watch(harness.credential, { ...place, options: { stateField: 'agreed' } });
		await watching.poll();
		return async () => lacking((await watching.poll())?.map(({ json }) => json));
	},
	'Get Changes': async () => {
		let cursor: unknown;
		const next = async (startFrom: string) => {
			const parameters = { table: TABLE, startFrom, cursor };
			const [json] = (await harness.run('getChanges', { parameters, options: { stateField: 'agreed', fieldsToLoad: ['mail'] } })).json();
			({ cursor } = json!);
			return lacking(json!.changes as IDataObject[]);
		};
		await next('now');
		return async () => {
			const changes = await next('beginning');
			return changes?.length ? changes : null;
		};
	},
};

describe.each(Object.entries(WAYS_BACK))('the %s emits what the other system lacks', (_what, begin) => {
	test('and nothing that a run wrote or returned itself', async () => {
		await fill();
		const next = await begin();
		await sync([ann, { ...ann, mail: 'bob@example.com' }]);
		expect(await next()).toBeNull();
		await edit(ann.mail, { stage: 'won', tags: ['a'] });
		expect(await next()).toEqual([{ event: 'updated', mail: ann.mail, stage: 'won' }]);
		expect(only(await sync([{ ...ann, phone: '2' }]))).toEqual({ outcome: 'updated', sendBack: { stage: 'won' } });
		expect(await next()).toBeNull();
		await sync([{ ...ann, phone: '2', stage: 'won' }]);
		expect(await next()).toBeNull();
		await edit(ann.mail, { stage: null, due: '2026-11-22' });
		expect(await next()).toEqual([{ event: 'updated', mail: ann.mail, stage: null }]);
	});

	test('of records that are new here, copied, or without a readable state', async () => {
		await fill();
		await sync([ann, { ...ann, mail: 'bob@example.com' }]);
		const next = await begin();
		const [record] = await harness.records(TABLE);
		await harness.insert({ ...record!.fields, mail: 'copy@example.com' }, TABLE);
		await harness.insert({ mail: 'new@example.com' }, TABLE);
		await edit('bob@example.com', { agreed: '{"v":9}' });
		expect(await next()).toEqual([
			{ event: 'created', mail: 'copy@example.com', isNew: true },
			{ event: 'created', mail: 'new@example.com', isNew: true },
			{ event: 'updated', mail: 'bob@example.com', isStateLost: true },
		]);
	});
});

test('a trigger with a state field that the table lacks says so, once a record changed', async () => {
	await fill();
	const place = { application: picked(APP), table: picked(TABLE), triggerOn: 'createdOrUpdated' };
	const watching = await watch(harness.credential, { ...place, startFrom: 'beginning', options: { stateField: 'agred' } });
	expect(await watching.poll()).toBeNull();
	await harness.insert({ mail: 'new@example.com' }, TABLE);
	expect((await failureOf(watching))!.message).toBe("'State Field Name or ID': table 'People' has no field 'agred'");
});
