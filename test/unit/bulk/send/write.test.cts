/** When the scheduler sends what: batches, requests at once, stopping, cancellation. */
import type { IHttpRequestOptions } from 'n8n-workflow';
import { writeMany } from '../../../../nodes/DataPlatform/bulk/send/write.ts';
import { entriesOf, isWrite, nothingFound, records, TIME, writeRecords, writeTo, written, writtenData } from '../../bulkWrites.cts';
import { httpResponse, pageResponse, fakePlatform, networkError, type Serve } from '../../stubPlatform.cts';

const keysOf = (options: IHttpRequestOptions) => entriesOf(options).map(({ fields }) => fields.email);

/** The response to a batch of which everything is inserted. */
const inserted = (request: IHttpRequestOptions) => {
	const data = writtenData(request);
	const { length } = data;
	return httpResponse(200, { bulk: { successCount: length, insertedCount: length, updatedCount: 0 }, data });
};
const status = (code: number, headers = {}) => httpResponse(code, { errors: [{ message: 'no' }] }, headers);

type Setup = Partial<Parameters<typeof writeRecords>[0]> & { count: number };

/** Writes records to a stub; what was sent and what came of each record. */
async function write({ count, serve = inserted, planned = records(count), ...setup }: Setup) {
	const run = await writeRecords({ planned, serve, ...setup });
	const { outcomes, stopped, sent, writes, batches, mostUnderWay } = run;
	expect(Object.keys(outcomes)).toHaveLength(count);
	return {
		outcomes: outcomes.map(({ outcome, notAttempted }) => (notAttempted ? 'not sent' : outcome)),
		messages: outcomes.map(({ message }) => message),
		batches,
		keys: writes.map(keysOf),
		requests: sent.length,
		stopped: stopped?.message,
		delivery: stopped?.delivery,
		mostUnderWay,
	};
}

const times = <Value,>(count: number, value: Value) => Array.from({ length: count }, () => value);

describe('batches and requests at once', () => {
	test('upserts: spread over several at once', async () => {
		const { batches, mostUnderWay, outcomes } = await write({ count: 12_000 });
		expect(mostUnderWay).toBe(12);
		expect(batches).toEqual(times(12, 1000));
		expect(outcomes).toEqual(times(12_000, 'inserted'));
	});

	test('creates: one at a time, in the order of the items', async () => {
		const { keys, mostUnderWay } = await write({ count: 2000, options: { mode: 'create' } });
		expect(mostUnderWay).toBe(1);
		expect(keys.map(({ length }) => length)).toEqual(times(2, 1000));
		expect(keys.flat()).toEqual(records(2000).map(({ key }) => key));
	});
});

describe('a failure', () => {
	/** The batch with this record is rejected by name of the record. */
	const failing =
		(key: string): Serve =>
		(request) => {
			const at = keysOf(request).indexOf(key);
			if (at < 0) return inserted(request);
			const data = writtenData(request).filter((_, index) => index !== at);
			return httpResponse(200, {
				bulk: { successCount: data.length, insertedCount: data.length, updatedCount: 0 },
				data,
				errors: [{ message: 'bad', RecordIndex: at }],
			});
		};
	const options = { batchSize: 2, parallelRequests: 2 };

	test('ends a run that is to stop; what is under way is still resolved', async () => {
		const { outcomes, batches, stopped, messages } = await write({
			count: 9,
			serve: failing('k1'),
			options: { ...options, stopAtFailure: true },
		});
		expect(batches).toEqual([2, 2]);
		expect(outcomes).toEqual(['inserted', 'failed', 'inserted', 'inserted', ...times(5, 'not sent')]);
		expect(stopped).toBe('an earlier item did not succeed');
		expect(messages[8]).toBe('Not sent, the run stopped before: an earlier item did not succeed');
	});

	test('also keeps the rest of a divided batch from being sent', async () => {
		const serve: Serve = (request) => (keysOf(request).includes('k0') ? status(400) : inserted(request));
		const { outcomes, batches } = await write({ count: 6, serve, options: { batchSize: 4, parallelRequests: 1, stopAtFailure: true } });
		expect(batches).toEqual([4, 2, 1]);
		expect(outcomes).toEqual(['failed', ...times(5, 'not sent')]);
	});

	test('does not end a run that is to go on', async () => {
		const { outcomes, stopped } = await write({ count: 9, serve: failing('k1'), options });
		expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(8);
		expect(stopped).toBeUndefined();
	});

	test('of the token amid a divided batch ends the run, and nothing needs to be looked up', async () => {
		const lookedUp: unknown[] = [];
		const serve: Serve = (request, number) => {
			if (!isWrite(request)) {
				lookedUp.push(JSON.parse(String(request.body)));
				return nothingFound();
			}
			return number === 1 ? status(400) : status(401);
		};
		const { outcomes, batches } = await write({ count: 5, serve, options: { parallelRequests: 1 } });
		expect(batches).toEqual([5, 3]);
		expect(outcomes).toEqual([...times(3, 'failed'), ...times(2, 'not sent')]);
		expect(lookedUp).toEqual([]);
	});
});

