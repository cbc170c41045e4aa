/**
 * What the node returns: items, failures, the error that stops it, and what a second attempt knows.
 */
import type { IDataObject, INode, INodeParameters } from 'n8n-workflow';

import { isErrorItem, Ledger, toNodeError, withHintInMessage } from '../../../nodes/DataPlatform/run/ledger.ts';
import { toProblem } from '../../../nodes/DataPlatform/parameters/describeFailure.ts';
import { omitUndefined } from '../../../nodes/DataPlatform/transport/json.ts';
import { InputError, ServiceError, type Problem } from '../../../nodes/DataPlatform/transport/errors.ts';
import { asItems, columns, runNode, TABLE, type Given } from '../fakeNode.cts';
import { fieldOf, tableOf } from '../fixtures.cts';
import { httpResponse } from '../stubPlatform.cts';
import { StubTables } from '../stubTables.cts';

const definitions = { people: { ...tableOf(fieldOf('name', 'text', { importKey: true }), fieldOf('age', 'number')), id: 'people' } };

interface Setup extends Omit<Given, 'parameters'> {
	parameters?: INodeParameters;
	respond?: Parameters<StubTables['client']>[0];
	tables?: StubTables;
}

async function write(
	operation: string,
	items: IDataObject[],
	{ parameters, respond, tables = new StubTables({ people: { r1: { name: 'Ada', age: 1 } } }, definitions), ...given }: Setup = {},
) {
	const run = await runNode(operation, {
		serve: (options) => tables.serve(options, respond),
		items: asItems(...items),
		...given,
		parameters: { ...TABLE, columns: columns(), ...parameters },
	});
	const details = run.error?.context.details as IDataObject | undefined;
	return { ...run, details, tables };
}

const TOO_LONG = 'x'.repeat(41);
const CONTINUE = { onError: 'continueRegularOutput' } as const;
const ROUTED = { onError: 'continueErrorOutput' } as const;

