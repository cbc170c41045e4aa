/** The parameters and items that an operation runs with, and how its output is checked. */
import { isDeepStrictEqual } from 'node:util';
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import type { SeededRandom } from '../../../support/seededRandom.mts';
import { picked } from '../../../support/engine/outsideJest.mts';
import type { Fields } from '../../faults/table.mts';
import type { ItemResult, ParsedResult } from '../parseResult.mts';
import { APP, TABLE } from '../../faults/constants.mts';
import type { MatrixSandbox, Truth } from '../matrixSandbox.mts';

/** An output item, with its files as hashes of their bytes. */
export interface Output {
	json: Record<string, unknown>;
	files: Record<string, string>;
}

/**
 * What a run did on the platform for an item: everything, nothing, or a part of it. Any other text
 * is an error whatever the outcome is.
 */
export type Effect = 'done' | 'none' | { part: number } | { wrong: string };

/** What another writer does to a record that the operation writes or deletes. */
export type OtherAction = 'update' | 'insert' | 'delete';

/** The records of items, for a run with another writer. */
export interface Touched {
	/** The item's record, if it exists before the run. */
	idOf(index: number): string | undefined;
	/** What the item writes; undefined if it deletes. */
	values?(index: number): object;
	/** The other writer's request, if it is not about that record. */
	write?(action: OtherAction, index: number): { id?: string; fields?: Fields } | undefined;
	/** What is wrong with the outcome of an affected item. */
	check?(index: number, item: ItemResult, truth: Truth): string[];
}

export interface Prepared {
	parameters: INodeParameters;
	items: INodeExecutionData[];
	/** The requests that do the operation's own work, as a rule matches them. */
	main: { method?: string; path: string };
	/** The trace of an item in each such request: a text in its body or in its path. */
	traces: Array<{ body: string } | { path: string }>;
	/** Whether the node must reject an item before it sends anything for it. */
	isRefused?(index: number): boolean;
	/** Whether the platform rejects the item: if its response is lost, nobody may know. */
	isRejected?(index: number): boolean;
	/** For operations that may run with another writer. */
	touched?: Touched;
	/** For operations that change something. */
	effect?(index: number, truth: Truth): Effect;
	/** Whether the error of an item says that its values were written nevertheless. */
	saysDone?(index: number, message: string): boolean;
	/** What is wrong with a success. */
	checkOutput(index: number, outputs: Output[], truth: Truth): string[] | Promise<string[]>;
	/** What is wrong with output that belongs to no item; if not set, there must be none. */
	checkOthers?(result: ParsedResult, truth: Truth): string[];
}

export interface Scenario {
	/** `resource: operation`, as saved in workflows. */
	operation: string;
	/** Its distinguishing feature, if an operation has a second scenario. */
	variant?: string;
	/** Whether it only reads, may be repeated without harm, or must be done once. */
	kind: 'read' | 'harmless' | 'once';
	/** Any 2xx counts as a success, so a platform that lies can't be detected. */
	isUnverifiable?: boolean;
	/** Only counting afterwards shows what was done. */
	isCounted?: boolean;
	prepare(slot: MatrixSandbox, random: SeededRandom): Promise<Prepared>;
}

/** The parameters that choose a table, with and without its application. */
export const tableParameters = (random?: SeededRandom, slot?: MatrixSandbox) => {
	const isShort = random?.happens(0.2) || slot?.readings.settings.shortAddress !== undefined;
	return { application: picked(isShort ? '' : APP), table: picked(TABLE) };
};

export const itemsOf = (list: object[]): INodeExecutionData[] => list.map((json) => ({ json: json as INodeExecutionData['json'] }));

export const conditions = (...entries: Array<[string, string, string]>) => ({
	filterMode: 'conditions',
	conditions: { condition: entries.map(([field, operator, value]) => ({ field, operator, value })) },
});

/** What is wrong with an output that must be right. */
export const unlessRight = (isRight: boolean, output: unknown): string[] => (isRight ? [] : [`returned ${JSON.stringify(output)}`]);

/** What is wrong with the items of an output, compared with these. */
export const unlessSame = (outputs: Output[], ...expected: object[]): string[] =>
	unlessRight(
		isDeepStrictEqual(
			outputs.map(({ json }) => json),
			expected,
		),
		outputs,
	);
