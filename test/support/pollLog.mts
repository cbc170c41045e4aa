/**
 * What n8n has stored about the trigger, read from its database: the trigger's position, and the
 * executions that it started.
 */

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type ExecutionData, parseExecutionData, startItems } from '../../harness/n8nApi.mts';
import type { SandboxAdmin, StoredVersion } from '../../harness/sandboxAdmin.mts';

/** In the order in which changes are emitted. */
interface Position {
	time: number;
	id: string;
}

const isAfter = (one: Position, other: Position) => one.time > other.time || (one.time === other.time && one.id > other.id);

/**
 * The part of the trigger's state that records what was emitted;
 * nodes/DataPlatform/changes/tracker.
 */
interface State {
	watermark?: Position;
	emitted: Record<string, [version: number, time: number]>;
}

/** A change of a record. */
export type Change = Pick<StoredVersion, 'id' | 'ver' | 'at'>;

export const nameOf = ({ id, ver }: Pick<Change, 'id' | 'ver'>) => `${id}:${ver}`;

const databaseFile = (userFolder: string) => join(userFolder, '.n8n', 'database.sqlite');

/**
 * Whether n8n, which may be running, has stored where a trigger of the workflow starts to watch.
 */
export function isStartStored(userFolder: string, workflowId: string): boolean {
	const database = new DatabaseSync(databaseFile(userFolder), { readOnly: true, timeout: 5_000 });
	try {
		const row = database.prepare('SELECT staticData FROM workflow_entity WHERE id = ?').get(workflowId) as { staticData: string | null };
		return row.staticData?.includes('dataPlatformTrigger') ?? false;
	} finally {
		database.close();
	}
}

/**
 * How many polls there were since the log of requests was cleared. Each begins with a look at the newest changes,
 * and may read single records or later pages after it; with more than 50 changes it looks twice.
 */
export async function countPolls(admin: SandboxAdmin): Promise<number> {
	const requests = await admin.requests();
	return requests.filter(({ path, query }) => path.endsWith('/data') && /limit=/.test(query) && !/skip=|limit=1(?!\d)/.test(query)).length;
}

export class PollLog {
	readonly #folder: string;
	readonly #workflowId: string;
	readonly #triggerName: string;
	/** How often each change occurs in a stored execution. */
	readonly emitted = new Map<string, number>();
	/** At each kill: n8n's position, the changes in executions so far, and the last of them. */
	readonly #kills: Array<{ state: State | undefined; emitted: Set<string>; last: Position }> = [];
	#last: Position = { time: 0, id: '' };
	#latest = 0;

	constructor(userFolder: string, workflowId: string, triggerName: string) {
		this.#folder = userFolder;
		this.#workflowId = workflowId;
		this.#triggerName = triggerName;
	}

	/** Reads what is new. n8n must not be running. */
	read(): void {
		const database = new DatabaseSync(databaseFile(this.#folder));
		try {
			// Without executions that were repeated by hand: they have the same items again.
			const rows = database
				.prepare(
					`SELECT e.id, d.data FROM execution_entity e JOIN execution_data d ON d.executionId = e.id
					WHERE e.workflowId = ? AND e.mode = 'trigger' AND e.id > ? ORDER BY e.id`,
				)
				.all(this.#workflowId, this.#latest) as Array<{ id: number; data: string }>;
			for (const { id, data } of rows) {
				this.#latest = id;
				const items = startItems(parseExecutionData(data) as ExecutionData, this.#triggerName);
				for (const { json } of items) {
					const { id: record, ver, modified } = json as Record<'id' | 'modified', string> & Change;
					const name = nameOf({ id: record, ver });
					this.emitted.set(name, (this.emitted.get(name) ?? 0) + 1);
					const position = { time: Date.parse(modified), id: record };
					if (isAfter(position, this.#last)) this.#last = position;
				}
			}
			const { staticData } = database.prepare('SELECT staticData FROM workflow_entity WHERE id = ?').get(this.#workflowId) as {
				staticData: string | null;
			};
			const kept = JSON.parse(staticData ?? '{}') as Record<string, { watch?: string }>;
			// A checksum stands in front of it.
			const watch = /\{.*/s.exec(kept[`node:${this.#triggerName}`]?.watch ?? '')?.[0];
			const state = watch === undefined ? undefined : (JSON.parse(watch) as { state: State }).state;
			this.#kills.push({ state, emitted: new Set(this.emitted.keys()), last: this.#last });
		} finally {
			database.close();
		}
	}

	/**
	 * Whether n8n was once killed when this change was before its position but in no execution, and
	 * after all changes that are in one. A change that is missing among others was lost differently:
	 * by the trigger.
	 */
	isInGap(change: Change): boolean {
		const position = { time: Date.parse(change.at), id: change.id };
		return this.#kills.some(
			({ state, emitted, last }) => isRecorded(state, change) && !emitted.has(nameOf(change)) && isAfter(position, last),
		);
	}

	/**
	 * Whether n8n was once killed when this change was in an execution but not before its position.
	 */
	isInOtherGap(change: Change): boolean {
		return this.#kills.some(({ state, emitted }) => !isRecorded(state, change) && emitted.has(nameOf(change)));
	}
}

function isRecorded(state: State | undefined, { id, ver, at }: Change): boolean {
	if (state === undefined) return false;
	const time = Date.parse(at);
	const { watermark, emitted } = state;
	if (watermark && (time < watermark.time || (time === watermark.time && id <= watermark.id))) return true;
	return (emitted[id]?.[0] ?? -1) >= ver;
}