describe('the output', () => {
	test('has one item each, paired, including failures', async () => {
		const { output } = await write('record: create', [{ name: 'A' }, { name: TOO_LONG }, { name: 'C' }], { node: CONTINUE });
		expect(output).toMatchObject([
			{ json: { outcome: 'inserted', name: 'A' }, pairedItem: { item: 0 } },
			{ json: { error: 'too long', details: { item: 1, outcome: 'failed', input: { name: TOO_LONG } } }, pairedItem: { item: 1 } },
			{ json: { outcome: 'inserted', name: 'C' }, pairedItem: { item: 2 } },
		]);
		expect(output[1]).not.toHaveProperty('error');
		expect(output[1]!.json.message).toBe('See what the message asks for, then run it again.');
	});

	test('marks failures for n8n 1 if they have a separate output', async () => {
		const { output } = await write('record: create', [{ name: TOO_LONG }, { name: 'B' }], { node: ROUTED });
		expect(output[0]!.error).toEqual({ message: 'too long' });
		expect(Object.keys(output[0]!)).not.toContain('error');
		expect(output[1]!.error).toBeUndefined();
	});

	test('may be a summary of all items, with failures in a separate output if there is one', async () => {
		const summarized = async (node: Given['node']) =>
			(await write('record: create', [{ name: 'A' }, { name: TOO_LONG }], { parameters: { options: { output: 'summary' } }, node })).output;
		expect(await summarized(CONTINUE)).toEqual([
			{ json: expect.objectContaining({ inserted: 1, failed: 1 }), pairedItem: [{ item: 0 }, { item: 1 }] },
		]);
		const [summary, failure, ...others] = await summarized(ROUTED);
		expect([Object.keys(summary!.json)[0], failure!.error, others]).toEqual(['inserted', { message: 'too long' }, []]);
	});

	test('of an item may be replaced by what is stored; its outcome stays', () => {
		const results = new Ledger(1);
		results.done(0, [{ json: { id: 'r1' } }], 'inserted');
		results.replace(0, [{ json: { id: 'r1', name: 'Ada' } }]);
		expect(results.items()).toEqual([{ json: { id: 'r1', name: 'Ada' }, pairedItem: { item: 0 } }]);
		expect(results.counts()).toEqual({ inserted: 1 });
	});

	test('of each item, and what is known of each failure, also of those that belong to no item', () => {
		const results = new Ledger(3);
		results.done(0, [{ json: { a: 1 } }, { json: { b: 2 } }]);
		results.failed(2, { message: 'no', outcome: 'failed', field: 'age', hint: 'do', details: { before: 1 } });
		results.add({ output: [{ json: { id: 'r9' } }], outcome: 'deleted' });
		const facts = { outcome: 'failed', field: 'age', before: 1, retryable: false };
		expect([...results.outputs()]).toEqual([{ a: 1 }, { b: 2 }, facts, { id: 'r9' }]);
	});

	test('of items without a result is none', () => {
		const results = new Ledger(2);
		expect([results.items(), results.counts(), [...results.failures()], results.isSummarized]).toEqual([[], {}, [], false]);
		results.done(1, [{ json: {} }]);
		expect(results.items()).toEqual([{ json: {}, pairedItem: { item: 1 } }]);
		expect(results.reached).toEqual({ items: 2, done: 1, confirmedThroughItem: null });
	});

	test('has the files of a summary, if it has any', () => {
		const summaryOf = (...files: Parameters<Ledger['summarize']>[1][]) => {
			const results = new Ledger(1);
			results.summarize({ inserted: 1 }, ...files);
			return results.items();
		};
		const summary = { json: { inserted: 1 }, pairedItem: [{ item: 0 }] };
		expect(summaryOf()).toStrictEqual([summary]);
		const rejected = { rejected: { data: '', mimeType: 'text/csv' } };
		expect(summaryOf(rejected)).toStrictEqual([{ ...summary, binary: rejected }]);
	});

	test('of a failure says what the run took, and what it came from if n8n does not', () => {
		const results = new Ledger(1);
		results.failed(0, { message: 'no', hint: 'Do it.' });
		results.add({ message: 'not removed' });
		results.stats = { requests: 3, retries: 1, waitedMs: 1600 };
		const told = (isRouted: boolean) => results.items(isRouted, [{ json: { name: 'Ada' } }]).map(({ json }) => json);
		const effort = { retryable: false, requests: 3, waitedSeconds: 2 };
		expect(told(false)).toEqual([
			{ error: 'no', message: 'Do it.', details: { item: 0, ...effort, input: { name: 'Ada' } } },
			{ error: 'not removed', details: effort },
		]);
		expect(told(true)[0]).toEqual({ error: 'no', message: 'Do it.', details: { item: 0, ...effort } });
	});

	test.each<[IDataObject, boolean]>([
		[{ error: 'no' }, true],
		[{ error: 'no', message: 'do', details: {} }, true],
		[{ error: '' }, false],
		[{ message: 'do' }, false],
		[{ error: 'no', name: 'Ada' }, false],
		[{ name: 'Ada' }, false],
		[{}, false],
	])('%j is an error to n8n: %s', (json, expected) => {
		expect(isErrorItem(json)).toBe(expected);
	});
});

test('what an output does not know is left out, an empty value is not', () => {
	expect(omitUndefined({ a: undefined, b: null, c: '', d: 0, e: false })).toEqual({ b: null, c: '', d: 0, e: false });
});

const node = { name: 'N', type: 'n', typeVersion: 1, parameters: {} } as unknown as INode;

