/** What the contract leaves open about the platform, chosen at random for every run. */
import fc from 'fast-check';
import type { SeededRandom } from '../../support/seededRandom.mts';

/** The resolution of records' times, in milliseconds. */
const PRECISIONS = [1, 1, 1, 1, 1000, 1000, 10, 60_000] as const;

/** How many records the platform puts into a page at most, whatever the request asks for. */
const PAGE_CAPS: readonly [number | null, ...Array<number | null>] = [null, null, null, null, null, null, null, null, 25, 30, 60, 120];

/** Settings of the sandbox; docs/sandbox.md. */
export const platformSettings = {
	timePrecisionMs: fc.constantFrom(...PRECISIONS),
	maxListedRecords: fc.constantFrom(...PAGE_CAPS),
	maxFilteredRecords: fc.constantFrom(...PAGE_CAPS),
};

export interface Platform {
	precision: { timePrecisionMs: number };
	pageCaps: { maxListedRecords: number | null; maxFilteredRecords: number | null };
}

/** Exact to the millisecond, with pages as large as requested. */
export const plainPlatform: Platform = {
	precision: { timePrecisionMs: 1 },
	pageCaps: { maxListedRecords: null, maxFilteredRecords: null },
};

export const choosePlatform = (random: SeededRandom): Platform => ({
	precision: { timePrecisionMs: random.of(...PRECISIONS) },
	pageCaps: { maxListedRecords: random.of(...PAGE_CAPS), maxFilteredRecords: random.of(...PAGE_CAPS) },
});
