/** Random texts. */
import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };
const CODE_POINTS = 0x110000 - SURROGATES.count;

const character = fc
	.nat(CODE_POINTS - 1)
	.map((number) => (number < SURROGATES.first ? number : number + SURROGATES.count))
	.map((code) => String.fromCodePoint(code));

/**
 * Any characters, or those that are special in JavaScript. Not `fc.string({ unit: 'binary' })`,
 * which first makes a table of all characters and takes seconds.
 */
export const anyText = (): fc.Arbitrary<string> =>
	fc.oneof({ arbitrary: fc.array(character).map((characters) => characters.join('')), weight: 3 }, fc.string());
