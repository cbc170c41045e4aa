/**
 * The ledger of a run: what became of each item, written once it is known. The output, in order and
 * paired, the summary, the hints, the error that stops the node and its next attempt all read it.
 */
import {
	NodeApiError,
	NodeOperationError,
	type IBinaryKeyData,
	type IDataObject,
	type INode,
	type INodeExecutionData,
	type JsonObject,
} from 'n8n-workflow';
import type { RequestStats } from '../transport/client';
import type { Problem } from '../transport/errors';
import { omitUndefined } from '../transport/json';
import { escapedHtml } from '../transport/messageText';

type NodeApiErrorOptions = NonNullable<ConstructorParameters<typeof NodeApiError>[2]>;

/** Appends the hint to the message, for consumers that see only the message, such as agents. */
export const withHintInMessage = ({ message, causes = [], hint, ...rest }: Problem): Problem => {
	const whole = [message, ...causes].join('; ');
	return { ...rest, message: hint ? `${whole.replace(/\.$/, '')}. ${hint}` : whole, hint };
};

/** What stands below an error's message in the editor: a line for each cause, then the hint. */
function descriptionOf({ causes, hint }: Problem): string | undefined {
	const toLine = (cause: string) =>
		`<li>${escapedHtml(cause).replace(/\{\{ .*? \}\}(?! \})/g, '<code>$&</code>')}</li>`;
	const list = causes && `<ul>${causes.map(toLine).join('')}</ul>`;
	return list || hint ? `${list ?? ''}${escapedHtml(hint ?? '')}` : undefined;
}

/** The output of an item that succeeded, one entry for each of its records. */
interface Done {
	output: INodeExecutionData[];
	/** Of its record, if it was written. */
	outcome?: string;
	/** Whether it was merged into another item. */
	isMerged?: boolean;
}

/** What became of an item. */
type Result = Done | Problem;

const isDone = (result: Result | undefined): result is Done =>
	result !== undefined && 'output' in result;

const isProblem = (result: Result | undefined): result is Problem =>
	result !== undefined && !isDone(result);

/** What a problem tells programs. */
const factsOf = ({ outcome, id, key, field, status, code, details }: Problem): IDataObject =>
	omitUndefined({ outcome, id, key, field, status, code, ...details });

/** The cause for n8n's back-off; only what the response proves. */
function cause({ status, retryAfterMs }: Problem): NodeApiErrorOptions['failure'] {
	if (status === 429) return { cause: 'rate-limited', retryAfterMs };
	if (status === 401) return { cause: 'credential-invalid' };
	if (status === 503) return { cause: 'temporarily-unavailable', retryAfterMs };
	return undefined;
}

/** How far a run got before it stopped, for the error that stops it. */
export interface Progress extends IDataObject {
	items: number;
	/** How many items succeeded. */
	done: number;
	/** The last item up to which all succeeded; null if the first failed. */
	confirmedThroughItem: number | null;
}

/**
 * The error that stops the node. Its `context.details` has the same facts for programs, under the
 * keys of an error item's `details`. n8n stores it with the execution, and passes it to error
 * workflows.
 *
 * @param itemIndex the item that it is about
 */
export function toNodeError(
	node: INode,
	problem: Problem,
	itemIndex?: number,
	progress?: Progress,
): NodeApiError | NodeOperationError {
	const { message, status } = problem;
	const options = { message, description: descriptionOf(problem), itemIndex };
	const ofRequest = { ...options, httpCode: String(status), failure: cause(problem) };
	let error: NodeApiError | NodeOperationError;
	if (status === undefined) error = new NodeOperationError(node, message, options);
	else error = new NodeApiError(node, { message } as JsonObject, ofRequest);
	// n8n replaces a message that contains ECONNRESET with its own advice ("retry immediately").
	error.message = message;
	error.context.details = omitUndefined({ item: itemIndex, ...factsOf(problem), ...progress });
	return error;
}

const ERROR_ITEM_KEYS = new Set(['error', 'message', 'details']);

/** n8n takes it for an error item: `{ error: 'No', details: {…} }`, without other keys. */
export const isErrorItem = (json: IDataObject): boolean =>
	Boolean(json.error) && Object.keys(json).every((key) => ERROR_ITEM_KEYS.has(key));

