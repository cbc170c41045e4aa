/** How much memory a piece of work takes above what its process had before. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpuUsage, memoryUsage } from 'node:process';

const MB = 1024 * 1024;
const SAMPLE_MS = 5;

/** Linux keeps the highest resident size itself, and forgets it when it is asked to. */
function forgetPeak(): boolean {
	try {
		writeFileSync('/proc/self/clear_refs', '5');
		return true;
	} catch {
		return false;
	}
}

function peakOfSystem(): number {
	const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
	return Number(kilobytes) * 1024;
}

/**
 * Runs `work` and says how long it took, how long processors worked on it, and the most resident memory it held above the start, in
 * MB: from the system's own high-water mark where there is one, else sampled every 5 ms. The base
 * is taken after a garbage collection where the process allows one (`--expose-gc`).
 */
export async function measured(work: () => Promise<void>) {
	globalThis.gc?.();
	const base = memoryUsage.rss();
	let sampled = base;
	const isTold = forgetPeak();
	const sample = () => {
		sampled = Math.max(sampled, memoryUsage.rss());
	};
	const timer = isTold ? undefined : setInterval(sample, SAMPLE_MS);
	const used = cpuUsage();
	const start = performance.now();
	await work();
	const seconds = (performance.now() - start) / 1000;
	clearInterval(timer);
	const peak = isTold ? peakOfSystem() : sampled;
	const { user, system } = cpuUsage(used);
	return { seconds, cpuSeconds: (user + system) / 1e6, memoryMB: Math.max(0, peak - base) / MB };
}
