/** A large backlog: emitted over many polls, in bounded memory. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { picked } from '../support/engine/engine.cts';
import { watch } from '../support/engine/polls.cts';
import { APP, useHarness } from './fixtures.cts';

const harness = useHarness();

const RECORDS = 30_000;
const BATCH = 5000;

/** More than the records of one poll, far less than all of them. */
const MOST_GROWTH_MIB = 12;
const MOST_STATE_BYTES = 800_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const heapMib = () => {
	collect();
	return process.memoryUsage().heapUsed / 2 ** 20;
};

const rankOf = (json: object) => (json as { rank: number }).rank;

test('30,000 records changed between two polls are all emitted, in bounded memory', async () => {
	await harness.settings({ history: false });
	const watching = await watch(harness.credential, { application: picked(APP), table: picked('notes'), triggerOn: 'createdOrUpdated' });
	const url = `/apps/${APP}/tables/notes/data`;
	const client = harness.sandbox.client();
	await client.post(url, { fields: { text: 'before' } });
	expect(await watching.poll()).toBeNull();
	for (let start = 0; start < RECORDS; start += BATCH) {
		const bulk = Array.from({ length: BATCH }, (_, index) => ({
			fields: { text: `Note ${start + index} ${'x'.repeat(200)}`, rank: start + index },
		}));
		expect((await client.post(`${url}/bulk`, { bulk })).status).toBe(200);
	}
	const ranks = new Set<number>();
	const before = heapMib();
	let [highest, polls, last] = [0, 0, ''];
	for (; ranks.size < RECORDS && polls < 60; polls += 1) {
		const items = (await watching.poll()) ?? [];
		// A collection takes long, and growth with each poll shows anyway.
		if (polls % 5 === 0) highest = Math.max(highest, heapMib() - before);
		expect(items.length).toBeGreaterThan(0);
		expect(items.length).toBeLessThanOrEqual(1000);
		expect(items.filter(({ json }) => json.event !== 'created')).toEqual([]);
		const earlier = ranks.size;
		for (const { json } of items) ranks.add(rankOf(json));
		expect(ranks.size).toBe(earlier + items.length);
		// Not by their ranks: if the system clock is set back, many records get the same time.
		const times = [last, ...items.map(({ json }) => json.modified as string)];
		expect(times).toEqual([...times].sort());
		last = times.at(-1)!;
		expect(watching.staticData().length).toBeLessThan(MOST_STATE_BYTES);
	}
	expect(ranks.size).toBe(RECORDS);
	expect(highest).toBeLessThan(MOST_GROWTH_MIB);
	expect(await watching.poll()).toBeNull();
	console.log(`${polls} polls, ${highest.toFixed(1)} MiB more at most`);
}, 300_000);
