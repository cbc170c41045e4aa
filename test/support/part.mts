/**
 * How much is tested: everything, or in the gate a part of it, which differs from commit to commit.
 * `scripts/test.mts` sets the environment variable.
 */
import { SeededRandom } from './seededRandom.mts';

const seed = process.env.TEST_PART;

/** Whether a part is enough. */
export const IS_PART = seed !== undefined;

/** All of a list, or in the gate this many of it, drawn by a seed from the commit. */
export function part<Value>(list: readonly Value[], count: number): Value[] {
	if (seed === undefined) return [...list];
	const random = new SeededRandom(Number(seed));
	const rest = [...list];
	const drawn = new Set<Value>();
	while (drawn.size < count && rest.length > 0) {
		const [value] = rest.splice(random.between(0, rest.length - 1), 1);
		drawn.add(value!);
	}
	return list.filter((value) => drawn.has(value));
}