describe('a platform that reads but takes no write', () => {
	const failing =
		(from: number, to = Infinity): Serve =>
		(request, number) => {
			if (!isWrite(request)) return nothingFound();
			const isDown = number >= from && number < to;
			return isDown ? status(500) : inserted(request);
		};

	test.each<['create' | 'upsert', number]>([
		['create', 300_000],
		['create', 0],
		['upsert', 0],
	])('stops a run that sends no batch again: %s, %d ms to wait', async (mode, retryBudgetMs) => {
		const { outcomes, batches, stopped, delivery } = await write({
			count: 1000,
			serve: failing(2),
			options: { mode, batchSize: 1, parallelRequests: 1 },
			retryBudgetMs,
		});
		expect(batches).toHaveLength(16);
		expect(outcomes).toEqual(['inserted', ...times(15, 'unknown'), ...times(984, 'not sent')]);
		expect(stopped).toContain('15 requests in a row may or may not have written their records');
		expect(delivery).toBe('ambiguous');
		// And why: what the last one failed with.
		expect(stopped).toContain(': The platform');
	});

	/** Responses are lost; of the records that were sent, some are found afterwards. */
	const losing = (isFound: (number: number) => boolean): Serve => {
		const sent = new Set<number>();
		return (request) => {
			if (isWrite(request)) {
				for (const key of keysOf(request)) sent.add(Number(key.slice(1)));
				return status(500);
			}
			const found = [...sent]
				.filter(isFound)
				.map((number) => ({ id: `id-${number}`, created: TIME, modified: TIME, ver: 0, fields: { email: `k${number}`, surname: 'Fox' } }));
			return pageResponse(request, found);
		};
	};

	test.each<[what: string, batchSize: number, isFound: (number: number) => boolean]>([
		['all', 1, () => true],
		['one of each batch', 2, (number) => number % 2 === 0],
	])('but wrote what it did not confirm, goes on: %s', async (_, batchSize, isFound) => {
		const { outcomes, stopped } = await write({ count: 30, serve: losing(isFound), options: { batchSize, parallelRequests: 1 } });
		expect(outcomes).toEqual(Array.from({ length: 30 }, (__, number) => (isFound(number) ? 'written' : 'unknown')));
		expect(stopped).toBeUndefined();
	});

	test('and rejects a batch in between, goes on: it is there', async () => {
		const lost = losing(() => false);
		const { outcomes, stopped } = await write({
			count: 18,
			serve: (request, number) => (isWrite(request) && keysOf(request)[0] === 'k8' ? status(400) : lost(request, number)),
			options: { batchSize: 1, parallelRequests: 1 },
		});
		expect(outcomes).toEqual([...times(8, 'unknown'), 'failed', ...times(9, 'unknown')]);
		expect(stopped).toBeUndefined();
	});

	test('but some, goes on', async () => {
		let writes = 0;
		const serve: Serve = (request) => {
			if (!isWrite(request)) return nothingFound();
			writes += 1;
			return writes % 10 === 0 ? inserted(request) : status(500);
		};
		const { outcomes, stopped } = await write({ count: 40, serve, options: { mode: 'create', batchSize: 1, parallelRequests: 1 } });
		expect(stopped).toBeUndefined();
		expect(outcomes.filter((outcome) => outcome === 'unknown')).toHaveLength(36);
	});
});

test('what a lost request may have written is looked up, also if the run stops before it is sent again', async () => {
	let writes = 0;
	const serve: Serve = (request) => {
		if (isWrite(request)) {
			writes += 1;
			// Written without a response; the retry is rejected as too large; then the token expires.
			return writes === 1 ? networkError('ECONNRESET') : status(writes === 2 ? 413 : 401);
		}
		const keys = [...new Set(String(request.body).match(/k\d/g))];
		return pageResponse(
			request,
			keys.map((key) => ({ id: `id-${key}`, created: TIME, modified: TIME, ver: 0, fields: { email: key, surname: 'Fox' } })),
		);
	};
	const { batches, outcomes } = await write({ count: 9, serve, options: { batchSize: 5, parallelRequests: 1 }, retryBudgetMs: 5000 });
	expect(batches).toEqual([5, 5, 3]);
	expect(outcomes).toEqual([...times(5, 'written'), ...times(4, 'not sent')]);
});

test('rejected batches are divided a bounded number of times', async () => {
	const { outcomes, requests, messages } = await write({
		count: 3000,
		serve: (request) => httpResponse(400, { errors: [{ message: `no ${keysOf(request)[0]}` }] }),
		options: { batchSize: 1000, parallelRequests: 1 },
	});
	expect(new Set(outcomes)).toEqual(new Set(['failed', 'not sent']));
	expect(requests).toBeLessThan(2200);
	expect(messages[2999]).toContain('1000 rejected batches were divided');
});

