/**
 * The readings of what is unknown about the platform (`x-variants` in the contract), as settings of
 * the sandbox for one run.
 */
import { variants } from '../../../sandbox/state/variants.mts';
import type { SeededRandom } from '../../support/seededRandom.mts';

type Settings = Record<string, unknown>;

export interface VariantCase {
	/** Such as `dates older`; of a pair, both. */
	name: string;
	/** What the platform is like from the beginning. */
	settings: Settings;
	/** What it refuses once the run has begun: the run can't succeed as a whole. */
	limits: Settings;
	/** The settings that differ from their defaults by name. */
	readings: string[];
}

/** Small enough for a run to meet them. */
const LIMITS: Settings = { dailyQuota: 4, maxRecords: 6, maxStorageBytes: 400 };

/** Values for a run in place of the first of a variant's other readings, which is for people. */
const FOR_RUNS: Settings = { lateValuesMs: 15 };

/** A reading that matters only with a limit. */
const WITH_LIMIT: Record<string, Settings> = {
	quotaRetryAfter: { dailyQuota: LIMITS.dailyQuota },
	limitErrors: { maxRecords: LIMITS.maxRecords },
};

function caseOf(setting: string, value: unknown): VariantCase {
	const used = LIMITS[setting] ?? FOR_RUNS[setting] ?? value;
	const isLimit = setting in LIMITS || setting in WITH_LIMIT;
	const change = { [setting]: used, ...WITH_LIMIT[setting] };
	return { name: `${setting} ${String(value)}`, settings: isLimit ? {} : change, limits: isLimit ? change : {}, readings: [setting] };
}

/** Every reading but the defaults. */
export const variantCases: readonly VariantCase[] = variants.flatMap(({ setting, readings }) =>
	readings.slice(1).map(({ value }) => caseOf(setting, value)),
);

const unlimited = variantCases.filter(({ limits }) => Object.keys(limits).length === 0);

const pick = (random: SeededRandom, list: readonly VariantCase[]) => list[random.between(0, list.length - 1)]!;

/** The defaults, which every run begins with. */
export const defaultReadings: Settings = Object.fromEntries(variants.map(({ setting, readings }) => [setting, readings[0].value]));

/** The platform as the sandbox plays it by default. */
export const usualPlatform: VariantCase = { name: 'defaults', settings: {}, limits: {}, readings: [] };

/** A reading for a run under a fault, which must not hide it behind a limit; mostly the defaults. */
export const drawReading = (random: SeededRandom): VariantCase => (random.happens(0.3) ? pick(random, unlimited) : usualPlatform);

/** Two readings of different variants. */
export function drawPair(random: SeededRandom): VariantCase {
	const first = pick(random, variantCases);
	const [setting] = first.readings;
	const second = pick(
		random,
		variantCases.filter(({ readings }) => readings[0] !== setting),
	);
	return {
		name: `${first.name} and ${second.name}`,
		settings: { ...first.settings, ...second.settings },
		limits: { ...first.limits, ...second.limits },
		readings: [...first.readings, ...second.readings],
	};
}
