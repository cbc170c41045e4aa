import { closestName } from '../../../nodes/DataPlatform/fields/closestName.ts';

test('the closest name is found whatever its case and dashes', () => {
	const known = ['firstname', 'surname', 'dateOfBirth'];
	expect(closestName('First Name', known)).toBe('firstname');
	expect(closestName('date_of_birth', known)).toBe('dateOfBirth');
	expect(closestName('sirname', known)).toBe('surname');
	expect(closestName('x', known)).toBeUndefined();
	expect(closestName('a'.repeat(101), known)).toBeUndefined();
	expect(closestName('surname', [])).toBeUndefined();
});

describe('the closest name', () => {
	test.each<[name: string, known: string[], closest: string | undefined]>([
		['sirnaem', ['surname'], undefined],
		['surnaem', ['surname'], 'surname'],
		['name', ['surname'], undefined],
		['abcdefg', ['abcde'], 'abcde'],
		['abcdefgh', ['abcde'], undefined],
		['abxcde', ['abcde'], 'abcde'],
		['axydez', ['abcde'], undefined],
		['ix', ['id'], 'id'],
		['xy', ['id'], undefined],
		// The first of two that are equally close; otherwise the closest.
		['name', ['nama', 'namb'], 'nama'],
		['name', ['nxmx', 'namx'], 'namx'],
		['a'.repeat(100), ['a'.repeat(99)], 'a'.repeat(99)],
		['a'.repeat(101), ['a'.repeat(100)], undefined],
		['ßa', ['ssa'], undefined],
	])('to %s among %j is %s', (name, known, closest) => {
		expect(closestName(name, known)).toBe(closest);
	});

	/** How many letters two texts differ in, computed the slow way. */
	const distance = (a: string, b: string): number =>
		a === '' || b === ''
			? a.length + b.length
			: Math.min(
					distance(a.slice(1), b) + 1,
					distance(a, b.slice(1)) + 1,
					distance(a.slice(1), b.slice(1)) + (a[0] === b[0] ? 0 : 1),
				);

	const words = ['', 'a', 'b', 'ab', 'ba', 'aab', 'abb', 'abab', 'bbaab', 'ababb', 'aabaab'];
	test.each(words)('to "%s" differs by two fifths of its letters at most, or by one', (name) => {
		for (const known of words) {
			const isClose = distance(name, known) <= Math.max(1, known.length * 0.4);
			expect([known, closestName(name, [known])]).toEqual([known, isClose ? known : undefined]);
		}
	});
});
