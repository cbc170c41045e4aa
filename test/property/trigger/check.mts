/** What must be true after everything was emitted. */
import type { StoredVersion } from '../../../harness/sandboxAdmin.mts';
import type { Truth } from '../faults/sandboxSlot.mts';
import { watchesDeletions, type Plan } from './plan.mts';
import type { EmittedItem } from './triggerHost.mts';

const versionKey = (id: string, ver: number, time: string) => `${id}/${ver} at ${Date.parse(time)}`;
const emittedKey = ({ id, ver, modified }: EmittedItem) => versionKey(id, ver, modified);

function count(keys: Iterable<string>): Map<string, number> {
	const counts = new Map<string, number>();
	for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
	return counts;
}

const emitsAllChanges = ({ triggerOn }: Plan) => triggerOn === 'createdOrUpdated' || triggerOn === 'createdUpdatedOrDeleted';

/** What is wrong with the deletions that were emitted, or were not. */
function* deletionProblems(
	plan: Plan,
	executions: EmittedItem[][],
	{ records, written }: Pick<Truth, 'records' | 'written'>,
	existing: ReadonlySet<string>,
) {
	const emitted = executions.flat();
	const deletions = count(emitted.filter(({ event }) => event === 'deleted').map(({ id }) => id));
	const deleted = count(written.filter(({ action }) => action === 'deleted').map(({ id }) => id));
	for (const [id, number] of deletions) {
		const real = deleted.get(id) ?? 0;
		if (number > real) yield `${id} was emitted as deleted ${number} times, it was ${real} times`;
		if (!watchesDeletions(plan)) yield `${id} was emitted as deleted`;
	}
	if (!watchesDeletions(plan)) return;
	const there = new Set(records.map(({ id }) => id));
	const last = new Map(emitted.map(({ id, event }) => [id, event]));
	for (const id of new Set([...existing, ...last.keys()])) {
		if (there.has(id) || last.get(id) === 'deleted') continue;
		yield `${id} is gone, which was not emitted; its last event is ${last.get(id) ?? 'none'}`;
	}
}

export interface Start {
	existing: ReadonlySet<string>;
	/** A new record that the platform says was created before that time may be as if it existed. */
	unsureBefore: number;
}

/** What is wrong with what was emitted; empty if nothing is. */
export function problemsOf(
	plan: Plan,
	executions: EmittedItem[][],
	{ records, written }: Truth,
	{ existing, unsureBefore }: Start,
): string[] {
	const emitted = executions.flat().filter(({ event }) => event !== 'deleted');
	const problems: string[] = [...deletionProblems(plan, executions, { records, written }, existing)];
	// A deletion may have the time of the version that it deletes.
	const versions = new Map(
		written.filter(({ action }) => action !== 'deleted').map((version) => [versionKey(version.id, version.ver, version.at), version]),
	);
	const insertions = written.filter(({ action }) => action === 'inserted');
	/** Its creation may be up to a second before its first version. */
	const wasInserted = (record: { id: string; created: string }) =>
		insertions.some(({ id, at }) => {
			const age = Date.parse(at) - Date.parse(record.created);
			return id === record.id && age >= 0 && age <= (plan.platform.newRecordModified === 'later' ? 2000 : 0);
		});
	const times = count(emitted.map(emittedKey));
	for (const [key, number] of times) {
		if (number > 1) problems.push(`${key} was emitted ${number} times`);
	}
	for (const item of emitted) problems.push(...wrongWith(item, versions, written, plan));
	const births = count(emitted.filter(({ event }) => event === 'created').map(({ id, created }) => `${id} of ${Date.parse(created)}`));
	for (const [key, number] of births) {
		if (number > 1) problems.push(`${key} was emitted as created ${number} times`);
	}
	for (const { id, ver, created, modified } of records) {
		const isNew = wasInserted({ id, created });
		const isChanged = versions.has(versionKey(id, ver, modified));
		const isDue = isNew || isChanged || plan.startFrom === 'beginning';
		const isBirthDue = isNew || plan.startFrom === 'beginning';
		const isUpdate = ver > 0 || Date.parse(created) !== Date.parse(modified);
		// One change so soon may be the platform's own, which completes a new record.
		const isMoreThanNew = ver > 1 || Date.parse(modified) - Date.parse(created) > 5000;
		const last = times.get(versionKey(id, ver, modified)) ?? 0;
		const birth = births.get(`${id} of ${Date.parse(created)}`) ?? 0;
		const isLastDue = isDue && (emitsAllChanges(plan) || (plan.triggerOn === 'updated' && isMoreThanNew));
		if (isLastDue && last !== 1) {
			problems.push(`${id}/${ver}, its last version, was emitted ${last} times`);
		}
		// A record that came back under its ID and changed immediately may look like the previous one.
		const isBack = written.some((version) => version.id === id && version.action === 'deleted');
		// Neither is one whose platform says that it was created before the start.
		const isAtStart = isNew && Date.parse(created) < unsureBefore;
		const isBirthFine = birth === (isBirthDue ? 1 : 0) || (isBack && isUpdate) || (isAtStart && birth === 0);
		const isBirthEmitted = plan.triggerOn !== 'updated' && plan.triggerOn !== 'deleted';
		if (isBirthEmitted && !isBirthFine) {
			problems.push(`${id} was emitted as created ${birth} times`);
		}
	}
	for (const [index, items] of executions.entries()) {
		const order = items.flatMap(({ event, modified }) => (event === 'deleted' ? [] : [Date.parse(modified)]));
		const isDeletion = items.map(({ event }) => event === 'deleted');
		if (isDeletion.includes(true) && isDeletion.lastIndexOf(false) > isDeletion.indexOf(true)) {
			problems.push(`a change comes after a deletion in execution ${index + 1}`);
		}
		if (order.some((time, at) => time < (order[at - 1] ?? 0))) {
			problems.push(`the items of execution ${index + 1} are not in order`);
		}
		if (items.length > plan.maximum) {
			problems.push(`execution ${index + 1} has ${items.length} items`);
		}
		// An execution without items stores which records are watched, or a start that was overwritten.
		const storesOnly = plan.triggerOn === 'deleted' || plan.hasSecondWriter;
		if (items.length === 0 && !storesOnly) problems.push(`execution ${index + 1} has no items`);
	}
	return problems;
}

function* wrongWith(item: EmittedItem, versions: Map<string, StoredVersion>, written: StoredVersion[], plan: Plan) {
	const version = versions.get(emittedKey(item));
	if (!version && plan.startFrom !== 'beginning') yield `${emittedKey(item)} was there before`;
	// A record that is deleted and comes back at the same time has two versions with the same number.
	const isOne = ({ id, ver, at, fields }: StoredVersion) =>
		versionKey(id, ver, at) === emittedKey(item) && item.name === (fields?.name ?? null);
	if (version && !written.some(isOne)) {
		yield `${emittedKey(item)} was emitted with the name ${item.name}`;
	}
	if (!emitsAllChanges(plan) && item.event !== plan.triggerOn) {
		yield `${emittedKey(item)} was emitted as ${item.event}`;
	}
}