test('an execution that is canceled sends no further batch', async () => {
	const fake = fakePlatform((request, number) => {
		if (number === 2) fake.cancel();
		return inserted(request);
	});
	const outcomes: string[] = [];
	const toCancel = writeTo(fake.connection, { batchSize: 2, parallelRequests: 1 });
	await writeMany(toCancel, records(10), ({ index }, { outcome }) => (outcomes[index] = outcome));
	expect(fake.sent).toHaveLength(2);
	expect(outcomes).toEqual([...times(4, 'inserted'), ...times(6, 'failed')]);
	expect(toCancel.session.stopped?.message).toContain('canceled');
});

describe('comparing first', () => {
	const filterOf = ({ body }: IHttpRequestOptions) => JSON.parse(String(body)) as { filter: unknown };
	const options = { skipUnchanged: true };

	/** Of the records that are asked for, those with an even number are stored as they are sent. */
	const evenStored: Serve = (request) => {
		if (isWrite(request)) return inserted(request);
		const text = JSON.stringify(filterOf(request));
		const asked = [...new Set([...text.matchAll(/k(\d+)/g)].map(([, number]) => Number(number)))];
		const stored = asked
			.filter((number) => number % 2 === 0)
			.map((number) => ({ id: `id-${number}`, created: TIME, modified: TIME, ver: 0, fields: { email: `k${number}`, surname: 'Fox' } }));
		return pageResponse(request, stored);
	};

	test('each record is read once, and sent once or not at all', async () => {
		const { outcomes, keys, requests, mostUnderWay } = await write({ count: 5000, serve: evenStored, options });
		expect(outcomes).toEqual(Array.from({ length: 5000 }, (_, index) => (index % 2 === 0 ? 'unchanged' : 'inserted')));
		const sent = keys.flat();
		expect(sent).toHaveLength(2500);
		expect(new Set(sent).size).toBe(2500);
		expect(mostUnderWay).toBe(5);
		// Five requests found 500 of 1,000 records each, no fewer than any before, so that one more showed
		// that these were all.
		expect(requests - keys.length).toBe(5 + 5);
	});

	test('batches are filled across the windows that are read', async () => {
		const { batches } = await write({ count: 3000, serve: evenStored, options: { ...options, batchSize: 1000 } });
		expect(batches).toEqual([1000, 500]);
	});

	test('new and changed records, in turn, take a request for each kind', async () => {
		const serve: Serve = (request) => {
			if (isWrite(request)) return written(request);
			const stored = records(1000).filter(({ index }) => index % 2 === 0);
			return pageResponse(
				request,
				stored.map(({ key }) => ({ id: `id-${key}`, created: TIME, modified: TIME, ver: 0, fields: { email: key, surname: 'Old' } })),
			);
		};
		const { batches } = await write({ count: 1000, serve, options });
		expect(batches).toEqual([500, 500]);
	});

	test('what was replaced is reported, if it is asked for', async () => {
		const stored = [0, 1].map((at) => ({
			id: `x${at}`,
			created: TIME,
			modified: TIME,
			ver: 0,
			fields: { email: `k${at}`, surname: at ? 'Fox' : 'Old' },
		}));
		const serve: Serve = (request) => (isWrite(request) ? inserted(request) : pageResponse(request, stored));
		const previous = async (more: object) => {
			const { outcomes } = await writeRecords({ planned: records(3), serve, options: { ...options, ...more } });
			return outcomes.map((item) => item.previous);
		};
		expect(await previous({ returnsPrevious: true })).toEqual([{ surname: 'Old' }, undefined, undefined]);
		expect(await previous({})).toEqual([undefined, undefined, undefined]);
	});

	test('of a key that several records have, nothing is sent: nobody can tell which one is meant', async () => {
		const twins = ['x', 'y'].map((id) => ({ id, created: TIME, modified: TIME, ver: 0, fields: { email: 'k0', surname: 'Old' } }));
		const serve: Serve = (request) => (isWrite(request) ? inserted(request) : pageResponse(request, twins));
		const { outcomes, messages, keys } = await write({ count: 2, serve, options });
		expect(outcomes).toEqual(['failed', 'inserted']);
		expect(messages[0]).toBe("2 records match 'k0': 'x', 'y'");
		expect(keys).toEqual([['k1']]);
	});

	test('if a read fails, nothing is sent of what was not compared', async () => {
		const { outcomes, batches, stopped } = await write({
			count: 3000,
			serve: () => status(401),
			options: { ...options, parallelRequests: 1 },
		});
		expect(batches).toEqual([]);
		expect(outcomes).toEqual([...times(1000, 'failed'), ...times(2000, 'not sent')]);
		expect(stopped).toContain('did not accept the token');
	});
});
