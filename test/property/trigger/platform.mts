/** The platform in a simulation: a table in a sandbox, users who write to it, and trouble. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxSlot } from '../faults/sandboxSlot.mts';
import { APP, TABLE } from '../faults/constants.mts';
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
		{ name: 'label', type: 'calculated', metadata: { template: '{name}' } },
	],
};

export class Platform {
	readonly slot: SandboxSlot;
	/** The current records by ID, as their writers know them. */
	readonly #alive = new Map<string, string>();
	readonly #gone: string[] = [];
	/** The records that existed before anything was written. */
	existing: ReadonlySet<string> = new Set();
	#names = 0;
	#precisionMs = 1;

	constructor(slot: SandboxSlot) {
		this.slot = slot;
	}

	/** Recreates the table with this many records. Returns the time of the last one. */
	async prepare(existing: number, settings: PlatformSettings): Promise<number> {
		const records = Array.from({ length: existing }, () => ({ fields: { name: this.#name() } }));
		this.#alive.clear();
		this.#gone.length = 0;
		this.#precisionMs = settings.timePrecisionMs;
		// No write is before the last one of the previous run: a coarser clock would be ahead.
		if (this.#precisionMs > 1) await this.waitUntilAfter(Date.now());
		const stored = await this.slot.prepare(settings, table, records, []);
		for (const { id, fields } of stored as Stored[]) this.#alive.set(id, fields.name ?? '');
		this.existing = new Set(this.#alive.keys());
		return Math.max(0, ...stored.map(({ modified }) => Date.parse(modified)));
	}

	/** Waits until new writes have a later time than the given one. Returns the first such time. */
	async waitUntilAfter(time: number): Promise<number> {
		const next = (Math.floor(time / this.#precisionMs) + 1) * this.#precisionMs;
		await sleep(Math.max(0, next - Date.now()) + 1);
		return next;
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
			await this.#request('PATCH', `/${id}`, { fields: { name } });
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
			await this.#request('DELETE', `/${each}`);
			this.#alive.delete(each);
			this.#gone.push(each);
		}
		return `delete ${ids.map((each) => each.slice(0, 4)).join(' ')}`;
	}

	#name(): string {
		this.#names += 1;
		return `n${this.#names}`;
	}

	async #insert(count: number): Promise<string> {
		const names = Array.from({ length: count }, () => this.#name());
		if (count === 1) {
			const body = { fields: { name: names[0] } };
			const { id } = (await this.#request('POST', '', body)) as Stored;
			this.#alive.set(id, names[0]!);
			return `create ${id.slice(0, 4)}`;
		}
		const bulk = names.map((name) => ({ fields: { name } }));
		const data = (await this.#request('POST', '/bulk?dataResponseType=MetadataOnly', { bulk })) as Stored[];
		data.forEach(({ id }, index) => this.#alive.set(id, names[index]!));
		return `create ${data.map(({ id }) => id.slice(0, 4)).join(' ')}`;
	}

	async #updateAll(ids: string[]): Promise<string> {
		if (ids.length === 0) return await this.#insert(1);
		const bulk = ids.map((id) => ({ id, fields: { name: this.#name() } }));
		await this.#request('PATCH', '/bulk', { bulk });
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
		await this.#request('PATCH', '/bulk', { bulk: [{ id, fields: { name } }], useUpsert: true });
		this.#alive.set(id, name);
		return `create ${id.slice(0, 4)} again`;
	}

	#request = async (method: string, path: string, body?: object) =>
		await this.slot.requestAsOtherClient(method, `/apps/${APP}/tables/${TABLE}/data${path}`, body);
}
