/**
 * The trigger under a fault: records are created and changed, one poll meets the fault, and later
 * polls don't. Each change must be emitted once, by a poll that did not fail.
 */
import { SeededRandom } from '../../support/seededRandom.mts';
import { choosePlatform } from '../faults/platform.mts';
import { describeRequest } from '../faults/sandboxSlot.mts';
import { drawReading } from './variantCases.mts';
import { whenOf, type CaseVerdict, type Plan } from './runCase.mts';
import { onVirtualClock } from './virtualClock.mts';
import { SHORT_TIMEOUT_S } from './faultCases.mts';
import { watch } from '../../support/engine/outsideJest.mts';
import { FAULT, isMet } from './assertOutcome.mts';
import { idOf } from '../faults/constants.mts';
import type { MatrixSandbox } from './matrixSandbox.mts';
import { tableParameters } from './scenarios/scenario.mts';
import { messageErrors } from './parseResult.mts';

export const EVENTS = ['created', 'updated', 'createdOrUpdated', 'createdUpdatedOrDeleted', 'deleted'] as const;
type Event = (typeof EVENTS)[number];

const THERE = [0, 1, 2];
const CHANGED = [1, 2];
const NEW = [10, 11, 12];
const GONE = [3, 4];

const TIMEOUT_S = 30;

interface EmittedItem {
	event: string;
	id: string;
	ver: number;
	name: string;
}

const recordOf = (number: number, name: string) => ({ id: idOf(number), fields: { code: `c${number}`, name } });

const watchesDeletions = (event: Event) => event === 'deleted' || event === 'createdUpdatedOrDeleted';

async function change(slot: MatrixSandbox): Promise<void> {
	const data = '/apps/shop/tables/things/data';
	const fresh = NEW.map((number) => recordOf(number, `new ${number}`));
	await slot.requestAsOtherClient('PATCH', `${data}/bulk`, { bulk: fresh, useUpsert: true });
	for (const number of CHANGED) {
		await slot.requestAsOtherClient('PATCH', `${data}/${idOf(number)}`, { fields: { name: `changed ${number}` } });
	}
	for (const number of GONE) {
		await slot.requestAsOtherClient('DELETE', `${data}/${idOf(number)}`);
	}
}

/** All changes to be emitted, as `event id name`. */
function expected(event: Event): string[] {
	const created = NEW.map((number) => `created ${idOf(number)} new ${number}`);
	const updated = CHANGED.map((number) => `updated ${idOf(number)} changed ${number}`);
	const deleted = GONE.map((number) => `deleted ${idOf(number)} undefined`);
	return [
		...(event === 'updated' || event === 'deleted' ? [] : created),
		...(event === 'created' || event === 'deleted' ? [] : updated),
		...(watchesDeletions(event) ? deleted : []),
	].sort();
}

export async function runPolls(slot: MatrixSandbox, event: Event, plan: Plan): Promise<CaseVerdict> {
	const { faultCase, timing, seed } = plan;
	const random = new SeededRandom(seed);
	slot.platform = choosePlatform(random);
	slot.readings = plan.variant ?? drawReading(random);
	await slot.createTable([...THERE, ...GONE].map((number) => recordOf(number, `old ${number}`)));
	const timeout = faultCase.isLate ? SHORT_TIMEOUT_S : TIMEOUT_S;
	const parameters = { triggerOn: event, ...tableParameters(), startFrom: 'now', options: { deletionCheckInterval: 0, timeout } };
	const watching = await watch(slot.credential, parameters);
	await watching.poll();
	await change(slot);
	await slot.sandbox.admin.storeLateValues();

	const when = whenOf(timing, random);
	await slot.begin(faultCase.fault.kind === 'none' ? [] : [{ id: FAULT, ...(when && { when }), fault: faultCase.fault }]);
	const problems: string[] = [];
	const emitted: EmittedItem[][] = [];
	const failures: string[] = [];
	const poll = async () => {
		const before = watching.staticData();
		try {
			const items = await watching.poll();
			emitted.push((items ?? []).map(({ json }) => json as unknown as EmittedItem));
			// An execution without items stores that new records are watched.
			if (items?.length === 0 && event !== 'deleted') problems.push('an execution was started without items');
		} catch (error) {
			const { message } = error as Error;
			failures.push(message);
			problems.push(...messageErrors(message));
			if (message.includes(slot.credential.token)) problems.push('the error contains the token');
			if (watching.staticData() !== before) problems.push('a poll that failed moved the cursor');
		}
	};
	await onVirtualClock(timeout, poll);
	const truth = await slot.truth();
	const isFailed = failures.length > 0;
	const first = emitted.flat().length;
	// After a 429, a poll asks again only two minutes later; on another day.
	await slot.sandbox.admin.settings({ dailyQuota: null });
	for (let count = 0; count < 2; count += 1) await onVirtualClock(TIMEOUT_S, poll, 180_000);

	if (failures.length > (isFailed ? 1 : 0)) problems.push('a poll without a fault failed');
	const changes = emitted.flat().map(({ event: kind, id, name }) => `${kind} ${id} ${name}`);
	// A record without its fields has still changed.
	const compared = (list: string[]) => list.map((change) => (truth.fieldsReplaced ? change.split(' ', 2).join(' ') : change));
	const all = compared([...changes].sort()).join('\n');
	if (all !== compared(expected(event)).join('\n') && !truth.payloadAltered) problems.push(`emitted were:\n${all}`);
	if (truth.written.length > 0) problems.push('a poll wrote something');
	const isOnce = timing !== 'every' && timing !== 'everyMain';
	const isMendable = ['waits', 'ambiguous', 'nothing'].includes(faultCase.effect);
	// A poll does not wait long, because n8n polls again.
	const isQuota = plan.variant?.limits.dailyQuota !== undefined;
	const isLong = isQuota || ['silent429', 'long429'].includes(faultCase.name);
	const met = truth.requests.filter(isMet);
	const isEasy = met.length === 0 || faultCase.effect === 'nothing' || (isOnce && isMendable);
	if (isEasy && isFailed && !faultCase.isLate && !isLong) problems.push('it failed, but could have succeeded');
	return {
		met: plan.variant && (await slot.metVariants()),
		seen:
			met.length > 0
				? { polls: 1, 'changes emitted': first, 'polls failed': Number(isFailed) }
				: { 'polls that did not meet the fault': 1 },
		problems,
		evidence: [
			JSON.stringify({ ...slot.platform, readings: slot.readings.name }),
			...truth.requests.map(describeRequest),
			...failures,
			...changes,
		],
	};
}
