/**
 * The record versions that a webhook trigger has emitted. The platform may send a request twice,
 * and after two requests for two changes, both may read the later version.
 */
import type { PlatformRecord } from '../api/types';
import { createdAt, isNew, timeOf, versionOf } from '../changes/tracker';
import { setMostRecent } from '../transport/lru';

/** How many records to remember. The one emitted first is forgotten first. */
const MAX_RECORDS = 1000;

/** A record's ID, the version emitted last, and its time; no version if the record was deleted. */
export type EmittedVersion = [id: string, version: number | null, time: number];

type EventKind = 'created' | 'updated' | 'deleted';

/**
 * True for a later time. Times may be equal, because a deletion keeps the time of its record: then a
 * deletion, or the higher version, is later.
 */
const isLater = ([, version, time]: EmittedVersion, [, otherVersion, otherTime]: EmittedVersion) =>
	time > otherTime || (time === otherTime && (version ?? Infinity) > (otherVersion ?? Infinity));

export class EmittedVersions {
	private readonly versions = new Map<string, EmittedVersion>();

	/** Adds stored entries that are newer than the known ones. */
	restore(stored: EmittedVersion[]): void {
		for (const entry of stored) {
			const known = this.versions.get(entry[0]);
			if (!known || isLater(entry, known)) this.set(entry);
		}
	}

	/**
	 * Marks a record's version as emitted.
	 *
	 * @returns the kind of event to emit; undefined if the version was already emitted
	 */
	add(record: PlatformRecord): EventKind | undefined {
		const version = versionOf(record);
		const time = timeOf(record);
		const known = this.versions.get(record.id);
		// A record that comes back after a deletion restarts its versions.
		const isNotLater = known !== undefined && known[1] !== null && time <= known[2];
		const isKnown = known !== undefined && known[1] !== null && createdAt(record) <= known[2];
		const kind = isNew(record) && !isKnown ? 'created' : 'updated';
		// With neither a version nor a time, nothing shows whether it is new: emit it.
		if (version === 0 && time === 0) return kind;
		if (isNotLater && version <= known[1]!) return undefined;
		this.set([record.id, version, time]);
		return kind;
	}

	/** Marks a deletion as emitted; undefined if it already was. */
	addDeletion(id: string): EventKind | undefined {
		const known = this.versions.get(id);
		if (known?.[1] === null) return undefined;
		this.set([id, null, known?.[2] ?? 0]);
		return 'deleted';
	}

	/** The entries to store, oldest first. */
	list(): EmittedVersion[] {
		return [...this.versions.values()];
	}

	private set(entry: EmittedVersion): void {
		setMostRecent(this.versions, entry[0], entry, MAX_RECORDS);
	}
}
