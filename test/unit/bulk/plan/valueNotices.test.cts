import { ValueNotices } from '../../../../nodes/DataPlatform/bulk/plan/valueNotices.ts';
import { recordKey } from '../../../../nodes/DataPlatform/fields/values.ts';
import { fieldOf, sendableOf } from '../../fixtures.cts';

const planOf = (keys: Array<string | undefined>, merged: Array<[number, number]> = [], from = 0) => ({
	...{ problems: [], ignored: new Set<string>(), notices: [], merged: new Map(merged) },
	records: keys.map((key, index) => sendableOf({ index: from + index, key })),
});

const notices = (keys: Array<string | undefined>, unit?: 'row', merged: Array<[number, number]> = []) =>
	new ValueNotices(unit).add(planOf(keys, merged));

const BEGINNING = 'Keys that differ only in case, spaces, invisible characters or in how letters are composed are different records: ';

/** Applies what a notice says to add to a key's expression. */
function normalized(key: string, notice: string): string {
	const code = /add (\..*) to the key's expression/.exec(notice)![1]!;
	return (new Function('key', `return key${code}`) as (key: string) => string)(key);
}

test.each<[keys: Array<string | undefined>, names: string]>([
	[['Ann@X.com', 'bob', ' ann@x.com '], "'Ann@X.com', ' ann@x.com ' (items 0 and 2)"],
	[['a', 'A', ' a', 'b', 'B'], "'a', 'A' (items 0 and 1), and 2 more"],
	[['"a", "b"', '" a", "B"'], `'"a", "b"', '" a", "B"' (items 0 and 1)`],
	[['"x', '"X'], `'"x', '"X' (items 0 and 1)`],
])('%j has keys that people may take for the same', (keys, names) => {
	expect(notices(keys)[0]).toContain(`${BEGINNING}${names}. `);
});

test.each([
	['composed and decomposed letters', 'Jos\u00e9', 'Jose\u0301'],
	['zero-width space', 'ab', 'a\u200bb'],
	['zero-width joiner', 'ab', 'a\u200db'],
	['byte order mark', 'ab', '\ufeffab'],
	['word joiner', 'ab', 'a\u2060b'],
	['soft hyphen', 'ab', 'a\u00adb'],
	['left-to-right mark', 'ab', 'ab\u200e'],
	['isolate', 'ab', '\u2066ab\u2069'],
	['no-break space', 'a b', 'a\u00a0b'],
	['narrow no-break space', 'a b', 'a\u202fb'],
	['two spaces', 'a b', 'a  b'],
	['ideographic space', 'a b', 'a\u3000b'],
	['control character', 'ab', 'ab\u0000'],
	['tab', 'a b', 'a\tb'],
	['full width', 'A1', '\uff21\uff11'],
	['ligature', 'file', '\ufb01le'],
])('%s: a notice, with an expression that makes the keys equal', (_, one, other) => {
	const [notice, ...others] = notices([one, other]);
	expect(others).toEqual([]);
	expect(notice).toContain(BEGINNING);
	expect(normalized(other, notice!)).toBe(normalized(one, notice!));
	const fields = ['f', 'g'].map((name) => fieldOf(name));
	const composite = [one, other].map((f) => recordKey(fields, { f, g: 'x' })!.text);
	expect(notices(composite)).toHaveLength(1);
});

test.each([[[]], [['a', 'b']], [['a', 'a']], [[undefined, undefined]], [['ab', 'a b']], [['nulls', 'a-b', 'Nona', '0']]])(
	'%j has none',
	(keys) => {
		expect(notices(keys)).toEqual([]);
	},
);

test('of a file are in rows', () => {
	expect(notices(['a', 'A'], 'row')[0]).toContain('(rows 0 and 1)');
});

test.each([
	'NULL',
	'null',
	'\\N',
	'N/A',
	'n/a',
	'#N/A',
	'-',
	'--',
	'–',
	'none',
	'None',
	'NaN',
	' nil ',
	'(blank)',
	'?',
	'undefined',
	'"NULL", "x"',
])('%s stands for no value: how many items have it is said, those that were merged too', (key) => {
	const items = [
		[0, 3],
		[1, 3],
	] as Array<[number, number]>;
	const names = `such as '${key}' (item 0). All of one key become one record. If they have no key, leave them out.`;
	expect(notices([key])).toEqual([`Keys that may stand for no value: 1 item, ${names}`]);
	expect(notices(['a', 'b', 'c', key], 'row', items)).toEqual([
		`Keys that may stand for no value: 3 rows, ${names.replace('item 0', 'row 3')}`,
	]);
});

test('keys of all portions are counted', () => {
	const all = new ValueNotices('row');
	all.add(planOf(['a', 'NULL'], [], 2));
	all.add(planOf(['b', 'c', 'C'], [], 4));
	const [similar, none] = all.add(planOf(['A', 'n/a', 'NULL', 'd', 'D'], [], 7));
	expect(similar).toContain("'c', 'C' (rows 5 and 6), and 1 more. ");
	expect(none).toContain("no value: 3 rows, such as 'NULL' (row 3). ");
});
