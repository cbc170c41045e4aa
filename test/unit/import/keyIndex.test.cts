/** Finds the first row of a key. */
import fc from 'fast-check';

import { KeyIndex } from '../../../nodes/DataPlatform/import/rowImport.ts';

test.each<[string, string[], Array<number | undefined>]>([
	['different keys', ['a', 'b', 'c'], [undefined, undefined, undefined]],
	['the same again', ['a', 'b', 'a', 'a'], [undefined, undefined, 1, 1]],
	['upper case', ['a', 'A', 'A'], [undefined, undefined, 2]],
	['spaces', ['a', ' a', 'a '], [undefined, undefined, undefined]],
	['the empty text', ['', 'a', ''], [undefined, undefined, 1]],
	['the same letters in another order', ['ab', 'ba', 'ab'], [undefined, undefined, 1]],
	['letters beyond 16 bits', ['😀', '😁', '😀'], [undefined, undefined, 1]],
	['the same end', ['1x', '2x', '12x', '1x'], [undefined, undefined, undefined, 1]],
	['a long one', ['x'.repeat(5000), 'x'.repeat(4999)], [undefined, undefined]],
])('%s', (_, keys, rows) => {
	const index = new KeyIndex();
	expect(keys.map((key, at) => index.firstRow(key, at + 1))).toEqual(rows);
});

test('far apart, among tens of thousands', () => {
	const index = new KeyIndex();
	const count = 20_000;
	for (let row = 1; row <= count; row += 1) {
		if (index.firstRow(`key-${row}`, row) !== undefined) throw new Error(`row ${row} is new`);
	}
	const rows = Array.from({ length: count }, (_, at) => at + 1);
	expect(rows.filter((row) => index.firstRow(`key-${row}`, count + row) !== row)).toEqual([]);
	expect(index.firstRow(`key-${count + 1}`, 7)).toBeUndefined();
});

test('as a Map, whatever comes', () => {
	fc.assert(
		fc.property(fc.array(fc.string({ maxLength: 2 }), { maxLength: 900 }), (keys) => {
			const [index, known] = [new KeyIndex(), new Map<string, number>()];
			const isSame = keys.every((key, at) => {
				const first = known.get(key);
				if (first === undefined) known.set(key, at + 1);
				return index.firstRow(key, at + 1) === first;
			});
			expect(isSame).toBe(true);
		}),
	);
});
