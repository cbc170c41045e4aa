/**
 * n8n's Retry On Fail runs the whole node again. Results that must not be repeated are therefore
 * saved in the execution's own data when an attempt fails, and restored in the next attempt of the
 * same run with the same input.
 */
import { createHash } from 'node:crypto';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import type { Ledger } from './ledger';

interface SavedProgress extends ReturnType<Ledger['progress']> {
	fingerprint: string;
	/** The attempt that saved it. */
	attempt: number;
}

const PROGRESS_KEY = 'dataPlatformDone';

/**
 * Where the execution keeps this run's progress; undefined if n8n runs the node only once. A tool of
 * n8n's Agents runs outside any execution, where `getContext` throws.
 */
function progressSlot(context: IExecuteFunctions) {
	if (context.getNode().retryOnFail !== true) return undefined;
	const runIndex = Number(context.evaluateExpression('{{ $runIndex }}', 0));
	try {
		return { store: context.getContext('node') as IDataObject, key: `${PROGRESS_KEY}${runIndex}` };
	} catch {
		return undefined;
	}
}

/** Identifies the items and parameters: with other input, a saved result no longer applies. */
function fingerprint(context: IExecuteFunctions): string {
	const hash = createHash('sha256');
	hash.update(JSON.stringify(context.getNode().parameters));
	// An item may have no JSON. The separator keeps the texts of items apart.
	for (const { json } of context.getInputData()) hash.update(`${JSON.stringify(json)}\n`);
	return hash.digest('hex');
}

/** Restores the results of the previous attempt of this run. */
export function restoreProgress(context: IExecuteFunctions, ledger: Ledger) {
	const slot = progressSlot(context);
	const saved = slot?.store[slot.key] as unknown as SavedProgress | undefined;
	if (saved === undefined || saved.fingerprint !== fingerprint(context)) return;
	ledger.attempt = saved.attempt + 1;
	for (const [index, result] of saved.done) ledger.restore(index, result);
	for (const result of saved.others) ledger.restoreOther(result);
}

/**
 * Saves this attempt's results if n8n counts it as failed and tries again; otherwise deletes them.
 */
export function saveProgress(context: IExecuteFunctions, ledger: Ledger, isFailed: boolean) {
	const slot = progressSlot(context);
	if (!slot) return;
	const { store, key } = slot;
	delete store[key];
	const { attempt } = ledger;
	// The same limits as n8n's.
	const maxTries = Math.min(5, Math.max(2, Number(context.getNode().maxTries) || 3));
	if (!isFailed || attempt >= maxTries) return;
	const progress: SavedProgress = {
		fingerprint: fingerprint(context),
		...ledger.progress(),
		attempt,
	};
	store[key] = progress as unknown as IDataObject;
}
