/**
 * Which versions of which records a webhook trigger has emitted: the platform may send a request
 * twice, and after two requests for two changes the later one may be read both times.
 */
import type { PlatformRecord } from '../api/types';
import { timeOf, versionOf } from '../changes/tracker';

/** How many records are remembered; the one emitted first is forgotten first. */
const MAX_RECORDS = 1000;

/** A record's id, the version emitted last, and its time; no version once it is deleted. */
export type EmittedVersion = [id: string, version: number | null, time: number];

export class EmittedVersions {
	private readonly versions = new Map<string, EmittedVersion>();

	/** Adds what was stored, where it is newer than what is known. */
	restore(stored: EmittedVersion[]): void {
		for (const entry of stored) {
			const known = this.versions.get(entry[0]);
			if (!known || known[2] < entry[2]) this.set(entry);
		}
	}

	/** Marks a version as emitted; false if it was already. */
	add(record: PlatformRecord): boolean {
		const version = versionOf(record);
		const time = timeOf(record);
		// Neither a version nor a time: nothing says whether it is another one.
		if (version === 0 && time === 0) return true;
		const known = this.versions.get(record.id);
		const isEmitted =
			known !== undefined && time <= known[2] && (known[1] === null || version <= known[1]);
		if (!isEmitted) this.set([record.id, version, time]);
		return !isEmitted;
	}

	/** Marks a deletion as emitted; false if it was already. */
	addDeletion(id: string): boolean {
		const known = this.versions.get(id);
		if (known?.[1] === null) return false;
		this.set([id, null, known?.[2] ?? 0]);
		return true;
	}

	/** What is to be stored, the oldest first. */
	list(): EmittedVersion[] {
		return [...this.versions.values()];
	}

	private set(entry: EmittedVersion): void {
		this.versions.delete(entry[0]);
		this.versions.set(entry[0], entry);
		const [oldest] = this.versions.keys();
		if (this.versions.size > MAX_RECORDS) this.versions.delete(oldest!);
	}
}