describe('the error that stops the node', () => {
	test.each<[number, object | undefined]>([
		[429, { cause: 'rate-limited', retryAfterMs: 2000 }],
		[503, { cause: 'temporarily-unavailable', retryAfterMs: 2000 }],
		[401, { cause: 'credential-invalid' }],
		[500, undefined],
	])('of the status %d says to n8n’s back-off: %j', (status, failure) => {
		const error = toNodeError(node, { message: 'no', status, retryAfterMs: 2000 }, 3);
		expect((error as unknown as { failure?: object }).failure).toEqual(failure);
		expect(error).toMatchObject({ ...{ message: 'no', httpCode: String(status), context: { itemIndex: 3 } }, name: 'NodeApiError' });
	});

	test.each([undefined, 400])('has a description that is no HTML: %j', (status) => {
		const { description } = toNodeError(node, { message: 'no', hint: "Use '<img src=x>' & {{ 1 }}", status });
		expect(description).toBe("Use '&lt;img src=x>' &amp; {{ 1 }}");
	});

	test('has a line for each cause, with the expression to copy, and no other HTML', () => {
		const { description } = toNodeError(node, {
			message: 'no',
			causes: ['2 × <b>: use {{ a && { id: a } }}', 'item 3: that'],
			hint: 'Do it.',
		});
		expect(description).toBe('<ul><li>2 × &lt;b>: use <code>{{ a &amp;&amp; { id: a } }}</code></li><li>item 3: that</li></ul>Do it.');
	});

	test('about the input is not an API error', () => {
		const error = toNodeError(node, { message: 'no ECONNRESET', hint: 'do' }, 1);
		expect(error).toMatchObject({
			...{ name: 'NodeOperationError', message: 'no ECONNRESET', description: 'do' },
			context: { itemIndex: 1, details: { item: 1 } },
		});
	});

	test.each<[Problem, string]>([
		[{ message: 'No.', hint: 'Do it.' }, 'No. Do it.'],
		[{ message: 'No', hint: 'Do it.' }, 'No. Do it.'],
		[{ message: 'No' }, 'No'],
		[{ message: 'No', causes: ['2 × this', 'item 3: that'], hint: 'Do it.' }, 'No; 2 × this; item 3: that. Do it.'],
	])('of an agent’s tool has the hint in its message: %j', (failure, message) => {
		expect(withHintInMessage(failure).message).toBe(message);
	});

	test('says how far the run got', async () => {
		const { error, details } = await write('record: create', [{ name: 'A' }, { name: 'B' }, { name: TOO_LONG }, { name: 'D' }], {
			parameters: { options: { batchSize: 1, parallelRequests: 1 } },
		});
		expect(error?.message).toBe('too long');
		expect(error?.description).toContain('2 of 4 items are done, all confirmed through item 1.');
		expect(details).toMatchObject({ ...{ item: 2, outcome: 'failed', items: 4, done: 2, confirmedThroughItem: 1 } });
	});

	test('of the first item confirms none', async () => {
		const { error, details } = await write('record: create', [{ name: TOO_LONG }, { name: 'B' }], {
			parameters: { options: { batchSize: 1, parallelRequests: 1 } },
		});
		expect(error?.description ?? '').not.toContain('confirmed');
		expect(details).toMatchObject({ items: 2, done: 0, confirmedThroughItem: null });
	});

	test('is about the item that failed by itself', () => {
		const results = new Ledger(3);
		results.failed(1, { message: 'derived', notAttempted: true });
		expect(results.primaryFailure()).toMatchObject({ index: 1, problem: { message: 'derived', notAttempted: true } });
		results.failed(2, { message: 'own' });
		expect(results.primaryFailure()).toMatchObject({ index: 2, problem: { message: 'own' } });
		expect(results.firstFailure()).toMatchObject({ index: 1 });
	});

	test('may be about no item', () => {
		const results = new Ledger(1);
		results.done(0, [{ json: {} }]);
		expect(results.firstFailure()).toBeUndefined();
		results.add({ output: [{ json: {} }] });
		results.add({ message: 'not removed' });
		const { index, problem } = results.primaryFailure()!;
		expect([index, problem.message]).toEqual([undefined, 'not removed']);
	});
});

