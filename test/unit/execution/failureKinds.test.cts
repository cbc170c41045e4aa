/** What a summary says of failures: kinds with their counts, not thousands of messages. */
import { failureKinds } from '../../../nodes/DataPlatform/execution/failureKinds.ts';
import type { Failure } from '../../../nodes/DataPlatform/execution/itemResults.ts';

const failure = (message: string, details = {}): Failure => ({ message, details });
const kindsOf = (...failures: Failure[]) =>
	failureKinds(failures.map((each, index) => ({ index, failure: each })));

test('failures that differ in their values only are one kind, with the first message', () => {
	const wrong = (item: number, value: string) =>
		failure(`Item ${item} was not sent: 'age' takes a number, not ${value}`, {
			outcome: 'failed',
			field: 'age',
		});
	expect(kindsOf(wrong(0, '"old"'), wrong(1, '"a \\"b\\""'), wrong(2, '"x"'))).toEqual([
		{
			count: 3,
			error: `'age' takes a number, not "old"`,
			outcome: 'failed',
			field: 'age',
			item: 0,
		},
	]);
});

test.each([
	['another outcome', { outcome: 'unknown', field: 'age', status: 400 }],
	['another field', { outcome: 'failed', field: 'name', status: 400 }],
	['another status', { outcome: 'failed', field: 'age', status: 500 }],
])('%s is another kind', (_, details) => {
	const first = { outcome: 'failed', field: 'age', status: 400 };
	expect(kindsOf(failure('No', first), failure('No', details))).toEqual([
		{ count: 1, error: 'No', ...first, item: 0 },
		{ count: 1, error: 'No', ...details, item: 1 },
	]);
});

test('another reason is another kind; numbers in it are values', () => {
	const counts = kindsOf(failure('5 is too small'), failure('6.5 is too small'), failure('No'));
	expect(counts.map(({ count }) => count)).toEqual([2, 1]);
});

test('ten kinds are told apart, and counted to the end', () => {
	const letters = [...'abcdefghijklm'];
	const kinds = kindsOf(...[...letters, 'a', 'm'].map((letter) => failure(letter)));
	expect(kinds.map(({ error, count }) => `${error as string}${count as number}`)).toEqual(
		'a2 b1 c1 d1 e1 f1 g1 h1 i1 j1'.split(' '),
	);
});

test('one that is of no item has none', () => {
	expect(failureKinds([{ failure: failure('not removed') }])).toEqual([
		{ count: 1, error: 'not removed' },
	]);
});
