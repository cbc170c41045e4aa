import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { Collection } from '../store/collection.mts';
import { Database } from '../store/database.mts';
import { LateValues } from '../store/lateValues.mts';
import { RecordStore } from '../store/recordStore.mts';
import { RateLimiter } from '../access/rateLimiter.mts';
import { FaultRegistry } from '../faults/registry.mts';
import { FileStore } from '../store/fileStore.mts';
import { RequestLog } from './requestLog.mts';
import type { App, Role, Run, Table, Token, User, Workflow } from './model.mts';
import { defaultSettings, type Settings } from './settings.mts';
import { variants } from './variants.mts';

/** All state of the sandbox; handlers get it with every request. */
export class SandboxState {
	readonly database: Database;
	readonly records: RecordStore;
	readonly lateValues = new LateValues();
	readonly files: FileStore;
	readonly apps: Collection<App>;
	readonly tables: Collection<Table>;
	readonly roles: Collection<Role>;
	readonly users: Collection<User>;
	readonly tokens: Collection<Token>;
	readonly workflows: Collection<Workflow>;
	readonly runs: Collection<Run>;
	readonly requestLog: RequestLog;
	readonly rateLimiter = new RateLimiter();
	readonly faults = new FaultRegistry();
	/** Incremented by every reset. */
	generation = 0;
	/** Threads of the scripts that are running. */
	readonly runningWorkers = new Set<Worker>();
	readonly #events = new EventEmitter();
	readonly #settings: Collection<{ id: string; values: Settings }>;
	#played: Settings = defaultSettings;
	/** Variants whose reading is not the default and has been asked for since the settings changed. */
	readonly metVariants = new Set<string>();

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
		this.#settings = new Collection(this.database, 'settings');
		this.requestLog = new RequestLog(this.records.latestRequest());
		this.#applySettings();
	}

	/** The settings, for whatever serves requests: what it reads is noted in `metVariants`. */
	get settings(): Settings {
		return this.#played;
	}

	/** The same without a note, for the administration. */
	get storedSettings(): Settings {
		return this.#settings.get('settings')?.values ?? defaultSettings;
	}

	/** Whether the database is empty. */
	get isNew(): boolean {
		return this.users.all().length === 0;
	}

	updateSettings(settings: Partial<Settings>): Settings {
		this.#settings.put({ id: 'settings', values: { ...this.storedSettings, ...settings } });
		this.#applySettings();
		if (settings.rateLimitPerMinute !== undefined) this.rateLimiter.clear();
		this.rateLimiter.startDay();
		return this.storedSettings;
	}

	/** Deletes everything, including settings, faults and the request log. */
	clear(): void {
		this.generation += 1;
		this.lateValues.clear();
		void this.#terminateWorkers();
		this.database.transaction(() => {
			this.records.clear();
			const documents = [this.apps, this.tables, this.workflows, this.runs];
			const access = [this.roles, this.users, this.tokens];
			for (const collection of [...documents, ...access, this.#settings]) collection.clear();
		});
		this.files.clear();
		this.requestLog.clear();
		this.rateLimiter.clear();
		this.faults.replace([]);
		this.#applySettings();
	}

	/** Notifies the listeners (the live page) of a change. */
	notifyChange(): void {
		this.#events.emit('change');
	}

	/** Calls the listener after every change. Returns a function that removes it. */
	onChange(listener: () => void): () => void {
		this.#events.on('change', listener);
		return () => this.#events.off('change', listener);
	}

	async close(): Promise<void> {
		this.lateValues.clear();
		await this.#terminateWorkers();
		this.database.close();
		this.files.close();
	}

	async #terminateWorkers(): Promise<void> {
		await Promise.all([...this.runningWorkers].map((worker) => worker.terminate()));
		this.runningWorkers.clear();
	}

	#applySettings(): void {
		this.#played = noteMet(this.storedSettings, this.metVariants);
		const { history, timePrecisionMs, maxFileBytes } = this.storedSettings;
		this.records.keepsHistory = history;
		this.records.timePrecisionMs = timePrecisionMs;
		this.records.createsEarlier = () => this.settings.newRecordModified === 'later';
		this.files.maxBytes = maxFileBytes;
		this.files.isLimited = () => this.settings.attachmentRules === 'documented';
	}
}

/** The settings; a variant is noted as met when its value is read and differs from the default. */
function noteMet(values: Settings, met: Set<string>): Settings {
	met.clear();
	const noted = { ...values };
	for (const { setting } of variants) {
		const value = values[setting];
		if (value === defaultSettings[setting]) continue;
		const get = () => {
			met.add(setting);
			return value;
		};
		Object.defineProperty(noted, setting, { get, enumerable: true });
	}
	return noted;
}
