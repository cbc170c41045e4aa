/** Reads that are sent before it is certain that they are needed. */
import type { ApiRequest } from '../../../nodes/DataPlatform/transport/exchange.ts';
import { fakePlatform, httpResponse } from '../stubPlatform.cts';

const read = (body: string): ApiRequest => ({ method: 'POST', path: '/x', body, retryMode: 'read' });

const platform = () => fakePlatform((_, count) => httpResponse(200, { data: count }));

test('the same read gets the response, once', async () => {
	const { connection, sent } = platform();
	await connection.readAhead().request(read('a'));
	const numbers = [];
	for (const body of ['a', 'a', 'b']) {
		numbers.push((await connection.request(read(body))).body.data);
	}
	expect(numbers).toEqual([1, 2, 3]);
	expect(sent).toHaveLength(3);
	expect(connection.stats.requests).toBe(3);
});

test('a read that is still under way is not sent again', async () => {
	const { connection, sent } = platform();
	const early = connection.readAhead().request(read('a'));
	expect((await connection.request(read('a'))).body.data).toBe(1);
	await early;
	expect(sent).toHaveLength(1);
});

test('what was read before a write does not count after it', async () => {
	const { connection, sent } = platform();
	await connection.readAhead().request(read('a'));
	await connection.request({ ...read('write'), retryMode: 'idempotent' });
	expect((await connection.request(read('a'))).body.data).toBe(3);
	expect(sent).toHaveLength(3);
});

test('a failure is the response, too', async () => {
	const { connection, sent } = fakePlatform(() => httpResponse(404, {}));
	const early = await connection.readAhead().tryRequest(read('a'));
	expect(await connection.tryRequest(read('a'))).toBe(early);
	expect(sent).toHaveLength(1);
});
