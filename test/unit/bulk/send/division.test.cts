/** Rejected batches that name no record: which records are written, and what it takes. */
import type { IHttpRequestOptions } from 'n8n-workflow';
import type { Task } from '../../../../nodes/DataPlatform/bulk/terms.ts';
import { SeededRandom } from '../../../support/seededRandom.mts';
import { entriesOf, records, writeRecords, writtenData } from '../../bulkWrites.cts';
import { httpResponse } from '../../stubPlatform.cts';

const LIMIT = 'The limit is reached';
const positionsOf = (request: IHttpRequestOptions) => entriesOf(request).map(({ fields }) => Number(fields.email.slice(1)));
const rejection = (message: string) => httpResponse(400, { errors: [{ message }] });
const html = (status: number) => httpResponse(status, '<html>');

/** The platform rejects each batch with a bad record, in the same words. */
async function write(count: number, isBad: (position: number) => boolean, options: Partial<Task> = {}, response = rejection(LIMIT)) {
	const { outcomes, stopped, sent, writes, batches } = await writeRecords({
		planned: records(count),
		serve: (request) => {
			const data = writtenData(request);
			if (positionsOf(request).some(isBad)) return response;
			return httpResponse(200, { bulk: { successCount: data.length, insertedCount: data.length, updatedCount: 0 }, data });
		},
		options: { mode: 'create', ...options },
	});
	const written = outcomes.flatMap(({ outcome }, index) => (outcome === 'inserted' ? [index] : []));
	const untried = outcomes.flatMap(({ notAttempted }, index) => (notAttempted ? [index] : []));
	const order = writes
		.map(positionsOf)
		.filter((batch) => !batch.some(isBad))
		.flat();
	return { outcomes, stopped: stopped?.message, requests: sent.length, batches, written, untried, order };
}

const positions = (count: number, isKept = (_position: number) => true) =>
	Array.from({ length: count }, (_, index) => index).filter(isKept);

beforeEach(() => {
	const random = new SeededRandom(1);
	jest.spyOn(Math, 'random').mockImplementation(() => random.next());
});
afterEach(() => jest.restoreAllMocks());

test.each<[what: string, count: number, bad: number[], requests: number]>([
	['none of 1,000', 1000, [], 1],
	['the first of 1,000', 1000, [0], 9],
	['the second of 1,000', 1000, [1], 16],
	['one amid 1,000', 1000, [499], 21],
	['the last of 1,000', 1000, [999], 21],
	['two of 1,000, one in each half', 1000, [100, 900], 42],
	['nine of 1,000', 1000, [1, 2, 3, 4, 5, 6, 7, 8, 9], 34],
	['one of 2,500', 2500, [1200], 25],
])('%s bad: all others are written', async (_, count, bad, requests) => {
	const run = await write(count, (position) => bad.includes(position));
	expect(run.written).toEqual(positions(count, (position) => !bad.includes(position)));
	expect(run.stopped).toBeUndefined();
	expect(run.requests).toBeLessThanOrEqual(requests);
});

test.each<[what: string, Partial<Task>, response: ReturnType<typeof rejection>, words: string, most: number]>([
	['creates', {}, rejection(LIMIT), LIMIT, 13],
	['upserts', { mode: 'upsert' }, rejection(LIMIT), LIMIT, 24],
	['single requests', { batchSize: 1 }, rejection(LIMIT), LIMIT, 10],
	['creates, with 409', {}, httpResponse(409, { errors: [{ message: LIMIT }] }), LIMIT, 13],
	['creates, as the storage is full', {}, httpResponse(507, { errors: [{ message: LIMIT }] }), `${LIMIT} (507)`, 13],
	['creates, with 413', {}, httpResponse(413, { errors: [{ message: LIMIT }] }), `${LIMIT} (413)`, 25],
	...[403, 405, 406, 414].map((status): [string, Partial<Task>, ReturnType<typeof rejection>, string, number] => [
		`creates, by a gateway with ${status}`,
		{},
		html(status),
		`Something between n8n and the platform, such as a firewall, refused the request (${status})`,
		13,
	]),
])('if all of 12,000 are rejected, a handful of requests shows it: %s', async (_, options, response, words, most) => {
	const run = await write(12_000, () => true, options, response);
	expect(run.requests).toBeLessThanOrEqual(most);
	expect(run.stopped).toBe(`${words}; 10 items, each sent by itself, were rejected with these words`);
	expect(run.outcomes.filter(({ outcome }) => outcome !== 'failed')).toEqual([]);
	expect(run.untried.length).toBeGreaterThan(11_950);
	expect(run.outcomes[run.untried[0]!]!.message).toBe(`Not sent, the run stopped before: ${run.stopped!}`);
	const alone = run.outcomes.filter(({ notAttempted }) => !notAttempted);
	expect(new Set(alone.map(({ message }) => message))).toEqual(new Set([words]));
});

