/** Dates and times under each reading of what is unknown about them, and values that were written without a zone. */
import type { IDataObject } from 'n8n-workflow';
import { DateTime } from 'luxon';
import { SeededRandom } from '../support/seededRandom.mts';
import { defined } from '../support/engine/engine.cts';
import { byFields, goingOn, outcomes, useHarness, where, type Run } from './fixtures.cts';

const harness = useHarness();

const ZONE = 'Europe/Berlin';

const table = {
	internalName: 'plans',
	header: 'Plans',
	fields: [
		{ name: 'n', type: 'number', metadata: { importKey: true } },
		{ name: 'day', type: 'date' },
		{ name: 'at', type: 'datetime' },
	],
};

async function make(settings: IDataObject = {}, records: IDataObject[] = []) {
	await harness.sandbox.admin.reset();
	await harness.createTable(table, records, ZONE);
	await harness.sandbox.admin.settings(settings);
}

const run = (operation: string, more: Run = {}) => harness.run(operation, { table: 'plans', ...more });
const stored = async () => (await harness.records('plans')).map(({ fields }) => fields);
const hideZone = () =>
	harness.faults({ match: { method: 'GET', path: '/apps/[^/]+$' }, fault: { kind: 'status', status: 403, body: { errors: [] } } });
const zoneRequests = async () => (await harness.requests()).filter(({ path }) => /\/apps\/[^/]+$/.test(path)).length;

const MODES = ['current', 'older'].flatMap((dates) => ['four', 'iso'].map((dateForms) => ({ dates, dateForms })));

interface Meant {
	text: string;
	/** Undefined if the clocks skip or repeat it. */
	instant?: number;
	day?: string;
}

const OFFSETS = { Z: 0, '+01:00': 60, '-05:00': -300, '+0530': 330 };

/** A day or a time in any form, with what it means in Berlin. */
function draw(random: SeededRandom): Meant {
	const midnight = random.happens(0.2);
	const local = DateTime.fromMillis(random.between(Date.UTC(2026, 0, 1), Date.UTC(2026, 11, 31)), { zone: 'utc' });
	const day = local.toISODate()!;
	const fraction = random.of('', '.5', '.123', '.1234567');
	const time = midnight ? '00:00:00' : `${local.toFormat('HH:mm:ss')}${fraction}`;
	const inZone = DateTime.fromISO(`${day}T${time}`, { zone: ZONE });
	const isClear =
		inZone.toISODate() === day && inZone.toFormat('HH:mm:ss') === time.slice(0, 8) && inZone.getPossibleOffsets().length === 1;
	const instant = isClear ? inZone.toMillis() : undefined;
	const form = random.of('day', 'zoneless', ...(Object.keys(OFFSETS) as Array<keyof typeof OFFSETS>));
	if (form === 'day') return { text: day, day, instant: DateTime.fromISO(day, { zone: ZONE }).toMillis() };
	if (form === 'zoneless') return { text: `${day}${random.of('T', ' ')}${time}`, day, instant };
	const exact = Date.parse(`${day}T${time.slice(0, 12)}Z`) - OFFSETS[form] * 60_000;
	return { text: `${day}T${time}${form}`, instant: exact, day: midnight ? day : dayInBerlin(exact) };
}

/** Midnight in UTC is the day itself, in every zone. */
const dayInBerlin = (instant: number) => {
	const utc = new Date(instant).toISOString();
	return utc.endsWith('T00:00:00.000Z') ? utc.slice(0, 10) : DateTime.fromMillis(instant, { zone: ZONE }).toISODate()!;
};

