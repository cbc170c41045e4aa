/** A definition that does not mark the import key, and import keys that several records have. */
import type { IDataObject } from 'n8n-workflow';
import { defined, loadOptions } from '../support/engine/engine.cts';
import { itemWithFile, useFileStore } from './attachmentFixtures.cts';
import { byFields, goingOn, numbered, order, outcomes, recordParameters, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

useFileStore();

const buyers = async () => (await harness.records()).map(({ fields }) => `${String(fields.number)} ${String(fields.buyer)}`).sort();

const bulkRequests = async () => (await harness.requests()).filter(({ path }) => path.includes('/data'));

const REMOVES_ALL = { missingRecords: 'delete', maxRecordsToRemove: 100, maxShareToRemove: 100 };

describe('the import key is another one than when the fields were mapped by hand', () => {
	const MOVED = {
		internalName: 'orders',
		header: 'Orders',
		fields: ['number', 'buyer'].map((name) => ({ name, type: 'text', metadata: { importKey: name === 'buyer' } })),
	};
	const schema = [
		{ id: 'number', displayName: 'number (import key)' },
		{ id: 'buyer', displayName: 'buyer' },
	];
	const columns = (more: IDataObject) => ({ ...defined({ number: '={{ $json.number }}', buyer: '={{ $json.buyer }}' }), schema, ...more });

	test.each(['upsert', 'sync', 'update'])('%s sends nothing, and says what to do', async (operation) => {
		await harness.createTable(MOVED, [order(1)]);
		const run = async (more: IDataObject, parameters: IDataObject = {}) => {
			await harness.clearRequests();
			const removal = operation === 'sync' ? REMOVES_ALL : {};
			const given = { matchOn: 'importKey', columns: columns(more), ...removal, ...parameters };
			return await harness.run(operation, { items: [order(1)], parameters: given });
		};
		const { error } = await run({});
		expect(error?.message).toBe(
			"Nothing was sent: the import key of table 'Orders' is 'buyer', and it was 'number' when the fields were mapped",
		);
		expect(error?.description).toContain(
			"refresh the list of 'Fields' and give 'buyer' its value. Else mark 'number' in the platform again, or set 'Match On'",
		);
		expect(await harness.writes()).toEqual([]);
		const refreshed = schema.map(({ id }) => ({ id, displayName: id === 'buyer' ? 'buyer (import key)' : id }));
		for (const more of [{ schema: refreshed }, { schema: [] }, { mappingMode: 'autoMapInputData' }]) {
			expect((await run(more)).error).toBeUndefined();
		}
		expect((await run({}, byFields('number'))).error).toBeUndefined();
		expect(await harness.records()).toHaveLength(1);
	});
});

describe('a definition with documented metadata only', () => {
	beforeEach(() => harness.settings({ definition: 'documented' }));

	const write = async (importKey: string | undefined, items: IDataObject[], { options, ...run }: Run = {}, operation = 'upsert') =>
		await harness.run(operation, { ...goingOn, ...run, items, options: { ...options, ...(importKey && { importKey }) } });

	test.each(['upsert', 'sync'])('%s without a key names the option that has it, before anything is sent', async (operation) => {
		const { error } = await harness.run(operation, { items: numbered(2), ...(operation === 'sync' && { parameters: REMOVES_ALL }) });
		expect(error?.message).toContain("The definition of table 'Orders' does not say which field is its import key");
		expect(error?.description).toContain("→ Import Key Name or ID' in the options");
		expect(error?.description).toContain("the first field, 'number'");
		expect(await bulkRequests()).toEqual([]);
	});

	test('the editor lists the fields that can be the key', async () => {
		const list = await loadOptions(harness.credential, 'getImportKeyFields', recordParameters('upsert'));
		expect(list.map(({ value }) => value)).toEqual(['', 'number', 'buyer', 'price', 'state', 'comment']);
	});

	test.each<[string, IDataObject[], string[]]>([
		['some exist', numbered(3, { buyer: 'new' }), ['updated', 'updated', 'inserted']],
		['none exists', [order(5), order(6)], ['inserted', 'inserted']],
		['a bad one comes first', [order(7, { state: 'lost' }), order(8), order(9)], ['failed', 'inserted', 'inserted']],
	])('the platform’s key is proven, once: %s', async (_, items, expected) => {
		await harness.fill('orders', ...numbered(2));
		expect(outcomes(await write('number', items))).toEqual(expected);
		expect(await harness.records()).toHaveLength(2 + expected.filter((outcome) => outcome === 'inserted').length);
		await harness.clearRequests();
		await write('number', items, { isWarm: true });
		expect((await bulkRequests()).filter(({ path }) => path.endsWith('/filter') === false)).toHaveLength(1);
	});

	test('of three items it takes two requests more, and none in the next run', async () => {
		await harness.fill('orders', ...numbered(3));
		const count = async (run: Run) => {
			await harness.clearRequests();
			await write('number', numbered(3, { buyer: `${Date.now()}` }), run);
			return (await harness.requests()).length;
		};
		expect([await count({}), await count({ isWarm: true })]).toEqual([4, 1]);
	});

	test('a field that is not the platform’s key stops the run before an item is written', async () => {
		await harness.fill('orders', ...numbered(3));
		const before = await harness.records();
		const items = [4, 2, 3].map((number) => ({ number: `${number}0`, buyer: `Buyer ${number}` }));
		const result = await write('buyer', items);
		expect(outcomes(result)).toEqual(['failed', 'failed', 'failed']);
		const [json] = result.json();
		expect(json!.error).toContain("does not find records of table 'Orders' by 'buyer': an upsert with the value \"Buyer 2\"");
		expect(json!.error).toContain('Nothing was written.');
		expect(json!.message).toMatch(/^Choose the field that the platform uses under '.*Import Key Name or ID'/);
		expect(await harness.records()).toEqual(before);
	});

	test('below 100 % of new records, a key that is only named is refused, and Other Fields is a way out', async () => {
		await harness.fill('orders', ...numbered(3));
		const items = [order(4), order(1, { comment: 'new' })];
		const refused = await write('number', items, { options: { maxNewShare: 50 } });
		expect(refused.json()[0]?.error).toContain("'Max New Records (%)' below 100 needs an import key that the table's definition marks");
		expect(await harness.writes()).toEqual([]);
		const parameters = { matchOn: 'fields', matchFields: ['number'] };
		const result = await harness.run('upsert', { items, parameters, options: { maxNewShare: 50 } });
		expect(outcomes(result)).toEqual(['inserted', 'updated']);
	});

	test('a proof whose response is lost says nothing about the key', async () => {
		await harness.fill('orders', ...numbered(2));
		await harness.faults({ match: { method: 'POST', path: '/data$' }, fault: { kind: 'html', status: 200, afterWrite: true } });
		const [json] = (await write('number', numbered(2, { buyer: 'new' }))).json();
		expect(json!.error).toMatch(/^Not sent, .*could not be read/);
		expect(json!.error).not.toContain('does not find');
	});

	test('it is proven without the right to import', async () => {
		await harness.settings({ bulkRight: 'import' });
		await harness.fill('orders', ...numbered(2));
		expect(outcomes(await write('number', numbered(3, { buyer: 'new' })))).toEqual(['written', 'written', 'inserted']);
		expect(await buyers()).toEqual(['1 new', '2 new', '3 new']);
	});

	test('if no item exists, only the first one is written until the key is proven', async () => {
		const result = await write('buyer', numbered(3));
		expect(outcomes(result)).toEqual(['inserted', 'failed', 'failed']);
		expect(result.json()[1]!.error).toContain('Only items up to 0 were written.');
		expect(await buyers()).toEqual(['1 Buyer 1']);
	});

	const REJECTED =
		"The platform does not find records of table 'Orders' by 'buyer': an upsert with the value \"new\", which a record has, was";
	const WRONG = [order(2, { buyer: 'new' })];

	test.each<[what: string, items: IDataObject[], stored: number, run: Run, operation: string, expected: string[]]>([
		['one item', WRONG, 3, {}, 'upsert', ['unknown']],
		['one that comes again', WRONG, 3, { isWarm: true }, 'upsert', ['unknown']],
		['several', [...WRONG, order(3, { buyer: 'other' })], 3, {}, 'upsert', ['unknown', 'failed']],
		['two with one key', [order(1, { buyer: 'new' }), ...WRONG], 3, {}, 'upsert', ['unknown', 'unknown']],
		['previous values', WRONG, 3, { options: { previousValues: true } }, 'upsert', ['unknown']],
		['Skip Unchanged', WRONG, 3, { options: { skipUnchanged: true } }, 'upsert', ['unknown']],
		['Sync', WRONG, 2, { parameters: REMOVES_ALL }, 'sync', ['unknown', 'failed', 'failed']],
		['a new one', WRONG, 1, {}, 'upsert', ['unknown']],
	])('disproved after a write, the item says what was written: %s', async (what, items, stored, run, operation, expected) => {
		await harness.fill('orders', ...numbered(stored));
		const result = await write('buyer', items, run, operation);
		expect(outcomes(result)).toEqual(expected);
		const json = result.json().find(({ error }) => String(error).startsWith('Record '))!;
		const [record] = (await harness.records()).filter(({ fields }) => fields.buyer === 'new');
		const did = what === 'a new one' ? 'inserted' : 'updated, although none had this key before';
		expect(json.error).toContain(`Record '${record!.id}' was ${did}. ${REJECTED}`);
		expect(json.details).toMatchObject({ id: record!.id });
		expect(await harness.records()).toHaveLength(what === 'a new one' ? 2 : stored);
	});

	test.each([
		['upsert', false, `Record '.*' was updated, although none had this key before. ${REJECTED}`],
		['upsert', true, `Record '.*' was written. ${REJECTED}`],
		['importFromFile', false, `Record '.*' was updated, although none had this key before. ${REJECTED}.* Only rows up to 2 were written.`],
	])('%s of one stops, with the right to import only: %s', async (operation, isImport, message) => {
		if (isImport) await harness.settings({ bulkRight: 'import' });
		await harness.fill('orders', ...numbered(2));
		const file = await itemWithFile('orders.csv', 'number,buyer\n2,new\n');
		const input = operation === 'upsert' ? { items: WRONG } : { input: file };
		const { error } = await harness.run(operation, { ...input, options: { importKey: 'buyer' } });
		expect(error?.message).toMatch(new RegExp(message));
		expect(error?.description).toContain('Choose the field that the platform uses under');
	});

	test('Sync, an import and the stored record use the named key', async () => {
		await harness.fill('orders', ...numbered(3));
		const synced = await write('number', numbered(2, { buyer: 'new' }), { parameters: REMOVES_ALL }, 'sync');
		expect(outcomes(synced)).toEqual(['updated', 'updated', 'deleted']);
		const file = await itemWithFile('orders.csv', 'number,buyer\n1,x\n4,y\n');
		const imported = await harness.run('importFromFile', { input: file, options: { importKey: 'number' } });
		expect(imported.json()[0]).toMatchObject({ inserted: 1, updated: 1 });
		const stored = await write('number', [order(1, { buyer: 'x' })], { options: { output: 'stored' } });
		expect(stored.json()).toMatchObject([{ outcome: 'unchanged', number: '1', label: '1: x' }]);
		expect(await buyers()).toEqual(['1 x', '2 new', '4 y']);
	});
});

describe('two records with one import key', () => {
	beforeEach(() => harness.fill('orders', order(1), order(2), order(1, { buyer: 'second' })));

	test.each(['skipUnchanged', 'dryRun'])('with %s, they are reported', async (option) => {
		const result = await harness.run('upsert', { ...goingOn, items: numbered(3), options: { [option]: true } });
		expect(outcomes(result)).toEqual(['failed', 'unchanged', 'inserted']);
		expect(result.json()[0]!.error).toMatch(/^2 records match '1': '.*', '.*'$/);
	});

	test('Multiple Matches chooses the first', async () => {
		// Created in the same millisecond, they are in the order of their IDs.
		const same = (await harness.records()).filter(({ fields }) => String(fields.number) === '1');
		const [first] = same.map(({ created, id }) => ({ id, order: created + id })).toSorted((a, b) => (a.order < b.order ? -1 : 1));
		await harness.run('upsert', { items: [order(1, { buyer: 'first' })], options: { multipleMatches: 'first' } });
		const written = (await harness.records()).filter(({ fields }) => fields.buyer === 'first');
		expect(written.map(({ id }) => id)).toEqual([first!.id]);
	});

	test('an unlisted record’s ID is not guessed', async () => {
		const result = await harness.run('upsert', { items: [order(1)] });
		expect(outcomes(result)).toEqual(['unchanged']);
		expect(result.json()[0]).not.toHaveProperty('id');
	});

	test('Create shows in a dry run that it would repeat a key', async () => {
		const result = await harness.run('create', { ...goingOn, items: [order(1), order(5)], options: { dryRun: true } });
		expect(outcomes(result)).toEqual(['unknown', 'inserted']);
		expect(result.json()[0]!.error).toContain("import key '1' already exists: the platform would create a second record, or reject it");
	});
});
