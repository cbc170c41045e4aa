import type { Variant } from '../sandbox/state/variants.mts';

/** A reading, or why it could not be found out. */
export type Answer = { value: string | number | null } | { unknown: string };

/** By the name of the variant's setting. */
export type Answers = Map<Variant['setting'], Answer>;

export const isReading = (answer: Answer): answer is { value: string | number | null } =>
	'value' in answer;
