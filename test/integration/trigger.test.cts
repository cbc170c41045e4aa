/** The trigger, polled by n8n's engine against a sandbox. */
import type { IDataObject } from 'n8n-workflow';
import { picked } from '../support/engine/engine.cts';
import type { Watching, WatchOptions } from '../support/engine/polls.cts';
import { APP, nextMillisecond, useHarness } from './fixtures.cts';
import { createOrders, ordersPath, watchOrders } from './triggerFixtures.cts';

const harness = useHarness();

const start = (more?: IDataObject, options?: WatchOptions) => watchOrders(harness, more, options);
const create = (...numbers: string[]) => createOrders(harness, ...numbers);

async function change(number: string, fields: IDataObject) {
	const record = (await harness.records()).find((order) => order.fields.number === number)!;
	const { status } = await harness.sandbox.client().patch(ordersPath(`/${record.id}`), { fields });
	expect(status).toBe(200);
	await nextMillisecond();
}

/** What a poll emits, such as `created 1`. */
const emitted = async (watching: Watching) =>
	(await watching.poll())?.map(({ json }) => {
		const { number } = json as { number: string };
		return `${String(json.event)} ${number}`;
	}) ?? null;

const failureOf = async (watching: Watching, mode: 'trigger' | 'manual' = 'trigger') => {
	const error = await watching.poll(mode).then(
		() => undefined,
		(caught: unknown) => caught,
	);
	return error as { message: string; description: string; httpCode?: string; failure?: IDataObject } | undefined;
};

describe('the start', () => {
	test('now: no existing record, one item for each change', async () => {
		await create('1', '2');
		const watching = await start();
		expect(await watching.poll()).toBeNull();
		expect(await watching.poll()).toBeNull();
		await create('3');
		const items = await watching.poll();
		const [stored] = (await harness.records()).slice(-1);
		expect(items?.map(({ json }) => json)).toEqual([
			expect.objectContaining({
				event: 'created',
				id: stored!.id,
				created: expect.any(String) as string,
				modified: expect.any(String) as string,
				ver: 0,
				number: '3',
				buyer: 'Fox',
			}),
		]);
		await change('1', { buyer: 'Hare' });
		expect(await emitted(watching)).toEqual(['updated 1']);
		expect(await watching.poll()).toBeNull();
	});

	test('the beginning: everything, the oldest change first', async () => {
		await create('1', '2', '3');
		await change('1', { buyer: 'Hare' });
		const watching = await start({ startFrom: 'beginning' });
		expect(await emitted(watching)).toEqual(['created 2', 'created 3', 'created 1']);
		expect(await watching.poll()).toBeNull();
	});

	test('a date, with its zone', async () => {
		await create('1');
		await new Promise((resolve) => setTimeout(resolve, 5));
		const startDate = new Date().toISOString();
		await create('2');
		const watching = await start({ startFrom: 'date', startDate });
		expect(await emitted(watching)).toEqual(['created 2']);
	});

	test("a date without a zone is one of the workflow's", async () => {
		await create('1');
		const local = (timeZone: string, time: number) => new Date(time).toLocaleString('sv', { timeZone }).replace(' ', 'T');
		const [earlier, later] = [Date.now() - 60_000, Date.now() + 60_000];
		for (const timezone of ['Asia/Tokyo', 'America/Lima']) {
			const begin = async (time: number) => await start({ startFrom: 'date', startDate: local(timezone, time) }, { timezone });
			expect(await emitted(await begin(earlier))).toEqual(['created 1']);
			expect(await emitted(await begin(later))).toBeNull();
		}
	});
});

