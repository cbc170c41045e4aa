/**
 * A platform that ignores unknown names in filters and sorts: a misspelt one would select, or delete,
 * every record. Whatever takes a name refuses it, by the table's definition.
 */
import type { IDataObject, IPollFunctions } from 'n8n-workflow';
import { nodeTypes, picked, TRIGGER_TYPE } from '../support/engine/engine.cts';
import { watch } from '../support/engine/polls.cts';
import { APP, byFields, numbered, useHarness, where, type Run } from './fixtures.cts';
import { failureOf, watchedOrders } from './triggerFixtures.cts';

const harness = useHarness();
const { start } = watchedOrders(harness);

const condition = (field: string) => where({ field, operator: 'eq', value: 'Fox' });
const tree = (...filter: IDataObject[]) => ({ filterMode: 'json', filterTree: JSON.stringify({ filter }) });
const leaf = (field: string) => ({ field, operator: 'eq', value: 'Fox' });
const removing = { missingRecords: 'delete', maxShareToRemove: 100, maxRecordsToRemove: 100 };
const summaries = (field: string) => ({ summaries: { summary: [{ field, aggregations: ['sum'] }] } });
const all = { returnAll: true };
const sort = (field: string) => ({ sort: { by: [{ field, direction: 'desc' }] } });
const fieldsToLoad = { fieldsToLoad: ['number', 'buyr'] };

const NO_BUYR = "table 'Orders' has no field 'buyr', did you mean 'buyer'?";
const IN_LINKED = "Condition 1 of the filter: the linked table 'Orders' has no field 'buyr', did you mean 'buyer'?";
const IN_FIRST = `Condition 1 of the filter: ${NO_BUYR}`;

beforeEach(async () => {
	await harness.fill('orders', ...numbered(5));
	await harness.settings({ filterNames: 'ignored' });
});

/** Requests for records, and those that write. */
const others = async () => (await harness.requests()).filter(({ path }) => path.includes('/data'));

const REFUSED: Array<[string, Run, string]> = [
	['deleteMany', { parameters: condition('buyr') }, IN_FIRST],
	['deleteMany', { parameters: condition('buyr'), options: { dryRun: true } }, IN_FIRST],
	['deleteMany', { parameters: condition('Buyer ') }, "has no field 'Buyer ', did you mean 'buyer'?"],
	['deleteMany', { parameters: condition('ver') }, "has no field 'ver'"],
	['deleteMany', { parameters: condition('buyer.name') }, "'buyer' of table 'Orders' is no link: it has no 'name'"],
	['deleteMany', { parameters: condition('relatd.buyer') }, "has no field 'relatd', did you mean 'related'?"],
	['deleteMany', { parameters: condition('related.buyr') }, "the linked table 'Orders' has no field 'buyr', did you mean 'buyer'?"],
	[
		'deleteMany',
		{ parameters: condition('related.related.buyr') },
		"Condition 1 of the filter: the linked table 'Orders' has no field 'buyr'",
	],
	['deleteMany', { parameters: tree(leaf('buyer'), { filter: [leaf('buyr')] }) }, `Condition 1 of group 1 of the filter: ${NO_BUYR}`],
	['sync', { items: [{ number: '1' }], parameters: { ...removing, ...condition('buyr') } }, IN_FIRST],
	[
		'sync',
		{ items: [{ number: '1' }], parameters: { ...removing, ...condition('related.buyr') } },
		"the linked table 'Orders' has no field 'buyr'",
	],
	[
		'sync',
		{ items: [{ number: '1' }], parameters: { ...removing, ...byFields('buyr') } },
		"Table 'Orders' has no field 'buyr' to match on",
	],
	['upsert', { items: [{ number: '1' }], parameters: byFields('buyr') }, "Table 'Orders' has no field 'buyr' to match on"],
	['getAll', { parameters: { ...all, ...condition('buyr') } }, IN_FIRST],
	['getAll', { parameters: { ...all, ...where({ field: 'buyr', operator: 'contains', value: 'o' }) } }, IN_FIRST],
	['getAll', { parameters: { ...all, ...tree(leaf('buyr')) } }, IN_FIRST],
	['getAll', { parameters: { ...all, ...condition('relatd.buyer') } }, "has no field 'relatd'"],
	['getAll', { parameters: { ...all, ...condition('related.buyr') } }, IN_LINKED],
	['getAll', { parameters: { ...all, ...sort('buyr') } }, `'Sort': ${NO_BUYR}`],
	[
		'getAll',
		{ parameters: { ...all, ...sort('related.buyr') } },
		"'Sort': the linked table 'Orders' has no field 'buyr', did you mean 'buyer'?",
	],
	['getAll', { parameters: { ...all, ...condition('buyer') }, options: fieldsToLoad }, `'Output Field Names or IDs': ${NO_BUYR}`],
	['getChanges', { parameters: condition('buyr') }, IN_FIRST],
	['getChanges', { parameters: condition('related.buyr') }, IN_LINKED],
	['count', { parameters: condition('buyr') }, IN_FIRST],
	['count', { parameters: condition('related.buyr') }, IN_LINKED],
	['count', { parameters: condition('related.related.buyr') }, IN_LINKED],
	['summarize', { parameters: { ...summaries('price'), ...condition('related.buyr') } }, IN_LINKED],
	['exportToFile', { parameters: condition('related.buyr') }, IN_LINKED],
	['summarize', { parameters: { ...summaries('price'), ...condition('buyr') } }, IN_FIRST],
	[
		'summarize',
		{ parameters: { ...summaries('prise'), ...condition('buyer') } },
		"'Fields to Summarize': table 'Orders' has no field 'prise', did you mean 'price'?",
	],
	['exportToFile', { parameters: condition('buyr') }, IN_FIRST],
	['exportToFile', { parameters: sort('buyr') }, `'Sort': ${NO_BUYR}`],
	['exportToFile', { options: fieldsToLoad }, `'Output Field Names or IDs': ${NO_BUYR}`],
];

