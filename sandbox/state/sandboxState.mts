import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { Collection } from '../store/collection.mts';
import { Database } from '../store/database.mts';
import { RecordStore } from '../store/recordStore.mts';
import { RateLimiter } from '../access/rateLimiter.mts';
import { FaultBook } from '../faults/registry.mts';
import { FileStore } from '../store/fileStore.mts';
import { Journal } from './requestLog.mts';
import type { App, Form, Role, Run, Table, Token, User, Workflow } from './model.mts';
import { defaultSettings, type Settings } from './settings.mts';

/** Everything that the sandbox knows; handlers get it with each call. */
export class World {
	readonly database: Database;
	readonly records: RecordStore;
	readonly files: FileStore;
	readonly apps: Collection<App>;
	readonly tables: Collection<Table>;
	readonly roles: Collection<Role>;
	readonly users: Collection<User>;
	readonly tokens: Collection<Token>;
	readonly workflows: Collection<Workflow>;
	readonly runs: Collection<Run>;
	readonly forms: Collection<Form>;
	readonly journal: Journal;
	readonly limiter = new RateLimiter();
	readonly faults = new FaultBook();
	/** Counts the resets. */
	age = 0;
	/** Scripts that run now. */
	readonly workers = new Set<Worker>();
	readonly #events = new EventEmitter();
	readonly #settings: Collection<{ id: string; values: Settings }>;

	constructor(file: string) {
		this.database = new Database(file);
		this.records = new RecordStore(this.database);
		this.files = new FileStore(file, new Collection(this.database, 'file'));
		this.apps = new Collection(this.database, 'app');
		this.tables = new Collection(this.database, 'table');
		this.roles = new Collection(this.database, 'role');
		this.users = new Collection(this.database, 'user');
		this.tokens = new Collection(this.database, 'token');
		this.workflows = new Collection(this.database, 'workflow');
		this.runs = new Collection(this.database, 'run');
		this.forms = new Collection(this.database, 'form');
		this.#settings = new Collection(this.database, 'settings');
		this.journal = new Journal(this.records.latestRequest());
		this.#apply();
	}

	get settings(): Settings {
		return this.#settings.get('settings')?.values ?? defaultSettings;
	}

	/** Whether nothing was ever put into it. */
	get isNew(): boolean {
		return this.users.all().length === 0;
	}

	change(settings: Partial<Settings>): Settings {
		this.#settings.put({ id: 'settings', values: { ...this.settings, ...settings } });
		this.#apply();
		if (settings.rateLimitPerMinute !== undefined) this.limiter.clear();
		return this.settings;
	}

	/** Forgets everything. */
	clear(): void {
		this.age += 1;
		void this.#stopWorkers();
		this.database.transaction(() => {
			this.records.clear();
			const things = [this.apps, this.tables, this.workflows, this.runs, this.forms];
			const access = [this.roles, this.users, this.tokens];
			for (const collection of [...things, ...access, this.#settings]) collection.clear();
		});
		this.files.clear();
		this.journal.clear();
		this.limiter.clear();
		this.faults.replace([]);
		this.#apply();
	}

	/** Tells who watches (the live page) that something is different now. */
	changed(): void {
		this.#events.emit('change');
	}

	/** Returns the function that ends the watching. */
	watch(listener: () => void): () => void {
		this.#events.on('change', listener);
		return () => this.#events.off('change', listener);
	}

	async close(): Promise<void> {
		await this.#stopWorkers();
		this.database.close();
		this.files.close();
	}

	async #stopWorkers(): Promise<void> {
		await Promise.all([...this.workers].map((worker) => worker.terminate()));
		this.workers.clear();
	}

	#apply(): void {
		this.records.keepsHistory = this.settings.history;
		this.files.maxBytes = this.settings.maxFileBytes;
	}
}
