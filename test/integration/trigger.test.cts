/** The trigger, polled by n8n's engine against a sandbox. */
import { picked } from '../support/engine/engine.cts';
import { useHarness, where } from './fixtures.cts';
import { failureOf, watchedOrders } from './triggerFixtures.cts';

const harness = useHarness();
const { start, create, change, emitted } = watchedOrders(harness);

describe('the start', () => {
	test('a trigger that starts now emits no existing record, then one item for each change', async () => {
		await create('1', '2');
		const watching = await start();
		expect(await watching.poll()).toBeNull();
		expect(await watching.poll()).toBeNull();
		await create('3');
		const [item, ...others] = (await watching.poll())!;
		const times = { created: expect.any(String) as string, modified: expect.any(String) as string };
		expect(item!.json).toMatchObject({ event: 'created', id: await harness.idOf('3'), ...times, ver: 0, number: '3', buyer: 'Fox' });
		expect(others).toEqual([]);
		await change('1');
		expect(await emitted(watching)).toEqual(['updated 1']);
		expect(await watching.poll()).toBeNull();
	});

	test('one that starts at the beginning emits everything, the oldest change first', async () => {
		await create('1', '2', '3');
		await change('1');
		const watching = await start({ startFrom: 'beginning' });
		expect(await emitted(watching)).toEqual(['created 2', 'created 3', 'created 1']);
		expect(await watching.poll()).toBeNull();
	});

	test('one that starts at a date with a zone emits what changed after it', async () => {
		await create('1');
		await new Promise((resolve) => setTimeout(resolve, 5));
		const startDate = new Date().toISOString();
		await create('2');
		const watching = await start({ startFrom: 'date', startDate });
		expect(await emitted(watching)).toEqual(['created 2']);
	});

	test("a date without a zone is in the workflow's time zone", async () => {
		await create('1');
		const local = (timeZone: string, time: number) => new Date(time).toLocaleString('sv', { timeZone }).replace(' ', 'T');
		const [earlier, later] = [Date.now() - 60_000, Date.now() + 60_000];
		for (const timezone of ['Asia/Tokyo', 'America/Lima']) {
			const begin = async (time: number) => await start({ startFrom: 'date', startDate: local(timezone, time) }, { timezone });
			expect(await emitted(await begin(earlier))).toEqual(['created 1']);
			await expect((await begin(later)).poll()).rejects.toThrow(
				`'Date' is in the future: ${local(timezone, later).replace('T', ' ').slice(0, 16)} in ${timezone} is `,
			);
			const instant = await start({ startFrom: 'date', startDate: new Date(later).toISOString() }, { timezone });
			const failure = (await instant.poll().catch((error: unknown) => error)) as { description: string };
			const advised = Date.parse(/\{\{ '(.*)' \}\}/.exec(failure.description)![1]!);
			// An instant has no other meaning: the advice is the present, in whole seconds.
			expect(advised).toBeGreaterThan(earlier);
			expect(advised).toBeLessThanOrEqual(Date.now());
		}
	});
});

describe('what it watches', () => {
	test('it emits only records that its filter finds', async () => {
		const watching = await start({ startFrom: 'beginning', ...where({ field: 'buyer', operator: 'eq', value: 'Hare' }) });
		await create('1', '2');
		await change('2');
		expect(await emitted(watching)).toEqual(['created 2']);
	});

	test('it emits only records of its saved view', async () => {
		const watching = await start({ startFrom: 'beginning', options: { savedView: await harness.savedView() } });
		await create('1', '2');
		await change('1', { state: 'open' });
		expect(await emitted(watching)).toEqual(['created 1']);
	});

	test.each(['created', 'later'])('Trigger On chooses new or changed records, if new ones are modified %s', async (newRecordModified) => {
		await harness.settings({ newRecordModified });
		const created = await start({ triggerOn: 'created', startFrom: 'beginning' });
		const updated = await start({ triggerOn: 'updated', startFrom: 'beginning' });
		await create('1');
		expect([await emitted(created), await emitted(updated)]).toEqual([['created 1'], null]);
		await change('1');
		expect([await emitted(created), await emitted(updated)]).toEqual([null, ['updated 1']]);
	});

	test('its items have the fields to load, and no others', async () => {
		const watching = await start({ startFrom: 'beginning', options: { fieldsToLoad: ['number'], watchedFields: ['state'] } });
		await create('1');
		const [item] = (await watching.poll())!;
		expect(Object.keys(item!.json)).toEqual(['event', 'number', 'id', 'created', 'modified', 'ver']);
	});

	test('with watched fields, it emits an update only if one of them changed, and says which', async () => {
		const watching = await start({ startFrom: 'beginning', options: { watchedFields: ['state', 'price'] } });
		await create('1');
		expect(await emitted(watching)).toEqual(['created 1']);
		await change('1');
		expect(await emitted(watching)).toBeNull();
		await change('1', { state: 'open', buyer: 'Cat' });
		const [item] = (await watching.poll())!;
		expect(item!.json).toMatchObject({ event: 'updated', state: 'open', changed: ['state'] });
	});

	test('it finds the table by its name without an application', async () => {
		const watching = await start({ startFrom: 'beginning', application: picked('') });
		await create('1');
		expect(await emitted(watching)).toEqual(['created 1']);
	});
});

