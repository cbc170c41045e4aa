/**
 * Which versions of which records a webhook trigger has emitted: the platform may send a request
 * twice, and after two requests for two changes the later one may be read both times.
 */
import type { PlatformRecord } from '../api/types';
import { isFirstVersion, timeOf, versionOf } from '../changes/tracker';
import { setMostRecent } from './recent';

/** How many records are remembered; the one emitted first is forgotten first. */
const MAX_RECORDS = 1000;

/** A record's id, the version emitted last, and its time; no version once it is deleted. */
export type EmittedVersion = [id: string, version: number | null, time: number];

export type EventKind = 'created' | 'updated' | 'deleted';

/** Whether an entry came after another one. Times may be equal: a deletion keeps that of its record. */
const isLater = ([, version, time]: EmittedVersion, [, otherVersion, otherTime]: EmittedVersion) =>
	time > otherTime || (time === otherTime && (version ?? Infinity) > (otherVersion ?? Infinity));

export class EmittedVersions {
	private readonly versions = new Map<string, EmittedVersion>();

	/** Adds what was stored, if it is newer than what is known. */
	restore(stored: EmittedVersion[]): void {
		for (const entry of stored) {
			const known = this.versions.get(entry[0]);
			if (!known || isLater(entry, known)) this.set(entry);
		}
	}

	/**
	 * Marks a record's version as emitted.
	 *
	 * @returns what it is emitted as; undefined if it was emitted already
	 */
	add(record: PlatformRecord): EventKind | undefined {
		const version = versionOf(record);
		const time = timeOf(record);
		const known = this.versions.get(record.id);
		// After a deletion it is back, and begins anew with its versions.
		const isNotLater = known !== undefined && known[1] !== null && time <= known[2];
		const kind = isFirstVersion(record) && !isNotLater ? 'created' : 'updated';
		// Neither a version nor a time: nothing says whether it is another one.
		if (version === 0 && time === 0) return kind;
		if (isNotLater && version <= known[1]!) return undefined;
		this.set([record.id, version, time]);
		return kind;
	}

	/** Marks a deletion as emitted; undefined if it was already. */
	addDeletion(id: string): EventKind | undefined {
		const known = this.versions.get(id);
		if (known?.[1] === null) return undefined;
		this.set([id, null, known?.[2] ?? 0]);
		return 'deleted';
	}

	/** What is to be stored, the oldest first. */
	list(): EmittedVersion[] {
		return [...this.versions.values()];
	}

	private set(entry: EmittedVersion): void {
		setMostRecent(this.versions, entry[0], entry, MAX_RECORDS);
	}
}
