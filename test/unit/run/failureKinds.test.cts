/** What messages and reports say of failures: kinds with their counts, not thousands of messages. */
import { growthOf, LINEAR } from '../../support/growth.cts';
import { FailureKinds } from '../../../nodes/DataPlatform/run/failureKinds.ts';
import type { Problem } from '../../../nodes/DataPlatform/transport/errors.ts';

const failure = (message: string, facts = {}): Problem => ({ message, ...facts });
const kindsOf = (...problems: Problem[]) => {
	const kinds = new FailureKinds();
	problems.forEach((problem, index) => kinds.add(problem, index));
	return kinds.list();
};

test('failures that differ in their values only are one kind, with the first message', () => {
	const wrong = (item: number, value: string) =>
		failure(`Item ${item} was not sent: 'age' accepts a number, not ${value}`, { outcome: 'failed', field: 'age' });
	expect(kindsOf(wrong(0, '"old"'), wrong(1, '"a \\"b\\""'), wrong(2, '"x"'))).toEqual([
		{ count: 3, error: `'age' accepts a number, not "old"`, outcome: 'failed', field: 'age', item: 0 },
	]);
});

test.each<[what: string, messages: string[], kinds: number]>([
	['in single quotes', ["No record matches 'ada@example.com'", "No record matches 'bob'"], 1],
	['with an apostrophe', ["'O'Brien' isn't a choice", "'Fox' isn't a choice"], 1],
	['in double quotes, with others in them', ['No "a \\"b\\" \'c\'" here', 'No "x" here'], 1],
	['that are cut off', ["No record matches 'a…", "No record matches 'b…"], 1],
	['that are no values: words between apostrophes', ["can't read, isn't it", "can't see, isn't it"], 2],
	['that are no values: after a possessive', ["the records' ids", "the records' keys"], 2],
])('values %s', (_, messages, kinds) => {
	expect(kindsOf(...messages.map((message) => failure(message)))).toHaveLength(kinds);
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
	expect(kinds.map(({ error, count }) => `${error as string}${count as number}`)).toEqual('a2 b1 c1 d1 e1 f1 g1 h1 i1 j1'.split(' '));
});

test('one that is of no item has none', () => {
	const kinds = new FailureKinds();
	kinds.add(failure('not removed'));
	expect(kinds.list()).toEqual([{ count: 1, error: 'not removed' }]);
});

test('has the first of the shortest remedies, and the message that it belongs to', () => {
	const wrong = (value: string, remedy: string) => failure(`not "${value}"${remedy}`, { remedy });
	expect(kindsOf(wrong('a', ': either or'), wrong('b', ': one'), wrong('c', ': two'), wrong('d', ''))[0]!.error).toBe('not "b": one');
});

test('only the first of a kind that is listed is new', () => {
	const kinds = new FailureKinds();
	expect([...'aabcdefghijkk'].map((message, at) => kinds.add({ message }, at) && message).filter(Boolean)).toEqual([...'abcdefghij']);
});

describe('in words', () => {
	const text = (messages: string[], unit?: 'row') => {
		const kinds = new FailureKinds(unit);
		for (const [at, message] of messages.entries()) kinds.add({ message }, at);
		return kinds.text();
	};

	test.each<[what: string, messages: string[], words: string]>([
		['none', [], ''],
		['one', ['No "a"'], 'item 0: No "a"'],
		['two kinds', ['No', 'Never'], 'item 0: No; item 1: Never'],
		['two of one kind', ['No "a"', 'No "a"'], '2 × No "a" (items 0, 1)'],
		['two that differ in a value', ['No "a"', 'No "b"'], '2 × such as No "a" (items 0, 1)'],
		['three', ['No', 'No', 'No'], '3 × No (items 0, 1, 2)'],
		['more', ['No', 'No', 'Never', 'No', 'No', 'No'], '5 × No (items 0, 1, 3, …); item 2: Never'],
		['lists of numbers', ['as item 3', 'as item 4, 5'], '2 × such as as item 3 (items 0, 1)'],
		[
			'more kinds than ten',
			[...'abcdefghijkl', 'a'],
			'2 × a (items 0, 12); item 1: b; item 2: c; item 3: d; item 4: e; item 5: f; item 6: g; item 7: h; item 8: i; item 9: j; and 2 more',
		],
	])('%s', (_, messages, words) => {
		expect(text(messages)).toBe(words);
	});

	test('rows, and problems of no item', () => {
		expect(text(['No', 'No'], 'row')).toBe('2 × No (rows 0, 1)');
		const kinds = new FailureKinds();
		kinds.add({ message: 'No' });
		expect(kinds.text()).toBe('No');
		kinds.add({ message: 'No' });
		expect(kinds.text()).toBe('2 × No');
		const mixed = new FailureKinds();
		mixed.add({ message: 'No' }, 3);
		mixed.add({ message: 'No' });
		expect(mixed.text()).toBe('2 × No (items 3)');
		kinds.add({ message: 'x'.repeat(2000) }, 1);
		expect(kinds.text()).toHaveLength('2 × No; item 1: … (cut)'.length + 1000);
	});

	test('of very many items in linear time', async () => {
		const add = (count: number) => () => {
			const kinds = new FailureKinds();
			for (let at = 0; at < count; at += 1) kinds.add({ message: `'age' takes ${at}, not "x${at}"` }, at);
			expect(kinds.text()).toContain(`${count.toLocaleString('en')} × such as`);
		};
		expect(await growthOf(5000, add)).toBeLessThan(LINEAR);
	});
});
