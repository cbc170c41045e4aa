/** A mutant that no test can notice: its lines before and after, as the run shows them, and why. */
interface Equivalent {
	from: string;
	to: string;
	why: string;
}

/** By file in `nodes/DataPlatform`. Only what behaves the same for every input belongs here. */
export const EQUIVALENT: Record<string, Equivalent[]> = {};
