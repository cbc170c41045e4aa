import { similarKeys } from '../../../../nodes/DataPlatform/bulk/plan/similarKeys.ts';
import { sendableOf } from '../../fixtures.cts';

const notice = (keys: Array<string | undefined>, unit?: 'row') =>
	similarKeys(
		keys.map((key, index) => sendableOf({ index, key })),
		unit,
	);

const ADVICE = "If they are the same, add .trim().toLowerCase() to the key's expression.";

test.each<[keys: Array<string | undefined>, names: string]>([
	[['Ann@X.com', 'bob', ' ann@x.com '], "'Ann@X.com', ' ann@x.com ' (items 0 and 2)"],
	[['a', 'A', ' a', 'b', 'B'], "'a', 'A' (items 0 and 1), and 2 more"],
	[['"a", "b"', '" a", "B"'], `'"a", "b"', '" a", "B"' (items 0 and 1)`],
])('%j has keys that people may take for the same', (keys, names) => {
	expect(notice(keys)).toBe(`Keys that differ only in case or spaces are different records: ${names}. ${ADVICE}`);
});

test.each([[[]], [['a', 'b']], [['a', 'a']], [[undefined, undefined]]])('%j has none', (keys) => {
	expect(notice(keys)).toBeUndefined();
});

test('of a file are in rows', () => {
	expect(notice(['a', 'A'], 'row')).toContain('(rows 0 and 1)');
});
