/**
 * Reads an execution from n8n's own database: through n8n's API, a large one would take n8n longer
 * than the run itself.
 */
import { DatabaseSync } from 'node:sqlite';

export interface NodeTime {
	startedAt: number;
	milliseconds: number;
}

export interface Returned {
	items: number;
	/** The size of the first item's file; 0 without one. */
	bytes: number;
}

export interface StoredExecution {
	/** Why it failed, in n8n's words; undefined if it succeeded. */
	failure?: string;
	/** Of all its runs. */
	timesOf(node: string): NodeTime[];
	/** What the node's last run returned. */
	returnedBy(node: string): Returned;
}

const RUNNING = ['new', 'running', 'waiting', 'unknown'];

/**
 * Follows a path through the stored data: an array in which every string within an object or array
 * is the position of the value. Nothing off the path is read.
 */
function follow(values: unknown[], path: Array<string | number>): unknown {
	let value = values[0];
	for (const key of path) {
		const child = (value as Record<string | number, unknown> | undefined)?.[key];
		value = typeof child === 'string' ? values[Number(child)] : child;
	}
	return value;
}

/** The execution, as soon as n8n has stored its end; undefined until then. */
export function readExecution(file: string, id: string): StoredExecution | undefined {
	// n8n 1 locks its database while it writes.
	const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
	try {
		const { status } = database
			.prepare('SELECT status FROM execution_entity WHERE id = ?')
			.get(id) as { status: string };
		if (RUNNING.includes(status)) return undefined;
		const { data } = database
			.prepare('SELECT data FROM execution_data WHERE executionId = ?')
			.get(id) as { data: string };
		const values = JSON.parse(data) as unknown[];
		const read = (...path: Array<string | number>) => follow(values, ['resultData', ...path]);
		const runsOf = (node: string) => (read('runData', node) as unknown[] | undefined) ?? [];
		const words = [read('error', 'message'), read('error', 'description')].filter(Boolean);
		return {
			...(status !== 'success' && { failure: words.join(': ') || status }),
			timesOf: (node) =>
				runsOf(node).map((_, run) => ({
					startedAt: read('runData', node, run, 'startTime') as number,
					milliseconds: read('runData', node, run, 'executionTime') as number,
				})),
			returnedBy: (node) => {
				const output = ['runData', node, runsOf(node).length - 1, 'data', 'main', 0];
				const items = read(...output) as unknown[] | undefined;
				const bytes = read(...output, 0, 'binary', 'data', 'bytes') as number | undefined;
				return { items: items?.length ?? 0, bytes: bytes ?? 0 };
			},
		};
	} finally {
		database.close();
	}
}
