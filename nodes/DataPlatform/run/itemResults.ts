/**
 * The results of a run's items: one output item for each input item, in order and paired.
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
import { omitUndefined } from '../transport/json';
import { escapedHtml } from '../transport/messageText';

type NodeApiErrorOptions = NonNullable<ConstructorParameters<typeof NodeApiError>[2]>;

/** Why an item did not succeed. */
export interface Failure {
	message: string;
	hint?: string;
	status?: number;
	/** How long the platform asked to wait. */
	retryAfterMs?: number;
	/** The item it is about, if the operation processed several. */
	item?: number;
	/** Not attempted because another item failed. */
	notAttempted?: boolean;
	/** It may have been done, and doing it twice would do harm: no further attempt retries it. */
	noRetry?: boolean;
	/** The same item may succeed later, unless it may have been done and could be done twice. */
	isRetryable?: boolean;
	details?: IDataObject;
	/** Files that were made before it failed. */
	binary?: IBinaryKeyData;
}

/** Appends the hint to the message, for consumers that see only the message, such as agents. */
export const withHintInMessage = ({ message, hint, ...rest }: Failure): Failure => ({
	...rest,
	message: hint ? `${message.replace(/\.$/, '')}. ${hint}` : message,
	hint,
});

/** The result of an item. */
export type ItemResult = INodeExecutionData[] | Failure;

