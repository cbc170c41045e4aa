/** Whether the node's results of a run agree with the stored records. */
import type { FaultCase } from './faultCases.mts';
import type { LoggedRequest } from '../../../harness/sandboxAdmin.mts';
import type { Truth } from './matrixSandbox.mts';
import type { Effect, Prepared, Scenario } from './scenarios/scenario.mts';
import type { ParsedResult, ItemResult } from './parseResult.mts';

/** The ID of the rule for the fault, and of those that mark an item's requests. */
export const FAULT = 'fault';
export const markOf = (index: number) => `item ${index}`;

export interface CaseRun {
	scenario: Scenario;
	prepared: Prepared;
	faultCase: FaultCase;
	truth: Truth;
	result: ParsedResult;
}

const faultOf = ({ faults }: LoggedRequest) => faults.find((id) => id === FAULT || id.startsWith(`${FAULT} `));

export const isMet = (request: LoggedRequest) => faultOf(request) !== undefined;

/** What the fault of a request leaves open; several in a row have one each. */
function effectOf({ faultCase }: CaseRun, request: LoggedRequest) {
	const id = faultOf(request);
	if (id === undefined) return undefined;
	const number = Number(id.split(' ')[1] ?? 0);
	return number > 0 ? faultCase.then?.[number - 1]?.effect : faultCase.effect;
}

const isMain = ({ prepared }: CaseRun, { method, path }: LoggedRequest) =>
	(prepared.main.method ?? method) === method && new RegExp(prepared.main.path).test(path);

/** Whether its body never arrived, so that nobody knows whose it was. */
const isUnread = ({ faultCase }: CaseRun, request: LoggedRequest) => faultCase.fault.kind === 'resetUpload' && isMet(request);

/** The requests for an item. */
function requestsFor(run: CaseRun, index: number): LoggedRequest[] {
	const trace = run.prepared.traces[index]!;
	return run.truth.requests.filter(
		(request) =>
			isMain(run, request) &&
			('path' in trace ? request.path.includes(trace.path) : request.faults.includes(markOf(index)) || isUnread(run, request)),
	);
}

/** Whether the response leaves open what the request did. */
function isAmbiguous(run: CaseRun, request: LoggedRequest): boolean {
	const isSingle = !run.faultCase.then;
	// Such a short timeout may also strike without a fault.
	if (request.outcome !== 'completed' || (run.faultCase.isLate && isSingle)) return true;
	const status = request.status ?? 0;
	const effect = effectOf(run, request);
	if (status >= 500 && effect !== 'waits') return true;
	return effect !== undefined && ['ambiguous', 'response', 'records'].includes(effect);
}

/** Whether the platform may still apply what it did not answer in time. */
const stillPending = ({ status, outcome }: LoggedRequest) => status === 504 || outcome === 'reset';

/** Whether `unknown` is right for an item. */
function mayBeUnknown(run: CaseRun, index: number): boolean {
	const { scenario, truth } = run;
	if (scenario.kind === 'read') return false;
	const requests = requestsFor(run, index);
	// If counting afterwards fails, such as beyond the day's requests, its result is unknown too.
	const isFailing = (request: LoggedRequest) => isMet(request) || (run.faultCase.isLimit && request.status === 429);
	const isUncounted = scenario.isCounted && requests.length > 0 && truth.requests.some(isFailing);
	if (isUncounted) return true;
	// A look-up may be one request too many.
	if (run.faultCase.isLimit && requests.length > 0 && truth.requests.some(({ status }) => status === 429)) return true;
	// Such a short timeout may end a request before it arrives.
	if (requests.length === 0 && run.faultCase.isLate) return true;
	if (!requests.some((request) => isAmbiguous(run, request))) return false;
	// A look-up after a lost response may come before the record's values.
	if (truth.areValuesLate) return true;
	const last = requests.at(-1)!;
	const isInARow = run.faultCase.then !== undefined;
	const isOpen = (request: LoggedRequest) => isAmbiguous(run, request) && stillPending(request);
	// What precedes a rejection can be looked up, unless it may still be on its way.
	if (isInARow && run.faultCase.isLate && requests.some(isOpen)) return true;
	// After a repeated request with a clear response the outcome is known, whatever came before.
	return scenario.kind === 'once' || isAmbiguous(run, last);
}

