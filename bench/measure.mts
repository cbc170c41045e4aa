/** Time, processor time and peak memory of a piece of work in this process. */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpuUsage, memoryUsage } from 'node:process';

export const MIB = 1024 * 1024;

const SAMPLE_INTERVAL_MS = 5;

export interface Measurement {
	seconds: number;
	/** Processor time of this process, all threads. */
	cpuSeconds: number;
	/** Peak resident memory above the start, in MiB. */
	memoryMB: number;
}

/** Resets the peak resident size that Linux records; false if there is none. */
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
 * Runs `work` and measures it. The peak memory is Linux's own record if available, else sampled
 * every 5 ms. The start is taken after a garbage collection if the process allows one
 * (`--expose-gc`).
 */
export async function measure(work: () => Promise<void>): Promise<Measurement> {
	globalThis.gc?.();
	const base = memoryUsage.rss();
	let sampled = base;
	const hasPeak = resetPeak();
	const sample = () => {
		sampled = Math.max(sampled, memoryUsage.rss());
	};
	const timer = hasPeak ? undefined : setInterval(sample, SAMPLE_INTERVAL_MS);
	const cpuBefore = cpuUsage();
	const start = performance.now();
	await work();
	const seconds = (performance.now() - start) / 1000;
	clearInterval(timer);
	const peak = hasPeak ? readPeak() : sampled;
	const { user, system } = cpuUsage(cpuBefore);
	return { seconds, cpuSeconds: (user + system) / 1e6, memoryMB: Math.max(0, peak - base) / MIB };
}

/** Linux counts the processor time of other processes in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** The processor time that another process has used so far; undefined on other systems than Linux. */
export function readCpuSeconds(pid: number): number | undefined {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
		// The command's name, in parentheses, may hold spaces: utime and stime are 12th and 13th after it.
		const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
	} catch {
		return undefined;
	}
}
