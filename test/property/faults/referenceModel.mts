/** The expected outcome of each item of a case if nothing goes wrong. */
import { isDeepStrictEqual } from 'node:util';
import type { StoredRecord } from '../../../harness/sandboxAdmin.mts';
import type { Outcome } from './execute.mts';
import type { Case, CaseItem } from './schedule.mts';
import { KEY, type Fields, type Json, type Value } from './table.mts';

export const sameFields = (one: object, other: object) => isDeepStrictEqual(one, other);

/** The key that the node can compare: no time without a zone, for example. */
export const exactKey = ({ values }: CaseItem): Json | undefined => (values[KEY]?.isVague ? undefined : values[KEY]?.stored);

export class ReferenceModel {
	readonly #given: Case;
	readonly #before: Map<string, StoredRecord>;
	readonly #byKey: Map<Json, StoredRecord>;
	/** The identity of each item that is sent or merged. */
	readonly #identities = new Map<number, Json>();
	readonly #flawed = new Set<number>();
	/** The later item that an item is merged into. */
	readonly merged = new Map<number, number>();

	constructor(given: Case, before: StoredRecord[]) {
		this.#given = given;
		this.#before = new Map(before.map((record) => [record.id, record]));
		this.#byKey = new Map(
			before.flatMap((record) => {
				const key = record.fields[KEY] as Json | undefined;
				return key === undefined ? [] : [[key, record]];
			}),
		);
		for (const item of given.items) {
			if (this.#isFlawed(item)) this.#flawed.add(item.index);
		}
		this.#resolveDuplicates();
	}

