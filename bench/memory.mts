/** Time, processor time and peak memory of a piece of work in this process. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpuUsage, memoryUsage } from 'node:process';

export const MIB = 1024 * 1024;
const SAMPLE_MS = 5;

/** Resets the peak resident size that Linux records; false where there is none. */
function resetPeak(): boolean {
	try {
		writeFileSync('/proc/self/clear_refs', '5');
		return true;
	} catch {
		return false;
	}
}

function readPeak(): number {
	const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
	return Number(kilobytes) * 1024;
}

/**
 * Runs `work` and returns how long it took, its processor time, and its peak resident memory above
 * the start, in MiB: from Linux's own record if available, else sampled every 5 ms. The start is
 * taken after a garbage collection if the process allows one (`--expose-gc`).
 */
export async function measure(work: () => Promise<void>) {
	globalThis.gc?.();
	const base = memoryUsage.rss();
	let sampled = base;
	const hasPeak = resetPeak();
	const sample = () => {
		sampled = Math.max(sampled, memoryUsage.rss());
	};
	const timer = hasPeak ? undefined : setInterval(sample, SAMPLE_MS);
	const used = cpuUsage();
	const start = performance.now();
	await work();
	const seconds = (performance.now() - start) / 1000;
	clearInterval(timer);
	const peak = hasPeak ? readPeak() : sampled;
	const { user, system } = cpuUsage(used);
	return { seconds, cpuSeconds: (user + system) / 1e6, memoryMB: Math.max(0, peak - base) / MIB };
}
