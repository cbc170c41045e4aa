/**
 * Runs the chosen operation: the one loop over the items, and the one place where a failure
 * becomes an error item or stops the node.
 */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { createClient, DEFAULT_MAX_WAIT_S, DEFAULT_TIMEOUT_S } from '../execution/createClient';
import { findOperation } from './index';
import type { ItemOperation, Operation } from '../execution/operation';
import { ItemResults, toFailure, toNodeError, type Failure } from '../execution/itemResults';
import { saveProgress, restoreProgress } from '../execution/retryProgress';
import { isTool, RunContext } from '../execution/run';

/** Runs `work`; its error as a value, in the user's words. */
async function failureOf(work: () => Promise<void>): Promise<Failure | undefined> {
	try {
		await work();
		return undefined;
	} catch (error) {
		return toFailure(error);
	}
}

// A record may have fields called json and binary; it always has more than those.
const isOutput = (value: object): value is INodeExecutionData =>
	Object.keys(value).length === 2 && 'json' in value && 'binary' in value;

async function runItem(
	operation: ItemOperation,
	run: RunContext,
	report: ItemResults,
	index: number,
) {
	const failure = await failureOf(async () => {
		const result = await operation.execute(run, index);
		if (Array.isArray(result))
			report.done(
				index,
				result.map((json) => ({ json })),
			);
		else report.done(index, [isOutput(result) ? result : { json: result }]);
	});
	if (failure) report.failed(index, failure);
	return failure === undefined;
}

async function runItems(
	operation: ItemOperation,
	run: RunContext,
	report: ItemResults,
	continueOnFail: boolean,
) {
	const queue = run.items.keys();
	let isStopped = false;
	const work = async () => {
		for (const index of queue) {
			if (isStopped) return;
			if (report.hasResult(index)) continue;
			const isDone = await runItem(operation, run, report, index);
			if (!isDone && !continueOnFail) isStopped = true;
		}
	};
	await Promise.all(Array.from({ length: operation.concurrency ?? 1 }, work));
}

async function createRun(
	context: IExecuteFunctions,
	{ timeoutSeconds = DEFAULT_TIMEOUT_S }: Operation,
): Promise<RunContext> {
	const seconds = {
		timeout: context.getNodeParameter('options.timeout', 0, timeoutSeconds) as number,
		maxRetryWait: context.getNodeParameter('options.maxRetryWait', 0, DEFAULT_MAX_WAIT_S) as number,
	};
	return new RunContext(context, await createClient(context, seconds));
}

async function runAll(context: IExecuteFunctions, operation: Operation, report: ItemResults) {
	const run = await createRun(context, operation);
	if (operation.kind === 'bulk') await operation.execute(run, report);
	else await runItems(operation, run, report, context.continueOnFail());
}

/** What is said in the error that stops the node about the work done before it. */
function progress(report: ItemResults, size: number): string {
	const done = report.doneCount;
	if (size === 1 || done === 0) return '';
	const through = report.completedPrefix;
	const confirmed = through > 0 ? `, all confirmed through item ${through - 1}` : '';
	return `${done} of ${size} items are done${confirmed}.`;
}

/** An agent is handed an error's message alone: what to do must be in it. */
const inOneText = ({ message, hint, ...rest }: Failure): Failure => ({
	...rest,
	message: hint ? `${message.replace(/\.$/, '')}. ${hint}` : message,
	hint,
});

/** The node's `execute`. */
export async function router(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const items = context.getInputData();
	const operation = findOperation(
		context.getNodeParameter('resource', 0) as string,
		context.getNodeParameter('operation', 0) as string,
	);
	const report = new ItemResults(items.length);
	if (operation.notIdempotent) restoreProgress(context, report, operation.retriesUnknown);
	const stop = await failureOf(async () => await runAll(context, operation, report));
	if (stop) {
		items.forEach((_, index) => {
			if (!report.hasResult(index)) report.failed(index, stop);
		});
	}

	const first = report.firstFailure();
	const continueOnFail = context.continueOnFail();
	if (operation.notIdempotent) {
		const isRetried = context.getNode().retryOnFail === true && first?.index === 0;
		const isFailed = first !== undefined && (!continueOnFail || isRetried);
		saveProgress(context, report, isFailed);
	}
	if (first && !continueOnFail) {
		const { failure, index } = report.primaryFailure() ?? first;
		const hint = [failure.hint, progress(report, items.length)].filter(Boolean).join(' ');
		const failureWithProgress = { ...failure, hint };
		const node = context.getNode();
		throw toNodeError(
			node,
			isTool(node) ? inOneText(failureWithProgress) : failureWithProgress,
			failure.item ?? index,
		);
	}
	return [report.items(context.getNode().onError === 'continueErrorOutput')];
}
