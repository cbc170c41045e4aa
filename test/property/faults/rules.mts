/** Whether the node kept the fields that the rules protect, and says which. */
import { isDeepStrictEqual } from 'node:util';
import type { StoredVersion } from '../../../harness/sandboxAdmin.mts';
import type { Evidence } from './execute.mts';
import { sharers } from './foreseen.mts';
import type { Case, CaseItem } from './schedule.mts';
import { isBlank, RULED, type Fields, type RuledField } from './table.mts';

const isSame = (one: unknown, other: unknown) => isDeepStrictEqual(one, other);

export class Rules {
	readonly #testCase: Case;
	readonly #evidence: Evidence;
	/** The fields that an existing record may keep. */
	readonly #names: RuledField[];
	/** What happened to the fields of existing records. */
	readonly seen = new Set<string>();

	constructor(testCase: Case, evidence: Evidence) {
		this.#testCase = testCase;
		this.#evidence = evidence;
		this.#names = RULED.filter((name) => (testCase.fieldRules[name] ?? 'always') !== 'always');
	}

	/** Whether records are read before they are written, and only what differs is. */
	get areAny(): boolean {
		return this.#names.length > 0;
	}

	isRuled = (name: string) => (this.#names as string[]).includes(name);

	/** Whether an existing record keeps its value in a field. */
	#isProtected = (name: RuledField, value: unknown) =>
		this.#testCase.fieldRules[name] === 'whenCreating' || !isBlank(value) || (value === undefined && this.#areEmptyLeftOut);

	/** Whether a field that a record comes without may be one that the token may not see: it is kept then. */
	get #areEmptyLeftOut(): boolean {
		return this.#testCase.settings.emptyFields === 'absent';
	}

	/** No version that the node wrote overwrites a protected value, whatever it reports. */
	checkHistory(): string[] {
		if (!this.areAny) return [];
		const { before, history, written } = this.#evidence;
		const wrong: string[] = [];
		const last = new Map(before.map(({ id, fields }) => [id, fields as Fields]));
		/** The values that another writer entered. */
		const theirs = new Set<string>();
		for (const version of history) {
			const previous = last.get(version.id) ?? {};
			const fields = (version.fields ?? {}) as Fields;
			last.set(version.id, fields);
			const changed = this.#names.filter((name) => !isSame(previous[name], fields[name]));
			const place = (name: string) => `${version.id} ${name}`;
			if (!written.includes(version)) changed.forEach((name) => theirs.add(place(name)));
			else if (version.action === 'inserted') wrong.push(...this.#checkInserted(version));
			else if (version.action === 'updated') {
				const overwritten = changed.filter(
					(name) => this.#isProtected(name, previous[name]) && !this.#mayBeOverwritten(name, theirs.has(place(name)), previous[name]),
				);
				wrong.push(
					...overwritten.map((name) => `'${name}' of ${version.id} was overwritten: ${JSON.stringify([previous[name], fields[name]])}`),
				);
			}
		}
		return wrong;
	}

	/**
	 * The platform has no conditional writes: what another writer enters after the look is lost, and
	 * so is what an item entered if a slow request of another one is applied later.
	 */
	#mayBeOverwritten(name: RuledField, isTheirs: boolean, value: unknown): boolean {
		if (this.#testCase.fieldRules[name] !== 'ifEmpty') return false;
		const { isHasty, items } = this.#testCase;
		return isTheirs || (isHasty && items.some(({ stored }) => isSame(stored[name], value)));
	}

	/** A new record has all values of its item, or of another one for the same record. */
	#checkInserted({ id, fields }: StoredVersion): string[] {
		const item = this.#testCase.items.find(({ stored }) => stored.mark !== undefined && stored.mark === fields?.mark);
		if (!item) return [];
		const all = [item, ...sharers(this.#testCase, item)];
		return this.#names
			.filter((name) => Object.hasOwn(item.stored, name) && !all.some(({ stored }) => isSame(stored[name], fields?.[name])))
			.map((name) => `'${name}' of item ${item.index} is missing in the new record ${id}`);
	}

	/**
	 * The record of a success has what the rules say, and `kept` names exactly the fields that kept
	 * another value.
	 *
	 * @param isAlone whether neither another writer nor another item wrote the record
	 */
	checkOutput(item: CaseItem, json: Record<string, unknown>, isAlone: boolean): string[] {
		const { id, ver, outcome } = json;
		const kept = (json.kept ?? []) as string[];
		if (outcome === 'skipped' || outcome === 'found') {
			return kept.length > 0 ? ['nothing was to be written, and it says what was kept'] : [];
		}
		const unruled = kept.filter((name) => !this.isRuled(name));
		if (unruled.length > 0) return [`kept without a rule: ${unruled.join(', ')}`];
		if (!isAlone || !this.areAny) return [];
		const { before, history } = this.#evidence;
		const was = before.find((record) => record.id === id)?.fields as Fields | undefined;
		const is = [...before, ...history].find((state) => state.id === id && state.ver === ver)?.fields as Fields | undefined;
		if (!is) return [];
		const wrong: string[] = [];
		const expected: string[] = [];
		for (const name of this.#names.filter((field) => Object.hasOwn(item.stored, field))) {
			const isHeld = was !== undefined && this.#isProtected(name, was[name]);
			const right = isHeld ? was[name] : item.stored[name];
			if (isHeld && !isSame(was[name], item.stored[name])) expected.push(name);
			if (was) this.seen.add(isHeld ? 'kept' : 'filled');
			if (!isSame(is[name], right)) {
				wrong.push(`'${name}' holds ${JSON.stringify(is[name])}, not ${JSON.stringify(right)}`);
			}
		}
		if (!isSame([...kept].sort(), expected.sort())) {
			wrong.push(`it says that it kept [${kept.join(', ')}], not [${expected.join(', ')}]`);
		}
		return wrong;
	}
}
