/**
 * The shape of a resource and of its operations. An operation is one file: its entry in the
 * editor, its fields, and what it does.
 */
import type { IBinaryKeyData, IDataObject, INodeProperties } from 'n8n-workflow';

import type { DeletedCount } from '../transport/errors';
import type { ItemResults } from './itemResults';
import type { ShownParameters } from './parameter';
import type { RunContext } from './run';

interface OperationBase {
	/** Stored in saved workflows: never renamed. */
	value: string;
	name: string;
	/** Sentence case, no articles; agents read it too. */
	action: string;
	description: string;
	/** What the editor shows. */
	properties: INodeProperties[];
	shown: ShownParameters;
	/**
	 * Whether doing it again does harm: what is done is then kept for another attempt of the node
	 * (n8n's Retry On Fail runs the whole node again).
	 */
	notIdempotent?: boolean;
	/** Whether another attempt may do again what may have been done: twice does no harm. */
	retriesUnknown?: boolean;
}

/** An item's JSON together with files. A type of its own: a record may have any fields. */
export class OutputWithFiles {
	constructor(
		readonly json: IDataObject,
		readonly binary: IBinaryKeyData,
	) {}
}

export const withFiles = (json: IDataObject, binary: IBinaryKeyData) =>
	new OutputWithFiles(json, binary);

/** One output item, or one for each entry of a list. */
export type ItemOutput = IDataObject | IDataObject[] | OutputWithFiles;

/** Runs for each item by itself. */
export interface ItemOperation extends OperationBase {
	kind: 'item';
	/** How many items may be worked on at a time; 1 where not given. */
	concurrency?: number;
	/**
	 * Names what an item changes: items that name the same are worked on one after the other, in
	 * their order. Where not given, items do not get in each other's way.
	 */
	concurrencyKey?(run: RunContext<string>, index: number): string;
	/** @param before what earlier attempts of the node have deleted */
	execute(run: RunContext<string>, index: number, before?: DeletedCount): Promise<ItemOutput>;
}

/** Sees all items and reports on each. */
export interface BulkOperation extends OperationBase {
	kind: 'bulk';
	execute(run: RunContext<string>, report: ItemResults): Promise<void>;
}

export type Operation = ItemOperation | BulkOperation;

export interface Resource {
	value: string;
	name: string;
	/** In the editor's order. */
	operations: Operation[];
	/** The operation that a new node begins with; the first where not given. */
	initial?: Operation;
}