/**
 * Marks an item as failed for n8n 1, which does not recognize an error item that has `details`. The
 * mark is not enumerable, so that it is gone once n8n has routed the item: of an item that still
 * has it, n8n keeps only the message.
 */
const markForV1ErrorOutput = (item: INodeExecutionData, message: string): INodeExecutionData =>
	Object.defineProperty(item, 'error', { value: { message }, enumerable: false });

/** A problem, and the item that has it, if any. */
interface Failure {
	index?: number;
	problem: Problem;
}

/** What a run took, for the details of its error. */
export const effortOf = ({ requests, waitedMs }: RequestStats) => ({
	requests,
	waitedSeconds: Math.round(waitedMs / 1000),
});

export class Ledger {
	/** Which attempt of Retry On Fail this is, from 1. */
	attempt = 1;
	/** Of the run's requests, while they are sent. */
	stats?: RequestStats;
	private readonly results: Array<Result | undefined>;
	/** Results that belong to no input item. */
	private readonly others: Result[] = [];
	/**
	 * What a previous attempt may have done, by item, or by the ID of a removed record. No later
	 * failure can rule that out.
	 */
	private readonly possiblyDone = new Map<unknown, Problem>();
	/** Replaces the items in the output, if set. */
	private summary?: Pick<INodeExecutionData, 'json' | 'binary'>;
	private isDryRun = false;

	/**
	 * @param toHint puts a hint in the words of the operation
	 * @param retriesUnknown whether doing again what may have been done does no harm
	 */
	constructor(
		size: number,
		private readonly toHint: (hint: string) => string = (hint) => hint,
		private readonly retriesUnknown = false,
	) {
		this.results = new Array<undefined>(size).fill(undefined);
	}

	/** @param output several entries become several output items */
	done(index: number, output: INodeExecutionData[], outcome?: string, isMerged?: boolean) {
		this.results[index] = { output, outcome, isMerged };
	}

	/** Replaces the output of an item that is done. */
	replace(index: number, output: INodeExecutionData[]) {
		this.results[index] = { ...this.results[index], output };
	}

	failed(index: number, problem: Problem) {
		const { outcome, status } = problem;
		// The platform's 404 may be due to a deletion that was possibly done.
		const explainsItself = outcome === 'unknown' || (outcome === 'notFound' && status !== 404);
		const before = explainsItself ? undefined : this.possiblyDone.get(index);
		this.results[index] = before ?? this.complete(problem);
	}

	/** Adds a result that belongs to no input item; it follows those of the items. */
	add(result: Result) {
		if (isDone(result)) this.others.push(result);
		else {
			const before = result.outcome === 'failed' && this.possiblyDone.get(result.id);
			this.others.push(before || this.complete(result));
		}
	}

	/** With a hint in the operation's words, and whether a retry makes sense. */
	private complete(problem: Problem): Problem {
		const { hint, outcome, noRetry, isRetryable, retryAfterMs } = problem;
		const mayBeDoneTwice = noRetry || (outcome === 'unknown' && !this.retriesUnknown);
		const retryable = isRetryable === true && !mayBeDoneTwice;
		const retryAfter =
			retryable && retryAfterMs !== undefined ? Math.ceil(retryAfterMs / 1000) : undefined;
		return {
			...problem,
			hint: hint && this.toHint(hint),
			details: { ...problem.details, ...omitUndefined({ retryable, retryAfter }) },
		};
	}

	/** @param binary the files of the summary */
	summarize(json: IDataObject, binary?: IBinaryKeyData) {
		this.summary = { json, ...(binary && { binary }) };
	}

	/** The output so far, and what is known of failures. */
	*outputs(): Generator<IDataObject> {
		for (const result of [...this.results, ...this.others]) {
			if (isDone(result)) for (const { json } of result.output) yield json;
			else if (result) yield factsOf(result);
		}
	}

	hasResult(index: number): boolean {
		return this.results[index] !== undefined;
	}

	get isSummarized(): boolean {
		return this.summary !== undefined;
	}