/** The cause for n8n's back-off; only what the response proves. */
function cause({ status, retryAfterMs }: Failure): NodeApiErrorOptions['failure'] {
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
	/** Why it stopped early, if several items caused it: a code, and the reason in words. */
	stopped?: string;
	stopMessage?: string;
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
	failure: Failure,
	itemIndex?: number,
	progress?: Progress,
): NodeApiError | NodeOperationError {
	const { message, hint, status } = failure;
	const description = hint && escapedHtml(hint);
	const options = { message, description, itemIndex };
	const ofRequest = { ...options, httpCode: String(status), failure: cause(failure) };
	let error: NodeApiError | NodeOperationError;
	if (status === undefined) error = new NodeOperationError(node, message, options);
	else error = new NodeApiError(node, { message } as JsonObject, ofRequest);
	// n8n replaces a message that contains ECONNRESET with its own advice ("retry immediately").
	error.message = message;
	error.context.details = omitUndefined({ item: itemIndex, ...failure.details, ...progress });
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

/** A failure, and the item that it is about, if any. */
export interface ReportedFailure {
	index?: number;
	failure: Failure;
}

export class ItemResults {
	/** Which attempt of Retry On Fail this is, from 1. */
	attempt = 1;
	private readonly results: Array<ItemResult | undefined>;
	/** Results that belong to no input item. */
	private readonly others: ItemResult[] = [];
	/** Items that a previous attempt may have done. No later failure can rule that out. */
	private readonly possiblyDone = new Map<number, Failure>();
	/** Records of no item that a previous attempt may have removed, by ID. */
	private readonly possiblyRemoved = new Map<unknown, Failure>();
	/** Replaces the items in the output, if set. */
	private summary?: IDataObject;
	private isDryRun = false;
	private stopReason?: Pick<Progress, 'stopped' | 'stopMessage'>;

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

	/** @param output the result of the item; several entries become several output items */
	done(index: number, output: INodeExecutionData[]) {
		this.results[index] = output;
	}

	failed(index: number, reported: Failure) {
		const failure = this.complete(reported);
		const { outcome, status } = failure.details;
		// The platform's 404 may be due to a deletion that was possibly done.
		const isOutcomeCertain = outcome === 'unknown' || (outcome === 'notFound' && status !== 404);
		this.results[index] = (!isOutcomeCertain && this.possiblyDone.get(index)) || failure;
	}

	/** Adds a result that belongs to no input item; it follows those of the items. */
	add(result: ItemResult) {
		if (Array.isArray(result)) this.others.push(result);
		else {
			const { details } = result;
			const before = details?.outcome === 'failed' && this.possiblyRemoved.get(details.id);
			this.others.push(before || this.complete(result));
		}
	}

	/** With a hint in the operation's words, and whether a retry makes sense. */
	private complete({ hint, ...failure }: Failure): Failure & { details: IDataObject } {
		const { details, retryAfterMs } = failure;
		const mayBeDoneTwice =
			failure.noRetry || (details?.outcome === 'unknown' && !this.retriesUnknown);
		const retryable = failure.isRetryable === true && !mayBeDoneTwice;
		const isWaitKnown = retryable && retryAfterMs !== undefined;
		return {
			...failure,
			...(hint !== undefined && { hint: this.toHint(hint) }),
			details: {
				...details,
				retryable,
				...(isWaitKnown && { retryAfter: Math.ceil(retryAfterMs / 1000) }),
			},
		};
	}

	/** Notes why the run stopped early, if several items caused it. */
	stop(stopped: string, stopMessage: string) {
		this.stopReason = { stopped, stopMessage };
	}

	summarize(summary: IDataObject) {
		this.summary = summary;
	}

	hasResult(index: number): boolean {
		return this.results[index] !== undefined;
	}

	get isSummarized(): boolean {
		return this.summary !== undefined;
	}

	/** How far the run got. */
	get reached(): Progress {
		const gap = this.results.findIndex((result) => !Array.isArray(result));
		const prefix = gap < 0 ? this.results.length : gap;
		return {
			items: this.results.length,
			done: this.results.filter((result) => Array.isArray(result)).length,
			confirmedThroughItem: prefix > 0 ? prefix - 1 : null,
			...this.stopReason,
		};
	}

	/** Notes that the run writes nothing, whatever the items' results. */
	markDryRun() {
		this.isDryRun = true;
	}

	/** What a later attempt must know: which items succeeded, and which may have. */
	progress(): Array<[number, ItemResult]> {
		if (this.isDryRun) return [];
		return [...this.results.entries()].filter(
			(entry): entry is [number, ItemResult] =>
				Array.isArray(entry[1]) ||
				entry[1]?.details?.outcome === 'unknown' ||
				entry[1]?.noRetry === true,
		);
	}

	/** The same about results that belong to no item. */
	otherProgress(): ItemResult[] {
		if (this.isDryRun) return [];
		return this.others.filter(
			(result) => Array.isArray(result) || result.details?.outcome === 'unknown',
		);
	}

	/** All outcomes, including those of previous attempts. */
	*outcomes(): Generator<{ outcome: string; isMerged: boolean }> {
		for (const results of [this.results, this.others]) {
			for (const result of results) {
				const json = Array.isArray(result) ? result[0]?.json : result?.details;
				if (typeof json?.outcome !== 'string') continue;
				yield { outcome: json.outcome, isMerged: typeof json.mergedInto === 'number' };
			}
		}
	}

	/**
	 * Restores a result of a previous attempt.
	 *
	 * @param retriesUnknown whether to retry an item that may have been done
	 */
	restore(index: number, result: ItemResult, retriesUnknown = false) {
		if (retriesUnknown && !Array.isArray(result) && !result.noRetry)
			this.possiblyDone.set(index, result);
		else this.results[index] = result;
	}

	/** Restores a result of a previous attempt that belongs to no item. */
	restoreOther(result: ItemResult) {
		if (Array.isArray(result)) this.others.push(result);
		else this.possiblyRemoved.set(result.details?.id, result);
	}

	/** All failures, those of items first. */
	*failures(): Generator<ReportedFailure> {
		for (let index = 0; index < this.results.length; index += 1) {
			const result = this.results[index];
			if (result !== undefined && !Array.isArray(result)) yield { index, failure: result };
		}
		for (const result of this.others) if (!Array.isArray(result)) yield { failure: result };
	}

	/** The first item that failed. */
	firstFailure(): ReportedFailure | undefined {
		const [first] = this.failures();
		return first;
	}

	/** The failure to report: the first one that no other item caused. */
	primaryFailure(): ReportedFailure | undefined {
		for (const reported of this.failures()) if (!reported.failure.notAttempted) return reported;
		return this.firstFailure();
	}

	/**
	 * The output. A failure becomes an item that n8n routes to the error output. A summary replaces
	 * all items, or only those that succeeded if the node has an error output.
	 *
	 * @param isRouted whether the node has an error output
	 */
	items(isRouted = false): INodeExecutionData[] {
		const toItems = (
			result: ItemResult | undefined,
			pairedItem: { item: number } | [],
		): INodeExecutionData[] => {
			if (result === undefined || (this.summary && (Array.isArray(result) || !isRouted))) return [];
			if (Array.isArray(result)) {
				return result.map((entry) => ({ ...entry, pairedItem }));
			}
			const { message, hint, details, binary } = result;
			const json = omitUndefined({
				error: message,
				message: hint,
				details: { ...pairedItem, ...details },
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
		return [{ json: this.summary, pairedItem }, ...items];
	}
}