test.each([403, 405, 406, 414])('a gateway dislikes one of 2,500 with %i: all others are written, and it is named', async (status) => {
	const run = await write(2500, (position) => position === 1234, {}, html(status));
	expect(run.written).toHaveLength(2499);
	expect(run.outcomes[1234]).toMatchObject({ outcome: 'failed', status, message: expect.stringContaining('Something between n8n and') });
	expect(run.requests).toBeLessThan(30);
});

test("the platform's own 403 stops at once", async () => {
	const serve = () => httpResponse(403, { errors: [{ message: 'no' }] });
	const run = await writeRecords({ planned: records(2500), serve });
	const { stopped, sent } = run;
	expect(stopped?.message).toBe('no (403)');
	// Three batches at once, and one record by itself.
	expect(sent).toHaveLength(4);
});

test('a limit that is reached amid a run fills up to it', async () => {
	let room = 1300;
	const { outcomes, sent, stopped } = await writeRecords({
		planned: records(5000),
		serve: (request) => {
			const data = writtenData(request);
			if (data.length > room) return rejection(LIMIT);
			room -= data.length;
			return httpResponse(200, { bulk: { successCount: data.length, insertedCount: data.length, updatedCount: 0 }, data });
		},
		options: { mode: 'create' },
	});
	expect(outcomes.filter(({ outcome }) => outcome === 'inserted')).toHaveLength(1300);
	expect(stopped?.message).toContain(LIMIT);
	expect(sent.length).toBeLessThan(45);
});

const settings: Array<Partial<Task>> = [{}, { mode: 'upsert' }, { batchSize: 3 }, { batchSize: 1 }, { batchSize: 3, mode: 'upsert' }];

describe.each(settings)('%j', (options) => {
	test('whichever of eight are bad, a fifth of all patterns: all others are written, creates in order', async () => {
		for (let pattern = settings.indexOf(options); pattern < 256; pattern += settings.length) {
			const isBad = (position: number) => ((pattern >> position) & 1) === 1;
			const run = await write(8, isBad, options);
			const good = positions(8, (position) => !isBad(position));
			expect([pattern, run.written]).toEqual([pattern, good]);
			const hasFiveInARow = /1{5}/.test(pattern.toString(2));
			if (options.mode !== 'upsert' && !hasFiveInARow) expect(run.order).toEqual(good);
		}
	});

	test('whichever of 200 are bad: no other fails, and only those that are not tried are left', async () => {
		const random = new SeededRandom(7);
		for (let round = 0; round < 8; round += 1) {
			const share = random.next() ** 2;
			const bad = new Set(positions(200, () => random.next() < share));
			const run = await write(200, (position) => bad.has(position), options);
			const good = positions(200, (position) => !bad.has(position));
			expect(good.filter((position) => !run.written.includes(position) && !run.untried.includes(position))).toEqual([]);
			expect(run.written.filter((position) => bad.has(position))).toEqual([]);
			if (bad.size < 10) expect(run.written).toEqual(good);
			if (share < 0.3) expect(run.untried).toEqual([]);
		}
	});
});
