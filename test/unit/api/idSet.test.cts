/** The set of IDs that readers keep is as exact as a Set. */
import fc from 'fast-check';

import { IdSet } from '../../../nodes/DataPlatform/api/idSet.ts';

const NIL = '00000000-0000-0000-0000-000000000000';

/** UUIDs as databases number them: they differ only in some digits. */
const numbered = (index: number) => `${index.toString(16).padStart(8, '0')}-0000-1000-8000-00805f9b34fb`;

test.each<[string, string, boolean]>([
	['the same', '6f4b0c1e-2d3a-4b5c-8d7e-9f0a1b2c3d4e', false],
	['the same in upper case', '6F4B0C1E-2D3A-4B5C-8D7E-9F0A1B2C3D4E', false],
	['another first word', '7f4b0c1e-2d3a-4b5c-8d7e-9f0a1b2c3d4e', true],
	['another second word', '6f4b0c1e-2d3a-4b5d-8d7e-9f0a1b2c3d4e', true],
	['another third word', '6f4b0c1e-2d3a-4b5c-8d7f-9f0a1b2c3d4e', true],
	['another last word', '6f4b0c1e-2d3a-4b5c-8d7e-9f0a1b2c3d4f', true],
	['no UUID, but its digits', '6f4b0c1e2d3a4b5c8d7e9f0a1b2c3d4e', true],
	['longer', '6f4b0c1e-2d3a-4b5c-8d7e-9f0a1b2c3d4e0', true],
	['no UUID', 'r1', true],
	['empty', '', true],
	['all zeros', NIL, true],
])('%s', (_, id, isNew) => {
	const ids = new IdSet();
	expect(ids.has(id)).toBe(false);
	expect(ids.add('6f4b0c1e-2d3a-4b5c-8d7e-9f0a1b2c3d4e')).toBe(true);
	expect(ids.has(id)).toBe(!isNew);
	expect(ids.add(id)).toBe(isNew);
	expect(ids.add(id)).toBe(false);
	expect(ids.has(id)).toBe(true);
	expect(ids.size).toBe(isNew ? 2 : 1);
});

test('as a Set, whatever is added', () => {
	const id = fc.oneof(
		fc.uuid(),
		fc.nat(300).map(numbered),
		fc.nat(50).map((index) => `r${index}`),
		fc.constant(NIL),
	);
	fc.assert(
		fc.property(fc.array(id, { minLength: 500, maxLength: 2000 }), (all) => {
			const [ids, known] = [new IdSet(), new Set<string>()];
			const isSame = all.every((one) => {
				const isKnown = known.has(one);
				known.add(one);
				return ids.has(one) === isKnown && ids.add(one) === !isKnown && ids.has(one);
			});
			expect([isSame, ids.size]).toEqual([true, known.size]);
		}),
		{ numRuns: 30 },
	);
});

test('at scale: many that differ in one word only', () => {
	const ids = new IdSet();
	const count = 50_000;
	for (let index = 0; index < count; index += 1) ids.add(numbered(index));
	expect(ids.size).toBe(count);
	const all = Array.from({ length: count }, (_, index) => numbered(index));
	expect(all.filter((id) => !ids.has(id))).toEqual([]);
	expect(ids.has(numbered(count))).toBe(false);
});

test.each(['g', 'G', '@', '`', '/', ':', '-', 'á', ' '])('a UUID with %j in place of a digit is another text in each case', (other) => {
	const id = `${other}1234567-89ab-cdef-0123-456789abcdef`;
	const set = new IdSet();
	expect(set.add(id)).toBe(true);
	expect(set.has(id)).toBe(true);
	expect(set.has(id.toUpperCase())).toBe(false);
});
