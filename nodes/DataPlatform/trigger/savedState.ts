/**
 * The state that the trigger stores between polls: in the node's own static data. The state that
 * *Start From: Now* begins with is also stored in the workflow's static data, because with durable
 * cursors n8n drops what the activation's poll stores in the node's.
 */
import type { IDataObject, INode, IPollFunctions } from 'n8n-workflow';

import { seal, unseal } from '../api/packing';
import type { ChangeState } from '../changes/tracker';
import { getOwn, membersOf } from '../transport/json';
import { shortened } from '../transport/messageText';

/** The version of the state's format. */
const FORMAT = 'poll 3';

/** How much of a state that can't be read to show. */
const SHOWN_CHARACTERS = 40;

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

/** The newer of two states. */
export const newerOf = (a: SavedState | undefined, b: SavedState | undefined) =>
	(a?.revision ?? -Infinity) > (b?.revision ?? -Infinity) ? a : b;

const startsIn = (context: IPollFunctions) =>
	membersOf(context.getWorkflowStaticData('global')[STARTS_KEY]);

/** What n8n stores of this node: the state, and the start. */
const storedBy = (context: IPollFunctions): unknown[] =>
	[
		context.getWorkflowStaticData('node')[STATE_KEY],
		getOwn(startsIn(context), context.getNode().id),
	].filter((stored) => (stored ?? undefined) !== undefined);

/**
 * The newest stored state, whatever was watched: an activation may have begun anew since the last
 * poll.
 */
export const readState = (context: IPollFunctions): SavedState | undefined =>
	storedBy(context).map(parseState).reduce(newerOf, undefined);

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

export function saveState(context: IPollFunctions, saved: SavedState): void {
	context.getWorkflowStaticData('node')[STATE_KEY] = seal(FORMAT, saved);
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
	const starts = Object.entries(startsIn(context));
	context.getWorkflowStaticData('global')[STARTS_KEY] = {
		...(Object.fromEntries(starts.filter(([id]) => nodeExists(context, id))) as IDataObject),
		[context.getNode().id]: seal(FORMAT, saved),
	};
}
