import { didYouMean } from '../../../nodes/DataPlatform/transport/closestName.ts';

const named = (names: string[]) => names.map((name) => ({ name }));

describe('the closest name', () => {
	test.each<[name: string, known: string[], closest: string | undefined]>([
		// Case, separators and accents are no difference.
		['First Name', ['firstname', 'surname'], 'firstname'],
		['date_of_birth', ['dateOfBirth'], 'dateOfBirth'],
		['id-', ['id'], 'id'],
		['Café', ['cafe'], 'cafe'],
		// One slip in a name of five letters or more.
		['sirname', ['surname'], 'surname'],
		['surnaem', ['surname'], 'surname'],
		['surname', ['surnam'], 'surnam'],
		['mail', ['email'], 'email'],
		['emails', ['email'], 'email'],
		['agee', ['age'], undefined],
		['rate', ['date'], undefined],
		['sirnaem', ['surname'], undefined],
		['dateOfBrith', ['dateOfBirth'], 'dateOfBirth'],
		['dateOfBrithe', ['dateOfBirth'], undefined],
		// Other words are no slips.
		['lastname', ['firstname', 'surname'], undefined],
		['fullName', ['surname'], undefined],
		['name', ['surname'], undefined],
		['x', ['firstname'], undefined],
		// Nor are other digits.
		['address1', ['address2'], undefined],
		['adress1', ['address1'], 'address1'],
		['address1', ['address'], undefined],
		// The closest; none if two are equally close.
		['emial', ['email', 'emails'], 'email'],
		['firstnam', ['firstname', 'first-name'], undefined],
		['phon3', [], undefined],
		['---', ['', '--'], undefined],
		['a'.repeat(100_000), ['a'.repeat(99_999)], 'a'.repeat(99_999)],
		['a'.repeat(100_000), ['a'.repeat(99)], undefined],
	])('to %s among %j is %s', (name, known, closest) => {
		expect(didYouMean(name, named(known))).toBe(closest === undefined ? '' : `, did you mean '${closest}'?`);
	});

	test('may be close by its header; all are named if only case, separators or accents differ', () => {
		const known = [
			{ name: 'sn', header: 'Surname' },
			{ name: 'fn', header: 'First name' },
		];
		expect(didYouMean('fristname', known)).toBe(", did you mean 'fn'?");
		expect(didYouMean('sur-name', known)).toBe(", did you mean 'sn'?");
		expect(didYouMean('lastname', known)).toBe('');
		expect(didYouMean('SN', [...known, { name: 'x', header: 's.n.' }])).toBe(", several fit: 'sn', 'x'");
		expect(didYouMean('first_name', named(['firstname', 'first-name']))).toBe(", several fit: 'firstname', 'first-name'");
	});

	/** How many slips are between two texts, computed the slow way. */
	const distance = (a: string, b: string): number =>
		a === '' || b === ''
			? a.length + b.length
			: Math.min(
					distance(a.slice(1), b) + 1,
					distance(a, b.slice(1)) + 1,
					distance(a.slice(1), b.slice(1)) + (a[0] === b[0] ? 0 : 1),
					a[0] === b[1] && a[1] === b[0] ? distance(a.slice(2), b.slice(2)) + 1 : Infinity,
				);

	const words = ['a', 'b', 'ab', 'aabbb', 'abbab', 'bbaab', 'ababba', 'baabaa', 'abaabb'];
	test.each(words)('to "%s" differs by one slip at most', (name) => {
		for (const known of words) {
			const most = Math.max(name.length, known.length) < 5 ? 0 : 1;
			const isClose = distance(name, known) <= most;
			expect([known, didYouMean(name, named([known])) !== '']).toEqual([known, isClose]);
		}
	});
});