/** Whether faults in a row leave an item that can be repeated until it succeeds. */
function isRowMendable(run: CaseRun): boolean {
	const { scenario, truth, faultCase } = run;
	if (faultCase.isLate) return false;
	const effects = truth.requests.flatMap((request) => effectOf(run, request) ?? []);
	if (effects.every((effect) => effect === 'waits' || effect === 'nothing')) return true;
	return scenario.kind === 'harmless' && effects.every((effect) => ['waits', 'ambiguous'].includes(effect));
}

/** Forbids bulk requests to this and all later records of the run. */
const isBulkForbidden = ({ status, path }: LoggedRequest) => status === 403 && /\/bulk(\?|$)/.test(path);

/**
 * Whether nobody may know what a request changed: a response was lost or incomplete, or the platform forbade a
 * bulk request, and a single one does not say whether it changed anything.
 */
const isKindHidden = (run: CaseRun, index: number) =>
	run.truth.requests.some(isBulkForbidden) || requestsFor(run, index).some((request) => isAmbiguous(run, request));

/** Whether repeating could fix everything that went wrong, so that every item must succeed. */
function mustSucceed(run: CaseRun, isOnce: boolean): boolean {
	const { faultCase, scenario, truth } = run;
	if (faultCase.isLimit) return false;
	if (faultCase.then) return isRowMendable(run);
	const met = truth.requests.filter(isMet);
	if (met.length === 0 || faultCase.effect === 'nothing') return !faultCase.isLate;
	if (!isOnce || faultCase.isLate) return false;
	if (faultCase.effect === 'waits') return true;
	if (faultCase.effect !== 'ambiguous') return false;
	const isRead = (request: LoggedRequest) => scenario.kind === 'read' || !isMain(run, request) || request.method === 'GET';
	// What proves a named import key creates a record if it is none, as do linked records without a marked
	// key: they are not repeated blindly.
	const isOnceOnly = ({ method, path }: LoggedRequest) =>
		method === 'POST' && (path.endsWith('/data') || (truth.isKeyUnmarked && path.endsWith('/teams/data/bulk')));
	return met.every((request) => !isOnceOnly(request) && (isRead(request) || scenario.kind === 'harmless'));
}

/** Whether names could not be checked, because the platform did not show the definition: a notice says so. */
function isUnchecked(run: CaseRun): boolean {
	const isHidden = (request: LoggedRequest) => isMet(request) && (request.status !== 200 || isAmbiguous(run, request));
	return run.scenario.kind === 'read' && run.truth.requests.some((request) => isHidden(request) && /\/tables\/[^/]+$/.test(request.path));
}

const isRefused = ({ prepared }: CaseRun, index: number) => prepared.isRefused?.(index) ?? false;
/** A value whose field has no readable type is not sent, so the platform has nothing to reject. */
const isRejected = ({ prepared, truth }: CaseRun, index: number) => truth.untyped.length === 0 && prepared.isRejected?.(index) === true;
const mayNotSucceed = (run: CaseRun, index: number) => isRefused(run, index) || isRejected(run, index);

const describe = (result: ItemResult) =>
	'message' in result ? `reported as '${result.kind}' (${result.message})` : `reported as '${result.kind}'`;

const amount = (effect: Effect) => (effect === 'done' ? 1 : 0);

