/** `text` and its kin, choices, lists of texts, unknown types, and those that nobody writes. */
import type { FieldDefinition } from '../../api/types';
import { fromJsonText, problem, showValue } from '../convert';
import { sameOrUnknown, sameText, sameTexts } from '../equality';
import { isCleared, USUAL, type Converted, type EditorChoice, type FieldType } from '../fieldType';

/** A value that can be written as text; undefined for a number so large that it is not exact. */
function toText(value: unknown): string | undefined {
	if (typeof value === 'string') return value;
	if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
	const isExact = typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
	return isExact ? String(value) : undefined;
}

const segmenter = new Intl.Segmenter();

/**
 * True only if a text is too long by any way of counting characters. The contract does not name
 * one: to a reader an emoji is one character, to a database up to a dozen. In doubt, the platform
 * decides.
 */
function isTooLong(text: string, maxLength: number): boolean {
	if (text.length <= maxLength) return false;
	const characters = segmenter.segment(text.trim())[Symbol.iterator]();
	for (let count = 0; count <= maxLength; count += 1) {
		if (characters.next().done) return false;
	}
	return true;
}

function convert(value: unknown, { metadata: { maxLength } }: FieldDefinition): Converted {
	if (typeof value === 'object') return problem('accepts text, not a list or an object');
	const text = toText(value);
	if (text === undefined && Number.isFinite(value)) {
		return problem(
			`accepts text, and a number such as ${value as number} may have lost digits: give it as text`,
		);
	}
	if (text === undefined) return problem(`accepts text, not ${showValue(value)}`);
	if (maxLength === undefined || !isTooLong(text, maxLength)) return { value: text };
	return problem(`accepts at most ${maxLength} characters, this has more`);
}

export const text: FieldType = {
	...USUAL,
	convert,
	parse: (text) => ({ value: text }),
	equals: sameText,
	key: (value) => (typeof value === 'object' ? undefined : String(value)),
	editor: { type: 'string' },
};

function choicesOf({ metadata: { items } }: FieldDefinition): EditorChoice[] | undefined {
	if (!items?.length) return undefined;
	return [...items]
		.sort((a, b) => (a.order ?? 0) - (b.order ?? 0))
		.map(({ value }) => ({ name: value, value }));
}

/** `radio`, `dropdown`: one of the choices in `metadata.items`. The platform checks it. */
export const choice: FieldType = {
	...text,
	editor: { ...text.editor, choices: choicesOf },
	comparison: 'choice',
};

/** A JSON list, or entries with a separator. */
export const parseList: FieldType['parse'] = (text, { listSeparator }) => {
	const value = fromJsonText(text);
	if (typeof value !== 'string' || listSeparator === '') return { value };
	const entries = value.split(listSeparator).map((entry) => entry.trim());
	return { value: entries.filter((entry) => entry !== '') };
};

/** `dropdownmulti`, `chips`. */
export const texts: FieldType = {
	...USUAL,
	parse: parseList,
	convert: (raw) => {
		const value = fromJsonText(raw);
		const entries: unknown[] = [value].flat();
		const list = entries.map(toText);
		if (list.every((entry) => entry !== undefined)) return { value: list };
		return problem(`accepts a list of texts, not ${showValue(raw)}`);
	},
	equals: sameTexts,
	editor: { type: 'string', hint: 'JSON list' },
};

/** A type that is not in the contract: written as text, and otherwise unknown. */
export const unknownType: FieldType = {
	...text,
	equals: sameOrUnknown,
	isEmpty: (stored) => isCleared(stored) || undefined,
	comparison: 'any',
};

/** `system_type`, `calculated`: the platform fills them in. */
export const readOnly: FieldType = {
	...unknownType,
	writtenBy: 'platform',
	convert: () => problem('is read-only'),
	key: 'never',
};

/** `buttonform`, `freehtmlinput`. */
export const displayOnly: FieldType = {
	...readOnly,
	writtenBy: 'nobody',
	convert: () => problem('holds no data'),
	comparison: 'presence',
};

/** A field whose type the platform does not report: it can be read and cleared. */
export const untyped: FieldType = {
	...unknownType,
	convert: () => problem("can't be written: the platform does not report its type"),
	key: 'never',
	editor: { ...text.editor, hint: 'unknown type' },
};
