/** One run of an operation under a fault. */
import type { INode } from 'n8n-workflow';
import { SeededRandom } from '../../support/seededRandom.mts';
import { mark } from '../faults/faults.mts';
import { choosePlatform } from '../faults/platform.mts';
import { SHORT_TIMEOUT_S, type FaultCase } from './faultCases.mts';
import type { FaultRule } from '../../../harness/sandboxAdmin.mts';
import type { Verdict } from '../../support/results.mts';
import { describeRequest } from '../faults/sandboxSlot.mts';
import { findErrors, FAULT, isMet, markOf } from './assertOutcome.mts';
import type { MatrixSandbox } from './matrixSandbox.mts';
import { drawReading, type VariantCase } from './variantCases.mts';
import type { Moment } from './runBesideOther.mts';
import type { Prepared, Scenario } from './scenarios/scenario.mts';
import { parseResult, type ItemResult } from './parseResult.mts';

/** Which requests of a run are affected. */
export const TIMINGS = ['first', 'firstMain', 'later', 'everyMain', 'every'] as const;
export type Timing = (typeof TIMINGS)[number] | 'inARow';

const ON_ERROR = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const;

/** Long enough for a busy machine. */
const TIMEOUT_S = 30;

export interface Plan {
	faultCase: FaultCase;
	timing: Timing | Moment;
	seed: number;
	/** The reading of what is unknown about the platform; drawn if there is a fault. */
	variant?: VariantCase;
}

/** With the variants that the run has met, if it was made under a reading of one. */
export interface CaseVerdict extends Verdict {
	met?: string[];
}

/** How many items have which result, in a run that met its fault. */
export function countItems(isMet: boolean, items: ItemResult[]): Record<string, number> {
	const counts: Record<string, number> = { [isMet ? 'runs' : 'runs that did not meet the fault']: 1 };
	for (const { kind } of isMet ? items : []) counts[`items ${kind}`] = (counts[`items ${kind}`] ?? 0) + 1;
	return counts;
}

export const whenOf = (timing: Plan['timing'], random: SeededRandom): FaultRule['when'] => {
	if (timing === 'first' || timing === 'firstMain') return { nth: [1] };
	return timing === 'later' ? { nth: [random.between(2, 5)] } : undefined;
};

/** Faults that affect the requests for one of the items, one after the other. */
function rowOf({ fault, then = [] }: FaultCase, { main, traces }: Prepared, random: SeededRandom): FaultRule[] {
	const trace = traces[random.between(0, traces.length - 1)]!;
	const match = 'path' in trace ? { ...main, path: trace.path } : { ...main, bodyContains: trace.body };
	return [{ fault }, ...then].map((entry, number) => ({
		id: `${FAULT} ${number}`,
		match,
		when: { nth: [number + 1] },
		fault: entry.fault,
	}));
}

function rulesOf({ faultCase, timing }: Plan, prepared: Prepared, random: SeededRandom): FaultRule[] {
	const { fault, isBulk, isByValue } = faultCase;
	const marks = prepared.traces.flatMap((trace, index) => ('body' in trace ? [mark(markOf(index), trace.body)] : []));
	if (fault.kind === 'none') return marks;
	if (timing === 'inARow') return [...marks, ...rowOf(faultCase, prepared, random)];
	const isMain = timing === 'firstMain' || timing === 'everyMain';
	const when = isByValue ? undefined : whenOf(timing, random);
	const match = isBulk ? { path: '/data/bulk$' } : isMain ? prepared.main : undefined;
	return [...marks, { id: FAULT, ...(match && { match }), ...(when && { when }), fault }];
}

/** Runs an operation, and compares its results with the stored records. */
export async function runCase(slot: MatrixSandbox, scenario: Scenario, plan: Plan): Promise<CaseVerdict> {
	const { faultCase, timing, seed } = plan;
	const random = new SeededRandom(seed);
	const onError: INode['onError'] = random.of(...ON_ERROR);
	slot.platform = choosePlatform(random);
	slot.readings = plan.variant ?? drawReading(random);
	const prepared = await scenario.prepare(slot, random);
	await slot.begin(rulesOf(plan, prepared, random));
	const timeout = faultCase.isLate ? SHORT_TIMEOUT_S : TIMEOUT_S;
	const { parameters, items } = prepared;
	const runResult = await slot.run(timeout, { parameters, input: items, onError });
	const truth = await slot.truth();
	const result = await parseResult(runResult, items.length, onError);
	const isOnce = !['every', 'everyMain', 'inARow'].includes(timing) && !faultCase.isByValue;
	const problems = await findErrors({ scenario, prepared, faultCase, truth, result }, isOnce);
	if (JSON.stringify(runResult.run).includes(slot.credential.token)) {
		problems.push('the token is in what the run left behind');
	}
	return {
		met: plan.variant && (await slot.metVariants()),
		seen: countItems(truth.requests.some(isMet), result.items),
		problems,
		evidence: [
			`onError ${onError}, ${JSON.stringify({ ...slot.platform, readings: slot.readings.name })}, ${JSON.stringify(parameters)}`,
			...truth.requests.map(describeRequest),
			...(result.stop ? [JSON.stringify(result.stop)] : []),
			...result.items.map((item, index) => `${index}: ${JSON.stringify(item)}`),
		],
	};
}