/** What is wrong with the outcome of an item. */
export async function checkItem(run: CaseRun, index: number): Promise<string[]> {
	const { prepared, scenario, truth, result } = run;
	const item = result.items[index]!;
	const effect = prepared.effect?.(index, truth) ?? 'none';
	const wrong: string[] = [];
	// A key or value that was altered in a look-up names another record.
	const isMisled = truth.payloadAltered;
	if (typeof effect === 'object' && 'wrong' in effect && !isMisled) wrong.push(effect.wrong);
	const isPart = typeof effect === 'object' && 'part' in effect;
	const isFree = isRefused(run, index) && isUnchecked(run);
	if ((isRefused(run, index) && item.kind === 'unknown') || (mayNotSucceed(run, index) && item.kind === 'done' && !isFree)) {
		wrong.push('it had to be refused');
	}
	if (item.kind === 'done' && !isFree) {
		const mayLackId = run.faultCase.isLimit || run.faultCase.otherWrite !== undefined || truth.requests.some(isMet);
		const isLookUpMet = truth.requests.some((request) => isMet(request) && request.path.endsWith('/data/filter'));
		const seen = { ...truth, isKindHidden: isKindHidden(run, index) || isLookUpMet, mayLackId };
		if (!truth.payloadAltered) wrong.push(...(await prepared.checkOutput(index, item.outputs, seen)));
		const status = requestsFor(run, index).at(-1)?.status ?? 0;
		const isLie = scenario.isUnverifiable && status >= 200 && status < 300;
		const isUnsure = isLie || truth.payloadAltered;
		if (prepared.effect && effect !== 'done' && !isUnsure) wrong.push('it is not done');
	}
	if (item.kind === 'failed') {
		// Delete Many may have deleted some; the message then says how many.
		const isReportedPart = isPart && item.message.includes(`; ${effect.part} of `);
		const isSaid = prepared.saysDone?.(index, item.message) ?? false;
		if ((effect === 'done' && !isSaid) || (isPart && !isReportedPart)) wrong.push('it is done');
	}
	// A rejection says nothing about an attempt before it whose response was lost.
	const isLostBefore = prepared.isRejected?.(index) && isKindHidden(run, index);
	if (item.kind === 'unknown' && !isLostBefore && !mayBeUnknown(run, index)) wrong.push('it can be known');
	return wrong.map((text) => `item ${index}, ${describe(item)}: ${text}`);
}

/** Whether the error that stopped a run is right about the finished items. */
function checkStop(run: CaseRun): string[] {
	const { result, prepared, truth } = run;
	const { stop, items } = result;
	if (!stop || !prepared.effect) return [];
	const effects = items.map((item, index) => {
		const isSaid = 'message' in item && prepared.saysDone?.(index, item.message);
		return isSaid ? 'none' : prepared.effect!(index, truth);
	});
	const done = effects.reduce<number>((sum, effect) => sum + amount(effect), 0);
	const open = items.filter((_, index) => mayBeUnknown(run, index)).length;
	const wrong: string[] = [];
	// The platform may have done for an item what its response did not confirm.
	if (done < stop.done || done > stop.done + open) {
		wrong.push(`${done} items are done, reported were ${stop.done}, with ${open} unclear`);
	}
	const isGap = effects.slice(0, stop.through + 1).some((effect) => effect !== 'done');
	if (isGap) wrong.push(`not all is done through item ${stop.through}`);
	return wrong.map((text) => `stopped with '${stop.message}': ${text}`);
}

/**
 * What is wrong; empty if everything agrees.
 *
 * @param isOnce whether the fault affected only one request
 */
export async function findErrors(run: CaseRun, isOnce: boolean): Promise<string[]> {
	const { result, truth, scenario } = run;
	const { checkOthers } = run.prepared;
	const others = checkOthers?.(result, truth) ?? (result.others.length > 0 ? ['more output'] : []);
	// A list whose only entry was taken out on its way has no items.
	const isShown = (error: string) => !(scenario.kind === 'read' && truth.payloadAltered && error.startsWith('there is no outcome'));
	const wrong = [...result.shapeErrors.filter(isShown), ...checkStop(run), ...others];
	for (const index of result.items.keys()) wrong.push(...(await checkItem(run, index)));
	if (scenario.kind === 'read' && truth.written.length > 0) wrong.push('a read wrote something');
	const stoppedAt = result.stop?.item;
	const isStoppedAsItMust = stoppedAt !== undefined && mayNotSucceed(run, stoppedAt);
	if (mustSucceed(run, isOnce) && !isStoppedAsItMust) {
		const bad = result.items.filter(({ kind }, index) => kind !== 'done' && !mayNotSucceed(run, index));
		if (bad.length > 0) wrong.push(`${bad.length} items did not succeed, but could have`);
	}
	return wrong;
}
