/**
 * What a field type is to this node: one entry, of which the compiler asks for every part.
 * The forms of values: contract/openapi.yaml, `x-field-values`.
 */
import type { Aggregation } from '../api/aggregates';
import type { FieldDefinition, JsonValue } from '../api/types';

/** A value as the platform takes it, or what is wrong with it; `'name' takes …` is the sentence. */
export type Converted = { value: JsonValue } | { problem: string };

/** How values stand in a file of text. */
export interface TextForm {
	/** `plain`: 1234.5 · `point`: 1,234.5 · `comma`: 1.234,5 */
	numbers: 'plain' | 'point' | 'comma';
	/** Reads dates and times that are not in ISO 8601. */
	readTime?: (text: string) => string | undefined;
	/** Gives a time without a zone its offset. */
	withZone?: (time: string) => Converted;
	/** What stands between the entries of a list that is no JSON. */
	listSeparator: string;
}

/** Lossless only: what is doubtful is a problem, not a guess. Never gets an empty value. */
export type Conversion = (value: unknown, field: FieldDefinition) => Converted;

/** An import key's value. */
export interface KeyForm {
	/** As the platform stores it; as it was given where only the platform knows that form. */
	text: string;
	/** Whether values with another text are other keys for certain. */
	isCertain: boolean;
}

export interface FieldType {
	/** Who writes the field's values; `nobody` for what only shows something in a form. */
	writtenBy: 'clients' | 'platform' | 'nobody';
	convert: Conversion;
	/** What a text in a file stands for, as `convert` takes it; never gets an empty text. */
	parse: (text: string, form: TextForm) => { value: unknown } | { problem: string };
	/** Whether a value is how the platform shows the field, and nothing that it takes. */
	isOnlyRead?: (value: unknown) => boolean;
	/**
	 * Whether the platform holds, as `stored`, what it would store for a converted value. Neither
	 * is empty. Undefined where that can't be proven.
	 */
	equals: (stored: JsonValue, sent: JsonValue) => boolean | undefined;
	/** Whether a stored value is what a field without a value shows. */
	isEmpty: (stored: JsonValue | undefined) => boolean | undefined;
	/** The form of an import key, undefined for a value of another type; `never` where none can be. */
	key: ((value: JsonValue) => KeyForm | undefined) | 'never';
	/**
	 * The converted value that does what two do, one after the other; undefined where no single
	 * value does.
	 */
	merge: (earlier: JsonValue, later: JsonValue) => JsonValue | undefined;
	/**
	 * Whether a converted value may be added to what is stored, so that sending it again adds it a
	 * second time; `never` if no value is.
	 */
	appends: ((sent: JsonValue) => boolean) | 'never';
	/** How the mapper shows the field. Lists and objects are JSON text: n8n's own editor for them begins with an error mark. */
	editor: {
		type: 'string' | 'number' | 'dateTime';
		/** Beside the field's name, where the type asks for a certain form. */
		hint: string | undefined;
		/** A list to choose from, where the field has one. */
		choices: (field: FieldDefinition) => EditorChoice[] | undefined;
	};
	/** How values compare in filters; `any` where that is not known. */
	comparison: 'any' | 'boolean' | 'choice' | 'order' | 'presence' | 'text';
	aggregations: Aggregation[];
	holdsFiles: boolean;
}

export interface EditorChoice {
	name: string;
	value: string | boolean;
}

/** Parts that most types have in common. */
export const asItIs = (text: string) => ({ value: text });
export const noChoices = () => undefined;
export const lastValue = (_earlier: JsonValue, later: JsonValue) => later;

/** No value at all: `null`, an empty text or an empty list. */
export const isCleared = (value: unknown) =>
	value === undefined ||
	value === null ||
	value === '' ||
	(Array.isArray(value) && value.length === 0);
