import { byId, expectFailed, goingOn, note, numbered, outcomes, UNKNOWN_ID, useHarness } from './fixtures.cts';
import { useStubServer } from './useStubServer.cts';

const harness = useHarness();

describe('silent skips', () => {
	beforeEach(() => harness.faults({ match: { path: '/data/bulk$' }, fault: { kind: 'skipRecords', indexes: [1] } }));

	test.each(['create', 'upsert'])('%s: an item that the platform skips silently has failed', async (operation) => {
		const result = await harness.run(operation, { ...goingOn, items: numbered(3) });
		expect(outcomes(result)).toEqual(['inserted', 'failed', 'inserted']);
		expectFailed(result, 1, 'it counted 2 of 3 records as written');
		const [first, third] = await harness.records();
		expect(result.json().map(({ id }) => id)).toEqual([first!.id, undefined, third!.id]);
	});

	test('create without an import key: nothing tells which item was skipped', async () => {
		const result = await harness.run('create', { ...goingOn, table: 'notes', items: [note('a'), note('b'), note('c')] });
		expect(outcomes(result)).toEqual(['unknown', 'unknown', 'unknown']);
		expect(await harness.values('text', 'notes')).toEqual(['a', 'c']);
	});

	test('update: an unchanged record is written, because nobody counted it; a skipped one failed; a missing one was not found', async () => {
		const [same, skipped, third] = (await harness.fill('orders', ...numbered(3))).map(({ id }) => id);
		const changed = [skipped, UNKNOWN_ID, third].map((id) => ({ id, buyer: 'changed' }));
		const result = await harness.run('update', { ...goingOn, items: [{ id: same, buyer: 'Buyer 1' }, ...changed], parameters: byId });
		expect(outcomes(result)).toEqual(['written', 'failed', 'notFound', 'updated']);
		expectFailed(result, 1, `holds "Buyer 2" in 'buyer'`, { field: 'buyer', id: skipped });
		expect(await harness.values('buyer')).toEqual(['Buyer 1', 'Buyer 2', 'changed']);
	});
});

describe('a response that is not JSON', () => {
	test.each(['create', 'upsert'])('%s: the outcome is unknown after a response that is not JSON', async (operation) => {
		await harness.faults({ match: { path: '/data/bulk$', method: 'POST' }, fault: { kind: 'html', status: 200 } });
		const result = await harness.run(operation, { ...goingOn, items: numbered(2), options: { maxRetryWait: 0.3 } });
		expect(outcomes(result)).toEqual(['unknown', 'unknown']);
		expectFailed(result, 0, /could not be read \(text\/html/);
		expect(await harness.records()).toEqual([]);
	});

	test('a response that is not JSON to a read is an error', async () => {
		await harness.faults({ fault: { kind: 'html', status: 200 } });
		const result = await harness.run('getAll', { options: { maxRetryWait: 0 } });
		expect(result.error?.message).toContain("The platform's response could not be read (text/html");
	});

	test('a redirect is not followed, and does not get the token', async () => {
		await harness.faults({ fault: { kind: 'redirect', location: 'http://127.0.0.1:9/elsewhere' } });
		const result = await harness.run('getAll');
		expect(result.error?.message).toContain('responded with a redirect (307), which is not followed');
	});
});

describe('a table with a field whose type is not reported', () => {
	const platform = useStubServer();
	const record = { id: 'r1', created: 'c', modified: 'c', ver: 0, fields: { name: 'x', mute: 5 } };

	beforeEach(() => {
		const items = [{ name: 'name', header: 'Name', type: 'text' }, { name: 'mute' }];
		const table = { id: 't', internalNameApi: 'orders', header: 'Orders', items };
		const written = { data: [record], bulk: { successCount: 1 } };
		platform.respond = ({ target, method }) => {
			if (method === 'POST') return { body: JSON.stringify(written) };
			return { body: JSON.stringify({ data: target.includes('/data') ? [] : table }) };
		};
	});

	const run = async (json: object) => await harness.run('create', { credential: { baseUrl: platform.origin }, items: [json] });

	test('a table with a field of no reported type: the other fields are written', async () => {
		const result = await run({ name: 'x' });
		expect(result.json()).toMatchObject([{ id: 'r1' }]);
		const write = platform.requests.find(({ method }) => method === 'POST');
		expect(JSON.parse(write!.body)).toEqual({ bulk: [{ fields: { name: 'x' } }] });
	});

	test('a field of no reported type is left out, and a notice names it', async () => {
		const { hints } = await run({ name: 'x', mute: 5 });
		expect(hints).toContainEqual(expect.stringContaining("'mute'"));
		const write = platform.requests.find(({ method }) => method === 'POST');
		expect(JSON.parse(write!.body)).toEqual({ bulk: [{ fields: { name: 'x' } }] });
	});
});
