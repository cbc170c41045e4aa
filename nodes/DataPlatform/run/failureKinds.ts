/**
 * Problems by cause: those of one kind differ only in their items and values. Thousands of bad
 * items have few causes, which a message, a hint and a report can name. Linear time. Pure.
 */
import type { IDataObject } from 'n8n-workflow';

import { shortened } from '../transport/messageText';
import type { Problem } from '../transport/errors';
import type { Failure } from './ledger';
import { omitUndefined } from '../transport/json';

/** How many kinds to list. */
const MAX_KINDS = 10;

/** How many items of a kind to name. */
const ITEMS_SHOWN = 3;

const MESSAGE_CHARACTERS = 1000;

/** An item's own number, which is not part of the kind. */
const OWN_ITEM = /^Item \d+ was not sent: /;

/**
 * What differs within a kind: numbers, and texts in quotes. An apostrophe begins no text, and
 * ends one only at the end of a word. An end is optional, so that no text is searched twice.
 */
const VARIABLE_PARTS = /"(?:[^"\\]|\\[^]?)*"?|(?<!\w)'(?:[^']|'(?=\w))*'?|\d+(?:\.\d+)?(?:, \d+)*/g;

interface FailureKind {
	count: number;
	/** The first message. */
	error: string;
	/** False once another message of the kind differs from it. */
	isSame: boolean;
	/** Its field, outcome and status. */
	facts: IDataObject;
	/** The first items. */
	items: number[];
}

export class FailureKinds {
	private readonly kinds = new Map<string, FailureKind>();
	private others = 0;

	/** @param unit what messages call an entry of the input */
	constructor(private readonly unit: 'item' | 'row' = 'item') {}

	/** @returns whether it is the first of a kind that is listed */
	add({ message, outcome, field, status }: Problem, index?: number): boolean {
		const facts = omitUndefined({ outcome, field, status });
		const error = message.replace(OWN_ITEM, '');
		const name = JSON.stringify([Object.entries(facts), error.replace(VARIABLE_PARTS, '')]);
		const kind = this.kinds.get(name);
		const items = [index].filter((each) => each !== undefined);
		if (kind) {
			kind.count += 1;
			kind.isSame &&= kind.error === error;
			if (kind.items.length <= ITEMS_SHOWN) kind.items.push(...items);
			return false;
		}
		if (this.kinds.size < MAX_KINDS) {
			this.kinds.set(name, { count: 1, error, isSame: true, facts, items });
			return true;
		}
		this.others += 1;
		return false;
	}

	/** The first kinds, in order, each with the message and item of its first problem. */
	list(): IDataObject[] {
		return [...this.kinds.values()].map(({ count, error, facts, items: [first] }) =>
			omitUndefined({ count, error, ...facts, [this.unit]: first }),
		);
	}

	/** Such as `250 × 'age' accepts a number, not "abc" (items 3, 23, 43, …); item 7: …`. */
	text(): string {
		const texts = [...this.kinds.values()].map(({ count, error, isSame, items }) => {
			const message = shortened(error, MESSAGE_CHARACTERS);
			const [first] = items;
			if (count === 1) return first === undefined ? message : `${this.unit} ${first}: ${message}`;
			const text = `${count} × ${isSame ? '' : 'such as '}${message}`;
			if (first === undefined) return text;
			const named = items.slice(0, ITEMS_SHOWN).join(', ');
			return `${text} (${this.unit}s ${named}${items.length > ITEMS_SHOWN ? ', …' : ''})`;
		});
		if (this.others > 0) texts.push(`and ${this.others} more`);
		return texts.join('; ');
	}
}

/** The kinds of failures. */
export function failureKinds(failures: Iterable<Failure>): FailureKinds {
	const kinds = new FailureKinds();
	for (const { index, problem } of failures) kinds.add(problem, index);
	return kinds;
}
