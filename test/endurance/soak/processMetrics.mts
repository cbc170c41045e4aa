/** The memory and the open descriptors of a process. */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const MB = 1024 * 1024;

export interface OpenDescriptors {
	files: number;
	sockets: number;
}

/** A process's open files and sockets, from /proc. */
export function countOpen(pid: number | 'self'): OpenDescriptors {
	const folder = `/proc/${pid}/fd`;
	const open = { files: 0, sockets: 0 };
	for (const name of readdirSync(folder)) {
		try {
			if (readlinkSync(`${folder}/${name}`).startsWith('socket:')) open.sockets += 1;
			else open.files += 1;
		} catch {
			// Closed between the two reads.
		}
	}
	return open;
}

/** Resident memory of a process in MB. */
export function residentMemory(pid: number): number {
	const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
	return Number(kilobytes) / 1024;
}

/** The memory of this process that is still in use, in MB. */
export function memoryNow() {
	if (!globalThis.gc) throw new Error('Start Node with --expose-gc.');
	// What the first collection frees may have held more.
	globalThis.gc();
	globalThis.gc();
	const { heapUsed, external, rss } = process.memoryUsage();
	return { heap: heapUsed / MB, external: external / MB, resident: rss / MB };
}
