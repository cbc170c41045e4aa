/** The requests of a run: which of them work on an item, and what they leave open. */
import type { LoggedRequest, StoredVersion } from '../../../../harness/sandboxAdmin.mts';
import { FAULTS, faultsOf, hasEffect, isAmbiguous, type FaultName } from '../faults.mts';
import type { Evidence } from './execute.mts';
import { markOf, type Case, type CaseItem } from './schedule.mts';

export const isWrite = ({ method, path }: LoggedRequest) =>
	method !== 'GET' && !/\/(filter|summary)$/.test(path);

const isDeletionIn = ({ method, path, query }: LoggedRequest, group: string, ids: Set<string>) =>
	method === 'DELETE' &&
	(decodeURIComponent(query).includes(`group(eq)${group}`) || ids.has(path.split('/').at(-1)!));

/** The requests that may have changed something for an item, in their order. */
export function writesOf({ before, history, requests }: Evidence, item: CaseItem): LoggedRequest[] {
	const { trace, group, index } = item;
	if (group !== undefined) {
		const isIts = ({ fields }: { fields: object | null }) =>
			(fields as { group?: string } | null)?.group === group;
		const ids = new Set([...before, ...history].filter(isIts).map(({ id }) => id));
		return requests.filter((request) => isDeletionIn(request, group, ids));
	}
	return requests.filter(
		(request) =>
			isWrite(request) &&
			('path' in trace
				? request.path.includes(trace.path)
				: request.faults.includes(markOf(index))),
	);
}

/**
 * Whether the platform may still apply it when the node looks. It had applied at once what a fault
 * struck after the write, and a look-up shows that; unless the platform refused it.
 *
 * @param versions what was written for the item
 */
export function isPending(request: LoggedRequest, versions: StoredVersion[]): boolean {
	const names = faultsOf(request);
	if (names.some((name) => name === 'hang' || name === 'late')) return true;
	const isApplied = versions.some((version) => version.request === request.number);
	const isSlow =
		request.status === 504 ||
		names.includes('hangAfter') ||
		(request.outcome !== 'completed' && names.length === 0);
	return isSlow && !isApplied;
}

/** The requests of which nobody can know from the response what they did. */
export const openOf = (writes: LoggedRequest[]): LoggedRequest[] => writes.filter(isAmbiguous);

/** Whether a read failed that may have been a look-up, or told what the table was like before. */
export const isBlind = ({ requests }: Evidence): boolean =>
	requests.some(
		(request) =>
			!isWrite(request) &&
			(request.outcome !== 'completed' ||
				(request.status ?? 0) >= 400 ||
				hasEffect(request, 'ambiguous', 'ends', 'refuses')),
	);

/** What the run met, in all requests. */
export const metFaults = ({ requests }: Evidence): FaultName[] => requests.flatMap(faultsOf);

const HARMLESS = ['waits', 'nothing'];

/** Operations of which a request may be sent again when nobody knows what became of it. */
const isRepeatable = ({ operation, matchOn, matching }: Case) => {
	if (['update', 'delete', 'remove', 'updateMany'].includes(operation)) return true;
	if (!['upsert', 'upsertMany'].includes(operation)) return false;
	const { ifFound, ifMissing, multipleMatches } = matching;
	const isPlain = ifFound === 'update' && ifMissing === 'create' && multipleMatches === 'error';
	const isUpsert = matchOn === 'importKey' && isPlain;
	return isUpsert || ifMissing !== 'create';
};

/**
 * Whether all that went wrong could be mended by asking again, so that every item must come to what
 * it would have come to without a fault. Files and messages that are added are no such thing.
 */
export function isMendable(testCase: Case, evidence: Evidence): boolean {
	const names = metFaults(evidence);
	if (testCase.isHasty && names.length > 0) return false;
	const effects = names.map((name) => FAULTS[name].effect);
	if (effects.every((effect) => HARMLESS.includes(effect))) return true;
	// What becomes of the messages and of a file's address that are there is open in the contract.
	const addsSomething = testCase.items.some(
		({ files, messages }) => messages || (files && files.kind !== 'list'),
	);
	const isSafe = isRepeatable(testCase) && !addsSomething;
	return evidence.requests.every((request) =>
		faultsOf(request).every((name) => {
			const { effect } = FAULTS[name];
			return HARMLESS.includes(effect) || (effect === 'ambiguous' && (isSafe || !isWrite(request)));
		}),
	);
}
