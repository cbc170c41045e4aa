/** The sandbox of a crash test, killed and restarted on the same file and port. */

import { startSandbox, type RunningSandbox } from '../../../harness/sandboxProcess.mts';
import {
	createSandboxAdmin,
	type FaultRule,
	type LoggedRequest,
	type NewTable,
	type SandboxAdmin,
	type StoredRecord,
} from '../../../harness/sandboxAdmin.mts';

export const APP = 'crash';
/** Written by the sync, and watched by the trigger. */
export const GOODS = 'goods';
/** Written by the workflow that the trigger starts: one record for each emitted change. */
export const RECEIVED_CHANGES = 'changes';
/** The records that get files, in one field for each way to write them. */
export const CASES = 'cases';
export const FILE_FIELDS = ['skipped', 'replaced', 'kept'] as const;

const text = (name: string, metadata?: Record<string, unknown>) => ({ name, type: 'text', metadata });

const TABLES: Array<NewTable['table']> = [
	{ internalName: GOODS, fields: [text('sku', { importKey: true }), text('name'), { name: 'amount', type: 'number' }] },
	{ internalName: RECEIVED_CHANGES, fields: [text('change', { importKey: true }), text('event')] },
	{
		internalName: CASES,
		fields: [text('number', { importKey: true }), text('title'), ...FILE_FIELDS.map((name) => ({ name, type: 'file' }))],
	},
];

export class SandboxHost {
	#running: RunningSandbox;
	readonly #file: string;
	readonly admin: SandboxAdmin;

	/** @param running a sandbox that keeps its data in `file` */
	constructor(running: RunningSandbox, file: string) {
		this.#running = running;
		this.#file = file;
		// It keeps its port when it is restarted.
		this.admin = createSandboxAdmin(running.baseUrl, { keepAlive: false });
	}

	get sandbox(): RunningSandbox {
		return this.#running;
	}

	async createTables(): Promise<void> {
		for (const table of TABLES) await this.admin.createTable({ app: APP, table });
	}

	/** Sets how long each request waits before it is served, and each write before its response. */
	async slowDown(ms: number): Promise<void> {
		await this.admin.settings({ latencyMs: ms });
		const rules: FaultRule[] = ['POST', 'PATCH'].map((method) => ({ match: { method }, fault: { kind: 'slowAfter', ms } }));
		await this.admin.faults(ms > 0 ? rules : []);
	}

	async records(table: string): Promise<StoredRecord[]> {
		return await this.admin.records(APP, table);
	}

	/** The requests that wrote or write. */
	async writes(): Promise<LoggedRequest[]> {
		return (await this.admin.requests()).filter(({ method, path }) => method === 'PATCH' || (method === 'POST' && path.endsWith('/bulk')));
	}

	/** The changes that arrived: the keys that the trigger's workflow wrote, in order. */
	async receivedChanges(skip: number): Promise<string[]> {
		const records = await this.records(RECEIVED_CHANGES);
		return records.slice(skip).map(({ fields }) => String(fields.change));
	}

	async kill(): Promise<void> {
		process.kill(this.#running.pid, 'SIGKILL');
		await this.#running.exited;
	}

	async start(): Promise<void> {
		const port = Number(new URL(this.#running.baseUrl).port);
		this.#running = await startSandbox({ port, db: this.#file });
	}

	async stop(): Promise<void> {
		await this.#running.stop();
	}
}