describe('a test from the editor', () => {
	test('a test from the editor returns the latest record and leaves the cursor alone', async () => {
		const watching = await start();
		await watching.poll();
		await create('1', '2');
		const before = watching.staticData();
		const items = await watching.poll('manual');
		expect(items?.map(({ json }) => [json.event, json.number])).toEqual([['created', '2']]);
		expect(watching.staticData()).toBe(before);
		expect(await emitted(watching)).toEqual(['created 1', 'created 2']);
	});

	test.each([
		['created', ['created', '2']],
		['updated', ['updated', '1']],
		['createdOrUpdated', ['created', '1']],
	])('of %s shows such an event', async (triggerOn, expected) => {
		await create('1', '2');
		await change('1');
		const items = await (await start({ triggerOn })).poll('manual');
		expect(items?.map(({ json }) => [json.event, json.number])).toEqual([expected]);
	});

	test('a test from the editor says so if no record matches', async () => {
		const description = expect.stringMatching(/Add a record/);
		expect(await failureOf(await start(), 'manual')).toMatchObject({ message: 'No record matches', description });
	});
});

describe('what is stored', () => {
	test('with other options, the trigger continues where it was', async () => {
		const watching = await start();
		await watching.poll();
		await create('1');
		const again = await start({ options: { maxRecordsPerPoll: 7, overlap: 300 } }, { staticData: watching.staticData() });
		expect(await emitted(again)).toEqual(['created 1']);
	});

	test('with another filter, it starts over', async () => {
		const watching = await start();
		await watching.poll();
		await create('1');
		const other = await start(where({ field: 'number', operator: 'notempty' }), { staticData: watching.staticData() });
		expect(await emitted(other)).toBeNull();
		await create('2');
		expect(await emitted(other)).toEqual(['created 2']);
	});

	test('a filter with an expression stays the same filter when its value changes', async () => {
		const watching = await start(where({ field: 'number', operator: 'neq', value: '={{ Math.random() }}' }));
		await watching.poll();
		await create('1');
		expect(await emitted(watching)).toEqual(['created 1']);
	});
});

test.each<[string, string, object, object]>([
	['how long to wait', '429', { status: 429, retryAfterSeconds: 3600 }, { cause: 'rate-limited', retryAfterMs: 3_600_000 }],
	['that the token is not accepted', '401', { status: 401 }, { cause: 'credential-invalid' }],
	['how long it is down', '503', { status: 503, retryAfterSeconds: 600 }, { cause: 'temporarily-unavailable', retryAfterMs: 600_000 }],
])("n8n's back-off learns %s (%s)", async (_, httpCode, fault, failure) => {
	const watching = await start();
	await watching.poll();
	await harness.faults({ fault: { kind: 'status', ...fault } });
	expect(await failureOf(watching)).toMatchObject({ httpCode, failure });
});

test('a poll with nothing new is one request', async () => {
	await create('1', '2');
	// A record from before the overlap shows that no more can be new.
	const watching = await start({ options: { overlap: 0 } });
	await watching.poll();
	await harness.clearRequests();
	await watching.poll();
	expect(await harness.requests()).toMatchObject([{ method: 'GET', path: '/api/v2/apps/shop/tables/orders/data' }]);
});
