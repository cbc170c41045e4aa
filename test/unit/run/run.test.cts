/** A run as operations see it, hints, and what a second try knows. */
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { tableAt } from '../../../nodes/DataPlatform/api/table.ts';
import type { TableDefinition } from '../../../nodes/DataPlatform/api/types.ts';
import { text } from '../../../nodes/DataPlatform/parameterKinds/kinds.ts';
import { createClient } from '../../../nodes/DataPlatform/run/createClient.ts';
import { Ledger } from '../../../nodes/DataPlatform/run/ledger.ts';
import { restoreProgress, saveProgress } from '../../../nodes/DataPlatform/run/retryProgress.ts';
import { tableOf } from '../../../nodes/DataPlatform/parameters/select/table.ts';
import { asItems, fakeExecution, fakeRun } from '../fakeNode.cts';
import { httpResponse } from '../stubPlatform.cts';

const name = text('name', { label: 'Name' });

describe('a run', () => {
	test.each([
		['dataPlatformTool', true],
		['Tooling', false],
	])('of a node of the type %s is of an agent’s tool: %s', async (type, isTool) => {
		expect((await fakeRun({}, { node: { type } })).run.isTool).toBe(isTool);
	});

	test.each([
		['of an agent’s tool asks n8n, which knows what the agent passes', 'dataPlatformTool', ['agent', 'agent']],
		['of a node reads what an expression takes from the items', 'dataPlatform', ['a', 'b']],
	])('%s', async (_, type, values) => {
		const { run, context } = await fakeRun({ name: '={{ $json.name }}' }, { node: { type }, items: asItems({ name: 'a' }, { name: 'b' }) });
		const read = context.getNodeParameter.bind(context) as (...given: unknown[]) => unknown;
		Object.assign(context, {
			getNodeParameter: (...given: unknown[]) => ((given[3] as IDataObject | undefined)?.rawExpressions ? read(...given) : 'agent'),
		});
		expect([name.of(run, 0), name.of(run, 1)]).toEqual(values);
	});

	test('gives the items', async () => {
		const { run } = await fakeRun({}, { items: asItems({ a: 1 }) });
		expect([run.json(0), run.json(1)]).toEqual([{ a: 1 }, undefined]);
	});

	test('reads a table’s definition once', async () => {
		const data = { id: 't', items: [{ name: 'a', type: 'text' }] };
		const { run, seen } = await fakeRun(
			{ application: '={{ $json.application }}', table: 't' },
			{ items: asItems({ application: 'a' }, { application: 'b' }), serve: () => httpResponse(200, { data }) },
		);
		expect(tableOf(run, 0).at).toEqual({ application: 'a', table: 't' });
		await tableOf(run, 0).definition();
		await tableOf(run, 0).definition();
		expect(seen.requests).toHaveLength(1);
		await tableOf(run, 1).definition();
		expect(seen.requests).toHaveLength(2);
	});

	test('checks with a definition that another run has read, and with a fresh one what that does not accept', async () => {
		let name = 'a';
		const serve = () => httpResponse(200, { data: { id: 'u', items: [{ name, type: 'text' }] } });
		const namesIn = (table: TableDefinition) => table.fields.map((field) => field.name);
		const [first, second, third] = [await fakeRun({}, { serve }), await fakeRun({}, { serve }), await fakeRun({}, { serve })];
		const address = { application: 'a', table: 'u' };
		expect(await tableAt(first!.run.client, address).checkWithKept(namesIn)).toEqual(['a']);
		name = 'b';
		expect(await tableAt(second!.run.client, address).checkWithKept(namesIn)).toEqual(['a']);
		const requireB = (table: TableDefinition) => {
			if (!namesIn(table).includes('b')) throw new Error('no b');
			return 'has b';
		};
		expect(await tableAt(second!.run.client, address).checkWithKept(requireB)).toBe('has b');
		expect(await tableAt(third!.run.client, address).checkWithKept(namesIn)).toEqual(['b']);
		expect([first, second, third].map((one) => one!.seen.requests.length)).toEqual([1, 1, 0]);
	});

	test('what it does not accept by the kept definition of another table is checked with a fresh one, too', async () => {
		let name = 'a';
		const serve = () => httpResponse(200, { data: { id: 'w', items: [{ name, type: 'text' }] } });
		const [first, second] = [await fakeRun({}, { serve }), await fakeRun({}, { serve })];
		const [at, linked] = [
			{ application: 'a', table: 'from' },
			{ application: 'a', table: 'linked' },
		];
		const check = async (run: typeof first.run, wanted: string) =>
			await tableAt(run.client, at).checkWithKept(async (_, definition) => {
				for (let again = 0; again < 2; again += 1) {
					if ((await definition(tableAt(run.client, linked))).fields[0]!.name !== wanted) throw new Error(`no ${wanted}`);
				}
			});
		await check(first.run, 'a');
		await check(second.run, 'a');
		expect([first, second].map(({ seen }) => seen.requests.length)).toEqual([2, 0]);
		name = 'b';
		await check(second.run, 'b');
		expect(second.seen.requests).toHaveLength(2);
		await expect(check(second.run, 'c')).rejects.toThrow('no c');
		expect(second.seen.requests).toHaveLength(2);
	});

	test('makes a thing once, and says a thing once', async () => {
		const { run, seen } = await fakeRun({});
		let count = 0;
		const make = () => (count += 1);
		expect([run.once('a', make), run.once('a', make), run.once('b', make)]).toEqual([1, 1, 2]);
		const nothing = jest.fn(() => undefined);
		run.once('nothing', nothing);
		run.once('nothing', nothing);
		expect(nothing).toHaveBeenCalledTimes(1);
		run.hintOnce('Look');
		run.hintOnce('Look', 'warning');
		run.hintOnce('Look again');
		expect(seen.hints).toMatchObject([{ message: 'Look', type: 'info', location: 'outputPane' }, { message: 'Look again' }]);
	});

	test('shows values in a hint as they are: the editor reads it as HTML', async () => {
		const { run, seen } = await fakeRun({});
		run.hint(`not "<img src=https://example.com/a.png> & more"`);
		expect(seen.hints[0]!.message).toBe('not "&lt;img src=https://example.com/a.png> &amp; more"');
	});

	test('says in the log that it waits', async () => {
		jest.useFakeTimers();
		const serve = (__: unknown, count: number) =>
			count === 1 ? httpResponse(429, '', { 'retry-after': '30' }) : httpResponse(200, { data: {} });
		const { context, seen } = fakeExecution({ plain: {}, serve });
		const client = await createClient(context, {});
		const request = client.tryRequest({ method: 'GET', path: 'apps', retryMode: 'read' });
		await jest.advanceTimersByTimeAsync(60_000);
		await request;
		jest.useRealTimers();
		const waits = seen.log.filter((line) => line.includes('waiting'));
		expect(waits.map((line) => line.split(':')[0])).toEqual(['info']);
	});

	test('says how far it is every five seconds, in the log and in the browser', async () => {
		jest.useFakeTimers();
		const { run, seen } = await fakeRun({});
		run.progress.note(() => 'too early');
		jest.advanceTimersByTime(5000);
		run.progress.note(() => '3 of 9');
		run.progress.note(() => 'too early');
		expect(seen.log).toEqual(["info: 3 of 9 ('Data Platform' of workflow workflow, execution 17)", 'console: 3 of 9']);
		jest.useRealTimers();
	});
});

