/** Time and peak memory of a piece of work in this process. */
import { readFileSync, writeFileSync } from 'node:fs';
import { memoryUsage } from 'node:process';

export const MIB = 1024 * 1024;

export interface Measurement {
	seconds: number;
	/** Peak resident memory above the start, in MiB; undefined on other systems than Linux. */
	memoryMB?: number;
	/** The longest block of n8n's event loop. */
	blockMs?: number;
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

/** Runs `work` and measures it. Collects garbage first if the process allows it (`--expose-gc`). */
export async function measure(work: () => Promise<void>): Promise<Measurement> {
	globalThis.gc?.();
	const base = memoryUsage.rss();
	const hasPeak = resetPeak();
	const start = performance.now();
	await work();
	const seconds = (performance.now() - start) / 1000;
	return { seconds, ...(hasPeak && { memoryMB: Math.max(0, readPeak() - base) / MIB }) };
}

/** Linux counts the processor time of other processes in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** The processor time that another process has used so far; NaN on other systems than Linux. */
export function readCpuSeconds(pid: number): number {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
		// The command's name, in parentheses, may contain spaces: utime and stime are 12th and 13th after it.
		const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
	} catch {
		return NaN;
	}
}