describe.each(MODES)('with %j', (settings) => {
	const cut = (instant: number) => (settings.dates === 'older' ? Math.floor(instant / 1000) * 1000 : instant);

	test.each([1, 2, 3])('what is meant is stored, or the item has an error (seed %d)', async (seed) => {
		await make(settings);
		const random = new SeededRandom(seed);
		const drawn = Array.from({ length: 60 }, () => draw(random));
		// Twice in the year of these seeds, or never: every run must have one.
		drawn.push({ text: '2026-10-25T02:30:00', day: '2026-10-25' }, { text: '2026-03-29 02:30', day: '2026-03-29' });
		const items = drawn.map(({ text }, n) => ({ n, day: text, at: text }));
		const result = await run('upsert', { items, ...goingOn });
		expect(outcomes(result)).toEqual(drawn.map(({ instant }) => (instant === undefined ? 'failed' : 'inserted')));
		expect(await stored()).toEqual(
			drawn.flatMap(({ instant, day }, n) => (instant === undefined ? [] : [{ n, day, at: new Date(cut(instant)).toISOString() }])),
		);

		const read = await run('getAll', { parameters: { returnAll: true } });
		const back = await run('upsert', { items: read.json(), options: { skipUnchanged: true } });
		expect(back.error?.message).toBeUndefined();
		expect(new Set(outcomes(back))).toEqual(new Set(['unchanged']));
	});

	test.each<[expression: string]>([['={{ DateTime.fromISO($json.text, { setZone: true }) }}'], ['={{ new Date($json.text) }}']])(
		'%s is the instant',
		async (expression) => {
			await make(settings);
			const texts = ['2026-07-01T09:30:00.123+05:30', '2026-01-01T23:30:00Z', '2026-07-01T10:00:00-05:00'];
			const columns = defined({ n: '={{ $itemIndex }}', day: expression, at: expression });
			const result = await run('create', { items: texts.map((text) => ({ text })), parameters: { columns } });
			expect(result.error?.message).toBeUndefined();
			expect(await stored()).toEqual(
				texts.map((text, n) => ({ n, day: dayInBerlin(Date.parse(text)), at: new Date(cut(Date.parse(text))).toISOString() })),
			);
		},
	);

	const found = async (field: string, operator: string, value: string) => {
		const result = await run('getAll', { parameters: { returnAll: true, ...where({ field, operator, value }) } });
		expect(result.error?.message).toBeUndefined();
		return result
			.json()
			.map(({ n }) => n)
			.sort();
	};

	describe('a filter', () => {
		beforeEach(async () => {
			const records = [
				{ n: 1, day: '2026-06-30', at: '2026-06-30T08:00:00Z' },
				{ n: 2, day: '2026-07-01', at: '2026-07-01T08:00:00Z' },
				{ n: 3, day: '2026-07-02', at: '2026-07-02T08:00:00Z' },
			];
			await make(settings, records);
		});

		test.each<[field: string, operator: string, value: string, found: number[]]>([
			['day', 'eq', '2026-07-01', [2]],
			['day', 'eq', '2026-07-01T00:00:00.000Z', [2]],
			['day', 'eq', '2026-07-01T00:00:00.000+02:00', [2]],
			['day', 'eq', '2026-06-30T23:30:00.0000000+00:00', [2]],
			['day', 'in', '2026-07-01T10:00:00+02:00, 2026-07-02', [2, 3]],
			['day', 'lt', '2026-07-01T10:00:00+02:00', [1]],
			['day', 'gte', '2026-07-01 10:00', [2, 3]],
			['day', 'neq', '2026-07-01', [1, 3]],
			['at', 'eq', '2026-07-01T10:00:00.000+02:00', [2]],
			['at', 'eq', '2026-07-01 10:00:00', [2]],
			['at', 'in', '2026-07-01T10:00:00+02:00,2026-07-02T08:00:00Z', [2, 3]],
			['at', 'gt', '2026-07-01T10:00:00.0001234+02:00', [3]],
			['at', 'lt', '2026-07-01T10:00', [1]],
			['at', 'gte', '2026-07-01', [2, 3]],
			['created', 'gt', '2026-07-01T10:00:00.000+02:00', [1, 2, 3]],
			['modified', 'lt', '2026-07-01T10:00:00.1234567+02:00', []],
		])('%s %s %s finds %j', async (...[field, operator, value, expected]) => {
			expect(await found(field, operator, value)).toEqual(expected);
		});

		test('that may not read the definition still sends times in UTC', async () => {
			await harness.faults({
				match: { method: 'GET', path: '/tables/plans$' },
				fault: { kind: 'status', status: 403, body: { errors: [] } },
			});
			expect(await found('at', 'gt', '2026-07-01T10:00:00.000+02:00')).toEqual([3]);
			await harness.faults();
		});
	});
});

