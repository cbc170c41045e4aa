/**
 * n8n's Retry On Fail runs the whole node again. What must not be done twice is therefore kept in
 * the execution's own data when a try ends with a failure, and taken from there in the next try
 * of the same run with the same input.
 */
import { createHash } from 'node:crypto';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import type { ItemResults, ItemResult } from './itemResults';

interface SavedProgress {
	fingerprint: string;
	done: Array<[number, ItemResult]>;
	/** Results that belong to no item. */
	others: ItemResult[];
}

const KEY = 'dataPlatformDone';

function progressSlot(context: IExecuteFunctions) {
	const runIndex = Number(context.evaluateExpression('{{ $runIndex }}', 0));
	return { store: context.getContext('node') as IDataObject, key: `${KEY}${runIndex}` };
}

/** The same items and parameters: another input is not the same work. */
function fingerprint(context: IExecuteFunctions): string {
	const hash = createHash('sha256');
	hash.update(JSON.stringify(context.getNode().parameters));
	// An item may have no JSON; the separator keeps one item's text apart from the next.
	for (const { json } of context.getInputData()) hash.update(`${JSON.stringify(json)}\n`);
	return hash.digest('hex');
}

/** Fills in what a previous attempt of this run has done. */
export function restoreProgress(
	context: IExecuteFunctions,
	report: ItemResults,
	retriesUnknown = false,
) {
	const { store, key } = progressSlot(context);
	const saved = store[key] as unknown as SavedProgress | undefined;
	if (saved === undefined || saved.fingerprint !== fingerprint(context)) return;
	for (const [index, result] of saved.done) report.restore(index, result, retriesUnknown);
	for (const result of saved.others) report.add(result);
}

/** Keeps what this try has done, where n8n will take it as failed; else forgets it. */
export function saveProgress(context: IExecuteFunctions, report: ItemResults, isFailed: boolean) {
	const { store, key } = progressSlot(context);
	const done = isFailed ? report.progress() : [];
	const others = isFailed ? report.otherProgress() : [];
	if (done.length + others.length === 0) delete store[key];
	else store[key] = { fingerprint: fingerprint(context), done, others } as unknown as IDataObject;
}
