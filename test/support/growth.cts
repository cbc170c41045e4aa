/** A test of how work grows with what it is given, whatever else the machine does. */

const ATTEMPTS = 3;

/** How often the larger work is the smaller one. What grows with the square takes 16 times as long. */
const TIMES = 4;

/** Between 4 times and 16 times. */
export const LINEAR = 10;

/** The clock of the processor's time has steps of some milliseconds: less than this is not measured. */
const LEAST_MICROSECONDS = 20_000;

async function cpuTimeOf(work: () => unknown, rounds: number): Promise<number> {
	const start = process.cpuUsage();
	for (let round = 0; round < rounds; round += 1) await work();
	return process.cpuUsage(start).user;
}

/**
 * How many times as long the work takes with four times as much.
 *
 * @param prepare builds what is worked on, which does not count
 * @returns the quotient of the shortest processor times of three attempts
 */
export async function growthOf(size: number, prepare: (size: number) => () => unknown): Promise<number> {
	const [small, large] = [prepare(size), prepare(size * TIMES)];
	let rounds = 1;
	while ((await cpuTimeOf(small, rounds)) < LEAST_MICROSECONDS) rounds *= 2;
	const times = { small: Infinity, large: Infinity };
	for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
		times.small = Math.min(times.small, await cpuTimeOf(small, rounds));
		times.large = Math.min(times.large, await cpuTimeOf(large, rounds));
	}
	return times.large / times.small;
}