	/** Whether the node has a field to find records by. */
	get #hasKey() {
		return this.#given.isKeyed || this.#given.options.importKey !== '';
	}

	get isUpdate() {
		return this.#given.mode === 'update' || this.#given.mode === 'replace';
	}

	/** Whether the node must reject the item before it sends anything. */
	isFlawed = ({ index }: CaseItem) => this.#flawed.has(index);

	/** The existing record that the item names. */
	target(item: CaseItem): StoredRecord | undefined {
		if (this.isUpdate) return this.#before.get(item.id ?? '');
		const key = item.values[KEY]?.stored;
		return this.#given.mode === 'upsert' && key !== undefined ? this.#byKey.get(key) : undefined;
	}

	/** The values of a record after the item is written to it. */
	applied(item: CaseItem, previous: object = {}): Fields {
		const { mode } = this.#given;
		const isWhole = mode === 'create' || mode === 'replace';
		return this.#put(item, isWhole ? {} : previous);
	}

	/** Whether a record has the values that were sent, and maybe others, if these may stay. */
	holdsSent(item: CaseItem, fields: object | null): boolean {
		const previous = this.#given.mode === 'replace' ? {} : fields;
		return previous !== null && sameFields(fields!, this.#put(item, previous));
	}

	#put(item: CaseItem, previous: object): Fields {
		const fields: Fields = { ...(previous as Fields) };
		for (const [name, value] of Object.entries(this.whole(item).values)) {
			if (name === 'unheardOf') continue;
			if (value.stored !== undefined) fields[name] = value.stored;
			else if (this.#given.options.emptyValues === 'clear') delete fields[name];
		}
		return fields;
	}

	/** Whether the platform rejects the item; undefined if that depends on others. */
	isRefused(given: CaseItem): boolean | undefined {
		const item = this.whole(given);
		const target = this.target(item);
		const fields = this.applied(item, target?.fields);
		const isWhole = !target || this.#given.mode === 'replace';
		for (const { name, metadata } of this.#given.table.fields) {
			const isSent = item.values[name] !== undefined && this.#isSent(item, name);
			if (item.values[name]?.flaw === 'platform') return true;
			if (metadata?.required && fields[name] === undefined && (isWhole || isSent)) return true;
		}
		if (!this.#given.isKeyed) return this.#given.mode === 'upsert';
		const key = fields[KEY];
		if (key === undefined) return false;
		const owner = this.#byKey.get(key);
		const isClaimed = this.#given.items.some((other) => other !== given && other.values[KEY]?.stored === key && !this.isFlawed(other));
		const isMoved = this.isUpdate && this.#given.items.some((other) => other.values[KEY]);
		if (this.#given.mode === 'upsert') return false;
		if (isClaimed || isMoved) return undefined;
		return owner !== undefined && owner !== target;
	}

	/** Whether the item leaves its record unchanged. */
	isIdle(item: CaseItem): boolean {
		const target = this.target(item);
		return target !== undefined && sameFields(target.fields, this.applied(item, target.fields));
	}

	/** The outcome if nothing goes wrong; several if it can't be foreseen. */
	expected(item: CaseItem): Outcome[] {
		if (this.isFlawed(item)) return ['failed'];
		const winner = this.merged.get(item.index);
		if (winner !== undefined) {
			return this.expected(this.#given.items[winner]!);
		}
		const target = this.target(item);
		if (this.isUpdate && !target) return ['notFound'];
		if (this.#given.options.dryRun) return this.#foreseen(item);
		const { ifFound, ifMissing } = this.#given.matching ?? {};
		if (target && ifFound === 'skip') return ['found'];
		if (!target && ifMissing === 'skip') return ['skipped'];
		if (!target && ifMissing === 'error') return ['notFound'];
		const isRefused = this.isRefused(item);
		if (isRefused) return ['failed'];
		const written: Outcome = !target ? 'inserted' : this.isIdle(item) ? 'unchanged' : 'updated';
		// The platform does not report it, and the record does not show what it had.
		const isOpen = written === 'unchanged' && this.isVague(item);
		return [written, ...(isOpen ? (['unknown'] as const) : []), ...(isRefused === false ? [] : (['failed'] as const))];
	}

	/** Items that are sent and have the same identity as this one. */
	sameIdentity(item: CaseItem): CaseItem[] {
		const identity = this.#identities.get(item.index);
		return this.#given.items.filter(({ index }) => identity !== undefined && this.#identities.get(index) === identity);
	}

	/** Whether only the platform knows what some of the values become. */
	isVague(item: CaseItem): boolean {
		return Object.values(this.whole(item).values).some((value) => value.isVague);
	}

	/** The item with the values of those merged into it: the last value of each field counts. */
	whole(item: CaseItem): CaseItem {
		const { items, mode, options } = this.#given;
		const isPart = ({ index }: CaseItem) => this.merged.get(index) === item.index;
		if (mode === 'replace' || !items.some(isPart)) return item;
		const isSent = ({ stored, flaw }: Value) => stored !== undefined || flaw === 'platform' || options.emptyValues === 'clear';
		const parts = [...items.filter(isPart), item].flatMap(({ values }) => Object.entries(values).filter(([, value]) => isSent(value)));
		return { ...item, values: Object.fromEntries(parts) };
	}

	#foreseen(item: CaseItem): Outcome[] {
		const target = this.target(item);
		if (target) {
			const { values } = this.whole(item);
			const isWrong = Object.values(values).some((value) => value.flaw === 'platform');
			if (isWrong || !this.isIdle(item)) return ['updated'];
			return this.isVague(item) ? ['updated', 'unchanged'] : ['unchanged'];
		}
		const key = exactKey(item);
		const isTaken = this.#hasKey && key !== undefined && this.#byKey.has(key);
		if (this.#given.mode !== 'create') return ['inserted'];
		return isTaken || (this.sameIdentity(item)[0] ?? item) !== item ? ['failed'] : ['inserted'];
	}

	#isSent({ values }: CaseItem, name: string): boolean {
		return values[name]?.stored !== undefined || this.#given.options.emptyValues === 'clear';
	}

	#isGiven(item: CaseItem, name: string): boolean {
		if (name === 'unheardOf') return false;
		return this.#isSent(item, name) || item.values[name]?.flaw === 'platform';
	}

	#isFlawed(item: CaseItem): boolean {
		const { mode, isKeyed, options, table } = this.#given;
		if (mode === 'upsert' && (!isKeyed || exactKey(item) === undefined)) return true;
		if (this.isUpdate && item.id === '') return true;
		if (mode === 'replace' && !Object.keys(item.values).some((name) => this.#isGiven(item, name))) {
			return true;
		}
		for (const [name, value] of Object.entries(item.values)) {
			if (name === 'unheardOf' && options.unknownFields === 'ignore') continue;
			const isEmpty = value.stored === undefined && value.flaw === undefined;
			if (value.flaw === 'node' || (isEmpty && options.emptyValues === 'error')) return true;
		}
		return (
			(mode === 'create' || mode === 'replace') &&
			table.fields.some(
				({ name, metadata }) => metadata?.required && item.values[name]?.stored === undefined && item.values[name]?.flaw !== 'platform',
			)
		);
	}

	#resolveDuplicates() {
		const { items, mode, options } = this.#given;
		for (const item of items) {
			if (this.isFlawed(item)) continue;
			const key = this.#hasKey ? exactKey(item) : undefined;
			const identity = this.isUpdate ? item.id : key;
			if (identity !== undefined) this.#identities.set(item.index, identity);
		}
		if (mode === 'create') return;
		for (const item of items) {
			const same = this.sameIdentity(item);
			const last = same.at(-1);
			if (!last || same.length === 1) continue;
			if (options.duplicates === 'error') this.#flawed.add(item.index);
			else if (item !== last) this.merged.set(item.index, last.index);
		}
	}
}
