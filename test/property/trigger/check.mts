/** What must be true once everything was emitted. */
import type { StoredVersion } from '../../../harness/sandboxAdmin.mts';
import type { Truth } from '../faults/sandboxSlot.mts';
import type { Plan } from './plan.mts';
import type { EmittedItem } from './triggerHost.mts';

const versionKey = (id: string, ver: number, time: string) => `${id}/${ver} at ${Date.parse(time)}`;
const emittedKey = ({ id, ver, modified }: EmittedItem) => versionKey(id, ver, modified);

function count(keys: Iterable<string>): Map<string, number> {
	const counts = new Map<string, number>();
	for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
	return counts;
}

/** What is wrong with what was emitted; empty if nothing is. */
export function problemsOf(
	plan: Plan,
	executions: EmittedItem[][],
	{ records, written }: Truth,
): string[] {
	const emitted = executions.flat();
	const problems: string[] = [];
	const versions = new Map(
		written.map((version) => [versionKey(version.id, version.ver, version.at), version]),
	);
	const inserted = new Set(
		written
			.filter(({ action }) => action === 'inserted')
			.map(({ id, at }) => `${id} of ${Date.parse(at)}`),
	);
	const times = count(emitted.map(emittedKey));
	for (const [key, number] of times) {
		if (number > 1) problems.push(`${key} was emitted ${number} times`);
	}
	for (const item of emitted) problems.push(...wrongWith(item, versions, plan));
	const births = count(
		emitted
			.filter(({ event }) => event === 'created')
			.map(({ id, created }) => `${id} of ${Date.parse(created)}`),
	);
	for (const [key, number] of births) {
		if (number > 1) problems.push(`${key} was emitted as created ${number} times`);
	}
	for (const { id, ver, created, modified } of records) {
		const isNew = inserted.has(`${id} of ${Date.parse(created)}`);
		const isChanged = versions.has(versionKey(id, ver, modified));
		const isDue = isNew || isChanged || plan.startFrom === 'beginning';
		const isBirthDue = isNew || plan.startFrom === 'beginning';
		const isUpdate = Date.parse(created) !== Date.parse(modified);
		const last = times.get(versionKey(id, ver, modified)) ?? 0;
		const birth = births.get(`${id} of ${Date.parse(created)}`) ?? 0;
		const isLastDue =
			isDue &&
			(plan.triggerOn === 'createdOrUpdated' || (plan.triggerOn === 'updated' && isUpdate));
		if (isLastDue && last !== 1) {
			problems.push(`${id}/${ver}, its last version, was emitted ${last} times`);
		}
		// One that came back under its id and changed at once may pass for the one that it was.
		const isBack = written.some((version) => version.id === id && version.action === 'deleted');
		const isBirthFine = birth === (isBirthDue ? 1 : 0) || (isBack && isUpdate);
		if (plan.triggerOn !== 'updated' && !isBirthFine) {
			problems.push(`${id} was emitted as created ${birth} times`);
		}
	}
	for (const [index, items] of executions.entries()) {
		const order = items.map(({ modified }) => Date.parse(modified));
		if (order.some((time, at) => time < (order[at - 1] ?? 0))) {
			problems.push(`the items of execution ${index + 1} are not in order`);
		}
		if (items.length > plan.maximum) {
			problems.push(`execution ${index + 1} has ${items.length} items`);
		}
		if (items.length === 0) problems.push(`execution ${index + 1} has no items`);
	}
	return problems;
}

function* wrongWith(item: EmittedItem, versions: Map<string, StoredVersion>, plan: Plan) {
	const version = versions.get(emittedKey(item));
	if (!version && plan.startFrom !== 'beginning') yield `${emittedKey(item)} was there before`;
	if (version && item.name !== (version.fields?.name ?? null)) {
		yield `${emittedKey(item)} was emitted with the name ${item.name}`;
	}
	if (plan.triggerOn !== 'createdOrUpdated' && item.event !== plan.triggerOn) {
		yield `${emittedKey(item)} was emitted as ${item.event}`;
	}
}
