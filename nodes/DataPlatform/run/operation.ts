/**
 * The shape of a resource and its operations. Each operation is one file: its entry in the editor,
 * its fields, and what it does.
 */
import type { INodeExecutionData, INodeProperties } from 'n8n-workflow';

import type { Ledger } from './ledger';
import type { ShownParameters } from '../parameterKinds/parameter';
import type { RunContext } from './run';

interface OperationBase {
	/** Stored in saved workflows: never renamed. */
	value: string;
	name: string;
	/** In sentence case, without articles. Agents read it too. */
	action: string;
	description: string;
	/** The parameters in the editor. */
	properties: INodeProperties[];
	shown: ShownParameters;
	/**
	 * Doing it twice does harm: its results are kept for another attempt of the node (n8n's Retry On
	 * Fail runs the whole node again).
	 */
	notIdempotent?: boolean;
	/**
	 * Another attempt may repeat items with an unknown outcome: doing those twice does no harm.
	 */
	retriesUnknown?: boolean;
	/** Of items that are done, if the node stopped and runs again: a sentence of the error. */
	ifRunAgain?: string;
	/** If it takes or makes files, which n8n passes to no agent: what an agent can do instead. */
	insteadOfFiles?: string;
}

/** Runs once for each item. */
export interface ItemOperation extends OperationBase {
	kind: 'item';
	/** How many items to process at a time; 1 if not set. */
	concurrency?: number;
	/**
	 * Names what an item changes. Items with the same key run one after the other, in order. If not
	 * set, items don't conflict.
	 */
	concurrencyKey?(run: RunContext<string>, index: number): string | Promise<string>;
	/**
	 * @param attempt which attempt of Retry On Fail it is, from 1
	 * @returns its output items
	 */
	execute(
		run: RunContext<string>,
		index: number,
		attempt: number,
	): Promise<INodeExecutionData | INodeExecutionData[]>;
}

/** Gets all items and reports on each. */
export interface BulkOperation extends OperationBase {
	kind: 'bulk';
	execute(run: RunContext<string>, ledger: Ledger): Promise<void>;
}

export type Operation = ItemOperation | BulkOperation;

export interface Resource {
	value: string;
	name: string;
	/** In the order of the editor. */
	operations: Operation[];
	/** The operation of a new node; the first if not set. */
	initial?: Operation;
}
