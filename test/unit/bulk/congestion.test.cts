/** How large batches are, and how many requests run at once. */
import {
	CongestionControl,
	type CongestionOptions,
} from '../../../nodes/DataPlatform/bulk/congestion.ts';
import { byteSize } from '../../../nodes/DataPlatform/bulk/entry.ts';
import { ServiceError, type Delivery } from '../../../nodes/DataPlatform/transport/errors.ts';
import { sendableOf } from '../fixtures.cts';

const BYTES = 4_000_000;

const batchOf = (records: number, text = 'x') =>
	Array.from({ length: records }, (_, index) => sendableOf({ index, fields: { text } }));

const failure = (delivery: Delivery, status?: number) => new ServiceError('', { delivery, status });
const tooLarge = failure('rejected', 413);
const lost = failure('ambiguous');
const busy = failure('notApplied', 429);

type Event = [records: number, what: 'fast' | 'slow' | ServiceError];

const automatic = (options: Partial<CongestionOptions> = {}) =>
	new CongestionControl({
		batchSize: 0,
		batchBytes: BYTES,
		parallelRequests: 0,
		isOrdered: false,
		...options,
	});

const times = <Value,>(count: number, value: Value) => Array.from({ length: count }, () => value);

/** The size of a batch and the number of requests at once, at first and after each event. */
function follow(options: Partial<CongestionOptions>, events: Event[]) {
	const control = automatic(options);
	const state = () => `${control.limits.records} × ${control.parallel}`;
	return [
		state(),
		...events.map(([records, what]) => {
			if (what instanceof ServiceError) control.failed(batchOf(records), what);
			else control.confirmed(records, what === 'fast' ? 1999 : 2000);
			return state();
		}),
	];
}

type Row = [what: string, options: Partial<CongestionOptions>, events: Event[], states: string[]];

test.each<Row>([
	[
		'batches grow with each that is confirmed whole and fast, up to 1,000',
		{},
		[
			[250, 'fast'],
			[500, 'fast'],
			[1000, 'fast'],
		],
		['250 × 12', '500 × 12', '1000 × 12', '1000 × 12'],
	],
	[
		'a small one at the end does not make them smaller',
		{},
		[
			[250, 'fast'],
			[500, 'fast'],
			[10, 'fast'],
		],
		['250 × 12', '500 × 12', '1000 × 12', '1000 × 12'],
	],
	[
		'a batch from before the growth, or the last one, lets them grow no further',
		{},
		[
			[250, 'fast'],
			[250, 'fast'],
			[499, 'fast'],
		],
		['250 × 12', '500 × 12', '500 × 12', '500 × 12'],
	],
	['a slow response ends the growth', {}, [[250, 'slow']], ['250 × 12', '250 × 12']],
	[
		'too large: the next round size, one at a time, no growth beyond it, then one more for each confirmed',
		{},
		[[250, tooLarge], ...times(12, [100, 'fast'] satisfies Event)],
		[
			'250 × 12',
			...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12].map((parallel) => `100 × ${parallel}`),
		],
	],
	[
		'several of one size shrink them once',
		{},
		[
			[250, tooLarge],
			[250, tooLarge],
			[250, lost],
		],
		['250 × 12', '100 × 1', '100 × 1', '100 × 1'],
	],
	[
		'a lost response: smaller for the rest of the run',
		{},
		[
			[250, 'fast'],
			[500, lost],
			[250, 'fast'],
		],
		['250 × 12', '500 × 12', '250 × 1', '250 × 2'],
	],
	[
		'lost responses shrink batches no further than to 25',
		{},
		[
			[50, lost],
			[25, lost],
			[10, lost],
		],
		['250 × 12', '25 × 1', '25 × 1', '25 × 1'],
	],
	['a busy service: one at a time, as large as before', {}, [[250, busy]], ['250 × 12', '250 × 1']],
	[
		'a bad record is no congestion',
		{},
		[[250, failure('rejected', 400)]],
		['250 × 12', '250 × 12'],
	],
	[
		'by hand: as large as that, and no larger',
		{ batchSize: 40 },
		[
			[40, 'fast'],
			[40, lost],
			[40, tooLarge],
			[25, 'fast'],
		],
		['40 × 12', '40 × 12', '40 × 1', '25 × 1', '25 × 2'],
	],
	['by hand: so many at once', { parallelRequests: 9 }, [[250, busy]], ['250 × 9', '250 × 1']],
	['creates go one at a time', { isOrdered: true }, [[250, 'fast']], ['250 × 1', '500 × 1']],
	['creates, by hand: so many at once', { isOrdered: true, parallelRequests: 3 }, [], ['250 × 3']],
])('%s', (_, options, events, states) => {
	expect(follow(options, events)).toEqual(states);
});

test.each([
	[1, 250],
	[1000, 250],
	[2000, 250],
	[2001, 500],
	[4001, 1000],
	[8000, 1000],
	[100_000, 1000],
])('%i records, spread over eight requests: %i in each', (count, size) => {
	const control = automatic();
	control.begin(count);
	expect(control.limits.records).toBe(size);
});

test.each<[string, Partial<CongestionOptions>, (control: CongestionControl) => void]>([
	['after a batch was confirmed', {}, (control) => control.confirmed(100, 10)],
	['after trouble', {}, (control) => control.failed(batchOf(250), busy)],
])('the first batch is no larger than 250 %s', (_, options, before) => {
	const control = automatic(options);
	before(control);
	control.begin(10_000);
	expect(control.limits.records).toBe(250);
});

test.each([
	[250, 250],
	[300, 500],
	[2000, 1000],
])('%i records that go one request at a time: %i in the first', (count, size) => {
	const control = automatic({ isOrdered: true });
	control.begin(count);
	expect(control.limits.records).toBe(size);
});

test('a size by hand stays', () => {
	const control = automatic({ batchSize: 40 });
	control.begin(10_000);
	expect(control.limits.records).toBe(40);
});

test('a record that is too large on its own leaves the others as large batches as before', () => {
	const control = automatic();
	control.confirmed(100, 10);
	for (const size of [250, 100, 50, 25, 10, 5, 2]) control.failed(batchOf(size), tooLarge);
	expect(control.limits).toEqual({ records: 1, bytes: BYTES });
	const [huge] = batchOf(1, 'x'.repeat(1000));
	control.failed([huge!], tooLarge);
	expect(control.limits).toEqual({ records: 100, bytes: byteSize(huge!) });
	control.confirmed(100, 10);
	expect(control.limits.records).toBe(250);
});