describe('what it watches', () => {
	test('the records that a filter finds', async () => {
		const watching = await start({
			startFrom: 'beginning',
			filterMode: 'conditions',
			conditions: { condition: [{ field: 'buyer', operator: 'eq', value: 'Hare' }] },
		});
		await create('1', '2');
		await change('2', { buyer: 'Hare' });
		expect(await emitted(watching)).toEqual(['created 2']);
	});

	test('the records of a saved view', async () => {
		const { data } = await harness.sandbox.client().get(`/apps/${APP}/tables/orders`);
		const [view] = data.data.settings.userFilters as Array<{ id: string }>;
		const watching = await start({ startFrom: 'beginning', options: { savedView: view!.id } });
		await create('1', '2');
		await change('1', { state: 'open' });
		expect(await emitted(watching)).toEqual(['created 1']);
	});

	test('only new records, only changed ones', async () => {
		const created = await start({ triggerOn: 'created', startFrom: 'beginning' });
		const updated = await start({ triggerOn: 'updated', startFrom: 'beginning' });
		await create('1');
		expect([await emitted(created), await emitted(updated)]).toEqual([['created 1'], null]);
		await change('1', { buyer: 'Hare' });
		expect([await emitted(created), await emitted(updated)]).toEqual([null, ['updated 1']]);
	});

	test('the item has the fields to load, and no others', async () => {
		const watching = await start({ startFrom: 'beginning', options: { fieldsToLoad: ['number'], watchedFields: ['state'] } });
		await create('1');
		const items = await watching.poll();
		expect(Object.keys(items![0]!.json)).toEqual(['event', 'number', 'id', 'created', 'modified', 'ver']);
	});

	test('only an update of watched fields', async () => {
		const watching = await start({ startFrom: 'beginning', options: { watchedFields: ['state'] } });
		await create('1');
		expect(await emitted(watching)).toEqual(['created 1']);
		await change('1', { buyer: 'Hare' });
		expect(await emitted(watching)).toBeNull();
		await change('1', { state: 'open' });
		expect(await emitted(watching)).toEqual(['updated 1']);
	});

	test('the table by its name without an application', async () => {
		const watching = await start({ startFrom: 'beginning', application: picked('') });
		await create('1');
		expect(await emitted(watching)).toEqual(['created 1']);
	});
});

describe('a test from the editor', () => {
	test('gives the latest record and leaves the cursor alone', async () => {
		const watching = await start();
		await watching.poll();
		await create('1', '2');
		const before = watching.staticData();
		const items = await watching.poll('manual');
		expect(items?.map(({ json }) => [json.event, json.number])).toEqual([['created', '2']]);
		expect(watching.staticData()).toBe(before);
		expect(await emitted(watching)).toEqual(['created 1', 'created 2']);
	});

	test('says so if no record matches', async () => {
		const failure = await failureOf(await start(), 'manual');
		expect(failure?.message).toBe('No record matches');
		expect(failure?.description).toMatch(/Add a record/);
	});
});

describe('what is stored', () => {
	test('the same settings continue where they were', async () => {
		const watching = await start();
		await watching.poll();
		await create('1');
		const again = await start({ options: { maxRecordsPerPoll: 7, overlap: 300 } }, { staticData: watching.staticData() });
		expect(await emitted(again)).toEqual(['created 1']);
	});

	test('another filter starts over', async () => {
		const watching = await start();
		await watching.poll();
		await create('1');
		const filter = { filterMode: 'conditions', conditions: { condition: [{ field: 'number', operator: 'notempty' }] } };
		const other = await start(filter, { staticData: watching.staticData() });
		expect(await emitted(other)).toBeNull();
		await create('2');
		expect(await emitted(other)).toEqual(['created 2']);
	});

	test('a filter that is computed is the same filter tomorrow', async () => {
		const watching = await start({
			filterMode: 'conditions',
			conditions: { condition: [{ field: 'number', operator: 'neq', value: '={{ Math.random() }}' }] },
		});
		await watching.poll();
		await create('1');
		expect(await emitted(watching)).toEqual(['created 1']);
	});
});

describe("n8n's back-off learns", () => {
	const failing = async (fault: Record<string, unknown>) => {
		const watching = await start();
		await watching.poll();
		await harness.faults({ fault: { kind: 'status', ...fault } });
		return await failureOf(watching);
	};

	test('how long the platform asks to wait', async () => {
		expect(await failing({ status: 429, retryAfterSeconds: 3600 })).toMatchObject({
			httpCode: '429',
			failure: { cause: 'rate-limited', retryAfterMs: 3_600_000 },
		});
	});

	test('that the token is not accepted', async () => {
		expect(await failing({ status: 401 })).toMatchObject({ httpCode: '401', failure: { cause: 'credential-invalid' } });
	});

	test('that the platform is down for a while', async () => {
		expect(await failing({ status: 503, retryAfterSeconds: 600 })).toMatchObject({
			httpCode: '503',
			failure: { cause: 'temporarily-unavailable', retryAfterMs: 600_000 },
		});
	});
});

test('a poll with nothing new is one request', async () => {
	await create('1');
	await nextMillisecond();
	await create('2');
	// A record from before the overlap shows that no more can be new.
	const watching = await start({ options: { overlap: 0 } });
	await watching.poll();
	await harness.sandbox.admin.clearRequests();
	await watching.poll();
	const requests = await harness.requests();
	expect(requests.map(({ method, path: where }) => `${method} ${where}`)).toEqual([`GET /api/v2${ordersPath()}`]);
});