describe('another try of a failed item', () => {
	const detailsOf = (failure: Problem, retriesUnknown?: boolean) => {
		const results = new Ledger(1, undefined, retriesUnknown);
		results.failed(0, failure);
		return results.items()[0]!.json.details as IDataObject;
	};
	const refused = { delivery: 'rejected', status: 400 } as const;
	const busy = { delivery: 'notApplied', status: 429, retryAfterMs: 1200 } as const;
	const lost = { delivery: 'ambiguous', status: 502 } as const;

	test.each<[string, unknown, boolean | undefined, object]>([
		['was refused', new ServiceError('No', refused), true, { retryable: false }],
		['came too early', new ServiceError('Wait', busy), false, { retryable: true, retryAfter: 2 }],
		['has a wrong value', new InputError('Bad', { hint: 'h' }), true, { retryable: false }],
		['may be done, and may be done twice', new ServiceError('?', lost), true, { retryable: true }],
		['may be done by an operation that doubles', new ServiceError('?', lost), undefined, { retryable: false }],
	])('of one that %s', (_, error, retriesUnknown, expected) => {
		const { retryable, retryAfter } = detailsOf(toProblem(error), retriesUnknown);
		expect(JSON.parse(JSON.stringify({ retryable, retryAfter }))).toEqual(expected);
	});

	test.each([
		['create', false],
		['upsert', true],
	])('record: %s says so for each item', async (operation, isSafeToRepeat) => {
		const options = { maxRetryWait: 0, batchSize: 1, parallelRequests: 1 };
		let writes = 0;
		const respond = (request: string) => {
			if (request !== 'POST people bulk') return undefined;
			writes += 1;
			return writes === 1 ? httpResponse(504, '') : httpResponse(429, '', { 'retry-after': '7' });
		};
		const { output } = await write(`record: ${operation}`, [{ name: 'A' }, { name: 'B' }, { name: 'C' }, { name: 'D', nose: 1 }], {
			node: CONTINUE,
			respond,
			parameters: { options },
		});
		const told = output.map(({ json }) => {
			const { outcome, retryable, retryAfter } = json.details as IDataObject;
			return [outcome, retryable, retryAfter];
		});
		expect(told).toEqual([
			['unknown', isSafeToRepeat, undefined],
			['failed', true, 7],
			['failed', true, 7],
			['failed', false, undefined],
		]);
	});
});

test.each<[string, unknown, object]>([
	[
		'a lost response',
		new ServiceError('lost', { delivery: 'ambiguous', status: 500 }),
		{ message: 'lost', status: 500, isRetryable: true, outcome: 'unknown' },
	],
	[
		'a rejection',
		new ServiceError('no', { delivery: 'rejected', code: 'x', hint: 'do', retryAfterMs: 5 }),
		{ message: 'no', hint: 'do', retryAfterMs: 5, isRetryable: false, outcome: 'failed', code: 'x' },
	],
	[
		'a wrong value',
		new InputError('Bad', { field: 'age', hint: 'h', item: 3 }),
		{ message: 'Bad', hint: 'h', item: 3, outcome: 'failed', field: 'age' },
	],
	['an error of a node', toNodeError(node, { message: 'no', hint: 'do' }), { message: 'no', hint: 'do', outcome: 'failed' }],
	[
		'an error of n8n’s API helper',
		toNodeError(node, { message: 'no', hint: 'do', status: 400 }),
		{ message: 'no', hint: 'do', outcome: 'failed' },
	],
	['any other error', new Error('broken'), { message: 'broken', outcome: 'failed' }],
	['what is no error', 'text', { message: 'text', outcome: 'failed' }],
])('%s as a failure', (_, error, expected) => {
	expect(JSON.parse(JSON.stringify(toProblem(error)))).toEqual(expected);
});

