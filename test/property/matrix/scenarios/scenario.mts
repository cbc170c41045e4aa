/** The parameters and items that an operation runs with, and how its output is checked. */
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import type { SeededRandom } from '../../../support/seededRandom.mts';
import { picked } from '../../../support/engine/outsideJest.mts';
import type { Fields } from '../../faults/table.mts';
import type { ItemResult, ParsedResult } from '../parseResult.mts';
import { APP, TABLE, type MatrixSandbox, type Truth } from '../matrixSandbox.mts';

/** An output item, its files as hashes of their bytes. */
export interface Output {
	json: Record<string, unknown>;
	files: Record<string, string>;
}

/**
 * What a run did to the platform for an item: all of it, nothing, or a part of what one item asks
 * for; any other text says what is wrong whatever the outcome is.
 */
export type Effect = 'done' | 'none' | { part: number } | { wrong: string };

/** What another writer does to a record that the operation writes or deletes. */
export type OtherAction = 'update' | 'insert' | 'delete';

/** The records that items are about, for a run beside another writer. */
export interface Touched {
	/** The item's record, where there is one before. */
	idOf(index: number): string | undefined;
	/** What the item writes; nothing where it deletes. */
	values?(index: number): object;
	/** The other writer's request, where it is not about that record. */
	write?(action: OtherAction, index: number): { id?: string; fields?: Fields } | undefined;
	/** What is wrong with the outcome of an item that was touched. */
	check?(index: number, item: ItemResult, truth: Truth): string[];
}

export interface Prepared {
	parameters: INodeParameters;
	items: INodeExecutionData[];
	/** The requests that do the operation's own work, as a rule matches them. */
	main: { method?: string; path: string };
	/** What is in each such request for an item: a text in its body, or in its path. */
	traces: Array<{ body: string } | { path: string }>;
	/** Whether the node must refuse an item before anything is sent for it. */
	isRefused?(index: number): boolean;
	/** For what may run beside another writer. */
	touched?: Touched;
	/** For what changes something. */
	effect?(index: number, truth: Truth): Effect;
	/** Whether the error of an item says that what it writes is written all the same. */
	saysDone?(index: number, message: string): boolean;
	/** What is not true of a success. */
	checkOutput(index: number, outputs: Output[], truth: Truth): string[] | Promise<string[]>;
	/** What is not true of output that comes from no item; without it there must be none. */
	checkOthers?(result: ParsedResult, truth: Truth): string[];
}

export interface Scenario {
	/** `resource: operation`, as saved in workflows. */
	operation: string;
	/** What is special about it, where an operation has a second scenario. */
	variant?: string;
	/** Whether it only reads, may be repeated without harm, or must be done once. */
	kind: 'read' | 'harmless' | 'once';
	/** Any 2xx counts as a success there, so that a platform that lies cannot be found out. */
	isUnverifiable?: boolean;
	/** What was done is known only by counting after it. */
	isCounted?: boolean;
	prepare(slot: MatrixSandbox, random: SeededRandom): Promise<Prepared>;
}

/** The parameters that say which table is meant; with and without its application. */
export const tableParameters = (random?: SeededRandom) => ({
	application: picked(random?.happens(0.2) ? '' : APP),
	table: picked(TABLE),
});

export const itemsOf = (list: object[]): INodeExecutionData[] =>
	list.map((json) => ({ json: json as INodeExecutionData['json'] }));

export const conditions = (...entries: Array<[string, string, string]>) => ({
	filterMode: 'conditions',
	conditions: {
		condition: entries.map(([field, operator, value]) => ({ field, operator, value })),
	},
});
