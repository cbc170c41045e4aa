/** The requests of a run: which of them concern an item, and what they leave open. */
import type { LoggedRequest, StoredVersion } from '../../../harness/sandboxAdmin.mts';
import { FAULTS, faultsOf, hasEffect, isAmbiguous, isAppliedLate, type FaultName } from './faults.mts';
import type { Evidence } from './execute.mts';
import { markOf, type Case, type CaseItem } from './schedule.mts';

export const isWrite = ({ method, path }: LoggedRequest) => method !== 'GET' && !/\/(filter|summary)$/.test(path);

const isDeletionIn = ({ method, path, query }: LoggedRequest, group: string, ids: Set<string>) =>
	method === 'DELETE' && (decodeURIComponent(query).includes(`group(eq)${group}`) || ids.has(path.split('/').at(-1)!));

/** The requests that may have changed something for an item, in order. */
export function writesOf({ before, history, written, requests }: Evidence, item: CaseItem): LoggedRequest[] {
	const { trace, group, index, stored } = item;
	if (group !== undefined) {
		const isIts = ({ fields }: { fields: object | null }) => (fields as { group?: string } | null)?.group === group;
		const ids = new Set([...before, ...history].filter(isIts).map(({ id }) => id));
		return requests.filter((request) => isDeletionIn(request, group, ids));
	}
	// If only what differs is sent, a second attempt of the node does not send the item's mark again.
	const isIts = ({ fields }: StoredVersion) => stored.mark !== undefined && fields?.mark === stored.mark;
	const numbers = new Set(written.filter(isIts).map(({ request }) => request));
	return requests.filter(
		(request) =>
			isWrite(request) &&
			('path' in trace ? request.path.includes(trace.path) : request.faults.includes(markOf(index)) || numbers.has(request.number)),
	);
}

/** Faults that end a connection, or do not respond until the client ends it. */
const BREAKS = ['resetBefore', 'resetAfter', 'truncate', 'wrongLength', 'hang'];

/** Whether the client gave up waiting: its look-up may then come before the write. */
const isLeft = (request: LoggedRequest) =>
	request.outcome !== 'completed' && !faultsOf(request).some((name) => BREAKS.includes(FAULTS[name].fault(1).kind));

/**
 * Whether the platform may still apply it when the node looks. A fault after the write struck when
 * it was already applied, which a look-up shows, unless the platform rejected it.
 *
 * @param versions what was written for the item
 */
export function isPending(request: LoggedRequest, versions: StoredVersion[], all: LoggedRequest[]): boolean {
	const names = faultsOf(request);
	if (names.some((name) => name === 'hang' || name === 'late')) return true;
	if (isAppliedLate(request) || isLeft(request)) return true;
	// On a busy machine, a look-up may come before the write.
	const [lookUp] = all.filter((other) => other.number > request.number && !isWrite(other));
	const isApplied = versions.some((version) => version.request === request.number && !(lookUp && version.at > lookUp.startedAt));
	const isSlow = request.status === 504 || names.includes('hangAfter');
	return isSlow && !isApplied;
}

/** The requests whose response leaves open what they did. */
export const openOf = (writes: LoggedRequest[]): LoggedRequest[] => writes.filter(isAmbiguous);

/** Whether a read failed that may have been a look-up, or that showed the table before the run. */
export const isBlind = ({ requests }: Evidence): boolean =>
	requests.some(
		(request) =>
			!isWrite(request) &&
			(request.outcome !== 'completed' || (request.status ?? 0) >= 400 || hasEffect(request, 'ambiguous', 'ends', 'refuses')),
	);

/** The faults that the run met, in all requests. */
export const metFaults = ({ requests }: Evidence): FaultName[] => requests.flatMap(faultsOf);

const HARMLESS = ['waits', 'nothing'];

/** Operations whose requests may be sent again if the result is unknown. */
const isRepeatable = ({ operation, matchOn, matching, fieldRules }: Case) => {
	if (['update', 'delete', 'remove'].includes(operation)) return true;
	if (operation !== 'upsert') return false;
	const { ifFound, ifMissing, multipleMatches } = matching;
	const isPlain = ifFound === 'update' && ifMissing === 'create' && multipleMatches === 'error';
	const isRuled = Object.values(fieldRules).some((rule) => rule !== 'always');
	const isUpsert = matchOn === 'importKey' && isPlain && !isRuled;
	return isUpsert || ifMissing !== 'create';
};

/**
 * Whether repeating could fix everything that went wrong, so that every item must have the same
 * outcome as without a fault. That excludes appended files and messages.
 */
export function isMendable(testCase: Case, evidence: Evidence): boolean {
	const names = metFaults(evidence);
	if (testCase.isHasty) return false;
	const effects = names.map((name) => FAULTS[name].effect);
	if (effects.every((effect) => HARMLESS.includes(effect))) return true;
	// The contract leaves open what happens to existing messages, and to a file with a URL.
	const addsSomething = testCase.items.some(({ files, messages }) => messages || (files && (files.kind !== 'list' || files.isAddress)));
	const isSafe = isRepeatable(testCase) && !addsSomething;
	return evidence.requests.every((request) =>
		faultsOf(request).every((name) => {
			const { effect } = FAULTS[name];
			return HARMLESS.includes(effect) || (effect === 'ambiguous' && (isSafe || !isWrite(request)));
		}),
	);
}