test.each(REFUSED)('%s %j: %s', async (operation, run, message) => {
	const result = await harness.run(operation, { items: [{}], ...run });
	expect(String(result.error?.message)).toContain(message);
	expect(await others()).toEqual([]);
	expect(await harness.records()).toHaveLength(5);
});

test('summarize: without a filter, the response shows what is missing', async () => {
	const result = await harness.run('summarize', { parameters: summaries('prise') });
	expect(result.error?.message).toBe("The response contains no summary of 'prise'");
});

test.each<[string, Run]>([
	['deleteMany', { parameters: where({ field: 'related.buyer', operator: 'eq', value: 'Fox' }) }],
	['deleteMany', { parameters: where({ field: 'created', operator: 'lt', value: '2020-01-01' }) }],
	['getAll', { parameters: { ...all, ...where({ field: 'id', operator: 'eq', value: 'x' }), ...sort('modified') } }],
	['getAll', { parameters: { ...all, ...where({ field: 'related.id', operator: 'eq', value: 'x' }) } }],
])('%s %j is not refused', async (operation, run) => {
	const result = await harness.run(operation, run);
	expect(result.error).toBeUndefined();
	expect(await harness.records()).toHaveLength(5);
});

describe('what removes asks for the definition again', () => {
	const renamed = { internalName: 'orders', header: 'Orders', fields: [{ name: 'number', type: 'text', metadata: { importKey: true } }] };

	beforeEach(async () => {
		await harness.run('count', { parameters: condition('buyer') });
		await harness.createTable(renamed, [{ number: '1' }, { number: '2' }]);
		await harness.settings({ filterNames: 'ignored' });
	});

	test.each<[string, Run]>([
		['deleteMany', { parameters: condition('buyer') }],
		['sync', { items: [{ number: '1' }], parameters: { ...removing, ...condition('buyer') } }],
	])('%s', async (operation, run) => {
		const result = await harness.run(operation, { ...run, isWarm: true });
		expect(String(result.error?.message)).toContain("Condition 1 of the filter: table 'Orders' has no field 'buyer'");
		expect(await harness.records()).toHaveLength(2);
	});
});

describe('a definition that does not name the linked table', () => {
	const run = async (operation: string, run: Run) => await harness.run(operation, { items: [{}], ...run });
	beforeEach(() => harness.settings({ definition: 'documented' }));

	test('reads go on with a notice, if no record shows it either; nothing is removed', async () => {
		const read = await run('count', { parameters: condition('related.buyr') });
		expect(read.json()).toEqual([{ count: 5 }]);
		expect(read.hints).toEqual([
			expect.stringContaining(
				"Whether the tables have 'related.buyr' was not checked: the platform does not say which table 'related' links to",
			),
		]);
		const removed = await run('deleteMany', { parameters: condition('related.buyr') });
		expect(String(removed.error?.message)).toContain("'related.buyr' can't be checked: the platform does not say which table");
		expect(await harness.records()).toHaveLength(5);
	});

	test('a stored link shows it', async () => {
		const [record, other] = await harness.records();
		await harness.change(record!.id, { related: { add: [other!.id] } });
		for (const operation of ['count', 'deleteMany']) {
			const { error } = await run(operation, { parameters: condition('related.buyr') });
			expect(String(error?.message)).toContain(IN_LINKED);
		}
		const { hints } = await run('count', { parameters: condition('related.buyer') });
		expect(hints).toEqual([]);
	});
});

