/** The index of texts that readers and imports keep is as exact as a Map. */
import fc from 'fast-check';

import { TextIndex } from '../../../nodes/DataPlatform/api/idSet.ts';

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
])('%s', (_, texts, numbers) => {
	const index = new TextIndex();
	expect(texts.map((text, at) => index.add(text, at + 1))).toEqual(numbers);
	expect(texts.every((text) => index.has(text))).toBe(true);
	expect(index.has('new')).toBe(false);
	expect(index.size).toBe(new Set(texts).size);
});

test('at scale: far apart, among tens of thousands', () => {
	const index = new TextIndex();
	const count = 20_000;
	const all = Array.from({ length: count }, (_, at) => at + 1);
	expect(all.filter((at) => index.add(`key-${at}`, at) !== undefined)).toEqual([]);
	expect(index.size).toBe(count);
	expect(all.filter((at) => !index.has(`key-${at}`) || index.add(`key-${at}`, 0) !== at)).toEqual([]);
	expect(index.add(`key-${count + 1}`, 7)).toBeUndefined();
});

test('as a Map, whatever comes', () => {
	fc.assert(
		fc.property(fc.array(fc.string({ maxLength: 2 }), { maxLength: 900 }), (texts) => {
			const [index, known] = [new TextIndex(), new Map<string, number>()];
			const isSame = texts.every((text, at) => {
				const first = known.get(text);
				if (first === undefined) known.set(text, at + 1);
				return index.has(text) === (first !== undefined) && index.add(text, at + 1) === first;
			});
			expect([isSame, index.size]).toEqual([true, known.size]);
		}),
	);
});
