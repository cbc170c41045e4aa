/** Whether the summary of a run, or the error that stopped it, is true. */
import type { IDataObject } from 'n8n-workflow';
import type { Trial } from './trial.mts';
import { OUTCOMES, type Outcome, type StopError } from './execute.mts';
import { sameFields } from './referenceModel.mts';
import type { CaseItem } from './schedule.mts';

/** How many of the items are stored on the platform, with each record counted only once. */
function countStored(trial: Trial, items: CaseItem[]): number {
	const { model, evidence } = trial;
	const fresh = evidence.written.filter(({ action }) => action === 'inserted');
	let stored = 0;
	for (const item of items) {
		const winner = trial.testCase.items[model.merged.get(item.index) ?? item.index]!;
		const target = model.target(winner);
		if (target) {
			const after = evidence.records.find(({ id }) => id === target.id);
			if (after && sameFields(after.fields, model.applied(winner, target.fields))) stored += 1;
			continue;
		}
		const at = fresh.findIndex(({ fields }) => sameFields(fields ?? {}, model.applied(winner)));
		if (at >= 0 || trial.hasOlder(winner)) stored += 1;
		// A merged item shares the record of the item it was merged into.
		if (at >= 0 && trial.testCase.mode === 'create') fresh.splice(at, 1);
	}
	return stored;
}

/** Compares the error with the records. */
export function checkStop(trial: Trial, { message, description, item: namedItem, details }: StopError): string[] {
	const { testCase, evidence, model } = trial;
	const wrong: string[] = [];
	const about = `error '${message}' '${description}'`;
	if (testCase.onError !== 'stopWorkflow') return [`the run stopped: ${about}`];
	if (message.startsWith('Nothing was sent')) {
		if (trial.writes.length > 0) wrong.push('something was sent');
		const item = testCase.items[namedItem ?? -1];
		if (!item || !model.isFlawed(item)) wrong.push(`item ${namedItem} is not wrong`);
		return wrong.map((text) => `${text}; ${about}`);
	}
	const done = details.done ?? 0;
	const through = details.confirmedThroughItem ?? -1;
	const items = testCase.options.dryRun ? [] : testCase.items;
	if (!testCase.options.dryRun) {
		const stored = countStored(trial, items);
		if (stored < done) wrong.push(`${stored} items are stored`);
		const first = items.slice(0, through + 1);
		const storedFirst = countStored(trial, first);
		if (storedFirst < first.length) {
			wrong.push(`${storedFirst} are stored through item ${through}`);
		}
	}
	const item = namedItem === undefined ? undefined : testCase.items[namedItem];
	if (item) wrong.push(...checkNamed(trial, item, details.outcome === 'unknown'));
	else if (trial.writes.length > 0) wrong.push('no item is named');
	if (through >= 0 && namedItem !== undefined && namedItem <= through) wrong.push(`named ${namedItem}`);
	if (!evidence.requests.length && !model.isFlawed(testCase.items[0]!)) wrong.push('no request');
	return wrong.map((text) => `${text}; ${about}`);
}

/** Checks the item that the error names: it did not succeed, and its outcome is right. */
function checkNamed(trial: Trial, item: CaseItem, isUnknown: boolean): string[] {
	const { model, evidence, testCase } = trial;
	const wrong: string[] = [];
	const winner = testCase.items[model.merged.get(item.index) ?? item.index]!;
	const expected = model.expected(item);
	const isBad = expected.includes('failed') || expected.includes('notFound');
	if (isUnknown) {
		if (!expected.includes('unknown') && !trial.unknownAllowed(winner)) wrong.push(`item ${item.index} is not that obscure`);
		return wrong;
	}
	if (!isBad && !trial.failureAllowed(winner)) wrong.push(`item ${item.index} is good`);
	const target = model.target(winner);
	if (target && evidence.written.some(({ id }) => id === target.id)) {
		wrong.push(`item ${item.index} was written`);
	}
	if (!target && testCase.mode !== 'update' && testCase.mode !== 'replace') {
		const same = testCase.items.filter((other) => sameFields(model.applied(other), model.applied(winner)));
		const fresh = evidence.written.filter(({ action, fields }) => action === 'inserted' && sameFields(fields ?? {}, model.applied(winner)));
		const most = testCase.mode === 'create' ? same.length - 1 : 0;
		if (fresh.length > most) wrong.push(`item ${item.index} was inserted`);
	}
	return wrong;
}

/** Compares the summary's counts with the records. */
export function checkSummary(trial: Trial, summary: IDataObject): string[] {
	const { testCase, evidence, model } = trial;
	const count = (outcome: Outcome) => Number(summary[outcome] ?? 0);
	const total = OUTCOMES.reduce((sum, outcome) => sum + count(outcome), 0);
	const wrong: string[] = [];
	if (total !== testCase.items.length) wrong.push(`the counts come to ${total}`);
	if (!testCase.options.dryRun) {
		const changed = (action: string) => new Set(evidence.written.filter((entry) => entry.action === action).map(({ id }) => id)).size;
		for (const [outcome, actual] of [
			['inserted', changed('inserted')],
			['updated', changed('updated')],
		] as const) {
			// For a second attempt, what the first one did is unchanged.
			const isLater = testCase.tries > 1 && testCase.mode !== 'create';
			const isUnseen = testCase.items.some((item) => trial.isUnseen(item));
			const open = count('unknown') + count('written') + (isLater || isUnseen ? count('unchanged') : 0) + (isLater ? count('updated') : 0);
			// Merged items are counted together with the record that they share.
			const least = isLater ? 0 : count(outcome) - Number(summary.merged ?? 0);
			if (actual < least || actual > count(outcome) + open) {
				wrong.push(`${actual} were ${outcome}`);
			}
		}
	}
	const isClear = testCase.canRead && testCase.tries === 1;
	if (isClear && evidence.requests.every(({ faults }) => faults.every((id) => id.startsWith('item ')))) {
		const expected = testCase.items.map((item) => model.expected(item));
		for (const outcome of OUTCOMES) {
			// A response that names no item leaves new records without a key open.
			if (outcome === 'unknown' && testCase.settings.recordIndex === false) continue;
			const most = expected.filter((outcomes) => outcomes.includes(outcome)).length;
			if (count(outcome) > most) wrong.push(`at most ${most} are ${outcome}`);
		}
	}
	if (Number(summary.requests) > evidence.requests.length && testCase.tries === 1) {
		wrong.push(`${evidence.requests.length} requests arrived`);
	}
	return wrong.map((text) => `${text}; the summary says ${JSON.stringify(summary)}`);
}