describe('a second attempt of the node', () => {
	const tryOf = (
		store: IDataObject,
		{
			items = [{ a: 1 }, { a: 2 }] as IDataObject[],
			parameters = { p: 1 },
			runIndex = 0,
			retries = { retryOnFail: true } as { retryOnFail?: boolean; maxTries?: number },
		} = {},
	) =>
		({
			getContext: () => store,
			evaluateExpression: () => runIndex,
			getNode: () => ({ parameters, ...retries }),
			getInputData: () => items.map((json) => ({ json })),
		}) as unknown as IExecuteFunctions;
	const failed = { message: 'no', outcome: 'failed' };
	const unknown = { message: 'lost', outcome: 'unknown' };

	function saved(store: IDataObject, isFailed = true) {
		const first = new Ledger(2);
		first.done(0, [{ json: { id: 'x' } }]);
		first.failed(1, failed);
		saveProgress(tryOf(store), first, isFailed);
	}
	const restored = (store: IDataObject, more?: Parameters<typeof tryOf>[1], retriesUnknown?: boolean) => {
		const second = new Ledger(2, undefined, retriesUnknown);
		restoreProgress(tryOf(store, more), second);
		return [second.hasResult(0), second.hasResult(1)];
	};

	test('counts the attempts', () => {
		const store: IDataObject = {};
		saved(store);
		const second = new Ledger(2);
		restoreProgress(tryOf(store), second);
		expect(second.attempt).toBe(2);
	});

	test.each<[string, Parameters<typeof tryOf>[1], boolean]>([
		['with the same input knows what was done', {}, true],
		['with another item does not', { items: [{ a: 1 }, { a: 3 }] }, false],
		['with fewer items does not', { items: [{ a: 1 }] }, false],
		['with items cut elsewhere does not', { items: [{ a: 1, b: 2 }] }, false],
		['with other parameters does not', { parameters: { p: 2 } }, false],
		['in another run does not', { runIndex: 1 }, false],
	])('%s', (_, more, isKnown) => {
		const store: IDataObject = {};
		saved(store);
		expect(restored(store, more)).toEqual([isKnown, false]);
	});

	test('knows nothing after a success, nor if nothing was done', () => {
		const store: IDataObject = {};
		saved(store);
		saved(store, false);
		expect(store).toEqual({});
		saved(store);
		const nothing = new Ledger(2);
		nothing.failed(0, failed);
		saveProgress(tryOf(store), nothing, true);
		expect(restored(store)).toEqual([false, false]);
	});

	test.each([
		[{}, 0],
		[{ retryOnFail: false, maxTries: 5 }, 0],
		[{ retryOnFail: true }, 2],
		[{ retryOnFail: true, maxTries: 1 }, 1],
		[{ retryOnFail: true, maxTries: 4 }, 3],
		[{ retryOnFail: true, maxTries: 9 }, 4],
	])('with the settings %j it is kept for %i more tries', (retries, more) => {
		const store: IDataObject = {};
		const kept = Array.from({ length: 6 }, () => {
			const ledger = new Ledger(2);
			restoreProgress(tryOf(store, { retries }), ledger);
			ledger.done(0, [{ json: { id: 'x' } }]);
			saveProgress(tryOf(store, { retries }), ledger, true);
			return Object.keys(store).length;
		});
		expect(kept.indexOf(0)).toBe(more);
	});

	test.each([
		['without Retry On Fail, the execution is not asked', false, 0],
		['outside an execution, nothing is kept and nothing fails', true, 2],
	])('%s', (_, retryOnFail, count) => {
		const getContext = jest.fn(() => {
			throw new Error('`executionData` is not initialized');
		});
		const context = { ...tryOf({}, { retries: { retryOnFail } }), getContext };
		const report = new Ledger(2);
		restoreProgress(context, report);
		report.done(0, [{ json: { id: 'x' } }]);
		saveProgress(context, report, true);
		expect([report.attempt, getContext.mock.calls.length]).toEqual([1, count]);
	});

	test('knows what was done that is of no item', () => {
		const store: IDataObject = {};
		const deleted = { outcome: 'deleted', output: [{ json: { outcome: 'deleted' } }] };
		const first = new Ledger(2);
		first.done(0, [{ json: { id: 'x' } }]);
		first.failed(1, failed);
		first.add(deleted);
		saveProgress(tryOf(store), first, true);
		const second = new Ledger(2);
		restoreProgress(tryOf(store), second);
		expect(second.hasResult(0)).toBe(true);
		expect(second.progress().others).toEqual([deleted]);
	});

	test('repeats what may have been done only if that does no harm', () => {
		const store: IDataObject = {};
		const first = new Ledger(2);
		first.failed(0, unknown);
		saveProgress(tryOf(store), first, true);
		expect(restored(store)).toEqual([true, false]);
		expect(restored(store, {}, true)).toEqual([false, false]);
	});
});
