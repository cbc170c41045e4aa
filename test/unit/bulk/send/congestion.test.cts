/** How large batches are, and how many requests run at once. */
import { CongestionControl } from '../../../../nodes/DataPlatform/bulk/send/congestion.ts';
import { byteSize } from '../../../../nodes/DataPlatform/bulk/entry.ts';
import { sendableOf } from '../../fixtures.cts';
import { failure, lost } from '../../outcomeFixtures.cts';

type Limits = ConstructorParameters<typeof CongestionControl>[0];

const BYTES = 4 * 1024 * 1024;

const batchOf = (records: number, text = 'x') => Array.from({ length: records }, (_, index) => sendableOf({ index, fields: { text } }));

const controlOf = (options: Partial<Limits> = {}) => new CongestionControl({ ...{ batchSize: 0, parallelRequests: 0, ...options } });

const FAILURES = { large: failure('rejected', 413), bad: failure('rejected', 400), busy: failure('notApplied', 429), lost };

/**
 * `ok`: a batch is confirmed; `500 lost`: one of 500 records is lost. `500 × 12`: the size of a batch
 * and how many requests run at once, at first and after each event.
 */
test.each<[string, Partial<Limits>, events: string, states: string]>([
	['nothing happens', {}, 'ok', '1000 × 12, 1000 × 12'],
	['half of what is too large', {}, '1000 large', '1000 × 12, 500 × 1'],
	['rounded up', {}, '25 large', '1000 × 12, 13 × 1'],
	['once for one size', {}, '1000 large, 1000 large', '1000 × 12, 500 × 1, 500 × 1'],
	['again for a smaller one', {}, '1000 large, 500 large', '1000 × 12, 500 × 1, 250 × 1'],
	['half of what is lost', {}, '1000 lost', '1000 × 12, 500 × 1'],
	['no less than 25', {}, '40 lost, 25 lost', '1000 × 12, 25 × 1, 25 × 1'],
	['less by hand', { batchSize: 10 }, '10 lost', '10 × 12, 10 × 1'],
	['less, as it is too large', { batchSize: 10 }, '10 large', '10 × 12, 5 × 1'],
	['more at once, not larger', {}, '1000 lost, ok, ok', '1000 × 12, 500 × 1, 500 × 2, 500 × 3'],
	['fewer at once if it is busy', {}, '1000 busy, ok', '1000 × 12, 1000 × 1, 1000 × 2'],
	['as before, with a bad record', {}, '1000 bad', '1000 × 12, 1000 × 12'],
	['by hand', { parallelRequests: 2 }, '5 busy, ok, ok', '1000 × 2, 1000 × 1, 1000 × 2, 1000 × 2'],
])('%s: %j, %s', (_, options, events, expected) => {
	const control = controlOf(options);
	const state = () => `${control.limits.records} × ${control.count}`;
	const states = [state()];
	for (const event of events.split(', ')) {
		const [size, what] = event.split(' ') as [string, keyof typeof FAILURES];
		if (event === 'ok') control.confirmed();
		else control.failed(FAILURES[what], batchOf(Number(size)));
		states.push(state());
	}
	expect(states.join(', ')).toBe(expected);
});

test('no more than twelve requests run at once', () => {
	const control = controlOf();
	control.failed(FAILURES.busy, batchOf(1));
	for (let count = 0; count < 20; count += 1) control.confirmed();
	expect(control.count).toBe(12);
});

test('a record that is too large by itself leaves the others as large batches as at first', () => {
	const control = controlOf({ batchSize: 100 });
	for (const size of [100, 50, 25]) control.failed(FAILURES.large, batchOf(size));
	expect(control.limits).toEqual({ records: 13, bytes: BYTES });
	const [huge, larger] = [...batchOf(1, 'x'.repeat(1000)), ...batchOf(1, 'x'.repeat(2000))];
	control.failed(FAILURES.large, [huge!]);
	expect(control.limits).toEqual({ records: 100, bytes: byteSize(huge!) });
	control.failed(FAILURES.large, [larger!]);
	expect(control.limits.bytes).toBe(byteSize(huge!));
});
