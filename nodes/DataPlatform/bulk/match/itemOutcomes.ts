/** The outcome of an item that has several records: one outcome for each, given together. Pure. */
import { asAppended, isSuccess } from '../outcome';
import type { Entry, ItemOutcome } from '../terms';

/** Called once for each item, with several outcomes if it has several records. */
export type OnItemOutcomes = (record: Entry, outcomes: ItemOutcome[]) => void;

/** Passes outcomes on. Those of an item with several records go together. */
export class ItemOutcomes {
	private readonly open = new Map<number, { left: number; outcomes: ItemOutcome[] }>();

	constructor(
		/** Whether an item adds something to stored values. */
		private readonly addsTo: (record: Entry) => boolean,
		private readonly onOutcomes: OnItemOutcomes,
		/** Called for an item whose records are all gone. */
		private readonly onGone: (record: Entry, outcome: ItemOutcome) => void,
	) {}

	/** Registers the records of each item, before their outcomes are known. */
	expect(records: Entry[]) {
		for (const { index } of records) {
			const left = (this.open.get(index)?.left ?? 0) + 1;
			this.open.set(index, { left, outcomes: [] });
		}
	}

	add(record: Entry, outcome: ItemOutcome) {
		const item = this.open.get(record.index)!;
		item.left -= 1;
		item.outcomes.push(outcome);
		if (item.left > 0) return;
		this.open.delete(record.index);
		this.finish(record, item.outcomes);
	}

	private finish(record: Entry, all: ItemOutcome[]) {
		const outcomes = all.filter(({ outcome }) => outcome !== 'notFound');
		if (outcomes.length === 0) {
			this.onGone(record, all[0]!);
			return;
		}
		const bad =
			outcomes.find(({ outcome }) => outcome === 'unknown') ??
			outcomes.find((outcome) => !isSuccess(outcome));
		if (!bad || outcomes.length === 1) {
			this.onOutcomes(record, outcomes);
			return;
		}
		const done = outcomes.filter(isSuccess).length;
		const message = `${bad.message!}; ${done} of ${outcomes.length} matching records were written`;
		// Another attempt would add it again to the records that were written.
		const final = done > 0 && this.addsTo(record) ? asAppended(bad) : bad;
		this.onOutcomes(record, [{ ...final, message }]);
	}
}
