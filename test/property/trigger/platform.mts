/** The platform in a simulation: a table in a sandbox, users who write to it, and trouble. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxSlot, Truth } from '../faults/sandboxSlot.mts';
import { APP, TABLE } from '../faults/constants.mts';
import { httpClient, type FaultRule, type HttpClient, type SandboxAdmin } from '../../../harness/sandboxAdmin.mts';
import type { SeededRandom } from '../../support/seededRandom.mts';
import type { Plan, PlatformSettings } from './plan.mts';

interface Stored {
	id: string;
	fields: { name?: string | null };
}

const table = {
	internalName: TABLE,
	fields: [
		{ name: 'name', type: 'text' },
		{ name: 'size', type: 'number' },
	],
};

export class Platform {
	readonly #slot: SandboxSlot;
	readonly #admin: SandboxAdmin;
	/** The API for those who write to the table. */
	readonly #client: HttpClient;
	/** The current records by ID, as their writers know them. */
	readonly #alive = new Map<string, string>();
	readonly #gone: string[] = [];
	#existing: ReadonlySet<string> = new Set();
	#names = 0;
	#precisionMs = 1;

	constructor(slot: SandboxSlot) {
		const { baseUrl, token } = slot.credential;
		this.#slot = slot;
		this.#admin = slot.sandbox.admin;
		this.#client = httpClient(`${baseUrl}/api/v2/apps/${APP}/tables/${TABLE}`, { authorization: `Bearer ${token}` });
	}

	get credential() {
		return this.#slot.credential;
	}

	/** Recreates the table with this many records. Returns the time of the last one. */
	async prepare(existing: number, settings: PlatformSettings): Promise<number> {
		const records = Array.from({ length: existing }, () => ({ fields: { name: this.#name() } }));
		this.#alive.clear();
		this.#gone.length = 0;
		this.#precisionMs = settings.timePrecisionMs;
		const stored = await this.#slot.prepare(settings, table, records, []);
		for (const { id, fields } of stored as Stored[]) this.#alive.set(id, fields.name ?? '');
		this.#existing = new Set(this.#alive.keys());
		return Math.max(0, ...stored.map(({ modified }) => Date.parse(modified)));
	}

	/** Waits until new writes have a later time than the given one. Returns the first such time. */
	async waitUntilAfter(time: number): Promise<number> {
		const next = (Math.floor(time / this.#precisionMs) + 1) * this.#precisionMs;
		await sleep(Math.max(0, next - Date.now()) + 1);
		return next;
	}

	/** The records that existed before anything was written. */
	get existing(): ReadonlySet<string> {
		return this.#existing;
	}

	/** One random write. Returns a description of it. */
	async write(random: SeededRandom, { burst }: Plan): Promise<string> {
		const kind = random.of('create', 'burst', 'update', 'update', 'updates', 'delete', 'deletes', 'return');
		const id = random.of('', ...this.#alive.keys());
		if (kind === 'burst') return await this.#insert(random.between(2, burst));
		if (kind === 'return') return await this.#bringBack(random);
		if (kind === 'create' || id === '') return await this.#insert(1);
		if (kind === 'update') {
			// Sometimes with the value that it already has: then the platform changes nothing.
			const name = random.happens(0.2) ? this.#alive.get(id)! : this.#name();
			await this.#request('PATCH', `/data/${id}`, { fields: { name } });
			this.#alive.set(id, name);
			return `update ${id.slice(0, 4)} to ${name}`;
		}
		if (kind === 'updates') {
			const some = [...this.#alive.keys()].filter(() => random.happens(0.4));
			return await this.#updateAll(some.slice(0, burst));
		}
		const several = [...this.#alive.keys()].filter(() => random.happens(0.4));
		const ids = kind === 'delete' ? [id] : several.slice(0, burst);
		for (const each of ids) {
			await this.#request('DELETE', `/data/${each}`);
			this.#alive.delete(each);
			this.#gone.push(each);
		}
		return `delete ${ids.map((each) => each.slice(0, 4)).join(' ')}`;
	}

	/** What the sandbox knows after everything has ended. */
	async truth(): Promise<Truth> {
		return await this.#slot.truth();
	}

	async faults(rules: FaultRule[]): Promise<void> {
		await this.#admin.faults(rules);
	}

	/** How many requests for data are in the log since it was cleared. */
	async countRequests(during: () => Promise<void>): Promise<number> {
		await this.#admin.clearRequests();
		await during();
		return (await this.#admin.requests()).length;
	}

	#name(): string {
		this.#names += 1;
		return `n${this.#names}`;
	}

	async #insert(count: number): Promise<string> {
		const names = Array.from({ length: count }, () => this.#name());
		if (count === 1) {
			const body = { fields: { name: names[0] } };
			const { data } = (await this.#request('POST', '/data', body)) as { data: Stored };
			this.#alive.set(data.id, names[0]!);
			return `create ${data.id.slice(0, 4)}`;
		}
		const bulk = names.map((name) => ({ fields: { name } }));
		const path = '/data/bulk?dataResponseType=MetadataOnly';
		const { data } = (await this.#request('POST', path, { bulk })) as { data: Stored[] };
		data.forEach(({ id }, index) => this.#alive.set(id, names[index]!));
		return `create ${data.map(({ id }) => id.slice(0, 4)).join(' ')}`;
	}

	async #updateAll(ids: string[]): Promise<string> {
		if (ids.length === 0) return await this.#insert(1);
		const bulk = ids.map((id) => ({ id, fields: { name: this.#name() } }));
		await this.#request('PATCH', '/data/bulk', { bulk });
		for (const { id, fields } of bulk) this.#alive.set(id, fields.name);
		return `update ${ids.map((id) => id.slice(0, 4)).join(' ')}`;
	}

	/** Recreates a deleted record under its old ID. */
	async #bringBack(random: SeededRandom): Promise<string> {
		const id = this.#gone.splice(random.between(0, this.#gone.length), 1)[0];
		if (id === undefined) return await this.#insert(1);
		// Otherwise both could have the same time, and could not be distinguished.
		await this.waitUntilAfter(Date.now());
		const name = this.#name();
		await this.#request('PATCH', '/data/bulk', { bulk: [{ id, fields: { name } }], useUpsert: true });
		this.#alive.set(id, name);
		return `create ${id.slice(0, 4)} again`;
	}

	async #request(method: string, path: string, body?: object): Promise<unknown> {
		const { status, data } = await this.#client.request<unknown>({ method, url: path, data: body });
		if (status >= 400) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(data)}`);
		return data;
	}
}
