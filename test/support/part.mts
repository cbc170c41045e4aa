/**
 * How much is tested: everything, or in the gate a part of it, which differs from commit to commit.
 * `scripts/test.mts` sets the environment variable.
 */
import { SeededRandom } from './seededRandom.mts';

const seed = process.env.TEST_PART;

/** Of how many rounds at random `npm test` makes one. */
const ONE_IN = Number(process.env.TEST_ONE_IN ?? 1);

/** How many rounds at random to make: a part of them in `npm test`, all of them in the gate. */
export const runsOf = (all: number) => Math.ceil(all / ONE_IN);

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
