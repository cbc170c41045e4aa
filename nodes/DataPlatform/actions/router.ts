/**
 * Runs the chosen operation. Here are the only loop over the items and the only place that turns a
 * failure into an error item or stops the node.
 */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { createClient, requireSameCredential } from '../run/createClient';
import type { ItemOperation, Operation } from '../run/operation';
import { effortOf, withHintInMessage, Ledger, toNodeError, type Progress } from '../run/ledger';
import type { Parameter, ParameterReader } from '../parameterKinds/parameter';
import { saveProgress, restoreProgress } from '../run/retryProgress';
import { isTool, readerOf, RunContext } from '../run/run';
import { toProblem } from '../parameters/describeFailure';
import { withGroups, withoutExpressions } from '../parameters/defineOperation';
import { maxRetryWait, skipAudit, timeout } from '../parameters/requests';
import { forEachConcurrent, KeyedQueue } from '../transport/concurrency';
import { InputError, type Problem } from '../transport/errors';
import { counted } from '../transport/messageText';
import { createPause } from '../transport/pause';
import { findOperation } from './index';

/** How long a tool may wait in all for retries, in seconds: an agent waits for it. */
const MAX_AGENT_WAIT_S = 20;

/** Runs `work` and returns its error, if any, in words for the user. */
async function problemIn(work: () => Promise<void>): Promise<Problem | undefined> {
	try {
		await work();
		return undefined;
	} catch (error) {
		return toProblem(error);
	}
}

async function runItems(
	operation: ItemOperation,
	run: RunContext<string>,
	ledger: Ledger,
	continueOnFail: boolean,
) {
	let isStopped = false;
	const queue = new KeyedQueue();
	const runNext = async (index: number) => {
		if (isStopped || ledger.hasResult(index)) return;
		const problem = await problemIn(async () => {
			ledger.done(index, [await operation.execute(run, index, ledger.attempt)].flat());
		});
		if (!problem) return;
		ledger.failed(index, problem);
		isStopped = !continueOnFail;
	};
	await forEachConcurrent(run.items.keys(), operation.concurrency ?? 1, async (index) => {
		const keyOf = async () => await operation.concurrencyKey?.(run, index);
		// An item that can't be read changes nothing.
		const key = await keyOf().catch(() => undefined);
		if (key === undefined) await runNext(index);
		else await queue.next(key, async () => await runNext(index));
	});
}

/**
 * A setting of the whole run, from the first item. If its expression fails there, it is read from
 * another item. Undefined if the operation does not show it, or there are no items.
 *
 * @throws {InputError} if it is invalid
 */
function runSetting<Name extends string, T>(
	reader: ParameterReader<Name>,
	parameter: Parameter<Name, T>,
	itemCount: number,
): T | undefined {
	if (!reader.shown.has(parameter.name)) return undefined;
	let failure: unknown;
	for (let index = 0; index < itemCount; index += 1) {
		try {
			return parameter.of(reader, index);
		} catch (error) {
			failure ??= error;
			if (error instanceof InputError) break;
		}
	}
	if (failure !== undefined) throw failure;
	return undefined;
}

async function createRun(
	context: IExecuteFunctions,
	{ shown }: Operation,
	itemCount: number,
): Promise<RunContext<string>> {
	const reader = readerOf(context, shown);
	const wait = runSetting(reader, maxRetryWait, itemCount);
	const isAgent = isTool(context.getNode());
	const settings = {
		timeout: runSetting(reader, timeout, itemCount),
		maxRetryWait: isAgent ? Math.min(wait ?? MAX_AGENT_WAIT_S, MAX_AGENT_WAIT_S) : wait,
		skipAudit: runSetting(reader, skipAudit, itemCount),
	};
	const client = await createClient(context, settings, isAgent ? 'Try again later.' : undefined);
	await requireSameCredential(context, client.account);
	return new RunContext(context, client, shown);
}

async function runAll(context: IExecuteFunctions, operation: Operation, ledger: Ledger) {
	const hint = operation.insteadOfFiles;
	if (hint && isTool(context.getNode())) {
		throw new InputError("Agents get no file contents, and can't hand over files", { hint });
	}
	const run = await createRun(context, operation, context.getInputData().length);
	ledger.stats = run.client.stats;
	if (operation.kind === 'bulk') await operation.execute(run, ledger);
	else await runItems(operation, run, ledger, context.continueOnFail());
	const { stats, waitReasons, notices } = run.client;
	for (const notice of notices) run.hint(notice, 'warning');
	if (waitReasons.size === 0) return;
	const { requests, waitedSeconds } = effortOf(stats);
	const reasons = [...waitReasons].join('; ');
	run.hint(`${waitedSeconds} s waited: ${reasons}. ${counted(requests, 'request')} in all.`);
}

/** How far the run got, in words; empty if there is nothing to say. */
function progressText(progress: Progress): string {
	const { items, done, confirmedThroughItem: through } = progress;
	if (items === 1 || done === 0) return '';
	const confirmed = through === null ? '' : `, all confirmed through item ${through}`;
	return `${done} of ${items} items are done${confirmed}.`;
}

/** The node's `execute`. */
export async function router(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const items = context.getInputData();
	const operation = findOperation(
		context.getNodeParameter('resource', 0) as string,
		context.getNodeParameter('operation', 0) as string,
	);
	const node = context.getNode();
	const inWords = (hint: string) => withGroups(hint, operation.shown);
	const forModel = (hint: string) => withoutExpressions(inWords(hint));
	const toHint = isTool(node) ? forModel : inWords;
	const ledger = new Ledger(items.length, toHint, operation.retriesUnknown);
	if (operation.notIdempotent) restoreProgress(context, ledger);
	const pause = createPause();
	const stop = await problemIn(async () => await runAll(context, operation, ledger));
	// The output of many items takes n8n some time, too.
	await pause();
	if (stop) {
		items.forEach((_, index) => {
			if (!ledger.hasResult(index)) ledger.failed(index, stop);
		});
	}

	const first = ledger.firstFailure();
	const continueOnFail = context.continueOnFail();
	if (operation.notIdempotent) {
		// n8n looks at the first output item to see whether the node failed.
		const isRetried = node.retryOnFail === true && first?.index === 0 && !ledger.isSummarized;
		const isFailed = first !== undefined && (!continueOnFail || isRetried);
		saveProgress(context, ledger, isFailed);
	}
	if (first && !continueOnFail) {
		const { problem, index } = ledger.primaryFailure() ?? first;
		const { reached } = ledger;
		const ifRunAgain = reached.done > 0 && operation.ifRunAgain;
		const hint = [problem.hint, progressText(reached), ifRunAgain].filter(Boolean).join(' ');
		const withProgress = { ...problem, hint };
		const shown = isTool(node) ? withHintInMessage(withProgress) : withProgress;
		throw toNodeError(node, shown, problem.item ?? index, reached);
	}
	return [ledger.items(node.onError === 'continueErrorOutput', items)];
}
