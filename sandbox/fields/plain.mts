import type { Field, Json } from '../state/model.mts';
import { parseDay, parseInstant } from './time.mts';
import { arrayOf, quote, ValueProblem, type Codec } from './codec.mts';

function textOf(value: Json, field: Field): string {
	if (typeof value !== 'string') throw new ValueProblem(`must be a string, not ${quote(value)}`);
	const { maxLength } = field.metadata;
	if (maxLength !== undefined && [...value].length > maxLength) {
		throw new ValueProblem(`must be at most ${maxLength} characters long`);
	}
	return value;
}

function choiceOf(value: Json, field: Field): string {
	const text = textOf(value, field);
	const choices = field.metadata.items?.map((item) => item.value);
	if (choices && !choices.includes(text)) {
		throw new ValueProblem(`must be one of ${choices.map(quote).join(', ')}, not ${quote(text)}`);
	}
	return text;
}

function numberOf(value: Json, field: Field): number {
	// JSON has no infinity, but 1e999 is read as one.
	if (typeof value !== 'number' || !Number.isFinite(value)) {
		throw new ValueProblem(`must be a number, not ${quote(value)}`);
	}
	const { min, max } = field.metadata;
	if (min !== undefined && value < min) throw new ValueProblem(`must be at least ${min}`);
	if (max !== undefined && value > max) throw new ValueProblem(`must be at most ${max}`);
	return value;
}

/** `text`, `long_text`, `markdown`. */
export const text: Codec = { comparison: { as: 'text' }, store: textOf };

/** `radio`, `dropdown`: one of the choices in `metadata.items`. */
export const choice: Codec = { comparison: { as: 'text' }, store: choiceOf };

/** `number`: an integer. */
export const integer: Codec = {
	comparison: { as: 'number' },
	store(value, field) {
		if (!Number.isSafeInteger(value)) {
			throw new ValueProblem(`must be an integer, not ${quote(value)}`);
		}
		return numberOf(value, field);
	},
};

/** `decimal`, `money`, `percentage`. */
export const decimal: Codec = { comparison: { as: 'number' }, store: numberOf };

/** `checkbox`. */
export const checkbox: Codec = {
	comparison: { as: 'boolean' },
	store(value) {
		if (typeof value !== 'boolean') {
			throw new ValueProblem(`must be true or false, not ${quote(value)}`);
		}
		return value;
	},
};

/** `date`: stored as `YYYY-MM-DD`; a time is turned into the application's time zone first. */
export const date: Codec = {
	comparison: { as: 'date' },
	store(value, _field, context) {
		const day = typeof value === 'string' ? parseDay(value, context.timeZone) : undefined;
		if (day !== undefined) return day;
		throw new ValueProblem(`must be a date (YYYY-MM-DD), not ${quote(value)}`);
	},
};

/** `datetime`: stored in UTC; without an offset it is the application's local time. */
export const datetime: Codec = {
	comparison: { as: 'datetime' },
	store(value, _field, context) {
		const instant = typeof value === 'string' ? parseInstant(value, context.timeZone) : undefined;
		if (instant === undefined) {
			throw new ValueProblem(`must be a date and time (ISO 8601), not ${quote(value)}`);
		}
		return new Date(instant).toISOString();
	},
};

function textsOf(value: Json, each: (entry: Json, field: Field) => string, field: Field): Json {
	return arrayOf(value, 'an array of strings').map((entry) => each(entry, field));
}

/** `dropdownmulti`: some of the choices in `metadata.items`. */
export const choices: Codec = {
	comparison: { as: 'text', each: true },
	store: (value, field) => textsOf(value, choiceOf, field),
};

/** `chips`: free strings. */
export const chips: Codec = {
	comparison: { as: 'text', each: true },
	store: (value, field) => textsOf(value, textOf, field),
};
