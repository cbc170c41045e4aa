/** What another writer changed while the node ran, and what then must be true about the items. */
import type { StoredRecord } from '../../../harness/sandboxAdmin.mts';
import type { Evidence, ItemResult, Outcome } from './execute.mts';
import { ReferenceModel, sameFields } from './referenceModel.mts';
import type { Case, CaseItem } from './schedule.mts';
import { KEY, type Fields, type Json } from './table.mts';

export class Touched {
	readonly #testCase: Case;
	readonly #evidence: Evidence;
	readonly #ids: Set<string>;
	readonly #keys: Set<Json>;
	/** Whether another writer deleted a record. */
	readonly hasDeletion: boolean;
	/** What is expected if the other writer was faster than the node. */
	readonly model: ReferenceModel;

	constructor(testCase: Case, evidence: Evidence) {
		this.#testCase = testCase;
		this.#evidence = evidence;
		const records = new Map<string, StoredRecord>(
			evidence.before.map((record) => [record.id, record]),
		);
		const theirs = evidence.history.filter((version) => !evidence.written.includes(version));
		this.#ids = new Set(theirs.map(({ id }) => id));
		this.hasDeletion = theirs.some(({ action }) => action === 'deleted');
		const states = [...evidence.before.filter(({ id }) => this.#ids.has(id)), ...theirs];
		this.#keys = new Set(states.flatMap(({ fields }) => (fields?.[KEY] as Json | undefined) ?? []));
		for (const { id, ver, at, fields } of theirs) {
			if (fields) records.set(id, { id, ver, created: at, modified: at, fields });
			else records.delete(id);
		}
		this.model = new ReferenceModel(testCase, [...records.values()]);
	}

	hasRecord = (id: string) => this.#ids.has(id);

	hasKey = (fields: object | null) => this.#keys.has((fields as Fields | null)?.[KEY] ?? null);

	hasItem = ({ id, values }: CaseItem) =>
		this.#ids.has(id ?? '') || this.#keys.has(values[KEY]?.stored ?? null);

	/** Whether another writer deleted the item's record. */
	isDeleted = ({ id, values }: CaseItem): boolean => {
		const { before, history } = this.#evidence;
		const isOf = (record: { id: string; fields: object | null }) =>
			id === record.id || (record.fields as Fields | null)?.[KEY] === values[KEY]?.stored;
		const ids = new Set([...before, ...history].filter(isOf).map((record) => record.id));
		return history.some((entry) => entry.action === 'deleted' && ids.has(entry.id));
	};

	/**
	 * Whether a version may be the result of the item applied to the previous one. With Skip
	 * Unchanged, values that the record had at the look-up are not sent, so another writer's value
	 * may stay.
	 */
	fits(item: CaseItem, fields: Fields, previous: Fields = {}): boolean {
		const applied = this.model.applied(item, previous);
		if (sameFields(fields, applied)) return true;
		if (!this.#testCase.options.skipUnchanged || !this.hasItem(item)) return false;
		const { before, history } = this.#evidence;
		const states = [...before, ...history].filter(({ id }) => this.#ids.has(id));
		const names = new Set([...Object.keys(fields), ...Object.keys(applied)]);
		const isSame = (one: unknown, other: unknown) => sameFields([one], [other]);
		return [...names].every(
			(name) =>
				isSame(fields[name], applied[name]) ||
				(isSame(fields[name], previous[name]) &&
					states.some((state) => isSame(state.fields?.[name], applied[name]))),
		);
	}

	/**
	 * What contradicts the outcome of an item about a changed record, according to the history.
	 *
	 * @param isLost whether the response to a request with the item was lost, or cut
	 * @param isUncounted whether a response does not say if it lists all changes
	 * @param isUnseen whether one did not list all changes, and nothing says so
	 */
	check(
		item: CaseItem,
		{ outcome, id, ver }: ItemResult,
		isLost: boolean,
		isUncounted: boolean,
		isUnseen: boolean,
	): string[] {
		const { before, history, written } = this.#evidence;
		const isOf = (version: { id: string }) => version.id === id;
		const own = written.filter(id === undefined ? () => true : isOf);
		const wrote = (action: string) => own.some((version) => version.action === action);
		const all = [...before, ...history];
		const states = all.filter(isOf);
		const wrong: string[] = [];
		if (id !== undefined && ver !== undefined && !states.some((state) => state.ver === ver)) {
			wrong.push(`record ${id} never was ${ver}`);
		}
		const isSuccess: Outcome[] = ['inserted', 'updated', 'unchanged', 'written'];
		if (isSuccess.includes(outcome)) {
			// The reported version had the item's values, whoever wrote it. One that was only counted is
			// read later.
			const reported = states.filter(
				(state) => state.ver === ver || (outcome === 'written' && state.ver < (ver ?? 0)),
			);
			const isHeld = (id === undefined ? all : reported).some(
				({ fields }) =>
					fields &&
					(this.fits(item, fields as Fields, fields as Fields) ||
						(outcome === 'written' && this.model.holdsSent(item, fields))),
			);
			if (!isHeld) wrong.push('the reported version never held its values');
		}
		// For a new record in a lost request of an upsert, nobody can tell whether the request inserted
		// it.
		const isOpen = isLost && this.#testCase.mode === 'upsert';
		const isNew = !before.some(isOf);
		if (outcome === 'inserted' && !wrote('inserted') && !(isOpen && isNew)) {
			wrong.push('the node did not insert it');
		}
		// A request that changed nothing, without a response that says so, next to a change by the
		// other writer: nobody can know which of them it was.
		const isUnproven = isLost || isUncounted;
		const isTheirs =
			isUnproven && history.some((entry) => isOf(entry) && entry.action === 'updated');
		if (outcome === 'updated' && !wrote('updated') && !isTheirs) {
			wrong.push('the node did not update it');
		}
		if (outcome === 'updated' && wrote('inserted')) wrong.push('the node inserted it');
		if (outcome === 'unchanged' && own.length > 0 && !isUnseen)
			wrong.push('the node wrote the record');
		const isDeleted = history.some((entry) => entry.id === item.id && entry.action === 'deleted');
		if (outcome === 'notFound') {
			const wasThere = before.some((record) => record.id === item.id);
			if (wasThere && !isDeleted) wrong.push('there is such a record');
		}
		// Nobody can tell whether it was written before it was deleted.
		const isGone = outcome === 'notFound' && isUnproven && isDeleted;
		const isFailure = outcome === 'failed' || (outcome === 'notFound' && !isGone);
		const isSent = !this.model.isFlawed(item);
		// The same of one that was written in a lost request, deleted or changed, and then rejected.
		const isHidden = (version: { id: string; ver: number }) =>
			isLost &&
			this.hasRecord(version.id) &&
			!this.#evidence.records.some((is) => is.id === version.id && is.ver === version.ver);
		const isWritten = written.some((version) => this.#isAbout(version, item) && !isHidden(version));
		if (isFailure && isSent && isWritten) wrong.push('the node wrote the record');
		return wrong;
	}

	/** Whether a version by the node can only be this item's. */
	#isAbout({ id, fields }: Evidence['written'][number], item: CaseItem): boolean {
		if (item.id !== undefined) return id === item.id;
		const key = item.values[KEY]?.stored;
		return this.#testCase.mode === 'upsert' && key !== undefined && fields?.[KEY] === key;
	}
}
