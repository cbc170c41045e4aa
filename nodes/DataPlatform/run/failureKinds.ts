/**
 * Problems by cause: those of one kind differ only in their items and values. Thousands of bad
 * items have few causes, which a message, a hint and a report can name. Linear time. Pure.
 */
import type { IDataObject } from 'n8n-workflow';

import { shortened, shownCount } from '../transport/messageText';
import type { Problem } from '../transport/errors';
import { omitUndefined } from '../transport/json';

/** How many kinds to list. */
const MAX_KINDS = 10;

/** How many items of a kind to name. */
const ITEMS_SHOWN = 3;

/** How much of an item's key to show. */
const KEY_CHARACTERS = 40;

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
	/** The first message whose remedy is the shortest: it is the least ambiguous. */
	error: string;
	remedy: string;
	/** False once another message of the kind differs from it. */
	isSame: boolean;
	/** Its field, outcome and status. */
	facts: IDataObject;
	/** The first item, and how the first ones are called. */
	first?: number;
	names: string[];
}

export class FailureKinds {
	private readonly kinds = new Map<string, FailureKind>();
	private others = 0;

	/** @param unit what messages call an entry of the input */
	constructor(private readonly unit: 'item' | 'row' = 'item') {}

	/** @returns whether it is the first of a kind that is listed */
	add({ message, remedy = '', outcome, field, status, key }: Problem, index?: number): boolean {
		const facts = omitUndefined({ outcome, field, status });
		const error = message.replace(OWN_ITEM, '').slice(0, remedy ? -remedy.length : undefined);
		const id = JSON.stringify([Object.entries(facts), error.replace(VARIABLE_PARTS, '')]);
		const kind = this.kinds.get(id);
		const called = key === undefined ? '' : ` (${shortened(key, KEY_CHARACTERS)})`;
		const names = index === undefined ? [] : [`${index}${called}`];
		if (kind) {
			kind.count += 1;
			kind.isSame &&= kind.error === error;
			if (remedy && (!kind.remedy || remedy.length < kind.remedy.length)) {
				Object.assign(kind, { error, remedy });
			}
			kind.first ??= index;
			if (kind.names.length <= ITEMS_SHOWN) kind.names.push(...names);
			return false;
		}
		if (this.kinds.size < MAX_KINDS) {
			this.kinds.set(id, { count: 1, error, remedy, isSame: true, facts, first: index, names });
			return true;
		}
		this.others += 1;
		return false;
	}

	/** The most frequent first. */
	private get sorted(): FailureKind[] {
		return [...this.kinds.values()].sort((one, other) => other.count - one.count);
	}

	/** The kinds, the most frequent first, each with a message and the item of its first problem. */
	list(): IDataObject[] {
		return this.sorted.map(({ count, error, remedy, facts, first }) =>
			omitUndefined({ count, error: error + remedy, ...facts, [this.unit]: first }),
		);
	}

	/** Each kind, such as `250 × 'age' accepts a number, not "abc" (items 3, 23, 43, …)`. */
	texts(): string[] {
		const texts = this.sorted.map(({ count, error, remedy, isSame, names }) => {
			const message = shortened(error + remedy, MESSAGE_CHARACTERS);
			const [first] = names;
			if (count === 1) return first === undefined ? message : `${this.unit} ${first}: ${message}`;
			const text = `${shownCount(count)} × ${isSame ? '' : 'such as '}${message}`;
			if (first === undefined) return text;
			const named = names.slice(0, ITEMS_SHOWN).join(', ');
			return `${text} (${this.unit}s ${named}${names.length > ITEMS_SHOWN ? ', …' : ''})`;
		});
		if (this.others > 0) texts.push(`and ${this.others} more`);
		return texts;
	}

	/** All kinds in one sentence. */
	text(): string {
		return this.texts().join('; ');
	}
}