test('a name behind a link costs the definition of the linked table, unless it is kept', async () => {
	const fields = [
		{ name: 'code', type: 'text', metadata: { importKey: true } },
		{ name: 'order', type: 'schema_link', metadata: { linkTableId: 'orders' } },
	];
	await harness.createTable({ internalName: 'parcels', header: 'Parcels', fields }, []);
	await harness.settings({ filterNames: 'ignored' });
	const paths = async (field: string, run: Run) => {
		await harness.clearRequests();
		await harness.run('count', { table: 'parcels', parameters: condition(field), ...run });
		return (await harness.requests()).map(({ path }) => path.replace(/^.*\/tables\//, '').replace(/^[\w-]{36}$/, '(linked)'));
	};
	const count = 'parcels/data/count/filter';
	expect(await paths('order.buyer', {})).toEqual(['parcels', '(linked)', count]);
	expect(await paths('order.buyer', { isWarm: true })).toEqual([count]);
	expect(await paths('order.id', {})).toEqual(['parcels', count]);
});

describe('without the right to see the structure', () => {
	const withoutStructure = async () => {
		const allow = ['read', 'create', 'update', 'delete'];
		const permissions = [{ app: APP, table: 'orders', allow }];
		return { token: await harness.sandbox.admin.createToken({ type: 'role', name: 'blind', permissions }) };
	};

	test('nothing is removed by a filter', async () => {
		const result = await harness.run('deleteMany', { credential: await withoutStructure(), parameters: condition('buyer') });
		expect(String(result.error?.message)).toMatch(
			/^Condition 1 of the filter: 'buyer' can't be checked: a table's definition can't be read/,
		);
		expect(String(result.error?.description)).toMatch(/^Nothing was removed: .* If the token's role lacks a right, add it/);
		expect(await others()).toEqual([]);
	});

	test.each<[string, Run, string]>([
		['count', { parameters: tree(leaf('buyr'), leaf('related.buyr'), leaf('buyr')) }, "'buyr', 'related.buyr'"],
		['getAll', { parameters: { ...all, ...sort('buyr') }, options: fieldsToLoad }, "'buyr', 'number'"],
		['getChanges', { parameters: condition('buyr') }, "'buyr'"],
		['summarize', { parameters: { ...summaries('price'), ...condition('buyr') } }, "'buyr', 'price'"],
	])('%s says which names were not checked', async (operation, run, names) => {
		const result = await harness.run(operation, { items: [{}, {}], ...run, credential: await withoutStructure() });
		expect(result.error).toBeUndefined();
		const notices = result.hints.filter((hint) => hint.includes('not checked'));
		expect(notices).toEqual([
			expect.stringContaining(`Whether the tables have ${names} was not checked: a table's definition can't be read`),
		]);
		expect(notices[0]).toContain("If the token's role lacks a right, add it");
	});

	test('a trigger logs it', async () => {
		const warnings: string[] = [];
		const credential = { ...harness.credential, ...(await withoutStructure()) };
		const place = { application: picked(APP), table: picked('orders'), triggerOn: 'createdOrUpdated', startFrom: 'beginning' };
		const type = nodeTypes.getByNameAndVersion(TRIGGER_TYPE, 1);
		const run = async (context: IPollFunctions) => {
			jest.spyOn(context.logger, 'warn').mockImplementation((text) => void warnings.push(text));
			return await type.poll!.call(context);
		};
		const watching = await watch(credential, { ...place, ...condition('buyr') }, { run });
		expect(await watching.poll()).toHaveLength(5);
		expect(warnings).toEqual([expect.stringContaining("Data Platform Trigger: Whether the tables have 'buyr' was not checked")]);
	});

	test('all records can still be removed, and read by a filter', async () => {
		const credential = await withoutStructure();
		const read = await harness.run('count', { credential, parameters: where({ field: 'number', operator: 'eq', value: '1' }) });
		expect(read.json()).toEqual([{ count: 1 }]);
		const result = await harness.run('deleteMany', { credential, parameters: { filterMode: 'none', allowAll: true } });
		expect(result.json()).toMatchObject([{ deletedCount: 5 }]);
	});
});

describe('a trigger', () => {
	test.each<[string, IDataObject, string]>([
		['its filter', condition('buyr'), IN_FIRST],
		['its filter, behind a link', condition('related.buyr'), IN_LINKED],
		[
			'its fields',
			{ ...where({ field: 'buyer', operator: 'contains', value: 'Buyer' }), options: fieldsToLoad },
			`'Output Field Names or IDs': ${NO_BUYR}`,
		],
	])('%s: at its start, in a test, and before it emits', async (_name, parameters, message) => {
		const isRefused = async (mode?: 'manual') => expect(String((await failureOf(watching, mode))?.message)).toContain(message);
		const watching = await start(parameters);
		await isRefused();
		await isRefused('manual');
		const beginning = await start({ ...parameters, startFrom: 'beginning' });
		expect(String((await failureOf(beginning))?.message)).toContain(message);
	});

	test('a field that is gone later stops it, with its changes kept', async () => {
		const watching = await start(where({ field: 'comment', operator: 'notempty' }));
		expect(await failureOf(watching)).toBeUndefined();
		const fields = [{ name: 'number', type: 'text' }];
		const orders = { internalName: 'orders', header: 'Orders', fields };
		await harness.createTable(orders, [{ number: '9' }]);
		expect(String((await failureOf(watching))?.message)).toContain("Condition 1 of the filter: table 'Orders' has no field 'comment'");
		await harness.createTable({ ...orders, fields: [...fields, { name: 'comment', type: 'text' }] }, [{ number: '9', comment: 'x' }]);
		// Polls that fail back off, until a test in the editor succeeds.
		expect(await watching.poll()).toBeNull();
		expect(await watching.poll('manual')).toHaveLength(1);
		expect((await watching.poll())?.map(({ json }) => json.number)).toEqual(['9']);
	});
});
