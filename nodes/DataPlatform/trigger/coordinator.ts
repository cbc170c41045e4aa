/**
 * What the polls of one trigger node know of each other, within one process of n8n. With the
 * durable scheduler several polls of a node may run at once, each with its own copy of the stored
 * state, and a copy may be older than what was emitted last: because n8n has not stored that yet,
 * because it never will (it discards the result of a poll that took too long), or because an
 * execution that stored its own old copy of the workflow's static data has overwritten it. A copy
 * does not say which.
 */
import { setMostRecent } from './recent';
import type { SavedState } from './savedState';

/** How long n8n may take to store what a poll has returned. */
const COMMIT_GRACE_MS = 30_000;

/** How many trigger nodes are remembered; the least recently polled one is forgotten first. */
const MAX_NODES = 1000;

/** A trigger node, and what it watches. */
export interface WatchingNode {
	/** Names the workflow and the node. */
	node: string;
	identity: string;
}

interface NodeMemory {
	identity: string;
	/** The newest state that a poll of this process came to. */
	latest?: SavedState;
	/** When its changes were returned to n8n, as long as no poll has seen it stored. */
	unconfirmedSince?: number;
	/** The state that its poll went on from. */
	before?: SavedState;
	/** Where watching begins, while a poll is finding that out. */
	starting?: Promise<SavedState>;
	/** The poll that is under way, and when it must have ended. */
	running?: { deadline: number };
}

export interface PollTurn {
	/** Whether no other poll has taken over because this one took too long. */
	isCurrent(): boolean;
	/** Remembers what this poll came to, and whether it emits changes. */
	finish(saved: SavedState, emits: boolean): void;
	/** Lets other polls run. */
	end(): void;
}

export class PollCoordinator {
	private readonly nodes = new Map<string, NodeMemory>();

	constructor(private readonly graceMs = COMMIT_GRACE_MS) {}

	/**
	 * The state that a poll goes on from.
	 *
	 * @param stored this poll's copy of the stored state
	 * @returns undefined where watching begins; `'unconfirmed'` while it is open whether n8n stores
	 *   what was emitted last: emitting now could repeat it
	 */
	resume(
		watching: WatchingNode,
		stored: SavedState | undefined,
	): SavedState | undefined | 'unconfirmed' {
		const memory = this.memoryOf(watching);
		const { latest, unconfirmedSince } = memory;
		const isBehind = latest !== undefined && (stored?.revision ?? -Infinity) < latest.revision;
		if (isBehind && unconfirmedSince !== undefined) {
			if (Date.now() - unconfirmedSince < this.graceMs) return 'unconfirmed';
			// n8n has dropped it: its changes were not emitted. What was emitted before it was.
			memory.latest = newerOf(stored, memory.before);
		} else if (stored && stored.revision !== latest?.revision && !isBehind) {
			// Another process has emitted more.
			memory.latest = stored;
		}
		memory.unconfirmedSince = undefined;
		// Of two states with one revision, this process's own may be further: n8n drops the state of a
		// poll that emits nothing.
		return memory.latest;
	}

	/**
	 * The state that watching begins with: what another poll has found already, or is finding now, or
	 * what `find` returns.
	 *
	 * @returns the state, and whether this poll found it
	 */
	async begin(
		watching: WatchingNode,
		find: () => Promise<SavedState>,
	): Promise<{ start: SavedState; isOwn: boolean }> {
		const memory = this.memoryOf(watching);
		const isOwn = memory.starting === undefined;
		memory.starting ??= find().finally(() => {
			memory.starting = undefined;
		});
		const start = await memory.starting.catch((error: unknown) => {
			if (isOwn) throw error;
		});
		// Another poll's failure is its own: its time may be over.
		if (!start) return await this.begin(watching, find);
		memory.latest ??= start;
		return { start, isOwn };
	}

	/** Starts a poll; undefined while another poll of the node is under way. */
	startPoll(watching: WatchingNode, deadline: number): PollTurn | undefined {
		const memory = this.memoryOf(watching);
		if (memory.running && Date.now() < memory.running.deadline) return undefined;
		const own = { deadline };
		memory.running = own;
		const isCurrent = () => memory.running === own;
		return {
			isCurrent,
			finish: (saved, emits) => {
				memory.before = memory.latest;
				memory.latest = saved;
				memory.unconfirmedSince = emits ? Date.now() : undefined;
			},
			end: () => {
				if (isCurrent()) memory.running = undefined;
			},
		};
	}

	/** A node that watches something else than before begins anew. */
	private memoryOf({ node, identity }: WatchingNode): NodeMemory {
		const known = this.nodes.get(node);
		const memory = known?.identity === identity ? known : { identity };
		return setMostRecent(this.nodes, node, memory, MAX_NODES);
	}
}

const newerOf = (a: SavedState | undefined, b: SavedState | undefined) =>
	(a?.revision ?? -Infinity) > (b?.revision ?? -Infinity) ? a : b;
