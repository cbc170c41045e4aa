import { NodeApiError, NodeOperationError, type INode } from 'n8n-workflow';
import { Ledger, toNodeError } from '../../../nodes/DataPlatform/run/ledger.ts';
import { omitUndefined } from '../../../nodes/DataPlatform/transport/json.ts';
import { toProblem } from '../../../nodes/DataPlatform/parameters/describeFailure.ts';
import { InputError, ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { OriginError } from '../../../nodes/DataPlatform/transport/allowedOrigins.ts';

const node = { name: 'Data Platform', type: 't', typeVersion: 1, parameters: {} } as unknown as INode;

describe('failures in the user’s words', () => {
	test('of the service', () => {
		const error = new ServiceError('No', { delivery: 'rejected', status: 400, code: 'c', hint: 'h' });
		expect(toProblem(error)).toEqual({ message: 'No', hint: 'h', status: 400, isRetryable: false, outcome: 'failed', code: 'c' });
	});

	test('an ambiguous one is unknown', () => {
		const error = new ServiceError('No response', { delivery: 'ambiguous' });
		expect(toProblem(error).outcome).toBe('unknown');
	});

	test('of the input, the address, n8n and anything else', () => {
		expect(toProblem(new InputError('Bad', { field: 'age', hint: 'h', item: 3 }))).toEqual({
			message: 'Bad',
			hint: 'h',
			item: 3,
			outcome: 'failed',
			field: 'age',
		});
		const outcome = 'failed';
		expect(toProblem(new OriginError('Not sent', 'h'))).toEqual({ message: 'Not sent', hint: 'h', outcome });
		expect(toProblem(new NodeOperationError(node, 'Op', { description: 'd' }))).toEqual({ message: 'Op', hint: 'd', outcome });
		expect(toProblem(new Error('odd'))).toEqual({ message: 'odd', outcome });
		expect(toProblem('text')).toEqual({ message: 'text', outcome });
	});
});

test('the error that stops the node keeps message, hint, status and item', () => {
	const api = toNodeError(node, { message: 'No', hint: 'h', status: 404 }, 2);
	expect(api).toBeInstanceOf(NodeApiError);
	expect(api).toMatchObject({ message: 'No', description: 'h', httpCode: '404' });
	expect(api.context.itemIndex).toBe(2);
	const operation = toNodeError(node, { message: 'Bad', hint: 'h' }, 0);
	expect(operation).toBeInstanceOf(NodeOperationError);
	expect(operation).toMatchObject({ message: 'Bad', description: 'h', context: { itemIndex: 0 } });
});

describe('a report', () => {
	const ok = (name: string) => [{ json: { name } }];

	test('gives an item for each, in order and paired, whatever came first', () => {
		const report = new Ledger(3);
		report.done(2, ok('c'));
		report.failed(1, { message: 'No', hint: 'h', outcome: 'failed' });
		report.done(0, [...ok('a'), ...ok('a2')]);
		expect(report.items()).toEqual([
			{ json: { name: 'a' }, pairedItem: { item: 0 } },
			{ json: { name: 'a2' }, pairedItem: { item: 0 } },
			{ json: { error: 'No', message: 'h', details: { item: 1, outcome: 'failed', retryable: false } }, pairedItem: { item: 1 } },
			{ json: { name: 'c' }, pairedItem: { item: 2 } },
		]);
	});

	test('an error item has no other keys than n8n routes by', () => {
		const report = new Ledger(1);
		report.failed(0, { message: 'No', status: 400 });
		expect(report.items()).toEqual([
			{ json: { error: 'No', details: { item: 0, status: 400, retryable: false } }, pairedItem: { item: 0 } },
		]);
	});

	test('for a node with an error output, n8n 1 finds a mark on error items, and a copy has none', () => {
		const report = new Ledger(2);
		report.done(0, ok('a'));
		report.failed(1, { message: 'No', hint: 'h' });
		const [done, failed] = report.items(true);
		expect(done?.error).toBeUndefined();
		expect(failed?.error?.message).toBe('No');
		const copy = { ...failed };
		expect(Object.keys(copy)).toEqual(['json', 'pairedItem']);
		expect(copy).not.toHaveProperty('error');
		expect(report.items()[1]?.error).toBeUndefined();
	});

	test('knows how far everything succeeded', () => {
		const report = new Ledger(4);
		expect(report.reached).toEqual({ items: 4, done: 0, confirmedThroughItem: null });
		report.done(0, ok('a'));
		report.done(1, ok('b'));
		report.failed(2, { message: 'No' });
		report.done(3, ok('d'));
		expect(report.reached).toEqual({ items: 4, done: 3, confirmedThroughItem: 1 });
		expect(report.firstFailure()).toMatchObject({ index: 2, problem: { message: 'No' } });
		report.done(2, ok('c'));
		expect(report.reached).toEqual({ items: 4, done: 4, confirmedThroughItem: 3 });
		expect(report.firstFailure()).toBeUndefined();
	});

	test('keeps from being repeated what succeeded, and what may have', () => {
		const report = new Ledger(4);
		report.done(0, ok('a'));
		report.failed(1, { message: 'No', outcome: 'failed' });
		report.failed(2, { message: 'No response', outcome: 'unknown' });
		expect(report.progress().map(([index]) => index)).toEqual([0, 2]);
		expect(report.counts()).toEqual({ failed: 1, unknown: 1 });
		const next = new Ledger(4);
		for (const [index, result] of report.progress()) next.restore(index, result);
		expect([0, 1, 2, 3].map((index) => next.hasResult(index))).toEqual([true, false, true, false]);
	});

	test('what may have been done stays so, whatever a later try that does it again fails with', () => {
		const unknown = { message: 'No response', outcome: 'unknown' };
		const again = () => {
			const report = new Ledger(1);
			report.restore(0, unknown, true);
			expect(report.hasResult(0)).toBe(false);
			return report;
		};
		const failed = again();
		failed.failed(0, { message: 'Not sent', outcome: 'failed' });
		expect(failed.firstFailure()?.problem).toEqual(unknown);
		const missing = again();
		missing.failed(0, { message: 'There is none', outcome: 'notFound' });
		expect(missing.counts()).toEqual({ notFound: 1 });
		const done = again();
		done.done(0, ok('a'));
		expect(done.firstFailure()).toBeUndefined();
	});

	test('a derived failure is not the one to report', () => {
		const report = new Ledger(3);
		report.failed(0, { message: 'Not sent', notAttempted: true });
		expect(report.primaryFailure()?.index).toBe(0);
		report.failed(1, { message: 'No' });
		report.failed(2, { message: 'Never' });
		expect(report.primaryFailure()?.index).toBe(1);
		expect(report.firstFailure()?.index).toBe(0);
	});

	test('a summary is one item, paired with all', () => {
		const report = new Ledger(2);
		report.done(0, ok('a'));
		report.failed(1, { message: 'No' });
		report.summarize({ inserted: 2 });
		expect(report.items()).toEqual([{ json: { inserted: 2 }, pairedItem: [{ item: 0 }, { item: 1 }] }]);
	});
});

test('gaps are left out, empty values are not', () => {
	expect(omitUndefined({ a: undefined, b: null, c: '', d: 0, e: false })).toEqual({ b: null, c: '', d: 0, e: false });
});