	/** How far the run got. */
	get reached(): Progress {
		const gap = this.results.findIndex((result) => !isDone(result));
		const prefix = gap < 0 ? this.results.length : gap;
		return {
			items: this.results.length,
			done: this.results.filter(isDone).length,
			confirmedThroughItem: prefix > 0 ? prefix - 1 : null,
			...(this.stats && effortOf(this.stats)),
		};
	}

	/** Notes that the run writes nothing, whatever the items' results. */
	markDryRun() {
		this.isDryRun = true;
	}

	/** What a later attempt must know: what is done, and what may be; of the items, and of no item. */
	progress(): { done: Array<[number, Result]>; others: Result[] } {
		if (this.isDryRun) return { done: [], others: [] };
		const done = [...this.results.entries()].filter(
			(entry): entry is [number, Result] =>
				isDone(entry[1]) || entry[1]?.outcome === 'unknown' || entry[1]?.noRetry === true,
		);
		const others = this.others.filter((result) => isDone(result) || result.outcome === 'unknown');
		return { done, others };
	}

	/** How many results have each outcome, those of previous attempts too. @param onlyMerged items */
	counts(onlyMerged = false): Record<string, number> {
		const counts: Record<string, number> = {};
		for (const result of [...this.results, ...this.others]) {
			const isCounted = !onlyMerged || (isDone(result) && result.isMerged);
			if (!isCounted || result?.outcome === undefined) continue;
			counts[result.outcome] = (counts[result.outcome] ?? 0) + 1;
		}
		return counts;
	}

	/** Restores a result of a previous attempt. */
	restore(index: number, result: Result) {
		if (this.retriesUnknown && isProblem(result) && !result.noRetry) {
			this.possiblyDone.set(index, result);
		} else this.results[index] = result;
	}

	/** Restores a result of a previous attempt that belongs to no item. */
	restoreOther(result: Result) {
		if (isDone(result)) this.others.push(result);
		else this.possiblyDone.set(result.id, result);
	}

	/** All failures, those of items first. */
	*failures(): Generator<Failure> {
		for (let index = 0; index < this.results.length; index += 1) {
			const problem = this.results[index];
			if (isProblem(problem)) yield { index, problem };
		}
		for (const problem of this.others) if (isProblem(problem)) yield { problem };
	}

	/** The first item that failed. */
	firstFailure(): Failure | undefined {
		const [first] = this.failures();
		return first;
	}

	/** The failure to report: the first one that no other item caused. */
	primaryFailure(): Failure | undefined {
		for (const failure of this.failures()) if (!failure.problem.notAttempted) return failure;
		return this.firstFailure();
	}

	/**
	 * The output. A failure becomes an item that n8n routes to the error output. A summary replaces
	 * all items, or only those that succeeded if the node has an error output.
	 *
	 * @param isRouted whether the node has an error output
	 * @param inputs what a failed item came from, which n8n adds only to routed ones
	 */
	items(isRouted = false, inputs: INodeExecutionData[] = []): INodeExecutionData[] {
		const effort = this.stats && effortOf(this.stats);
		const toItems = (
			result: Result | undefined,
			pairedItem: { item: number } | [],
		): INodeExecutionData[] => {
			if (result === undefined || (this.summary && (isDone(result) || !isRouted))) return [];
			if (isDone(result)) return result.output.map((entry) => ({ ...entry, pairedItem }));
			const { message, hint, binary } = result;
			const at = isRouted || Array.isArray(pairedItem) ? undefined : inputs[pairedItem.item];
			const input = at && { input: at.json };
			const json = omitUndefined({
				error: message,
				message: hint,
				details: { ...pairedItem, ...factsOf(result), ...effort, ...input },
			});
			const item = { json, pairedItem, ...(binary && { binary }) };
			// n8n copies a paired item without the mark. An unpaired one would keep it, and lose its
			// details.
			const isCopied = isRouted && !Array.isArray(pairedItem);
			return [isCopied ? markForV1ErrorOutput(item, message) : item];
		};
		const items = [
			...this.results.flatMap((result, item) => toItems(result, { item })),
			// Paired with an empty list: without one, n8n pairs an item with any other.
			...this.others.flatMap((result) => toItems(result, [])),
		];
		if (!this.summary) return items;
		const pairedItem = this.results.map((_, item) => ({ item }));
		return [{ ...this.summary, pairedItem }, ...items];
	}
}
