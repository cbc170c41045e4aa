/**
 * What the polls of one trigger node know about each other, within one process of n8n. With the
 * durable scheduler, several polls of a node may run at once. Each has its own copy of the stored
 * state, which may be older than the changes emitted last, for one of three reasons:
 *
 * - n8n has not stored the newer state yet
 * - n8n never will, because it discards the result of a poll that took too long
 * - an execution overwrote it with its own old copy of the workflow's static data
 *
 * The copy itself does not show which.
 */
import { setMostRecent } from '../transport/lru';
import { newerOf, type SavedState } from './savedState';

/** How long n8n may take to store the state that a poll returned. */
const COMMIT_GRACE_MS = 30_000;

/**
 * How many trigger nodes to remember. The one that was polled least recently is forgotten first.
 */
const MAX_NODES = 1000;

/** The longest time between two polls that fail. */
const MAX_HOLD_BACK_MS = 30 * 60_000;

interface NodeMemory {
	/** Identifies what is watched. */
	identity: string;
	/** The newest state of a poll in this process. */
	latest?: SavedState;
	/** When it was returned to n8n, if it must be stored. Not set once a poll has seen it stored. */
	unconfirmedSince?: number;
	/** The state that its poll continued from. */
	before?: SavedState;
	/** The running poll, and when it must have ended. */
	running?: { deadline: number };
}

/** The polls of a node that failed in a row: since when, how many, and until when none asks. */
interface Failing {
	setup: string;
	since: number;
	polls: number;
	until: number;
}

export interface PollTurn {
	/** The state that the poll continues from; undefined if watching starts now. */
	known: SavedState | undefined;
	/** False if another poll took over because this one took too long. */
	isCurrent(): boolean;
	/**
	 * Remembers this poll's state.
	 *
	 * @param mustBeStored whether n8n must store it before another poll emits anything
	 */
	finish(saved: SavedState, mustBeStored: boolean): void;
	/** Lets other polls run. */
	end(): void;
}

export class PollCoordinator {
	private readonly nodes = new Map<string, NodeMemory>();
	private readonly failing = new Map<string, Failing>();

	constructor(private readonly graceMs = COMMIT_GRACE_MS) {}

	/** The last poll of the node failed: the next one need not try again and again. */
	isFailing(node: string): boolean {
		return this.failing.has(node);
	}

	/** True if it is too early to ask again. @param setup the node's parameters and credential */
	isHeldBack(node: string, setup: string): boolean {
		const failing = this.failing.get(node);
		return failing?.setup === setup && Date.now() < failing.until;
	}

	/** Notes that a poll was served. */
	served(node: string) {
		this.failing.delete(node);
	}

	/**
	 * Notes that a poll failed: the next one asks after a time that doubles, up to half an hour.
	 *
	 * @returns how long that has been so
	 */
	failed(node: string, setup: string, firstMs: number): string {
		const { since, polls } = this.failing.get(node) ?? { since: Date.now(), polls: 0 };
		const waitMs = Math.min(firstMs * 2 ** polls, MAX_HOLD_BACK_MS);
		const failing = { setup, since, polls: polls + 1, until: Date.now() + waitMs };
		setMostRecent(this.failing, node, failing, MAX_NODES);
		const begin = new Date(since).toISOString().slice(0, 16).replace('T', ' ');
		return `failure ${polls + 1} in a row, since ${begin} UTC; the next poll asks in ${Math.round(waitMs / 60_000)} minutes`;
	}

	/**
	 * Starts a poll.
	 *
	 * @param node identifies the workflow and the node
	 * @param stored this poll's copy of the stored state
	 * @returns undefined while another poll of the node is running, or n8n may still store what was
	 * emitted last: emitting now could repeat it
	 */
	startPoll(
		node: string,
		identity: string,
		stored: SavedState | undefined,
		deadline: number,
	): PollTurn | undefined {
		const last = this.nodes.get(node);
		// A node that watches something else than before starts over.
		const memory: NodeMemory = last?.identity === identity ? last : { identity };
		setMostRecent(this.nodes, node, memory, MAX_NODES);
		if (memory.running && Date.now() < memory.running.deadline) return undefined;
		if (this.isUnconfirmed(memory, stored)) return undefined;
		const own = { deadline };
		memory.running = own;
		const isCurrent = () => memory.running === own;
		return {
			known: memory.latest,
			isCurrent,
			finish: (saved, mustBeStored) => {
				memory.before = memory.latest;
				memory.latest = saved;
				memory.unconfirmedSince = mustBeStored ? performance.now() : undefined;
			},
			end: () => {
				if (isCurrent()) memory.running = undefined;
			},
		};
	}

	/** True while n8n may still store what was emitted last; else finds the state to go on from. */
	private isUnconfirmed(memory: NodeMemory, stored: SavedState | undefined): boolean {
		const { latest, unconfirmedSince } = memory;
		const isBehind = latest !== undefined && (stored?.revision ?? -Infinity) < latest.revision;
		if (isBehind && unconfirmedSince !== undefined) {
			if (performance.now() - unconfirmedSince < this.graceMs) return true;
			// n8n has dropped the state, so its changes were not emitted. Those before it were.
			memory.latest = newerOf(stored, memory.before);
		} else if (stored && stored.revision !== latest?.revision && !isBehind) {
			// Another process has emitted more. If both have the same revision, this process's own may be
			// ahead: n8n drops the state of a poll that emits nothing.
			memory.latest = stored;
		}
		memory.unconfirmedSince = undefined;
		return false;
	}
}
