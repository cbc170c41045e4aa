/** What must be true once everything was told. */
import type { StoredVersion } from '../../support/sandbox.cts';
import type { Truth } from '../faults/sandboxSlot.mts';
import type { Plan } from './plan.mts';
import type { Told } from './watcher.mts';

const versionKey = (id: string, ver: number, time: string) => `${id}/${ver} at ${Date.parse(time)}`;
const toldKey = ({ id, ver, modified }: Told) => versionKey(id, ver, modified);

function count(keys: Iterable<string>): Map<string, number> {
	const counts = new Map<string, number>();
	for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
	return counts;
}

/** What is wrong with what was told; empty where nothing is. */
export function problemsOf(plan: Plan, polls: Told[][], { records, written }: Truth): string[] {
	const told = polls.flat();
	const problems: string[] = [];
	const versions = new Map(
		written.map((version) => [versionKey(version.id, version.ver, version.at), version]),
	);
	const times = count(told.map(toldKey));
	for (const [key, number] of times) {
		if (number > 1) problems.push(`${key} was told ${number} times`);
	}
	for (const item of told) problems.push(...wrongWith(item, versions, plan));
	const births = count(
		told
			.filter(({ event }) => event === 'created')
			.map(({ id, created }) => `${id} of ${Date.parse(created)}`),
	);
	for (const [key, number] of births) {
		if (number > 1) problems.push(`${key} was told as created ${number} times`);
	}
	for (const { id, ver, created, modified } of records) {
		const isNew = versions.has(versionKey(id, 0, created));
		const isChanged = versions.has(versionKey(id, ver, modified));
		const isDue = isNew || isChanged || plan.startFrom === 'beginning';
		const isBirthDue = isNew || plan.startFrom === 'beginning';
		const last = times.get(versionKey(id, ver, modified)) ?? 0;
		const birth = births.get(`${id} of ${Date.parse(created)}`) ?? 0;
		if (plan.triggerOn === 'createdOrUpdated' && isDue && last !== 1) {
			problems.push(`${id}/${ver}, its last version, was told ${last} times`);
		}
		// One that came back under its id and changed at once may pass for the one that it was.
		const isBack = written.some((version) => version.id === id && version.action === 'deleted');
		const isBirthFine = birth === (isBirthDue ? 1 : 0) || (isBack && ver > 0);
		if (plan.triggerOn !== 'updated' && !isBirthFine) {
			problems.push(`${id} was told as created ${birth} times`);
		}
		if (plan.triggerOn === 'updated' && isChanged && !isBirthDue && last !== 1) {
			problems.push(`${id}/${ver}, its last version, was told ${last} times`);
		}
	}
	for (const [index, items] of polls.entries()) {
		const order = items.map(({ modified }) => Date.parse(modified));
		if (order.some((time, at) => time < (order[at - 1] ?? 0))) {
			problems.push(`the items of poll ${index + 1} are not in order`);
		}
		if (items.length > plan.maximum) problems.push(`poll ${index + 1} told ${items.length}`);
	}
	return problems;
}

function* wrongWith(item: Told, versions: Map<string, StoredVersion>, plan: Plan) {
	const version = versions.get(toldKey(item));
	if (!version && plan.startFrom !== 'beginning') yield `${toldKey(item)} was there before`;
	if (version && item.fields.name !== (version.fields?.name ?? null)) {
		yield `${toldKey(item)} was told with the name ${item.fields.name}`;
	}
	if (plan.triggerOn !== 'createdOrUpdated' && item.event !== plan.triggerOn) {
		yield `${toldKey(item)} was told as ${item.event}`;
	}
}