describe('a second attempt of the node', () => {
	const RETRY: Partial<INode> = { retryOnFail: true };

	test('in which all is summarized is not kept', async () => {
		const store: IDataObject = {};
		const summary = { options: { output: 'summary' } };
		const items = [{ name: TOO_LONG }, { name: 'A' }];
		const node = { ...RETRY, ...CONTINUE };
		await write('record: create', items, { store, node, parameters: summary });
		expect(store).toEqual({});
		await write('record: create', items, { store, node });
		expect(Object.keys(store)).toHaveLength(1);
	});

	test('knows nothing of a dry run', async () => {
		const store: IDataObject = {};
		const items = [{ name: 'A' }, { name: 'B', age: 'x' }];
		await write('record: create', items, { ...{ store, node: { ...RETRY, ...ROUTED } }, parameters: { options: { dryRun: true } } });
		const results = new Ledger(1);
		results.done(0, [{ json: {} }]);
		results.add({ output: [{ json: {} }] });
		expect(results.progress()).toEqual({ done: [[0, { output: [{ json: {} }] }]], others: [{ output: [{ json: {} }] }] });
		results.markDryRun();
		expect(results.progress()).toEqual({ done: [], others: [] });
		expect(store).toEqual({});
	});

	test('knows what an import wrote, although another item was a dry run', async () => {
		const store: IDataObject = {};
		const file = (text: string) => ({ data: { data: Buffer.from(text).toString('base64'), mimeType: 'text/csv' } });
		const tables = new StubTables({ people: {} }, definitions);
		const { error } = await runNode('record: importFromFile', {
			serve: (options) => tables.serve(options),
			parameters: { ...TABLE, importMode: 'create', options: { dryRun: '={{ $json.dry }}' } },
			items: [
				{ json: { dry: false }, binary: file('name\nA\n') },
				{ json: { dry: true }, binary: file('') },
			],
			...{ store, node: RETRY },
		});
		expect(error?.message).toBe('The file is empty');
		expect(Object.values(store)).toMatchObject([{ done: [[0, { output: [{ json: { inserted: 1 } }] }]] }]);
	});

	test('knows which records of no item were removed, or may have been', () => {
		const results = new Ledger(2);
		const deleted = { outcome: 'deleted', output: [{ json: {} }] };
		results.add({ message: 'no', outcome: 'failed' });
		results.add(deleted);
		results.add({ message: 'lost', outcome: 'unknown', id: 'r1' });
		results.done(0, []);
		results.failed(1, { message: 'no' });
		const lost = { message: 'lost', outcome: 'unknown', id: 'r1', details: { retryable: false } };
		expect(results.counts()).toEqual({ failed: 1, deleted: 1, unknown: 1 });
		expect(results.progress()).toEqual({ done: [[0, { output: [] }]], others: [deleted, lost] });
	});

	test('knows which items were merged into another', () => {
		const results = new Ledger(2);
		results.done(0, [], 'inserted', true);
		results.done(1, [], 'inserted');
		expect([results.counts(), results.counts(true)]).toEqual([{ inserted: 2 }, { inserted: 1 }]);
	});

	test('knows what may have been done in part', () => {
		const results = new Ledger(2);
		results.failed(0, { message: 'no', outcome: 'failed', noRetry: true });
		results.failed(1, { message: 'no', outcome: 'failed' });
		expect(results.progress().done.map(([index]) => index)).toEqual([0]);
	});

	test('does not rule out that a previous one removed a record', () => {
		const ids = ['open', 'closed', 'gone'];
		const results = new Ledger(0);
		results.restoreOther({ message: 'lost', outcome: 'unknown', id: 'open' });
		results.restoreOther({ message: 'lost', outcome: 'unknown', id: 'gone' });
		for (const id of ids.slice(0, 2)) results.add({ message: 'no', outcome: 'failed', id });
		results.add({ message: 'not there', outcome: 'notFound', id: 'gone' });
		results.add({ outcome: 'deleted', output: [] });
		expect(results.counts()).toEqual({ unknown: 1, failed: 1, notFound: 1, deleted: 1 });
	});

	test('keeps what may have been done, until something certain is known', () => {
		const unknown = { message: 'lost', outcome: 'unknown' };
		const failed = { message: 'no', outcome: 'failed' };
		const later = (failure: Problem) => {
			const results = new Ledger(1, undefined, true);
			results.restore(0, unknown);
			expect(results.hasResult(0)).toBe(false);
			results.failed(0, failure);
			return results.firstFailure()!.problem.message;
		};
		expect(later(failed)).toBe('lost');
		expect(later({ message: 'gone', outcome: 'notFound' })).toBe('gone');
		// The record may be gone because the first attempt deleted it.
		expect(later({ message: 'gone', outcome: 'notFound', status: 404 })).toBe('lost');
		expect(later({ message: 'again', outcome: 'unknown' })).toBe('again');
		expect(later({ message: 'no details' })).toBe('lost');
		const final = new Ledger(1, undefined, true);
		final.restore(0, { ...unknown, noRetry: true });
		expect(final.hasResult(0)).toBe(true);
	});
});