describe('a time without a zone', () => {
	const [TEN, TWELVE] = ['2026-07-01T08:00:00.000Z', '2026-07-01T10:00:00.000Z'];
	const records = [
		{ n: 1, day: '2026-07-01', at: TEN },
		{ n: 2, day: '2026-07-02', at: TWELVE },
	];
	beforeEach(async () => await make({}, records));

	test('costs one request, and none while the definition is kept; one with a zone costs none', async () => {
		await run('upsert', { items: [{ n: 1, at: TEN, day: '2026-07-01' }] });
		expect(await zoneRequests()).toBe(0);
		for (const hour of [11, 12]) await run('upsert', { isWarm: true, items: [1, 2].map((n) => ({ n, at: `2026-07-01T${hour}:00:00` })) });
		expect(await zoneRequests()).toBe(1);
	});

	test.each<[field: string, value: string]>([
		['at', '2026-07-01T12:00:00'],
		['at', '2026-07-01 12:00:00.0000001'],
		['day', '2026-07-01T23:30:00Z'],
	])('is a key: %s %s', async (field, value) => {
		const result = await run('update', { items: [{ [field]: value, n: 9 }], parameters: byFields(field) });
		expect(outcomes(result)).toEqual(['updated']);
		expect(await harness.values('n', 'plans')).toEqual([1, 9]);
	});

	test('is the same time, so it is unchanged', async () => {
		const items = [{ n: 2, at: '2026-07-01T12:00:00' }];
		expect(outcomes(await run('upsert', { items, options: { skipUnchanged: true } }))).toEqual(['unchanged']);
	});

	test('is written by Sync to what is missing', async () => {
		const fieldsToSet = { entry: [{ field: 'at', value: '2026-07-01T14:00:00' }] };
		const parameters = {
			missingRecords: 'setFields',
			fieldsToSet,
			maxShareToRemove: 100,
			...where({ field: 'at', operator: 'gte', value: '2026-07-01 10:00' }),
		};
		const result = await run('sync', { items: [{ n: 1 }], parameters });
		expect(result.error?.message).toBeUndefined();
		expect(await harness.values('at', 'plans')).toEqual([TEN, '2026-07-01T12:00:00.000Z']);
	});

	test('finds a linked record', async () => {
		const plan = { name: 'plan', type: 'schema_link', metadata: { linkTableId: 'plans' } };
		await harness.createTable({ internalName: 'visits', fields: [{ name: 'text', type: 'text' }, plan] });
		const link = [{ field: 'plan', valueType: 'field', linkedField: 'at' }];
		const items = [{ text: 'a', plan: '2026-07-01 12:00' }];
		const result = await harness.run('create', { table: 'visits', items, options: { linkValues: { link } } });
		expect(result.error?.message).toBeUndefined();
		expect(await harness.values('plan', 'visits')).toEqual([(await harness.records('plans'))[1]!.id]);
	});

	test('is sent as it is if the zone is unknown', async () => {
		await hideZone();
		const items = [{ n: 1, at: '2026-07-01T12:00:00' }];
		expect(outcomes(await run('upsert', { items }))).toEqual(['updated']);
		expect(await harness.values('at', 'plans')).toEqual([TWELVE, TWELVE]);
		await harness.sandbox.admin.settings({ dates: 'older' });
		expect(outcomes(await run('upsert', { items, ...goingOn }))).toEqual(['failed']);
	});
});
