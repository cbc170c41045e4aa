/** `text`, `long_text`, `markdown`, `radio`, `dropdown`, and types that are not known. */
import type { FieldDefinition } from '../../api/types';
import { problem, show } from '../convert';
import { sameOrUnknown, sameText } from '../equality';
import {
	asItIs,
	isCleared,
	lastValue,
	noChoices,
	type Converted,
	type EditorChoice,
	type FieldType,
} from '../fieldType';

/** What is written as text as it is: a number so long that it is not exact any more is not. */
export function toText(value: unknown): string | undefined {
	if (typeof value === 'string') return value;
	if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
	const isExact = typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
	return isExact ? String(value) : undefined;
}

const segmenter = new Intl.Segmenter();

/** How much of a text is looked at, for each character that a field takes. */
const UNITS_PER_CHARACTER = 32;

/**
 * Whether a text is too long however its characters are counted, which the contract does not say: an
 * emoji is one to a reader, and up to a dozen to a database. What is in doubt the platform decides.
 */
function isTooLong(text: string, maxLength: number): boolean {
	if (text.length <= maxLength) return false;
	const beginning = text.trim().slice(0, (maxLength + 1) * UNITS_PER_CHARACTER);
	const characters = segmenter.segment(beginning)[Symbol.iterator]();
	for (let count = 0; count <= maxLength; count += 1) {
		if (characters.next().done) return false;
	}
	return true;
}

function convert(value: unknown, { metadata: { maxLength } }: FieldDefinition): Converted {
	if (typeof value === 'object') return problem('takes text, not a list or an object');
	const text = toText(value);
	if (text === undefined) {
		return Number.isFinite(value)
			? problem(`takes text, and a number such as ${value} may have lost digits: give it as text`)
			: problem(`takes text, not ${show(value)}`);
	}
	return maxLength !== undefined && isTooLong(text, maxLength)
		? problem(`takes at most ${maxLength} characters, this has more`)
		: { value: text };
}

export const text: FieldType = {
	writtenBy: 'clients',
	convert,
	parse: asItIs,
	equals: sameText,
	isEmpty: isCleared,
	key: (value) =>
		typeof value === 'object' ? undefined : { text: String(value), isCertain: true },
	merge: lastValue,
	appends: 'never',
	editor: { type: 'string', hint: undefined, choices: noChoices },
	comparison: 'text',
	aggregations: [],
	holdsFiles: false,
};

function choicesOf({ metadata: { items } }: FieldDefinition): EditorChoice[] | undefined {
	if (!items?.length) return undefined;
	return [...items]
		.sort((a, b) => (a.order ?? 0) - (b.order ?? 0))
		.map(({ value }) => ({ name: value, value }));
}

/** `radio`, `dropdown`: one of the choices in `metadata.items`, which the platform checks. */
export const choice: FieldType = {
	...text,
	editor: { ...text.editor, choices: choicesOf },
	comparison: 'choice',
};

/** A type that is not in the contract is written as text, and nothing else is known of it. */
export const unknownType: FieldType = {
	...text,
	equals: sameOrUnknown,
	isEmpty: (stored) => isCleared(stored) || undefined,
	comparison: 'any',
};

/** A field of which the platform does not say the type: it is read, and can be cleared. */
export const untyped: FieldType = {
	...unknownType,
	convert: () => problem("can't be written: the platform does not say of which type it is"),
	key: 'never',
	editor: { ...text.editor, hint: 'unknown type' },
};
