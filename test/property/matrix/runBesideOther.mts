/**
 * An operation during writes by another client, which changes the record of one of its items just
 * before one of its requests arrives. No request fails, and every outcome must agree with the
 * history.
 */
import { isDeepStrictEqual } from 'node:util';
import { SeededRandom } from '../../support/seededRandom.mts';
import { choosePlatform } from '../faults/platform.mts';
import { checkItem } from './assertOutcome.mts';
import { parseResult, type ItemResult } from './parseResult.mts';
import { describeRequest } from '../faults/sandboxSlot.mts';
import type { Verdict } from '../../support/results.mts';
import { drawReading } from './variantCases.mts';
import { countItems, type Plan } from './runCase.mts';
import type { MatrixSandbox, Truth } from './matrixSandbox.mts';
import type { OtherAction, Prepared, Scenario } from './scenarios/scenario.mts';

const TIMEOUT_S = 30;

/** The other writer acts before this request of the node, counted from 1. */
export const MOMENTS = ['before 1', 'before 2', 'before 3', 'before 4', 'before 5'] as const;
export type Moment = (typeof MOMENTS)[number];

const holds = (fields: object | null, values: object) =>
	fields !== null && Object.entries(values).every(([name, value]) => isDeepStrictEqual((fields as Record<string, unknown>)[name], value));

/** Checks an item that wrote a record which the other writer changed. */
function checkWritten(item: ItemResult, values: object, truth: Truth): string[] {
	if (item.kind === 'failed') {
		const isWritten = truth.written.some(({ fields }) => holds(fields, values));
		return isWritten ? ['the node wrote it'] : [];
	}
	if (item.kind !== 'done') return [`it is ${item.kind}`];
	if (item.outputs.length !== 1) return [`${item.outputs.length} output items for one item`];
	const { id, ver, outcome } = item.outputs[0]!.json;
	// If no look-up can tell whose record each is, it has no ID.
	if (id === undefined) return [];
	const states = [...truth.before, ...truth.history].filter((state) => state.id === id);
	const wrong: string[] = [];
	// Values that come late are in a later version than the one that the response has.
	const isItsVersion = (state: { ver: number }) => (truth.areValuesLate ? state.ver >= Number(ver) : state.ver === ver);
	if (!states.some((state) => isItsVersion(state) && holds(state.fields, values))) {
		wrong.push(`record ${String(id)}/${String(ver)} never held its values`);
	}
	const own = new Set(truth.written.filter((version) => version.id === id).map(({ action }) => action));
	if (outcome === 'inserted' && !own.has('inserted')) wrong.push('the node did not insert it');
	if (outcome === 'updated' && (own.has('inserted') || !own.has('updated'))) {
		wrong.push('the node did not update it');
	}
	if (outcome === 'unchanged' && own.size > 0) wrong.push('the node wrote it');
	return wrong;
}

/** Checks an item that deleted a record which the other writer changed. */
function checkDeleted(item: ItemResult, id: string | undefined, truth: Truth): string[] {
	const isOwn = truth.written.some((version) => version.id === id && version.action === 'deleted');
	if (item.kind === 'done') return isOwn ? [] : ['the node did not delete it'];
	if (item.kind === 'failed') return isOwn ? ['the node deleted it'] : [];
	return [`it is ${item.kind}`];
}

function checkTouched(item: ItemResult, index: number, { touched }: Prepared, truth: Truth): string[] {
	if (touched!.check) return touched!.check(index, item, truth);
	const values = touched!.values?.(index);
	return values ? checkWritten(item, values, truth) : checkDeleted(item, touched!.idOf(index), truth);
}

/** The other writer's request; undefined if there is nothing for it to do. */
function otherWriteOf({ touched }: Prepared, action: OtherAction, index: number) {
	if (touched?.write) return touched.write(action, index);
	const id = touched?.idOf(index);
	if (action === 'delete') return id === undefined ? undefined : { id };
	if (action === 'update') return id === undefined ? undefined : { id, fields: { group: 'theirs' } };
	const values = touched?.values?.(index);
	return id === undefined && values ? { fields: { ...values, name: 'theirs', group: 'theirs' } } : undefined;
}

export async function runBesideOther(slot: MatrixSandbox, scenario: Scenario, { faultCase, timing, seed }: Plan): Promise<Verdict> {
	const random = new SeededRandom(seed);
	slot.platform = choosePlatform(random);
	slot.readings = drawReading(random);
	const prepared = await scenario.prepare(slot, random);
	const { parameters, items } = prepared;
	const action = faultCase.otherWrite!;
	const possible = items.flatMap((_, at) => {
		const write = otherWriteOf(prepared, action, at);
		return write ? [{ index: at, write }] : [];
	});
	if (possible.length === 0) return { problems: [], evidence: [], seen: countItems(false, []) };
	const { index, write } = possible[random.between(0, possible.length - 1)]!;
	await slot.begin([]);
	const onError = random.of('continueRegularOutput', 'continueErrorOutput');
	const otherWrite = { before: MOMENTS.indexOf(timing as Moment) + 1, action, ...write };
	const runResult = await slot.run(TIMEOUT_S, { parameters, input: items, onError }, otherWrite);
	const truth = await slot.truth();
	const result = await parseResult(runResult, items.length, onError);
	const problems = [...result.shapeErrors, ...(prepared.checkOthers?.(result, truth) ?? [])];
	const run = { scenario, prepared, faultCase, truth, result };
	for (const [at, item] of result.items.entries()) {
		const isTouched = at === index && truth.isOtherMet;
		if (!isTouched && item.kind !== 'done' && !prepared.isRefused?.(at) && !prepared.isRejected?.(at)) {
			problems.push(`item ${at} did not succeed, though nobody touched it`);
		}
		const wrong = isTouched ? checkTouched(item, at, prepared, truth) : await checkItem(run, at);
		problems.push(...wrong.map((text) => `item ${at}: ${text}`));
	}
	return {
		seen: countItems(truth.isOtherMet, result.items),
		problems,
		evidence: [
			`item ${index}, ${JSON.stringify(otherWrite)}, ${JSON.stringify({ ...slot.platform, readings: slot.readings.name })}, ${JSON.stringify(parameters)}`,
			...truth.requests.map(describeRequest),
			...truth.history.map((version) => JSON.stringify(version)),
			...result.items.map((item, at) => `${at}: ${JSON.stringify(item)}`),
		],
	};
}
