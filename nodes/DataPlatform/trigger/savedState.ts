/**
 * The state that the trigger stores between polls: in the node's own static data. The state that
 * *Start From: Now* begins with is also stored in the workflow's static data, because with durable
 * cursors n8n drops what the activation's poll stores in the node's.
 */
import type { IDataObject, INode, IPollFunctions } from 'n8n-workflow';

import type { ChangeState } from '../changes/tracker';
import { InputError } from '../transport/errors';
import { getOwn, isObject } from '../transport/json';
import { isSameWatch } from './watch';

/** The version of the state's format. A state with another version is ignored. */
const FORMAT = 2;

/** The key in the node's own static data, and those in the workflow's. */
const STATE_KEY = 'watch';
const STARTS_KEY = 'dataPlatformTrigger';
const REPLACED_KEY = 'dataPlatformTriggerData';

export interface SavedState {
	format: typeof FORMAT;
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
	/** The IDs of the watched records, packed (`changes/compact`). */
	ids: string;
	/** When the last complete check was, by n8n's clock, in ms since 1970. */
	checkedAt: number;
}

/** Makes a state that is newer than the previous one. */
export const newSavedState = (
	identity: string,
	watched: Pick<SavedState, 'state' | 'deletions'>,
	previous: SavedState | undefined,
): SavedState => ({
	format: FORMAT,
	identity,
	revision: Math.max(Date.now(), (previous?.revision ?? 0) + 1),
	...watched,
});

const isNumber = (value: unknown): value is number =>
	typeof value === 'number' && Number.isFinite(value);

const isPosition = (value: unknown) =>
	isObject(value) && isNumber(value.time) && typeof value.id === 'string';

const isOptional = (value: unknown, is: (value: unknown) => boolean) =>
	value === undefined || is(value);

const isRecordOf = (value: unknown, is: (value: unknown) => boolean) =>
	isObject(value) && Object.values(value).every(is);

function isChangeState(value: unknown): boolean {
	if (!isObject(value)) return false;
	const { cursor, cursorReadAt, watermark, emitted, backlog, digests } = value;
	return (
		isOptional(cursor, isNumber) &&
		isOptional(cursorReadAt, isNumber) &&
		isOptional(watermark, isPosition) &&
		isRecordOf(
			emitted,
			(entry) => Array.isArray(entry) && entry.length === 2 && entry.every(isNumber),
		) &&
		isOptional(
			backlog,
			(part) =>
				isObject(part) &&
				typeof part.earlier === 'string' &&
				isOptional(part.createdWatermark, isPosition) &&
				isOptional(part.offset, isNumber) &&
				isOptional(
					part.restart,
					(restart) =>
						isObject(restart) && isNumber(restart.time) && typeof restart.earlier === 'string',
				),
		) &&
		isOptional(digests, (part) => isRecordOf(part, (digest) => typeof digest === 'string'))
	);
}

const isDeletions = (value: unknown) =>
	isObject(value) && typeof value.ids === 'string' && isNumber(value.checkedAt);

/** A stored state; undefined if it has another version, or is damaged. */
function parseSavedState(value: unknown): SavedState | undefined {
	const isReadable =
		isObject(value) &&
		value.format === FORMAT &&
		typeof value.identity === 'string' &&
		isNumber(value.revision) &&
		isOptional(value.state, isChangeState) &&
		isOptional(value.deletions, isDeletions) &&
		(value.state ?? value.deletions) !== undefined;
	return isReadable ? (value as unknown as SavedState) : undefined;
}

type StaticDataContext = Pick<IPollFunctions, 'getNode' | 'getWorkflowStaticData'>;

/**
 * Static data as an object; undefined if n8n has anything else there, which means that it is
 * damaged.
 */
function staticData(context: StaticDataContext, type: 'node' | 'global'): IDataObject | undefined {
	const data: unknown = context.getWorkflowStaticData(type);
	return isObject(data) ? (data as IDataObject) : undefined;
}

/**
 * A node's own static data or, if that is damaged, a place in the workflow's.
 *
 * @throws {InputError} if both are damaged
 */
export function nodeData(context: StaticDataContext): IDataObject {
	const own = staticData(context, 'node');
	if (own) return own;
	const shared = staticData(context, 'global');
	if (!shared) {
		throw new InputError('The static data that n8n stores for this workflow is damaged', {
			hint: 'Copy the nodes into a new workflow.',
		});
	}
	const key = `${REPLACED_KEY}:${context.getNode().id}`;
	if (!isObject(shared[key])) shared[key] = {};
	return shared[key] as IDataObject;
}

/** The stored state, whatever was watched last. */
export function readState(context: IPollFunctions): SavedState | undefined {
	return parseSavedState(nodeData(context)[STATE_KEY]);
}

/** The state that watching started with, if it is newer than the one stored last. */
export function readStart(
	context: IPollFunctions,
	identity: string,
	stored: SavedState | undefined,
): SavedState | undefined {
	const starts: unknown = staticData(context, 'global')?.[STARTS_KEY];
	const start = isObject(starts)
		? parseSavedState(getOwn(starts, context.getNode().id))
		: undefined;
	return start &&
		isSameWatch(identity, start.identity) &&
		start.revision > (stored?.revision ?? -Infinity)
		? start
		: undefined;
}

export function saveState(context: IPollFunctions, saved: SavedState): void {
	nodeData(context)[STATE_KEY] = saved as unknown as IDataObject;
	forgetRemovedNodes(context);
}

/**
 * The IDs of the workflow's nodes. The types of n8n's functions don't declare them, so they may be
 * missing.
 */
function readNodeIds(context: IPollFunctions): Set<string> | undefined {
	const { workflow } = context as unknown as { workflow?: { nodes?: Record<string, INode> } };
	return workflow?.nodes && new Set(Object.values(workflow.nodes).map(({ id }) => id));
}

/** Removes data of nodes that no longer exist from the workflow's static data. */
function forgetRemovedNodes(context: IPollFunctions): void {
	const data = staticData(context, 'global');
	const ids = readNodeIds(context);
	if (!data || !ids) return;
	const isRemoved = (id: string) => !ids.has(id);
	const prefix = `${REPLACED_KEY}:`;
	for (const key of Object.keys(data)) {
		if (key.startsWith(prefix) && isRemoved(key.slice(prefix.length))) delete data[key];
	}
	const starts: unknown = data[STARTS_KEY];
	if (!isObject(starts) || !Object.keys(starts).some(isRemoved)) return;
	const kept = Object.entries(starts).filter(([id]) => !isRemoved(id));
	data[STARTS_KEY] = Object.fromEntries(kept) as IDataObject;
}

/** Stores the state that watching starts with, in both places. */
export function saveStart(context: IPollFunctions, saved: SavedState): void {
	saveState(context, saved);
	const data = staticData(context, 'global');
	if (!data) return;
	const starts: unknown = data[STARTS_KEY];
	data[STARTS_KEY] = {
		...(isObject(starts) && starts),
		[context.getNode().id]: saved,
	} as unknown as IDataObject;
}
