/**
 * The definition of a field type, in one entry: the compiler requires every part of it. `USUAL` has
 * the parts that most types share. The formats of values: contract/openapi.yaml, `x-field-values`.
 */
import type { Aggregation } from '../api/aggregates';
import type { FieldDefinition, JsonValue } from '../api/types';
import type { Remedy, Source } from './remedies';

/**
 * A value as the platform takes it, or a problem that completes the sentence `'name' …`, such as
 * `accepts …`.
 */
export type Converted = { value: JsonValue } | { problem: string };

/** The format of values in a text file. */
export interface CellFormat {
	/** `plain`: 1234.5 · `point`: 1,234.5 · `comma`: 1.234,5 */
	numbers: 'plain' | 'point' | 'comma';
	/** Reads dates and times that are not in ISO 8601. */
	readTime?: (text: string) => string | undefined;
	/** Adds the offset to a time without a zone. */
	withZone?: (time: string) => Converted;
	/** The separator in lists that are not JSON. */
	listSeparator: string;
}

/** Converts without loss: a doubtful value is a problem, not a guess. Never gets an empty value. */
export type Conversion = (value: unknown, field: FieldDefinition) => Converted;

export interface FieldType {
	/** Who writes the field's values; `nobody` if the field only displays something in a form. */
	writtenBy: 'clients' | 'platform' | 'nobody';
	convert: Conversion;
	/** Reads text from a file into a value that `convert` takes. Never gets an empty text. */
	parse: (text: string, form: CellFormat) => { value: unknown } | { problem: string };
	/** What turns a text that `convert` refuses into a value that it takes. */
	remedy?: Remedy;
	/** True for a value as it is read but can't be written, such as a link's `{"count":2,"url":"…"}`. */
	isOnlyRead?: (value: unknown) => boolean;
	/**
	 * True if `stored` is what the platform would store for a converted value. Neither is empty.
	 * Undefined if that can't be proven.
	 */
	equals: (stored: JsonValue, sent: JsonValue) => boolean | undefined;
	/** True if the platform shows an empty field like this; undefined for a checkbox that is false. */
	isEmpty: (stored: JsonValue | undefined) => boolean | undefined;
	/**
	 * The text of a key: equal keys have the same one. Undefined if only the platform knows what the
	 * value equals, such as a time without a zone. `never` if the type can't be a key.
	 */
	key: ((value: JsonValue) => string | undefined) | 'never';
	/**
	 * What a key takes in place of a converted value without such a text. Completes the sentence
	 * `'name' …`.
	 */
	keyProblem?: (value: JsonValue, source: Source) => string;
	/** One converted value with the effect of two in a row; undefined if no single value has it. */
	merge: (earlier: JsonValue, later: JsonValue) => JsonValue | undefined;
	/**
	 * True for a value that may be appended to the stored one, such as messages of a chat: sent
	 * twice, it is appended twice.
	 */
	appends: (sent: JsonValue) => boolean;
	/**
	 * How the mapper shows the field. Lists and objects are JSON text: n8n's own editor for them
	 * starts with an error mark.
	 */
	editor: {
		type: 'string' | 'number' | 'dateTime';
		/** Shown next to the field's name, if the type needs a certain format. */
		hint?: string;
		/** The list of choices, if the field has one. */
		choices?: (field: FieldDefinition) => EditorChoice[] | undefined;
	};
	/** How filters compare values; `any` if unknown. */
	comparison: 'any' | 'boolean' | 'choice' | 'order' | 'presence' | 'text';
	aggregations: Aggregation[];
}

export interface EditorChoice {
	name: string;
	value: string | boolean;
}

/** No value: `null`, an empty text or an empty list. */
export const isCleared = (value: unknown) =>
	value === undefined ||
	value === null ||
	value === '' ||
	(Array.isArray(value) && value.length === 0);

/** A type that holds one value, replaced by each write, and has no more abilities. */
export const USUAL: Omit<FieldType, 'convert' | 'parse' | 'equals' | 'editor'> = {
	writtenBy: 'clients',
	isEmpty: isCleared,
	key: 'never',
	merge: (_earlier, later) => later,
	appends: () => false,
	comparison: 'text',
	aggregations: [],
};
