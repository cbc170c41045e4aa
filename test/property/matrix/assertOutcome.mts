/** Whether what the node told of a run agrees with what is true. */
import type { Column } from './faultCases.mts';
import type { LoggedRequest } from './engine.mts';
import type { Truth } from './sandboxSlot.mts';
import type { Effect, Prepared, Scenario } from './scenarios/scenario.mts';
import type { Told, ToldItem } from './parseResult.mts';

/** The id of the rule that is the fault, and of those that mark an item's requests. */
export const FAULT = 'fault';
export const markOf = (index: number) => `item ${index}`;

export interface Case {
	scenario: Scenario;
	prepared: Prepared;
	column: Column;
	truth: Truth;
	told: Told;
}

export const isMet = ({ faults }: LoggedRequest) => faults.includes(FAULT);

const isMain = ({ prepared }: Case, { method, path }: LoggedRequest) =>
	(prepared.main.method ?? method) === method && new RegExp(prepared.main.path).test(path);

/** Whether its body never arrived, so that nobody knows whose it was. */
const isUnread = ({ column }: Case, request: LoggedRequest) =>
	column.fault.kind === 'resetUpload' && isMet(request);

/** The requests that work on an item. */
function carriers(given: Case, index: number): LoggedRequest[] {
	const trace = given.prepared.traces[index]!;
	return given.truth.requests.filter(
		(request) =>
			isMain(given, request) &&
			('path' in trace
				? request.path.includes(trace.path)
				: request.faults.includes(markOf(index)) || isUnread(given, request)),
	);
}

/** Whether nobody can know from its answer what the request did. */
function isUnclear({ column }: Case, request: LoggedRequest): boolean {
	// So short a timeout may strike where no fault does.
	if (request.outcome !== 'completed' || column.isLate) return true;
	const status = request.status ?? 0;
	if (status >= 500 && !(isMet(request) && column.effect === 'waits')) return true;
	return isMet(request) && ['ambiguous', 'answer', 'records'].includes(column.effect);
}

/** Whether `unknown` is the truth about an item. */
function mayBeUnknown(given: Case, index: number): boolean {
	const { scenario, truth } = given;
	if (scenario.kind === 'read') return false;
	const requests = carriers(given, index);
	// What is counted after it is unclear too, where the counting does not work.
	const isUncounted = scenario.isCounted && requests.length > 0 && truth.requests.some(isMet);
	if (isUncounted) return true;
	if (!requests.some((request) => isUnclear(given, request))) return false;
	const last = requests.at(-1)!;
	// What was repeated with a clear answer is known, whatever came before.
	return scenario.kind === 'once' || isUnclear(given, last);
}

/** Whether all that went wrong could be mended by asking again, so that every item must succeed. */
function mustSucceed(given: Case, isOnce: boolean): boolean {
	const { column, scenario, truth } = given;
	const met = truth.requests.filter(isMet);
	if (met.length === 0 || column.effect === 'nothing') return !column.isLate;
	if (!isOnce || column.isLate) return false;
	if (column.effect === 'waits') return true;
	if (column.effect !== 'ambiguous') return false;
	const isRead = (request: LoggedRequest) =>
		scenario.kind === 'read' || !isMain(given, request) || request.method === 'GET';
	return met.every((request) => isRead(request) || scenario.kind === 'harmless');
}

const describe = (told: ToldItem) =>
	'message' in told ? `told '${told.kind}' (${told.message})` : `told '${told.kind}'`;

const amount = (effect: Effect) => (effect === 'done' ? 1 : 0);

async function judgeItem(given: Case, index: number): Promise<string[]> {
	const { prepared, scenario, truth, told } = given;
	const item = told.items[index]!;
	const effect = prepared.effect?.(index, truth) ?? 'none';
	const wrong: string[] = [];
	if (typeof effect === 'object' && 'wrong' in effect) wrong.push(effect.wrong);
	const isPart = typeof effect === 'object' && 'part' in effect;
	if (item.kind === 'done') {
		if (!truth.isBlurred) wrong.push(...(await prepared.untrue(index, item.outputs, truth)));
		const answered = carriers(given, index).at(-1)?.status ?? 0;
		const isLie = scenario.isTakenAtItsWord && answered >= 200 && answered < 300;
		const isUnsure = isLie || truth.isBlurred;
		if (prepared.effect && effect !== 'done' && !isUnsure) wrong.push('it is not done');
	}
	if (item.kind === 'failed') {
		// Of several records for one item, some may be done; the message then says how many.
		const isToldPart = isPart && item.message.includes(`; ${effect.part} of `);
		if (effect === 'done' || (isPart && !isToldPart)) wrong.push('it is done');
	}
	if (item.kind === 'unknown' && !mayBeUnknown(given, index)) wrong.push('it can be known');
	return wrong.map((text) => `item ${index}, ${describe(item)}: ${text}`);
}

/** What a run that stopped told of the items that are done. */
function judgeStop(given: Case): string[] {
	const { told, prepared, truth } = given;
	const { stop, items } = told;
	if (!stop || !prepared.effect) return [];
	const effects = items.map((_, index) => prepared.effect!(index, truth));
	const done = effects.reduce<number>((sum, effect) => sum + amount(effect), 0);
	const open = items.filter((_, index) => mayBeUnknown(given, index)).length;
	const wrong: string[] = [];
	// The platform may have done for an item what its answer did not tell.
	if (done < stop.done || done > stop.done + open) {
		wrong.push(`${done} items are done, told were ${stop.done}, with ${open} unclear`);
	}
	const isGap = effects.slice(0, stop.through + 1).some((effect) => effect !== 'done');
	if (isGap) wrong.push(`not all is done through item ${stop.through}`);
	return wrong.map((text) => `stopped with '${stop.message}': ${text}`);
}

/**
 * What is wrong; nothing where all agrees.
 *
 * @param isOnce whether the fault struck one request alone
 */
export async function disagreements(given: Case, isOnce: boolean): Promise<string[]> {
	const { told, truth, scenario } = given;
	const wrong = [...told.misshapen, ...judgeStop(given)];
	for (const index of told.items.keys()) wrong.push(...(await judgeItem(given, index)));
	if (scenario.kind === 'read' && truth.written.length > 0) wrong.push('a read wrote something');
	if (mustSucceed(given, isOnce)) {
		const bad = told.items.filter(({ kind }) => kind !== 'done');
		if (bad.length > 0) wrong.push(`${bad.length} items did not succeed, but could have`);
	}
	return wrong;
}

/** Requests that were sent again because of the fault. */
export function repeatsIn(requests: LoggedRequest[], { effect }: Column): number {
	if (effect !== 'waits' && effect !== 'ambiguous') return 0;
	const key = ({ method, path, query, bodyBytes, faults }: LoggedRequest) =>
		JSON.stringify([method, path, query, bodyBytes, faults.filter((id) => id !== FAULT)]);
	const open = new Map<string, number>();
	let repeats = 0;
	for (const request of requests) {
		const count = open.get(key(request)) ?? 0;
		if (count > 0) repeats += 1;
		open.set(key(request), Math.max(0, count - 1) + (isMet(request) ? 1 : 0));
	}
	return repeats;
}
