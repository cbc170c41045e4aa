/** What the contract leaves open about the platform, drawn at random for every schedule. */
import fc from 'fast-check';

const pageCap = fc.oneof(
	{ weight: 5, arbitrary: fc.constant(null) },
	{ weight: 4, arbitrary: fc.constantFrom(1, 2, 3, 20, 40, 60, 120) },
);

/** How exact the times of records are, and to how many records pages are cut. */
export const platformSettings = {
	timePrecisionMs: fc.oneof(
		{ weight: 4, arbitrary: fc.constant(1) },
		{ weight: 3, arbitrary: fc.constantFrom(1000, 1000, 10, 60_000) },
	),
	maxListedRecords: pageCap,
	maxFilteredRecords: pageCap,
};
