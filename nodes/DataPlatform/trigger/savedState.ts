/**
 * The state that the trigger stores between polls: in the node's own static data. The state that
 * *Start From: Now* begins with is also stored in the workflow's static data, because with durable
 * cursors n8n drops what the activation's poll stores in the node's.
 */
import type { IDataObject, INode, IPollFunctions } from 'n8n-workflow';

import { seal, unseal } from '../api/packing';
import type { ChangeState } from '../changes/tracker';
import { EXPRESSION_OF_DATE, LABELS } from '../labels';
import { InputError } from '../transport/errors';
import { getOwn, isObject, membersOf } from '../transport/json';
import { shortened } from '../transport/messageText';
import { isSameWatch } from './watch';

/** The version of the state's format. */
const FORMAT = 'poll 3';

/** How much of a state that can't be read to show. */
const SHOWN_CHARACTERS = 40;

/** What to do about a node whose stored state is of no use. */
export const HOW_TO_BEGIN_ANEW = 'Copy the node, and delete the old one.';
export const HOW_TO_RESTART = `To emit what was still to come, add '${LABELS.restartFrom}' in the options, with the 'modified' of the last record that was emitted, or an earlier date, as an expression such as ${EXPRESSION_OF_DATE}.`;

/** The keys in the node's own static data, and in the workflow's. */
const STATE_KEY = 'watch';
const STARTS_KEY = 'dataPlatformTrigger';

export interface SavedState {
	/** Identifies what is watched: a state of another table or filter is ignored. */
	identity: string;
	/**
	 * Rises with each poll that emits. It is the time in ms since 1970 unless the clock is set back.
	 */
	revision: number;
	/** Set if changes are emitted. */
	state?: ChangeState;
	/** Set if deletions are emitted. */
	deletions?: SavedDeletions;
}

export interface SavedDeletions {
	/** The IDs of the watched records, packed (`api/packing`). */
	ids: string;
	/** Those of them that were created since the last complete check; packed. */
	added?: string;
	/** When the last check was complete or failed, by n8n's clock, in ms since 1970. */
	checkedAt: number;
	/** The count and the newest change of the table before the last complete check. */
	seen?: string;
}

/** Makes a state that is newer than the previous one. */
export const newSavedState = (
	identity: string,
	watched: Pick<SavedState, 'state' | 'deletions'>,
	previous: SavedState | undefined,
): SavedState => ({
	identity,
	revision: Math.max(Date.now(), (previous?.revision ?? 0) + 1),
	...watched,
});

const parseState = (stored: unknown) => unseal(FORMAT, stored) as SavedState | undefined;

type StaticDataContext = Pick<IPollFunctions, 'getWorkflowStaticData'>;

/**
 * Static data as an object; undefined if n8n has anything else there, which means that it is
 * damaged.
 */
export function staticData(
	context: StaticDataContext,
	type: 'node' | 'global',
): IDataObject | undefined {
	const data: unknown = context.getWorkflowStaticData(type);
	return isObject(data) ? (data as IDataObject) : undefined;
}

/** A node's own static data. @throws {InputError} if it is damaged */
function nodeData(context: StaticDataContext): IDataObject {
	const data = staticData(context, 'node');
	if (data) return data;
	throw new InputError('The static data that n8n stores for this node is damaged', {
		hint: `${HOW_TO_BEGIN_ANEW} ${HOW_TO_RESTART}`,
	});
}

/** The stored state, whatever was watched last. */
export function readState(context: IPollFunctions): SavedState | undefined {
	return parseState(nodeData(context)[STATE_KEY]);
}

const startsIn = (context: IPollFunctions) =>
	membersOf(staticData(context, 'global')?.[STARTS_KEY]);

/** What n8n stores of this node: the state, and the start. */
const storedBy = (context: IPollFunctions): unknown[] =>
	[nodeData(context)[STATE_KEY], getOwn(startsIn(context), context.getNode().id)].filter(
		(stored) => (stored ?? undefined) !== undefined,
	);

/** True if n8n has a state of this node, whether it can be read or not. */
export const isStored = (context: IPollFunctions): boolean => storedBy(context).length > 0;

/**
 * The beginning of a state that is damaged, or of another version of this node; undefined if one can
 * be read, or there is none.
 */
export function unreadableState(context: IPollFunctions): string | undefined {
	const stored = storedBy(context);
	if (stored.length === 0 || stored.some(parseState)) return undefined;
	return shortened(JSON.stringify(stored[0]), SHOWN_CHARACTERS);
}

/** The state that watching started with, if it is newer than the one stored last. */
export function readStart(
	context: IPollFunctions,
	identity: string,
	stored: SavedState | undefined,
): SavedState | undefined {
	const start = parseState(getOwn(startsIn(context), context.getNode().id));
	if (!start || !isSameWatch(identity, start.identity)) return undefined;
	return start.revision > (stored?.revision ?? -Infinity) ? start : undefined;
}

export function saveState(context: IPollFunctions, saved: SavedState): void {
	nodeData(context)[STATE_KEY] = seal(FORMAT, saved);
}

/**
 * The workflow has a node with this ID. The types of n8n's functions don't declare the nodes, so they
 * may be missing: then every node counts as there.
 */
function nodeExists(context: IPollFunctions, nodeId: string): boolean {
	const { workflow } = context as unknown as { workflow?: { nodes?: Record<string, INode> } };
	return !workflow?.nodes || Object.values(workflow.nodes).some(({ id }) => id === nodeId);
}

/** Stores the state that watching starts with, in both places. Forgets those of removed nodes. */
export function saveStart(context: IPollFunctions, saved: SavedState): void {
	saveState(context, saved);
	const data = staticData(context, 'global');
	if (!data) return;
	const starts = Object.entries(startsIn(context));
	data[STARTS_KEY] = {
		...(Object.fromEntries(starts.filter(([id]) => nodeExists(context, id))) as IDataObject),
		[context.getNode().id]: seal(FORMAT, saved),
	};
}
