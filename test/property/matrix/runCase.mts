/** One run of an operation under a fault. */
import { isDeepStrictEqual } from 'node:util';
import type { INode } from 'n8n-workflow';
import { Chance } from '../../support/seededRandom.mts';
import { mark } from '../faults/faults.mts';
import { onOwnClock } from './virtualClock.mts';
import { SHORT_TIMEOUT_S, type Column } from './faultCases.mts';
import { runOperation, type FaultRule } from './engine.mts';
import { disagreements, FAULT, isMet, markOf, repeatsIn } from './assertOutcome.mts';
import type { Place, Truth } from './sandboxSlot.mts';
import type { Prepared, Scenario } from './scenarios/scenario.mts';
import { toldBy } from './parseResult.mts';

/** Which requests of a run meet the fault. */
export const TIMINGS = ['first', 'firstMain', 'later', 'everyMain', 'every'] as const;
export type Timing = (typeof TIMINGS)[number];

const ON_ERROR = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const;

/** Long enough for a busy machine. */
const TIMEOUT_S = 30;

export interface Plan {
	column: Column;
	timing: Timing;
	seed: number;
}

export interface Verdict {
	/** Whether a request met the fault at all. */
	isMet: boolean;
	done: number;
	failed: number;
	unknown: number;
	untold: number;
	repeats: number;
	problems: string[];
	/** For a person who looks for the cause. */
	evidence: string[];
}

export const whenOf = (timing: Timing, chance: Chance): FaultRule['when'] => {
	if (timing === 'first' || timing === 'firstMain') return { nth: [1] };
	return timing === 'later' ? { nth: [chance.between(2, 5)] } : undefined;
};

function rulesOf({ column, timing }: Plan, prepared: Prepared, chance: Chance): FaultRule[] {
	const { fault, isBulk, isByValue } = column;
	const marks = prepared.traces.flatMap((trace, index) =>
		'body' in trace ? [mark(markOf(index), trace.body)] : [],
	);
	const isMain = timing === 'firstMain' || timing === 'everyMain';
	const when = isByValue ? undefined : whenOf(timing, chance);
	const match = isBulk ? { path: '/data/bulk$' } : isMain ? prepared.main : undefined;
	return [...marks, { id: FAULT, ...(match && { match }), ...(when && { when }), fault }];
}

export function describeRequests({ requests }: Truth): string[] {
	return requests.map(
		({ method, path, query, status, outcome, records, faults }) =>
			`${method} ${path}${query && `?${query}`} ${status ?? outcome}${records === null ? '' : ` records ${records}`} [${faults.join(', ')}]`,
	);
}

/** Runs an operation, and holds what it told against what is true. */
export async function runCell(place: Place, scenario: Scenario, plan: Plan): Promise<Verdict> {
	const { column, timing, seed } = plan;
	const chance = new Chance(seed);
	const onError: INode['onError'] = chance.of(...ON_ERROR);
	const prepared = await scenario.prepare(place, chance);
	await place.begin(rulesOf(plan, prepared, chance));
	const timeout = column.isLate ? SHORT_TIMEOUT_S : TIMEOUT_S;
	const { parameters, items } = prepared;
	const result = await onOwnClock(
		timeout,
		async () =>
			await runOperation(place.credential, {
				parameters: { ...parameters, options: { ...(parameters.options as object), timeout } },
				input: items,
				onError,
			}),
	);
	const truth = await place.truth();
	const told = await toldBy(result, items.length, onError);
	const isOnce = timing !== 'every' && timing !== 'everyMain' && !column.isByValue;
	const problems = await disagreements({ scenario, prepared, column, truth, told }, isOnce);
	if (JSON.stringify(result.run).includes(place.credential.token)) {
		problems.push('the token is in what the run left behind');
	}
	const count = (kind: string) => told.items.filter((item) => item.kind === kind).length;
	return {
		isMet: truth.requests.some(isMet),
		done: told.stop ? told.stop.done : count('done'),
		failed: count('failed'),
		unknown: count('unknown'),
		untold: told.stop ? count('untold') - told.stop.done : count('untold'),
		repeats: repeatsIn(truth.requests, column),
		problems,
		evidence: [
			`onError ${onError}, ${JSON.stringify(parameters)}`,
			...describeRequests(truth),
			...(isDeepStrictEqual(told.stop, undefined) ? [] : [JSON.stringify(told.stop)]),
			...told.items.map((item, index) => `${index}: ${JSON.stringify(item)}`),
		],
	};
}
