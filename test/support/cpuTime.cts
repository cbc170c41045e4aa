/** A test of how much work something is, whatever else the machine does. */

/** Starts counting. @returns how many milliseconds of processor time this process has used since */
export function countCpuTime(): () => number {
	const start = process.cpuUsage();
	return () => {
		const { user, system } = process.cpuUsage(start);
		return (user + system) / 1000;
	};
}
