/** The memory of a process and its descendants, from /proc, so only on Linux. */
import { readdirSync, readFileSync } from 'node:fs';
import { residentMemory } from '../../test/endurance/soak/processMetrics.mts';

const SAMPLE_INTERVAL_MS = 50;

function childrenOf(pid: number): number[] {
	return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
		readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
			.split(' ')
			.filter(Boolean)
			.map(Number),
	);
}

/** Resident memory in MiB; 0 if there is no such process. */
export function treeMemory(pid: number): number {
	try {
		return childrenOf(pid).reduce((sum, child) => sum + treeMemory(child), residentMemory(pid));
	} catch {
		// It ended between two reads.
		return 0;
	}
}

/** Watches the memory until the returned function is called, which returns the peak. */
export function watchTreeMemory(pid: number): () => number {
	let peak = 0;
	const sample = () => (peak = Math.max(peak, treeMemory(pid)));
	sample();
	const timer = setInterval(sample, SAMPLE_INTERVAL_MS);
	return () => {
		clearInterval(timer);
		return peak;
	};
}
